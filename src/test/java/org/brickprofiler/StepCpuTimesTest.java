package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.StepStats.CpuTime;
import org.brickprofiler.internal.record.HostThreadTimes;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The CPU time of steps, on a thread whose times the test sets. */
class StepCpuTimesTest {

    private final FakeClock clock = new FakeClock();
    private long ranNs = 1_000;
    private long waitedNs = 500;
    private int readings;

    /** How long the thread waits for a processor when its time is read. */
    private long waitsWhenAskedNs;

    private final BrickProfiler profiler;

    StepCpuTimesTest() {
        BrickProfilerBuilder builder = BrickProfiler.builder().clock(clock);
        builder.threadTimes = () -> new ThreadTimes() {
            @Override
            public long ranNs() {
                readings++;
                clock.advance(waitsWhenAskedNs);
                waitedNs += waitsWhenAskedNs;
                return ranNs;
            }

            @Override
            public long waitedNs() {
                readings++;
                return waitedNs;
            }
        };
        profiler = builder.build();
        profiler.enable();
    }

    /** A step whose thread runs, waits for a processor, and is blocked. */
    private void step(long ran, long waited, long blocked) {
        profiler.beginStep(StepInfo.decode(1));
        clock.advance(ran + waited + blocked);
        ranNs += ran;
        waitedNs += waited;
        profiler.endPass();
    }

    private static CpuTime cpu(ProfileSnapshot snapshot) {
        return snapshot.steps().phase(Phase.DECODE).orElseThrow().cpu();
    }

    @Spec("17.12")
    @Test
    void aStepHasTheTimesOfTheThreadThatBeganIt() {
        step(700, 200, 100);
        clock.advance(60_000);
        ranNs += 50_000;
        step(500, 300, 200);
        CpuTime cpu = cpu(profiler.snapshot());
        assertThat(cpu).isEqualTo(new CpuTime(2, 2_000, 1_200, OptionalLong.of(500)));
        assertThat(cpu.ranShare()).isEqualTo(0.6);
        assertThat(cpu.waitedShare()).isEqualTo(0.25);
    }

    @Spec("17.12")
    @Test
    void aThreadRunsOnBetweenStepsThatFollowEachOther() {
        step(700, 200, 100);
        ranNs += 400;
        clock.advance(400);
        int before = readings;
        step(500, 300, 200);
        assertThat(readings - before).isEqualTo(2);
        assertThat(cpu(profiler.snapshot())).isEqualTo(new CpuTime(2, 2_000, 1_200, OptionalLong.of(500)));
    }

    /** When a thread reads its CPU time, the kernel checks whether another thread is due. */
    @Spec("17.12")
    @Test
    void aWaitForTheProcessorDuringAReadingIsOutsideOfTheStep() {
        waitsWhenAskedNs = 4_000_000;
        step(700, 200, 100);
        step(500, 300, 200);
        assertThat(cpu(profiler.snapshot())).isEqualTo(new CpuTime(2, 2_000, 1_200, OptionalLong.of(500)));
    }

    @Spec("17.12")
    @Test
    void timesOfTheSystemAreNotComparedWithAnotherClock() {
        BrickProfiler other =
                BrickProfiler.builder().stepCpuTimes(true).clock(clock).build();
        other.enable();
        other.beginStep(StepInfo.decode(1));
        clock.advance(1_000);
        other.endPass();
        assertThat(cpu(other.snapshot())).isEqualTo(CpuTime.NONE);
    }

    @Spec("17.12")
    @Test
    void stepsHaveNoCpuTimeUnlessAskedFor() {
        BrickProfiler plain = BrickProfiler.enabled();
        plain.beginStep(StepInfo.decode(1));
        plain.endPass();
        assertThat(cpu(plain.snapshot())).isEqualTo(CpuTime.NONE);
        assertThat(JsonReport.toJson(plain.snapshot())).doesNotContain("cpu_");
        assertThat(TextReport.render(plain.snapshot())).doesNotContain("CPU");
    }

    @Spec("17.12")
    @Test
    void anUnknownTimeIsNoZero() {
        step(700, 200, 100);
        waitedNs = ThreadTimes.UNKNOWN;
        step(500, 0, 500);
        assertThat(cpu(profiler.snapshot())).isEqualTo(new CpuTime(2, 2_000, 1_200, OptionalLong.empty()));
        profiler.reset();
        ranNs = ThreadTimes.UNKNOWN;
        profiler.beginStep(StepInfo.decode(1));
        profiler.endPass();
        assertThat(cpu(profiler.snapshot())).isEqualTo(CpuTime.NONE);
    }

    @Spec("17.12")
    @Test
    void mergedSnapshotsAndFilesKeepIt() throws Exception {
        step(700, 200, 100);
        ProfileSnapshot first = profiler.snapshotAndReset();
        step(500, 300, 200);
        ProfileSnapshot second = profiler.snapshotAndReset();
        CpuTime both = new CpuTime(2, 2_000, 1_200, OptionalLong.of(500));
        assertThat(cpu(first.merge(second))).isEqualTo(both);
        assertThat(cpu(JsonReport.fromJson(JsonReport.toJson(first.merge(second)))))
                .isEqualTo(both);
        assertThat(TextReport.render(first))
                .contains("% on CPU", "% waiting for CPU")
                .containsPattern(" 70\\.0 +20\\.0");

        CpuTime unknown = new CpuTime(1, 1_000, 600, OptionalLong.empty());
        assertThat(both.plus(unknown)).isEqualTo(new CpuTime(3, 3_000, 1_800, OptionalLong.empty()));
        assertThat(both.plus(CpuTime.NONE)).isEqualTo(both).isEqualTo(CpuTime.NONE.plus(both));
        assertThat(both.since(cpu(first))).isEqualTo(cpu(second));
        assertThat(both.since(unknown).waitedNs()).isEmpty();
        assertThat(both.since(CpuTime.NONE)).isEqualTo(both);
    }

    /** Uses the thread times of the operating system. */
    @Spec("17.12")
    @Test
    void readsTheTimesOfThisThread() {
        BrickProfiler measured = BrickProfiler.builder().stepCpuTimes(true).build();
        measured.enable();
        measured.beginStep(StepInfo.decode(1));
        ThreadTimes mine = HostThreadTimes.ofThisThread();
        long beforeNs = mine.ranNs();
        while (mine.ranNs() - beforeNs < 1_000_000) {
            Thread.onSpinWait();
        }
        measured.endPass();
        CpuTime cpu = cpu(measured.snapshot());
        assertThat(cpu.steps()).isEqualTo(1);
        assertThat(cpu.ranNs()).isGreaterThanOrEqualTo(1_000_000);
    }
}
