package org.brickprofiler;

import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
        return BrickStats.builder(name, category)
                .bottleneck(bottleneck)
                .samples(
                        samples,
                        Arrays.stream(durationsNs).sum(),
                        Arrays.stream(durationsNs).min().orElseThrow(),
                        Arrays.stream(durationsNs).max().orElseThrow())
                .last(durationsNs[samples - 1], firstAtUnixNs + samples - 1)
                .elements(samples)
                .latency(Optional.of(LatencyDistribution.ofCounts(counts)))
                .build();
    }

    static ProfileSnapshot snapshot(List<BrickStats> bricks, List<TileStats> tiles) {
        return ProfileSnapshot.builder(Instant.ofEpochSecond(100), Instant.ofEpochSecond(101), 1_000_000_000)
                .threads(1, false)
                .environments(List.of(MACHINE))
                .bricks(bricks)
                .tiles(tiles)
                .build();
    }

    static ProfileSnapshot snapshot(BrickStats... bricks) {
        return snapshot(List.of(bricks), List.of());
    }
}
