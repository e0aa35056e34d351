package org.brickprofiler.export;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Windows of a separate virtual machine, switched on by environment variables. */
final class WindowExportIT {

    @TempDir
    private Path folder;

    /** An engine that decodes for a number of steps, unless it is killed before. */
    static final class Engine {
        private Engine() {}

        public static void main(String[] arguments) throws InterruptedException {
            BrickProfiler profiler = BrickProfiler.builder().percentiles(true).build();
            profiler.enable();
            long steps = Long.parseLong(arguments[0]);
            for (long i = 0; i < steps; i++) {
                profiler.beginStep(StepInfo.decode(i));
                profiler.record(BrickId.RMS_NORM, 1_000 + i, 1);
                profiler.endPass();
                Thread.sleep(1);
            }
        }
    }

    private ChildProcess engine(String steps, String every) {
        return engine(Engine.class, steps, every);
    }

    private ChildProcess engine(Class<?> main, String steps, String every) {
        return ChildProcess.java(main)
                .arguments(List.of(steps))
                .environment(Map.of(
                        "BRICK_PROFILER_EXPORT", folder.toString(),
                        "BRICK_PROFILER_EXPORT_EVERY", every,
                        "BRICK_PROFILER_RUN_ID", "r1",
                        "RANK", "2",
                        "WORLD_SIZE", "4"));
    }

    private List<Path> files() throws IOException {
        Path rank = folder.resolve("r1").resolve("rank-00002");
        if (!Files.isDirectory(rank)) {
            return List.of();
        }
        try (Stream<Path> all = Files.list(rank)) {
            return all.filter(file -> file.toString().endsWith(".json"))
                    .sorted()
                    .toList();
        }
    }

    @Test
    @Spec("23.11")
    void aVirtualMachineThatIsKilledLosesTheOpenWindowAtMost() throws Exception {
        try (RunningProcess engine = engine("1000000", "20 steps").start()) {
            long giveUpNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (files().size() < 5 && System.nanoTime() < giveUpNs) {
                Thread.sleep(10);
            }
            ProcessHandle.of(engine.pid()).ifPresent(ProcessHandle::destroyForcibly);
            assertThat(engine.result().exitCode()).as("killed").isNotZero();
        }

        List<Path> files = files();
        assertThat(files).hasSizeGreaterThanOrEqualTo(5);
        long next = 0;
        for (Path file : files) {
            ProfileSnapshot window = JsonReport.read(file);
            assertThat(window.identity().firstStep()).as(file.toString()).hasValue(next);
            next = window.identity().lastStep().orElseThrow() + 1;
            assertThat(window.steps().count())
                    .isEqualTo(next - window.identity().firstStep().orElseThrow());
        }
    }

    @Test
    @Spec("23.11")
    void theEndOfAVirtualMachineWritesTheOpenWindow() throws Exception {
        engine("50", "10 min").run().assertSucceeded();

        ProfileSnapshot only = JsonReport.read(files().get(files().size() - 1));
        assertThat(only.identity().describe()).startsWith("run r1, rank 2 of 4, on ");
        assertThat(files().stream().mapToLong(WindowExportIT::steps).sum()).isEqualTo(50);
    }

    /** Two processes of one rank, such as replicas that a launcher gave the same variables, end windows together. */
    @Test
    @Spec("23.10")
    void processesOfOneRankKeepTheirWindowsApart() throws Exception {
        try (RunningProcess one = engine("1500", "100 ms").start();
                RunningProcess two = engine("1500", "100 ms").start()) {
            one.result().assertSucceeded();
            two.result().assertSucceeded();
        }

        try (Stream<Path> all = Files.walk(folder)) {
            assertThat(all.filter(file -> file.toString().endsWith(".json"))
                            .mapToLong(WindowExportIT::steps)
                            .sum())
                    .isEqualTo(3_000);
        }
        try (Stream<Path> ranks = Files.list(folder.resolve("r1"))) {
            assertThat(ranks.map(rank -> String.valueOf(rank.getFileName())))
                    .containsExactlyInAnyOrder("rank-00002", "rank-00002-2");
        }
    }

    /** Starts two copies of the library in one process, one after the other, and another process while both export. */
    static final class TwoCopies {
        private TwoCopies() {}

        public static void main(String[] arguments) throws Exception {
            Path ranks = Path.of(System.getenv("BRICK_PROFILER_EXPORT")).resolve("r1");
            URL[] path = Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                    .map(TwoCopies::url)
                    .toArray(URL[]::new);
            for (int copies = 1; copies <= 2; copies++) {
                Method main = Class.forName(
                                Engine.class.getName(),
                                true,
                                new URLClassLoader(path, ClassLoader.getPlatformClassLoader()))
                        .getMethod("main", String[].class);
                main.setAccessible(true);
                main.invoke(null, (Object) arguments);
                while (!Files.isDirectory(ranks.resolve("rank-00002" + (copies == 1 ? "" : "-" + copies)))) {
                    Thread.sleep(10);
                }
            }
            Process other = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-cp",
                            System.getProperty("java.class.path"),
                            Engine.class.getName(),
                            arguments[0])
                    .inheritIO()
                    .start();
            System.exit(other.waitFor());
        }

        private static URL url(String entry) {
            try {
                return Path.of(entry).toUri().toURL();
            } catch (MalformedURLException impossible) {
                throw new IllegalArgumentException(entry, impossible);
            }
        }
    }

    /**
     * A process loses its lock of a file when any part of it closes the file, even if that is another copy of the
     * library.
     */
    @Test
    @Spec("23.10")
    void copiesOfTheLibraryInOneProcessKeepTheirWindowsApartToo() throws Exception {
        engine(TwoCopies.class, "30", "10 steps").run().assertSucceeded();

        try (Stream<Path> ranks = Files.list(folder.resolve("r1"))) {
            assertThat(ranks.map(rank -> String.valueOf(rank.getFileName())))
                    .containsExactlyInAnyOrder("rank-00002", "rank-00002-2", "rank-00002-3");
        }
        try (Stream<Path> all = Files.walk(folder)) {
            assertThat(all.filter(file -> file.toString().endsWith(".json"))
                            .mapToLong(WindowExportIT::steps)
                            .sum())
                    .isEqualTo(90);
        }
    }

    /** Exports twice, and requires a hook at the end of the virtual machine as long as an export is open. */
    static final class Closing {
        private Closing() {}

        public static void main(String[] arguments) throws Exception {
            BrickProfiler profiler = BrickProfiler.enabled();
            for (int i = 0; i < 2; i++) {
                WindowExport export = WindowExport.start(profiler, 1, Path.of(arguments[0]));
                profiler.record(BrickId.RMS_NORM, 5, 1);
                require(true);
                export.close();
                require(false);
            }
        }

        private static void require(boolean isThere) throws ReflectiveOperationException {
            Field hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
            hooks.setAccessible(true);
            List<String> names = ((Map<?, ?>) hooks.get(null))
                    .keySet().stream().map(hook -> ((Thread) hook).getName()).toList();
            if (names.contains("brick-window-export-end") != isThere) {
                throw new IllegalStateException("the hooks are " + names);
            }
        }
    }

    @Test
    @Spec("23.11")
    void aClosedExportLeavesNoHookThatKeepsTheLibraryLoaded() throws Exception {
        ChildProcess.java(Closing.class)
                .jvmOptions(List.of("--add-opens=java.base/java.lang=ALL-UNNAMED"))
                .arguments(List.of(folder.toString()))
                .run()
                .assertSucceeded();
    }

    private static long steps(Path file) {
        try {
            return JsonReport.read(file).steps().count();
        } catch (IOException e) {
            throw new AssertionError(file.toString(), e);
        }
    }
}
