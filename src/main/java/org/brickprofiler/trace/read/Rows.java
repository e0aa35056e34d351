package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.Map;

/** The rows of a trace, by numbers from 0 on. One thread. */
final class Rows {

    private final String source;
    private final int most;
    private final Map<Row, Integer> numbers = new HashMap<>();

    private record Row(String process, String thread) {}

    Rows(String source, int most) {
        this.source = source;
        this.most = most;
    }

    /**
     * The number of an event's row.
     *
     * @throws TraceFormatException when there are too many
     */
    int number(RawEvent event) throws TraceFormatException {
        return number(event.process, event.thread, event.offset);
    }

    /** The number of a row that may not be there; -1 then. */
    int find(String process, String thread) {
        return numbers.getOrDefault(new Row(process, thread), -1);
    }

    /** The number of a row, as above. */
    int number(String process, String thread, long offset) throws TraceFormatException {
        Row row = new Row(process, thread);
        Integer number = numbers.get(row);
        if (number != null) {
            return number;
        }
        if (numbers.size() == most) {
            throw new TraceFormatException(source, offset, "there are more than " + most + " rows");
        }
        numbers.put(row, numbers.size());
        return numbers.size() - 1;
    }
}
