package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.StringJoiner;

/**
 * What of a trace is not the same in its timeline, as text for a console. Printable ASCII, whatever the locale.
 * Stateless; any thread.
 */
public final class TimelineText {

    private static final int ARGUMENTS_SHOWN = 5;

    private TimelineText() {}

    /**
     * The differences in one line.
     *
     * @param reading the reading
     * @return for example {@code "3 arguments left out (bytes 2, grid 1), 1 async event left out"}; empty where there is
     *     none. Spans that were lost while the trace was recorded are none: the timeline tells them
     */
    public static String differences(TimelineReading reading) {
        StringJoiner all = new StringJoiner(", ");
        reading.losses().forEach((loss, count) ->
                all.add(loss.text(count) + (loss == Loss.ARGUMENT ? " " + arguments(reading) : "")));
        for (Repair repair : reading.repairs()) {
            if (repair.kind() != Repair.Kind.LOST_SPANS) {
                all.add(Figures.count(repair.count()) + " " + repair.kind().displayName() + " (first at offset "
                        + repair.firstOffset() + ")");
            }
        }
        return all.toString();
    }

    private static String arguments(TimelineReading reading) {
        StringJoiner names = new StringJoiner(", ", "(", ")");
        reading.arguments().entrySet().stream()
                .limit(ARGUMENTS_SHOWN)
                .map(TimelineText::argument)
                .forEach(names::add);
        int more = reading.arguments().size() - ARGUMENTS_SHOWN;
        return more > 0 ? names.add(more + " further kinds").toString() : names.toString();
    }

    private static String argument(Map.Entry<String, Long> argument) {
        return Figures.plain(argument.getKey()) + " " + Figures.count(argument.getValue());
    }
}
