package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.metrics.micrometer.BrickMetrics;
import org.brickprofiler.metrics.otel.BrickMetricProducer;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.UserClassPath;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.otel.TimelineSpanProcessor;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Processes that have an artifact and what its POM brings, and lack the libraries of which a user chooses one. */
@Spec("20.8")
final class OptionalPartsTest {

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

    private static String printed(String part, String classPath) throws Exception {
        String all = classPath
                + File.pathSeparator
                + Path.of("target", "test-classes").toAbsolutePath();
        ProcessResult result =
                ChildProcess.java(User.class, all).arguments(List.of(part)).run();
        assertThat(result.exitCode()).as(result.output()).isZero();
        return result.out().strip();
    }

    @ParameterizedTest
    @CsvSource({"json", "html", "csv"})
    void theReportsNeedNothingMore(String part) throws Exception {
        assertThat(printed(part, UserClassPath.of())).isEqualTo("works");
    }

    @ParameterizedTest
    @CsvSource({
        "micrometer, BrickMetrics, io.micrometer:micrometer-core",
        "metrics, BrickMetricProducer, io.opentelemetry:opentelemetry-sdk-metrics",
        "spans, TimelineSpanProcessor, io.opentelemetry:opentelemetry-sdk-trace"
    })
    void theFactoryOfABridgeNamesItsArtifact(String part, String bridge, String artifact) throws Exception {
        assertThat(printed(part, UserClassPath.of("brick-profiler-metrics", "brick-profiler-timeline")))
                .isEqualTo("refused: " + bridge + " needs " + artifact
                        + ", which is neither on the class path nor on the module path: add it");
        assertThat(printed(part, System.getProperty("java.class.path"))).isEqualTo("works");
    }

    /** Without the library a constructor could not even be resolved: nothing would name the artifact. */
    @Test
    void aBridgeHasNoOtherWayThanItsFactory() {
        assertThat(List.of(BrickMetrics.class, BrickMetricProducer.class, TimelineSpanProcessor.class))
                .allSatisfy(bridge -> assertThat(bridge.getConstructors()).isEmpty());
    }
}
