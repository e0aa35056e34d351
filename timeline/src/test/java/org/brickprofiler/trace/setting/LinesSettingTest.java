package org.brickprofiler.trace.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.LineProfile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Lines that settings alone switch on. */
final class LinesSettingTest {

    /**
     * For how long a processor runs each brick of the engine: 30 samples, more on a busy machine. The last samples of
     * the second one arrive after its end.
     */
    private static final long BRICK_NS = 600_000_000;

    @TempDir
    Path folder;

    /** An engine without code for lines; a process of its own, since settings are read once. */
    static final class Engine {
        private static float result;

        private Engine() {}

        public static void main(String[] arguments) {
            BrickProfiler profiler = BrickProfiler.enabled();
            run(profiler, BrickId.UP_PROJECTION);
            run(profiler, BrickId.LM_HEAD);
            if (result < 0) {
                throw new AssertionError("what the engine computed is lost");
            }
        }

        private static void run(BrickProfiler profiler, BrickId brick) {
            ThreadMXBean times = ManagementFactory.getThreadMXBean();
            long endNs = times.getCurrentThreadCpuTime() + BRICK_NS;
            while (times.getCurrentThreadCpuTime() < endNs) {
                profiler.beginStep(StepInfo.decode(1));
                long timer = profiler.startBrick(brick);
                multiply();
                profiler.stopBrick(timer, 1);
                profiler.endPass();
            }
        }

        private static void multiply() {
            for (int i = 0; i < 100_000; i++) {
                result = result * 0.5f + i;
            }
        }
    }

    private static long samplesOfWindows(Path windows) throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(windows)) {
            files = all.filter(each -> each.toString().endsWith(".json")).toList();
        }
        assertThat(files).hasSizeGreaterThan(1);
        long samples = 0;
        for (Path window : files) {
            samples += LineProfile.ofReport(Files.newInputStream(window)).orElseThrow().bricks().stream()
                    .mapToLong(LineProfile.OfBrick::samples)
                    .sum();
        }
        return samples;
    }

    @Spec("13.18")
    @Test
    void theProfileHasTheLinesUpToTheEndOfTheProcessBesideATimeline() throws Exception {
        Path profile = folder.resolve("run.json");
        Path timeline = folder.resolve("run.pftrace");
        Path windows = folder.resolve("windows");
        ProcessResult ended = ChildProcess.java(Engine.class)
                .jvmOptions(List.of("-Dbrick.profiler.lines=perhaps"))
                .environment(Map.of(
                        "BRICK_PROFILER_LINES", "on",
                        "BRICK_PROFILER_OUT", profile.toString(),
                        "BRICK_PROFILER_TRACE", timeline.toString(),
                        "BRICK_PROFILER_EXPORT", windows.toString(),
                        "BRICK_PROFILER_EXPORT_EVERY", "300 ms"))
                .run()
                .assertSucceeded();
        assertThat(ended.err()).contains("brick.profiler.lines=perhaps is neither true, on, 1 nor false, off, 0");
        assertThat(timeline).isNotEmptyFile();

        LineProfile lines = LineProfile.ofReport(Files.newInputStream(profile)).orElseThrow();
        assertThat(lines.missing()).isEmpty();
        assertThat(lines.bricks())
                .extracting(LineProfile.OfBrick::brick)
                .containsExactlyInAnyOrder(BrickId.UP_PROJECTION.displayName(), BrickId.LM_HEAD.displayName());
        assertThat(lines.bricks()).allSatisfy(brick -> assertThat(brick.java().methods(1))
                .extracting(CallTree.Share::place)
                .containsExactly(Engine.class.getName() + ".multiply"));
        assertThat(samplesOfWindows(windows)).isEqualTo(lines.samples().inBricks());
        assertThat(Files.readString(profile))
                .containsPattern("of its samples \\([0-9 to]+ %\\) are in .*multiply line");
    }
}
