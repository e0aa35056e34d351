package org.brickprofiler.report.internal;

import static org.brickprofiler.report.internal.ProfileFields.lower;

import java.io.IOException;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.stats.LatencyDistribution;

/** The fields of requests in a profile. Stateless; any thread. */
public final class RequestFields {

    /** The fields of a request that has finished. */
    public static final Fields<RequestRecord> REQUEST = withCauses(
            new Fields.Builder<RequestRecord>("request")
                    .signed("arrived_ns", "arrival, ns since the epoch of the profiler", RequestRecord::arrivedNs)
                    .whole("duration_ns", "time from arrival to finish, ns", RequestRecord::durationNs)
                    .whole(
                            "time_to_first_token_ns",
                            "time from arrival to the end of the step that gave the first token, ns; 0 without tokens",
                            RequestRecord::timeToFirstTokenNs)
                    .whole("prompt_tokens", "tokens of the prompt", RequestRecord::promptTokens)
                    .sum("cached_tokens", "tokens of the prompt that needed no work", RequestRecord::cachedTokens)
                    .whole("output_tokens", "tokens that it got", RequestRecord::outputTokens)
                    .object(
                            "outcome",
                            "reason for which it ended",
                            request -> lower(request.outcome()),
                            (input, key) -> input.oneOf(key, Outcome.values(), Outcome::name))
                    .typed("string")
                    .sum("longest_gap_ns", "longest time between two tokens, ns", RequestRecord::longestGapNs),
            RequestRecord::causeNs);

    /** The times up to the first token of the requests in one bucket of the time to first token. */
    public static final Fields<Map.Entry<Integer, Map<Cause, Long>>> FIRST_TOKEN = withCauses(
            new Fields.Builder<Map.Entry<Integer, Map<Cause, Long>>>("causes up to the first token")
                    .place("bucket", "number of the bucket of the distribution", 0, Map.Entry::getKey),
            Map.Entry::getValue);

    /** The fields of the requests of a profile. */
    public static final Fields<RequestStats> REQUESTS = requests();

    private RequestFields() {}

    private static <T> Fields<T> withCauses(Fields.Builder<T> fields, Function<T, Map<Cause, Long>> causes) {
        addCauses(fields, "time of this cause, ns: ", causes);
        return fields.build();
    }

    private static <T> void addCauses(Fields.Builder<T> fields, String meaning, Function<T, Map<Cause, Long>> causes) {
        for (Cause cause : Cause.values()) {
            fields.sum(key(cause), meaning + cause.displayName(), record -> causes.apply(record)
                    .getOrDefault(cause, 0L));
        }
    }

    private static String key(Cause cause) {
        return lower(cause) + "_ns";
    }

    private static Fields<RequestStats> requests() {
        Fields.Builder<RequestStats> fields = new Fields.Builder<RequestStats>("requests")
                .whole("arrived", "requests that arrived", stats -> stats.counts()
                        .arrived())
                .sum("waiting", "live requests that no step has worked on", stats -> stats.counts()
                        .waiting())
                .sum("running", "other live requests", stats -> stats.counts().running());
        for (Outcome outcome : Outcome.values()) {
            fields.sum(lower(outcome), "requests that ended with this outcome", stats -> stats.counts()
                    .finished(outcome));
        }
        fields.sum("abandoned", "requests that were given up without a finish", stats -> stats.counts()
                        .abandoned())
                .sum("ignored_calls", "calls that did not fit their request or step", stats -> stats.counts()
                        .ignoredCalls())
                .sum("prompt_tokens", "tokens of the prompts of the finished requests", stats -> stats.tokens()
                        .prompt())
                .sum("cached_tokens", "tokens of these prompts that needed no work", stats -> stats.tokens()
                        .cached())
                .sum("output_tokens", "tokens that the finished requests got", stats -> stats.tokens()
                        .output());
        latency(
                fields,
                "time_to_first_token",
                "time from arrival to the end of the step that gives the first token",
                RequestStats.Latencies::timeToFirstToken);
        latency(
                fields,
                "queue_time",
                "time from arrival to the first step that works on the request",
                RequestStats.Latencies::queueTime);
        latency(
                fields,
                "inter_token",
                "time between the ends of two steps that give a request tokens, one after the other",
                RequestStats.Latencies::interToken);
        latency(
                fields,
                "time_per_output_token",
                "(last token - first token) / (tokens - 1)",
                RequestStats.Latencies::timePerOutputToken);
        latency(fields, "duration", "time from arrival to finish", RequestStats.Latencies::duration);
        addCauses(fields, "time of the finished requests with this cause, ns: ", RequestStats::causeNs);
        return fields.parts(
                        "first_tokens",
                        "times up to the first token by cause, for each bucket of the time to first token",
                        FIRST_TOKEN,
                        stats -> List.copyOf(stats.firstTokenCauseNs().entrySet()),
                        RequestFields::firstToken)
                .parts(
                        "slowest_first_tokens",
                        "finished requests with the longest times to first token",
                        REQUEST,
                        RequestStats::slowestFirstTokens,
                        RequestFields::request)
                .parts(
                        "longest_gaps",
                        "finished requests with the longest times between two tokens",
                        REQUEST,
                        RequestStats::longestGaps,
                        RequestFields::request)
                .build();
    }

    private static void latency(
            Fields.Builder<RequestStats> fields,
            String key,
            String meaning,
            Function<RequestStats.Latencies, LatencyDistribution> distribution) {
        fields.part(key, meaning, ProfileFields.DISTRIBUTION, stats -> {
            LatencyDistribution times = distribution.apply(stats.latencies());
            return times.count() == 0
                    ? Optional.empty()
                    : Optional.of(new ProfileFields.Spread(times, times::percentileNs));
        });
    }

    private static Map<Cause, Long> causes(Row row) {
        Map<Cause, Long> causes = new EnumMap<>(Cause.class);
        for (Cause cause : Cause.values()) {
            causes.put(cause, row.whole(key(cause)));
        }
        return causes;
    }

    private static RequestRecord request(JsonInput input, Row row) throws IOException {
        try {
            return RequestRecord.builder()
                    .arrivedNs(row.whole("arrived_ns"))
                    .durationNs(row.whole("duration_ns"))
                    .timeToFirstTokenNs(row.whole("time_to_first_token_ns"))
                    .promptTokens(row.whole("prompt_tokens"))
                    .cachedTokens(row.whole("cached_tokens"))
                    .outputTokens(row.whole("output_tokens"))
                    .outcome(row.get("outcome", Outcome.COMPLETED))
                    .causeNs(causes(row))
                    .longestGapNs(row.whole("longest_gap_ns"))
                    .build();
        } catch (IllegalArgumentException wrong) {
            throw input.error("a request is wrong: " + wrong.getMessage());
        }
    }

    private static Map.Entry<Integer, Map<Cause, Long>> firstToken(JsonInput input, Row row) throws IOException {
        if (row.whole("bucket") >= LatencyBuckets.COUNT) {
            throw input.error("bucket " + row.whole("bucket") + " of the causes up to the first token does not exist:"
                    + " there are " + LatencyBuckets.COUNT);
        }
        return Map.entry((int) row.whole("bucket"), causes(row));
    }

    /**
     * Returns the requests of a row.
     *
     * @param input the text, at the end of the row
     * @param row of {@link #REQUESTS}
     * @return the requests
     * @throws IOException when the values contradict each other
     */
    public static RequestStats requests(JsonInput input, Row row) throws IOException {
        Map<Outcome, Long> finished = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            finished.put(outcome, row.whole(lower(outcome)));
        }
        SortedMap<Integer, Map<Cause, Long>> firstTokens = new TreeMap<>();
        for (Map.Entry<Integer, Map<Cause, Long>> entry :
                RequestFields.<Map.Entry<Integer, Map<Cause, Long>>>list(row, "first_tokens")) {
            if (firstTokens.put(entry.getKey(), entry.getValue()) != null) {
                throw input.error("bucket " + entry.getKey() + " of the causes up to the first token occurs twice");
            }
        }
        return new RequestStats(
                new RequestStats.Counts(
                        row.whole("arrived"),
                        row.whole("waiting"),
                        row.whole("running"),
                        finished,
                        row.whole("abandoned"),
                        row.whole("ignored_calls")),
                new RequestStats.Tokens(
                        row.whole("prompt_tokens"), row.whole("cached_tokens"), row.whole("output_tokens")),
                new RequestStats.Latencies(
                        distribution(row, "queue_time"),
                        distribution(row, "time_to_first_token"),
                        distribution(row, "inter_token"),
                        distribution(row, "time_per_output_token"),
                        distribution(row, "duration")),
                causes(row),
                firstTokens,
                list(row, "slowest_first_tokens"),
                list(row, "longest_gaps"));
    }

    @SuppressWarnings("unchecked") // the field of this key has read them
    private static <P> List<P> list(Row row, String key) {
        List<P> read = row.get(List.class, key);
        return read == null ? List.of() : read;
    }

    private static LatencyDistribution distribution(Row row, String key) {
        LatencyDistribution read = ProfileFields.distribution(row.get(Row.class, key));
        return read == null ? LatencyDistribution.EMPTY : read;
    }
}
