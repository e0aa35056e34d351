package org.brickprofiler.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Kernel timings as lines for a log: a header, then a line each, in the order given. The columns are those of
 * {@link #HEADER}; times are ms to the nanosecond. Stateless; any thread.
 */
final class KernelLines {

    static final List<String> HEADER = List.of("name", "backend", "avg", "min", "max", "last", "n");

    private static final String TIME = " %12.6fms";
    private static final String COUNT = " %10d";
    private static final String HEADER_FORMAT = " %-7s %14s %14s %14s %14s %10s";
    private static final char REPLACEMENT = '?';

    private KernelLines() {}

    static List<String> of(List<KernelTiming> timings) {
        List<String> names =
                timings.stream().map(timing -> onOneLine(timing.name())).toList();
        int width = Math.max(
                HEADER.get(0).length(),
                names.stream().mapToInt(String::length).max().orElse(0));
        String name = "%-" + width + "s";
        List<String> lines = new ArrayList<>();
        lines.add(String.format(Locale.ROOT, name + HEADER_FORMAT, HEADER.toArray()));
        for (int i = 0; i < timings.size(); i++) {
            KernelTiming timing = timings.get(i);
            lines.add(String.format(
                    Locale.ROOT,
                    name + " %-7s" + TIME.repeat(4) + COUNT,
                    names.get(i),
                    timing.backend(),
                    timing.avgMs(),
                    timing.minMs(),
                    timing.maxMs(),
                    timing.lastMs(),
                    timing.dispatchCount()));
        }
        return lines;
    }

    /** A name that cannot begin a line of its own in somebody's log. */
    private static String onOneLine(String name) {
        StringBuilder line = new StringBuilder(name.length());
        for (int i = 0; i < name.length(); i++) {
            char character = name.charAt(i);
            line.append(isBreak(character) ? REPLACEMENT : character);
        }
        return line.toString();
    }

    private static boolean isBreak(char character) {
        return Character.isISOControl(character)
                || Character.getType(character) == Character.LINE_SEPARATOR
                || Character.getType(character) == Character.PARAGRAPH_SEPARATOR;
    }
}
