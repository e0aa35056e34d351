package org.brickprofiler.report.internal;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.util.Arrays;
import java.util.BitSet;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;

/** The buckets of one distribution that have samples, as they were read. One thread; reused. */
public final class Buckets {

    private static final int PAIR = 2;

    private final BitSet seen = new BitSet(LatencyBuckets.COUNT);
    private final long[] pair = new long[PAIR];
    private int[] numbers = new int[64];
    private long[] samples = new long[64];
    private int size;

    /** The samples of all buckets. */
    private long sum;

    /** How many numbers of the current bucket were read. */
    private int length;

    /** Creates an object that has no buckets until a distribution is read. */
    public Buckets() {}

    /** Reads the buckets of a distribution, which replace the previous ones. */
    void read(JsonInput input, String key) throws IOException {
        size = 0;
        sum = 0;
        seen.clear();
        // One object for all buckets of a distribution: a fleet has billions of buckets.
        JsonInput.ItemReader numberOrCount = () -> numberOrCount(input);
        input.array(key, () -> {
            length = 0;
            input.array("bucket", numberOrCount);
            add(input);
        });
    }

    private void numberOrCount(JsonInput input) throws IOException {
        if (length < PAIR) {
            pair[length] = length == 0
                    ? input.whole("bucket number", 0, LatencyBuckets.COUNT - 1L)
                    : input.whole("bucket count", 0, Long.MAX_VALUE);
        }
        length++;
    }

    private void add(JsonInput input) throws IOException {
        if (length != PAIR) {
            throw input.error("a bucket has " + length + " numbers instead of its own number and its count");
        }
        int number = (int) pair[0];
        if (seen.get(number)) {
            throw input.error("bucket " + number + " occurs twice in a distribution");
        }
        seen.set(number);
        sum += pair[1];
        if (sum < 0) {
            throw input.error("the buckets of a distribution have more than 2^63 - 1 samples");
        }
        if (size == numbers.length) {
            numbers = Arrays.copyOf(numbers, 2 * size);
            samples = Arrays.copyOf(samples, 2 * size);
        }
        numbers[size] = number;
        samples[size++] = pair[1];
    }

    /** Writes the counts of buckets that are not 0. */
    static void write(JsonGenerator json, String key, long[] counts) throws IOException {
        json.writeArrayFieldStart(key);
        for (int bucket = 0; bucket < counts.length; bucket++) {
            if (counts[bucket] > 0) {
                json.writeArray(new long[] {bucket, counts[bucket]}, 0, PAIR);
            }
        }
        json.writeEndArray();
    }

    /**
     * Returns how many buckets were read.
     *
     * @return 0 or more
     */
    public int size() {
        return size;
    }

    /**
     * Returns the number of a bucket.
     *
     * @param i its place in the text, below {@link #size()}
     * @return the number, below {@link LatencyBuckets#COUNT}
     */
    public int number(int i) {
        return numbers[i];
    }

    /**
     * Returns the samples of a bucket.
     *
     * @param i its place in the text, below {@link #size()}
     * @return 0 or more
     */
    public long samples(int i) {
        return samples[i];
    }

    /** Returns the samples of all buckets. */
    long all() {
        return sum;
    }

    /** Returns whether a bucket was read. */
    boolean has(int number) {
        return seen.get(number);
    }

    /** Returns the smallest sum of durations that the samples can have, ns. */
    double lowestSumNs() {
        double lowest = 0;
        for (int i = 0; i < size; i++) {
            lowest += (double) samples[i] * LatencyBuckets.lowestNs(numbers[i]);
        }
        return lowest;
    }

    /** Returns the bound below which the sum of durations of the samples lies, ns; the last bucket has none. */
    double endOfSumNs() {
        double end = 0;
        for (int i = 0; i < size; i++) {
            boolean isLast = numbers[i] == LatencyBuckets.COUNT - 1;
            end += isLast && samples[i] > 0
                    ? Double.POSITIVE_INFINITY
                    : (double) samples[i] * LatencyBuckets.lowestNs(numbers[i] + 1);
        }
        return end;
    }

    /**
     * Returns the distribution.
     *
     * @return all buckets
     */
    public LatencyDistribution distribution() {
        int first = LatencyBuckets.COUNT;
        int last = -1;
        for (int i = 0; i < size; i++) {
            first = Math.min(first, numbers[i]);
            last = Math.max(last, numbers[i]);
        }
        if (last < 0) {
            return LatencyDistribution.EMPTY;
        }
        long[] counts = new long[last - first + 1];
        for (int i = 0; i < size; i++) {
            counts[numbers[i] - first] = samples[i];
        }
        return LatencyDistribution.ofCounts(first, counts);
    }
}
