package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.jspecify.annotations.Nullable;

/**
 * Hands over events of some types of a flight recording, in the order of the file, as the JDK reads them. The others
 * are not parsed, which takes a fifth of the time. One thread.
 */
final class SelectedEvents {

    private final Map<String, List<Action>> actions = new LinkedHashMap<>();
    private long events;
    private @Nullable Throwable failure;

    /** Receives an event. */
    interface Action {
        /**
         * Receives an event.
         *
         * @throws IOException when it cannot be used
         */
        void event(RecordedEvent recorded) throws IOException;
    }

    /** Adds what receives the events of a type. */
    void on(String type, Action action) {
        actions.computeIfAbsent(type, first -> new ArrayList<>()).add(action);
    }

    /**
     * Reads a recording whose sizes add up.
     *
     * @param counts the events of the recording by the names of their types
     * @throws DamagedException when the JDK does not read all of them
     * @throws IOException when the file cannot be read, or an action fails
     */
    void read(Path file, Map<String, Long> counts) throws IOException {
        actions.keySet().retainAll(counts.keySet());
        if (actions.isEmpty()) {
            // A stream without actions parses all events.
            return;
        }
        try (EventStream stream = EventStream.openFile(file)) {
            stream.setReuse(false);
            stream.setOrdered(false);
            actions.forEach((type, ofType) -> stream.onEvent(type, event -> take(stream, event, ofType)));
            stream.start();
        }
        ReadingThread.rethrow(failure);
        long expected = actions.keySet().stream()
                .mapToLong(type -> counts.getOrDefault(type, 0L))
                .sum();
        if (events != expected) {
            throw unread(file, expected);
        }
    }

    /** The stream prints what an action throws, and goes on. */
    private void take(EventStream stream, RecordedEvent event, List<Action> ofType) {
        if (failure != null) {
            return;
        }
        try {
            events++;
            for (Action action : ofType) {
                action.event(event);
            }
        } catch (IOException | RuntimeException | Error failed) {
            failure = failed;
            stream.close();
        }
    }

    /** Returns why the stream ended early, which it does not say; the JDK's other reader does. */
    private DamagedException unread(Path file, long expected) {
        try (RecordingFile recording = new RecordingFile(file)) {
            while (recording.hasMoreEvents()) {
                recording.readEvent();
            }
        } catch (IOException | RuntimeException | InternalError failed) {
            return new DamagedException(DamagedException.reason(failed));
        }
        return new DamagedException(
                "it has " + expected + " events of the types that matter, of which the JDK reads " + events);
    }
}
