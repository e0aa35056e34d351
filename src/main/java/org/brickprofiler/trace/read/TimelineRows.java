package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The rows of a timeline that is read, and what is known of each, before they become tracks. One thread. */
final class TimelineRows {

    /** No number is known. */
    static final long NONE = -1;

    /** Before the name of a counter, in place of a thread: no thread is called so. */
    private static final String COUNTER = "\u0000";

    private final String source;
    private final int most;
    private final Rows numbers;
    private final List<Row> rows = new ArrayList<>();
    private final Map<String, TracedProcess> processes = new LinkedHashMap<>();

    /** What is known of a row. */
    static final class Row {
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

        Row(String process, String thread, boolean isCounter) {
            this.process = process;
            this.thread = thread;
            this.isCounter = isCounter;
        }

        /** Whether there is anything to show. */
        boolean isUsed() {
            return events > 0 || !name.isEmpty();
        }
    }

    /** What is known of a process. */
    static final class TracedProcess {
        String name = "";
        String label = "";
    }

    TimelineRows(String source, int most) {
        this.source = source;
        this.most = most;
        this.numbers = new Rows(source, most);
    }

    /**
     * The number of the line of a thread.
     *
     * @throws TraceFormatException when there are too many rows
     */
    int line(String process, String thread, long offset) throws TraceFormatException {
        return number(process, thread, false, offset);
    }

    /** The number of the line of a thread that may not be there; negative then. */
    int find(String process, String thread) {
        return numbers.find(process, thread);
    }

    /** The number of the row of a counter, as above. */
    int counter(String process, String name, long offset) throws TraceFormatException {
        int number = number(process, COUNTER + name, true, offset);
        rows.get(number).name = name;
        return number;
    }

    private int number(String process, String thread, boolean isCounter, long offset) throws TraceFormatException {
        int number = numbers.number(process, thread, offset);
        if (number == rows.size()) {
            rows.add(new Row(process, thread, isCounter));
        }
        return number;
    }

    /**
     * What is known of a process.
     *
     * @throws TraceFormatException when there are too many
     */
    TracedProcess process(String process, long offset) throws TraceFormatException {
        TracedProcess known = processes.get(process);
        if (known != null) {
            return known;
        }
        if (processes.size() == most) {
            throw new TraceFormatException(source, offset, "there are more than " + most + " processes");
        }
        TracedProcess added = new TracedProcess();
        processes.put(process, added);
        return added;
    }

    /** The same of one that may not be known. */
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
