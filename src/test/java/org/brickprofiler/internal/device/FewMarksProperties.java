package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;

/**
 * Timers, laps and deferred measurements in every order, over two streams with few marks, against a naive model: the
 * time of each brick is right or unresolved, whatever runs out, fails or is given back meanwhile.
 */
final class FewMarksProperties {

    private static final int STREAMS = 2;
    private static final int MANY_MARKS = 4_096;

    enum Action {
        START,
        STOP,
        STOP_AGAIN,
        LAP,
        READ,
        DEFER,
        DEFER_LATEST,
        DEFER_FROM_OTHER_CLOCK,
        DEFER_FROM_OTHER_STREAM,
        WORK,
        CATCH_UP,
        POLL,
        FINALIZE,
        AWAIT,
        END_PASS,
        END_PASS_OF_STREAM,
        CAPTURE,
        BREAK,
        DISCARD,
        GIVE_BACK
    }

    /**
     * An action of the application, its stream, which of the timers or starts it uses, and the work and host time
     * before it.
     */
    record Step(Action action, int stream, int which, int workNs, int hostNs) {}

    /** A timer that runs, or a start that was read. */
    private record Begun(int stream, long token, long atNs, int key) {}

    /** A brick that has ended. */
    private record Ended(int key, int stream, long fromNs, long toNs) {}

    private static final class Application {
        final FakeClock clock = new FakeClock(1_000);
        final List<SimulatedStream> streams = new ArrayList<>();
        final TableRegistry bricks = new TableRegistry(1, false);
        final DeviceRecorder recorder;
        final long[] idleFromNs = {clock.now(), clock.now()};
        final boolean[] captures = new boolean[STREAMS];
        final List<Begun> timers = new ArrayList<>();
        final List<Begun> stopped = new ArrayList<>();
        final List<Begun> starts = new ArrayList<>();
        final List<Ended> ended = new ArrayList<>();

        /** Bricks that may be in no count, since what was pending was forgotten. */
        long forgotten;

        int lastKey = -1;

        Application(int marks) {
            streams.add(new SimulatedStream("one", clock, marks));
            streams.add(new SimulatedStream("two", clock, marks));
            recorder = new DeviceRecorder(clock, bricks, List.copyOf(streams), 3, DeviceRecorder.Tracing.NONE);
        }

        void run(List<Step> steps) {
            steps.forEach(this::run);
            for (int stream = 0; stream < STREAMS; stream++) {
                streams.get(stream).capture(false);
                recorder.endPass(stream, true);
            }
            // If the last marks were those of a capture, there was nothing to wait for.
            streams.forEach(SimulatedStream::finish);
            recorder.endPass(true);
            recorder.endPass(0, true);
            recorder.endPass(1, true);
            recorder.poll(DeviceRecorder.NO_TIME);
        }

        private void run(Step step) {
            int on = step.stream;
            SimulatedStream stream = streams.get(on);
            stream.work(step.workNs);
            idleFromNs[on] = Math.max(idleFromNs[on], clock.now()) + step.workNs;
            clock.advance(step.hostNs);
            long reachedNs = Math.max(idleFromNs[on], clock.now());
            switch (step.action) {
                case START -> {
                    int key = ++lastKey;
                    timers.add(new Begun(on, recorder.start(key, on), reachedNs, key));
                }
                case STOP -> {
                    if (!timers.isEmpty()) {
                        Begun timer = timers.remove(step.which % timers.size());
                        stopped.add(timer);
                        recorder.stop(timer.token, 1);
                        end(timer.key, timer, reachedNs(timer.stream));
                    }
                }
                case STOP_AGAIN -> {
                    if (!stopped.isEmpty()) {
                        Begun timer = stopped.get(step.which % stopped.size());
                        recorder.stop(timer.token, 1);
                        end(timer.key, timer, reachedNs(timer.stream));
                    }
                }
                case LAP -> {
                    if (!timers.isEmpty()) {
                        Begun timer = timers.remove(step.which % timers.size());
                        long atNs = reachedNs(timer.stream);
                        int key = ++lastKey;
                        timers.add(new Begun(timer.stream, recorder.lap(timer.token, 1, key), atNs, key));
                        end(timer.key, timer, atNs);
                    }
                }
                case READ -> starts.add(new Begun(on, recorder.markStart(on), reachedNs, -1));
                case DEFER, DEFER_LATEST -> {
                    if (!starts.isEmpty()) {
                        boolean latest = step.action == Action.DEFER_LATEST;
                        Begun start = starts.get(latest ? starts.size() - 1 : step.which % starts.size());
                        int key = ++lastKey;
                        recorder.endSince(key, start.stream, start.token, 1);
                        end(key, start, reachedNs(start.stream));
                    }
                }
                case DEFER_FROM_OTHER_CLOCK -> {
                    // Nothing but "unresolved" is right, whatever the number.
                    int key = ++lastKey;
                    recorder.endSince(key, on, -1 - step.which, 1);
                    ended.add(new Ended(key, on, 0, -1));
                }
                case DEFER_FROM_OTHER_STREAM -> {
                    if (!starts.isEmpty()) {
                        Begun start = starts.get(step.which % starts.size());
                        int other = 1 - start.stream;
                        int key = ++lastKey;
                        recorder.endSince(key, other, start.token, 1);
                        ended.add(new Ended(key, other, 0, -1));
                    }
                }
                case WORK -> {}
                case CATCH_UP -> stream.finish();
                case POLL -> recorder.poll(DeviceRecorder.NO_TIME);
                case FINALIZE -> recorder.poll(recorder.markStart(on));
                case AWAIT -> recorder.await();
                case END_PASS -> recorder.endPass(step.which % 2 == 0);
                case END_PASS_OF_STREAM -> recorder.endPass(on, true);
                case CAPTURE -> {
                    captures[on] = !captures[on];
                    stream.capture(captures[on]);
                }
                case BREAK -> stream.breakOff();
                case DISCARD -> {
                    // Of what is queued, some is unresolved as soon as it is taken.
                    long unresolvedBefore = unresolved();
                    forgotten += recorder.pendingCount();
                    recorder.discard();
                    forgotten -= unresolved() - unresolvedBefore;
                }
                case GIVE_BACK -> recorder.giveBack();
            }
        }

        private long unresolved() {
            DeviceFigures figures = recorder.figures(0, lastKey + 1);
            return LongStream.rangeClosed(0, lastKey)
                    .map(key -> figures.unresolved((int) key))
                    .sum();
        }

        private long reachedNs(int stream) {
            return Math.max(idleFromNs[stream], clock.now());
        }

        private void end(int key, Begun begun, long toNs) {
            ended.add(new Ended(key, begun.stream, begun.atNs, toNs));
        }
    }

    private static Arbitrary<List<Step>> steps(Arbitrary<Action> actions) {
        return Combinators.combine(
                        actions,
                        Arbitraries.integers().between(0, STREAMS - 1),
                        Arbitraries.integers().between(0, 1_000),
                        Arbitraries.integers().between(0, 300),
                        Arbitraries.integers().between(0, 200))
                .as(Step::new)
                .list()
                .ofMaxSize(150);
    }

    @Provide
    Arbitrary<List<Step>> anything() {
        return steps(Arbitraries.frequencyOf(
                Tuple.of(12, Arbitraries.of(Action.READ, Action.DEFER, Action.DEFER_LATEST)),
                Tuple.of(8, Arbitraries.of(Action.START, Action.STOP, Action.LAP)),
                Tuple.of(4, Arbitraries.of(Action.WORK, Action.CATCH_UP, Action.POLL)),
                Tuple.of(2, Arbitraries.of(Action.values()))));
    }

    @Provide
    Arbitrary<List<Step>> wellBehaved() {
        return steps(Arbitraries.of(
                Action.START,
                Action.STOP,
                Action.LAP,
                Action.READ,
                Action.READ,
                Action.DEFER,
                Action.DEFER,
                Action.DEFER_LATEST,
                Action.WORK,
                Action.CATCH_UP,
                Action.POLL,
                Action.FINALIZE,
                Action.AWAIT,
                Action.END_PASS,
                Action.END_PASS_OF_STREAM));
    }

    @Spec({"12.6", "12.8", "12.9"})
    @Property(tries = 3_000)
    void everyBrickIsRightOrUnresolved(
            @ForAll("anything") List<Step> steps, @ForAll @IntRange(min = 1, max = 24) int marks) {
        Application application = new Application(marks);
        application.run(steps);
        long known = check(application);
        assertThat(known).isLessThanOrEqualTo(application.ended.size());
        application.recorder.discard();
        application.recorder.giveBack();
        for (SimulatedStream stream : application.streams) {
            assertThat(stream.marksHeld()).isZero();
        }
    }

    /** With enough marks no time is given up: every brick has its own, however many passes lie within it. */
    @Spec("12.8")
    @Property(tries = 1_000)
    void withEnoughMarksEveryBrickHasItsTime(@ForAll("wellBehaved") List<Step> steps) {
        Application application = new Application(MANY_MARKS);
        application.run(steps);
        assertThat(check(application)).isEqualTo(application.ended.size());
        for (SimulatedStream stream : application.streams) {
            // One more for the last mark, by which the stream's timeline goes on.
            assertThat(stream.marksHeld()).isLessThanOrEqualTo(application.timers.size() + 1);
        }
    }

    /** Returns how many bricks have a time, and asserts that each time is the model's. */
    private static long check(Application application) {
        DeviceFigures figures = application.recorder.figures(0, application.lastKey + 1);
        long known = 0;
        long unresolved = 0;
        for (int key = 0; key <= application.lastKey; key++) {
            int brick = key;
            List<Ended> ended =
                    application.ended.stream().filter(each -> each.key == brick).toList();
            StatRow row = application.bricks.read().row(key);
            known += row.count();
            unresolved += figures.unresolved(key);
            assertThat(row.count() + figures.unresolved(key))
                    .as("brick %d, ended %s", key, ended)
                    .isLessThanOrEqualTo(ended.size());
            // A timer that was stopped again has several times, each longer than the one before.
            List<Long> times = ended.stream()
                    .map(each -> each.toNs - each.fromNs)
                    .sorted(Comparator.naturalOrder())
                    .toList();
            if (row.count() == ended.size()) {
                assertThat(row.totalNs())
                        .as("brick %d, ended %s", key, ended)
                        .isEqualTo(times.stream().mapToLong(Long::longValue).sum());
            } else if (row.count() > 0) {
                assertThat(times).as("brick %d, ended %s", key, ended).contains(row.minNs(), row.maxNs());
            }
        }
        assertThat(known + unresolved + application.forgotten).isEqualTo(application.ended.size());
        long busyNs = application.recorder.figures(0, 1).streams().stream()
                .mapToLong(each -> each.busyNs() + each.idleNs())
                .sum();
        long spanNs = application.ended.stream()
                .filter(each -> each.toNs >= each.fromNs)
                .collect(Collectors.groupingBy(Ended::stream))
                .values()
                .stream()
                .mapToLong(each -> each.stream().mapToLong(Ended::toNs).max().orElse(0)
                        - each.stream().mapToLong(Ended::fromNs).min().orElse(0))
                .sum();
        assertThat(busyNs).isLessThanOrEqualTo(spanNs);
        return known;
    }
}
