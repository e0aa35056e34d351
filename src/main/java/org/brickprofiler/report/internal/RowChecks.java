package org.brickprofiler.report.internal;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.request.Cause;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the values of a record agree with each other: that averages lie between the extremes, parts do not exceed
 * the whole, and a distribution has the samples of its record. A value that a file lacks is not compared. Stateless;
 * any thread.
 */
public final class RowChecks {

    /** The most samples that a profile can have: a sample each nanosecond of 104 days. */
    public static final long MOST_SAMPLES = 1L << 53;

    /** The most bricks of a report, those of its phases included; each takes some hundreds of bytes of the heap. */
    public static final int MOST_BRICKS = 1 << 20;

    /**
     * The extremes of a window that are known from its distribution have this relative error, which an average may
     * exceed. An average also lacks the remainder of its division.
     */
    private static final double ERROR_OF_EXTREMES = 2 * LatencyBuckets.RELATIVE_ERROR;

    /** A sum of durations differs by no more than this share from that of its distribution. */
    private static final double ERROR_OF_SUMS = 1.0 / 8;

    /**
     * From this number of samples on, the distribution of a profile that was read while threads recorded may lack the
     * latest samples.
     */
    private static final long EXACT_BELOW = 512;

    /** From this duration on, all durations share the last bucket of a distribution. */
    private static final long LONGEST_BUCKET_NS = LatencyBuckets.lowestNs(LatencyBuckets.COUNT - 1);

    private static final Times SAMPLES = new Times("count", "total_ns", "min_ns", "max_ns", true);
    private static final Times STEPS = new Times("count", "total_ns", "min_ns", "max_ns", false);
    private static final Times LAUNCHES = new Times("launches", "launch_ns", "min_launch_ns", "max_launch_ns", false);

    private static final int LONGEST_NAME = 60;

    private RowChecks() {}

    /**
     * The keys of the number, the sum and the extremes of some durations.
     *
     * @param hasOldForm whether older files have the extremes in microseconds only
     */
    private record Times(String count, String sum, String min, String max, boolean hasOldForm) {}

    /**
     * Checks a brick.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link ProfileFields#BRICK}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void brick(JsonInput input, Row row) throws IOException {
        String what = "brick " + named(row, "name");
        samples(input, what, row);
        times(input, what, row, SAMPLES);
        long longest = row.durationNs("max_ns", "max_us");
        if (row.whole("last_ns") > 0 && longest > 0 && row.whole("last_ns") > longest + errorNs((double) longest)) {
            throw contradiction(input, what, row, "last_ns", "max_ns");
        }
        atMost(input, what, row, "max_cycles", "total_cycles");
        Row device = row.get(Row.class, "device");
        boolean isEstimated = device != null && device.whole("unmarked") > 0;
        if (isEstimated != row.whole("estimated") > 0 || (!isEstimated && row.has("standard_error_ns"))) {
            throw input.error(what + " contradicts itself: estimated is " + (row.whole("estimated") > 0)
                    + (row.has("standard_error_ns") ? ", standard_error_ns is " + row.real("standard_error_ns", 0) : "")
                    + ", and unmarked is " + (device == null ? 0 : device.whole("unmarked")));
        }
        if (row.has("standard_error_ns") != row.has("degrees_of_freedom")) {
            throw input.error(what + " has one of standard_error_ns and degrees_of_freedom: it needs both or none");
        }
        // An estimate and its distribution weigh the latest samples differently.
        spread(input, what, row, "latency", "count", isEstimated ? null : "total_ns");
        if (device != null) {
            atMost(input, what, device, "launches", "device_samples");
            atMost(input, what, device, "without_start", "unresolved");
            times(input, what, device, LAUNCHES);
        }
        Row work = row.get(Row.class, "work");
        if (work != null && work.whole("work_samples") > row.whole("count")) {
            throw input.error(what + " contradicts itself: work_samples " + work.whole("work_samples")
                    + " is above count " + row.whole("count"));
        }
    }

    /**
     * Checks a tile level.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link ProfileFields#TILE}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void tile(JsonInput input, Row row) throws IOException {
        samples(input, "tile level", row);
        times(input, "tile level", row, SAMPLES);
    }

    /**
     * Checks a stream.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link ProfileFields#STREAM}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void stream(JsonInput input, Row row) throws IOException {
        String what = "stream " + named(row, "stream");
        if ((double) row.whole("shortest_gap_ns") * row.whole("gaps") > row.whole("idle_ns")) {
            throw contradiction(input, what, row, "shortest_gap_ns", "idle_ns");
        }
    }

    /**
     * Checks the steps of a phase.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link ProfileFields#PHASE}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void steps(JsonInput input, Row row) throws IOException {
        String what = "the steps of a phase";
        samples(input, what, row);
        times(input, what, row, STEPS);
        atMost(input, what, row, "attributed", "count");
        atMost(input, what, row, "cpu_steps", "count");
        atMost(input, what, row, "accepted_tokens", "drafted_tokens");
        atMost(input, what, row, "accepted_tokens", "output_tokens");
        Map<?, ?> categories = row.get(Map.class, "category_ns");
        boolean isAttributed =
                categories != null && categories.values().stream().anyMatch(ns -> !ns.equals(0L));
        if (isAttributed && row.has("attributed") && row.whole("attributed") == 0) {
            throw input.error(what + " contradict each other: category_ns has times, and attributed is 0");
        }
        Buckets durations = buckets(row.get(Row.class, "durations"));
        if (durations != null && durations.all() > 0) {
            spread(input, what, row, "durations", "count", "total_ns");
        }
    }

    /**
     * Checks the requests of a profile.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link RequestFields#REQUESTS}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void requests(JsonInput input, Row row) throws IOException {
        atMost(input, "the requests", row, "cached_tokens", "prompt_tokens");
        Buckets durations = buckets(row.get(Row.class, "duration"));
        long finished = RequestFields.finished(row);
        if (durations != null && durations.all() != finished) {
            throw input.error("the requests contradict each other: " + finished + " finished, and the distribution"
                    + " duration has " + durations.all());
        }
        long live = Sums.limited(row.whole("waiting"), row.whole("running"));
        if (RequestFields.oldestLive(row) > live) {
            throw input.error("the requests contradict each other: " + live + " are live, and oldest_live has "
                    + RequestFields.oldestLive(row));
        }
        Buckets firstTokens = buckets(row.get(Row.class, "time_to_first_token"));
        for (Map.Entry<Integer, Map<Cause, Long>> each : RequestFields.firstTokens(row)) {
            boolean hasTime = each.getValue().values().stream().anyMatch(ns -> ns > 0);
            if (hasTime && (firstTokens == null || !firstTokens.has(each.getKey()))) {
                throw input.error("the requests contradict each other: first_tokens has times of bucket "
                        + each.getKey() + ", in which time_to_first_token has no request");
            }
        }
    }

    /**
     * Checks a measured cost.
     *
     * @param input the text, at the end of the record
     * @param row a row of {@link ProfileFields#SPREAD}
     * @throws IOException when two of its values contradict each other; the message names both
     */
    public static void cost(JsonInput input, Row row) throws IOException {
        for (List<String> pair : List.of(List.of("low", "median"), List.of("median", "high"))) {
            double lower = row.real(pair.get(0), 0);
            double upper = row.real(pair.get(1), Double.MAX_VALUE);
            if (lower > upper) {
                throw input.error("a cost contradicts itself: " + pair.get(0) + " " + lower + " is above " + pair.get(1)
                        + " " + upper);
            }
        }
    }

    private static String named(Row row, String key) {
        return PlainText.shortened(PlainText.ascii(row.get(key, "without a name")), LONGEST_NAME);
    }

    private static void samples(JsonInput input, String what, Row row) throws IOException {
        if (row.whole("count") > MOST_SAMPLES) {
            throw input.error(what + " has the count " + row.whole("count") + ", more than " + MOST_SAMPLES);
        }
    }

    /** Checks a sum of durations against their number, the shortest one and the longest one. */
    private static void times(JsonInput input, String what, Row row, Times keys) throws IOException {
        String count = keys.count;
        String sum = keys.sum;
        String min = keys.min;
        String max = keys.max;
        long shortest = keys.hasOldForm ? row.durationNs(min, "min_us") : row.whole(min);
        long longest = keys.hasOldForm ? row.durationNs(max, "max_us") : row.whole(max);
        if (longest > 0 && shortest > longest) {
            throw input.error(
                    what + " contradicts itself: " + min + " " + shortest + " is above " + max + " " + longest);
        }
        if (!row.has(count) || !row.has(sum) || row.whole(sum) == Long.MAX_VALUE) {
            return;
        }
        if (row.whole(count) == 0) {
            if (row.whole(sum) > 0 || longest > 0) {
                throw contradiction(input, what, row, row.whole(sum) > 0 ? sum : max, count);
            }
            return;
        }
        double average = (double) row.whole(sum) / row.whole(count);
        boolean isBelow = average + errorNs(average) < shortest;
        boolean isAbove = longest > 0 && longest < LONGEST_BUCKET_NS && average > longest + errorNs((double) longest);
        if (isBelow || isAbove) {
            throw input.error(what + " contradicts itself: " + sum + " " + row.whole(sum) + " of "
                    + Plural.of(row.whole(count), "sample") + " is an average of " + Math.round(average) + " ns, "
                    + (isBelow ? "below " + min + " " + shortest : "above " + max + " " + longest));
        }
    }

    private static double errorNs(double ns) {
        return 1 + ns * ERROR_OF_EXTREMES;
    }

    /** Checks a distribution against the number of its samples and, unless null, the sum of their durations. */
    private static void spread(JsonInput input, String what, Row row, String key, String count, @Nullable String sum)
            throws IOException {
        Buckets buckets = buckets(row.get(Row.class, key));
        if (buckets == null || !row.has(count)) {
            return;
        }
        long samples = row.whole(count);
        boolean isCountWrong = samples < EXACT_BELOW
                ? buckets.all() != samples
                : buckets.all() < samples / 2 || buckets.all() / 2 > samples;
        if (isCountWrong) {
            throw input.error(what + " contradicts itself: " + key + " has " + buckets.all()
                    + " samples in its buckets, and " + count + " is " + samples);
        }
        if (sum == null) {
            return;
        }
        double lowest = buckets.lowestSumNs() * (1 - ERROR_OF_SUMS);
        double highest = buckets.endOfSumNs() * (1 + ERROR_OF_SUMS);
        boolean isComparable = buckets.all() == samples && row.has(sum) && row.whole(sum) < Long.MAX_VALUE;
        if (isComparable && (row.whole(sum) < lowest || row.whole(sum) > highest)) {
            throw input.error(what + " contradicts itself: the buckets of " + key + " sum to " + (long) lowest + " to "
                    + (long) highest + " ns, and " + sum + " is " + row.whole(sum));
        }
    }

    private static @Nullable Buckets buckets(@Nullable Row distribution) {
        return distribution == null ? null : distribution.get(Buckets.class, "buckets");
    }

    private static void atMost(JsonInput input, String what, Row row, String part, String whole) throws IOException {
        if (row.has(part) && row.has(whole) && row.whole(part) > row.whole(whole)) {
            throw contradiction(input, what, row, part, whole);
        }
    }

    private static IOException contradiction(JsonInput input, String what, Row row, String one, String other) {
        return input.error(what + " contradicts itself: " + one + " is " + row.whole(one) + ", and " + other + " is "
                + row.whole(other));
    }
}
