package org.brickprofiler.internal.base;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.LogManager;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Messages of the library, in this process with a sink and in others with the platform's loggers. */
@Spec("20.12")
class LogTest {

    private static final Log LOG = Log.of(LogTest.class);

    private final List<String> written = new ArrayList<>();

    private void capture(Level least) {
        Log.sendTo(
                least,
                (level, logger, message, thrown) ->
                        written.add(level + " " + logger + " " + message + (thrown == null ? "" : " " + thrown)));
    }

    @AfterEach
    void restore() {
        Log.sendToPlatform();
    }

    @Test
    void eachPlaceOfTheMessageTakesAValue() {
        capture(Level.INFO);
        LOG.info("no value");
        LOG.info("{}", "gemm{} CUDA");
        LOG.info("'{}' of {}: {}", "a", 2, null);
        LOG.info("a place without a value: {}, {}", 1);
        LOG.info("a value without a place", 1);
        String name = LogTest.class.getName();
        assertThat(written)
                .containsExactly(
                        "INFO " + name + " no value",
                        "INFO " + name + " gemm{} CUDA",
                        "INFO " + name + " 'a' of 2: null",
                        "INFO " + name + " a place without a value: 1, {}",
                        "INFO " + name + " a value without a place");
    }

    @Test
    void aThrowableWithoutAPlaceIsTheCause() {
        capture(Level.INFO);
        IllegalStateException failed = new IllegalStateException("on purpose");
        LOG.warn("{} failed", "it", failed);
        LOG.error("{} failed", failed);
        assertThat(written.get(0)).endsWith(" it failed " + failed);
        assertThat(written.get(1)).endsWith(" " + failed + " failed");
    }

    @Test
    void aSinkReceivesNothingLessSevereThanItAsksFor() {
        capture(Level.WARNING);
        LOG.info("information");
        LOG.warn("warning");
        LOG.error("error");
        assertThat(written).hasSize(2);
        assertThat(LOG.isInfoEnabled()).isFalse();
        capture(Level.INFO);
        assertThat(LOG.isInfoEnabled()).isTrue();
    }

    /** An application whose {@code java.util.logging} is set up, and closes its handlers in a shutdown hook. */
    static final class Application {

        private Application() {}

        public static void main(String[] arguments) throws Exception {
            if (arguments[0].equals("sets a manager")) {
                Log.of(Application.class);
                System.setProperty("java.util.logging.manager", Manager.class.getName());
            }
            System.out.println(LogManager.getLogManager().getClass().getSimpleName());
            Thread hook = new Thread(() -> {
                LogManager.getLogManager().reset();
                Log.of(Application.class).error("said at the end", new IllegalStateException("its cause"));
            });
            Runtime.getRuntime().addShutdownHook(hook);
            Log.of(Application.class).warn("said before");
        }
    }

    /** A manager of an application. */
    public static final class Manager extends LogManager {}

    @Test
    void aWarningReachesThePersonWithoutAnyProvider() throws Exception {
        ProcessResult result = application("says");
        assertThat(result.err()).containsOnlyOnce("WARNING: said before");
    }

    @Test
    void aMessageOfAShutdownHookIsNotLost() throws Exception {
        ProcessResult result = application("says");
        assertThat(result.err())
                .containsOnlyOnce("ERROR " + Application.class.getName() + ": said at the end")
                .contains("IllegalStateException: its cause");
    }

    @Test
    void theApplicationChoosesItsManagerAfterALoggerWasMade() throws Exception {
        assertThat(application("sets a manager").out()).startsWith("Manager");
        assertThat(application("sets none").out()).startsWith("LogManager");
    }

    private static ProcessResult application(String kind) throws Exception {
        return ChildProcess.java(Application.class)
                .arguments(List.of(kind))
                .run()
                .assertSucceeded();
    }
}
