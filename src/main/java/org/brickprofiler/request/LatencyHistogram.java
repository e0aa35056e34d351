package org.brickprofiler.request;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.brickprofiler.internal.base.Sums;

/**
 * One latency of finished requests, counted at fixed bounds, for systems that add up and subtract the histograms of
 * several processes and moments. A request is counted when it finishes, and each count is exact. Immutable.
 *
 * @param kind the latency
 * @param counts requests up to each bound and above the previous one; the last count is that above all bounds
 * @param sumNs the sum of the latencies, ns
 */
public record LatencyHistogram(Kind kind, List<Long> counts, long sumNs) {

    private static final long NS_PER_MS = 1_000_000;

    /** The bounds of the time to first token, of which the time in the queue is a part. */
    private static final long[] FIRST_TOKEN_MS = {
        1, 5, 10, 20, 40, 60, 80, 100, 250, 500, 750, 1_000, 2_500, 5_000, 7_500, 10_000
    };

    /**
     * The latencies. The bounds of the time to first token, the time per output token and the duration are those that
     * OpenTelemetry's semantic conventions for generative AI advise for {@code gen_ai.server.time_to_first_token},
     * {@code gen_ai.server.time_per_output_token} and {@code gen_ai.server.request.duration}.
     */
    public enum Kind {
        /** The time that a request waited for its first step: {@link RequestRecord#queueNs}. */
        QUEUE_TIME(FIRST_TOKEN_MS),
        /** The time from the arrival to the first token, of the requests that got a token. */
        TIME_TO_FIRST_TOKEN(FIRST_TOKEN_MS),
        /** (last token - first token) / (tokens - 1), of the requests that got two tokens or more. */
        TIME_PER_OUTPUT_TOKEN(10, 25, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 2_500),
        /** The time from the arrival to the finish. */
        DURATION(10, 20, 40, 80, 160, 320, 640, 1_280, 2_560, 5_120, 10_240, 20_480, 40_960, 81_920);

        @SuppressWarnings("ImmutableEnumChecker") // never changed
        private final long[] boundsNs;

        Kind(long... boundsMs) {
            boundsNs = boundsMs.clone();
            for (int i = 0; i < boundsNs.length; i++) {
                boundsNs[i] *= NS_PER_MS;
            }
        }

        /**
         * Returns the bounds.
         *
         * @return ns, ascending; a latency that equals a bound is counted there
         */
        public List<Long> boundsNs() {
            return LongStream.of(boundsNs).boxed().toList();
        }

        /** Returns the number of counts: one for each bound, and one for longer latencies. */
        int buckets() {
            return boundsNs.length + 1;
        }

        /** Returns the number of the count of a latency. */
        int bucketOf(long ns) {
            int bucket = 0;
            while (bucket < boundsNs.length && ns > boundsNs[bucket]) {
                bucket++;
            }
            return bucket;
        }

        /** Returns the number of this kind; the only reader of the ordinal. */
        @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
        int index() {
            return ordinal();
        }
    }

    /**
     * Copies the counts.
     *
     * @throws IllegalArgumentException when a number is negative, or there are not as many counts as the kind has
     *     bounds, and one more
     */
    public LatencyHistogram {
        Objects.requireNonNull(kind, "kind");
        counts = List.copyOf(Objects.requireNonNull(counts, "counts"));
        requireNotNegative("sumNs", sumNs);
        if (counts.size() != kind.buckets()) {
            throw new IllegalArgumentException(
                    counts.size() + " counts of " + kind + ", which has " + (kind.buckets() - 1) + " bounds");
        }
        counts.forEach(count -> requireNotNegative("count", count));
    }

    /**
     * Returns a histogram without requests.
     *
     * @param kind the latency
     * @return counts of 0
     */
    public static LatencyHistogram empty(Kind kind) {
        return new LatencyHistogram(
                kind, IntStream.range(0, kind.buckets()).mapToObj(i -> 0L).toList(), 0);
    }

    /**
     * Returns the number of requests.
     *
     * @return the sum of the counts
     */
    public long count() {
        return counts.stream().mapToLong(Long::longValue).reduce(0, Sums::limited);
    }

    /**
     * Returns the requests of both.
     *
     * @param other a histogram of the same kind
     * @return the sum of both
     * @throws IllegalArgumentException when it is of another kind
     */
    public LatencyHistogram plus(LatencyHistogram other) {
        requireSame(other);
        return new LatencyHistogram(
                kind,
                IntStream.range(0, counts.size())
                        .mapToObj(i -> Sums.limited(counts.get(i), other.counts.get(i)))
                        .toList(),
                Sums.limited(sumNs, other.sumNs));
    }

    /** Returns the requests that an earlier reading of the same recorder lacks. */
    LatencyHistogram since(LatencyHistogram earlier) {
        requireSame(earlier);
        return new LatencyHistogram(
                kind,
                IntStream.range(0, counts.size())
                        .mapToObj(i -> counts.get(i) - earlier.counts.get(i))
                        .toList(),
                sumNs - earlier.sumNs);
    }

    private void requireSame(LatencyHistogram other) {
        if (kind != other.kind) {
            throw new IllegalArgumentException("histograms of " + kind + " and of " + other.kind);
        }
    }
}
