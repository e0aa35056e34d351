package org.brickprofiler.cli;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;

/**
 * A service-level objective (SLO) for requests: the longest time to first token, and the longest time per output token.
 * A request meets the objective if it ended with an answer ({@link Outcome#COMPLETED} or {@link Outcome#LENGTH}), got a
 * token, and exceeds neither limit. A request with one token has no time per output token to exceed. <i>Goodput</i> is
 * the number of such requests per second. Immutable; any thread.
 *
 * @param timeToFirstTokenNs the longest time to first token, ns; empty for any
 * @param timePerOutputTokenNs the longest time per output token, ns; empty for any
 */
record ServiceLevel(OptionalLong timeToFirstTokenNs, OptionalLong timePerOutputTokenNs) {

    private static final String FIRST = "ttft";
    private static final String EACH = "tpot";
    private static final double NS_PER_S = 1e9;
    private static final BigDecimal LONGEST_NS = BigDecimal.valueOf(Long.MAX_VALUE);

    /** The units of a duration. The longer names come first, since {@code ms} also ends with {@code s}. */
    private static final Map<String, Long> UNITS = units();

    private static Map<String, Long> units() {
        Map<String, Long> units = new LinkedHashMap<>();
        units.put("ns", 1L);
        units.put("us", 1_000L);
        units.put("ms", 1_000_000L);
        units.put("s", 1_000_000_000L);
        return units;
    }

    /**
     * The requests that met an objective. Immutable.
     *
     * @param requests the requests that the profile keeps: the latest that finished
     * @param finished all requests that finished, kept or not
     * @param met the kept requests that met the objective
     * @param metInSpan those of them that finished in the span
     * @param spanNs the time in which every request that finished is kept, ns. It ends at the last finish. It begins at
     *     the first arrival or, if earlier requests are not kept, at the first finish of a kept one
     */
    record Result(int requests, long finished, int met, int metInSpan, long spanNs) {

        /**
         * Returns the share of the requests that met the objective.
         *
         * @return %; 0 without requests
         */
        double percent() {
            return requests == 0 ? 0 : 100.0 * met / requests;
        }

        /**
         * Returns the requests per second that met the objective.
         *
         * @return 1/s; 0 if the span is empty
         */
        double goodput() {
            return spanNs == 0 ? 0 : metInSpan * NS_PER_S / spanNs;
        }
    }

    /**
     * Checks the limits.
     *
     * @throws IllegalArgumentException when a limit is negative
     */
    ServiceLevel {
        Objects.requireNonNull(timeToFirstTokenNs, "timeToFirstTokenNs");
        Objects.requireNonNull(timePerOutputTokenNs, "timePerOutputTokenNs");
        timeToFirstTokenNs.ifPresent(ns -> requireNotNegative("timeToFirstTokenNs", ns));
        timePerOutputTokenNs.ifPresent(ns -> requireNotNegative("timePerOutputTokenNs", ns));
    }

    /**
     * Reads an objective.
     *
     * @param text limits by name, such as {@code ttft=500ms,tpot=50ms}; one of them may be missing, and units are ns,
     *     us, ms and s
     * @return the objective
     * @throws IllegalArgumentException when the text is something else; the message names the wrong part
     */
    static ServiceLevel parse(String text) {
        OptionalLong first = OptionalLong.empty();
        OptionalLong each = OptionalLong.empty();
        for (String part : Objects.requireNonNull(text, "text").split(",", -1)) {
            int at = part.indexOf('=');
            String name = at < 0 ? part.strip() : part.substring(0, at).strip();
            OptionalLong limit = name.equals(FIRST) ? first : each;
            if (!(name.equals(FIRST) || name.equals(EACH)) || at < 0 || limit.isPresent()) {
                throw new IllegalArgumentException("'" + part + "' in '" + text + "' is no limit: expected " + FIRST
                        + "=DURATION, " + EACH + "=DURATION or both, such as ttft=500ms,tpot=50ms");
            }
            OptionalLong ns = OptionalLong.of(duration(part.substring(at + 1).strip(), part));
            if (name.equals(FIRST)) {
                first = ns;
            } else {
                each = ns;
            }
        }
        return new ServiceLevel(first, each);
    }

    private static long duration(String text, String part) {
        for (Map.Entry<String, Long> unit : UNITS.entrySet()) {
            if (text.endsWith(unit.getKey())) {
                String number = text.substring(0, text.length() - unit.getKey().length())
                        .strip();
                if (number.matches("\\d{1,12}(\\.\\d{1,9})?")) {
                    BigDecimal ns = new BigDecimal(number).multiply(BigDecimal.valueOf(unit.getValue()));
                    if (ns.compareTo(BigDecimal.ONE) >= 0 && ns.compareTo(LONGEST_NS) <= 0) {
                        return ns.longValue();
                    }
                }
                break;
            }
        }
        throw new IllegalArgumentException("'" + part
                + "' has no duration from 1ns to 2^63 - 1 ns (292 years) with a unit, such as 500ms or 1.5s");
    }

    /**
     * Returns whether a request meets the objective.
     *
     * @param request a request that has finished
     * @return true if it does
     */
    boolean isMetBy(RequestRecord request) {
        boolean answered = request.outcome() == Outcome.COMPLETED || request.outcome() == Outcome.LENGTH;
        return answered
                && request.outputTokens() > 0
                && request.timeToFirstTokenNs() <= timeToFirstTokenNs.orElse(Long.MAX_VALUE)
                && request.timePerOutputTokenNs().orElse(0) <= timePerOutputTokenNs.orElse(Long.MAX_VALUE);
    }

    /**
     * Compares the requests that a profile keeps, the latest that finished, with the objective.
     *
     * @param snapshot the profile
     * @return how many of them meet the objective
     */
    Result of(ProfileSnapshot snapshot) {
        List<RequestRecord> records = snapshot.requestTimeline().requests().stream()
                .map(RequestTimeline.Request::record)
                .toList();
        long finished = Math.max(records.size(), snapshot.requests().counts().allFinished());
        boolean isPart = records.size() < finished;
        // If some requests are not kept, those that finished before the first kept finish are unknown. The span then
        // begins at this finish, even if the request arrived long before.
        ToLongFunction<RequestRecord> begins = isPart ? ServiceLevel::finishNs : RequestRecord::arrivedNs;
        long fromNs = records.stream().mapToLong(begins).min().orElse(0);
        long toNs = records.stream().mapToLong(ServiceLevel::finishNs).max().orElse(0);
        List<RequestRecord> met = records.stream().filter(this::isMetBy).toList();
        int metInSpan = (int) met.stream()
                .filter(record -> !isPart || finishNs(record) > fromNs)
                .count();
        return new Result(records.size(), finished, met.size(), metInSpan, toNs - fromNs);
    }

    private static long finishNs(RequestRecord record) {
        return record.arrivedNs() + record.durationNs();
    }

    /**
     * Returns the result for a profile as a sentence. The sentence states whether the profile keeps fewer requests than
     * finished.
     *
     * @param snapshot the profile
     * @return one line that ends with a line break
     */
    String render(ProfileSnapshot snapshot) {
        Result result = of(snapshot);
        if (result.requests == 0) {
            return "No request to compare with " + describe() + ": the profile keeps none that finished.\n";
        }
        boolean isPart = result.requests < result.finished;
        String base = isPart
                ? "the " + Plural.of(result.requests, "request") + " that the profile keeps of "
                        + HumanUnits.count(result.finished) + " that finished"
                : Plural.of(result.requests, "request") + " that finished";
        return HumanUnits.count(result.met) + " of " + base + " met " + describe() + ": "
                + HumanUnits.percent(result.percent()) + " %, a goodput of "
                + (result.spanNs == 0 ? "-" : HumanUnits.number(result.goodput())) + " requests/s"
                + (isPart ? ". The others are not known one by one, so this is no share of all" : "") + ".\n";
    }

    /**
     * Returns the limits and the result for a profile, as further keys of a JSON report.
     *
     * @param snapshot the profile
     * @return numbers by key
     */
    Map<String, ?> values(ProfileSnapshot snapshot) {
        Result result = of(snapshot);
        Map<String, Object> values = new LinkedHashMap<>();
        timeToFirstTokenNs.ifPresent(ns -> values.put("time_to_first_token_ns", ns));
        timePerOutputTokenNs.ifPresent(ns -> values.put("time_per_output_token_ns", ns));
        values.put("requests", result.requests);
        values.put("finished", result.finished);
        values.put("met", result.met);
        values.put("met_pct", result.percent());
        values.put("goodput_per_s", result.goodput());
        return values;
    }

    private String describe() {
        String first = timeToFirstTokenNs.isPresent()
                ? "time to first token up to " + HumanUnits.duration(timeToFirstTokenNs.getAsLong())
                : "";
        String each = timePerOutputTokenNs.isPresent()
                ? "time per output token up to " + HumanUnits.duration(timePerOutputTokenNs.getAsLong())
                : "";
        return (first.isEmpty() || each.isEmpty() ? first + each : first + " and " + each).toLowerCase(Locale.ROOT);
    }
}
