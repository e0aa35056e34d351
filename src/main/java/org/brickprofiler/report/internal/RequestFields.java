package org.brickprofiler.report.internal;

import static org.brickprofiler.report.internal.ProfileFields.lower;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LiveRequest;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestIdentity;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.request.Wait;
import org.brickprofiler.stats.LatencyDistribution;

/** The fields of requests in a profile. Stateless; any thread. */
public final class RequestFields {

    private static final String SEPARATOR = "; ";

    /** The fields of a request that has finished. */
    public static final Fields<RequestRecord> REQUEST = withWaits(addCauses(
            identity(new Fields.Builder<RequestRecord>("request"), RequestRecord::identity)
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
                    .sum("longest_gap_ns", "longest time between two tokens, ns", RequestRecord::longestGapNs)
                    .sum(
                            "first_to_last_token_ns",
                            "time from the first token to the last one, ns",
                            RequestRecord::firstToLastTokenNs),
            RequestRecord::causeNs));

    /** The fields of a request that has not finished. */
    public static final Fields<LiveRequest> LIVE = identity(
                    new Fields.Builder<LiveRequest>("live request"), LiveRequest::identity)
            .whole("age_ns", "time since its arrival, ns", LiveRequest::ageNs)
            .place(
                    "running",
                    "1 if a step has worked on it, 0 if it waits for its first step",
                    0,
                    live -> live.isRunning() ? 1 : 0)
            .whole("prompt_tokens", "tokens of the prompt, as far as they are known", LiveRequest::promptTokens)
            .whole("output_tokens", "tokens that it has got", LiveRequest::outputTokens)
            .build();

    /** The times up to the first token of the requests in one bucket of the time to first token. */
    public static final Fields<Map.Entry<Integer, Map<Cause, Long>>> FIRST_TOKEN = addCauses(
                    new Fields.Builder<Map.Entry<Integer, Map<Cause, Long>>>("causes up to the first token")
                            .place("bucket", "number of the bucket of the distribution", 0, Map.Entry::getKey),
                    Map.Entry::getValue)
            .build();

    /** The fields of a step on the time line of requests. */
    public static final Fields<RequestTimeline.Step> TIMELINE_STEP = new Fields.Builder<RequestTimeline.Step>(
                    "step of the time line")
            .signed("start_ns", "beginning, ns since the epoch of the profiler", RequestTimeline.Step::startNs)
            .whole("duration_ns", "duration, ns", RequestTimeline.Step::durationNs)
            .place("lane", "number of its thread", 0, RequestTimeline.Step::lane)
            .place("prompts", "1 if it processes prompts, 0 if it only decodes", 0, step -> step.prompts() ? 1 : 0)
            .place("abandoned", "1 if it was abandoned", 0, step -> step.isAbandoned() ? 1 : 0)
            .place("prefilling", "requests of which it processes tokens of the prompt", 0, step -> step.prefilling())
            .place("decoding", "requests that it decodes", 0, RequestTimeline.Step::decoding)
            .whole("prompt_tokens", "tokens of the prompts of these requests", RequestTimeline.Step::promptTokens)
            .build();

    /** The fields of work on a request. */
    public static final Fields<TimelineWork> TIMELINE_WORK = new Fields.Builder<TimelineWork>("work on a request")
            .place("request", "index of the request", 0, TimelineWork::request)
            .place("first_step", "index of the first step", 0, each -> each.work()
                    .firstStep())
            .place(
                    "last_step",
                    "index of the last step; steps of the same thread in between belong to the work, too",
                    0,
                    each -> each.work().lastStep())
            .signed("start_ns", "beginning, within the first step", each -> each.work()
                    .startNs())
            .signed("end_ns", "end, within the last step", each -> each.work().endNs())
            .place(
                    "own_prompt",
                    "1 if the steps processed tokens of the request's prompt",
                    0,
                    each -> each.work().ownPrompt() ? 1 : 0)
            .build();

    /** The fields of own work on a request. */
    public static final Fields<TimelineOwnWork> TIMELINE_OWN_WORK = new Fields.Builder<TimelineOwnWork>(
                    "own work on a request")
            .place("request", "index of the request", 0, TimelineOwnWork::request)
            .signed("start_ns", "beginning, ns since the epoch of the profiler", each -> each.work()
                    .startNs())
            .signed("end_ns", "end", each -> each.work().endNs())
            .build();

    /**
     * A histogram of the requests with one outcome.
     *
     * @param outcome the outcome
     * @param histogram the histogram
     */
    public record OutcomeHistogram(Outcome outcome, LatencyHistogram histogram) {}

    /** The fields of a histogram of the requests with one outcome. */
    public static final Fields<OutcomeHistogram> HISTOGRAM = new Fields.Builder<OutcomeHistogram>("latency histogram")
            .object(
                    "outcome",
                    "reason for which the requests ended",
                    each -> lower(each.outcome()),
                    (input, key) -> input.oneOf(key, Outcome.values(), Outcome::name))
            .typed("string")
            .object(
                    "latency",
                    "`queue_time`, `time_to_first_token`, `time_per_output_token` or `duration`",
                    each -> lower(each.histogram().kind()),
                    (input, key) -> input.oneOf(key, LatencyHistogram.Kind.values(), LatencyHistogram.Kind::name))
            .typed("string")
            .text(
                    "counts",
                    "requests up to each bound of the latency and above the previous one, then those above all, separated"
                            + " by commas",
                    each -> each.histogram().counts().stream()
                            .map(String::valueOf)
                            .collect(Collectors.joining(",")))
            .whole("sum_ns", "sum of the latencies, ns", each -> each.histogram()
                    .sumNs())
            .build();

    /** The fields of the requests for one model. */
    public static final Fields<Map.Entry<String, RequestStats>> MODEL = model();

    /** The fields of the requests of a profile. */
    public static final Fields<RequestStats> REQUESTS = requests();

    /**
     * Work on one of the requests of a time line.
     *
     * @param request the index of the request
     * @param work the work on it
     */
    public record TimelineWork(int request, RequestTimeline.Work work) {}

    /**
     * Own work of the thread that serves one of the requests of a time line.
     *
     * @param request the index of the request
     * @param work the work
     */
    public record TimelineOwnWork(int request, RequestTimeline.OwnWork work) {}

    private RequestFields() {}

    private static <T> Fields.Builder<T> identity(Fields.Builder<T> fields, Function<T, RequestIdentity> identity) {
        return fields.optionalText("id", "id that the application gave it", record -> identity.apply(record)
                        .id())
                .optionalMoment(
                        "arrived_at",
                        "arrival by the system's clock, UTC, to within 2 ms",
                        record -> identity.apply(record).arrivedAt())
                .optionalText("trace", "id of the trace in which it was submitted", record -> identity.apply(record)
                        .traceId())
                .optionalText("model", "model that it names", record -> identity.apply(record)
                        .model());
    }

    private static RequestIdentity identity(Row row) {
        return new RequestIdentity(
                Optional.ofNullable(row.get(String.class, "id")),
                Optional.ofNullable(row.get(Instant.class, "arrived_at")),
                Optional.ofNullable(row.get(String.class, "trace")),
                Optional.ofNullable(row.get(String.class, "model")));
    }

    private static LiveRequest live(JsonInput input, Row row) {
        return new LiveRequest(
                row.whole("age_ns"),
                row.whole("running") != 0,
                row.whole("prompt_tokens"),
                row.whole("output_tokens"),
                identity(row));
    }

    private static <T> Fields.Builder<T> addCauses(Fields.Builder<T> fields, Function<T, Map<Cause, Long>> causes) {
        for (Cause cause : Cause.values()) {
            fields.sum(key(cause), "time of this cause, ns", record -> causes.apply(record)
                    .getOrDefault(cause, 0L));
        }
        return fields;
    }

    private static Fields<RequestRecord> withWaits(Fields.Builder<RequestRecord> fields) {
        return addWaits(fields, "part of its queued and stalled time, ns", RequestRecord::waitNs)
                .optionalText(
                        "lock", "lock that blocked it longest, with its holder where it is stated", RequestRecord::lock)
                .build();
    }

    private static <T> Fields.Builder<T> addWaits(
            Fields.Builder<T> fields, String meaning, Function<T, Map<Wait, Long>> waits) {
        for (Wait wait : Wait.values()) {
            fields.sum(key(wait), meaning, record -> waits.apply(record).getOrDefault(wait, 0L));
        }
        return fields;
    }

    /**
     * Writes the keys of the causes in records, and their names.
     *
     * @param json the target
     * @throws IOException when writing fails
     */
    public static void writeCauses(JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (Cause cause : Cause.values()) {
            json.writeStartObject();
            json.writeStringField("key", key(cause));
            json.writeStringField("name", cause.displayName());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    /**
     * Writes the keys of the waits in records, and their names.
     *
     * @param json the target
     * @throws IOException when writing fails
     */
    public static void writeWaits(JsonGenerator json) throws IOException {
        json.writeStartArray();
        for (Wait wait : Wait.values()) {
            json.writeStartObject();
            json.writeStringField("key", key(wait));
            json.writeStringField("name", wait.displayName());
            json.writeEndObject();
        }
        json.writeEndArray();
    }

    private static String key(Cause cause) {
        return lower(cause) + "_ns";
    }

    private static String key(Wait wait) {
        return "wait_" + lower(wait) + "_ns";
    }

    private static Fields<RequestStats> requests() {
        Fields.Builder<RequestStats> fields = new Fields.Builder<RequestStats>("requests")
                .whole("arrived", "requests that arrived", stats -> stats.counts()
                        .arrived())
                .sum("waiting", "live requests that no step has worked on", stats -> stats.counts()
                        .waiting())
                .sum("running", "other live requests", stats -> stats.counts().running());
        addOutcomes(fields, Function.identity());
        fields.optionalText(
                        "counted_from",
                        "moments from which requests count, separated by semicolons; queues before them are not seen",
                        stats -> stats.countedFrom().isEmpty()
                                ? Optional.empty()
                                : Optional.of(String.join(SEPARATOR, stats.countedFrom())))
                .sum("abandoned", "requests that were given up without a finish", stats -> stats.counts()
                        .abandoned())
                .sum("ignored_calls", "calls that did not fit their request or step", stats -> stats.counts()
                        .ignoredCalls());
        addTokens(fields, Function.identity());
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
        addCauses(fields, RequestStats::causeNs);
        addWaits(
                        fields,
                        "part of the queued and stalled time of requests whose waits are known, ns",
                        stats -> stats.waits().ns())
                .optionalText(
                        "wait_sources",
                        "sources of these times, separated by semicolons; without one, all are unknown",
                        stats -> stats.waits().sources().isEmpty()
                                ? Optional.empty()
                                : Optional.of(
                                        String.join(SEPARATOR, stats.waits().sources())));
        fields.packed("arrived", row -> row.whole("arrived"))
                .packed("finished", RequestFields::finished)
                .packed("prompt_tokens", row -> row.whole("prompt_tokens"))
                .packed("output_tokens", row -> row.whole("output_tokens"));
        for (Cause cause : Cause.values()) {
            fields.packed(key(cause), row -> row.whole(key(cause)));
        }
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
                .parts(
                        "histograms",
                        "latencies of the finished requests at fixed bounds, by outcome",
                        HISTOGRAM,
                        RequestFields::histograms,
                        RequestFields::histogram)
                .parts(
                        "models",
                        "finished requests that name their model, by model",
                        MODEL,
                        stats -> List.copyOf(stats.models().entrySet()),
                        RequestFields::model)
                .parts(
                        "oldest_live",
                        "live requests that arrived first, the oldest first",
                        LIVE,
                        RequestStats::oldestLive,
                        RequestFields::live)
                .build();
    }

    private static Fields<Map.Entry<String, RequestStats>> model() {
        Fields.Builder<Map.Entry<String, RequestStats>> fields = new Fields.Builder<Map.Entry<String, RequestStats>>(
                        "requests for a model")
                .text("model", "name of the model", Map.Entry::getKey);
        addOutcomes(fields, Map.Entry::getValue);
        addTokens(fields, Map.Entry::getValue);
        return fields.parts(
                        "histograms",
                        "latencies at fixed bounds, by outcome",
                        HISTOGRAM,
                        entry -> histograms(entry.getValue()),
                        RequestFields::histogram)
                .build();
    }

    private static <T> void addOutcomes(Fields.Builder<T> fields, Function<T, RequestStats> requests) {
        for (Outcome outcome : Outcome.values()) {
            fields.sum(lower(outcome), "requests that ended with this outcome", record -> requests.apply(record)
                    .counts()
                    .finished(outcome));
        }
    }

    private static <T> void addTokens(Fields.Builder<T> fields, Function<T, RequestStats> requests) {
        fields.sum("prompt_tokens", "tokens of the prompts of the finished requests", record -> requests.apply(record)
                        .tokens()
                        .prompt())
                .sum("cached_tokens", "tokens of these prompts that needed no work", record -> requests.apply(record)
                        .tokens()
                        .cached())
                .sum("output_tokens", "tokens that the finished requests got", record -> requests.apply(record)
                        .tokens()
                        .output());
    }

    private static List<OutcomeHistogram> histograms(RequestStats requests) {
        return requests.histograms().entrySet().stream()
                .flatMap(entry -> entry.getValue().stream().map(each -> new OutcomeHistogram(entry.getKey(), each)))
                .toList();
    }

    static long finished(Row row) {
        return Arrays.stream(Outcome.values())
                .mapToLong(outcome -> row.whole(lower(outcome)))
                .reduce(0, Sums::limited);
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

    private static Map<Wait, Long> waits(Row row) {
        Map<Wait, Long> waits = new EnumMap<>(Wait.class);
        for (Wait wait : Wait.values()) {
            waits.put(wait, row.whole(key(wait)));
        }
        return waits;
    }

    private static Map<Cause, Long> causes(Row row) {
        Map<Cause, Long> causes = new EnumMap<>(Cause.class);
        for (Cause cause : Cause.values()) {
            causes.put(cause, row.whole(key(cause)));
        }
        return causes;
    }

    /**
     * Returns the request of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #REQUEST}
     * @return the request
     * @throws IOException when the values contradict each other
     */
    public static RequestRecord request(JsonInput input, Row row) throws IOException {
        try {
            return new RequestRecord(
                    row.whole("arrived_ns"),
                    row.whole("duration_ns"),
                    row.whole("time_to_first_token_ns"),
                    row.whole("prompt_tokens"),
                    row.whole("cached_tokens"),
                    row.whole("output_tokens"),
                    row.get("outcome", Outcome.COMPLETED),
                    causes(row),
                    row.whole("longest_gap_ns"),
                    row.whole("first_to_last_token_ns"),
                    identity(row),
                    waits(row),
                    Optional.ofNullable(row.get(String.class, "lock")));
        } catch (IllegalArgumentException wrong) {
            throw input.error("a request is wrong: " + wrong.getMessage());
        }
    }

    /**
     * Returns the step of a row.
     *
     * @param row a row of {@link #TIMELINE_STEP}
     * @return the step
     */
    public static RequestTimeline.Step timelineStep(Row row) {
        return new RequestTimeline.Step(
                row.whole("start_ns"),
                row.whole("duration_ns"),
                (int) row.whole("lane"),
                row.whole("prompts") != 0,
                row.whole("abandoned") != 0,
                (int) row.whole("prefilling"),
                (int) row.whole("decoding"),
                row.whole("prompt_tokens"));
    }

    /**
     * Returns the work of a row.
     *
     * @param row a row of {@link #TIMELINE_WORK}
     * @return the work, and the index of its request
     */
    public static TimelineWork timelineWork(Row row) {
        return new TimelineWork(
                (int) row.whole("request"),
                new RequestTimeline.Work(
                        (int) row.whole("first_step"),
                        (int) row.whole("last_step"),
                        row.whole("start_ns"),
                        row.whole("end_ns"),
                        row.whole("own_prompt") != 0));
    }

    /**
     * Returns the own work of a row.
     *
     * @param input the text, at the end of the row
     * @param row a row of {@link #TIMELINE_OWN_WORK}
     * @return the work, and the index of its request
     * @throws IOException when it ends before its beginning
     */
    public static TimelineOwnWork timelineOwnWork(JsonInput input, Row row) throws IOException {
        try {
            return new TimelineOwnWork(
                    (int) row.whole("request"),
                    new RequestTimeline.OwnWork(row.whole("start_ns"), row.whole("end_ns")));
        } catch (IllegalArgumentException wrong) {
            throw input.error("the time line of requests is wrong: " + wrong.getMessage());
        }
    }

    private static OutcomeHistogram histogram(JsonInput input, Row row) throws IOException {
        String counts = String.valueOf(row.get(String.class, "counts"));
        try {
            return new OutcomeHistogram(
                    row.get("outcome", Outcome.COMPLETED),
                    new LatencyHistogram(
                            row.get("latency", LatencyHistogram.Kind.DURATION),
                            Arrays.stream(counts.split(",", -1))
                                    .map(Long::valueOf)
                                    .toList(),
                            row.whole("sum_ns")));
        } catch (IllegalArgumentException wrong) {
            throw input.error("a histogram is wrong: " + counts + ": " + wrong.getMessage());
        }
    }

    private static Map.Entry<String, RequestStats> model(JsonInput input, Row row) throws IOException {
        return Map.entry(
                String.valueOf(row.get(String.class, "model")),
                RequestStats.ofFinished(outcomes(row), tokens(row), histograms(input, row)));
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
     * @param row a row of {@link #REQUESTS}
     * @return the requests
     * @throws IOException when the values contradict each other
     */
    public static RequestStats requests(JsonInput input, Row row) throws IOException {
        RowChecks.requests(input, row);
        SortedMap<Integer, Map<Cause, Long>> firstTokens = new TreeMap<>();
        for (Map.Entry<Integer, Map<Cause, Long>> entry : firstTokens(row)) {
            if (firstTokens.put(entry.getKey(), entry.getValue()) != null) {
                throw input.error("bucket " + entry.getKey() + " of the causes up to the first token occurs twice");
            }
        }
        SortedMap<String, RequestStats> models = new TreeMap<>();
        for (Map.Entry<String, RequestStats> entry :
                RequestFields.<Map.Entry<String, RequestStats>>list(row, "models")) {
            if (models.put(entry.getKey(), entry.getValue()) != null) {
                throw input.error("the model " + entry.getKey() + " occurs twice");
            }
        }
        String from = row.get(String.class, "counted_from");
        String sources = row.get(String.class, "wait_sources");
        RequestStats read = new RequestStats(
                new RequestStats.Counts(
                        row.whole("arrived"),
                        row.whole("waiting"),
                        row.whole("running"),
                        outcomes(row),
                        row.whole("abandoned"),
                        row.whole("ignored_calls")),
                tokens(row),
                new RequestStats.Latencies(
                        distribution(row, "queue_time"),
                        distribution(row, "time_to_first_token"),
                        distribution(row, "inter_token"),
                        distribution(row, "time_per_output_token"),
                        distribution(row, "duration")),
                causes(row),
                firstTokens,
                list(row, "slowest_first_tokens"),
                list(row, "longest_gaps"),
                from == null ? List.of() : List.of(from.split(SEPARATOR, -1)),
                histograms(input, row),
                list(row, "oldest_live"),
                models,
                new RequestStats.Waits(
                        waits(row), sources == null ? List.of() : List.of(sources.split(SEPARATOR, -1))));
        try {
            read.unnamed();
        } catch (IllegalArgumentException wrong) {
            throw input.error("the models have more requests than all: " + wrong.getMessage());
        }
        return read;
    }

    private static Map<Outcome, Long> outcomes(Row row) {
        Map<Outcome, Long> finished = new EnumMap<>(Outcome.class);
        for (Outcome outcome : Outcome.values()) {
            finished.put(outcome, row.whole(lower(outcome)));
        }
        return finished;
    }

    private static RequestStats.Tokens tokens(Row row) {
        return new RequestStats.Tokens(
                row.whole("prompt_tokens"), row.whole("cached_tokens"), row.whole("output_tokens"));
    }

    /** Returns the histograms of a row, which have the durations of all finished requests, each once. */
    private static Map<Outcome, List<LatencyHistogram>> histograms(JsonInput input, Row row) throws IOException {
        Map<Outcome, List<LatencyHistogram>> histograms = new EnumMap<>(Outcome.class);
        for (OutcomeHistogram each : RequestFields.<OutcomeHistogram>list(row, "histograms")) {
            histograms
                    .computeIfAbsent(each.outcome(), none -> new ArrayList<>())
                    .add(each.histogram());
        }
        if (histograms.isEmpty()) {
            return histograms; // An older version wrote the file.
        }
        for (Outcome outcome : Outcome.values()) {
            List<LatencyHistogram> some = histograms.getOrDefault(outcome, List.of());
            if (some.stream().map(LatencyHistogram::kind).distinct().count() < some.size()) {
                throw input.error("requests that ended " + lower(outcome) + " have two histograms of one latency");
            }
            long durations = some.stream()
                    .filter(histogram -> histogram.kind() == LatencyHistogram.Kind.DURATION)
                    .mapToLong(LatencyHistogram::count)
                    .sum();
            long number = row.whole(lower(outcome));
            if (durations != number) {
                throw input.error("the requests contradict each other: " + number + " ended " + lower(outcome)
                        + ", and the histogram of their durations has " + durations);
            }
        }
        return histograms;
    }

    /**
     * Returns the sentence of reports on the moments from which requests count.
     *
     * @param countedFrom the moments, as in {@link RequestStats#countedFrom}
     * @return a sentence
     */
    public static String countedFromText(List<String> countedFrom) {
        String moments = countedFrom.isEmpty() ? "an unknown moment" : String.join(", ", countedFrom);
        return "Requests count from " + moments + "; queues before it are not seen.";
    }

    /** Returns the number of live requests in a list of some. */
    static int oldestLive(Row row) {
        return list(row, "oldest_live").size();
    }

    /** Returns the times up to the first token by bucket. */
    static List<Map.Entry<Integer, Map<Cause, Long>>> firstTokens(Row row) {
        return list(row, "first_tokens");
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
