package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.trace.read.Kernels.Kernel;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;

/**
 * Makes a profile of the events that may count: looks for warm-up in a first pass over them, and adds them up in a
 * second one. One thread.
 */
final class TraceAnalysis {

    private final TraceCollector trace;
    private final ReadOptions options;
    private final long firstKeptNs;

    private TraceAnalysis(TraceCollector trace, ReadOptions options) throws TraceFormatException {
        this.trace = trace;
        this.options = options;
        this.firstKeptNs = trace.steps().firstKeptNs(options.skipSteps());
    }

    /**
     * Makes the profile.
     *
     * @param trace the events; the caller closes it
     * @param options how to read
     * @throws TraceFormatException when a limit is reached, or a sum is too large
     * @throws IOException when the temporary file cannot be written or read
     */
    static TraceReading of(TraceCollector trace, ReadOptions options) throws IOException {
        TraceAnalysis analysis = new TraceAnalysis(trace, options);
        WarmupPass warmup = analysis.new WarmupPass();
        if (!options.keepWarmup() && !trace.head().isOwn()) {
            analysis.pass(warmup);
        }
        CountingPass counting = analysis.new CountingPass(warmup.detector.warmup());
        analysis.pass(counting);
        return counting.reading();
    }

    private void pass(SelfTimes.Sink sink) throws IOException {
        EventSorter.Cursor events = trace.slices().inOrder();
        if (trace.head().isOwn()) {
            wholeTimes(events, sink);
        } else {
            SelfTimes.of(events, trace.source(), options.limits().openSlices(), sink);
        }
    }

    /** A profiler counts a brick with all its time, that of the bricks inside it too. */
    private static void wholeTimes(EventSorter.Cursor events, SelfTimes.Sink sink) throws IOException {
        for (DeviceEvent event = events.next(); event != null; event = events.next()) {
            sink.ends(event, event.elapsedNs(), sink.begins(event));
        }
    }

    private boolean isSkipped(DeviceEvent event) {
        return event.startNs() < firstKeptNs;
    }

    private boolean isInWarmup(DeviceEvent event) {
        return !options.keepWarmup() && trace.phases().isWarmup(event);
    }

    private Kernel kernel(DeviceEvent event) {
        return trace.kernels().get(event.kernel());
    }

    private final class WarmupPass implements SelfTimes.Sink {
        private final WarmupDetector detector = new WarmupDetector();

        @Override
        public boolean begins(DeviceEvent event) {
            return !isSkipped(event);
        }

        @Override
        public void overlaps(DeviceEvent event) {
            // The counting pass reports it.
        }

        @Override
        public void ends(DeviceEvent event, long selfNs, boolean counts) {
            if (counts && kernel(event).canWarmUp()) {
                detector.add(event, selfNs);
            }
        }
    }

    private record LeftOutKey(LeftOut.Reason reason, String kernel) {}

    private final class CountingPass implements SelfTimes.Sink {
        private final LongHashSet warmup;
        private final BusyTime busy = new BusyTime();
        private final BrickSums bricks = new BrickSums();
        private final IntHashSet rows = new IntHashSet();
        private final IntHashSet unmatchedKernels = new IntHashSet();
        private final Map<LeftOutKey, LeftOut> leftOut = new HashMap<>();
        private long counted;
        private long unmatched;
        private long unmatchedNs;
        private long leftOutNs;

        CountingPass(LongHashSet warmup) {
            this.warmup = warmup;
        }

        @Override
        public boolean begins(DeviceEvent event) {
            boolean counts = !isSkipped(event) && !warmup.contains(event.offset()) && !isInWarmup(event);
            busy.add(event, counts);
            return counts;
        }

        @Override
        public void overlaps(DeviceEvent event) {
            trace.tally().repair(Repair.Kind.OVERLAP, event.offset());
        }

        @Override
        public void ends(DeviceEvent event, long selfNs, boolean counts) throws TraceFormatException {
            try {
                if (counts) {
                    count(event, selfNs);
                } else {
                    leaveOut(event, selfNs);
                }
            } catch (ArithmeticException tooLarge) {
                throw new TraceFormatException(
                        trace.source(),
                        event.offset(),
                        "the sum of the times, elements or bytes exceeds 2^63 - 1",
                        tooLarge);
            }
        }

        private void count(DeviceEvent event, long selfNs) {
            Kernel kernel = kernel(event);
            boolean own = trace.head().isOwn();
            bricks.add(kernel.target(), event, selfNs, own ? event.amount() : 1, own ? 0 : event.amount());
            rows.add(event.row());
            counted++;
            if (!kernel.matched()) {
                unmatchedKernels.add(event.kernel());
                unmatched++;
                unmatchedNs += selfNs;
            }
        }

        private void leaveOut(DeviceEvent event, long selfNs) {
            leftOutNs = Math.addExact(leftOutNs, selfNs);
            LeftOut.Reason reason = isSkipped(event) ? LeftOut.Reason.SKIPPED_STEP : LeftOut.Reason.WARM_UP;
            String name = kernel(event).name();
            leftOut.merge(
                    new LeftOutKey(reason, name),
                    new LeftOut(reason, name, 1, selfNs),
                    (one, two) -> new LeftOut(
                            reason, name, one.events() + two.events(), one.elapsedNs() + two.elapsedNs()));
        }

        TraceReading reading() {
            return new TraceReading(
                    snapshot(),
                    trace.counting(),
                    busy.wallNs(),
                    busy.busyNs(),
                    rows.size(),
                    trace.steps().count(),
                    trace.eventsRead(),
                    counted,
                    trace.tally().ignored(),
                    leftOut.values().stream()
                            .sorted(Comparator.comparing(LeftOut::reason)
                                    .thenComparing(Comparator.comparingLong(LeftOut::elapsedNs)
                                            .reversed())
                                    .thenComparing(LeftOut::kernel))
                            .toList(),
                    new TraceReading.Unmatched(unmatchedKernels.size(), unmatched, unmatchedNs),
                    trace.tally().repairs());
        }

        private ProfileSnapshot snapshot() {
            TraceClock clock = TraceClock.of(trace.head().baseTimeNs(), busy.firstNs());
            List<Environment> devices = trace.head().devices().stream()
                    .map(device -> new Environment("", "", "", "", device, 0, 0))
                    .toList();
            return new ProfileSnapshot(
                    clock.instant(busy.firstNs()), clock.instant(busy.lastNs()), busy.wallNs(), 0, false, 0, 0,
                    OptionalDouble.empty(), false, devices, bricks.stats(clock), List.of());
        }
    }
}
