package org.brickprofiler.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/** A process gets its input, any output of it is read, and waiting for it always ends. */
class ChildProcessTest {

    /** More than any pipe holds. */
    private static final int LARGE_BYTES = 1 << 20;

    private static final long LONGEST_NS = Duration.ofMinutes(1).toNanos();

    @TempDir
    Path folder;

    /** The program of the processes. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] args) throws Exception {
            switch (args[0]) {
                case "tell" -> {
                    System.out.println(System.getProperty("user.dir") + " " + System.getProperty("greeting"));
                    System.out.println(System.getenv("CHILD_SET") + " " + System.getenv("CHILD_TAKEN_OUT"));
                    System.out.println(List.of(args) + " " + System.in.read());
                    System.err.println("to err");
                    System.exit(3);
                }
                case "print much" -> {
                    System.err.print("e".repeat(LARGE_BYTES));
                    System.out.print("o".repeat(LARGE_BYTES));
                }
                case "hang" -> {
                    System.err.println("a warning");
                    System.out.println("hangs now");
                    new CountDownLatch(1).await();
                }
                default -> throw new IllegalArgumentException(args[0]);
            }
        }
    }

    /** Waits until all output of the process is read, which takes longer than the timeouts here. */
    private static void awaitHanging(RunningProcess process) throws InterruptedException {
        while (!process.printed().equals("hangs now" + System.lineSeparator() + "a warning" + System.lineSeparator())) {
            if (Thread.interrupted()) {
                throw new InterruptedException(process.printed());
            }
            Thread.onSpinWait();
        }
    }

    private static ChildProcess hanging() {
        return ChildProcess.java(Probe.class).arguments(List.of("hang"));
    }

    @Test
    void getsItsInputAndLeavesItsOutput() throws IOException {
        ProcessResult result = ChildProcess.java(Probe.class)
                .jvmOptions(List.of("-Dgreeting=hello"))
                .arguments(List.of("tell"))
                .arguments(List.of("two words"))
                .environment(Map.of("CHILD_SET", "set", "CHILD_TAKEN_OUT", "still there"))
                .without("CHILD_TAKEN_OUT")
                .in(folder.toRealPath())
                .run();

        assertThat(result.out().lines())
                .containsExactly(folder.toRealPath() + " hello", "set null", "[tell, two words] -1");
        assertThat(result.err().lines()).containsExactly("to err");
        assertThat(result.output()).isEqualTo(result.out() + result.err());
        assertThat(result.exitCode()).isEqualTo(3);
        assertThatThrownBy(result::assertSucceeded)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("two words")
                .hasMessageContaining("to err");
    }

    @Test
    void bothOutputsMayBeLargerThanAPipe() throws IOException {
        ProcessResult result =
                ChildProcess.java(Probe.class).arguments(List.of("print much")).run();

        assertThat(result.assertSucceeded().err()).hasSize(LARGE_BYTES).containsOnlyOnce("e".repeat(LARGE_BYTES));
        assertThat(result.out()).hasSize(LARGE_BYTES).containsOnlyOnce("o".repeat(LARGE_BYTES));
    }

    @Test
    void isKilledAtItsTimeoutAndItsOutputIsReported() throws Exception {
        try (RunningProcess process = hanging().limit(Duration.ofMillis(1)).start()) {
            awaitHanging(process);

            assertThatThrownBy(process::result)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("not at its end after 1 ms: ")
                    .hasMessageContaining(Probe.class.getName() + " hang\n")
                    .hasMessageContaining("hangs now")
                    .hasMessageContaining("a warning");
            assertThat(process.outputEndsWithin(LONGEST_NS)).isTrue();
        }
    }

    @Test
    @EnabledOnOs(
            value = {OS.LINUX, OS.MAC},
            disabledReason = "needs a shell")
    void processesThatItStartedAreKilledToo() throws Exception {
        // The command after it keeps the shell alive, which would otherwise be replaced by the first command.
        ChildProcess shell = hanging().through(List.of("sh", "-c", "\"$@\"; exit 5", "sh"));
        try (RunningProcess process = shell.limit(Duration.ofMillis(1)).start()) {
            awaitHanging(process);

            assertThatThrownBy(process::result).isInstanceOf(AssertionError.class);
            assertThat(process.outputEndsWithin(LONGEST_NS)).isTrue();
        }
    }

    @Test
    void anInterruptedTestReportsTheOutputAndStaysInterrupted() throws Exception {
        try (RunningProcess process = hanging().start()) {
            awaitHanging(process);
            Thread.currentThread().interrupt();

            assertThatThrownBy(process::result)
                    .isInstanceOf(AssertionError.class)
                    .hasMessageStartingWith("interrupted while this was running: ")
                    .hasMessageContaining("hangs now");
            assertThat(Thread.interrupted()).isTrue();
            assertThat(process.outputEndsWithin(LONGEST_NS)).isTrue();
        }
    }

    @Test
    void aProgramThatIsMissingCannotBeStarted() {
        assertThatThrownBy(() -> ChildProcess.of("no-such-program").run())
                .isInstanceOf(IOException.class)
                .hasMessageContaining("no-such-program");
    }
}
