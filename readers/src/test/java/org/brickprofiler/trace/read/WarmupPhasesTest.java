package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Schedule;
import org.brickprofiler.ScheduledRun;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Samples that a schedule excludes from its profile are marked in the timeline, and excluded from a profile that is
 * read from it.
 */
final class WarmupPhasesTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().clock(clock).tracing(recorder).build();
    private final List<ProfileSnapshot> cycles = new ArrayList<>();

    /** Runs a pass of two bricks by {@code lap}; the brick after them continues beyond the end of the step. */
    private long pass(long timer, long ns) {
        clock.advance(ns);
        long next = profiler.lap(timer, 2, BrickId.LM_HEAD);
        clock.advance(2 * ns);
        return profiler.lap(next, 2, BrickId.RMS_NORM);
    }

    private void runs(ScheduledRun run, int passes) throws Exception {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        for (int i = 0; i < passes; i++) {
            timer = pass(timer, 100 + i);
            int ns = i;
            Crew.runOnNewThread(() -> {
                long worker = profiler.startBrick(BrickId.SAMPLING);
                clock.advance(50 + ns);
                profiler.stopBrick(worker, 1);
            });
            clock.advance(3);
            run.step();
            clock.advance(3);
            if (timer == 0) {
                timer = profiler.startBrick(BrickId.RMS_NORM);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void aWarmupIsLeftOutUnlessItIsKept(RoundTrip.Format format) throws Exception {
        runs(new ScheduledRun(profiler, Schedule.once(3, 4), cycles::add), 7);

        Timeline timeline = recorder.timeline();
        TraceProfile reading = format.read(timeline);
        assertThat(RoundTrip.bricks(reading.snapshot())).isEqualTo(RoundTrip.bricks(cycles.get(0)));
        assertThat(reading.eventsCounted()).isEqualTo(12);
        assertThat(Omissions.leftOut(reading))
                .extracting(Omission::reason, Omission::name, Omission::count)
                .containsExactlyInAnyOrder(
                        tuple(Reason.WARM_UP, "RmsNorm", 3L),
                        tuple(Reason.WARM_UP, "LmHead", 3L),
                        tuple(Reason.WARM_UP, "Sampling", 3L));
        TraceProfile all = format.read(timeline, ReadOptions.defaults().withKeepWarmup(true));
        assertThat(all.eventsCounted()).isEqualTo(21);
        assertThat(Omissions.leftOut(all)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void everyCycleHasItsWarmup(RoundTrip.Format format) throws Exception {
        runs(new ScheduledRun(profiler, new Schedule(1, 1, 2, 1, 3), cycles::add), 14);

        assertThat(cycles).hasSize(3);
        assertThat(RoundTrip.bricks(format.read(recorder.timeline()).snapshot()))
                .isEqualTo(RoundTrip.bricks(
                        cycles.stream().reduce(ProfileSnapshot::merge).orElseThrow()));
    }

    @Spec("6.5")
    @ParameterizedTest
    @EnumSource(RoundTrip.Format.class)
    void theMarksAreInstantsOnTheTrackOfTheThreadThatDrives(RoundTrip.Format format) throws Exception {
        runs(new ScheduledRun(profiler, new Schedule(0, 1, 1, 1, 1), cycles::add), 4);

        Timeline timeline = recorder.timeline();
        List<String> expected = List.of("not recorded", SpanName.WARMUP, "active", "not recorded");
        assertThat(marks(timeline)).isEqualTo(expected);
        Timeline read = TraceReader.timeline(new ByteArrayInputStream(format.written(timeline)), ReadOptions.defaults())
                .timeline();
        assertThat(marks(read)).isEqualTo(expected);
    }

    private static List<String> marks(Timeline timeline) {
        List<String> marks = new ArrayList<>();
        timeline.replay(0, new TimelineVisitor() {
            @Override
            public void span(Span span) {}

            @Override
            public void instant(long atNs, int name) {
                SpanName mark = timeline.names().get(name);
                assertThat(mark.category()).isEqualTo(SpanName.PHASE);
                marks.add(mark.name());
            }

            @Override
            public void counter(long atNs, double value) {}
        });
        return marks;
    }

    /** The timeline still has the bricks of another thread after the driver's bricks were overwritten. */
    @Test
    void aMarkOutlivesTheSpansBesideIt() throws Exception {
        TraceRecorder small =
                TraceRecorder.builder().clock(clock).threadCapacity(4).build();
        BrickProfiler watched =
                BrickProfiler.builder().clock(clock).tracing(small).build();
        ScheduledRun run = new ScheduledRun(watched, Schedule.once(1, 1), cycles::add);
        clock.advance(10);
        Crew.runOnNewThread(() -> watched.record(BrickId.SAMPLING, 5, 1));
        run.step();
        for (int i = 0; i < 100; i++) {
            clock.advance(10);
            watched.record(BrickId.RMS_NORM, 5, 1);
        }

        TraceProfile reading = RoundTrip.Format.PERFETTO.read(small.timeline());
        assertThat(reading.snapshot().brick("Sampling")).isEmpty();
        assertThat(reading.snapshot().brick("RmsNorm")).isPresent();
    }

    @Test
    void afterARecorderIsEmptiedItKnowsThePhaseThatIsUnderWay() throws IOException {
        ScheduledRun run = new ScheduledRun(profiler, Schedule.once(2, 1), cycles::add);
        profiler.record(BrickId.RMS_NORM, 5, 1);
        recorder.clear();
        clock.advance(10);
        profiler.record(BrickId.LM_HEAD, 5, 1);
        clock.advance(10);
        run.step();
        run.step();
        clock.advance(10);
        profiler.record(BrickId.SAMPLING, 5, 1);

        assertThat(RoundTrip.Format.CHROME.read(recorder.timeline()).snapshot().bricks())
                .extracting(brick -> brick.name())
                .containsExactly("Sampling");
    }

    @Test
    void withoutAScheduleThereAreNoMarks() {
        profiler.enable();
        profiler.record(BrickId.RMS_NORM, 5, 1);

        assertThat(recorder.timeline().names())
                .noneMatch(name -> name.category().equals(SpanName.PHASE));
        assertThat(marks(recorder.timeline())).isEmpty();
    }
}
