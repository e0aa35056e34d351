package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.Comparator;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The requests that finished in the latest time. Immutable.
 *
 * @param minutes the minutes that were asked for: 1, 5 or 60
 * @param lengthNs the time that is covered, ns: the minutes and a part of the next ten seconds or, for more than one
 *     minute, of the next minute; less if the recorder is younger
 * @param finished requests that finished, with any outcome
 * @param failed those of them that failed
 * @param timeToFirstToken of those that got a token
 * @param timePerOutputToken of those that got two tokens or more
 * @param slowestFirstToken the request with the longest time to first token
 * @param slowestPerToken the request with the longest time per output token
 */
public record RecentRequests(
        int minutes,
        long lengthNs,
        long finished,
        long failed,
        LatencyDistribution timeToFirstToken,
        LatencyDistribution timePerOutputToken,
        Optional<RequestRecord> slowestFirstToken,
        Optional<RequestRecord> slowestPerToken) {

    private static final Set<Cause> BEFORE_FIRST_TOKEN =
            EnumSet.of(Cause.QUEUED_BEHIND_PROMPTS, Cause.QUEUED_BEHIND_DECODING, Cause.QUEUED_IDLE, Cause.OWN_PROMPT);

    private static final Set<Cause> BETWEEN_TOKENS = EnumSet.of(
            Cause.DECODE,
            Cause.DECODE_BESIDE_PROMPTS,
            Cause.STALLED_BEHIND_PROMPTS,
            Cause.STALLED_BEHIND_DECODING,
            Cause.STALLED_IDLE,
            Cause.OWN_WORK);

    private static final double NS_PER_MS = 1e6;
    private static final double MS_PER_S = 1e3;

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public RecentRequests {
        requireNotNegative("minutes", minutes);
        requireNotNegative("lengthNs", lengthNs);
        requireNotNegative("finished", finished);
        requireNotNegative("failed", failed);
        Objects.requireNonNull(timeToFirstToken, "timeToFirstToken");
        Objects.requireNonNull(timePerOutputToken, "timePerOutputToken");
        Objects.requireNonNull(slowestFirstToken, "slowestFirstToken");
        Objects.requireNonNull(slowestPerToken, "slowestPerToken");
    }

    /**
     * Returns the window in words. A percentile lies within {@link LatencyDistribution#RELATIVE_ERROR} of the latency
     * of that rank.
     *
     * @return one sentence or more, in ASCII but for ids
     */
    public String text() {
        String head = "Last " + Plural.of(minutes, "minute") + ": " + Plural.of(finished, "request") + " finished"
                + (failed == 0 ? "" : ", " + failed + " of them failed") + ".";
        return head
                + text(" Time to first token", timeToFirstToken)
                + slowestFirstToken
                        .map(each -> slowest(each, each.timeToFirstTokenNs(), BEFORE_FIRST_TOKEN))
                        .orElse("")
                + text(" Time per output token", timePerOutputToken)
                + slowestPerToken
                        .map(each -> slowest(
                                each, Math.round(each.timePerOutputTokenNs().orElse(0)), BETWEEN_TOKENS))
                        .orElse("");
    }

    private static String text(String name, LatencyDistribution times) {
        return times.count() == 0
                ? ""
                : name + ": p50 " + time(times.percentileNs(50)) + ", p90 " + time(times.percentileNs(90)) + ", p99 "
                        + time(times.percentileNs(99)) + ".";
    }

    private static String slowest(RequestRecord request, long ns, Set<Cause> causes) {
        Cause largest =
                causes.stream().max(Comparator.comparingLong(request::causeNs)).orElseThrow();
        return " The slowest"
                + request.identity().id().map(id -> " (" + id + ")").orElse("") + ": " + time(ns) + "; "
                + largest.displayName() + " " + time(request.causeNs(largest)) + ".";
    }

    private static String time(long ns) {
        double ms = ns / NS_PER_MS;
        return ms < MS_PER_S
                ? String.format(Locale.ROOT, "%.2f ms", ms)
                : String.format(Locale.ROOT, "%.2f s", ms / MS_PER_S);
    }

    /**
     * Returns the window as the values of a JSON object.
     *
     * @return numbers and the text
     */
    public Map<String, Object> values() {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("minutes", minutes);
        values.put("length_ns", lengthNs);
        values.put("finished", finished);
        values.put("failed", failed);
        values.put("time_to_first_token", values(timeToFirstToken));
        values.put("time_per_output_token", values(timePerOutputToken));
        values.put("text", text());
        return values;
    }

    private static Map<String, Object> values(LatencyDistribution times) {
        Map<String, Object> values = new LinkedHashMap<>();
        values.put("count", times.count());
        values.put("p50_ns", times.percentileNs(50));
        values.put("p90_ns", times.percentileNs(90));
        values.put("p99_ns", times.percentileNs(99));
        return values;
    }
}
