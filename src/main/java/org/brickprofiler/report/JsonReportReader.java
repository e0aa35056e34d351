package org.brickprofiler.report;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadFeature;
import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.jspecify.annotations.Nullable;

/** Reads one report. One thread. */
final class JsonReportReader {

    private static final int HIGHEST_MAJOR_VERSION = 1;

    /** A key that stands twice in an object is a fault: which of its values counts would depend on the parser. */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();

    private final JsonInput input;
    private final NumberFields numbers;
    private final List<Environment> environments = new ArrayList<>();
    private final List<TileStats> tiles = new ArrayList<>();
    private final List<StreamTotals> streams = new ArrayList<>();

    private @Nullable List<BrickStats> bricks;
    private Instant startedAt = Instant.EPOCH;
    private Instant endedAt = Instant.EPOCH;
    private int threads;
    private boolean virtualThreads;
    private boolean zeroCopy;
    private boolean tilesOff;
    private OptionalDouble l2CacheHitRate = OptionalDouble.empty();

    private JsonReportReader(JsonInput input) {
        this.input = input;
        this.numbers = new NumberFields(input);
    }

    /**
     * Reads a report.
     *
     * @param json the text, as UTF-8, UTF-16 or UTF-32; left open
     * @return the profile
     * @throws IOException when the text is no report that this version understands
     */
    static ProfileSnapshot read(InputStream json) throws IOException {
        try (JsonParser parser = parser(json)) {
            JsonReportReader reader = new JsonReportReader(new JsonInput(parser));
            reader.input.document(reader::field);
            return reader.snapshot();
        }
    }

    /**
     * A parser as strict as our readers want it.
     *
     * @param json the text
     * @return a parser before its first token; the caller closes it, and the text with it
     * @throws IOException when the text cannot be read
     */
    static JsonParser parser(InputStream json) throws IOException {
        return FACTORY.createParser(json);
    }

    private void field(String key) throws IOException {
        switch (key) {
            case "schema_version" -> input.version(key, HIGHEST_MAJOR_VERSION);
            case "started_at" -> startedAt = input.moment(key);
            case "ended_at" -> endedAt = input.moment(key);
            case "wall_ns", "overhead_ns", "dropped_pending", "pending", "literal_overlaps" -> numbers.readWhole(key);
            case "threads" -> threads = (int) input.whole(key, 0, Integer.MAX_VALUE);
            case "virtual_threads" -> virtualThreads = input.flag(key);
            case "l2_cache_hit_rate" -> l2CacheHitRate = OptionalDouble.of(input.real(key, 1.0));
            case "zero_copy" -> zeroCopy = input.flag(key);
            case "tile_profiling_enabled" -> tilesOff = !input.flag(key);
            case "environments" -> input.array(key, () -> environments.add(environment()));
            case "bricks" -> bricks = bricks(key);
            case "tiles" -> input.array(key, () -> tiles.add(tile()));
            case "streams" -> input.array(key, () -> streams.add(StreamReader.read(input)));
            default -> input.skip();
        }
    }

    private List<BrickStats> bricks(String key) throws IOException {
        List<BrickStats> read = new ArrayList<>();
        input.array(key, () -> read.add(BrickReader.read(input)));
        return read;
    }

    private Environment environment() throws IOException {
        EnvironmentFields fields = new EnvironmentFields();
        input.object("environment", key -> {
            switch (key) {
                case "java_version" -> fields.javaVersion = input.text(key);
                case "jvm" -> fields.jvm = input.text(key);
                case "os" -> fields.os = input.text(key);
                case "arch" -> fields.arch = input.text(key);
                case "cpu" -> fields.cpu = input.text(key);
                case "processors" -> fields.processors = (int) input.whole(key, 0, Integer.MAX_VALUE);
                case "clock_resolution_ns" -> fields.clockResolutionNs = input.whole(key, 0, Long.MAX_VALUE);
                default -> input.skip();
            }
        });
        return fields.environment();
    }

    /** An environment while it is read. */
    private static final class EnvironmentFields {
        private String javaVersion = "unknown";
        private String jvm = "unknown";
        private String os = "unknown";
        private String arch = "unknown";
        private String cpu = "unknown";
        private int processors;
        private long clockResolutionNs;

        Environment environment() {
            return new Environment(javaVersion, jvm, os, arch, cpu, processors, clockResolutionNs);
        }
    }

    private TileStats tile() throws IOException {
        TileFields fields = new TileFields(input);
        input.object("tile", key -> {
            switch (key) {
                case "level" -> fields.level = input.oneOf(key, TileLevel.values(), TileLevel::displayName);
                case "count", "total_ns", "min_ns", "max_ns", "total_elements", "total_flops" ->
                    fields.numbers.readWhole(key);
                case "min_us", "max_us" -> fields.numbers.readReal(key);
                case "slowest_row" -> fields.slowestRow = rowOrCol(key);
                case "slowest_col" -> fields.slowestCol = rowOrCol(key);
                default -> input.skip();
            }
        });
        return fields.tile();
    }

    private int rowOrCol(String key) throws IOException {
        return (int) input.whole(key, TileStats.UNKNOWN, Integer.MAX_VALUE);
    }

    /** A tile level while it is read. */
    private static final class TileFields {
        private final JsonInput input;
        private final NumberFields numbers;
        private @Nullable TileLevel level;
        private int slowestRow = TileStats.UNKNOWN;
        private int slowestCol = TileStats.UNKNOWN;

        TileFields(JsonInput input) {
            this.input = input;
            this.numbers = new NumberFields(input);
        }

        TileStats tile() throws IOException {
            if (level == null) {
                throw input.error("an entry of tiles has no level");
            }
            return new TileStats(
                    level,
                    numbers.whole("count"),
                    numbers.whole("total_ns"),
                    numbers.durationNs("min_ns", "min_us"),
                    numbers.durationNs("max_ns", "max_us"),
                    numbers.whole("total_elements"),
                    numbers.whole("total_flops"),
                    slowestRow,
                    slowestCol);
        }
    }

    private ProfileSnapshot snapshot() throws IOException {
        if (bricks == null) {
            throw input.error("there are no bricks: this is no report of Brick Profiler");
        }
        return new ProfileSnapshot(
                startedAt,
                endedAt,
                numbers.whole("wall_ns"),
                threads,
                virtualThreads,
                numbers.whole("overhead_ns"),
                numbers.whole("dropped_pending"),
                numbers.whole("pending"),
                numbers.whole("literal_overlaps"),
                l2CacheHitRate,
                zeroCopy,
                tilesOff,
                environments,
                bricks,
                tiles,
                streams);
    }
}
