package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;

final class JsonReportWriterTest {

    /** The keys that users of the files rely on. */
    private static final List<String> TOP_KEYS =
            List.of("total_tokens", "total_ns", "total_throughput", "bricks", "categories", "tiles");

    private static final List<String> BRICK_KEYS = List.of(
            "name",
            "category",
            "count",
            "total_ns",
            "avg_us",
            "min_us",
            "max_us",
            "throughput",
            "pct",
            "total_bytes",
            "compression_ratio",
            "throughput_gbps",
            "bottleneck");
    private static final List<String> CATEGORY_KEYS = List.of("name", "count", "total_ns", "pct");
    private static final List<String> TILE_KEYS = List.of(
            "level",
            "count",
            "total_ns",
            "avg_us",
            "min_us",
            "max_us",
            "gflops",
            "arithmetic_intensity",
            "total_elements",
            "total_flops");

    private static JsonNode parsed(ProfileSnapshot snapshot) throws IOException {
        return new ObjectMapper().readTree(JsonReport.toJson(snapshot));
    }

    private static List<String> keys(JsonNode object) {
        return object.properties().stream().map(Map.Entry::getKey).toList();
    }

    @Test
    void looksAsExpected() throws IOException {
        Golden.assertSame(JsonReport.toJson(Profiles.full()), getClass(), "full.json");
    }

    @Test
    void looksAsExpectedWithDevices() throws IOException {
        Golden.assertSame(JsonReport.toJson(Profiles.device()), getClass(), "device.json");
    }

    @Test
    void looksAsExpectedWithSteps() throws IOException {
        Golden.assertSame(JsonReport.toJson(Profiles.steps()), getClass(), "steps.json");
    }

    @Spec("25.10")
    @Test
    void writesRequests() throws IOException {
        Golden.assertSame(JsonReport.toJson(Profiles.requests()), getClass(), "requests.json");
    }

    @Spec("8.2")
    @Test
    void hasEveryKeyOfTheContract() throws IOException {
        JsonNode root = parsed(Profiles.full());

        assertThat(keys(root)).containsAll(TOP_KEYS);
        assertThat(root.get("bricks")).isNotEmpty().allSatisfy(brick -> assertThat(keys(brick))
                .containsAll(BRICK_KEYS));
        assertThat(root.get("categories"))
                .hasSize(BrickCategory.values().length)
                .allSatisfy(category -> assertThat(keys(category)).containsExactlyElementsOf(CATEGORY_KEYS));
        assertThat(root.get("tiles")).hasSize(3).allSatisfy(tile -> assertThat(keys(tile))
                .containsAll(TILE_KEYS));
    }

    @Spec("8.2")
    @Test
    void theVersionComesFirst() throws IOException {
        assertThat(keys(parsed(Profiles.empty()))).startsWith("schema_version");
    }

    @Test
    void sharesNameTheirBase() throws IOException {
        assertThat(parsed(Profiles.plain()).get("pct_base").textValue()).isEqualTo("brick_time");
    }

    @Test
    void valuesAreThoseOfTheSnapshot() throws IOException {
        ProfileSnapshot snapshot = Profiles.full();
        BrickStats brick = snapshot.bricks().get(0);
        TileStats tile = snapshot.tiles().get(0);
        JsonNode root = parsed(snapshot);
        JsonNode first = root.get("bricks").get(0);

        assertThat(root.get("total_tokens").longValue()).isEqualTo(snapshot.totalTokens());
        assertThat(root.get("total_ns").longValue()).isEqualTo(snapshot.totalNs());
        assertThat(root.get("total_throughput").doubleValue()).isEqualTo(snapshot.totalThroughput());
        assertThat(first.get("name").textValue()).isEqualTo(brick.name());
        assertThat(first.get("category").textValue()).isEqualTo("FFN");
        assertThat(first.get("count").longValue()).isEqualTo(brick.count());
        assertThat(first.get("avg_us").doubleValue()).isEqualTo(brick.avgUs());
        assertThat(first.get("min_us").doubleValue()).isEqualTo(brick.minUs());
        assertThat(first.get("max_us").doubleValue()).isEqualTo(brick.maxUs());
        assertThat(first.get("throughput").doubleValue()).isEqualTo(brick.throughput());
        assertThat(first.get("pct").doubleValue()).isCloseTo(41.39, within(0.01));
        assertThat(first.get("throughput_gbps").doubleValue()).isEqualTo(brick.throughputGbps());
        assertThat(first.get("compression_ratio").doubleValue()).isEqualTo(1.0);
        assertThat(first.get("bottleneck").textValue()).isEqualTo("memory");
        assertThat(first.get("latency").get("p99_us").doubleValue()).isEqualTo(brick.percentileNs(99) / 1e3);
        assertThat(root.get("tiles").get(0).get("gflops").doubleValue()).isEqualTo(tile.gflops());
        assertThat(root.get("tiles").get(0).get("arithmetic_intensity").doubleValue())
                .isEqualTo(tile.arithmeticIntensity());
    }

    @Test
    void optionalValuesAreLeftOut() throws IOException {
        JsonNode root = parsed(Profiles.plain());

        assertThat(root.has("l2_cache_hit_rate")).isFalse();
        assertThat(root.get("bricks").get(0).has("latency")).isFalse();
    }

    @Test
    void valuesThatAreNoNumbersAreLeftOut() {
        for (double rate : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            ProfileSnapshot odd = ProfileSnapshot.builder(Profiles.STARTED, Profiles.ENDED, 1)
                    .threads(1, false)
                    .l2CacheHitRate(OptionalDouble.of(rate))
                    .build();

            assertThat(JsonReport.toJson(odd)).doesNotContain("NaN", "Infinity", "l2_cache_hit_rate");
        }
    }

    @Test
    void linesEndAlikeOnEverySystem() {
        assertThat(JsonReport.toJson(Profiles.full())).doesNotContain("\r").endsWith("\n}\n");
    }

    @Test
    void theOrderOfTheBricksGivenDoesNotMatter() {
        BrickStats one = Profiles.brick("one", BrickCategory.OTHER, 1, 5, 5, 5, 1);
        BrickStats two = Profiles.brick("two", BrickCategory.OTHER, 1, 5, 5, 5, 1);

        assertThat(JsonReport.toJson(Profiles.of(one, two))).isEqualTo(JsonReport.toJson(Profiles.of(two, one)));
    }

    @Test
    void theStreamIsFlushedAndLeftOpen() throws IOException {
        boolean[] closed = new boolean[1];
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new OutputStream() {
            @Override
            public void write(int octet) {
                bytes.write(octet);
            }

            @Override
            public void close() {
                closed[0] = true;
            }
        }) {
            JsonReportWriter.write(Profiles.plain(), out);
            assertThat(closed[0]).isFalse();
        }

        byte[] whole = bytes.toByteArray();
        assertThat(Arrays.copyOfRange(whole, whole.length - 2, whole.length)).containsExactly('}', '\n');
    }
}
