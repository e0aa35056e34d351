package org.brickprofiler.metrics;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.Wait;

/**
 * The metrics of a profiler, with one set of names, units and labels for all metrics systems. Values that are unknown
 * have no metric. Any thread; readers wait for each other while bricks receive their series.
 */
public final class ProfileMetrics {

    /** The unit of times. */
    public static final String SECONDS = "s";

    /** The label of requests whose model is unknown, if others name theirs. */
    public static final String UNKNOWN_MODEL = "(unknown)";

    private static final double NS_PER_S = 1e9;

    private static final Comparator<BrickSeries.Labels> BY_NAME = Comparator.comparing(BrickSeries.Labels::brick)
            .thenComparing(labels -> labels.category().displayName());

    /** The labels. */
    public enum Label {
        /** The name of a brick. */
        BRICK("brick", "brick.name"),
        /** The category of a brick. */
        CATEGORY("category", "brick.category"),
        /** The phase of steps, or {@link BrickSeries#NO_PHASE}. */
        PHASE("phase", "brick.step.phase"),
        /** The kind of tokens: prompt, output; of requests also cached; of speculative decoding drafted, accepted. */
        KIND("kind", "brick.token.kind"),
        /** What a thread did: running, waiting. */
        STATE("state", "brick.thread.state"),
        /** The outcome of a request. */
        OUTCOME("outcome", "brick.request.outcome"),
        /** The cause of a request's time. */
        CAUSE("cause", "brick.request.cause"),
        /** The wait of a queued or stalled request. */
        WAIT("wait", "brick.request.wait"),
        /** The outcome of a request without an answer. */
        ERROR("error_type", "error.type"),
        /** The model of the run. */
        MODEL("model", "brick.model"),
        /** The model that a request is for. */
        REQUEST_MODEL("gen_ai_request_model", "gen_ai.request.model");

        private final String key;
        private final String attribute;

        Label(String key, String attribute) {
            this.key = key;
            this.attribute = attribute;
        }

        /**
         * Returns the key of the label in Prometheus and Micrometer.
         *
         * @return a key that is valid in Prometheus
         */
        public String key() {
            return key;
        }

        /**
         * Returns the key of the attribute in OpenTelemetry.
         *
         * @return a key with a name space
         */
        public String attribute() {
            return attribute;
        }
    }

    /**
     * A metric. Immutable.
     *
     * @param name its name, with dots
     * @param unit {@link #SECONDS}, or what is counted in braces
     * @param description a sentence
     * @param isCounter whether it only grows until a reset; otherwise it is a gauge
     * @param values the values by labels, of times {@link Double}, of others {@link Long}
     */
    public record Metric(
            String name, String unit, String description, boolean isCounter, Map<Map<Label, String>, Number> values) {

        /**
         * Returns whether the values are times.
         *
         * @return true if the unit is {@link #SECONDS}
         */
        public boolean isTime() {
            return unit.equals(SECONDS);
        }
    }

    /**
     * Histograms of one latency. Immutable.
     *
     * @param name its name, with dots
     * @param description a sentence
     * @param values the histograms by labels
     */
    public record Histograms(String name, String description, Map<Map<Label, String>, LatencyHistogram> values) {}

    private final BrickSeries series;

    /** The latest sums of each series whose time is an estimate; guarded by this. */
    private final Map<Map<Label, String>, CategoryStats> latest = new HashMap<>();

    /**
     * Creates the metrics of one profiler.
     *
     * @param mostBricks the most bricks with series of their own, 0 or more
     * @throws IllegalArgumentException when the number is negative
     */
    public ProfileMetrics(int mostBricks) {
        series = new BrickSeries(mostBricks);
    }

    /**
     * Returns the counters and gauges.
     *
     * @param sums the sums, always of the same profiler
     * @return the metrics that have a value, each name once
     */
    public List<Metric> metrics(CurrentSums sums) {
        Collected to = new Collected();
        ProfileSnapshot snapshot = sums.snapshot();
        addBricks(to, series.sumsByPhase(snapshot));
        addSteps(to, sums);
        if (snapshot.requests().isRecorded()) {
            addRequests(to, snapshot.requests());
            addModels(to, snapshot);
        }
        addMachine(to, snapshot.facts().virtualMachines());
        Map<Label, String> run = snapshot.identity()
                .model()
                .map(model -> Map.of(Label.MODEL, model))
                .orElse(Map.of());
        to.gauge("brick.run", "{run}", "1, with the model of the run if it is known.", Map.of(run, 1L));
        to.counter(
                "brick.wall",
                SECONDS,
                "Time the profiler was switched on for.",
                Map.of(Map.of(), seconds(snapshot.wallNs())));
        to.counter(
                "brick.overhead",
                SECONDS,
                "Estimated time that recording took.",
                Map.of(Map.of(), seconds(snapshot.overheadNs())));
        to.counter(
                "brick.unresolved",
                "{sample}",
                "Samples whose time a device did not report.",
                Map.of(Map.of(), snapshot.unresolved()));
        return to.metrics;
    }

    /**
     * Returns the histograms of the requests that finished: times to and per token of those with an answer, durations
     * and times in the queue of all, by model.
     *
     * @param requests the requests
     * @param runModel the model of the run, which is that of the requests that name none
     * @return a histogram for each latency, also if no request has it
     */
    public static List<Histograms> histograms(RequestStats requests, Optional<String> runModel) {
        RequestStats unnamed = requests.unnamed();
        return List.of(
                new Histograms(
                        "gen_ai.server.time_to_first_token",
                        "Time from the arrival of a request to its first token.",
                        RequestLatencies.byModel(requests, unnamed, Kind.TIME_TO_FIRST_TOKEN, false, runModel)),
                new Histograms(
                        "gen_ai.server.time_per_output_token",
                        "Time per output token after the first one.",
                        RequestLatencies.byModel(requests, unnamed, Kind.TIME_PER_OUTPUT_TOKEN, false, runModel)),
                new Histograms(
                        "gen_ai.server.request.duration",
                        "Time from the arrival of a request to its finish.",
                        RequestLatencies.byModel(requests, unnamed, Kind.DURATION, true, runModel)),
                new Histograms(
                        "brick.request.queue_time",
                        "Time that a request waited for its first step.",
                        RequestLatencies.byModel(requests, unnamed, Kind.QUEUE_TIME, true, runModel)));
    }

    private void addBricks(Collected to, Map<String, Map<BrickSeries.Labels, CategoryStats>> byPhase) {
        // In the order of Prometheus' library, which sorts the points of each metric again.
        Map<BrickSeries.Labels, Map<String, CategoryStats>> sorted = new TreeMap<>(BY_NAME);
        byPhase.forEach((phase, sums) -> sums.forEach((brick, sum) ->
                sorted.computeIfAbsent(brick, first -> new TreeMap<>()).put(phase, sum)));
        Map<Map<Label, String>, CategoryStats> all = new LinkedHashMap<>();
        sorted.forEach((brick, phases) -> phases.forEach((phase, sum) -> all.put(
                Map.of(
                        Label.BRICK,
                        brick.brick(),
                        Label.CATEGORY,
                        brick.category().displayName(),
                        Label.PHASE,
                        phase),
                sum)));
        Map<Map<Label, String>, CategoryStats> estimated = new LinkedHashMap<>(all);
        estimated.values().removeIf(sum -> !sum.isEstimated());
        all.replaceAll((labels, sum) -> sum.isEstimated() ? rising(labels, sum) : sum);
        to.counter(
                "brick.time",
                SECONDS,
                "Recorded time of the executions of a brick.",
                each(all, sum -> seconds(sum.totalNs())));
        to.gauge(
                "brick.time.error",
                SECONDS,
                "Standard error of brick.time, which is an estimate: the profiler marks some bricks only. 0 if unknown.",
                each(estimated, sum -> sum.standardErrorNs() / NS_PER_S));
        to.counter("brick.samples", "{sample}", "Executions of a brick.", each(all, CategoryStats::count));
        to.counter(
                "brick.elements",
                "{element}",
                "Elements that a brick processed: tokens, rows, pages.",
                each(all, CategoryStats::totalElements));
    }

    /**
     * Returns the sums of an estimated series, whose time is at least the previous one: an estimate may fall when a
     * sample replaces what was supposed of a block, and readers of counters would take the fall for a restart.
     */
    private synchronized CategoryStats rising(Map<Label, String> labels, CategoryStats sum) {
        CategoryStats before = latest.get(labels);
        CategoryStats risen = sum;
        if (before != null && before.count() <= sum.count() && before.totalNs() > sum.totalNs()) {
            risen = new CategoryStats(
                    before.totalNs(),
                    sum.totalElements(),
                    sum.count(),
                    sum.unmarked(),
                    sum.standardErrorNs(),
                    sum.degreesOfFreedom(),
                    sum.netOrTotalNs());
        }
        latest.put(labels, risen);
        return risen;
    }

    private static void addSteps(Collected to, CurrentSums sums) {
        Map<Map<Label, String>, StepStats> phases = new LinkedHashMap<>();
        Map<Map<Label, String>, Number> tokens = new LinkedHashMap<>();
        Map<Map<Label, String>, Number> processors = new LinkedHashMap<>();
        Map<Map<Label, String>, Number> batches = new LinkedHashMap<>();
        Map<Map<Label, String>, Number> cached = new LinkedHashMap<>();
        for (StepStats phase : sums.snapshot().steps().phases()) {
            String name = lower(phase.phase());
            phases.put(Map.of(Label.PHASE, name), phase);
            tokens.put(Map.of(Label.PHASE, name, Label.KIND, "prompt"), phase.prefillTokens());
            tokens.put(Map.of(Label.PHASE, name, Label.KIND, "output"), phase.outputTokens());
            if (phase.draftedTokens() > 0) {
                tokens.put(Map.of(Label.PHASE, name, Label.KIND, "drafted"), phase.draftedTokens());
                tokens.put(Map.of(Label.PHASE, name, Label.KIND, "accepted"), phase.acceptedTokens());
            }
            if (phase.cpu().steps() > 0) {
                processors.put(
                        Map.of(Label.PHASE, name, Label.STATE, "running"),
                        seconds(phase.cpu().ranNs()));
                phase.cpu()
                        .waitedNs()
                        .ifPresent(
                                ns -> processors.put(Map.of(Label.PHASE, name, Label.STATE, "waiting"), seconds(ns)));
            }
            CurrentSums.LatestStep latest = sums.latest().get(phase.phase());
            if (latest != null) {
                batches.put(Map.of(Label.PHASE, name), latest.batch());
                if (phase.kvLength() > 0) {
                    cached.put(Map.of(Label.PHASE, name), latest.kvLength());
                }
            }
        }
        to.counter("brick.steps", "{step}", "Steps of a phase.", each(phases, StepStats::count));
        to.counter(
                "brick.step.time",
                SECONDS,
                "Time of the steps of a phase.",
                each(phases, phase -> seconds(phase.totalNs())));
        to.counter(
                "brick.step.tokens",
                "{token}",
                "Tokens of prompts that steps processed, and tokens that they generated, accepted drafted ones included.",
                tokens);
        to.counter(
                "brick.step.sequences",
                "{sequence}",
                "Sequences of the steps of a phase; divided by the steps, the mean batch.",
                each(phases, StepStats::sequences));
        to.counter(
                "brick.step.cpu_time",
                SECONDS,
                "Time in which the threads of steps ran on a processor, and waited for one.",
                processors);
        to.gauge("brick.batch", "{sequence}", "Sequences of the latest step of a phase.", batches);
        to.gauge(
                "brick.kv_cache.tokens",
                "{token}",
                "Positions that the key-value cache held at the beginning of the latest step of a phase.",
                cached);
    }

    private static void addRequests(Collected to, RequestStats requests) {
        RequestStats.Counts counts = requests.counts();
        to.gauge(
                "brick.requests.waiting",
                "{request}",
                "Requests that no step has worked on.",
                Map.of(Map.of(), counts.waiting()));
        to.gauge(
                "brick.requests.running",
                "{request}",
                "Requests that a step has worked on, and that have not finished.",
                Map.of(Map.of(), counts.running()));
        to.counter("brick.requests.arrived", "{request}", "Requests that arrived.", Map.of(Map.of(), counts.arrived()));
        to.counter(
                "brick.requests.abandoned",
                "{request}",
                "Requests that were given up without a finish.",
                Map.of(Map.of(), counts.abandoned()));
        Map<Map<Label, String>, Number> outcomes = new LinkedHashMap<>();
        for (Outcome outcome : Outcome.values()) {
            outcomes.put(Map.of(Label.OUTCOME, lower(outcome)), counts.finished(outcome));
        }
        to.counter("brick.requests", "{request}", "Requests that finished.", outcomes);
        Map<Map<Label, String>, Number> causes = new LinkedHashMap<>();
        for (Cause cause : Cause.values()) {
            causes.put(Map.of(Label.CAUSE, lower(cause)), seconds(requests.causeNs(cause)));
        }
        to.counter("brick.request.time", SECONDS, "Time of the requests that finished, by cause.", causes);
        Map<Map<Label, String>, Number> waits = new LinkedHashMap<>();
        for (Wait wait : Wait.values()) {
            long ns = requests.waits().ns(wait);
            if (ns > 0 || !requests.waits().isUnknown(wait)) {
                waits.put(Map.of(Label.WAIT, lower(wait)), seconds(ns));
            }
        }
        to.counter(
                "brick.request.waiting_time",
                SECONDS,
                "Time that the requests that finished were queued or stalled, by wait; up to two seconds later. Without"
                        + " throttled, which is then unknown, no_processor may include it.",
                waits);
        RequestStats.Tokens tokens = requests.tokens();
        Map<Map<Label, String>, Number> kinds = new LinkedHashMap<>();
        tokens(tokens, (kind, number) -> kinds.put(Map.of(Label.KIND, kind), number));
        to.counter(
                "brick.request.tokens",
                "{token}",
                "Tokens of the requests that finished: of prompts, the cached ones of these, and output tokens.",
                kinds);
    }

    private static void tokens(RequestStats.Tokens tokens, BiConsumer<String, Long> to) {
        to.accept("prompt", tokens.prompt());
        to.accept("cached", tokens.cached());
        to.accept("output", tokens.output());
    }

    /** Adds the requests by model, if one of them names its model. */
    private static void addModels(Collected to, ProfileSnapshot snapshot) {
        Map<String, RequestStats> models =
                new LinkedHashMap<>(snapshot.requests().models());
        if (!models.isEmpty()) {
            models.merge(
                    snapshot.identity().model().orElse(UNKNOWN_MODEL),
                    snapshot.requests().unnamed(),
                    RequestStats::merge);
        }
        Map<Map<Label, String>, Number> outcomes = new LinkedHashMap<>();
        Map<Map<Label, String>, Number> kinds = new LinkedHashMap<>();
        models.forEach((model, requests) -> {
            for (Outcome outcome : Outcome.values()) {
                outcomes.put(
                        Map.of(Label.REQUEST_MODEL, model, Label.OUTCOME, lower(outcome)),
                        requests.counts().finished(outcome));
            }
            tokens(
                    requests.tokens(),
                    (kind, number) -> kinds.put(Map.of(Label.REQUEST_MODEL, model, Label.KIND, kind), number));
        });
        to.counter("brick.model.requests", "{request}", "Requests that finished, by the model they are for.", outcomes);
        to.counter(
                "brick.model.request.tokens",
                "{token}",
                "Tokens of the requests that finished, by the model they are for.",
                kinds);
    }

    /** Adds the figures of this virtual machine, which a profile of one process knows unless its image lacks them. */
    private static void addMachine(Collected to, List<RunFacts.VirtualMachine> machines) {
        if (machines.size() == 1) {
            to.counter(
                    "brick.jvm.gc_time",
                    SECONDS,
                    "Time that the garbage collectors report since the start of the JVM, concurrent cycles included.",
                    Map.of(Map.of(), seconds(machines.get(0).gcNs())));
            to.counter(
                    "brick.jvm.compilation_time",
                    SECONDS,
                    "Time that the compilers report since the start of the JVM, summed over their threads.",
                    Map.of(Map.of(), seconds(machines.get(0).jitNs())));
        }
    }

    private static <T> Map<Map<Label, String>, Number> each(Map<Map<Label, String>, T> all, Function<T, Number> value) {
        Map<Map<Label, String>, Number> values = new LinkedHashMap<>();
        all.forEach((labels, one) -> values.put(labels, value.apply(one)));
        return values;
    }

    private static Double seconds(long ns) {
        return ns / NS_PER_S;
    }

    static String lower(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** The metrics of one reading. One thread. */
    private static final class Collected {
        private final List<Metric> metrics = new ArrayList<>();

        void counter(String name, String unit, String description, Map<Map<Label, String>, Number> values) {
            add(new Metric(name, unit, description, true, Collections.unmodifiableMap(values)));
        }

        void gauge(String name, String unit, String description, Map<Map<Label, String>, Number> values) {
            add(new Metric(name, unit, description, false, Collections.unmodifiableMap(values)));
        }

        private void add(Metric metric) {
            if (!metric.values().isEmpty()) {
                metrics.add(metric);
            }
        }
    }
}
