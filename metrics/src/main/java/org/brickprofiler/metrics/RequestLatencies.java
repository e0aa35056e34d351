package org.brickprofiler.metrics;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
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
     * Returns the histograms of the requests with an answer and of those with each error that occurred.
     *
     * @param requests the requests
     * @param kind the latency
     * @param answered the labels of the requests with an answer
     * @param error returns the labels of an outcome in lower case
     * @param <L> labels
     * @return the histograms by their labels
     */
    public static <L> Map<L, LatencyHistogram> byError(
            RequestStats requests, Kind kind, L answered, Function<String, L> error) {
        Map<L, LatencyHistogram> all = new LinkedHashMap<>();
        all.put(answered, answered(requests, kind));
        for (Outcome outcome : Outcome.values()) {
            LatencyHistogram histogram = requests.histogram(kind, List.of(outcome));
            if (!ANSWERED.contains(outcome) && histogram.count() > 0) {
                all.put(error.apply(outcome.name().toLowerCase(Locale.ROOT)), histogram);
            }
        }
        return all;
    }
}
