package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.slice;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;

/** The events that are left out at the beginning. */
final class StepsAndWarmupTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();

    private static String step(int number, int tid, long ts) {
        return slice("ProfilerStep#" + number, "user_annotation", tid, ts, 90);
    }

    /** Three steps of 100 us, whose marks stand at the end and out of order. */
    private static String threeSteps() {
        return array(
                slice("early", "kernel", 7, -50, 5),
                slice("k1", "kernel", 7, 10, 20),
                slice("k2", "kernel", 7, 110, 20),
                slice("late1", "kernel", 8, 95, 30),
                slice("k3", "kernel", 7, 210, 20),
                step(9, 1, 200),
                step(7, 1, 0),
                step(8, 1, 105),
                step(8, 2, 100),
                slice("ProfilerStep", "user_annotation", 1, 0, 1));
    }

    @Test
    void skippedStepsAreLeftOutByTheTimeTheirEventsBeginIfNoLaunchIsKnown() throws IOException {
        TraceProfile reading = Traces.read(threeSteps(), OPTIONS.withSkipSteps(1));

        assertThat(reading.steps()).isEqualTo(3);
        assertThat(Omissions.leftOut(reading))
                .containsExactly(
                        new Omission(Reason.SKIPPED_STEP, "late1", 1, 30_000, Omission.NO_OFFSET),
                        new Omission(Reason.SKIPPED_STEP, "k1", 1, 20_000, Omission.NO_OFFSET),
                        new Omission(Reason.SKIPPED_STEP, "early", 1, 5_000, Omission.NO_OFFSET));
        assertThat(reading.eventsCounted()).isEqualTo(2);
        assertThat(reading.wallNs()).isEqualTo(120_000);
        assertThat(reading.busyNs()).isEqualTo(40_000);
    }

    private static String correlated(String name, String cat, int tid, long ts, long dur, int correlation) {
        String slice = slice(name, cat, tid, ts, dur);
        return slice.substring(0, slice.length() - 1) + ",\"args\":{\"correlation\":" + correlation + "}}";
    }

    /** An engine that does not wait for its device may be several steps ahead of it. */
    @Test
    void workOfADeviceBelongsToTheStepThatLaunchedIt() throws IOException {
        String events = array(
                step(1, 1, 0),
                correlated("cudaLaunchKernel", "cuda_runtime", 1, 10, 5, 1),
                correlated("cudaLaunchKernel", "cuda_runtime", 1, 20, 5, 2),
                correlated("cudaMemcpyAsync", "cuda_runtime", 1, 30, 5, 3),
                step(2, 1, 100),
                correlated("cudaLaunchKernel", "cuda_runtime", 1, 110, 5, 4),
                correlated("k1", "kernel", 7, 50, 20, 1),
                correlated("k2", "kernel", 7, 120, 30, 2),
                correlated("Memcpy DtoH", "gpu_memcpy", 7, 150, 10, 3),
                correlated("k2", "kernel", 7, 160, 40, 4),
                correlated("lost", "kernel", 7, 200, 5, 9),
                slice("none", "kernel", 7, 210, 5));

        TraceProfile reading = Traces.read(events, OPTIONS.withSkipSteps(1));

        assertThat(Omissions.leftOut(reading))
                .containsExactly(
                        new Omission(Reason.SKIPPED_STEP, "k2", 1, 30_000, Omission.NO_OFFSET),
                        new Omission(Reason.SKIPPED_STEP, "k1", 1, 20_000, Omission.NO_OFFSET),
                        new Omission(Reason.SKIPPED_STEP, "Memcpy DtoH", 1, 10_000, Omission.NO_OFFSET));
        assertThat(totalNs(reading, "k2")).isEqualTo(40_000);
        assertThat(reading.eventsCounted()).isEqualTo(3);
        assertThat(Omissions.counted(reading)).isEqualTo(Map.of(Reason.NO_LAUNCH, 2L));
        assertThat(reading.summary())
                .contains("noted       2 without a known launch, counted with the step in which they began");
        assertThat(Omissions.counted(Traces.read(events))).isEmpty();
    }

    @Test
    void aStepBeginsWithTheFirstThreadThatMarksIt() throws IOException {
        String events = array(slice("k", "kernel", 7, 102, 1), step(1, 1, 0), step(2, 1, 105), step(2, 2, 100));

        assertThat(Traces.read(events, OPTIONS.withSkipSteps(1)).eventsCounted())
                .isOne();
    }

    @Test
    void noStepIsSkippedByDefault() throws IOException {
        assertThat(Traces.read(threeSteps()).eventsCounted()).isEqualTo(5);
    }

    @Test
    void moreStepsThanThereAreCannotBeSkipped() {
        assertThatThrownBy(() -> Traces.read(threeSteps(), OPTIONS.withSkipSteps(3)))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("cannot skip 3 steps: the trace marks 3");
    }

    /** A series of durations of one kernel, one every ms, from the last to the first. */
    private static String series(String cat, long... durations) {
        List<String> events = new ArrayList<>();
        for (int i = durations.length - 1; i >= 0; i--) {
            events.add(slice("k", cat, 7, 1_000L * i, durations[i]));
        }
        return array(events.toArray(String[]::new));
    }

    private static long[] steady(long... first) {
        long[] all = new long[first.length + 40];
        Arrays.fill(all, 10);
        System.arraycopy(first, 0, all, 0, first.length);
        return all;
    }

    @Test
    void firstExecutionsThatAreOutliersAreWarmup() throws IOException {
        TraceProfile reading = Traces.read(series("kernel", steady(900, 300)));

        assertThat(Omissions.leftOut(reading))
                .containsExactly(new Omission(Reason.WARM_UP, "k", 2, 1_200_000, Omission.NO_OFFSET));
        assertThat(totalNs(reading, "k")).isEqualTo(400_000);
        assertThat(reading.wallNs()).isEqualTo((39_000 + 10) * 1_000L);
    }

    @Test
    void warmupCanBeKept() throws IOException {
        TraceProfile reading = Traces.read(series("kernel", steady(900, 300)), OPTIONS.withKeepWarmup(true));

        assertThat(Omissions.leftOut(reading)).isEmpty();
        assertThat(totalNs(reading, "k")).isEqualTo(1_600_000);
    }

    @Test
    void warmupEndsWithTheFirstExecutionThatIsNoOutlier() throws IOException {
        assertThat(Traces.read(series("kernel", steady(900, 10, 300))).events(Effect.LEFT_OUT))
                .isOne();
        assertThat(Traces.read(series("kernel", steady(10, 900))).events(Effect.LEFT_OUT))
                .isZero();
    }

    @Test
    void tenTimesTheMedianIsTheBound() throws IOException {
        assertThat(Traces.read(series("kernel", steady(100))).events(Effect.LEFT_OUT))
                .isZero();
        assertThat(Traces.read(series("kernel", steady(101))).events(Effect.LEFT_OUT))
                .isOne();
    }

    @Test
    void theMedianIsThatOfAllExecutions() throws IOException {
        long[] mixed = steady(60);
        for (int i = 1; i < mixed.length; i++) {
            mixed[i] = i % 3 == 0 ? 1 : 10;
        }
        assertThat(Traces.read(series("kernel", mixed)).events(Effect.LEFT_OUT)).isZero();

        long[] many = new long[3_000];
        Arrays.fill(many, 10);
        Arrays.fill(many, 1_000, 2_700, 30);
        many[0] = 299;
        assertThat(Traces.read(series("kernel", many)).events(Effect.LEFT_OUT)).isZero();
        many[0] = 301;
        assertThat(Traces.read(series("kernel", many)).events(Effect.LEFT_OUT)).isOne();
    }

    @Test
    void aRepeatedLongExecutionIsNoWarmup() throws IOException {
        long[] again = steady(900);
        again[30] = 450;
        assertThat(Traces.read(series("kernel", again)).events(Effect.LEFT_OUT)).isZero();
        again[30] = 449;
        assertThat(Traces.read(series("kernel", again)).events(Effect.LEFT_OUT)).isOne();
    }

    @Test
    void copiesAndRareKernelsAreNeverWarmup() throws IOException {
        assertThat(Traces.read(series("gpu_memcpy", steady(900))).events(Effect.LEFT_OUT))
                .isZero();
        long[] few = Arrays.copyOf(steady(900), 23);
        assertThat(Traces.read(series("kernel", few)).events(Effect.LEFT_OUT)).isZero();
        assertThat(Traces.read(series("kernel", Arrays.copyOf(steady(900), 24))).events(Effect.LEFT_OUT))
                .isOne();
    }

    @Test
    void idleTimeDoesNotGrowByOmittedEvents() throws IOException {
        List<String> events = new ArrayList<>();
        events.add(slice("first", "kernel", 8, 0, 10));
        events.add(slice("k", "kernel", 7, 20, 900));
        for (int i = 0; i < 30; i++) {
            events.add(slice("k", "kernel", 7, 920 + 10L * i, 10));
        }

        TraceProfile reading = Traces.read(array(events.toArray(String[]::new)));

        assertThat(reading.leftOutNs()).isEqualTo(900_000);
        assertThat(reading.wallNs()).isEqualTo(320_000);
        assertThat(reading.idleNs()).isEqualTo(10_000);
    }

    @Test
    void skippedStepsDoNotHideWarmup() throws IOException {
        List<String> events = new ArrayList<>(List.of(step(1, 1, 0), step(2, 1, 100)));
        events.add(slice("k", "kernel", 7, 10, 1));
        events.add(slice("k", "kernel", 7, 110, 900));
        for (int i = 0; i < 30; i++) {
            events.add(slice("k", "kernel", 7, 2_000 + 10L * i, 5));
        }

        TraceProfile reading = Traces.read(array(events.toArray(String[]::new)), OPTIONS.withSkipSteps(1));

        assertThat(Omissions.leftOut(reading))
                .extracting(Omission::reason)
                .containsExactly(Reason.SKIPPED_STEP, Reason.WARM_UP);
    }
}
