package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class SpanLanesTest {

    private final SpanLanes lanes = new SpanLanes();
    private final List<String> closed = new ArrayList<>();

    private int open(long startNs, long endNs) {
        lanes.closeUpTo(startNs, (lane, ns) -> closed.add(lane + ":" + ns));
        return lanes.open(endNs);
    }

    private List<String> closeAll() {
        lanes.closeAll((lane, ns) -> closed.add(lane + ":" + ns));
        return closed;
    }

    @Test
    void spansThatNestShareALane() {
        assertThat(open(0, 10)).isZero();
        assertThat(open(0, 10)).isZero();
        assertThat(open(0, 5)).isZero();
        assertThat(open(5, 10)).isZero();
        assertThat(open(10, 20)).isZero();

        assertThat(closeAll()).containsExactly("0:5", "0:10", "0:10", "0:10", "0:20");
    }

    @Test
    void aSpanThatOutlastsGoesOnTheNextLane() {
        assertThat(open(0, 10)).isZero();
        assertThat(open(5, 15)).isEqualTo(1);
        assertThat(open(6, 9)).isZero();
        assertThat(open(7, 20)).isEqualTo(2);
        assertThat(open(7, 14)).isEqualTo(1);

        assertThat(closeAll()).containsExactly("0:9", "0:10", "1:14", "1:15", "2:20");
    }

    @Test
    void aLaneThatIsFreeIsUsedAgain() {
        assertThat(open(0, 10)).isZero();
        assertThat(open(5, 15)).isEqualTo(1);
        assertThat(open(10, 30)).isZero();
        assertThat(open(15, 40)).isEqualTo(1);
    }

    @Test
    void aSpanOfNoLengthEndsBeforeTheNextBegins() {
        assertThat(open(5, 5)).isZero();
        assertThat(open(5, 5)).isZero();
        assertThat(open(5, 9)).isZero();

        assertThat(closeAll()).containsExactly("0:5", "0:5", "0:9");
    }
}
