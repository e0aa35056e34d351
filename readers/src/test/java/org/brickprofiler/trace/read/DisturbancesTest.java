package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Disturbance.Cause;
import org.junit.jupiter.api.Test;

final class DisturbancesTest {

    private final Disturbances disturbances = new Disturbances();

    @Test
    void timeInTheUnionOfACauseCountsOnce() {
        disturbances.add(Cause.GARBAGE_COLLECTION, Disturbances.ALL_ROWS, 150, 170);
        disturbances.add(Cause.GARBAGE_COLLECTION, Disturbances.ALL_ROWS, 110, 130);
        disturbances.add(Cause.GARBAGE_COLLECTION, Disturbances.ALL_ROWS, 120, 140);
        disturbances.add(Cause.PARKED, 1, 100, 200);
        disturbances.add(Cause.SAFEPOINT, Disturbances.ALL_ROWS, 500, 600);
        disturbances.count("a", 0, 100, 200); // 30 + 20
        disturbances.count("a", 0, 125, 135); // 10
        disturbances.count("a", 0, 140, 150); // none
        disturbances.count("b", 1, 160, 300); // 10, and 40 parked

        assertThat(disturbances.list())
                .containsExactly(
                        new Disturbance("a", Cause.GARBAGE_COLLECTION, 60, 60 / 120.0, 50 / 100.0),
                        new Disturbance("b", Cause.PARKED, 40, 40 / 140.0, 40 / 140.0),
                        new Disturbance("b", Cause.GARBAGE_COLLECTION, 10, 10 / 140.0, 10 / 140.0));
    }

    @Test
    void theTailIsTheExecutionsAtOrAboveThe99thPercentile() {
        disturbances.add(Cause.GARBAGE_COLLECTION, Disturbances.ALL_ROWS, 1_000_000, 1_000_900);
        for (int i = 0; i < 1_000; i++) {
            disturbances.count("a", 0, i * 100L, i * 100L + 100);
        }
        for (int i = 0; i < 20; i++) {
            disturbances.count("a", 0, 1_000_000 + 1_000 * i, 1_000_000 + 1_000 * i + 1_000);
        }

        assertThat(disturbances.list())
                .containsExactly(new Disturbance("a", Cause.GARBAGE_COLLECTION, 900, 900 / 120_000.0, 900 / 20_000.0));
    }

    @Test
    void withoutIntervalsNothingIsFound() {
        disturbances.count("a", 0, 1, 2);

        assertThat(disturbances.list()).isEmpty();
        assertThat(disturbances.isIn(Cause.GARBAGE_COLLECTION, 1, 2)).isFalse();
    }
}
