package org.brickprofiler.trace.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.read.RunSummary.Cell;
import org.brickprofiler.trace.read.RunSummary.Column;
import org.jspecify.annotations.Nullable;

/**
 * Reads summaries in JSON: an object, an array of objects, or one object a line. Values that contradict each other are
 * refused. Stateless; any thread.
 */
final class JsonSummaries {

    private static final int MOST_OBJECTS = 1_000_000;
    private static final int LONGEST_TEXT = 1_000;
    private static final double NS_PER_S = 1e9;
    private static final double NS_PER_MS = 1e6;
    private static final int DIGITS_OF_S = 9;
    private static final int DIGITS_OF_MS = 6;

    /** The largest relative error of TensorRT's times, which are in single precision. */
    private static final double SINGLE = 1e-4;

    private static final double PERCENT = 100;

    /** The mean of no value, as Python writes it. */
    private static final String NOT_A_NUMBER = "NaN";

    private JsonSummaries() {}

    /** An object: its scalars as text, and the numbers of its arrays. Not thread-safe. */
    private static final class Values {
        private final String source;
        private final long offset;
        private final Map<String, String> scalars = new HashMap<>();
        private final Map<String, List<String>> arrays = new HashMap<>();

        Values(String source, long offset) {
            this.source = source;
            this.offset = offset;
        }

        boolean has(String key) {
            return scalars.containsKey(key);
        }

        String text(String key) {
            return scalars.getOrDefault(key, "");
        }

        TraceFormatException error(String fault) {
            return new TraceFormatException(source, offset, fault);
        }

        BigDecimal number(String key) throws TraceFormatException {
            return number(key, text(key));
        }

        private BigDecimal number(String key, String text) throws TraceFormatException {
            BigDecimal number = SumRows.number(text);
            if (number == null || !Bounds.isDuration(number)) {
                throw error(
                        text.isEmpty()
                                ? "there is no " + key
                                : key + " is '" + TraceFigures.plain(text) + "', and no number of 0 or more");
            }
            return number;
        }

        long whole(String key) throws TraceFormatException {
            long whole = SumRows.whole(number(key));
            if (!Bounds.isCount(whole)) {
                throw error(key + " is '" + TraceFigures.plain(text(key)) + "', beyond 2^53");
            }
            return whole;
        }

        /** Returns a time in ns from a number in units of 10<sup>digits</sup> ns. */
        long ns(String key, int digits) throws TraceFormatException {
            BigDecimal ns = number(key).scaleByPowerOfTen(digits);
            if (!Bounds.isDuration(ns)) {
                throw error(key + " is '" + TraceFigures.plain(text(key)) + "', beyond 10 years");
            }
            return SumRows.whole(ns);
        }

        List<BigDecimal> numbers(String key) throws TraceFormatException {
            List<BigDecimal> numbers = new ArrayList<>();
            for (String text : arrays.getOrDefault(key, List.of())) {
                numbers.add(number(key, text));
            }
            return numbers;
        }
    }

    // ---- llama-bench ----

    static RunSummary llamaBench(BufferedInputStream text, String source) throws IOException {
        List<List<Column>> rows = new ArrayList<>();
        TreeSet<String> models = new TreeSet<>();
        TreeSet<String> devices = new TreeSet<>();
        for (Values test : objects(text, source)) {
            long prompt = test.whole("n_prompt");
            long output = test.whole("n_gen");
            long depth = test.has("n_depth") ? test.whole("n_depth") : 0;
            long avgNs = test.whole("avg_ns");
            List<BigDecimal> samples = test.numbers("samples_ns");
            double meanNs = samples.stream()
                    .mapToDouble(BigDecimal::doubleValue)
                    .average()
                    .orElse((double) avgNs);
            if (samples.isEmpty() || Math.abs(meanNs - avgNs) > 1 + 1e-9 * meanNs) {
                throw test.error("avg_ns " + avgNs + " is not the mean of the " + samples.size() + " samples_ns, "
                        + Math.round(meanNs));
            }
            double rate = (prompt + output) * NS_PER_S / Math.max(1, avgNs);
            double stated = test.number("avg_ts").doubleValue();
            // The program states the mean of the samples' rates, which exceeds the rate at the mean time.
            if (Math.abs(stated - rate) > Math.max(0.2, spread(samples)) * rate) {
                throw test.error(
                        "avg_ts " + stated + " does not fit " + (prompt + output) + " tokens in " + avgNs + " ns");
            }
            models.add(test.text("model_type"));
            devices.add(test.text("gpu_info").isEmpty() ? test.text("cpu_info") : test.text("gpu_info"));
            rows.add(List.of(
                    new Column("test", Cell.text(name(prompt, output, depth))),
                    new Column("model", Cell.text(test.text("model_type"))),
                    new Column("samples", Cell.count(samples.size())),
                    new Column("tokens", Cell.count(prompt + output)),
                    new Column("avg", "avg_ns", Cell.ns(avgNs)),
                    new Column("std. dev.", "stddev_ns", Cell.ns(test.whole("stddev_ns"))),
                    new Column("tokens/s", "tokens_per_s", Cell.rate(stated))));
        }
        return new RunSummary.Builder("llama-bench")
                .fact("model", String.join("; ", models))
                .fact("device", String.join("; ", devices))
                .table("Tests, each the mean of its samples", "tests", rows)
                .build();
    }

    private static double spread(List<BigDecimal> samples) {
        double[] ns =
                samples.stream().mapToDouble(BigDecimal::doubleValue).sorted().toArray();
        return ns[0] == 0 ? 1 : ns[ns.length - 1] / ns[0] - 1;
    }

    /** Returns the name that the program prints for a test. */
    private static String name(long prompt, long output, long depth) {
        String name =
                prompt > 0 && output > 0 ? "pp" + prompt + "+tg" + output : prompt > 0 ? "pp" + prompt : "tg" + output;
        return depth > 0 ? name + " @ d" + depth : name;
    }

    // ---- Ollama ----

    static RunSummary ollama(BufferedInputStream text, String source) throws IOException {
        List<List<Column>> rows = new ArrayList<>();
        TreeSet<String> models = new TreeSet<>();
        long unfinished = 0;
        boolean isUnknown = false;
        for (Values response : objects(text, source)) {
            if (!response.has("total_duration")) {
                unfinished++;
                continue;
            }
            long totalNs = response.whole("total_duration");
            long loadNs = response.has("load_duration") ? response.whole("load_duration") : 0;
            long promptNs = response.has("prompt_eval_duration") ? response.whole("prompt_eval_duration") : 0;
            long outputNs = response.whole("eval_duration");
            long outputs = response.whole("eval_count");
            long restNs = totalNs - loadNs - promptNs - outputNs;
            if (restNs < 0) {
                throw response.error("total_duration " + totalNs + " ns is less than its parts: load_duration " + loadNs
                        + ", prompt_eval_duration " + promptNs + " and eval_duration " + outputNs + " ns");
            }
            // A prompt that was cached as a whole has no count.
            boolean hasPrompt = response.has("prompt_eval_count");
            isUnknown |= !hasPrompt;
            models.add(response.text("model"));
            rows.add(List.of(
                    new Column("request", Cell.count(rows.size())),
                    new Column("total", "total_ns", Cell.ns(totalNs)),
                    new Column("load", "load_ns", Cell.ns(loadNs)),
                    new Column(
                            "prompt tokens",
                            "prompt_tokens",
                            hasPrompt ? Cell.count(response.whole("prompt_eval_count")) : Cell.UNKNOWN),
                    new Column("prompt", "prompt_ns", Cell.ns(promptNs)),
                    new Column(
                            "prompt tokens/s",
                            "prompt_tokens_per_s",
                            hasPrompt ? Cell.perSecond(response.whole("prompt_eval_count"), promptNs) : Cell.UNKNOWN),
                    new Column("output tokens", "output_tokens", Cell.count(outputs)),
                    new Column("output", "output_ns", Cell.ns(outputNs)),
                    new Column("output tokens/s", "output_tokens_per_s", Cell.perSecond(outputs, outputNs)),
                    new Column("rest", "rest_ns", Cell.ns(restNs))));
        }
        if (rows.isEmpty()) {
            throw new TraceFormatException(source, 0, "none of the responses of Ollama is finished (total_duration)");
        }
        RunSummary.Builder summary = new RunSummary.Builder("Ollama")
                .fact("model", String.join("; ", models))
                .fact(
                        "requests",
                        TraceFigures.count(rows.size())
                                + (rows.size() == 1 ? "" : "; they may overlap, so their times are not added"));
        if (unfinished > 0) {
            summary.fact("left out", Plural.of(unfinished, "part") + " of streamed responses, without times");
        }
        if (isUnknown) {
            summary.fact("cached", "a prompt without a count was cached as a whole");
        }
        return summary.table("Requests", "requests", rows).build();
    }

    // ---- vllm bench serve, and SGLang's program that is modelled on it ----

    private static final Pattern MEAN = Pattern.compile("mean_([a-z0-9_]+)_ms");
    private static final Pattern PERCENTILE = Pattern.compile("p([0-9.]+)_([a-z0-9_]+)_ms");

    static RunSummary vllmBench(BufferedInputStream text, String source) throws IOException {
        TreeSet<String> programs = new TreeSet<>();
        List<List<Column>> runs = new ArrayList<>();
        List<List<Column>> waits = new ArrayList<>();
        for (Values run : objects(text, source)) {
            programs.add(run.has("mean_e2e_latency_ms") ? "sglang.bench_serving" : "vllm bench serve");
            long durationNs = run.ns("duration", DIGITS_OF_S);
            long outputs = run.whole("total_output_tokens");
            double stated = run.number("output_throughput").doubleValue();
            double rate = durationNs == 0 ? 0 : outputs * NS_PER_S / durationNs;
            if (Math.abs(stated - rate) > 1e-3 * rate) {
                throw run.error("output_throughput " + stated + " is not " + outputs + " total_output_tokens in "
                        + run.text("duration") + " s");
            }
            long number = runs.size();
            runs.add(List.of(
                    new Column("model", Cell.text(run.has("model_id") ? run.text("model_id") : run.text("model"))),
                    new Column("completed", Cell.count(run.whole("completed"))),
                    new Column("failed", run.has("failed") ? Cell.count(run.whole("failed")) : Cell.UNKNOWN),
                    new Column(
                            "at once",
                            "max_concurrency",
                            run.has("max_concurrency") ? Cell.text(run.text("max_concurrency")) : Cell.UNKNOWN),
                    new Column("requested rate", "request_rate", requestRate(run)),
                    new Column("wall time", "wall_ns", Cell.ns(durationNs)),
                    new Column("input tokens", "input_tokens", Cell.count(run.whole("total_input_tokens"))),
                    new Column("output tokens", "output_tokens", Cell.count(outputs)),
                    new Column("output tokens/s", "output_tokens_per_s", Cell.rate(rate))));
            for (String key : new TreeSet<>(run.scalars.keySet())) {
                Matcher mean = MEAN.matcher(key);
                if (mean.matches()) {
                    waits.add(wait(number, run, mean.group(1)));
                }
            }
        }
        return new RunSummary.Builder(String.join(" and ", programs))
                .fact("phases", "none: the program measures requests from outside of the server")
                .table("Runs", "runs", runs)
                .table("Times of requests", "times", waits)
                .build();
    }

    /** Returns the rate at which requests were sent, requests/s; infinity means that all were sent at once. */
    private static Cell requestRate(Values run) throws TraceFormatException {
        if (!run.has("request_rate")) {
            return Cell.UNKNOWN;
        }
        String rate = run.text("request_rate");
        return rate.equals("inf") || rate.equals("Infinity")
                ? Cell.text("no limit")
                : Cell.rate(run.number("request_rate").doubleValue());
    }

    private static List<Column> wait(long number, Values run, String what) throws TraceFormatException {
        String percentile = run.scalars.keySet().stream()
                .filter(key -> isPercentile(key, what))
                .max(Comparator.comparing(JsonSummaries::percentOf))
                .orElse("");
        Matcher highest = PERCENTILE.matcher(percentile);
        String name =
                switch (what) {
                    case "ttft" -> "time to first token";
                    case "tpot" -> "time per output token";
                    case "itl" -> "time between tokens";
                    case "e2el", "e2e_latency" -> "whole request";
                    default -> what;
                };
        return List.of(
                new Column("time", Cell.text(name)),
                new Column("run", Cell.count(number)),
                new Column("mean", "mean_ns", optionalMs(run, "mean_" + what + "_ms")),
                new Column("std. dev.", "stddev_ns", optionalMs(run, "std_" + what + "_ms")),
                new Column("median", "median_ns", optionalMs(run, "median_" + what + "_ms")),
                new Column("percentile", highest.matches() ? Cell.text("p" + highest.group(1)) : Cell.UNKNOWN),
                new Column("of it", "percentile_ns", optionalMs(run, percentile)));
    }

    private static boolean isPercentile(String key, String what) {
        Matcher percentile = PERCENTILE.matcher(key);
        return percentile.matches() && percentile.group(2).equals(what);
    }

    /** Returns the number in the name of a percentile, such as 99.9. */
    private static BigDecimal percentOf(String percentile) {
        Matcher number = PERCENTILE.matcher(percentile);
        BigDecimal percent = number.matches() ? SumRows.number(number.group(1)) : null;
        return percent == null ? BigDecimal.ZERO : percent;
    }

    private static Cell optionalMs(Values run, String key) throws TraceFormatException {
        return run.has(key) && !run.text(key).equals(NOT_A_NUMBER) ? Cell.ns(run.ns(key, DIGITS_OF_MS)) : Cell.UNKNOWN;
    }

    // ---- TensorRT's times ----

    /** The parts of a latency, and the names that earlier versions of trtexec give to the copies. */
    private static final List<String> PARTS = List.of("H2d", "Compute", "D2h");

    private static final Map<String, String> EARLIER = Map.of("H2d", "In", "D2h", "Out");

    static RunSummary tensorRtTimes(BufferedInputStream text, String source) throws IOException {
        return tensorRtTimes(objects(text, source))
                .fact("layers", "not in this file: trtexec --exportProfile=FILE writes them")
                .build();
    }

    /**
     * Reads the times that follow the profile of the same engine.
     *
     * @param json the parser, positioned after the profile
     * @param layersNs the time of all layers in a run, according to the profile
     * @return the summary; null if nothing follows
     * @throws TraceFormatException when the rest of the text is not times of runs
     */
    static @Nullable RunSummary tensorRtTimes(JsonParser json, String source, double layersNs) throws IOException {
        List<Values> runs = objects(json, source);
        if (runs.isEmpty()) {
            return null;
        }
        RunSummary.Builder summary = tensorRtTimes(runs);
        double computeNs = 0;
        for (Values run : runs) {
            computeNs += elapsedNs(run, "Compute") / runs.size();
        }
        return summary.withBricks()
                .fact(
                        "layers",
                        TraceFigures.duration(Math.round(layersNs)) + " a run in the profile"
                                + (computeNs == 0
                                        ? ""
                                        : String.format(
                                                Locale.ROOT,
                                                ", %.1f %% of the compute here; both may be of different runs",
                                                PERCENT * layersNs / computeNs)))
                .build();
    }

    private static RunSummary.Builder tensorRtTimes(List<Values> runs) throws TraceFormatException {
        Map<String, List<Double>> times = new HashMap<>();
        for (Values run : runs) {
            if (run.has("startEnqMs")) {
                times.computeIfAbsent("Enq", added -> new ArrayList<>()).add(elapsedNs(run, "Enq"));
            }
            double latencyNs = 0;
            for (String part : PARTS) {
                double ns = elapsedNs(run, part);
                latencyNs += ns;
                times.computeIfAbsent(part, added -> new ArrayList<>()).add(ns);
            }
            times.computeIfAbsent("latency", added -> new ArrayList<>()).add(latencyNs);
            double largestNs =
                    NS_PER_MS * run.number("end" + nameOf(run, "D2h") + "Ms").doubleValue();
            if (run.has("latencyMs")
                    && Math.abs(NS_PER_MS * run.number("latencyMs").doubleValue() - latencyNs)
                            > SINGLE * largestNs + SINGLE * NS_PER_MS) {
                throw run.error("latencyMs " + run.text("latencyMs") + " is not the sum of H2d, Compute and D2h, "
                        + latencyNs / NS_PER_MS);
            }
        }
        List<List<Column>> rows = new ArrayList<>();
        for (String part : List.of("H2d", "Compute", "D2h", "latency", "Enq")) {
            rows.add(row(part, times.getOrDefault(part, List.of())));
        }
        return new RunSummary.Builder("TensorRT's trtexec, times of runs")
                .fact("runs", TraceFigures.count(runs.size()))
                .fact("latency", "H2d, compute and D2h; the host enqueues at the same time, so that is not added")
                .table("Parts of a run", "parts", rows);
    }

    private static String nameOf(Values run, String part) {
        String earlier = EARLIER.getOrDefault(part, part);
        return run.has("start" + earlier + "Ms") ? earlier : part;
    }

    /** Returns the duration of a part of a run. */
    private static double elapsedNs(Values run, String named) throws TraceFormatException {
        String part = nameOf(run, named);
        double ns = NS_PER_MS
                * (run.number("end" + part + "Ms").doubleValue()
                        - run.number("start" + part + "Ms").doubleValue());
        if (ns < 0) {
            throw run.error("end" + part + "Ms " + run.text("end" + part + "Ms") + " is before start" + part + "Ms "
                    + run.text("start" + part + "Ms"));
        }
        return ns;
    }

    private static List<Column> row(String part, List<Double> unsorted) {
        double[] ns =
                unsorted.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        OptionalDouble mean = Arrays.stream(ns).average();
        return List.of(
                new Column("part", Cell.text(part.toLowerCase(Locale.ROOT).replace("enq", "enqueue"))),
                new Column("mean", "mean_ns", mean.isEmpty() ? Cell.UNKNOWN : Cell.ns(Math.round(mean.getAsDouble()))),
                new Column("min", "min_ns", nearest(ns, 0)),
                new Column("median", "median_ns", nearest(ns, 50)),
                new Column("p99", "p99_ns", nearest(ns, 99)),
                new Column("max", "max_ns", nearest(ns, 100)));
    }

    /** Returns a percentile by nearest rank; unknown if there are no times. */
    private static Cell nearest(double[] sortedNs, double percent) {
        int rank = (int) Math.max(0, Math.ceil(percent / 100 * sortedNs.length) - 1);
        return sortedNs.length == 0 ? Cell.UNKNOWN : Cell.ns(Math.round(sortedNs[rank]));
    }

    // ---- the text ----

    private static List<Values> objects(BufferedInputStream text, String source) throws IOException {
        // Python writes infinity and NaN as they are.
        try (JsonParser json = new JsonFactory()
                .createParser(text)
                .disable(JsonParser.Feature.AUTO_CLOSE_SOURCE)
                .enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS.mappedFeature())) {
            return objects(json, source);
        }
    }

    private static List<Values> objects(JsonParser json, String source) throws IOException {
        List<Values> all = new ArrayList<>();
        try {
            boolean isInArray = false;
            for (JsonToken next = json.nextToken(); next != null; next = json.nextToken()) {
                if (next == JsonToken.START_OBJECT) {
                    all.add(object(json, source));
                } else if (next == JsonToken.START_ARRAY || next == JsonToken.END_ARRAY) {
                    isInArray = next == JsonToken.START_ARRAY;
                } else {
                    throw new TraceFormatException(source, offset(json), "an object is expected, and there is " + next);
                }
                if (all.size() > MOST_OBJECTS) {
                    throw new TraceFormatException(
                            source, offset(json), "there are more than " + MOST_OBJECTS + " objects");
                }
            }
            if (isInArray) {
                throw new TraceFormatException(source, offset(json), "the text ends within an array");
            }
        } catch (JsonProcessingException malformed) {
            throw new TraceFormatException(source, offset(json), "from here on, the text is no JSON", malformed);
        } catch (TraceInput.DamagedException damaged) {
            throw new TraceFormatException(source, offset(json), String.valueOf(damaged.getMessage()), damaged);
        }
        return all;
    }

    private static long offset(JsonParser json) {
        return Math.max(0, json.currentLocation().getByteOffset());
    }

    private static Values object(JsonParser json, String source) throws IOException {
        Values values = new Values(source, offset(json));
        while (json.nextToken() == JsonToken.FIELD_NAME) {
            String key = json.currentName();
            JsonToken value = json.nextToken();
            if (value == JsonToken.START_ARRAY && key.equals("samples_ns")) {
                values.arrays.put(key, array(json));
            } else if (value != null && value.isScalarValue()) {
                String text = json.getText();
                boolean isNew = value == JsonToken.VALUE_NULL
                        || values.scalars.put(key, text.length() > LONGEST_TEXT ? "" : text) == null;
                if (!isNew) {
                    throw values.error("there are two values of " + TraceFigures.plain(key));
                }
            } else {
                json.skipChildren();
            }
        }
        return values;
    }

    private static List<String> array(JsonParser json) throws IOException {
        List<String> texts = new ArrayList<>();
        for (JsonToken next = json.nextToken(); next != JsonToken.END_ARRAY; next = json.nextToken()) {
            if (next == null) {
                break;
            }
            texts.add(next.isScalarValue() ? json.getText() : "");
            json.skipChildren();
        }
        return texts;
    }
}
