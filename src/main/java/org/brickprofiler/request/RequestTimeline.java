package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The latest requests over time: the segments of each request, one after the other, each with one cause, and the steps
 * of that time. Immutable. Times are ns on the scale of {@code BrickProfiler.elapsedNs()}.
 *
 * <p>A time line is bounded: 1,024 requests, 16,384 steps. A request whose steps are no longer known keeps its record,
 * without segments.
 *
 * @param steps the steps during these requests, by their beginning
 * @param requests the requests that finished last, by their finish
 * @param epochNs the clock of the process at 0 of the scale, ns. A time plus this value is a reading of the process's
 *     {@link System#nanoTime()}
 */
public record RequestTimeline(List<Step> steps, List<Request> requests, long epochNs) {

    /** No requests. */
    public static final RequestTimeline NONE = new RequestTimeline(List.of(), List.of(), 0);

    private static final Comparator<RequestTimeline> BY_SLOWEST = Comparator.comparingLong(RequestTimeline::slowestNs)
            .thenComparingInt(timeline -> timeline.requests.size())
            .thenComparing(RequestTimeline::toString);

    /**
     * A step. Immutable.
     *
     * @param startNs its beginning
     * @param durationNs its duration, ns; of a step that is under way, up to the moment of the reading
     * @param lane the number of its thread
     * @param prompts whether it processes prompts
     * @param isAbandoned whether it was abandoned, and so was no step of its requests
     * @param prefilling requests of which it processes tokens of the prompt
     * @param decoding requests that it decodes
     * @param promptTokens tokens of the prompts of these requests
     */
    public record Step(
            long startNs,
            long durationNs,
            int lane,
            boolean prompts,
            boolean isAbandoned,
            int prefilling,
            int decoding,
            long promptTokens) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Step {
            requireNotNegative("durationNs", durationNs);
            requireNotNegative("lane", lane);
            requireNotNegative("prefilling", prefilling);
            requireNotNegative("decoding", decoding);
            requireNotNegative("promptTokens", promptTokens);
        }

        long endNs() {
            return startNs + durationNs;
        }
    }

    /**
     * The work of consecutive steps of one thread on a request. It covers these steps completely, except that it may
     * begin within the first one and end within the last one. Immutable.
     *
     * @param firstStep the index of the first step
     * @param lastStep the index of the last step; steps of other threads may lie in between
     * @param startNs the beginning of the work, within the first step
     * @param endNs the end of the work, within the last step
     * @param ownPrompt whether the steps processed tokens of the request's prompt
     */
    public record Work(int firstStep, int lastStep, long startNs, long endNs, boolean ownPrompt) {}

    /**
     * Own work of the thread that serves a request, outside of its steps; see {@link Cause#OWN_WORK}. Immutable.
     *
     * @param startNs its beginning
     * @param endNs its end
     */
    public record OwnWork(long startNs, long endNs) {

        /**
         * Checks the order.
         *
         * @throws IllegalArgumentException when it ends before its beginning
         */
        public OwnWork {
            if (endNs < startNs) {
                throw new IllegalArgumentException(
                        "own work on a request ends at " + endNs + ", before its beginning " + startNs);
            }
        }
    }

    /**
     * A request. Immutable.
     *
     * @param record the request
     * @param works the work of steps on it, in the order of time
     * @param ownWorks the own work of its thread outside of steps, in the order of time
     * @param isComplete whether its steps are known; if not, it has no works and no segments
     */
    public record Request(RequestRecord record, List<Work> works, List<OwnWork> ownWorks, boolean isComplete) {

        /** Copies the lists. */
        public Request {
            Objects.requireNonNull(record, "record");
            works = List.copyOf(Objects.requireNonNull(works, "works"));
            ownWorks = List.copyOf(Objects.requireNonNull(ownWorks, "ownWorks"));
        }

        private long endNs() {
            return record.arrivedNs() + record.durationNs();
        }

        /** Returns the moment of the last token; {@link Long#MAX_VALUE} without tokens. */
        private long lastTokenNs() {
            return record.outputTokens() == 0
                    ? Long.MAX_VALUE
                    : record.arrivedNs() + record.timeToFirstTokenNs() + record.firstToLastTokenNs();
        }
    }

    /**
     * A part of a request's time. Immutable.
     *
     * @param cause the cause
     * @param startNs its beginning
     * @param durationNs its duration, ns, above 0
     * @param step the index of the step that works on the request; -1 outside of its steps
     */
    public record Segment(Cause cause, long startNs, long durationNs, int step) {

        /** Checks that there is a cause. */
        public Segment {
            Objects.requireNonNull(cause, "cause");
        }
    }

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException when a work names a step that is missing, or ends before it begins
     */
    public RequestTimeline {
        steps = List.copyOf(Objects.requireNonNull(steps, "steps"));
        requests = List.copyOf(Objects.requireNonNull(requests, "requests"));
        for (Request request : requests) {
            for (Work work : request.works) {
                if (work.firstStep < 0 || work.lastStep >= steps.size() || work.firstStep > work.lastStep) {
                    throw new IllegalArgumentException("steps " + work.firstStep + " to " + work.lastStep
                            + " of a request are not in order within 0.." + (steps.size() - 1));
                }
                if (work.endNs < work.startNs) {
                    throw new IllegalArgumentException(
                            "work on a request ends at " + work.endNs + ", before its beginning " + work.startNs);
                }
            }
        }
    }

    private long slowestNs() {
        return requests.stream()
                .mapToLong(request -> request.record.timeToFirstTokenNs())
                .max()
                .orElse(-1);
    }

    /**
     * Returns the one of two time lines that contains the longest time to first token. They cannot be joined, since
     * times of two processes have no common scale. Commutative and associative.
     *
     * @param other the other time line
     * @return one of both
     */
    public RequestTimeline merge(RequestTimeline other) {
        return BY_SLOWEST.compare(this, Objects.requireNonNull(other, "other")) >= 0 ? this : other;
    }

    /**
     * Returns the segments of all requests. The durations of the segments with one cause sum to the request's time of
     * this cause.
     *
     * @return a list for each request, in the order of time; empty if the request is not complete
     */
    public List<List<Segment>> segments() {
        Waits waits = new Waits(steps);
        return requests.stream()
                .map(request -> request.isComplete ? new Segments(this, request, waits).all() : List.<Segment>of())
                .toList();
    }

    /** The steps that a waiting request waits behind, over time. */
    private static final class Waits {

        /** The kinds of waiting: behind prompts, behind decoding, while no step runs. */
        private static final int PROMPTS = 0;

        private static final int DECODING = 1;
        private static final int IDLE = 2;

        /** The kind of waiting from each moment at which it may change. */
        private final TreeMap<Long, Integer> from = new TreeMap<>();

        Waits(List<Step> steps) {
            TreeMap<Long, int[]> changes = new TreeMap<>();
            for (Step step : steps) {
                int kind = step.prompts ? PROMPTS : DECODING;
                changes.computeIfAbsent(step.startNs, first -> new int[2])[kind]++;
                changes.computeIfAbsent(step.endNs(), first -> new int[2])[kind]--;
            }
            int prompts = 0;
            int decoding = 0;
            from.put(Long.MIN_VALUE, IDLE);
            for (Map.Entry<Long, int[]> change : changes.entrySet()) {
                prompts += change.getValue()[PROMPTS];
                decoding += change.getValue()[DECODING];
                from.put(change.getKey(), prompts > 0 ? PROMPTS : decoding > 0 ? DECODING : IDLE);
            }
        }

        int at(long ns) {
            return from.floorEntry(ns).getValue();
        }

        /** Returns the next moment at which the kind may change, at most {@code orNs}. */
        long changesAfter(long ns, long orNs) {
            Long next = from.higherKey(ns);
            return next == null ? orNs : Math.min(next, orNs);
        }
    }

    /** Collects the segments of one request. */
    private static final class Segments {
        private static final Cause[] QUEUED = {
            Cause.QUEUED_BEHIND_PROMPTS, Cause.QUEUED_BEHIND_DECODING, Cause.QUEUED_IDLE
        };
        private static final Cause[] STALLED = {
            Cause.STALLED_BEHIND_PROMPTS, Cause.STALLED_BEHIND_DECODING, Cause.STALLED_IDLE
        };

        private final RequestTimeline timeline;
        private final Request request;
        private final Waits waits;
        private final List<Segment> found = new ArrayList<>();
        private int nextOwnWork;
        private long atNs;

        Segments(RequestTimeline timeline, Request request, Waits waits) {
            this.timeline = timeline;
            this.request = request;
            this.waits = waits;
            this.atNs = request.record.arrivedNs();
        }

        List<Segment> all() {
            boolean first = true;
            for (Work work : request.works) {
                int lane = timeline.steps.get(work.firstStep).lane;
                for (int index = work.firstStep; index <= work.lastStep; index++) {
                    Step step = timeline.steps.get(index);
                    if (step.lane == lane) {
                        waitUntil(Math.max(work.startNs, step.startNs), first, false);
                        add(cause(step, work.ownPrompt), Math.min(work.endNs, step.endNs()), index);
                        first = false;
                    }
                }
            }
            waitUntil(request.endNs(), first, request.record.outputTokens() == 0);
            return List.copyOf(found);
        }

        private static Cause cause(Step step, boolean ownPrompt) {
            if (ownPrompt) {
                return Cause.OWN_PROMPT;
            }
            return step.prompts ? Cause.DECODE_BESIDE_PROMPTS : Cause.DECODE;
        }

        private void waitUntil(long toNs, boolean isQueued, boolean isOver) {
            if (!isQueued && (isOver || atNs >= request.lastTokenNs())) {
                add(Cause.DELIVERY, toNs, -1);
                return;
            }
            Cause[] causes = isQueued ? QUEUED : STALLED;
            while (atNs < toNs) {
                OwnWork own = nextOwnWork();
                if (own != null && own.startNs <= atNs) {
                    add(Cause.OWN_WORK, Math.min(own.endNs, toNs), -1);
                } else {
                    long untilNs = own == null ? toNs : Math.min(own.startNs, toNs);
                    add(causes[waits.at(atNs)], waits.changesAfter(atNs, untilNs), -1);
                }
            }
        }

        /** Returns the first own work that ends later than the segments so far; null if there is none. */
        private @Nullable OwnWork nextOwnWork() {
            while (nextOwnWork < request.ownWorks.size() && request.ownWorks.get(nextOwnWork).endNs <= atNs) {
                nextOwnWork++;
            }
            return nextOwnWork < request.ownWorks.size() ? request.ownWorks.get(nextOwnWork) : null;
        }

        private void add(Cause cause, long toNs, int step) {
            if (toNs <= atNs) {
                return;
            }
            Segment last = found.isEmpty() ? null : found.get(found.size() - 1);
            if (last != null && step < 0 && last.step < 0 && last.cause == cause) {
                found.set(found.size() - 1, new Segment(cause, last.startNs, toNs - last.startNs, -1));
            } else {
                found.add(new Segment(cause, atNs, toNs - atNs, step));
            }
            atNs = toNs;
        }
    }

    /** Returns the time of some segments by cause. */
    static Map<Cause, Long> causeNs(List<Segment> segments) {
        Map<Cause, Long> causes = new EnumMap<>(Cause.class);
        segments.forEach(segment -> causes.merge(segment.cause, segment.durationNs, Long::sum));
        return causes;
    }
}
