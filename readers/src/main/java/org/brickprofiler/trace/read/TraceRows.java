package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The rows of a trace, numbered from 0 in the order in which they came, and the facts that the trace states about rows
 * and processes. A row is a pair of process and thread, or a counter of a process. A row of a Perfetto trace is a
 * track, identified by the track's identifier instead of the thread. One thread.
 */
final class TraceRows {

    /** An unknown number. */
    static final long NONE = TraceEvent.NONE;

    /** The prefix of a counter's name, used as a thread; no thread has such a name. */
    private static final String COUNTER = "\u0000";

    private final String source;
    private final int most;
    private final Map<Key, Row> numbers = new HashMap<>();
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, TracedProcess> processes = new LinkedHashMap<>();

    private record Key(String process, String thread) {}

    /** The facts known of a row. */
    static final class Row {
        final int number;
        final String process;
        final String thread;
        final boolean isCounter;
        String name = "";
        String unit = "";
        long sortIndex = NONE;
        boolean isOnDevice;
        long device = NONE;
        long stream = NONE;
        long events;
        /** The number of its events in the timeline. */
        long kept;

        boolean hasFlows;
        /** Whether the row has waits for a device. */
        boolean hasWaits;

        Row(int number, String process, String thread, boolean isCounter) {
            this.number = number;
            this.process = process;
            this.thread = thread;
            this.isCounter = isCounter;
        }

        /** Records the device of an event. */
        void noteDevice(TraceEvent event, boolean saysSo) {
            if (saysSo) {
                isOnDevice = true;
                device = Math.max(device, event.wholeNumber(TraceEvent.DEVICE));
                stream = Math.max(stream, event.wholeNumber(TraceEvent.STREAM));
            }
        }

        /** Records the stream of a wait for a device, which may also be drawn on a row of the host. */
        void noteWait(TraceEvent event) {
            hasWaits = true;
            stream = Math.max(stream, event.wholeNumber(TraceEvent.STREAM));
        }
    }

    /** The facts known of a process. */
    static final class TracedProcess {
        String name = "";
        String label = "";
    }

    TraceRows(String source, int most) {
        this.source = source;
        this.most = most;
    }

    /**
     * Returns the row of a thread.
     *
     * @throws TraceFormatException when there are too many rows
     */
    Row line(String process, String thread, long offset) throws TraceFormatException {
        return row(process, thread, false, offset);
    }

    /**
     * Returns the row of a counter.
     *
     * @throws TraceFormatException when there are too many rows
     */
    Row counter(String process, String name, long offset) throws TraceFormatException {
        Row row = row(process, COUNTER + name, true, offset);
        row.name = row.name.isEmpty() ? name : row.name;
        return row;
    }

    private Row row(String process, String thread, boolean isCounter, long offset) throws TraceFormatException {
        Key key = new Key(process, thread);
        Row known = numbers.get(key);
        if (known != null) {
            return known;
        }
        if (rows.size() == most) {
            throw new TraceFormatException(source, offset, "there are more than " + most + " rows");
        }
        Row added = new Row(rows.size(), process, thread, isCounter);
        numbers.put(key, added);
        rows.add(added);
        return added;
    }

    /** Returns the number of a thread's row; -1 if there is no such row. */
    int find(String process, String thread) {
        Row row = numbers.get(new Key(process, thread));
        return row == null ? -1 : row.number;
    }

    /**
     * Returns the facts known of a process.
     *
     * @throws TraceFormatException when there are too many
     */
    TracedProcess process(String process, long offset) throws TraceFormatException {
        TracedProcess known = processes.get(process);
        if (known == null) {
            if (processes.size() == most) {
                throw new TraceFormatException(source, offset, "there are more than " + most + " processes");
            }
            known = new TracedProcess();
            processes.put(process, known);
        }
        return known;
    }

    /** Returns the facts known of a process, empty ones if it is unknown. */
    TracedProcess process(String process) {
        return processes.getOrDefault(process, new TracedProcess());
    }

    Row get(int number) {
        return rows.get(number);
    }

    int size() {
        return rows.size();
    }
}
