package org.brickprofiler.fleet;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIOException;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.brickprofiler.BrickStats;
import org.brickprofiler.fleet.ProfileWindow.Head;
import org.brickprofiler.fleet.ProfileWindow.Unreadable;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A fleet reads the same values from a file as a report, and refuses the same files. */
final class ProfileWindowTest {

    @TempDir
    Path folder;

    private final ProfileWindow window = new ProfileWindow();

    private Head head(String json) throws IOException, Unreadable {
        return window.head(Files.writeString(folder.resolve("file.json"), json), "own");
    }

    /** Reads the only brick of a file as a fleet, and returns it as a report reads it. */
    private BrickStats brick(String fields) throws IOException, Unreadable {
        String json =
                "{\"schema_version\": \"1.0\", \"bricks\": [{\"name\": \"RmsNorm\", \"count\": 2, " + fields + "}]}";
        window.read(json.getBytes(UTF_8));
        return JsonReport.fromJson(json).bricks().get(0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "\"total_ns\": 3000, \"min_us\": 1.0, \"max_us\": 2.0",
                "\"total_ns\": 2000000000, \"throughput\": 64.0",
                "\"total_ns\": 3000",
                "\"total_ns\": 3000, \"category\": null, \"min_ns\": null, \"latency\": null",
                "\"total_ns\": 3e3, \"max_ns\": 2000.0",
                "\"total_ns\": 3000, \"category\": \"attention\"",
                "\"total_ns\": 3000, \"device\": {\"device_samples\": 2, \"unresolved\": 5}",
                "\"total_ns\": 3000, \"estimated\": true, \"standard_error_ns\": 10.5, \"degrees_of_freedom\": 1.3,"
                        + " \"device\": {\"device_samples\": 1, \"unmarked\": 1}",
            })
    void aBrickHasTheValuesThatAReportReads(String fields) throws IOException, Unreadable {
        BrickStats brick = brick(fields);

        assertThat(window.bricks.name[0]).isEqualTo(brick.name());
        assertThat(window.bricks.category[0]).isEqualTo(brick.category().displayName());
        assertThat(window.bricks.figures[0])
                .containsExactly(
                        brick.count(),
                        brick.totalNs(),
                        brick.minNs(),
                        brick.maxNs(),
                        brick.totalElements(),
                        brick.device().unresolved(),
                        brick.device().measured(),
                        brick.device().unmarked());
        assertThat(window.bricks.standardErrorNs[0]).isEqualTo((Double)
                (brick.device().isEstimated() ? brick.device().standardErrorNs() : Double.NaN));
        assertThat(window.bricks.degreesOfFreedom[0]).isEqualTo((Double)
                (brick.device().isEstimated() ? brick.device().degreesOfFreedom() : Double.NaN));
        assertThat(window.bricks.dist[0]).isNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1, \"count\": 2}]}",
                "{\"bricks\": [], \"bricks\": []}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"steps\": {\"phases\": [{\"phase\": \"decode\","
                        + " \"output_tokens\": 1, \"output_tokens\": 2}]}}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"steps\": {\"phases\": [{\"phase\": \"x\"}]}}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"steps\": {\"phases\": [{\"count\": 1}]}}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"streams\": [{\"device\": 7}]}",
                "{\"bricks\": [{\"name\": null, \"count\": 1}]}",
                "{\"bricks\": [{\"name\": 7, \"count\": 1}]}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1, \"latency\": {\"relative_error\": 0.5, \"buckets\":"
                        + " [[1, 1]]}}]}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 2, \"latency\": {\"buckets\": [[1, 1], [1, 1]]}}]}",
                "{\"steps\": {\"phases\": [{\"phase\": \"decode\", \"count\": 1}]}}",
                "{\"bricks\": [], \"phases\": [{\"bricks\": []}]}",
                "{\"bricks\": [], \"phases\": [{\"phase\": \"decode\"}, {\"phase\": \"decode\"}]}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"phases\": [{\"phase\": \"decode\", \"bricks\":"
                        + " [{\"name\": \"a\", \"count\": 1}]}, {\"phase\": \"mixed\", \"bricks\": [{\"name\": \"a\","
                        + " \"count\": 1}]}]}",
                "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"phases\": [{\"phase\": \"decode\", \"bricks\":"
                        + " [{\"name\": \"b\", \"count\": 1}]}]}",
            })
    void whatAReportRefusesAFleetRefuses(String json) {
        assertThatIOException().isThrownBy(() -> JsonReport.fromJson(json));
        assertThatExceptionOfType(Unreadable.class).isThrownBy(() -> window.read(json.getBytes(UTF_8)));
    }

    @Test
    void sumsStayAtTheirLimit() throws IOException, Unreadable {
        String large = "9223372036854775807";
        String json = """
            {"schema_version": "1.1", "total_ns": %1$s,
             "bricks": [{"name": "a", "count": 1, "total_ns": %1$s}, {"name": "b", "count": 1, "total_ns": 5}],
             "steps": {"phases": [{"phase": "decode", "prefill_tokens": %1$s, "output_tokens": 1}]}}
            """.formatted(large);

        window.read(json.getBytes(UTF_8));

        assertThat(window.bricks.size).isEqualTo(2);
        assertThat(window.steps[0][2]).isEqualTo(Long.MAX_VALUE);
        assertThat(JsonReport.fromJson(json).totalNs()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aValueThatIsNullIsMissing() throws IOException, Unreadable {
        Head head = head("{\"schema_version\": \"1.1\", \"identity\": {\"run_id\": null, \"host\": null, \"rank\": 3,"
                + " \"window\": null}, \"started_at\": null, \"bricks\": []}");

        assertThat(head.runId()).isEqualTo("own");
        assertThat(head.labels().host()).isNull();
        assertThat(head.rank()).isEqualTo(3);
        assertThat(head.startMs()).isZero();

        String stream = "{\"bricks\": [{\"name\": \"a\", \"count\": 1}], \"streams\": [{\"stream\": \"s\","
                + " \"device\": null, \"pci_address\": null}]}";
        window.read(stream.getBytes(UTF_8));

        assertThat(window.device[0])
                .isEqualTo(JsonReport.fromJson(stream).streams().get(0).device());
        assertThat(window.pci[0]).isNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"1", "1.0", "\"1\"", "\"1.7.3\"", "\"0.9\""})
    void theVersionsThatAReportReadsAreRead(String version) throws IOException, Unreadable {
        assertThat(head("{\"schema_version\": " + version + ", \"wall_ns\": 7, \"bricks\": []}")
                        .wallNs())
                .isEqualTo(7);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"schema_version\": \"2.0\", \"bricks\": []} | OTHER_VERSION",
                "{\"schema_version\": \"12\", \"bricks\": []} | OTHER_VERSION",
                "{\"schema_version\": \"1.1\", \"wall_ns\": 1, \"wall_ns\": 2, \"bricks\": []} | DAMAGED",
                "{\"schema_version\": \"1.1\", \"identity\": {\"rank\": \"3\"}, \"bricks\": []} | DAMAGED",
                "{\"schema_version\": \"1.1\", \"identity\": {\"rank\": 3, \"world_size\": 2}, \"bricks\": []} |"
                        + " DAMAGED",
                "{\"schema_version\": \"1.1\", \"started_at\": \"soon\", \"bricks\": []} | DAMAGED",
                "{\"bricks\": []} | DAMAGED",
                "[] | DAMAGED",
            })
    void aWrongHeadIsRefused(String json, PackProblem.Kind kind) {
        assertThatExceptionOfType(Unreadable.class)
                .isThrownBy(() -> head(json))
                .satisfies(refused -> assertThat(refused.kind).isEqualTo(kind));
    }

    /** A window in which no sample of a brick has marks lacks that brick, and so may have no estimate. */
    @Test
    void theIdleTimeOfAStreamIsUnknownIfItsBricksAreMarkedBySampling() throws IOException, Unreadable {
        String json = "{\"schema_version\": \"1.1\", \"bricks\": [{\"name\": \"a\", \"count\": 1}], \"streams\":"
                + " [{\"stream\": \"s\", \"samples\": 1, \"busy_ns\": 5, \"estimated\": true}, {\"stream\": \"t\"}]}";

        window.read(json.getBytes(UTF_8));

        assertThat(window.time(0, 0)).isEqualTo(1);
        assertThat(window.time(0, 1)).isEqualTo(5);
        assertThat(window.time(0, 2)).isNull();
        assertThat(window.time(1, 2)).isZero();
    }

    /** The head is read up to the bricks, so that an identity behind them would be lost. */
    @Test
    void anIdentityBehindTheBricksIsRefused() {
        String json = "{\"schema_version\": \"1.1\", \"bricks\": [{\"name\": \"a\", \"count\": 1}],"
                + " \"identity\": {\"rank\": 3}}";

        assertThatExceptionOfType(Unreadable.class)
                .isThrownBy(() -> window.read(json.getBytes(UTF_8)))
                .withMessageContaining("identity follows the bricks");
    }

    @Spec("8.9")
    @Test
    void aWindowThatContradictsItselfIsRefused() {
        String json = "{\"bricks\": [{\"name\": \"a\", \"count\": 3, \"total_ns\": 900, \"max_ns\": 200}]}";

        assertThatExceptionOfType(Unreadable.class)
                .isThrownBy(() -> window.read(json.getBytes(UTF_8)))
                .withMessageContaining("brick a contradicts itself: total_ns 900 of 3 samples is an average of 300 ns");
    }

    @Test
    void aDistributionIsReadAgainForEachBrick() throws IOException, Unreadable {
        String json = "{\"bricks\": [{\"name\": \"a\", \"count\": 3, \"latency\": {\"buckets\": [[7, 1], [9, 2]]}},"
                + " {\"name\": \"b\", \"count\": 0, \"latency\": {\"buckets\": []}}, {\"name\": \"c\", \"count\": 1}]}";

        window.read(json.getBytes(UTF_8));

        assertThat(window.bricks.dist[0]).containsExactly(ProfileWindow.inBucket(7, 1), ProfileWindow.inBucket(9, 2));
        assertThat(Objects.requireNonNull(window.bricks.dist[1])).isEmpty();
        assertThat(window.bricks.dist[2]).isNull();
    }
}
