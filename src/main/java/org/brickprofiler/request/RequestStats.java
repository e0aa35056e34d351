package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BinaryOperator;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The requests of a run: numbers, latencies and their causes. Immutable; its size does not depend on the number of
 * requests.
 *
 * @param counts numbers of requests
 * @param tokens tokens of the requests that finished
 * @param latencies distributions of latencies
 * @param causeNs the time of the requests that finished, by cause, ns, with every cause
 * @param firstTokenCauseNs the time from arrival to first token by cause, ns, summed over the requests whose time to
 *     first token is in the same bucket of {@link LatencyDistribution#counts()}; see {@link #firstTokenCauses}
 * @param slowestFirstTokens the finished requests with the longest times to first token, at most {@value #SLOWEST}, the
 *     longest first
 * @param longestGaps the finished requests with the longest gaps between tokens, at most {@value #SLOWEST}, the longest
 *     first
 * @param countedFrom the moments from which requests count, such as <i>the call of Llama.generate</i>, in alphabetical
 *     order; queues before them are not seen. Empty in files of older versions
 * @param histograms the latencies of the requests that finished, by outcome, at fixed bounds, without histograms that
 *     have no request; empty in files of older versions
 * @param oldestLive the live requests that arrived first, at most {@value #SLOWEST}, the oldest first; of merged
 *     numbers, those of all; empty in files of older versions
 * @param models the requests that finished, by the {@linkplain RequestRecorder#model model} that they named: outcomes,
 *     tokens and histograms; other numbers are 0. The rest is {@link #unnamed}
 * @param waits the time queued and stalled by wait
 */
public record RequestStats(
        Counts counts,
        Tokens tokens,
        Latencies latencies,
        Map<Cause, Long> causeNs,
        SortedMap<Integer, Map<Cause, Long>> firstTokenCauseNs,
        List<RequestRecord> slowestFirstTokens,
        List<RequestRecord> longestGaps,
        List<String> countedFrom,
        Map<Outcome, List<LatencyHistogram>> histograms,
        List<LiveRequest> oldestLive,
        SortedMap<String, RequestStats> models,
        Waits waits) {

    /** The number of requests in each list. */
    public static final int SLOWEST = 16;

    /** The number of models with sums of their own, in one recorder. */
    public static final int MOST_MODELS = 16;

    /** The name that all further models share. */
    public static final String OTHER_MODELS = "(other models)";

    private static final Comparator<RequestRecord> BY_ARRIVAL = Comparator.comparingLong(RequestRecord::arrivedNs)
            .thenComparingLong(RequestRecord::durationNs)
            .thenComparing(RequestRecord::toString);

    private static final Comparator<RequestRecord> BY_FIRST_TOKEN = Comparator.comparingLong(
                    RequestRecord::timeToFirstTokenNs)
            .reversed()
            .thenComparing(BY_ARRIVAL);

    private static final Comparator<RequestRecord> BY_GAP =
            Comparator.comparingLong(RequestRecord::longestGapNs).reversed().thenComparing(BY_ARRIVAL);

    private static final Comparator<LiveRequest> BY_AGE =
            Comparator.comparingLong(LiveRequest::ageNs).reversed().thenComparing(LiveRequest::toString);

    /** No requests. */
    public static final RequestStats NONE = new RequestStats(
            Counts.NONE,
            Tokens.NONE,
            Latencies.NONE,
            Map.of(),
            Collections.emptySortedMap(),
            List.of(),
            List.of(),
            List.of(),
            Map.of(),
            List.of(),
            Collections.emptySortedMap(),
            Waits.NONE);

    /**
     * Numbers of requests. Immutable.
     *
     * @param arrived requests that arrived
     * @param waiting requests that no step has worked on, when the numbers were read; of merged numbers, the sum
     * @param running requests that a step has worked on and that have not finished, when the numbers were read; of
     *     merged numbers, the sum
     * @param finished requests that finished, by outcome; contains every outcome
     * @param abandoned requests that were given up without a finish: the table of live requests was full, the profiler
     *     was switched off, or {@link RequestRecorder#abandoned} was called
     * @param ignoredCalls calls that changed nothing, or less than they asked for: the request was void, finished, of
     *     another profiler, or given up; the thread was in no step; or the numbers did not fit. The log names each kind
     */
    public record Counts(
            long arrived, long waiting, long running, Map<Outcome, Long> finished, long abandoned, long ignoredCalls) {

        static final Counts NONE = new Counts(0, 0, 0, Map.of(), 0, 0);

        /**
         * Copies the numbers, and adds the outcomes that are missing with 0.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Counts {
            requireNotNegative("arrived", arrived);
            requireNotNegative("waiting", waiting);
            requireNotNegative("running", running);
            requireNotNegative("abandoned", abandoned);
            requireNotNegative("ignoredCalls", ignoredCalls);
            finished = Collections.unmodifiableMap(
                    RequestRecord.every(Outcome.class, Objects.requireNonNull(finished, "finished")));
        }

        /**
         * Returns how many requests finished with an outcome.
         *
         * @param outcome the outcome
         * @return 0 or more
         */
        public long finished(Outcome outcome) {
            return finished.getOrDefault(Objects.requireNonNull(outcome, "outcome"), 0L);
        }

        /**
         * Returns how many requests finished.
         *
         * @return requests of every outcome
         */
        public long allFinished() {
            return finished.values().stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
        }

        private Counts plus(Counts other) {
            return new Counts(
                    Sums.limited(arrived, other.arrived),
                    Sums.limited(waiting, other.waiting),
                    Sums.limited(running, other.running),
                    sum(finished, other.finished),
                    Sums.limited(abandoned, other.abandoned),
                    Sums.limited(ignoredCalls, other.ignoredCalls));
        }

        private Counts since(Counts earlier) {
            return new Counts(
                    arrived - earlier.arrived,
                    waiting,
                    running,
                    difference(finished, earlier.finished),
                    abandoned - earlier.abandoned,
                    ignoredCalls - earlier.ignoredCalls);
        }
    }

    /**
     * Tokens of the requests that finished. Immutable.
     *
     * @param prompt tokens of their prompts
     * @param cached tokens of their prompts that needed no work
     * @param output tokens that they got
     */
    public record Tokens(long prompt, long cached, long output) {

        static final Tokens NONE = new Tokens(0, 0, 0);

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Tokens {
            requireNotNegative("prompt", prompt);
            requireNotNegative("cached", cached);
            requireNotNegative("output", output);
        }

        private Tokens plus(Tokens other) {
            return new Tokens(
                    Sums.limited(prompt, other.prompt),
                    Sums.limited(cached, other.cached),
                    Sums.limited(output, other.output));
        }

        private Tokens since(Tokens earlier) {
            return new Tokens(prompt - earlier.prompt, cached - earlier.cached, output - earlier.output);
        }
    }

    /**
     * Distributions of latencies. Immutable.
     *
     * @param queueTime from the arrival to the beginning of the first step that works on the request; counted when this
     *     step ends
     * @param timeToFirstToken from the arrival to the end of the step that gives the first token; counted then
     * @param interToken from the end of a step that gave a request tokens to the end of the next one that does; counted
     *     once for each such step, however many tokens it gives
     * @param timePerOutputToken (last token - first token) / (tokens - 1), for two tokens or more; counted at the
     *     finish
     * @param duration from the arrival to the finish; counted then
     */
    public record Latencies(
            LatencyDistribution queueTime,
            LatencyDistribution timeToFirstToken,
            LatencyDistribution interToken,
            LatencyDistribution timePerOutputToken,
            LatencyDistribution duration) {

        static final Latencies NONE = new Latencies(
                LatencyDistribution.EMPTY,
                LatencyDistribution.EMPTY,
                LatencyDistribution.EMPTY,
                LatencyDistribution.EMPTY,
                LatencyDistribution.EMPTY);

        /** Checks that no distribution is missing. */
        public Latencies {
            Objects.requireNonNull(queueTime, "queueTime");
            Objects.requireNonNull(timeToFirstToken, "timeToFirstToken");
            Objects.requireNonNull(interToken, "interToken");
            Objects.requireNonNull(timePerOutputToken, "timePerOutputToken");
            Objects.requireNonNull(duration, "duration");
        }

        private Latencies plus(Latencies other) {
            return new Latencies(
                    queueTime.plus(other.queueTime),
                    timeToFirstToken.plus(other.timeToFirstToken),
                    interToken.plus(other.interToken),
                    timePerOutputToken.plus(other.timePerOutputToken),
                    duration.plus(other.duration));
        }

        private Latencies since(Latencies earlier) {
            return new Latencies(
                    queueTime.since(earlier.queueTime),
                    timeToFirstToken.since(earlier.timeToFirstToken),
                    interToken.since(earlier.interToken),
                    timePerOutputToken.since(earlier.timePerOutputToken),
                    duration.since(earlier.duration));
        }
    }

    /**
     * The time in which finished requests were queued or stalled, by wait. A request counts here once its waits are
     * known as far as they will be: with a flight recording, up to two seconds after its finish. Immutable.
     *
     * @param ns ns by wait, with every wait
     * @param sources the sources that split waits, in alphabetical order; empty if nothing did, so that all waits are
     *     {@link Wait#UNKNOWN}, and in files of older versions
     */
    public record Waits(Map<Wait, Long> ns, List<String> sources) {

        /** No waits. */
        public static final Waits NONE = new Waits(Map.of(), List.of());

        /**
         * Copies and sorts the values, and adds the waits that are missing with 0.
         *
         * @throws IllegalArgumentException when a time is negative
         */
        public Waits {
            ns = Collections.unmodifiableMap(RequestRecord.every(Wait.class, Objects.requireNonNull(ns, "ns")));
            sources = Objects.requireNonNull(sources, "sources").stream()
                    .distinct()
                    .sorted()
                    .toList();
        }

        /**
         * Returns the time of one wait.
         *
         * @param wait the wait
         * @return ns
         */
        public long ns(Wait wait) {
            return ns.getOrDefault(Objects.requireNonNull(wait, "wait"), 0L);
        }

        /**
         * Returns whether a source states that it does not know a wait, whose time is then in those after it.
         *
         * @param wait the wait
         * @return true if the name of a source contains {@link Wait#unknown()}
         */
        public boolean isUnknown(Wait wait) {
            String note = wait.unknown();
            return sources.stream().anyMatch(source -> source.contains(note));
        }

        /**
         * Returns the time of all waits.
         *
         * @return ns
         */
        public long allNs() {
            return ns.values().stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
        }

        private Waits plus(Waits other) {
            List<String> from = new ArrayList<>(sources);
            from.addAll(other.sources);
            return new Waits(sum(ns, other.ns), from);
        }

        private Waits since(Waits earlier) {
            return new Waits(difference(ns, earlier.ns), sources);
        }
    }

    /**
     * Copies and sorts the values, and leaves out buckets without time and models without requests.
     *
     * @throws IllegalArgumentException when a number is negative, a bucket does not exist, or an outcome has two
     *     histograms of one kind
     */
    public RequestStats {
        Objects.requireNonNull(counts, "counts");
        Objects.requireNonNull(tokens, "tokens");
        Objects.requireNonNull(latencies, "latencies");
        causeNs = RequestRecord.everyCause(causeNs);
        SortedMap<Integer, Map<Cause, Long>> byBucket = new TreeMap<>();
        firstTokenCauseNs.forEach((bucket, ns) -> {
            if (bucket < 0 || bucket >= LatencyBuckets.COUNT) {
                throw new IllegalArgumentException("bucket " + bucket + " is not in 0.." + (LatencyBuckets.COUNT - 1));
            }
            if (ns.values().stream().anyMatch(each -> each != 0)) {
                byBucket.put(bucket, RequestRecord.everyCause(ns));
            }
        });
        firstTokenCauseNs = Collections.unmodifiableSortedMap(byBucket);
        slowestFirstTokens = slowest(Objects.requireNonNull(slowestFirstTokens, "slowestFirstTokens"), BY_FIRST_TOKEN);
        longestGaps = slowest(Objects.requireNonNull(longestGaps, "longestGaps"), BY_GAP);
        countedFrom = Objects.requireNonNull(countedFrom, "countedFrom").stream()
                .distinct()
                .sorted()
                .toList();
        histograms = withRequests(Objects.requireNonNull(histograms, "histograms"));
        oldestLive = Objects.requireNonNull(oldestLive, "oldestLive").stream()
                .sorted(BY_AGE)
                .limit(SLOWEST)
                .toList();
        SortedMap<String, RequestStats> named = new TreeMap<>();
        Objects.requireNonNull(models, "models").forEach((model, requests) -> {
            if (requests.counts.allFinished() > 0) {
                named.put(model, requests);
            }
        });
        models = Collections.unmodifiableSortedMap(named);
        Objects.requireNonNull(waits, "waits");
    }

    /** Returns the histograms that have a request, in order. */
    private static Map<Outcome, List<LatencyHistogram>> withRequests(Map<Outcome, List<LatencyHistogram>> all) {
        Map<Outcome, List<LatencyHistogram>> kept = new EnumMap<>(Outcome.class);
        all.forEach((outcome, each) -> {
            List<LatencyHistogram> some = each.stream()
                    .filter(histogram -> histogram.count() > 0)
                    .sorted(Comparator.comparing(LatencyHistogram::kind))
                    .toList();
            if (some.stream().map(LatencyHistogram::kind).distinct().count() < some.size()) {
                throw new IllegalArgumentException("two histograms of one kind: " + outcome + " " + some);
            }
            if (!some.isEmpty()) {
                kept.put(outcome, some);
            }
        });
        return Collections.unmodifiableMap(kept);
    }

    /**
     * Makes requests without histograms, live requests, models and waits.
     *
     * @param counts numbers of requests
     * @param tokens tokens of the requests that finished
     * @param latencies distributions of latencies
     * @param causeNs the time of the requests that finished, by cause
     * @param firstTokenCauseNs the time from arrival to first token by cause, by bucket
     * @param slowestFirstTokens the finished requests with the longest times to first token
     * @param longestGaps the finished requests with the longest gaps between tokens
     * @param countedFrom the moments from which requests count
     * @throws IllegalArgumentException when a number is negative, or a bucket does not exist
     */
    public RequestStats(
            Counts counts,
            Tokens tokens,
            Latencies latencies,
            Map<Cause, Long> causeNs,
            SortedMap<Integer, Map<Cause, Long>> firstTokenCauseNs,
            List<RequestRecord> slowestFirstTokens,
            List<RequestRecord> longestGaps,
            List<String> countedFrom) {
        this(
                counts,
                tokens,
                latencies,
                causeNs,
                firstTokenCauseNs,
                slowestFirstTokens,
                longestGaps,
                countedFrom,
                Map.of(),
                List.of(),
                Collections.emptySortedMap(),
                Waits.NONE);
    }

    /**
     * Makes requests that finished, of which nothing else is known.
     *
     * @param finished their number by outcome
     * @param tokens their tokens
     * @param histograms their latencies by outcome
     * @return the requests
     * @throws IllegalArgumentException when a number is negative, or an outcome has two histograms of one kind
     */
    public static RequestStats ofFinished(
            Map<Outcome, Long> finished, Tokens tokens, Map<Outcome, List<LatencyHistogram>> histograms) {
        return new RequestStats(
                new Counts(0, 0, 0, Objects.requireNonNull(finished, "finished"), 0, 0),
                tokens,
                Latencies.NONE,
                Map.of(),
                Collections.emptySortedMap(),
                List.of(),
                List.of(),
                List.of(),
                histograms,
                List.of(),
                Collections.emptySortedMap(),
                Waits.NONE);
    }

    /**
     * Returns the requests that finished and named no model, which is the model of the run then.
     *
     * @return the same numbers as {@link #models} has
     * @throws IllegalArgumentException when the models have more requests than these
     */
    public RequestStats unnamed() {
        RequestStats named = models.values().stream().reduce(NONE, RequestStats::merge);
        return ofFinished(
                counts.since(named.counts).finished(),
                tokens.since(named.tokens),
                combined(named, LatencyHistogram::since));
    }

    /**
     * Makes requests of which it is unknown from which moment they count, without histograms, live requests and waits.
     *
     * @param counts numbers of requests
     * @param tokens tokens of the requests that finished
     * @param latencies distributions of latencies
     * @param causeNs the time of the requests that finished, by cause
     * @param firstTokenCauseNs the time from arrival to first token by cause, by bucket
     * @param slowestFirstTokens the finished requests with the longest times to first token
     * @param longestGaps the finished requests with the longest gaps between tokens
     * @throws IllegalArgumentException when a number is negative, or a bucket does not exist
     */
    public RequestStats(
            Counts counts,
            Tokens tokens,
            Latencies latencies,
            Map<Cause, Long> causeNs,
            SortedMap<Integer, Map<Cause, Long>> firstTokenCauseNs,
            List<RequestRecord> slowestFirstTokens,
            List<RequestRecord> longestGaps) {
        this(counts, tokens, latencies, causeNs, firstTokenCauseNs, slowestFirstTokens, longestGaps, List.of());
    }

    private static List<RequestRecord> slowest(Collection<RequestRecord> records, Comparator<RequestRecord> order) {
        return records.stream().sorted(order).limit(SLOWEST).toList();
    }

    /**
     * Returns a copy with the live requests of another reading. For example, a part of a run that other parts follow
     * gets those of {@link #NONE}, because the last part counts these requests.
     *
     * @param other the other reading
     * @return the requests with its live requests
     */
    public RequestStats withLiveOf(RequestStats other) {
        return new RequestStats(
                new Counts(
                        counts.arrived(),
                        other.counts.waiting(),
                        other.counts.running(),
                        counts.finished(),
                        counts.abandoned(),
                        counts.ignoredCalls()),
                tokens,
                latencies,
                causeNs,
                firstTokenCauseNs,
                slowestFirstTokens,
                longestGaps,
                countedFrom,
                histograms,
                other.oldestLive,
                models,
                waits);
    }

    /**
     * Returns the histogram of a latency of the requests that finished with some outcomes.
     *
     * @param kind the latency
     * @param outcomes the outcomes
     * @return the sum of their histograms; without requests, too, if the histograms are not known: {@link #histograms}
     *     is empty although requests finished
     */
    public LatencyHistogram histogram(LatencyHistogram.Kind kind, Collection<Outcome> outcomes) {
        Objects.requireNonNull(kind, "kind");
        return outcomes.stream()
                .flatMap(outcome -> histograms.getOrDefault(outcome, List.of()).stream())
                .filter(histogram -> histogram.kind() == kind)
                .reduce(LatencyHistogram.empty(kind), LatencyHistogram::plus);
    }

    /**
     * Returns the histograms of this and another object, combined by an operation; empty if those of one object are not
     * known, because they would lack its requests.
     */
    private Map<Outcome, List<LatencyHistogram>> combined(
            RequestStats other, BinaryOperator<LatencyHistogram> operation) {
        if (lacksHistograms() || other.lacksHistograms()) {
            return Map.of();
        }
        Map<Outcome, List<LatencyHistogram>> all = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            List<Outcome> one = List.of(outcome);
            all.put(
                    outcome,
                    Stream.of(LatencyHistogram.Kind.values())
                            .map(kind -> operation.apply(histogram(kind, one), other.histogram(kind, one)))
                            .toList());
        }
        return all;
    }

    private boolean lacksHistograms() {
        return histograms.isEmpty() && counts.allFinished() > 0;
    }

    /**
     * Returns the time of the requests that finished with one cause.
     *
     * @param cause the cause
     * @return ns
     */
    public long causeNs(Cause cause) {
        return causeNs.getOrDefault(Objects.requireNonNull(cause, "cause"), 0L);
    }

    /**
     * Returns whether there is anything to report.
     *
     * @return true if a request arrived or was live, or a call was ignored
     */
    public boolean isRecorded() {
        return hasRequests() || counts.ignoredCalls() > 0;
    }

    /**
     * Returns whether there were requests.
     *
     * @return true if one arrived or was live; ignored calls do not count
     */
    public boolean hasRequests() {
        return counts.arrived() > 0
                || counts.waiting() > 0
                || counts.running() > 0
                || counts.allFinished() > 0
                || counts.abandoned() > 0;
    }

    /**
     * Returns the mean time to first token by cause, of the requests between two percentiles of the time to first
     * token: 45 to 55 are the requests around the median, 99 to 100 the slowest 1 %. The order of requests is known to
     * within a bucket; a bucket that a percentile divides counts in part.
     *
     * @param fromPercent the lower percentile, 0 to 100; faster requests are left out
     * @param toPercent the upper percentile, above {@code fromPercent}, up to 100; slower requests are left out
     * @return ns by cause, with every cause; all 0 if no request got a token
     * @throws IllegalArgumentException when the percentiles are not within 0 to 100 in ascending order
     */
    public Map<Cause, Double> firstTokenCauses(double fromPercent, double toPercent) {
        if (!(fromPercent >= 0 && fromPercent < toPercent && toPercent <= 100)) {
            throw new IllegalArgumentException(
                    "shares " + fromPercent + " and " + toPercent + " are not within 0 to 100 in ascending order");
        }
        Map<Cause, Double> means = new EnumMap<>(Cause.class);
        for (Cause cause : Cause.values()) {
            means.put(cause, 0.0);
        }
        long[] requests = latencies.timeToFirstToken().counts();
        double from = fromPercent * latencies.timeToFirstToken().count() / 100;
        double to = toPercent * latencies.timeToFirstToken().count() / 100;
        double seen = 0;
        for (int bucket = 0; bucket < requests.length; bucket++) {
            double within = Math.min(seen + requests[bucket], to) - Math.max(seen, from);
            if (within > 0) {
                double share = within / requests[bucket] / (to - from);
                firstTokenCauseNs
                        .getOrDefault(bucket, Map.of())
                        .forEach((cause, ns) -> means.merge(cause, ns * share, Double::sum));
            }
            seen += requests[bucket];
        }
        return means;
    }

    /**
     * Returns the requests of both, as if one recorder had recorded them. Commutative and associative.
     *
     * @param other the other requests
     * @return the requests of both
     */
    public RequestStats merge(RequestStats other) {
        SortedMap<Integer, Map<Cause, Long>> byBucket = new TreeMap<>(firstTokenCauseNs);
        other.firstTokenCauseNs.forEach((bucket, ns) -> byBucket.merge(bucket, ns, (one, two) -> sum(one, two)));
        List<RequestRecord> firstTokens = new ArrayList<>(slowestFirstTokens);
        firstTokens.addAll(other.slowestFirstTokens);
        List<RequestRecord> gaps = new ArrayList<>(longestGaps);
        gaps.addAll(other.longestGaps);
        List<String> from = new ArrayList<>(countedFrom);
        from.addAll(other.countedFrom);
        List<LiveRequest> live = new ArrayList<>(oldestLive);
        live.addAll(other.oldestLive);
        SortedMap<String, RequestStats> byModel = new TreeMap<>(models);
        other.models.forEach((model, requests) -> byModel.merge(model, requests, RequestStats::merge));
        return new RequestStats(
                counts.plus(other.counts),
                tokens.plus(other.tokens),
                latencies.plus(other.latencies),
                sum(causeNs, other.causeNs),
                byBucket,
                firstTokens,
                gaps,
                from,
                combined(other, LatencyHistogram::plus),
                live,
                byModel,
                waits.plus(other.waits));
    }

    /**
     * Returns what was recorded since an earlier reading of the same recorder. Of the slowest requests, those that were
     * among the slowest of the earlier reading are left out.
     *
     * @param earlier the earlier reading, with no reset since
     * @return the difference
     */
    public RequestStats since(RequestStats earlier) {
        SortedMap<Integer, Map<Cause, Long>> byBucket = new TreeMap<>();
        firstTokenCauseNs.forEach((bucket, ns) -> {
            byBucket.put(bucket, difference(ns, earlier.firstTokenCauseNs.getOrDefault(bucket, Map.of())));
        });
        SortedMap<String, RequestStats> byModel = new TreeMap<>();
        models.forEach(
                (model, requests) -> byModel.put(model, requests.since(earlier.models.getOrDefault(model, NONE))));
        return new RequestStats(
                counts.since(earlier.counts),
                tokens.since(earlier.tokens),
                latencies.since(earlier.latencies),
                difference(causeNs, earlier.causeNs),
                byBucket,
                without(slowestFirstTokens, earlier.slowestFirstTokens),
                without(longestGaps, earlier.longestGaps),
                countedFrom,
                combined(earlier, LatencyHistogram::since),
                oldestLive,
                byModel,
                waits.since(earlier.waits));
    }

    /** Leaves out the requests of an earlier list, whose waits may have been unknown then. */
    private static List<RequestRecord> without(List<RequestRecord> now, List<RequestRecord> earlier) {
        List<RequestRecord> left = new ArrayList<>(now);
        for (RequestRecord before : earlier) {
            left.stream().filter(before::isSame).findFirst().ifPresent(left::remove);
        }
        return left;
    }

    private static <K extends Enum<K>> Map<K, Long> sum(Map<K, Long> one, Map<K, Long> two) {
        Map<K, Long> both = new EnumMap<>(one);
        two.forEach((key, number) -> both.merge(key, number, Sums::limited));
        return both;
    }

    private static <K extends Enum<K>> Map<K, Long> difference(Map<K, Long> later, Map<K, Long> earlier) {
        Map<K, Long> more = new EnumMap<>(later);
        earlier.forEach((key, number) -> more.merge(key, -number, Long::sum));
        return more;
    }
}
