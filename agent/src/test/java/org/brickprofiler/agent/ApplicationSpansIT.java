package org.brickprofiler.agent;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The jar of the agent exports requests by the OpenTelemetry of an application as Maven Central has it. */
@Spec("25.29")
@Timeout(120)
final class ApplicationSpansIT {

    private static final Path ENGINES = Path.of(System.getProperty("engines.folder"));
    private static final Path PROGRAM = Path.of("src", "test", "engines", "SpannedServer.java");
    private static final String NO_PARENT = "0000000000000000";

    @TempDir
    private Path folder;

    @BeforeEach
    void writeRules() throws IOException {
        Files.writeString(folder.resolve("server.yaml"), """
                step: {in: SpannedServer.step}
                request: {in: SpannedServer.answer, id: arg0, model: arg1}
                """);
    }

    /** A span as the program printed it. */
    private record Printed(String name, String trace, String parent, String id, long durationNs, String attributes) {

        static Printed of(String line) {
            String[] parts = line.split("\\|", 6);
            return new Printed(parts[0], parts[1], parts[2], parts[3], Long.parseLong(parts[4]), parts[5]);
        }

        long ns(Cause cause) {
            return number("brick.request." + cause.name().toLowerCase(Locale.ROOT) + "_ns");
        }

        long number(String key) {
            Matcher found = Pattern.compile(Pattern.quote(key) + "=(\\d+)").matcher(attributes);
            return found.find() ? Long.parseLong(found.group(1)) : 0;
        }
    }

    private ProcessResult run(String release, String options, String argument) throws IOException {
        String classPath;
        try (Stream<Path> jars = Files.list(ENGINES.resolve("opentelemetry-" + release))) {
            classPath = jars.map(Path::toString).sorted().collect(Collectors.joining(File.pathSeparator));
        }
        return ChildProcess.java()
                .jvmOptions(List.of(
                        "-javaagent:" + System.getProperty("agent.jar") + "=rules=" + folder.resolve("server.yaml")
                                + ",out=" + folder.resolve("run.json") + options,
                        "-cp",
                        classPath,
                        PROGRAM.toString()))
                .arguments(List.of(argument))
                .run()
                .assertSucceeded();
    }

    private Map<String, RequestRecord> records() throws IOException {
        return JsonReport.read(folder.resolve("run.json")).requests().slowestFirstTokens().stream()
                .collect(Collectors.toMap(each -> each.identity().id().orElseThrow(), each -> each));
    }

    /** 1.44.1 cannot be asked by a public method whether it is set. */
    @ParameterizedTest
    @ValueSource(strings = {"1.44.1", "latest"})
    void requestsAreSpansExactlyAsRecorded(String release) throws IOException {
        ProcessResult result = run(release, ",spans=acme", "set");

        List<Printed> spans = result.out().lines().map(Printed::of).toList();
        Map<String, RequestRecord> records = records();
        assertThat(records).containsOnlyKeys("early", "id 0", "id 1", "id 2", "alone");
        assertThat(Objects.requireNonNull(records.get("id 1")).identity().model())
                .contains("model 1");
        List<Printed> answers = spans.stream()
                .filter(each -> each.name().startsWith("text_completion"))
                .toList();
        assertThat(answers)
                .extracting(Printed::name)
                .containsExactlyInAnyOrder(
                        "text_completion model 0",
                        "text_completion model 1",
                        "text_completion model 2",
                        "text_completion m");
        for (Printed each : answers) {
            Matcher id = Pattern.compile("brick\\.request\\.id=([^,}]+)").matcher(each.attributes());
            assertThat(id.find()).isTrue();
            RequestRecord record = Objects.requireNonNull(records.get(id.group(1)));
            assertThat(each.durationNs()).isEqualTo(record.durationNs());
            assertThat(each.number("gen_ai.usage.output_tokens")).isEqualTo(record.outputTokens());
            assertThat(each.number("brick.request.time_to_first_token_ns")).isEqualTo(record.timeToFirstTokenNs());
            assertThat(each.attributes())
                    .contains(
                            "gen_ai.provider.name=acme",
                            "gen_ai.request.model=" + record.identity().model().orElseThrow());
            List<Printed> stages = spans.stream()
                    .filter(stage -> stage.parent().equals(each.id()))
                    .toList();
            assertThat(stages.stream().mapToLong(Printed::durationNs).sum()).isEqualTo(record.durationNs());
            for (Cause cause : Cause.values()) {
                assertThat(each.ns(cause)).as("%s", cause).isEqualTo(record.causeNs(cause));
                assertThat(stages.stream().mapToLong(stage -> stage.ns(cause)).sum())
                        .isEqualTo(record.causeNs(cause));
            }
            spans.stream().filter(http -> http.id().equals(each.parent())).forEach(http -> assertThat(
                            record.identity().traceId())
                    .contains(http.trace())
                    .contains(each.trace()));
            assertThat(each.parent().equals(NO_PARENT)).isEqualTo(id.group(1).equals("alone"));
        }
        assertThat(result.err())
                .containsOnlyOnce("requests have no spans so far, since the application has not loaded OpenTelemetry")
                .containsOnlyOnce("requests are exported by the application's OpenTelemetry; 1 request that arrived"
                        + " before it was set has no span");
    }

    @Test
    void withoutAnOpenTelemetryThereIsOneMessage() throws IOException {
        ProcessResult result = run("latest", ",spans=acme", "never");

        assertThat(result.err()).containsOnlyOnce("spans=:");
        assertThat(records()).containsOnlyKeys("early");
    }

    @Test
    void nothingIsExportedUnlessItIsAskedFor() throws IOException {
        ProcessResult result = run("latest", ",spans=on", "never");
        assertThat(result.err()).contains("spans=on names no provider");
    }
}
