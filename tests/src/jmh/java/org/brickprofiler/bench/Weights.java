package org.brickprofiler.bench;

import java.util.Arrays;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/**
 * A buffer in place of a model's weights: reading it leaves nothing else in the caches. One size exceeds the caches of
 * a core, the other those of the whole processor.
 */
@State(Scope.Thread)
public class Weights {

    private static final int LONGS_A_LINE = 8;

    @Param({"24", "256"})
    public int megabytes;

    private long[] longs = {};

    /** Makes the buffer; until then reading it leaves the caches as they are. */
    void load() {
        longs = new long[megabytes << 17];
        Arrays.fill(longs, 1);
    }

    /** Returns the number of shots of a path, each of which follows a reading of the buffer; the number is odd. */
    int shots() {
        return 1 + 2 * (megabytes < 100 ? 100 : 20);
    }

    void read() {
        long sum = 0;
        for (int i = 0; i < longs.length; i += LONGS_A_LINE) {
            sum += longs[i];
        }
        if (sum != longs.length / LONGS_A_LINE) {
            throw new IllegalStateException("the weights are not what they were: " + sum);
        }
    }

    /** Returns the median of an odd number of times, which it sorts. */
    static double median(long[] times) {
        Arrays.sort(times);
        return times[times.length / 2];
    }
}
