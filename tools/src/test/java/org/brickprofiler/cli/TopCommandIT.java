package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.metrics.jmx.BrickProfileBean;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.RunningProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineLog;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Watches a process by its id. */
@Timeout(120)
class TopCommandIT {

    private static final int SAMPLES_BEFORE = 1_000;

    @TempDir
    private Path folder;

    /** An engine that registers one profiler that is on and one that is off, or none. */
    static final class Engine {
        private Engine() {}

        public static void main(String[] names) throws Exception {
            Path folder = Path.of(names[0]);
            BrickProfiler on = BrickProfiler.enabled();
            TraceRecorder recorder = TraceRecorder.builder().lines(true).build();
            recorder.lineLog().orElseThrow().begin(20_000_000);
            BrickProfiler off = BrickProfiler.builder().tracing(recorder).build();
            if (names.length > 1) {
                BrickProfileBean.register(on, "on");
                BrickProfileBean.register(off, "off");
            }
            for (int i = 0; i < SAMPLES_BEFORE; i++) {
                on.record(BrickId.RMS_NORM, 1, 1);
            }
            on.requests().arrived(1);
            Files.createFile(folder.resolve("ready"));
            while (!Files.exists(folder.resolve("end"))) {
                Thread.sleep(5);
                runBrick(off, recorder);
            }
            JsonReport.write(on.snapshot(), folder.resolve("on.json"));
            Files.writeString(
                    folder.resolve("off.txt"),
                    off.isEnabled() + " " + off.brickStats(BrickId.LM_HEAD).count());
        }
    }

    /** Runs a brick, and samples it as a flight recording would. */
    private static void runBrick(BrickProfiler profiler, TraceRecorder recorder) {
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        long withinNs = recorder.nowNs();
        profiler.stopBrick(timer, 1);
        LineLog log = recorder.lineLog().orElseThrow();
        log.sample(Thread.currentThread().getId(), withinNs, false, List.of(new Frame("a.Head.run", 7, "Inlined")));
        log.reported(recorder.nowNs(), recorder.nowNs(), 0);
    }

    private RunningProcess start(String... names) throws Exception {
        ChildProcess child = ChildProcess.java(Engine.class).arguments(List.of(folder.toString()));
        RunningProcess engine = child.arguments(List.of(names)).start();
        await("ready");
        return engine;
    }

    private void await(String file) throws InterruptedException {
        while (!Files.exists(folder.resolve(file))) {
            Thread.sleep(10);
        }
    }

    @Spec({"25.16", "25.17"})
    @Test
    void leavesTheProcessAsItWas() throws Exception {
        try (RunningProcess engine = start("with profilers")) {
            assertThat(top(engine, "other").err()).contains("has no profiler 'other': choose one by --name: off, on");
            Cli off = top(engine, "off");
            assertThat(off.out())
                    .contains(", off, on while it is watched", "LmHead  Other", "Lines of bricks since the last reset")
                    .containsPattern("LmHead, \\d+ samples\\n +100 % \\(\\d+ to 100\\) +a.Head.run line 7, inlined");
            assertThat(top(engine, "on").out())
                    .contains("Bricks: none were recorded.", "1 waiting request.\nThe oldest request arrived ");
            Files.createFile(folder.resolve("end"));
            engine.result().assertSucceeded();
        }
        assertThat(folder.resolve("off.txt")).content().matches("false [1-9]\\d*");
        ProfileSnapshot on = JsonReport.read(folder.resolve("on.json"));
        assertThat(on.brick(BrickId.RMS_NORM.displayName()).orElseThrow().count())
                .isEqualTo(SAMPLES_BEFORE);
    }

    private static Cli top(RunningProcess engine, String name) {
        return Cli.run("top", Long.toString(engine.pid()), "--count", "1", "--name", name);
    }

    /** Ends by a key, by Ctrl-C, and with the process. */
    @Spec("25.20")
    @ParameterizedTest
    @ValueSource(strings = {"printf q", "printf '\\003'", "touch end"})
    void fillsAPseudoTerminalAndRestoresIt(String ending) throws Exception {
        requirePseudoTerminals();
        try (RunningProcess engine = start("with profilers")) {
            Files.writeString(folder.resolve("top.sh"), """
                    trap : INT
                    stty rows 20 cols 90
                    stty -g > before
                    "$1" -cp "$2" "$3" top "$4" --name off
                    stty -g > after
                    """);
            Files.writeString(folder.resolve("user.sh"), """
                    await() { until grep -q "$1" screen; do sleep 0.1; done; }
                    touch screen
                    await 'Keys: q ends'
                    await 'LmHead'
                    printf s
                    await 'Bricks by p99'
                    %s
                    """.formatted(ending));
            // Without exec, some shells would wait for top.sh, and end by Ctrl-C. A build in the background may ignore
            // Ctrl-C, and so would its children.
            ChildProcess.of("sh")
                    .arguments(List.of(
                            "-c",
                            "sh user.sh | script -qefc \"exec env --default-signal=INT sh top.sh '$0' '$1' '$2' '$3'\" screen",
                            ChildProcess.javaProgram().toString(),
                            System.getProperty("java.class.path"),
                            Brick.class.getName(),
                            Long.toString(engine.pid())))
                    .environment(Map.of("TERM", "xterm", "LC_ALL", "C.UTF-8"))
                    .without("NO_COLOR")
                    .in(folder)
                    .run()
                    .assertSucceeded();
        }
        String screen = Files.readString(folder.resolve("screen"));
        assertThat(screen).containsOnlyOnce("\u001b[?1049h\u001b[?25l").containsOnlyOnce("\u001b[?25h\u001b[?1049l");
        String page = screen.substring(screen.lastIndexOf("\u001b[H"), screen.indexOf("\u001b[?25h"));
        assertThat(List.of(page.split("\\r+\\n")))
                .hasSize(20)
                .last()
                .asString()
                .contains("Keys: q ends, s changes the order");
        assertThat(page).contains("\u001b[1mbrick", "\u2588");
        assertThat(screen.substring(screen.indexOf("\u001b[?1049l")))
                .contains("LmHead")
                .doesNotContain("Keys:");
        assertThat(folder.resolve("after")).hasSameTextualContentAs(folder.resolve("before"));
    }

    /** Skips a test on systems whose {@code script} is another program of that name. */
    private static void requirePseudoTerminals() throws IOException {
        Fixture.TERMINAL.needProgram("script");
        String version =
                ChildProcess.of("script").arguments(List.of("--version")).run().output();
        if (!version.contains("util-linux")) {
            throw Fixture.TERMINAL.missing("the program script is not that of util-linux");
        }
    }

    @Spec("25.17")
    @Test
    void refusesAProcessWithoutAProfiler() throws Exception {
        try (RunningProcess engine = start()) {
            Cli top = Cli.run("top", Long.toString(engine.pid()));
            assertThat(top.exitCode()).isEqualTo(2);
            assertThat(top.err()).contains("has no profiler that can be read: start it with the agent");
            Files.createFile(folder.resolve("end"));
        }
    }

    /** The signal that asks a virtual machine to let another process attach would end any other program. */
    @Spec("25.17")
    @Test
    void doesNoHarmToOtherPrograms() throws IOException {
        try (RunningProcess other =
                ChildProcess.of("sleep").arguments(List.of("60")).start()) {
            assertThat(Cli.run("top", Long.toString(other.pid())).err()).contains("is no Java process of this user");
            assertThat(ProcessHandle.of(other.pid())).get().matches(ProcessHandle::isAlive);
            other.terminate();
        }
    }
}
