package org.brickprofiler.report;

import java.io.IOException;
import java.util.Arrays;
import java.util.Optional;
import org.brickprofiler.Bottleneck;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.record.LatencyBuckets;
import org.jspecify.annotations.Nullable;

/** Reads the entry of one brick. One thread. */
final class BrickReader {

    private static final double NS_PER_S = 1e9;

    private final JsonInput input;
    private final NumberFields numbers;

    private @Nullable String name;
    private @Nullable BrickCategory category;
    private Bottleneck bottleneck = Bottleneck.UNKNOWN;
    private @Nullable LatencyDistribution latency;
    private DeviceTime device = DeviceTime.NONE;

    private BrickReader(JsonInput input) {
        this.input = input;
        this.numbers = new NumberFields(input);
    }

    /**
     * Reads an entry.
     *
     * @param input before the entry; after it on return
     * @return the brick
     * @throws IOException when a value is wrong
     */
    static BrickStats read(JsonInput input) throws IOException {
        BrickReader reader = new BrickReader(input);
        input.object("brick", reader::field);
        return reader.brick();
    }

    private void field(String key) throws IOException {
        switch (key) {
            case "name" -> name = input.text(key);
            case "category" -> category = input.oneOf(key, BrickCategory.values(), BrickCategory::displayName);
            case "bottleneck" -> bottleneck = input.oneOf(key, Bottleneck.values(), Bottleneck::name);
            case "count",
                    "total_ns",
                    "min_ns",
                    "max_ns",
                    "last_ns",
                    "last_at_unix_ns",
                    "total_elements",
                    "total_bytes",
                    "total_compressed_bytes",
                    "total_cycles",
                    "min_cycles",
                    "max_cycles" -> numbers.readWhole(key);
            case "min_us", "max_us", "throughput", "compression_ratio" -> numbers.readReal(key);
            case "latency" -> latency = latency();
            case "device" -> device = device(key);
            default -> input.skip();
        }
    }

    private BrickStats brick() throws IOException {
        if (name == null) {
            throw input.error("a brick has no name");
        }
        return new BrickStats(
                name,
                category == null ? usualCategory(name) : category,
                bottleneck,
                numbers.whole("count"),
                numbers.whole("total_ns"),
                numbers.durationNs("min_ns", "min_us"),
                numbers.durationNs("max_ns", "max_us"),
                numbers.whole("last_ns"),
                numbers.whole("last_at_unix_ns"),
                elements(),
                numbers.whole("total_bytes"),
                compressedBytes(),
                numbers.whole("total_cycles"),
                numbers.whole("min_cycles"),
                numbers.whole("max_cycles"),
                Optional.ofNullable(latency),
                device);
    }

    private DeviceTime device(String within) throws IOException {
        NumberFields fields = new NumberFields(input);
        input.object(within, key -> {
            switch (key) {
                case "device_samples", "launches", "launch_ns", "min_launch_ns", "max_launch_ns", "unresolved" ->
                    fields.readWhole(key);
                default -> input.skip();
            }
        });
        return new DeviceTime(
                fields.whole("device_samples"),
                fields.whole("launches"),
                fields.whole("launch_ns"),
                fields.whole("min_launch_ns"),
                fields.whole("max_launch_ns"),
                fields.whole("unresolved"));
    }

    private static BrickCategory usualCategory(String name) {
        return BrickId.parse(name).map(BrickId::category).orElse(BrickCategory.OTHER);
    }

    private long elements() {
        return numbers.has("total_elements")
                ? numbers.whole("total_elements")
                : Math.round(numbers.real("throughput", 0.0) * numbers.whole("total_ns") / NS_PER_S);
    }

    private long compressedBytes() {
        // A ratio of 1 is also what is written where nothing was compressed.
        double ratio = numbers.real("compression_ratio", 1.0);
        return numbers.has("total_compressed_bytes") || ratio == 1.0 || ratio == 0.0
                ? numbers.whole("total_compressed_bytes")
                : Math.round(numbers.whole("total_bytes") / ratio);
    }

    private @Nullable LatencyDistribution latency() throws IOException {
        long[] counts = new long[LatencyBuckets.COUNT];
        boolean[] found = new boolean[1];
        input.object("latency", key -> {
            switch (key) {
                case "relative_error" -> requireSameBuckets(key);
                case "buckets" -> {
                    found[0] = true;
                    input.array(key, () -> bucket(counts));
                }
                default -> input.skip();
            }
        });
        return found[0] ? LatencyDistribution.ofCounts(counts) : null;
    }

    private void requireSameBuckets(String key) throws IOException {
        if (input.real(key, 1.0) != LatencyDistribution.RELATIVE_ERROR) {
            throw input.wrong(key, "is that of other buckets; here it is " + LatencyDistribution.RELATIVE_ERROR);
        }
    }

    private void bucket(long[] counts) throws IOException {
        long[] pair = {-1, -1};
        int[] length = {0};
        input.array("bucket", () -> {
            boolean isIndex = length[0] == 0;
            if (length[0] < pair.length) {
                pair[length[0]] = isIndex
                        ? input.whole("bucket number", 0, counts.length - 1L)
                        : input.whole("bucket count", 0, Long.MAX_VALUE);
            }
            length[0]++;
        });
        if (length[0] != pair.length) {
            throw input.error("a bucket has " + length[0] + " numbers instead of its own number and its count");
        }
        counts[(int) pair[0]] = pair[1];
    }
}
