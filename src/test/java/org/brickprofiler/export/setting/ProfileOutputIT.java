package org.brickprofiler.export.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The profile that the library writes at the end of a virtual machine. Each engine is a process of its own. */
@Spec("23.13")
final class ProfileOutputIT {

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void choose() {
        file = folder.resolve("run.json");
    }

    /** The engines. Only the one named "writes" has code that writes a profile. */
    static final class Engine {
        private static final List<Object> HELD = new ArrayList<>();

        private Engine() {}

        public static void main(String[] arguments) throws Exception {
            switch (arguments[0]) {
                case "plain" -> record(BrickProfiler.enabled(), 3);
                case "several" -> {
                    BrickProfiler warm = BrickProfiler.enabled();
                    record(warm, 100);
                    warm.reset();
                    record(warm, 3);
                    warm.snapshotAndReset();
                    record(warm, 4);
                    record(BrickProfiler.enabled(), 5);
                    warm.setTokensPerSec(12.5);
                    new BrickProfiler().record("never switched on", 1, 1);
                }
                case "many" -> {
                    for (int i = 0; i < 40; i++) {
                        record(BrickProfiler.enabled(), 1);
                    }
                }
                case "writes" -> {
                    BrickProfiler profiler = BrickProfiler.enabled();
                    record(profiler, 2);
                    JsonReport.write(profiler.snapshot(), Path.of(System.getenv("BRICK_PROFILER_OUT")));
                    record(profiler, 5);
                }
                case "parent" -> {
                    record(BrickProfiler.enabled(), 7);
                    Process child = new ProcessBuilder(
                                    Path.of(System.getProperty("java.home"), "bin", "java")
                                            .toString(),
                                    "-cp",
                                    System.getProperty("java.class.path"),
                                    Engine.class.getName(),
                                    "plain")
                            .inheritIO()
                            .start();
                    System.exit(child.waitFor());
                }
                case "loaders" -> {
                    record(BrickProfiler.enabled(), 3);
                    URL[] path = Arrays.stream(
                                    System.getProperty("java.class.path").split(File.pathSeparator))
                            .map(Engine::url)
                            .toArray(URL[]::new);
                    try (URLClassLoader other = new URLClassLoader(path, ClassLoader.getPlatformClassLoader())) {
                        Method main = Class.forName(Engine.class.getName(), true, other)
                                .getMethod("main", String[].class);
                        main.setAccessible(true);
                        main.invoke(null, (Object) new String[] {"plain"});
                    }
                }
                case "records" -> {
                    BrickProfiler profiler = BrickProfiler.enabled();
                    CountDownLatch begun = new CountDownLatch(2);
                    for (int thread = 0; thread < 2; thread++) {
                        Thread worker = new Thread(() -> {
                            while (true) {
                                profiler.record(BrickId.RMS_NORM, 10, 2);
                                begun.countDown();
                            }
                        });
                        worker.setDaemon(true);
                        worker.start();
                    }
                    begun.await();
                    System.exit(0);
                }
                case "fills" -> {
                    record(BrickProfiler.enabled(), 3);
                    for (int size = 1 << 20; size > 1 << 19; ) {
                        try {
                            HELD.add(new byte[size]);
                        } catch (OutOfMemoryError full) {
                            size /= 2;
                        }
                    }
                    // As an engine does that spends a moment on the error before it ends.
                    Thread.sleep(300);
                }
                case "dies" -> {
                    record(BrickProfiler.enabled(), 3);
                    Runtime.getRuntime().halt(9);
                }
                default -> throw new IllegalArgumentException(arguments[0]);
            }
        }

        private static void record(BrickProfiler profiler, int samples) {
            for (int i = 0; i < samples; i++) {
                profiler.record(BrickId.RMS_NORM, 1_000, 1);
            }
        }

        private static URL url(String entry) {
            try {
                return Path.of(entry).toUri().toURL();
            } catch (IOException e) {
                throw new IllegalArgumentException(entry, e);
            }
        }
    }

    private ProcessResult run(String engine, String... options) throws IOException {
        return ChildProcess.java(Engine.class)
                .arguments(List.of(engine))
                .jvmOptions(List.of(options))
                .environment(Map.of("BRICK_PROFILER_OUT", file.toString()))
                .run();
    }

    private List<String> names() throws IOException {
        try (Stream<Path> all = Files.list(folder)) {
            return all.map(each -> each.getFileName().toString()).sorted().toList();
        }
    }

    private static long samples(Path profile) throws IOException {
        return JsonReport.read(profile).bricks().stream()
                .mapToLong(BrickStats::count)
                .sum();
    }

    @Test
    void anEngineNeedsNoCode() throws Exception {
        run("plain").assertSucceeded();
        assertThat(samples(file)).isEqualTo(3);
        assertThat(Files.readString(file)).contains("\"total_throughput\"");
        assertThat(names()).containsExactly("run.json");
    }

    @Test
    void oneProfileHasTheSamplesOfAllProfilersThatWereNotDiscarded() throws Exception {
        run("several").assertSucceeded();
        assertThat(samples(file)).isEqualTo(3 + 4 + 5);
        assertThat(JsonReport.read(file).facts().tokensPerSec()).hasValue(12.5);
        assertThat(JsonReport.read(file).bricks()).extracting(BrickStats::name).containsExactly("RmsNorm");
        assertThat(names()).containsExactly("run.json");
    }

    @Test
    void profilersBeyondTheBoundAreCountedInTheProfile() throws Exception {
        assertThat(run("many").err()).contains("the profile has the first 32 profilers of this process");
        assertThat(samples(file)).isEqualTo(32);
        assertThat(JsonReport.read(file).facts().disturbances())
                .containsExactly("the profile lacks 8 of 40 profilers of the process");
    }

    @Test
    void withTheProfilerOffThereIsAProfileWithoutBricks() throws Exception {
        run("several", "-Dbrick.profiler=off").assertSucceeded();
        assertThat(samples(file)).isZero();
        assertThat(JsonReport.read(file).facts().tokensPerSec()).hasValue(12.5);
    }

    @Test
    void theProfileOfTheApplicationStays() throws Exception {
        run("writes").assertSucceeded();
        assertThat(samples(file)).isEqualTo(2);
        assertThat(names()).containsExactly("run.json");
    }

    @Test
    void aChildThatInheritsTheVariableHasAFileOfItsOwn() throws Exception {
        ProcessResult result = run("parent");
        result.assertSucceeded();
        assertThat(samples(file)).as("the first to end").isEqualTo(3);
        assertThat(names()).hasSize(2);
        String other = names().get(0);
        assertThat(other).matches("run-\\d+\\.json");
        assertThat(samples(folder.resolve(other))).isEqualTo(7);
        assertThat(result.err()).contains("another process has written " + file, other);
    }

    @Test
    void twoCopiesOfTheLibraryWriteOneProfile() throws Exception {
        ProcessResult result = run("loaders");
        result.assertSucceeded();
        assertThat(samples(file)).isEqualTo(3);
        assertThat(names()).containsExactly("run.json");
        assertThat(result.err()).contains("the profile lacks the samples of this copy of the library");
    }

    @Test
    void threadsMayRecordMeanwhile() throws Exception {
        run("records").assertSucceeded();
        BrickStats norm = JsonReport.read(file).bricks().get(0);
        assertThat(norm.totalNs()).isEqualTo(10 * norm.count());
        assertThat(norm.totalElements()).isEqualTo(2 * norm.count());
    }

    @Test
    void aFullHeapLeavesEnoughForTheProfile() throws Exception {
        ProcessResult result = run("fills", "-Xmx256m", "-XX:+UseSerialGC");
        result.assertSucceeded();
        assertThat(file).as(result.err()).exists();
        assertThat(samples(file)).isEqualTo(3);
    }

    @Test
    void aProfileOfAnEarlierRunIsNotTakenForThatOfOneThatDied() throws Exception {
        run("plain").assertSucceeded();
        assertThat(run("dies").exitCode()).isEqualTo(9);
        assertThat(file).doesNotExist();
    }

    @Test
    void aFolderThatIsMissingIsNamedAtTheStart() throws Exception {
        file = folder.resolve("none").resolve("run.json");
        ProcessResult result = run("plain");
        result.assertSucceeded();
        assertThat(result.err())
                .contains(
                        "BRICK_PROFILER_OUT: no profile is written to '" + file + "'",
                        "the folder " + file.getParent() + " does not exist");
    }

    /** As in an image that jlink made without the module of the management beans. */
    @Test
    void anImageWithoutManagementHasAProfileWithoutThoseFigures() throws Exception {
        ProcessResult result = run("plain", "--limit-modules", "java.base,java.logging");
        result.assertSucceeded();
        assertThat(result.err()).doesNotContain("Exception", "Error");
        assertThat(samples(file)).isEqualTo(3);
        assertThat(JsonReport.read(file).facts().virtualMachines()).isEmpty();
    }
}
