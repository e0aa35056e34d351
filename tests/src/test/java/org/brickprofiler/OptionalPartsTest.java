package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.metrics.micrometer.BrickMetrics;
import org.brickprofiler.metrics.otel.BrickMetricProducer;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.otel.TimelineSpanProcessor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Processes that have the library's regular dependencies, and lack one or all of the libraries that parts of it need.
 */
@Spec("20.8")
final class OptionalPartsTest {

    private static final List<String> REGULAR = List.of("eclipse-collections", "slf4j", "jspecify", "jackson-core");

    /** Uses one part, and prints the result. */
    static final class User {
        public static void main(String[] args) {
            BrickProfiler profiler = BrickProfiler.enabled();
            profiler.record(BrickId.LM_HEAD, 10, 1);
            ProfileSnapshot snapshot = profiler.snapshot();
            try {
                System.out.println(use(args[0], snapshot));
            } catch (IllegalStateException missing) {
                System.out.println("refused: " + missing.getMessage());
            }
        }

        private static String use(String part, ProfileSnapshot snapshot) {
            return switch (part) {
                case "json" -> worksIf(JsonReport.toJson(snapshot).contains("LmHead"));
                case "html" -> worksIf(HtmlReport.render(snapshot).contains("LmHead"));
                case "csv" -> worksIf(CsvReport.toCsv(snapshot).contains("LmHead"));
                case "compare" -> {
                    List<Run> runs = List.of(Run.of("a", snapshot), Run.of("b", snapshot));
                    yield worksIf(!RunComparison.of(runs, runs, RunComparison.Options.defaults())
                            .lines()
                            .isEmpty());
                }
                case "change" ->
                    worksIf(RunComparison.Change.between(new double[] {1, 2}, new double[] {1, 2})
                                    .percent()
                            == 0);
                case "micrometer" ->
                    worksIf(BrickMetrics.Factory.create(BrickProfiler.enabled()).hashCode() != 0);
                case "metrics" ->
                    worksIf(BrickMetricProducer.Factory.create(BrickProfiler.enabled())
                                    .hashCode()
                            != 0);
                case "spans" ->
                    worksIf(TimelineSpanProcessor.Factory.create(new TraceRecorder())
                            .isStartRequired());
                default -> throw new IllegalArgumentException(part);
            };
        }

        private static String worksIf(boolean right) {
            return right ? "works" : "is wrong";
        }
    }

    private static String classPath(List<String> jars) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !entry.endsWith(".jar")
                        || jars.stream()
                                .anyMatch(jar -> new File(entry).getName().startsWith(jar)))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String classPathWithout(String jar) {
        return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> !new File(entry).getName().startsWith(jar))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static String printed(ChildProcess process, String part) throws Exception {
        ProcessResult result = process.arguments(List.of(part)).run();
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.out().strip();
    }

    @ParameterizedTest
    @CsvSource({"json", "html"})
    void theReportsNeedNothingMore(String part) throws Exception {
        assertThat(printed(ChildProcess.java(User.class, classPath(REGULAR)), part))
                .isEqualTo("works");
    }

    @ParameterizedTest
    @CsvSource({
        "micrometer, BrickMetrics, io.micrometer:micrometer-core",
        "metrics, BrickMetricProducer, io.opentelemetry:opentelemetry-sdk-metrics",
        "spans, TimelineSpanProcessor, io.opentelemetry:opentelemetry-sdk-trace"
    })
    void theFactoryOfABridgeNamesItsArtifact(String part, String bridge, String artifact) throws Exception {
        assertThat(printed(ChildProcess.java(User.class, classPath(REGULAR)), part))
                .isEqualTo("refused: " + bridge + " needs " + artifact
                        + ", which is neither on the class path nor on the module path: add it");
        assertThat(printed(ChildProcess.java(User.class, System.getProperty("java.class.path")), part))
                .isEqualTo("works");
    }

    /** Without the library a constructor could not even be resolved: nothing would name the artifact. */
    @Test
    void aBridgeHasNoOtherWayThanItsFactory() {
        assertThat(List.of(BrickMetrics.class, BrickMetricProducer.class, TimelineSpanProcessor.class))
                .allSatisfy(bridge -> assertThat(bridge.getConstructors()).isEmpty());
    }

    @ParameterizedTest
    @CsvSource({
        "csv, commons-csv",
        "compare, commons-statistics-distribution",
        "compare, commons-statistics-descriptive",
        "compare, commons-rng-simple",
        "compare, commons-rng-sampling",
        "change, commons-statistics-distribution"
    })
    void aMissingArtifactIsNamed(String part, String artifact) throws Exception {
        assertThat(printed(ChildProcess.java(User.class, classPathWithout(artifact)), part))
                .startsWith("refused: ")
                .contains("needs org.apache.commons:" + artifact + ",")
                .endsWith(": add it");
        assertThat(printed(ChildProcess.java(User.class, classPath(REGULAR)), part))
                .startsWith("refused: ")
                .contains("needs org.apache.commons:commons-");
    }
}
