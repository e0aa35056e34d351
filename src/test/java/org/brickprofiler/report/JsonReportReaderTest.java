package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Instant;
import java.util.Optional;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonReportReaderTest {

    @Spec("8.2")
    @Test
    void aFileWithTheKeysOfTheContractAloneIsRead() throws IOException {
        ProfileSnapshot old = JsonReport.read(Golden.path(getClass(), "contract-v1.json"));

        assertThat(old.startedAt()).isEqualTo(Instant.EPOCH);
        assertThat(old.wallNs()).isZero();
        assertThat(old.pending()).isZero();
        assertThat(old.literalOverlaps()).isZero();
        assertThat(old.tilesOff()).as("the file does not say").isFalse();
        assertThat(old.totalNs()).isEqualTo(6_152_153_111L);
        assertThat(old.totalTokens()).isEqualTo(1_445);
        assertThat(old.bricks()).extracting(BrickStats::name).containsExactly("DownProjection", "RmsNorm");
        assertThat(old.tiles().get(0))
                .isEqualTo(TileStats.builder(TileLevel.MACRO)
                        .samples(4, 1_000, 200, 300)
                        .work(16, 64)
                        .build());
        assertThat(TextReport.render(old)).contains("DownProjection", "not known");
    }

    @Test
    void theGoldenFilesAreReadBack() throws IOException {
        assertThat(JsonReport.read(Golden.path(getClass(), "full.json"))).isEqualTo(Profiles.full());
        assertThat(JsonReport.read(Golden.path(getClass(), "device.json"))).isEqualTo(Profiles.device());
        assertThat(JsonReport.read(Golden.path(getClass(), "steps.json"))).isEqualTo(Profiles.steps());
        assertThat(JsonReport.read(Golden.path(getClass(), "requests.json"))).isEqualTo(Profiles.requests());
    }

    @Spec("25.18")
    @Test
    void ownWorkOfRequestsIsReadBack() throws IOException {
        ProfileSnapshot snapshot = Profiles.withOwnWork();
        ProfileSnapshot read = JsonReport.fromJson(JsonReport.toJson(snapshot));
        assertThat(read).isEqualTo(snapshot);
        // Half of 60 ms, before each of 4 steps of 3 requests; the last 10 ms of each are delivery.
        assertThat(read.requests().causeNs(Cause.OWN_WORK)).isEqualTo(3 * 4 * 30_000_000);
        assertThat(read.requestTimeline().segments()).allSatisfy(segments -> assertThat(segments)
                .filteredOn(segment -> segment.cause() == Cause.OWN_WORK)
                .hasSize(4));
        assertThat(TextReport.render(read))
                .contains(
                        "own work between steps", "Requests count from the call of Server.complete; queues before it");
    }

    @Spec("25.21")
    @Test
    void idsOfRequestsAreReadBack() throws IOException {
        ProfileSnapshot snapshot = Profiles.withOwnWork();
        String json = JsonReport.toJson(snapshot);
        assertThat(JsonReport.fromJson(json).requestTimeline().requests())
                .extracting(request -> request.record().identity().id())
                .containsExactly(Optional.empty(), Optional.of(RequestSamples.HOSTILE_ID), Optional.of("chat-2"));
        assertThat(JsonReport.fromJson(json)).isEqualTo(snapshot);
    }

    /** A null in the row of a request stands for a missing id, and never for a number. */
    @Spec("25.21")
    @Test
    void aRequestWithoutANumberIsRefused() {
        String json = JsonReport.toJson(Profiles.withOwnWork());
        String broken = json.replaceFirst(
                "(\"requests\":\\s*\\[\\s*\\[\\s*null,\\s*\"[^\"]*\",\\s*null,\\s*null,\\s*)\\d+", "$1null");
        assertThat(broken).isNotEqualTo(json);
        assertThatThrownBy(() -> JsonReport.fromJson(broken)).hasMessageContaining("arrived_ns");
    }

    @Spec("25.21")
    @Test
    void moreOldestThanLiveRequestsAreRefused() {
        String json = JsonReport.toJson(Profiles.requests());
        String broken = json.replaceFirst("\"waiting\": ?1", "\"waiting\": 0");
        assertThat(broken).isNotEqualTo(json);
        assertThatThrownBy(() -> JsonReport.fromJson(broken)).hasMessageContaining("0 are live, and oldest_live has 1");
    }

    /** Files of versions that did not distinguish own work. */
    @Spec("25.19")
    @Test
    void requestsOfOlderVersionsAreRead() throws IOException {
        ProfileSnapshot old = JsonReport.read(Golden.path(getClass(), "requests-without-own-work.json"));
        RequestStats now = Profiles.requests().requests();
        assertThat(now.countedFrom()).containsExactly("the call of RequestRecorder.arrived");
        assertThat(old.requests())
                .isEqualTo(new RequestStats(
                        now.counts(),
                        now.tokens(),
                        now.latencies(),
                        now.causeNs(),
                        now.firstTokenCauseNs(),
                        now.slowestFirstTokens(),
                        now.longestGaps()));
        assertThat(old.requestTimeline()).isEqualTo(Profiles.requests().requestTimeline());
        assertThat(TextReport.render(old))
                .contains("Requests count from an unknown moment; queues before it are not seen.");
    }

    @Spec("8.2")
    @Test
    void unknownKeysAreIgnoredAtEveryDepth() throws IOException {
        String unknown = "\"later\": {\"deep\": [[1, {\"count\": -1}], null, \"x\"]}";
        String json = """
            {%1$s, "schema_version": "1.9", "environments": [{%1$s, "cpu": "c"}],
             "bricks": [{%1$s, "name": "RmsNorm", "count": 1,
                         "latency": {%1$s, "buckets": [[3, 1]]}}],
             "categories": [{%1$s}], "tiles": [{%1$s, "level": "micro", "count": 2}]}
            """.formatted(unknown);

        ProfileSnapshot read = JsonReport.fromJson(json);

        assertThat(read.bricks()).singleElement().satisfies(brick -> assertThat(brick.percentileNs(50))
                .isZero());
        assertThat(read.bricks().get(0).latency().orElseThrow().count()).isEqualTo(1);
        assertThat(read.tiles().get(2).count()).isEqualTo(2);
        assertThat(read.environments())
                .containsExactly(new Environment("unknown", "unknown", "unknown", "unknown", "c", 0, 0));
    }

    @Test
    void nullCountsAsMissing() throws IOException {
        ProfileSnapshot read = JsonReport.fromJson("""
            {"l2_cache_hit_rate": null, "started_at": null, "environments": null,
             "bricks": [{"name": "a", "count": 1, "category": null, "latency": null}]}
            """);

        assertThat(read.l2CacheHitRate()).isEmpty();
        assertThat(read.bricks().get(0).latency()).isEmpty();
    }

    @Test
    void theOrderOfKeysDoesNotMatter() throws IOException {
        ProfileSnapshot read = JsonReport.fromJson("""
            {"bricks": [{"count": 2, "name": "a"}], "threads": 4, "schema_version": "1.0"}
            """);

        assertThat(read.threads()).isEqualTo(4);
        assertThat(read.bricks()).hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1.0", "\"1\"", "\"1.7\"", "\"1.7.3\"", "\"0.9\""})
    void versionsUpToThisMajorOneAreRead(String version) throws IOException {
        assertThat(JsonReport.fromJson("{\"schema_version\": " + version + ", \"bricks\": []}")
                        .bricks())
                .isEmpty();
    }

    @Spec("8.2")
    @ParameterizedTest
    @ValueSource(strings = {"2", "2.0", "\"2.0\"", "\"10.1\""})
    void laterMajorVersionsAreRefused(String version) {
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson("{\"schema_version\": " + version + ", \"bricks\": []}"))
                .withMessageContaining("schema_version")
                .withMessageContaining("is too new: this version of Brick Profiler reads reports up to 1.x");
    }

    @Spec("8.2")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | there is no text",
                "` ` | there is no text",
                "hello | 'hello' is not a value",
                "3 | the report 3 is not an object",
                "[] | the report [ is not an object",
                "{} | there are no bricks: this is no report of Brick Profiler",
                "{\"name\": \"other\", \"version\": \"1\"} | this is no report of Brick Profiler",
                "{\"bricks\": []} {} | there is more text after the end of the report",
                "{\"bricks\": []}] | ']' is unmatched",
                "{\"bricks\": [} | '}' is unmatched",
                "{\"bricks\": | the text ends too early",
                "{\"bricks\": [{\"name\": \"a | the text ends too early",
                "{\"bricks\": [], \"bricks\": []} | duplicate key 'bricks'",
                "{\"bricks\": {}} | bricks { is not an array",
                "{\"bricks\": [null]} | brick null is not an object",
                "{\"bricks\": [{}]} | a brick has no name",
                "{\"bricks\": [{\"name\": 7}]} | name 7 is not a string",
                "{\"bricks\": [{\"name\": \"a\", \"category\": \"Foo\"}]} | category \"Foo\" is none of Norm,"
                        + " Attention, FFN",
                "{\"bricks\": [{\"name\": \"a\", \"bottleneck\": \"luck\"}]} | bottleneck \"luck\" is none of UNKNOWN,"
                        + " MEMORY",
                "{\"bricks\": [{\"count\": -5}]} | count -5 is negative",
                "{\"bricks\": [{\"count\": \"5\"}]} | count \"5\" is not a number",
                "{\"bricks\": [{\"count\": 5.5}]} | count 5.5 is not a whole number",
                "{\"bricks\": [{\"count\": 9223372036854775808}]} | count 9223372036854775808 is not a whole number of"
                        + " at most",
                "{\"bricks\": [{\"count\": 1e999999999}]} | count 1e999999999 is not a whole number",
                "{\"bricks\": [{\"count\": NaN}]} | NaN",
                "{\"bricks\": [{\"min_us\": -0.5}]} | min_us -0.5 is negative",
                "{\"bricks\": [{\"min_us\": 1e999}]} | min_us 1e999 is above",
                "{\"bricks\": [{\"min_us\": \"x\"}]} | min_us \"x\" is not a number",
                "{\"bricks\": [{\"latency\": 1}]} | latency 1 is not an object",
                "{\"bricks\": [{\"latency\": {\"relative_error\": 0.01}}]} | relative_error 0.01 is that of other"
                        + " buckets",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[2240, 1]]}}]} | bucket number 2240 is not within 0 to"
                        + " 2239",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[1, -1]]}}]} | bucket count -1 is negative",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[1]]}}]} | a bucket has 1 numbers",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[1, 2, 3]]}}]} | a bucket has 3 numbers",
                "{\"bricks\": [{\"latency\": {\"buckets\": [3]}}]} | bucket 3 is not an array",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[3, 1], [3, 2]]}}]} | bucket 3 occurs twice in a"
                        + " distribution",
                "{\"bricks\": [{\"latency\": {\"buckets\": [[3, 9223372036854775807], [4, 1]]}}]} | more than 2^63 - 1"
                        + " samples",
                "{\"tiles\": [{\"level\": \"nano\"}]} | level \"nano\" is none of macro, midi, micro",
                "{\"tiles\": [{\"count\": 1}]} | an entry of tiles has no level",
                "{\"tiles\": [{\"slowest_row\": -2}]} | slowest_row -2 is not within -1 to 2147483647",
                "{\"wall_ns\": -1} | wall_ns -1 is negative",
                "{\"threads\": 3000000000} | threads 3000000000 is not within 0 to 2147483647",
                "{\"zero_copy\": 1} | zero_copy 1 is neither true nor false",
                "{\"l2_cache_hit_rate\": 1.5} | l2_cache_hit_rate 1.5 is above 1.0",
                "{\"started_at\": \"yesterday\"} | started_at \"yesterday\" is not a time such as",
                "{\"schema_version\": \"one\"} | schema_version \"one\" is not a version such as 1.0",
                "{\"schema_version\": -1} | schema_version -1 is not a version",
                "{\"environments\": [{\"processors\": -1}]} | processors -1 is negative",
            })
    void faultsAreNamed(String json, String message) {
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json))
                .withMessageMatching("(?s)line \\d+, column \\d+: .*")
                .withMessageContaining(message);
    }

    @Test
    void longValuesAreCutInMessages() {
        String json = "{\"started_at\": \"" + "x".repeat(100_000) + "\"}";

        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json))
                .satisfies(thrown ->
                        assertThat(thrown.getMessage()).hasSizeLessThan(200).contains("x...x"));
    }

    @Test
    void numbersThatOtherProgramsRewroteAreRead() throws IOException {
        ProfileSnapshot read = JsonReport.fromJson("""
            {"bricks": [{"name": "a", "count": 1.0, "total_ns": 1.5e3, "last_at_unix_ns": 1.767323057e+18}]}
            """);

        assertThat(read.bricks().get(0).totalNs()).isEqualTo(1_500);
        assertThat(read.bricks().get(0).lastAtUnixNs()).isEqualTo(1_767_323_057_000_000_000L);
    }

    @Test
    void deepNestingIsRefusedAndNotFollowed() {
        String deep = "[".repeat(100_000) + "]".repeat(100_000);

        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson("{\"later\": " + deep + "}"))
                .withMessageContaining("arrays and objects nest deeper than");
    }

    @Test
    void theStreamOfBricksMayBeLong() throws IOException {
        StringBuilder json = new StringBuilder("{\"bricks\": [");
        for (int i = 0; i < 4_000; i++) {
            json.append("{\"count\": 1, \"name\": \"").append(i).append("\"},");
        }
        json.setCharAt(json.length() - 1, ']');

        assertThat(JsonReport.fromJson(json.append('}').toString()).bricks()).hasSize(4_000);
    }

    @Spec("8.8")
    @Test
    void moreThanAMillionBricksAreRefused() {
        String brick = "{\"name\": \"a\"},";
        String json = "{\"bricks\": [], \"phases\": [{\"bricks\": [" + brick.repeat((1 << 20) + 1);

        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json))
                .withMessageContaining("line 1, column ")
                .withMessageContaining("there are more than 1048576 bricks, those of phases included");
    }

    @Test
    void aStepMustHaveAValueForEachColumn() throws IOException {
        String json = Files.readString(Golden.path(getClass(), "steps.json"));
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json.replace("\"started_at_unix_ns\", ", "")))
                .withMessageContaining("a step has 22 values, but there are 21 columns");
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json.replace("\"decode\"", "\"thinking\"")))
                .withMessageContaining("phase \"thinking\" is none of prefill, decode, mixed");
        assertThatIOException()
                .isThrownBy(() -> JsonReport.fromJson(json.replace(", 2500000, ", ", -2500000, ")))
                .withMessageContaining("duration_ns -2500000 is negative");
    }

    @Test
    void columnsOfStepsThatAreNotKnownAreLeftOut() throws IOException {
        String json = Files.readString(Golden.path(getClass(), "steps.json"));
        assertThat(JsonReport.fromJson(json.replace("\"started_at_unix_ns\"", "\"mood\""))
                        .steps()
                        .kept())
                .allMatch(step -> step.startedAtUnixNs() == 0 && step.durationNs() > 0);
    }
}
