package org.brickprofiler.request;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * The latencies of the requests that finished in the last hour, in slots of ten seconds and of a minute: 1.3 MB, from
 * the first finish on. Guarded by the recorder.
 */
final class RecentSlots {

    private static final long NS_PER_S = 1_000_000_000;
    private static final int MINUTE = 60;
    private static final long MINUTE_NS = MINUTE * NS_PER_S;
    private static final int[] WINDOWS = {1, 5, 60};

    /** The slots of the last minute, and those of the last hour; of each, one is not complete. */
    private final Ring tens = new Ring(10 * NS_PER_S, MINUTE / 10 + 1);

    private final Ring minutes = new Ring(MINUTE_NS, MINUTE + 1);
    private final RequestModels models;

    /** The clock when the first request could finish. */
    private long beganNs;

    RecentSlots(long nowNs, RequestModels models) {
        this.models = models;
        beganNs = nowNs;
    }

    /** The request with the longest latency of a period. */
    private static final class Slowest {
        private final long[] record = new long[RequestRecord.CELLS];
        private final KeptIds ids;

        /** The latency, ns; -1 without a request. */
        private long ns;

        Slowest(RequestModels models) {
            ids = new KeptIds(1, models);
        }

        void clear() {
            ns = -1;
            ids.clear();
        }

        void offer(long latencyNs, long[] finished, @Nullable String id, @Nullable RequestTrace trace) {
            if (latencyNs > ns) {
                ns = latencyNs;
                System.arraycopy(finished, 0, record, 0, RequestRecord.CELLS);
                ids.set(0, id, trace);
            }
        }

        /** Returns the slowest request of several periods. */
        static Optional<RequestRecord> of(Stream<Slowest> periods) {
            return periods.filter(each -> each.ns >= 0)
                    .max(Comparator.comparingLong(each -> each.ns))
                    .map(each -> each.ids.record(0, each.record, 0));
        }

        void split(long handle, WaitSource.Split waits) {
            if (ns >= 0 && record[RequestRecord.HANDLE] == handle) {
                RequestRecord.setWaits(record, 0, waits.waitNs());
                ids.setLock(0, waits.lock().orElse(null));
            }
        }
    }

    /** The sums of the requests that finished in a period. */
    private static final class Slot {
        private final int[] firstTokens = new int[LatencyBuckets.COUNT];
        private final int[] perTokens = new int[LatencyBuckets.COUNT];
        private final Slowest slowestFirstToken;
        private final Slowest slowestPerToken;

        /** The number of the period; periods are counted from 0 of the clock. */
        private long period;

        private long finished;
        private long failed;

        Slot(RequestModels models) {
            slowestFirstToken = new Slowest(models);
            slowestPerToken = new Slowest(models);
        }

        void begin(long number) {
            period = number;
            finished = 0;
            failed = 0;
            slowestFirstToken.clear();
            slowestPerToken.clear();
            Arrays.fill(firstTokens, 0);
            Arrays.fill(perTokens, 0);
        }

        void add(long[] record, @Nullable String id, @Nullable RequestTrace trace) {
            finished++;
            failed += record[RequestRecord.OUTCOME] == Outcome.FAILED.index() ? 1 : 0;
            long tokens = record[RequestRecord.OUTPUT_TOKENS];
            if (tokens > 0) {
                long ns = record[RequestRecord.FIRST_TOKEN];
                firstTokens[LatencyBuckets.indexOf(ns)]++;
                slowestFirstToken.offer(ns, record, id, trace);
            }
            if (tokens > 1) {
                long ns = Math.round((double) record[RequestRecord.FIRST_TO_LAST] / (tokens - 1));
                perTokens[LatencyBuckets.indexOf(ns)]++;
                slowestPerToken.offer(ns, record, id, trace);
            }
        }
    }

    /** The latest periods of one length. */
    private static final class Ring {
        private final long lengthNs;
        private final @Nullable Slot[] slots;

        Ring(long lengthNs, int periods) {
            this.lengthNs = lengthNs;
            this.slots = new Slot[periods];
        }

        /** Makes the slots: later finishes allocate nothing. */
        void make(RequestModels models) {
            Arrays.setAll(slots, i -> {
                Slot slot = new Slot(models);
                slot.begin(Long.MIN_VALUE);
                return slot;
            });
        }

        void add(long[] record, @Nullable String id, @Nullable RequestTrace trace, long atNs) {
            long period = Math.floorDiv(atNs, lengthNs);
            Slot slot = slots[(int) Math.floorMod(period, (long) slots.length)];
            if (slot != null && slot.period <= period) {
                if (slot.period < period) {
                    slot.begin(period);
                }
                slot.add(record, id, trace);
            }
        }

        /** Returns the slots of the present period and of some before. */
        List<Slot> latest(long nowNs, int before) {
            long now = Math.floorDiv(nowNs, lengthNs);
            List<Slot> found = new ArrayList<>();
            for (Slot slot : slots) {
                if (slot != null && slot.period >= now - before && slot.period <= now) {
                    found.add(slot);
                }
            }
            return found;
        }
    }

    /**
     * Adds a request that finished.
     *
     * @param record its cells
     * @param id its id; null if it has none
     * @param trace its trace; null if none is known
     * @param atNs the clock at its finish
     */
    void add(long[] record, @Nullable String id, @Nullable RequestTrace trace, long atNs) {
        if (tens.slots[0] == null) {
            tens.make(models);
            minutes.make(models);
        }
        tens.add(record, id, trace, atNs);
        minutes.add(record, id, trace, atNs);
    }

    /** Sets the waits of a request, if it is among the slowest of a period. */
    void split(long handle, WaitSource.Split waits) {
        for (Ring ring : List.of(tens, minutes)) {
            for (Slot slot : ring.slots) {
                if (slot != null) {
                    slot.slowestFirstToken.split(handle, waits);
                    slot.slowestPerToken.split(handle, waits);
                }
            }
        }
    }

    /** Forgets all requests. */
    void clear(long nowNs) {
        beganNs = nowNs;
        Arrays.fill(tens.slots, null);
        Arrays.fill(minutes.slots, null);
    }

    /** Returns the windows of 1, 5 and 60 minutes. */
    List<RecentRequests> windows(long nowNs) {
        return Arrays.stream(WINDOWS).mapToObj(each -> window(each, nowNs)).toList();
    }

    private RecentRequests window(int length, long nowNs) {
        Ring ring = length == 1 ? tens : minutes;
        int before = (int) (length * MINUTE_NS / ring.lengthNs);
        List<Slot> slots = ring.latest(nowNs, before);
        long fromNs = (Math.floorDiv(nowNs, ring.lengthNs) - before) * ring.lengthNs;
        long[] firstTokens = new long[LatencyBuckets.COUNT];
        long[] perTokens = new long[LatencyBuckets.COUNT];
        for (Slot slot : slots) {
            for (int bucket = 0; bucket < LatencyBuckets.COUNT; bucket++) {
                firstTokens[bucket] += slot.firstTokens[bucket];
                perTokens[bucket] += slot.perTokens[bucket];
            }
        }
        return new RecentRequests(
                length,
                Math.max(0, nowNs - Math.max(fromNs, beganNs)),
                slots.stream().mapToLong(slot -> slot.finished).sum(),
                slots.stream().mapToLong(slot -> slot.failed).sum(),
                LatencyDistribution.ofCounts(firstTokens),
                LatencyDistribution.ofCounts(perTokens),
                Slowest.of(slots.stream().map(slot -> slot.slowestFirstToken)),
                Slowest.of(slots.stream().map(slot -> slot.slowestPerToken)));
    }
}
