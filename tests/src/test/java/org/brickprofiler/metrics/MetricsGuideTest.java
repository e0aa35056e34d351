package org.brickprofiler.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.exporter.otlp.http.metrics.OtlpHttpMetricExporter;
import io.opentelemetry.sdk.metrics.export.MetricExporter;
import java.io.StringWriter;
import java.lang.management.ManagementFactory;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.ObjectName;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The unchanged example of docs/GUIDE.md is compiled and provides the metrics. */
@OneJdk
public class MetricsGuideTest {

    private static final Pattern EXAMPLE = Pattern.compile("```java\\R(BrickMetrics.*?)```", Pattern.DOTALL);

    private static final List<String> IMPORTS = List.of(
            "io.opentelemetry.api.common.*",
            "io.opentelemetry.sdk.metrics.*",
            "io.opentelemetry.sdk.metrics.export.*",
            "jdk.jfr.consumer.*",
            "org.brickprofiler.jfr.*",
            "org.brickprofiler.metrics.jmx.*",
            "org.brickprofiler.metrics.micrometer.*",
            "org.brickprofiler.metrics.otel.*");

    @TempDir
    Path folder;

    /** The names that the example assumes. */
    public abstract static class Surroundings {
        protected final BrickProfiler profiler = BrickProfiler.enabled();
        protected final MeterRegistry registry = new SimpleMeterRegistry();
        protected final MetricExporter exporter = OtlpHttpMetricExporter.builder()
                .setEndpoint("http://127.0.0.1:9/")
                .build();

        /** Runs the example. */
        public abstract void run();
    }

    @Test
    @Timeout(60)
    void theExampleRuns() throws Exception {
        Matcher example = EXAMPLE.matcher(Files.readString(SourceTree.path("docs", "GUIDE.md")));
        assertThat(example.find()).isTrue();
        StringBuilder source = new StringBuilder();
        IMPORTS.forEach(name -> source.append("import ").append(name).append(";\n"));
        source.append("public class Example extends ")
                .append(Surroundings.class.getCanonicalName())
                .append(" {\npublic void run() {\n")
                .append(example.group(1))
                .append("stream.close();\nmeters.close();\n}\n}\n");
        Path file = Files.writeString(folder.resolve("Example.java"), source);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        StringWriter messages = new StringWriter();
        boolean compiled = compiler.getTask(
                        messages,
                        null,
                        null,
                        List.of("-proc:none", "-d", folder.toString(), "-cp", System.getProperty("java.class.path")),
                        null,
                        compiler.getStandardFileManager(null, null, null).getJavaFileObjects(file))
                .call();
        assertThat(compiled).as(messages.toString()).isTrue();
        ObjectName name = new ObjectName("org.brickprofiler:type=BrickProfile,name=engine");
        try (URLClassLoader loader =
                new URLClassLoader(new URL[] {folder.toUri().toURL()}, MetricsGuideTest.class.getClassLoader())) {
            Surroundings run = (Surroundings)
                    loader.loadClass("Example").getDeclaredConstructor().newInstance();
            run.profiler.record(BrickId.RMS_NORM, 5, 7);
            run.run();

            assertThat(run.registry.get("brick.elements").functionCounter().count())
                    .isEqualTo(7);
            assertThat(ManagementFactory.getPlatformMBeanServer().getAttribute(name, "Samples"))
                    .isEqualTo(1L);
        } finally {
            ManagementFactory.getPlatformMBeanServer().unregisterMBean(name);
        }
    }
}
