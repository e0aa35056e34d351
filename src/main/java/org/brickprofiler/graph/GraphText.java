package org.brickprofiler.graph;

import java.util.Locale;
import org.brickprofiler.graph.ExecutionNode.AsyncTask;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Transfer;

/** What the exports say in words. Stateless; any thread. */
final class GraphText {

    private static final String[] TIME_UNITS = {"ns", "us", "ms", "s"};

    /** What would be rounded to 1000 with four digits, and belongs to the next unit. */
    private static final double NEXT_UNIT = 999.95;

    private GraphText() {}

    /** A duration in a unit that fits, with four digits, for example {@code "12.34 ms"}. */
    static String duration(long ns) {
        double value = ns;
        int unit = 0;
        while (value >= NEXT_UNIT && unit < TIME_UNITS.length - 1) {
            value /= 1_000;
            unit++;
        }
        if (unit == 0) {
            return ns + " ns";
        }
        int decimals = value < 9.9995 ? 3 : value < 99.995 ? 2 : 1;
        return String.format(Locale.ROOT, "%." + decimals + "f %s", value, TIME_UNITS[unit]);
    }

    /** The kind of a node and what is particular to it, without its name and time; may be empty. */
    static String details(ExecutionNode node) {
        if (node instanceof Brick brick) {
            return count(brick.elements(), "element");
        }
        if (node instanceof Kernel kernel) {
            return "kernel, grid %s, block %s%s"
                    .formatted(kernel.grid(), kernel.block(), sharedMemory(kernel.sharedMemoryBytes()));
        }
        if (node instanceof Transfer transfer) {
            return "%s, %s".formatted(transfer.direction(), count(transfer.bytes(), "byte"));
        }
        if (node instanceof Function function) {
            return "function" + place(function);
        }
        return node instanceof AsyncTask task
                ? "task, %s, %s".formatted(count(task.polls(), "poll"), count(task.yields(), "yield"))
                : "";
    }

    private static String sharedMemory(int bytes) {
        return bytes == 0 ? "" : ", " + count(bytes, "byte") + " shared";
    }

    private static String place(Function function) {
        String line = function.line().isPresent() ? ":" + function.line().getAsInt() : "";
        return function.file().map(file -> " at " + file + line).orElse("");
    }

    /** A count with its unit, for example {@code "1,024 bytes"}. */
    static String count(long count, String unit) {
        return String.format(Locale.ROOT, "%,d %s%s", count, unit, count == 1 ? "" : "s");
    }
}
