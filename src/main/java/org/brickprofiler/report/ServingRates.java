package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.internal.RoughUnits;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;

/**
 * The rates of a server over the time in which a request was live: the union of the requests' times from arrival to
 * finish. They are known if the timeline has every request that finished, which are 1,024 at most. Immutable.
 *
 * @param liveNs the time in which a request was live, ns
 * @param outputTokensPerSecond tokens of output by that time
 * @param finishedPerSecond finished requests by that time
 * @param arrivedPerSecond the rate between the first arrival and the last one; empty for fewer than three requests, or
 *     if some have not finished
 */
record ServingRates(
        long liveNs, double outputTokensPerSecond, double finishedPerSecond, OptionalDouble arrivedPerSecond) {

    private static final double NS_PER_SECOND = 1e9;
    private static final int FEWEST = 3;

    /** The ratio of the rates of arrivals and finishes from which requests pile up. */
    private static final double MORE = 1.1;

    /** Returns the rates, empty if they are not known. */
    static Optional<ServingRates> of(ProfileSnapshot snapshot) {
        List<RequestRecord> records = snapshot.requestTimeline().requests().stream()
                .map(RequestTimeline.Request::record)
                .sorted(Comparator.comparingLong(RequestRecord::arrivedNs))
                .toList();
        long finished = snapshot.requests().counts().allFinished();
        if (records.isEmpty() || records.size() != finished) {
            return Optional.empty();
        }
        long liveNs = 0;
        long untilNs = Long.MIN_VALUE;
        for (RequestRecord record : records) {
            long endNs = record.arrivedNs() + record.durationNs();
            liveNs += Math.max(0, endNs - Math.max(untilNs, record.arrivedNs()));
            untilNs = Math.max(untilNs, endNs);
        }
        if (liveNs == 0) {
            return Optional.empty();
        }
        double seconds = liveNs / NS_PER_SECOND;
        long betweenNs =
                records.get(records.size() - 1).arrivedNs() - records.get(0).arrivedNs();
        boolean isArrivalKnown = finished >= FEWEST
                && betweenNs > 0
                && snapshot.requests().counts().arrived() == finished;
        return Optional.of(new ServingRates(
                liveNs,
                records.stream().mapToLong(RequestRecord::outputTokens).sum() / seconds,
                finished / seconds,
                isArrivalKnown
                        ? OptionalDouble.of((double) (finished - 1) * NS_PER_SECOND / betweenNs)
                        : OptionalDouble.empty()));
    }

    /**
     * Writes the rates of output and of finished requests, and the time for which they hold.
     *
     * @param json the target
     */
    void write(JsonGenerator json) throws IOException {
        json.writeStartObject();
        json.writeNumberField("output_tokens_per_s", outputTokensPerSecond);
        json.writeNumberField("finished_per_s", finishedPerSecond);
        json.writeNumberField("live_ns", liveNs);
        json.writeEndObject();
    }

    /** Returns the first line of a server's report. */
    String text() {
        return String.format(
                Locale.ROOT,
                "Output: %s tokens/s and %s requests/s, over the %s in which a request was live.",
                RoughUnits.number(outputTokensPerSecond),
                RoughUnits.number(finishedPerSecond),
                RoughUnits.duration(liveNs));
    }

    /** Returns a sentence on the load, empty unless requests arrived faster than they finished. */
    String load() {
        return arrivedPerSecond.isPresent() && arrivedPerSecond.getAsDouble() > MORE * finishedPerSecond
                ? " " + RoughUnits.number(arrivedPerSecond.getAsDouble()) + " requests/s arrived, "
                        + RoughUnits.number(finishedPerSecond) + "/s finished."
                : "";
    }
}
