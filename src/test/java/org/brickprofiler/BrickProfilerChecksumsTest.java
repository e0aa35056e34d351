package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The time of a checksum is that of the sample that computed the output, or unknown. */
@Spec("10.2")
final class BrickProfilerChecksumsTest {

    private static final float[] OUTPUT = {1, 2, 3};

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    private int position;

    @BeforeEach
    void enable() {
        profiler.enable();
        // The first sample of a thread makes its table.
        profiler.record(BrickId.EMBEDDING, 1, 1);
    }

    private void checksum(BrickId id) {
        profiler.checksums().record(id.displayName(), profiler.currentLayer(), position++, OUTPUT);
    }

    private List<OptionalLong> times() {
        return profiler.checksums().list().stream()
                .map(ChecksumEntry::elapsedNs)
                .toList();
    }

    private static OptionalLong ns(long ns) {
        return OptionalLong.of(ns);
    }

    /** The checksum of an output is recorded before the next brick begins. */
    @Test
    void aChecksumBeforeTheLapHasTheTimeOfTheSampleThatTheLapEnds() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int layer = 0; layer < 3; layer++) {
            profiler.startLayer();
            clock.advance(10 + layer);
            checksum(BrickId.RMS_NORM);
            timer = profiler.lap(timer, 1, BrickId.QKV_PROJECTION);
            clock.advance(100 + layer);
            checksum(BrickId.QKV_PROJECTION);
            timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
            profiler.endLayer();
        }

        assertThat(times()).containsExactly(ns(10), ns(100), ns(11), ns(101), ns(12), ns(102));
        assertThat(profiler.checksums().list()).extracting(ChecksumEntry::layer).containsExactly(0, 0, 1, 1, 2, 2);
    }

    @Test
    void aChecksumAfterTheLapHasTheTimeOfTheSampleThatHasJustEnded() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int layer = 0; layer < 3; layer++) {
            clock.advance(10 + layer);
            timer = profiler.lap(timer, 1, BrickId.QKV_PROJECTION);
            clock.advance(1);
            checksum(BrickId.RMS_NORM);
            clock.advance(99 + layer);
            timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
            checksum(BrickId.QKV_PROJECTION);
        }

        assertThat(times()).containsExactly(ns(10), ns(100), ns(11), ns(101), ns(12), ns(102));
    }

    /**
     * If a brick runs twice in a row, the checksum belongs to the sample under way, although the one before has just
     * ended.
     */
    @Test
    void eachSampleOfABrickThatRunsSeveralTimesInARowHasItsOwnTime() {
        long timer = profiler.startBrick(BrickId.MOE_EXPERT);
        for (int expert = 0; expert < 5; expert++) {
            clock.advance(10 + expert);
            checksum(BrickId.MOE_EXPERT);
            clock.advance(1);
            timer = profiler.lap(timer, 1, BrickId.MOE_EXPERT);
        }

        assertThat(times()).containsExactly(ns(11), ns(12), ns(13), ns(14), ns(15));
    }

    @Test
    void severalOutputsOfOneBrickHaveItsTime() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(5);
        checksum(BrickId.RMS_NORM);
        clock.advance(5);
        checksum(BrickId.RMS_NORM);
        clock.advance(5);
        profiler.stopBrick(timer, 1);
        checksum(BrickId.RMS_NORM);
        checksum(BrickId.RMS_NORM);

        assertThat(times()).containsExactly(ns(15), ns(15), ns(15), ns(15));
    }

    @Test
    void theBrickAroundOthersHasItsOwnTime() {
        for (int layer = 0; layer < 2; layer++) {
            long outer = profiler.startBrick(BrickId.FUSED_ATTENTION);
            long inner = profiler.startBrick(BrickId.ATTENTION_SCORE);
            clock.advance(10 + layer);
            checksum(BrickId.ATTENTION_SCORE);
            profiler.stopBrick(inner, 1);
            clock.advance(20);
            checksum(BrickId.FUSED_ATTENTION);
            profiler.stopBrick(outer, 1);
        }

        assertThat(times()).containsExactly(ns(10), ns(30), ns(11), ns(31));
    }

    @Test
    void anOutputWhoseBrickIsOverAndForgottenHasNoTime() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        profiler.stopBrick(timer, 1);
        clock.advance(3);
        profiler.record(BrickId.LM_HEAD, 3, 1);
        checksum(BrickId.RMS_NORM);
        clock.advance(1);
        timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        profiler.stopBrick(timer, 1);

        assertThat(times()).containsExactly(OptionalLong.empty());
    }

    @Test
    void theTimeIsUnknownIfSeveralSamplesOfTheBrickHaveEndedSince() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        checksum(BrickId.RMS_NORM);
        for (int i = 0; i < 3; i++) {
            timer = profiler.lap(timer, 1, BrickId.RMS_NORM);
            clock.advance(20);
        }
        profiler.stopBrick(timer, 1);

        assertThat(times()).containsExactly(OptionalLong.empty());
    }

    @Test
    void aResetOfTheSumsInBetweenLeavesNoWrongTime() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        checksum(BrickId.RMS_NORM);
        assertThat(profiler.snapshotAndReset().samples()).isEqualTo(1);
        profiler.stopBrick(timer, 1);
        clock.advance(1);
        timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(500);
        profiler.stopBrick(timer, 1);
        checksum(BrickId.RMS_NORM);

        assertThat(times()).containsExactly(OptionalLong.empty(), ns(500));
    }

    @Test
    void listsThatWereTakenStayAsTheyWere() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        checksum(BrickId.RMS_NORM);
        List<ChecksumEntry> before = profiler.checksums().list();
        profiler.stopBrick(timer, 1);

        assertThat(times()).containsExactly(ns(10));
        assertThat(before).extracting(ChecksumEntry::elapsedNs).containsExactly(OptionalLong.empty());
    }

    @Test
    void eachThreadHasItsOwnSamples() throws Exception {
        Crew crew = new Crew();
        for (int i = 0; i < 4; i++) {
            int number = i;
            crew.run(() -> {
                profiler.record(BrickId.EMBEDDING, 1, 1);
                for (int turn = 0; turn < 200; turn++) {
                    long ns = 1_000_000L * (number + 1) + turn;
                    profiler.record("brick " + number, ns, 1);
                    profiler.checksums().record("brick " + number, 0, (int) ns, OUTPUT);
                    assertThat(profiler.checksums().list()).isNotEmpty();
                }
            });
        }
        crew.join();

        assertThat(profiler.checksums().list())
                .hasSize(800)
                .filteredOn(entry -> !entry.elapsedNs().equals(ns(entry.position())))
                .isEmpty();
    }
}
