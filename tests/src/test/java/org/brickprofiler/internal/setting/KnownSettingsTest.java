package org.brickprofiler.internal.setting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.SourceTree;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Spec("2.16")
final class KnownSettingsTest {

    /** A loader that finds no artifact beside the library, as in a process that has the library alone. */
    private static final ClassLoader ALONE = ClassLoader.getPlatformClassLoader();

    private static final ClassLoader ALL = KnownSettingsTest.class.getClassLoader();

    private static final Map<String, String> GOOD = Map.of(
            "BRICK_PROFILER", "on",
            "BRICK_PROFILER_OUT", "run.json",
            "BRICK_PROFILER_EXPORT_EVERY", "1 s",
            "PATH", "/bin");

    private static final Pattern READ = Pattern.compile("ofProfiler\\(\"(\\w+)\"\\)|\"brick\\.profiler\\.([a-z_.]+)\"");

    @ParameterizedTest
    @CsvSource({
        "brick.profiler.cuda.binding, BRICK_PROFILER_CUDA_BINDING, brick-profiler-gpu",
        "brick.profiler.shortest_ns, BRICK_PROFILER_SHORTEST_NS, brick-profiler-agent"
    })
    void aMissingArtifactIsNamed(String property, String variable, String artifact) {
        List<String> faults = KnownSettings.faults(Map.of(property, "1"), Map.of(variable, "2"), ALONE);
        String reason = " has no effect: the artifact org.brickprofiler:" + artifact
                + " is neither on the class path nor on the module path: add it";
        assertThat(faults)
                .containsExactly("the setting " + property + "=1" + reason, "the setting " + variable + "=2" + reason);
        assertThat(KnownSettings.faults(Map.of(property, "1"), Map.of(variable, "2"), ALL))
                .isEmpty();
    }

    @Test
    void anUnknownSettingIsNamedWithTheKnownOnes() {
        assertThat(KnownSettings.faults(Map.of("brick.profiler.exprot", "a"), GOOD, ALL))
                .singleElement()
                .asString()
                .startsWith("the setting brick.profiler.exprot=a has no effect: it is unknown. Known are ")
                .contains(" brick.profiler.export, ", " brick.profiler.trace, ", " brick.profiler.cuda.binding, ")
                .doesNotContain("owner");
        assertThat(KnownSettings.faults(GOOD, Map.of("BRICK_PROFILER_METAL_LIBRARY", "a"), ALL))
                .as("a setting that is a property only")
                .singleElement()
                .asString()
                .contains("BRICK_PROFILER_METAL_LIBRARY=a has no effect: it is unknown. Known are ");
    }

    @Test
    void settingsWithAnEffectAndBlankOnesAreNoFaults() {
        Map<String, String> properties = Map.of(
                "brick.profiler", "off", "brick.profiler.rank", "1", "brick.profiler.typo", " ", "user.dir", "/");
        assertThat(KnownSettings.faults(properties, GOOD, ALONE)).isEmpty();
        assertThat(KnownSettings.faults(Map.of("brick.profiler.metal.library", "a"), GOOD, ALL))
                .isEmpty();
    }

    /** What is not in the list would be reported as unknown, although it has an effect. */
    @Test
    void everySettingThatTheSourcesReadIsKnown() throws IOException {
        Set<String> keys = new TreeSet<>();
        for (Path file : SourceTree.javaFiles()) {
            if (file.toString().replace('\\', '/').contains("/src/main/")) {
                Matcher read = READ.matcher(Files.readString(file));
                while (read.find()) {
                    keys.add(read.group(1) != null ? read.group(1) : read.group(2));
                }
            }
        }
        assertThat(keys).contains("export_every", "kernels", "percentiles");
        assertThat(keys).allSatisfy(key -> assertThatCode(() -> KnownSettings.artifact(key))
                .as(key)
                .doesNotThrowAnyException());
    }

    /** A program that uses the library. */
    static final class Engine {
        private Engine() {}

        public static void main(String[] arguments) {
            BrickProfiler.enabled();
            BrickProfiler.enabled();
        }
    }

    @Test
    void theFirstProfilerThatIsSwitchedOnWarns() throws IOException {
        assertThat(ChildProcess.java(Engine.class)
                        .environment(Map.of("BRICK_PROFILER_EXPROT", "a"))
                        .run()
                        .assertSucceeded()
                        .err())
                .containsOnlyOnce("WARNING: the setting BRICK_PROFILER_EXPROT=a has no effect: it is unknown.");
    }
}
