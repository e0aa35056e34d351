package org.brickprofiler.metrics;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.metrics.ProfileMetrics.Label;
import org.brickprofiler.request.LatencyHistogram;
import org.brickprofiler.request.LatencyHistogram.Kind;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestStats;

/**
 * The histograms of requests as metrics systems show them: requests with an answer, and those that ended with an error.
 * Stateless; any thread.
 */
public final class RequestLatencies {

    /** The outcomes of requests with an answer; the others are errors. */
    private static final List<Outcome> ANSWERED = List.of(Outcome.COMPLETED, Outcome.LENGTH);

    private RequestLatencies() {}

    /**
     * Returns whether a request ended with an error, and not with an answer.
     *
     * @param outcome its outcome
     * @return true for an error
     */
    public static boolean isError(Outcome outcome) {
        return !ANSWERED.contains(Objects.requireNonNull(outcome, "outcome"));
    }

    /**
     * Returns the histograms of the requests with an answer, and of those with each error that occurred, by model.
     * Requests that name no model have the label of the run's model, or none if it is unknown.
     *
     * @param requests the requests
     * @param unnamed those of them that name no model, which takes long to compute
     * @param kind the latency
     * @param withErrors whether the requests with an error are wanted
     * @param runModel the model of the run
     * @return the histograms by their labels; that of the requests with an answer that name no model also if it is
     *     empty
     */
    static Map<Map<Label, String>, LatencyHistogram> byModel(
            RequestStats requests, RequestStats unnamed, Kind kind, boolean withErrors, Optional<String> runModel) {
        Map<Map<Label, String>, LatencyHistogram> all = new LinkedHashMap<>();
        add(all, unnamed, kind, withErrors, runModel);
        requests.models().forEach((model, each) -> add(all, each, kind, withErrors, Optional.of(model)));
        return all;
    }

    private static void add(
            Map<Map<Label, String>, LatencyHistogram> to,
            RequestStats requests,
            Kind kind,
            boolean withErrors,
            Optional<String> model) {
        Map<Label, String> labels =
                model.map(name -> Map.of(Label.REQUEST_MODEL, name)).orElse(Map.of());
        to.merge(labels, requests.histogram(kind, ANSWERED), LatencyHistogram::plus);
        if (!withErrors) {
            return;
        }
        for (Outcome outcome : Outcome.values()) {
            LatencyHistogram histogram = requests.histogram(kind, List.of(outcome));
            if (isError(outcome) && histogram.count() > 0) {
                Map<Label, String> ofError = new EnumMap<>(Label.class);
                ofError.putAll(labels);
                ofError.put(Label.ERROR, ProfileMetrics.lower(outcome));
                to.merge(Map.copyOf(ofError), histogram, LatencyHistogram::plus);
            }
        }
    }
}
