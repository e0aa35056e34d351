package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.logging.ErrorManager;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.logging.MemoryHandler;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

@Spec("13.12")
final class TimelineLogHandlerTest {

    private static final long MOST_BETWEEN_CLOCKS_NS = 50_000_000;

    private final TraceRecorder recorder = new TraceRecorder();
    private final TimelineLogHandler handler = new TimelineLogHandler(recorder);
    private final Logger logger = Logger.getLogger("org.brickprofiler.test.engine");
    private final String thread = Thread.currentThread().getName();

    TimelineLogHandlerTest() {
        logger.setUseParentHandlers(false);
        logger.setLevel(Level.ALL);
    }

    private record Mark(String text, long atNs) {}

    private List<Mark> marks(String track) {
        Timeline timeline = recorder.timeline();
        List<Mark> marks = new ArrayList<>();
        for (int i = 0; i < timeline.tracks().size(); i++) {
            if (timeline.tracks().get(i).name().equals(track)) {
                timeline.replay(i, new TimelineVisitor() {
                    @Override
                    public void span(Span span) {
                        throw new AssertionError("no spans here");
                    }

                    @Override
                    public void instant(long atNs, int name) {
                        marks.add(new Mark(
                                timeline.names().get(name).category() + " "
                                        + timeline.names().get(name).name(),
                                atNs));
                    }

                    @Override
                    public void counter(long atNs, double value) {
                        throw new AssertionError("no counters here");
                    }
                });
            }
        }
        return marks;
    }

    private List<String> texts(String track) {
        return marks(track).stream().map(Mark::text).toList();
    }

    @Test
    void aRecordIsAnInstantOnTheTrackOfItsThread() throws Exception {
        logger.addHandler(handler);
        try {
            long beforeNs = recorder.nowNs();
            logger.log(Level.WARNING, "batch of {0} is full", 8);
            logger.info("first line\nsecond line");
            logger.fine("\u0000");
            logger.log(new LogRecord(Level.INFO, null));
            Crew.runOnNewThread(() -> logger.severe("there"));
            long afterNs = recorder.nowNs();

            assertThat(texts(thread))
                    .containsExactly(
                            "Log WARNING org.brickprofiler.test.engine: batch of 8 is full",
                            "Log INFO org.brickprofiler.test.engine: first line",
                            "Log FINE org.brickprofiler.test.engine:  ",
                            "Log INFO");
            assertThat(texts("crew-0")).containsExactly("Log SEVERE org.brickprofiler.test.engine: there");
            assertThat(marks(thread))
                    .allMatch(mark -> mark.atNs() >= beforeNs - MOST_BETWEEN_CLOCKS_NS && mark.atNs() <= afterNs);
        } finally {
            logger.removeHandler(handler);
        }
    }

    /** A buffering handler publishes records later, and on whichever thread. */
    @Test
    void aRecordLiesAtItsOwnTime() throws Exception {
        recorder.instant("here");
        MemoryHandler memory = new MemoryHandler(handler, 10, Level.OFF);
        LogRecord made = new LogRecord(Level.INFO, "made here");
        made.setInstant(Instant.now().minusSeconds(60));
        memory.publish(made);
        long nowNs = recorder.nowNs();
        Crew.runOnNewThread(memory::push);

        Mark mark = marks(thread).stream()
                .filter(each -> each.text().equals("Log INFO: made here"))
                .findFirst()
                .orElseThrow();
        assertThat(nowNs - mark.atNs()).isBetween(60_000_000_000L - MOST_BETWEEN_CLOCKS_NS, 61_000_000_000L);
    }

    @Test
    void levelFilterAndCloseAreObeyed() {
        handler.setLevel(Level.WARNING);
        handler.publish(new LogRecord(Level.INFO, "too low"));
        handler.setFilter(log -> !log.getMessage().equals("filtered"));
        handler.publish(new LogRecord(Level.SEVERE, "filtered"));
        handler.publish(new LogRecord(Level.SEVERE, "kept"));
        handler.flush();
        handler.close();
        handler.publish(new LogRecord(Level.SEVERE, "too late"));

        assertThat(texts(thread)).containsExactly("Log SEVERE: kept");
    }

    @Test
    void messagesPastTheBoundAreCountedWithoutTheirText() {
        for (int message = 0; message < TimelineLogHandler.MOST_NAMES; message++) {
            handler.publish(named("a", "message " + message));
        }
        handler.publish(named("a", "message 0"));
        handler.publish(named("a", "one more"));
        handler.publish(named("b", "one more"));
        for (int other = 0; other < TimelineLogHandler.MOST_NAMES; other++) {
            handler.publish(named("logger " + other, "one more"));
        }

        List<String> texts = texts(thread);
        assertThat(texts).hasSize(2 * TimelineLogHandler.MOST_NAMES + 3);
        assertThat(texts.subList(TimelineLogHandler.MOST_NAMES, TimelineLogHandler.MOST_NAMES + 3))
                .containsExactly(
                        "Log INFO a: message 0", "Log INFO a (message not kept)", "Log INFO b (message not kept)");
        assertThat(texts.get(texts.size() - 1)).isEqualTo("Log INFO (message not kept)");
        recorder.instant("still named");
        assertThat(texts(thread)).contains("Application still named");
    }

    private static LogRecord named(String logger, String message) {
        LogRecord log = new LogRecord(Level.INFO, message);
        log.setLoggerName(logger);
        return log;
    }

    @Test
    void aFailureGoesToTheErrorManager() {
        List<String> errors = new ArrayList<>();
        handler.setErrorManager(new ErrorManager() {
            @Override
            public synchronized void error(String message, Exception failed, int code) {
                errors.add(message + ": " + failed.getMessage());
            }
        });
        handler.publish(new LogRecord(Level.INFO, "x") {
            @Override
            public Instant getInstant() {
                throw new IllegalStateException("no clock");
            }
        });
        assertThat(errors).containsExactly("a log record is not on the timeline: no clock");
    }

    @Test
    void recordsOfTheSystemLoggerReachIt() {
        Logger behind = Logger.getLogger("org.brickprofiler.test.system");
        behind.setUseParentHandlers(false);
        behind.addHandler(handler);
        try {
            System.getLogger("org.brickprofiler.test.system").log(System.Logger.Level.INFO, "token {0}", 7);
            assertThat(texts(thread)).containsExactly("Log INFO org.brickprofiler.test.system: token 7");
        } finally {
            behind.removeHandler(handler);
        }
    }
}
