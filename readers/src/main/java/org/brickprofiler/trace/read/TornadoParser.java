package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads the output of TornadoVM's profiler and passes its timers on as events. The output has one object for each
 * execution of a task graph, in sequence, between any text that the program printed. Every value is a string, a comma
 * may precede the end of an object, and there are durations but no times: the events are laid end to end, which
 * preserves the order of the executions. The tasks of an execution are in the order of a hash table.
 *
 * <p>The keys are those of {@code ProfilerType} in <a href="https://github.com/beehive-lab/TornadoVM">TornadoVM</a>,
 * times in nanoseconds. Each task's kernel, the copies, the time of dispatching, and compilations count, each under its
 * own category. The other timers contain these or are their parts: totals over tasks, code generation within a
 * compilation, and the time of the whole graph, which is the wall time. If the total kernel time exceeds the sum over
 * the tasks, the rest counts too: a task that runs in batches states only the time of its last batch.
 *
 * <p>The text between the objects is not JSON, so a JSON parser cannot find the next object. One thread.
 */
final class TornadoParser {

    // The categories of the events.
    private static final String TASK = "task";
    static final String COMPILE = "compile";
    private static final String COPY = "copy";
    private static final String DISPATCH = "dispatch";
    /** The category of a slice around others, which never counts. */
    private static final String WHOLE = "trace";

    private static final String TOTAL_KERNELS = "TOTAL_KERNEL_TIME";
    private static final String BYTES_IN = "TOTAL_COPY_IN_SIZE_BYTES";

    // The arguments of the events, in addition to those that TornadoVM names itself.
    private static final String GRAPH_ARGUMENT = "graph";
    private static final String TASK_ARGUMENT = "task";
    private static final String METHOD = "METHOD";
    private static final String BACKEND = "BACKEND";
    private static final String DEVICE = "DEVICE";
    private static final String DEVICE_ID = "DEVICE_ID";

    /** The begin of an execution: a timer of the graph, or its first task. */
    private static final String BEGIN =
            "\\{\\s*\"[^\"\\n]{1,256}\"\\s*:\\s*\\{\\s*(\"(TOTAL_[A-Z_]+|COPY_(IN|OUT)_[A-Z_]+"
                    + "|DISPATCH_TIME|ALLOCATION_BYTES|(POWER|SYSTEM)_[A-Za-z_]+)\"|\"[^\"\\n.]{1,256}\\.[^\"\\n]{1,256}\"\\s*:\\s*\\{\\s*"
                    + "\"(IP|BACKEND|METHOD|DEVICE(_ID)?|(TASK|POWER|SYSTEM)_[A-Za-z_]+)\")\\s*:\\s*\"";

    private static final Pattern BEGINS = Pattern.compile("\\s*\\[\\s*" + BEGIN);
    private static final Pattern ANYWHERE = Pattern.compile(BEGIN);

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int FIRST_TOKEN = 256;
    private static final int MOST_DIGITS = 18;

    private final InputStream in;
    private final EventCollector collector;
    private final int longestText;
    private final TraceNames names = new TraceNames();
    private final TraceEvent event = new TraceEvent();

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int limit;
    private long bufferOffset;

    /** The last string, one character for each byte. */
    private char[] token = new char[FIRST_TOKEN];

    private int tokenLength;
    private boolean isAscii;

    /** Whether the object is known to be an execution. Until then, it may be output of the program. */
    private boolean isExecution;

    /** Whether the object has begun like an execution. */
    private boolean isBegun;

    private final List<Timer> timers = new ArrayList<>();
    private long kernelsNs;
    private long kernelsOffset;
    private long bytesIn;
    private long bytesOut;
    private long bytesOutInStep;
    private String lastDevice = "";
    private long laidNs;

    /** A time of an execution, and its task if it belongs to one. Immutable. */
    private record Timer(
            String name,
            String category,
            long ns,
            long offset,
            @Nullable Task task) {}

    /** The attributes of a task beside its times. */
    private static final class Task {
        private final String name;
        private String method = "";
        private String backend = "";
        private String device = "";
        private String deviceId = "";

        Task(String name) {
            this.name = name;
        }
    }

    private TornadoParser(InputStream in, ReadOptions.Limits limits, EventCollector collector) {
        this.in = in;
        this.collector = collector;
        this.longestText = limits.stringLength();
    }

    /** Returns whether a text begins as an array of executions. */
    static boolean begins(String head) {
        return BEGINS.matcher(head).lookingAt();
    }

    /** Returns whether an execution begins in the given beginning of a text that is no Chrome trace. */
    static boolean beginsIn(String head) {
        return !head.contains("\"traceEvents\"") && ANYWHERE.matcher(head).find();
    }

    /**
     * Reads all executions.
     *
     * @param text the text, unpacked; left open
     * @param limits the limits of memory
     * @param collector receives the events
     * @throws TraceFormatException when an execution is damaged, or the view needs times
     * @throws IOException when the text cannot be read
     */
    static void parse(InputStream text, ReadOptions.Limits limits, EventCollector collector) throws IOException {
        collector.withoutTimes("TornadoVM's profiler");
        collector.head.hasTaskGraphs = true;
        TornadoParser parser = new TornadoParser(text, limits, collector);
        try {
            parser.document();
        } catch (TraceInput.DamagedException damaged) {
            throw TraceFormatException.damage(
                    collector.source, parser.offset(), String.valueOf(damaged.getMessage()), damaged);
        } catch (TraceRule.TooCostly fault) {
            throw new TraceFormatException(
                    collector.source, parser.offset(), String.valueOf(fault.getMessage()), fault);
        }
    }

    private void document() throws IOException {
        for (int next = peek(); next >= 0; next = peek()) {
            if (next == '{') {
                execution();
            } else {
                at++;
            }
        }
        collector.end(offset());
    }

    // ---- an execution ----

    /** Reads an object; stops at the first token that shows that it is no execution. */
    private void execution() throws IOException {
        isExecution = false;
        isBegun = false;
        timers.clear();
        kernelsNs = TraceEvent.NONE;
        bytesIn = 0;
        bytesOut = 0;
        bytesOutInStep = 0;
        at++;
        if (!is('"') || !string()) {
            return;
        }
        String graph = text();
        if (!expect(':') || !is('{')) {
            return;
        }
        isBegun = true;
        if (members(null) && expect('}') && isExecution) {
            deliver(graph);
        }
    }

    /** Reads the members of a graph or a task, from the opening brace. */
    private boolean members(@Nullable Task task) throws IOException {
        at++;
        while (!is('}')) {
            long offset = offset();
            if (!is('"') || !string()) {
                return unexpected();
            }
            String key = text();
            if (!expect(':')) {
                return false;
            }
            if (is('"')) {
                if (!string()) {
                    return unexpected();
                }
                take(key, offset, task);
            } else if (task != null || !is('{')) {
                return unexpected();
            } else if (!members(new Task(key))) {
                return false;
            }
            if (is(',')) {
                at++;
            } else if (!is('}')) {
                return unexpected();
            }
        }
        at++;
        return true;
    }

    private void take(String key, long offset, @Nullable Task task) {
        if (task != null) {
            takeOfTask(key, offset, task);
            return;
        }
        switch (key) {
            case "COPY_IN_TIME", "COPY_OUT_TIME", "COPY_OUT_TIME_SYNC" -> add(key, COPY, offset, null);
            case "TOTAL_DISPATCH_KERNEL_TIME", "TOTAL_DISPATCH_DATA_TRANSFERS_TIME", "DISPATCH_TIME" ->
                add(key, DISPATCH, offset, null);
            case "TOTAL_BYTE_CODE_GENERATION" -> add(key, COMPILE, offset, null);
            case "TOTAL_TASK_GRAPH_TIME", "TOTAL_TASK_SCHEDULE_TIME" -> add(key, WHOLE, offset, null);
            case TOTAL_KERNELS -> {
                isExecution = true;
                kernelsNs = Bounds.duration(number());
                kernelsOffset = offset;
            }
            case BYTES_IN -> takeBytesIn();
            case "TOTAL_COPY_OUT_SIZE_BYTES" -> bytesOut = number();
            case "COPY_OUT_SIZE_BYTES_SYNC" -> bytesOutInStep = number();
            default -> {
                // A part or a total of other timers, or no time at all.
            }
        }
    }

    private void takeOfTask(String key, long offset, Task task) {
        switch (key) {
            case "TASK_KERNEL_TIME" -> add(task.name, TASK, offset, task);
            case "TASK_COMPILE_GRAAL_TIME", "TASK_COMPILE_DRIVER_TIME" -> add(key, COMPILE, offset, task);
            case METHOD -> task.method = text();
            case BACKEND -> task.backend = text();
            case DEVICE -> task.device = text();
            case DEVICE_ID -> task.deviceId = text();
            case BYTES_IN -> takeBytesIn();
            default -> {
                // A part or a total of other timers, or no time at all.
            }
        }
    }

    /** Adds the bytes of the graph's arrays or of one task's context, all of whose copies COPY_IN_TIME contains. */
    private void takeBytesIn() {
        long bytes = number();
        // A sum beyond the bound stays beyond it.
        bytesIn = bytes < 0 || bytesIn < 0
                ? TraceEvent.MALFORMED_BYTES
                : Math.min(Bounds.MOST_COUNT + 1, bytesIn + Math.min(Bounds.MOST_COUNT + 1, bytes));
    }

    private void add(String name, String category, long offset, @Nullable Task task) {
        isExecution = true;
        timers.add(new Timer(name, category, Bounds.duration(number()), offset, task));
    }

    // ---- its events ----

    private void deliver(String graph) throws IOException {
        long tasksNs = 0;
        String prefix = graph + '.';
        for (Timer timer : timers) {
            boolean isKernel = timer.category().equals(TASK);
            tasksNs += isKernel ? Math.max(0, timer.ns()) : 0;
            // TornadoVM prefixes the name of a task with that of its graph.
            String name = isKernel && timer.name().startsWith(prefix)
                    ? timer.name().substring(prefix.length())
                    : timer.name();
            accept(timer, name, prefix);
        }
        if (kernelsNs > tasksNs) {
            accept(new Timer(TOTAL_KERNELS, TASK, kernelsNs - tasksNs, kernelsOffset, null), TOTAL_KERNELS, prefix);
        } else if (kernelsNs >= 0 && kernelsNs < tasksNs) {
            collector.fault(Omission.Reason.OTHER_TOTAL, 1, kernelsOffset);
        }
    }

    private void accept(Timer timer, String name, String prefix) throws IOException {
        event.clear(timer.offset());
        event.phase = 'X';
        event.name = name;
        event.category = timer.category();
        event.startNs = laidNs;
        event.elapsedNs = timer.ns();
        argument(GRAPH_ARGUMENT, prefix.substring(0, prefix.length() - 1));
        Task task = timer.task();
        if (task != null) {
            device(task);
            argument(TASK_ARGUMENT, task.name.startsWith(prefix) ? task.name.substring(prefix.length()) : task.name);
            argument(METHOD, task.method);
            argument(BACKEND, task.backend);
            argument(DEVICE, task.device);
        } else if (timer.category().equals(COPY)) {
            long bytes =
                    name.equals("COPY_IN_TIME") ? bytesIn : name.equals("COPY_OUT_TIME") ? bytesOut : bytesOutInStep;
            event.bytes = bytes < 0 ? TraceEvent.MALFORMED_BYTES : bytes;
        }
        collector.accept(event);
        if (Microseconds.isTime(timer.ns()) && timer.ns() > 0) {
            if (timer.category().equals(WHOLE)) {
                collector.head.addWholeNs(timer.ns(), timer.offset());
            } else {
                laidNs = Math.min(Bounds.LATEST_NS, laidNs + timer.ns());
            }
        }
    }

    private void argument(String key, String value) {
        if (collector.wants(key)) {
            collector.keep(event, key, value, null);
        }
    }

    private void device(Task task) {
        if (!task.device.equals(lastDevice)) {
            lastDevice = task.device;
            int colon = task.deviceId.indexOf(':');
            long index = TraceEvent.wholeNumberOf(task.deviceId.substring(colon + 1));
            collector.head.device(index, task.device, task.backend, TraceEvent.NONE);
        }
    }

    // ---- the text ----

    /** Returns whether the next non-blank byte is the wanted one, without consuming it. */
    private boolean is(int wanted) throws IOException {
        int next = peek();
        while (next == ' ' || next == '\n' || next == '\r' || next == '\t') {
            at++;
            next = peek();
        }
        return next == wanted;
    }

    private boolean expect(int wanted) throws IOException {
        if (is(wanted)) {
            at++;
            return true;
        }
        return unexpected();
    }

    /**
     * Returns false if the object is not known to be an execution.
     *
     * @throws TraceFormatException when an execution breaks off, since the text is then damaged
     */
    private boolean unexpected() throws IOException {
        int found = peek();
        if (!isExecution && (found >= 0 || !isBegun)) {
            return false;
        }
        String what = found < 0
                ? "the text ends within an execution of a task graph"
                : (found < ' ' || found > '~' ? "the byte " + found : "'" + (char) found + "'")
                        + " is not expected in an execution of a task graph";
        throw TraceFormatException.damage(collector.source, offset(), what);
    }

    /** Reads a string from its opening quotation mark; returns false if the string does not end in its line. */
    private boolean string() throws IOException {
        at++;
        tokenLength = 0;
        isAscii = true;
        boolean isEscaped = false;
        for (int next = peek(); next >= ' ' && tokenLength < longestText; next = peek()) {
            at++;
            if (next == '"' && !isEscaped) {
                return true;
            }
            isEscaped = next == '\\' && !isEscaped;
            isAscii &= next < 0x80;
            if (tokenLength == token.length) {
                token = Arrays.copyOf(token, 2 * tokenLength);
            }
            token[tokenLength++] = (char) next;
        }
        return false;
    }

    /** Returns the last string unchanged: TornadoVM escapes nothing. */
    private String text() {
        if (isAscii) {
            return names.of(token, 0, tokenLength);
        }
        byte[] bytes = new String(token, 0, tokenLength).getBytes(StandardCharsets.ISO_8859_1);
        return TraceNames.bounded(new String(bytes, StandardCharsets.UTF_8));
    }

    /** Returns the last string as a whole number. */
    private long number() {
        boolean isNegative = tokenLength > 0 && token[0] == '-';
        int first = isNegative ? 1 : 0;
        if (tokenLength == first) {
            return Microseconds.MALFORMED;
        }
        if (tokenLength - first > MOST_DIGITS) {
            return Microseconds.OUT_OF_RANGE;
        }
        long value = 0;
        for (int i = first; i < tokenLength; i++) {
            int digit = token[i] - '0';
            if (digit < 0 || digit > 9) {
                return Microseconds.MALFORMED;
            }
            value = 10 * value + digit;
        }
        return isNegative ? -value : value;
    }

    /** Returns the next byte without consuming it; -1 at the end. */
    private int peek() throws IOException {
        return at < limit ? buffer[at] & 0xff : fill();
    }

    private int fill() throws IOException {
        bufferOffset += limit;
        at = 0;
        limit = Math.max(0, in.read(buffer, 0, BUFFER_BYTES));
        return limit == 0 ? -1 : buffer[0] & 0xff;
    }

    private long offset() {
        return bufferOffset + at;
    }
}
