package org.brickprofiler;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.tile.TileStats;

/** Results made by hand, as the library would have made them from the same samples. */
final class Samples {

    static final Environment MACHINE = new Environment("17.0.1", "VM 1", "OS 2", "arch", "cpu", 4, 10);

    private Samples() {}

    /** A brick with the given durations, one element each, recorded at 1, 2, 3 ... ns since 1970. */
    static BrickStats brick(String name, BrickCategory category, long... durationsNs) {
        return brick(name, category, Bottleneck.UNKNOWN, 1, durationsNs);
    }

    static BrickStats brick(
            String name, BrickCategory category, Bottleneck bottleneck, long firstAtUnixNs, long... durationsNs) {
        if (durationsNs.length == 0) {
            return BrickStats.empty(name, category, bottleneck);
        }
        long[] counts = new long[LatencyBuckets.COUNT];
        for (long ns : durationsNs) {
            counts[LatencyBuckets.indexOf(ns)]++;
        }
        int samples = durationsNs.length;
        return new BrickStats(
                name,
                category,
                bottleneck,
                samples,
                Arrays.stream(durationsNs).sum(),
                Arrays.stream(durationsNs).min().orElseThrow(),
                Arrays.stream(durationsNs).max().orElseThrow(),
                durationsNs[samples - 1],
                firstAtUnixNs + samples - 1,
                samples,
                0,
                0,
                0,
                0,
                0,
                Optional.of(LatencyDistribution.ofCounts(counts)));
    }

    static ProfileSnapshot snapshot(List<BrickStats> bricks, List<TileStats> tiles) {
        return new ProfileSnapshot(
                Instant.ofEpochSecond(100),
                Instant.ofEpochSecond(101),
                1_000_000_000,
                1,
                false,
                0,
                0,
                OptionalDouble.empty(),
                false,
                List.of(MACHINE),
                bricks,
                tiles);
    }

    static ProfileSnapshot snapshot(BrickStats... bricks) {
        return snapshot(List.of(bricks), List.of());
    }
}
