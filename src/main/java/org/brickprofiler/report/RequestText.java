package org.brickprofiler.report;

import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.percentileCell;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.TextTable;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.Wait;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The section of a text report about requests: their latencies, their numbers, and the causes of their time. Stateless.
 */
final class RequestText {

    private static final double MEDIAN_FROM = 45;
    private static final double MEDIAN_TO = 55;
    private static final double SLOWEST_PERCENT = 1;

    /** The most causes that the sentence names, and the least share of the excess that a named cause has. */
    private static final int CAUSES_NAMED = 3;

    private static final double LEAST_SHARE = 0.05;

    private record Latency(String name, LatencyDistribution times) {}

    /** The mean time to first token by cause, ns: of the requests around the median, and of the slowest ones. */
    private record FirstTokens(String slowestName, Map<Cause, Double> median, Map<Cause, Double> slowest) {

        static FirstTokens of(RequestStats stats, long requests) {
            double onePercent = 100.0 / requests;
            boolean isShare = onePercent <= SLOWEST_PERCENT;
            return new FirstTokens(
                    isShare ? "slowest 1 %" : "slowest one",
                    stats.firstTokenCauses(MEDIAN_FROM, MEDIAN_TO),
                    stats.firstTokenCauses(100 - (isShare ? SLOWEST_PERCENT : onePercent), 100));
        }

        boolean isKnown(Cause cause) {
            return slowest.getOrDefault(cause, 0.0) + median.getOrDefault(cause, 0.0) > 0;
        }

        double excess(Cause cause) {
            return slowest.getOrDefault(cause, 0.0) - median.getOrDefault(cause, 0.0);
        }

        double totalExcess() {
            return slowest.keySet().stream().mapToDouble(this::excess).sum();
        }
    }

    private RequestText() {}

    /**
     * Returns the section, empty if there are no requests.
     *
     * @param snapshot the profile
     * @param hasNet whether the net time of a brick is known: the times of requests are as recorded
     */
    static String render(ProfileSnapshot snapshot, boolean hasNet) {
        RequestStats stats = snapshot.requests();
        if (!stats.isRecorded()) {
            return "";
        }
        StringBuilder text = new StringBuilder(hasNet ? "\nRequests, times as recorded\n\n" : "\nRequests\n\n");
        ServingRates.of(snapshot).ifPresent(rates -> text.append(rates.text()).append("\n\n"));
        List<Latency> latencies = latencies(stats.latencies());
        if (!latencies.isEmpty()) {
            text.append(new TextTable<Latency>()
                    .left("latency", Latency::name, "")
                    .right("p50", each -> percentileCell(each.times(), 50), "")
                    .right("p90", each -> percentileCell(each.times(), 90), "")
                    .right("p99", each -> percentileCell(each.times(), 99), "")
                    .right("max within 1 %", each -> percentileCell(each.times(), 100), "")
                    .right("of", each -> count(each.times().count()), "")
                    .render(latencies));
        }
        counts(text, stats);
        causes(text, stats);
        waits(text, stats);
        return text.toString();
    }

    private static List<Latency> latencies(RequestStats.Latencies all) {
        return List.of(
                        new Latency("time to first token", all.timeToFirstToken()),
                        new Latency("queue time", all.queueTime()),
                        new Latency("inter-token latency", all.interToken()),
                        new Latency("time per output token", all.timePerOutputToken()),
                        new Latency("duration", all.duration()))
                .stream()
                .filter(each -> each.times().count() > 0)
                .toList();
    }

    private static void counts(StringBuilder text, RequestStats stats) {
        RequestStats.Counts counts = stats.counts();
        List<String> parts = new ArrayList<>();
        parts.add(count(counts.arrived()) + " arrived");
        for (Outcome outcome : Outcome.values()) {
            long number = counts.finished(outcome);
            if (number > 0) {
                parts.add(count(number) + " " + outcome.name().toLowerCase(Locale.ROOT));
            }
        }
        if (counts.waiting() > 0) {
            parts.add(count(counts.waiting()) + " waiting");
        }
        if (counts.running() > 0) {
            parts.add(count(counts.running()) + " running");
        }
        text.append("Requests: ").append(String.join(", ", parts)).append(".\n");
        if (stats.hasRequests()) {
            text.append(RequestFields.countedFromText(stats.countedFrom())).append('\n');
        }
        RequestStats.Tokens tokens = stats.tokens();
        if (counts.allFinished() > 0) {
            text.append("Tokens of finished requests: ")
                    .append(count(tokens.prompt()))
                    .append(" of prompts")
                    .append(tokens.cached() == 0 ? "" : " (" + count(tokens.cached()) + " cached)")
                    .append(", ")
                    .append(count(tokens.output()))
                    .append(" of output.\n");
        }
        if (counts.abandoned() > 0) {
            text.append("Requests that were given up without a finish: ")
                    .append(count(counts.abandoned()))
                    .append(".\n");
        }
        if (counts.ignoredCalls() > 0) {
            text.append(
                            "Calls that did not fit their request or step, and changed nothing or less than they asked for: ")
                    .append(count(counts.ignoredCalls()))
                    .append(". The log names each kind.\n");
        }
    }

    private static void causes(StringBuilder text, RequestStats stats) {
        long firstTokens = stats.latencies().timeToFirstToken().count();
        long allNs =
                stats.causeNs().values().stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
        if (firstTokens == 0 && allNs == 0) {
            return;
        }
        boolean compares = firstTokens > 1;
        FirstTokens byCause = firstTokens(stats);
        List<Cause> shown = Arrays.stream(Cause.values())
                .filter(cause -> stats.causeNs(cause) > 0 || (compares && byCause.isKnown(cause)))
                .toList();
        text.append("\nCauses of the time of requests")
                .append(compares ? ", up to the first token, and in all" : "")
                .append("\n\n")
                .append(new TextTable<Cause>()
                        .left("cause", Cause::displayName, "all causes")
                        .rightIf(compares, "median", cause -> meanCell(byCause.median(), cause), "")
                        .rightIf(compares, byCause.slowestName(), cause -> meanCell(byCause.slowest(), cause), "")
                        .right("all", cause -> durationCell(stats.causeNs(cause)), durationCell(allNs))
                        .right(
                                "% of all",
                                cause -> allNs == 0 ? "-" : percent(100.0 * stats.causeNs(cause) / allNs), "")
                        .render(shown));
        excess(stats).ifPresent(sentence -> text.append(sentence).append('\n'));
    }

    /** Appends the second split of the time queued and stalled, unless no request waited. */
    private static void waits(StringBuilder text, RequestStats stats) {
        long allNs = stats.waits().allNs();
        if (allNs > 0 && !stats.waits().sources().isEmpty()) {
            List<Wait> shown = Arrays.stream(Wait.values())
                    .filter(wait -> stats.waits().ns(wait) > 0)
                    .toList();
            text.append("\nWaits of queued and stalled requests\n\n")
                    .append(new TextTable<Wait>()
                            .left("wait", Wait::displayName, "all waits")
                            .right("all", wait -> durationCell(stats.waits().ns(wait)), durationCell(allNs))
                            .right(
                                    "% of all",
                                    wait -> percent(100.0 * stats.waits().ns(wait) / allNs), "")
                            .render(shown));
        }
        String from = waitsFrom(stats);
        text.append(from.isEmpty() ? "" : from + "\n");
    }

    /** Returns where waits are known from, and the slowest request that a lock blocked; empty if no request waited. */
    static String waitsFrom(RequestStats stats) {
        RequestStats.Waits waits = stats.waits();
        if (waits.allNs() == 0) {
            return "";
        }
        if (waits.sources().isEmpty()) {
            return "Garbage collections, locks, throttling and missing processors of waiting requests are unknown: no"
                    + " flight recording ran.";
        }
        return "Waits are known from " + PlainText.ascii(String.join(", ", waits.sources()))
                + ", up to two seconds after a request has finished."
                + mostBlocked(stats).map(each -> " " + blockedText(each)).orElse("");
    }

    private static Optional<RequestRecord> mostBlocked(RequestStats stats) {
        return Stream.concat(stats.slowestFirstTokens().stream(), stats.longestGaps().stream())
                .filter(each -> each.lock().isPresent() && blockedNs(each) > 0)
                .max(Comparator.comparingLong(RequestText::blockedNs));
    }

    private static long blockedNs(RequestRecord request) {
        return request.waitNs().getOrDefault(Wait.BLOCKED, 0L);
    }

    private static String blockedText(RequestRecord request) {
        return "Of the slowest requests, "
                + PlainText.ascii(request.identity().id().orElse("one"))
                + " was blocked longest: " + duration(blockedNs(request)) + ", most of it by "
                + PlainText.ascii(request.lock().orElseThrow()) + ".";
    }

    private static FirstTokens firstTokens(RequestStats stats) {
        long firstTokens = stats.latencies().timeToFirstToken().count();
        return firstTokens > 1 ? FirstTokens.of(stats, firstTokens) : new FirstTokens("", Map.of(), Map.of());
    }

    /** Returns a sentence that splits the excess of the slowest requests by cause, if there is any. */
    static Optional<String> excess(RequestStats stats) {
        FirstTokens byCause = firstTokens(stats);
        return byCause.totalExcess() > 0 ? Optional.of(sentence(byCause)) : Optional.empty();
    }

    private static String meanCell(Map<Cause, Double> means, Cause cause) {
        double ns = means.getOrDefault(cause, 0.0);
        return ns == 0 ? "-" : durationCell(ns);
    }

    private static String sentence(FirstTokens byCause) {
        double excess = byCause.totalExcess();
        List<String> parts = byCause.slowest().keySet().stream()
                .filter(cause -> byCause.excess(cause) >= LEAST_SHARE * excess)
                .sorted(Comparator.<Cause>comparingDouble(byCause::excess).reversed())
                .limit(CAUSES_NAMED)
                .map(cause -> duration(byCause.excess(cause)) + " " + cause.displayName())
                .toList();
        return "The " + byCause.slowestName() + " waited " + duration(excess)
                + " longer for the first token than the median: " + String.join(", ", parts) + ".";
    }
}
