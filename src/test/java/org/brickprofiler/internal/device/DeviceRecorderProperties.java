package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;

/** Whatever an application does with bricks, their times and the stream's are those of a plain simulation. */
final class DeviceRecorderProperties {

    private static final int KEYS = 4;

    enum Action {
        START,
        STOP_LATEST,
        STOP_OLDEST,
        LAP,
        LAYER,
        POLL
    }

    /** What the application does, how much work it enqueues then, and how long the host takes. */
    record Step(Action action, int key, int workNs, int hostNs) {}

    private record Timer(long token, int key, long atNs, long hostNs) {}

    /** The times of the device and the host as they must come out. */
    private static final class Expected {
        private final long[] totalNs = new long[KEYS];
        private final long[] launchNs = new long[KEYS];
        private final long[] counts = new long[KEYS];
        private final List<long[]> intervals = new ArrayList<>();

        void add(Timer timer, long endNs, long hostNs) {
            counts[timer.key]++;
            totalNs[timer.key] += endNs - timer.atNs;
            launchNs[timer.key] += hostNs - timer.hostNs;
            intervals.add(new long[] {timer.atNs, endNs});
        }

        long busyNs() {
            intervals.sort((a, b) -> Long.compare(a[0], b[0]));
            long busyNs = 0;
            long untilNs = Long.MIN_VALUE;
            for (long[] interval : intervals) {
                busyNs += Math.max(0, interval[1] - Math.max(untilNs, interval[0]));
                untilNs = Math.max(untilNs, interval[1]);
            }
            return busyNs;
        }

        long spanNs() {
            long fromNs = intervals.stream().mapToLong(each -> each[0]).min().orElse(0);
            return intervals.stream().mapToLong(each -> each[1]).max().orElse(0) - fromNs;
        }
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.of(Action.class),
                        Arbitraries.integers().between(0, KEYS - 1),
                        Arbitraries.integers().between(0, 300),
                        Arbitraries.integers().between(0, 200))
                .as(Step::new)
                .list()
                .ofMaxSize(60);
    }

    @Spec("12.11")
    @Property
    void timesAreThoseOfThePlainSimulation(@ForAll("steps") List<Step> steps) {
        FakeClock clock = new FakeClock(1_000);
        SimulatedStream stream = new SimulatedStream("stream", clock);
        TableRegistry bricks = new TableRegistry(KEYS, false);
        DeviceRecorder recorder = new DeviceRecorder(clock, bricks, List.of(stream), 1, DeviceRecorder.Tracing.NONE);
        Expected expected = new Expected();
        Deque<Timer> running = new ArrayDeque<>();
        boolean resolvedEarly = false;
        long idleFromNs = clock.now();
        for (Step step : steps) {
            stream.work(step.workNs);
            idleFromNs = Math.max(idleFromNs, clock.now()) + step.workNs;
            clock.advance(step.hostNs);
            long reachedNs = Math.max(idleFromNs, clock.now());
            switch (step.action) {
                case START -> running.addLast(new Timer(recorder.start(step.key, 0), step.key, reachedNs, clock.now()));
                case STOP_LATEST, STOP_OLDEST -> {
                    Timer timer = step.action == Action.STOP_LATEST ? running.pollLast() : running.pollFirst();
                    if (timer != null) {
                        recorder.stop(timer.token, 1);
                        expected.add(timer, reachedNs, clock.now());
                    }
                }
                case LAP -> {
                    Timer timer = running.pollLast();
                    if (timer != null) {
                        long next = recorder.lap(timer.token, 1, step.key);
                        expected.add(timer, reachedNs, clock.now());
                        running.addLast(new Timer(next, step.key, reachedNs, clock.now()));
                    }
                }
                case LAYER -> {
                    recorder.await();
                    resolvedEarly = true;
                }
                case POLL -> {
                    recorder.poll(DeviceRecorder.NO_TIME);
                    resolvedEarly = true;
                }
            }
        }
        recorder.await();
        DeviceFigures figures = recorder.figures(0, KEYS);
        for (int key = 0; key < KEYS; key++) {
            StatRow row = bricks.read().row(key);
            assertThat(row.count()).isEqualTo(expected.counts[key]);
            assertThat(row.totalNs()).isEqualTo(expected.totalNs[key]);
            assertThat(figures.launches(key).totalNs()).isEqualTo(expected.launchNs[key]);
            assertThat(figures.unresolved(key)).isZero();
        }
        StreamTotals totals = figures.streams().get(0);
        // The time of a brick around others that were resolved before it may have been taken for a gap then. No time is
        // counted twice.
        if (resolvedEarly) {
            assertThat(totals.busyNs()).isLessThanOrEqualTo(expected.busyNs());
        } else {
            assertThat(totals.busyNs()).isEqualTo(expected.busyNs());
        }
        assertThat(totals.busyNs() + totals.idleNs()).isLessThanOrEqualTo(expected.spanNs());
        if (!resolvedEarly) {
            assertThat(totals.busyNs() + totals.idleNs()).isEqualTo(expected.spanNs());
        }
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(running.size() + 1);
        recorder.endPass(false);
        assertThat(stream.marksHeld()).isEqualTo(running.size());
    }
}
