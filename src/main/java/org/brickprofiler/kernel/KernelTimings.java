package org.brickprofiler.kernel;

import static org.brickprofiler.internal.base.Checks.requireName;
import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.Backend;
import org.brickprofiler.device.ClockConversion;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.DispatchTimer;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Collects the times of kernels, for code that gets the times from its driver, or measures them by {@link #time} or a
 * {@link DispatchTimer}. It keeps sums by kernel (a name on a {@link Backend}), and command buffers with their
 * dispatches by label.
 *
 * <p>Every method may be called from any thread. Threads that {@link #record} wait neither for each other nor for a
 * reader; command buffers and dispatches share one short lock. Only the first sample of a kernel on a thread allocates.
 *
 * <p><b>Switches.</b> An object is on until {@link #disable}. The system property {@code brick.profiler.kernels}, or if
 * it is not set the environment variable {@code BRICK_PROFILER_KERNELS}, controls all objects of a virtual machine
 * permanently: {@code false}, {@code off} or {@code 0} switch them off, {@code true}, {@code on}, {@code 1} and an
 * empty value leave them on, and any other value is ignored with a warning. {@code brick.profiler} and
 * {@code BRICK_PROFILER}, which switch the whole profiler off, have the same effect. The switch is read once, into a
 * constant, so compiled code contains no part of a disabled call.
 *
 * <p><b>Names.</b> At least 4,000 kernels of each backend are distinguished, and 4,096 labels between two resets.
 * Further kernels and labels are counted together as {@value #OTHER_NAMES}, separately for each backend, which is
 * logged once.
 *
 * <p><b>Errors.</b> Null and empty names, negative numbers and intervals that end before they begin are refused with an
 * {@link IllegalArgumentException}, also while recording is off by {@link #disable}; nothing is recorded then.
 */
public final class KernelTimings {

    /** The name under which kernels and labels beyond the limits are counted. */
    public static final String OTHER_NAMES = NameTable.OTHER_NAMES;

    private static final Log LOG = Log.of(KernelTimings.class);

    private static final SwitchSetting SWITCH = SwitchSetting.ofProfiler().on()
            ? SwitchSetting.of("brick.profiler.kernels", "BRICK_PROFILER_KERNELS")
            : SwitchSetting.ofProfiler();

    /** A constant, so that compiled code omits disabled calls. */
    private static final boolean AVAILABLE = SWITCH.on();

    private static final String HEADER_FORMAT = " %-7s %14s %14s %14s %14s %10s";
    private static final String LINE_FORMAT = " %-7s" + " %12.6fms".repeat(4) + " %10d";

    private static final AtomicBoolean SWITCH_LOGGED = new AtomicBoolean();
    private static final KernelTimings GLOBAL = new KernelTimings();

    /**
     * The recorded times of the command buffers with one label on one backend. Immutable.
     *
     * @param label the label; {@link KernelTimings#OTHER_NAMES} for all labels beyond the limit
     * @param backend the backend
     * @param count number of command buffers; 0 if only dispatches were recorded
     * @param totalNs sum of their durations, ns; command buffers may overlap, so this can exceed the elapsed time
     * @param minNs shortest duration, ns; 0 without command buffers
     * @param maxNs longest duration, ns
     * @param dispatches their dispatches, in the order they were recorded
     */
    public record CommandBuffer(
            String label,
            Backend backend,
            long count,
            long totalNs,
            long minNs,
            long maxNs,
            List<Dispatch> dispatches) {

        /** Copies the list. */
        public CommandBuffer {
            Objects.requireNonNull(label, "label");
            Objects.requireNonNull(backend, "backend");
            Objects.requireNonNull(dispatches, "dispatches");
            dispatches = List.copyOf(dispatches);
        }

        CommandBuffer with(List<Dispatch> recorded) {
            return new CommandBuffer(label, backend, count, totalNs, minNs, maxNs, recorded);
        }

        /**
         * One dispatch of a command buffer. Immutable.
         *
         * @param label the label of its command buffer
         * @param operation the dispatched operation
         * @param index its index in the command buffer, 0 or more
         * @param startNs its begin, ns: host time if a clock conversion was given, otherwise the time that the caller
         *     gave
         * @param endNs its end, ns, on the same clock
         */
        public record Dispatch(String label, String operation, int index, long startNs, long endNs) {

            /**
             * Rejects null.
             *
             * @throws NullPointerException when a component is null; the message names it
             */
            public Dispatch {
                Objects.requireNonNull(label, "label");
                Objects.requireNonNull(operation, "operation");
            }

            /**
             * Returns its duration.
             *
             * @return ns, 0 or more
             */
            public long elapsedNs() {
                return endNs - startNs;
            }
        }
    }

    private final NanoClock clock;
    private final Map<Backend, NamedKernels> tables = new EnumMap<>(Backend.class);
    private final DispatchLog dispatches = new DispatchLog();
    private final AtomicLong throttledCalls = new AtomicLong();

    private volatile boolean enabled = true;

    /** Creates separate timings, which are on unless all timings are switched off. */
    public KernelTimings() {
        this(NanoClock.SYSTEM);
    }

    /**
     * Creates separate timings with a clock, which {@link #time} reads, and which determines the last sample of a
     * kernel.
     */
    KernelTimings(NanoClock clock) {
        this.clock = clock;
        for (Backend backend : Backend.values()) {
            tables.put(backend, new NamedKernels(backend));
        }
    }

    /**
     * Returns the timings that all code of this virtual machine can share.
     *
     * @return always the same object
     */
    public static KernelTimings global() {
        return GLOBAL;
    }

    // ---- the switch ----

    /** Switches recording on. If all timings are switched off permanently, the call only logs a warning, once. */
    public void enable() {
        if (AVAILABLE) {
            enabled = true;
        } else if (SWITCH_LOGGED.compareAndSet(false, true)) {
            LOG.warn("kernel timings stay off: {}", SWITCH.reason());
        }
    }

    /** Switches recording off; recorded times are kept. */
    public void disable() {
        enabled = false;
    }

    /**
     * Returns whether recording is on.
     *
     * @return false after {@link #disable}, and always if all timings are switched off permanently
     */
    public boolean isEnabled() {
        return AVAILABLE && enabled;
    }

    // ---- kernels ----

    /**
     * Records one dispatch of a kernel. Reads the clock once, to determine which dispatch was the last.
     *
     * @param name the kernel's name; neither null nor empty
     * @param backend the backend
     * @param elapsedNs its duration, ns, 0 or more
     * @throws IllegalArgumentException when the name is null or empty, or the duration is negative
     */
    public void record(String name, Backend backend, long elapsedNs) {
        if (!AVAILABLE) {
            return;
        }
        requireName("name", name);
        requireNotNegative("elapsedNs", elapsedNs);
        NamedKernels table = table(backend);
        if (enabled) {
            table.add(name, elapsedNs, clock.nanoTime());
        }
    }

    /**
     * Runs a dispatch on the host, and records its duration by the host's clock, even if the dispatch throws. Reads no
     * clock while recording is off.
     *
     * @param name the kernel's name; neither null nor empty
     * @param dispatch completes the work before it returns
     * @throws IllegalArgumentException when the name is null or empty, or the dispatch is null; nothing is run then
     */
    public void time(String name, Runnable dispatch) {
        requireName("name", name);
        requirePresent("dispatch", dispatch);
        if (!isEnabled()) {
            dispatch.run();
            return;
        }
        long startNs = clock.nanoTime();
        try {
            dispatch.run();
        } finally {
            recordSince(startNs, name);
        }
    }

    /**
     * Runs a dispatch on the host that has a result, as {@link #time(String, Runnable)} does.
     *
     * @param <T> the type of the result
     * @param name the kernel's name; neither null nor empty
     * @param dispatch completes the work before it returns
     * @return its result
     * @throws IllegalArgumentException when the name is null or empty, or the dispatch is null; nothing is run then
     */
    public <T> T time(String name, Supplier<T> dispatch) {
        requireName("name", name);
        requirePresent("dispatch", dispatch);
        if (!isEnabled()) {
            return dispatch.get();
        }
        long startNs = clock.nanoTime();
        try {
            return dispatch.get();
        } finally {
            recordSince(startNs, name);
        }
    }

    private void recordSince(long startNs, String name) {
        long nowNs = clock.nanoTime();
        table(Backend.CPU).add(name, Math.max(0, nowNs - startNs), nowNs);
    }

    /**
     * Runs code that enqueues a dispatch on a device, waits for the device, and records the duration on the device. If
     * the timer reads 0, because the device reports no time, nothing is recorded. To wait once for many dispatches, see
     * {@link DispatchTimer}.
     *
     * @param name the kernel's name; neither null nor empty
     * @param backend the backend
     * @param timer a timer of the stream in which it is enqueued; no other code may use the timer during the call
     * @param dispatch enqueues the work
     * @throws IllegalArgumentException when the name is null or empty, or another argument is null; nothing is run then
     */
    public void time(String name, Backend backend, DeviceTimer timer, Runnable dispatch) {
        requireName("name", name);
        requirePresent("backend", backend);
        requirePresent("timer", timer);
        requirePresent("dispatch", dispatch);
        if (!isEnabled()) {
            dispatch.run();
            return;
        }
        timer.recordStart();
        try {
            dispatch.run();
        } finally {
            timer.recordEnd();
            long elapsedNs = timer.elapsedNs();
            if (elapsedNs > 0) {
                record(name, backend, elapsedNs);
            }
        }
    }

    private static void requirePresent(String what, @Nullable Object value) {
        if (value == null) {
            throw new IllegalArgumentException(what + " must not be null");
        }
    }

    private NamedKernels table(Backend backend) {
        NamedKernels table = tables.get(backend);
        if (table == null) {
            throw new IllegalArgumentException("backend must not be null");
        }
        return table;
    }

    /**
     * Returns the kernels that were recorded since the last reset. The values of each kernel are consistent, also while
     * other threads record.
     *
     * @return an immutable list, largest total first, then by name and backend
     */
    public List<KernelTiming> snapshot() {
        return sorted(NamedKernels::read);
    }

    /**
     * Resets the kernels, and returns their timings until then: no dispatch is lost or counted twice. Command buffers
     * are kept.
     *
     * @return the same as {@link #snapshot}
     */
    public List<KernelTiming> snapshotAndReset() {
        return sorted(NamedKernels::readAndReset);
    }

    private List<KernelTiming> sorted(Function<NamedKernels, Stream<KernelTiming>> reading) {
        return tables.values().stream()
                .flatMap(reading)
                .sorted(KernelTiming.LARGEST_FIRST)
                .toList();
    }

    /**
     * Compares two snapshots by kernel. A kernel without dispatches counts as absent.
     *
     * @param before the first snapshot, each kernel at most once
     * @param after the second snapshot, each kernel at most once
     * @return the changes, and the kernels of one snapshot only
     * @throws IllegalArgumentException when a kernel occurs twice in a snapshot
     */
    public static KernelSpeedup speedup(List<KernelTiming> before, List<KernelTiming> after) {
        Objects.requireNonNull(before, "before");
        Objects.requireNonNull(after, "after");
        return KernelSpeedup.of(before, after);
    }

    // ---- command buffers ----

    /**
     * Records a command buffer whose times are nanoseconds already.
     *
     * @param label its label; command buffers with equal labels on one backend are summed
     * @param backend the backend
     * @param startNs its begin, ns since any fixed origin, 0 or more
     * @param endNs its end, ns, {@code startNs} or more
     * @throws IllegalArgumentException when the label is null or empty, or the interval negative or reversed
     */
    public void recordCommandBuffer(String label, Backend backend, long startNs, long endNs) {
        recordCommandBuffer(label, backend, startNs, endNs, ClockConversion.IDENTITY);
    }

    /**
     * Records a command buffer.
     *
     * @param label its label; command buffers with equal labels on one backend are summed
     * @param backend the backend
     * @param startTicks the device's counter at its begin, 0 or more
     * @param endTicks the device's counter at its end, {@code startTicks} or more
     * @param clock the conversion of ticks to nanoseconds
     * @throws IllegalArgumentException when the label is null or empty, or the interval negative, reversed or outside
     *     the range of host time
     */
    public void recordCommandBuffer(
            String label, Backend backend, long startTicks, long endTicks, ClockConversion clock) {
        if (!AVAILABLE) {
            return;
        }
        requireLabel(label, backend);
        long elapsedNs = clock.elapsedNs(startTicks, endTicks);
        if (enabled) {
            dispatches.addCommandBuffer(label, backend, elapsedNs);
        }
    }

    /**
     * Records one dispatch of a command buffer whose times are nanoseconds already. It is listed under its command
     * buffer, and does not count in {@link #snapshot}.
     *
     * @param label the label of its command buffer
     * @param backend the backend
     * @param operation the dispatched operation
     * @param index its index in the command buffer, 0 or more
     * @param startNs its begin, ns since any fixed origin, 0 or more
     * @param endNs its end, ns, {@code startNs} or more
     * @throws IllegalArgumentException when a text is null or empty, the index is negative, or the interval negative or
     *     reversed
     */
    public void recordDispatch(String label, Backend backend, String operation, int index, long startNs, long endNs) {
        recordDispatch(label, backend, operation, index, startNs, endNs, ClockConversion.IDENTITY);
    }

    /**
     * Records one dispatch of a command buffer. It is listed under its command buffer, and does not count in
     * {@link #snapshot}.
     *
     * @param label the label of its command buffer
     * @param backend the backend
     * @param operation the dispatched operation
     * @param index its index in the command buffer, 0 or more
     * @param startTicks the device's counter at its begin, 0 or more
     * @param endTicks the device's counter at its end, {@code startTicks} or more
     * @param clock the conversion of ticks to nanoseconds
     * @throws IllegalArgumentException when a text is null or empty, the index is negative, or the interval negative,
     *     reversed or outside the range of host time
     */
    public void recordDispatch(
            String label,
            Backend backend,
            String operation,
            int index,
            long startTicks,
            long endTicks,
            ClockConversion clock) {
        if (!AVAILABLE) {
            return;
        }
        requireLabel(label, backend);
        requireName("operation", operation);
        requireNotNegative("index", index);
        long elapsedNs = clock.elapsedNs(startTicks, endTicks);
        long startNs = clock.toHostNs(startTicks);
        if (enabled) {
            dispatches.addDispatch(label, backend, operation, index, startNs, startNs + elapsedNs);
        }
    }

    private void requireLabel(String label, Backend backend) {
        requireName("label", label);
        table(backend);
    }

    /**
     * Returns the command buffers that were recorded since the last reset, by label and backend. At most 262,144
     * dispatches are listed; later ones are dropped, counted in {@link #droppedDispatches}, and logged once.
     *
     * @return an immutable list, in the order in which the labels first appeared, in a command buffer or a dispatch;
     *     consistent as a whole
     */
    public List<CommandBuffer> commandBuffers() {
        return dispatches.read();
    }

    /**
     * Returns the number of dispatches that were dropped since the last reset.
     *
     * @return 0 or more
     */
    public long droppedDispatches() {
        return dispatches.dropped();
    }

    // ---- all timings ----

    /**
     * Discards kernels, command buffers and dispatches; a record that is made at the same time counts as before or
     * after the reset.
     */
    public void reset() {
        tables.values().forEach(NamedKernels::readAndReset);
        dispatches.reset();
    }

    /** Writes the kernels to the log, at level INFO. Writes nothing if no kernel was recorded. */
    public void logSnapshot() {
        logSnapshot(0);
    }

    /**
     * Writes the kernels to the log at every n-th call: one header line, then a line for each kernel, largest total
     * first, in columns {@code name backend avg min max last n}. Times are ms with six decimals, which is to the
     * nanosecond. The level is INFO. Writes nothing if no kernel was recorded.
     *
     * @param everyNth 0: this call writes, and is not counted. n, 1 or more: this call writes if the number of such
     *     calls so far, with any n and from any thread, is a multiple of n
     * @throws IllegalArgumentException when the number is negative
     */
    public void logSnapshot(int everyNth) {
        if (!AVAILABLE) {
            return;
        }
        requireNotNegative("everyNth", everyNth);
        boolean due = everyNth == 0 || throttledCalls.incrementAndGet() % everyNth == 0;
        if (due && LOG.isInfoEnabled()) {
            List<KernelTiming> timings = snapshot();
            if (!timings.isEmpty()) {
                lines(timings).forEach(LOG::info);
            }
        }
    }

    /**
     * Returns a header line and a line for each timing, in the given order; names are converted by
     * {@link PlainText#ascii}.
     */
    static List<String> lines(List<KernelTiming> timings) {
        List<String> names =
                timings.stream().map(timing -> PlainText.ascii(timing.name())).toList();
        int width = names.stream().mapToInt(String::length).reduce("name".length(), Math::max);
        String name = "%-" + width + "s";
        List<String> lines = new ArrayList<>();
        Object[] header = {"name", "backend", "avg", "min", "max", "last", "n"};
        lines.add(String.format(Locale.ROOT, name + HEADER_FORMAT, header));
        for (int i = 0; i < timings.size(); i++) {
            KernelTiming timing = timings.get(i);
            lines.add(String.format(
                    Locale.ROOT,
                    name + LINE_FORMAT,
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

    /**
     * The kernels of one backend: a key for each name, and a row for each key in the table of each recording thread.
     */
    private static final class NamedKernels {

        /** The initial rows of a thread's table, which grows by half when it is full. */
        private static final int FIRST_ROWS = 16;

        private static final int NO_TAG = 0;

        private final Backend backend;
        private final NameTable names = new NameTable(OTHER_NAMES, NO_TAG);
        private final TableRegistry registry = new TableRegistry(FIRST_ROWS, false);

        NamedKernels(Backend backend) {
            this.backend = backend;
        }

        void add(String name, long elapsedNs, long atNs) {
            registry.add(names.keyOf(name, NO_TAG), elapsedNs, atNs, 0);
        }

        Stream<KernelTiming> read() {
            return timings(registry.read());
        }

        Stream<KernelTiming> readAndReset() {
            return timings(registry.readAndReset());
        }

        private Stream<KernelTiming> timings(StatSums sums) {
            // The names are read after the sums, so every row in the sums has its name by then.
            return IntStream.range(0, names.size())
                    .filter(key -> sums.row(key).count() > 0)
                    .mapToObj(key -> timing(names.name(key), sums.row(key)));
        }

        private KernelTiming timing(String name, StatRow row) {
            return new KernelTiming(name, backend, row.count(), row.totalNs(), row.minNs(), row.maxNs(), row.lastNs());
        }
    }
}
