package org.brickprofiler.metrics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
     * Returns the histogram of the requests with an answer.
     *
     * @param requests the requests
     * @param kind the latency
     * @return the histogram
     */
    public static LatencyHistogram answered(RequestStats requests, Kind kind) {
        return requests.histogram(kind, ANSWERED);
    }

    /**
     * Returns the histograms of the requests with an answer, without labels, and of those with each error that
     * occurred.
     *
     * @param requests the requests
     * @param kind the latency
     * @return the histograms by their labels
     */
    public static Map<Map<Label, String>, LatencyHistogram> byError(RequestStats requests, Kind kind) {
        Map<Map<Label, String>, LatencyHistogram> all = new LinkedHashMap<>();
        all.put(Map.of(), answered(requests, kind));
        for (Outcome outcome : Outcome.values()) {
            LatencyHistogram histogram = requests.histogram(kind, List.of(outcome));
            if (isError(outcome) && histogram.count() > 0) {
                all.put(Map.of(Label.ERROR, ProfileMetrics.lower(outcome)), histogram);
            }
        }
        return all;
    }
}
