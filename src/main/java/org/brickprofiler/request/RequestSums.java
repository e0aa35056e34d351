package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Sums.limited;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/** The sums of requests since a reset, in fixed memory. Guarded by the recorder. */
final class RequestSums {

    private static final int CAUSES = Cause.values().length;
    private static final boolean[] WAITING = waiting();
    private static final Outcome[] OUTCOMES = Outcome.values();
    private static final LatencyHistogram.Kind[] KINDS = LatencyHistogram.Kind.values();

    private final RequestModels models;
    private final Finished all = new Finished();

    /** The requests for each model that one has named. */
    private final @Nullable Finished[] byModel = new @Nullable Finished[RequestModels.NUMBERS];

    private final long[] queueTimes = new long[LatencyBuckets.COUNT];
    private final long[] firstTokens = new long[LatencyBuckets.COUNT];
    private final long[] interTokens = new long[LatencyBuckets.COUNT];
    private final long[] perOutputTokens = new long[LatencyBuckets.COUNT];
    private final long[] durations = new long[LatencyBuckets.COUNT];
    private final long[] causeNs = new long[CAUSES];

    /** The waits of the requests whose waits are known as far as they will be. */
    private final long[] waitNs = new long[Wait.values().length];

    private final SortedSet<String> waitSources = new TreeSet<>();

    /** The times by cause up to the first token, of all requests whose time to first token is in the same bucket. */
    private final long[] @Nullable [] firstTokenCauseNs = new long[LatencyBuckets.COUNT][];

    private final Slowest slowestFirstTokens;
    private final Slowest longestGaps;

    /** The moments from which requests count. */
    private final SortedSet<String> countedFrom = new TreeSet<>();

    /** The moment from which the latest request counts; empty before the first one. */
    private String latestFrom = "";

    private long arrived;
    private long abandoned;
    private long ignored;

    /** Returns for each cause whether a request of this cause waits. */
    private static boolean[] waiting() {
        boolean[] waiting = new boolean[CAUSES];
        for (Cause cause : Cause.values()) {
            waiting[cause.index()] = cause.isWaiting();
        }
        return waiting;
    }

    RequestSums(RequestModels models) {
        this.models = models;
        slowestFirstTokens = new Slowest(RequestRecord.FIRST_TOKEN, models);
        longestGaps = new Slowest(RequestRecord.LONGEST_GAP, models);
    }

    /** The sums of requests that finished. */
    private static final class Finished {
        private final long[] outcomes = new long[OUTCOMES.length];

        /** For each outcome and kind of histogram, the counts and, in the last cell, the sum. */
        private final long[][][] histograms = new long[OUTCOMES.length][KINDS.length][];

        private long promptTokens;
        private long cachedTokens;
        private long outputTokens;

        Finished() {
            for (long[][] ofOutcome : histograms) {
                for (LatencyHistogram.Kind kind : KINDS) {
                    ofOutcome[kind.index()] = new long[kind.buckets() + 1];
                }
            }
        }

        void add(long[] record) {
            outcomes[(int) record[RequestRecord.OUTCOME]]++;
            promptTokens = limited(promptTokens, record[RequestRecord.PROMPT_TOKENS]);
            cachedTokens = limited(cachedTokens, record[RequestRecord.CACHED_TOKENS]);
            outputTokens = limited(outputTokens, record[RequestRecord.OUTPUT_TOKENS]);
            countLatencies(record);
        }

        private void countLatencies(long[] record) {
            long[][] ofOutcome = histograms[(int) record[RequestRecord.OUTCOME]];
            count(ofOutcome, LatencyHistogram.Kind.DURATION, record[RequestRecord.DURATION]);
            count(
                    ofOutcome,
                    LatencyHistogram.Kind.QUEUE_TIME,
                    record[RequestRecord.CAUSES + Cause.QUEUED_BEHIND_PROMPTS.index()]
                            + record[RequestRecord.CAUSES + Cause.QUEUED_BEHIND_DECODING.index()]
                            + record[RequestRecord.CAUSES + Cause.QUEUED_IDLE.index()]);
            long tokens = record[RequestRecord.OUTPUT_TOKENS];
            if (tokens > 0) {
                count(ofOutcome, LatencyHistogram.Kind.TIME_TO_FIRST_TOKEN, record[RequestRecord.FIRST_TOKEN]);
            }
            if (tokens > 1) {
                long perTokenNs = Math.round((double) record[RequestRecord.FIRST_TO_LAST] / (tokens - 1));
                count(ofOutcome, LatencyHistogram.Kind.TIME_PER_OUTPUT_TOKEN, perTokenNs);
            }
        }

        private static void count(long[][] ofOutcome, LatencyHistogram.Kind kind, long ns) {
            long[] cells = ofOutcome[kind.index()];
            cells[kind.bucketOf(ns)]++;
            cells[kind.buckets()] = limited(cells[kind.buckets()], ns);
        }

        private Map<Outcome, List<LatencyHistogram>> histograms() {
            Map<Outcome, List<LatencyHistogram>> all = new EnumMap<>(Outcome.class);
            for (Outcome outcome : OUTCOMES) {
                long[][] ofOutcome = histograms[outcome.index()];
                all.put(
                        outcome,
                        Arrays.stream(KINDS)
                                .map(kind -> new LatencyHistogram(
                                        kind,
                                        Arrays.stream(ofOutcome[kind.index()], 0, kind.buckets())
                                                .boxed()
                                                .toList(),
                                        ofOutcome[kind.index()][kind.buckets()]))
                                .toList());
            }
            return all;
        }

        RequestStats stats() {
            Map<Outcome, Long> byOutcome = new EnumMap<>(Outcome.class);
            for (Outcome outcome : OUTCOMES) {
                byOutcome.put(outcome, outcomes[outcome.index()]);
            }
            return RequestStats.ofFinished(
                    byOutcome, new RequestStats.Tokens(promptTokens, cachedTokens, outputTokens), histograms());
        }
    }

    /** The requests with the largest numbers in one cell of their records; requests with 0 are left out. */
    private static final class Slowest {
        private final int cell;
        private final long[] records = new long[RequestStats.SLOWEST * RequestRecord.CELLS];
        private final KeptIds ids;
        private int count;

        Slowest(int cell, RequestModels models) {
            this.cell = cell;
            ids = new KeptIds(RequestStats.SLOWEST, models);
        }

        void offer(long[] record, @Nullable String id, @Nullable RequestTrace trace) {
            if (record[cell] == 0) {
                return;
            }
            int at = count * RequestRecord.CELLS;
            if (count < RequestStats.SLOWEST) {
                count++;
            } else {
                at = last();
                if (isBefore(records, at, record, 0)) {
                    return;
                }
            }
            System.arraycopy(record, 0, records, at, RequestRecord.CELLS);
            ids.set(at / RequestRecord.CELLS, id, trace);
        }

        private int last() {
            int last = 0;
            for (int at = RequestRecord.CELLS; at < records.length; at += RequestRecord.CELLS) {
                last = isBefore(records, last, records, at) ? at : last;
            }
            return last;
        }

        /** Compares in the order of the lists of {@link RequestStats}, so that merging windows gives the same lists. */
        private boolean isBefore(long[] one, int oneAt, long[] two, int twoAt) {
            if (one[oneAt + cell] != two[twoAt + cell]) {
                return one[oneAt + cell] > two[twoAt + cell];
            }
            if (one[oneAt + RequestRecord.ARRIVED] != two[twoAt + RequestRecord.ARRIVED]) {
                return one[oneAt + RequestRecord.ARRIVED] < two[twoAt + RequestRecord.ARRIVED];
            }
            return one[oneAt + RequestRecord.DURATION] <= two[twoAt + RequestRecord.DURATION];
        }

        List<RequestRecord> records() {
            List<RequestRecord> all = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int at = i * RequestRecord.CELLS;
                all.add(ids.record(i, records, at));
            }
            return all;
        }

        void split(long handle, WaitSource.Split waits) {
            for (int i = 0; i < count; i++) {
                int at = i * RequestRecord.CELLS;
                if (records[at + RequestRecord.HANDLE] == handle) {
                    RequestRecord.setWaits(records, at, waits.waitNs());
                    ids.setLock(i, waits.lock().orElse(null));
                }
            }
        }
    }

    /** Counts an arrival, which is known from a moment on. */
    void arrived(String from) {
        arrived++;
        if (!from.equals(latestFrom)) {
            latestFrom = from;
            countedFrom.add(from);
        }
    }

    void abandoned() {
        abandoned++;
    }

    void ignored() {
        ignored++;
    }

    void queued(long ns) {
        queueTimes[LatencyBuckets.indexOf(ns)]++;
    }

    void firstToken(long ns, long[] cells, int causesAt) {
        int bucket = LatencyBuckets.indexOf(ns);
        firstTokens[bucket]++;
        long[] causes = firstTokenCauseNs[bucket];
        if (causes == null) {
            causes = new long[CAUSES];
            firstTokenCauseNs[bucket] = causes;
        }
        for (int i = 0; i < CAUSES; i++) {
            causes[i] += cells[causesAt + i];
        }
    }

    void interToken(long ns) {
        interTokens[LatencyBuckets.indexOf(ns)]++;
    }

    void perOutputToken(long ns) {
        perOutputTokens[LatencyBuckets.indexOf(ns)]++;
    }

    void finished(long[] record, @Nullable String id, @Nullable RequestTrace trace) {
        durations[LatencyBuckets.indexOf(record[RequestRecord.DURATION])]++;
        for (int i = 0; i < CAUSES; i++) {
            causeNs[i] += record[RequestRecord.CAUSES + i];
        }
        all.add(record);
        int model = (int) record[RequestRecord.MODEL];
        if (model != RequestModels.NONE) {
            Finished ofModel = byModel[model];
            if (ofModel == null) {
                ofModel = new Finished();
                byModel[model] = ofModel;
            }
            ofModel.add(record);
        }
        slowestFirstTokens.offer(record, id, trace);
        longestGaps.offer(record, id, trace);
    }

    /** Counts the waits of a request that has finished, whose record begins at an index. */
    void waited(long[] record, int at) {
        long unknownNs = 0;
        for (int i = 0; i < CAUSES; i++) {
            unknownNs = limited(unknownNs, WAITING[i] ? record[at + RequestRecord.CAUSES + i] : 0);
        }
        for (int i = 0; i < RequestRecord.KNOWN_WAITS; i++) {
            long ns = record[at + RequestRecord.WAITS + i];
            waitNs[i] = limited(waitNs[i], ns);
            unknownNs -= ns;
        }
        waitNs[Wait.UNKNOWN.index()] = limited(waitNs[Wait.UNKNOWN.index()], unknownNs);
    }

    /** Sets the waits of a request, if it is among the slowest. */
    void split(long handle, WaitSource.Split waits) {
        slowestFirstTokens.split(handle, waits);
        longestGaps.split(handle, waits);
    }

    /** Notes a source of waits. */
    void splitBy(String source) {
        waitSources.add(source);
    }

    private Map<Wait, Long> waits() {
        Map<Wait, Long> all = new EnumMap<>(Wait.class);
        for (Wait wait : Wait.values()) {
            all.put(wait, waitNs[wait.index()]);
        }
        return all;
    }

    /**
     * Returns the sums without lists of requests, and without the causes of the times to first token.
     *
     * @param waiting live requests that no step has worked on
     * @param running the other live requests
     */
    RequestStats sums(long waiting, long running) {
        return stats(waiting, running, Collections.emptySortedMap(), List.of(), List.of(), List.of());
    }

    /**
     * Returns the sums.
     *
     * @param waiting live requests that no step has worked on
     * @param running the other live requests
     * @param oldestLive the oldest of the live requests
     */
    RequestStats stats(long waiting, long running, List<LiveRequest> oldestLive) {
        return stats(
                waiting, running, firstTokenCauses(), slowestFirstTokens.records(), longestGaps.records(), oldestLive);
    }

    private RequestStats stats(
            long waiting,
            long running,
            SortedMap<Integer, Map<Cause, Long>> firstTokenCauseNs,
            List<RequestRecord> slowest,
            List<RequestRecord> longest,
            List<LiveRequest> oldestLive) {
        RequestStats finished = all.stats();
        SortedMap<String, RequestStats> ofModels = new TreeMap<>();
        for (int number = 0; number < byModel.length; number++) {
            Finished ofModel = byModel[number];
            String name = models.name(number);
            if (ofModel != null && name != null) {
                ofModels.put(name, ofModel.stats());
            }
        }
        return new RequestStats(
                new RequestStats.Counts(
                        arrived, waiting, running, finished.counts().finished(), abandoned, ignored),
                finished.tokens(),
                new RequestStats.Latencies(
                        LatencyDistribution.ofCounts(queueTimes),
                        LatencyDistribution.ofCounts(firstTokens),
                        LatencyDistribution.ofCounts(interTokens),
                        LatencyDistribution.ofCounts(perOutputTokens),
                        LatencyDistribution.ofCounts(durations)),
                RequestRecord.byCause(causeNs, 0),
                firstTokenCauseNs,
                slowest,
                longest,
                List.copyOf(countedFrom),
                finished.histograms(),
                oldestLive,
                ofModels,
                new RequestStats.Waits(waits(), List.copyOf(waitSources)));
    }

    private SortedMap<Integer, Map<Cause, Long>> firstTokenCauses() {
        SortedMap<Integer, Map<Cause, Long>> byBucket = new TreeMap<>();
        for (int bucket = 0; bucket < firstTokenCauseNs.length; bucket++) {
            long[] causes = firstTokenCauseNs[bucket];
            if (causes != null) {
                byBucket.put(bucket, RequestRecord.byCause(causes, 0));
            }
        }
        return byBucket;
    }
}
