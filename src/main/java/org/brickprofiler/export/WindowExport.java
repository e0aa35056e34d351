package org.brickprofiler.export;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.LatencyDistribution;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.ProfilerListener;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.OptionalPart;
import org.brickprofiler.internal.io.Settings;
import org.brickprofiler.internal.record.WindowReaders;
import org.brickprofiler.report.JsonReport;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * Writes a profiler's windows as the application runs, each as a file that is there whole or not at all, in
 * {@code FOLDER/RUN/rank-00003/window-000012.json} by the profiler's {@link RunIdentity}; {@code process-PID} stands in
 * place of a rank that is not known. The files are reports of JSON on one line, without what follows from other values,
 * whose member {@code identity} has the window's number, and whose member {@code export} counts the windows before that
 * were deleted or not written.
 *
 * <p><b>A window</b> has each sample that was recorded since the one before, the first one what the profiler still
 * held. All windows merged are the whole, extremes and percentiles included. In one window an extreme is exact where it
 * is the extreme of everything up to then, within {@link LatencyDistribution#RELATIVE_ERROR} if the profiler records
 * percentiles, and otherwise what is known for sure: the longest sample took no less, the shortest no more. A window in
 * which nothing was recorded is not written. {@link BrickProfiler#snapshot} is as without an export. Samples that
 * {@link BrickProfiler#snapshotAndReset} returns are in the windows, too; samples that {@link BrickProfiler#reset}
 * forgets are in none.
 *
 * <p><b>The engine</b> does not wait: a daemon thread reads, writes and deletes. So a window ends a moment after its
 * last step, and where several steps' or times' ends pass while one is being written, the next window has all of them;
 * its number is that of its first step or of the time at its end. At most {@code brick.profiler.export_mb} or
 * {@code BRICK_PROFILER_EXPORT_MB} MiB, 256 unless set, stay of a rank; the oldest windows go. A window that cannot be
 * written is logged once, counted, and part of the next window. If no window is written after it, its sums are in the
 * file {@code windows.state}, which stands beside the windows from the first one on and is written in place, so that it
 * can be written while the disk is full; the log has them, too, and is the only place if that file cannot be written
 * either.
 *
 * <p><b>The end.</b> {@link #close}, and the orderly end of the virtual machine, write the open window. A virtual
 * machine that is killed loses that one at most.
 *
 * <p>Any thread.
 */
public final class WindowExport implements AutoCloseable {

    /** From when windows of time are counted, so that their numbers are small. */
    private static final long ORIGIN_MS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    /** The shortest window of time. */
    public static final Duration SHORTEST = Duration.ofMillis(100);

    private static final long USUAL_BYTES = 256L << 20;

    /** How long it sleeps at most: the system's clock may be set. */
    private static final long LONGEST_SLEEP_MS = 1_000;

    private static final Set<WindowExport> OPEN = ConcurrentHashMap.newKeySet();

    private final BrickProfiler profiler;
    private final Every every;
    private final WindowReaders<ProfileSnapshot>.Reader reader;
    private final WindowFiles files;
    private final Thread thread;
    private final @Nullable StepEnds stepEnds;
    private volatile boolean closing;

    /** Guarded by the export: what its thread has done so far. */
    private long written;

    private long deleted;
    private long failed;

    /**
     * The end of a window: a time or a number of steps.
     *
     * @param ms its length, ms; 0 if steps do
     * @param steps how many; 0 if time does
     */
    record Every(long ms, long steps) {

        static Every time(Duration length) {
            Objects.requireNonNull(length, "length");
            if (length.compareTo(SHORTEST) < 0) {
                throw new IllegalArgumentException(
                        "a window of " + length + " is shorter than " + SHORTEST.toMillis() + " ms");
            }
            return new Every(length.toMillis(), 0);
        }

        static Every steps(long number) {
            if (number < 1) {
                throw new IllegalArgumentException("a window of " + number + " steps has none");
            }
            return new Every(0, number);
        }

        private String text() {
            return steps > 0 ? steps + " steps" : ms + " ms";
        }

        /** Returns the number of a window that has a time. */
        long number(ProfileSnapshot window, long atMs) {
            return steps > 0 ? window.identity().firstStep().orElse(0) / steps : Math.floorDiv(atMs - ORIGIN_MS, ms);
        }

        /** When the window ends that a time is in. */
        private long endMs(long nowMs) {
            return ORIGIN_MS + (Math.floorDiv(nowMs - ORIGIN_MS, ms) + 1) * ms;
        }
    }

    /** Wakes the export when enough steps have ended. */
    private static final class StepEnds implements ProfilerListener {
        private final long steps;
        private final Thread woken;

        /** Which step ends the window; none while the export is awake. */
        private volatile long due;

        private volatile boolean reached;

        StepEnds(long steps, Thread woken) {
            this.steps = steps;
            this.woken = woken;
            due = steps;
        }

        @Override
        public boolean wantsBricks() {
            return false;
        }

        @Override
        public void brickRecorded(String brick, BrickCategory category, long endNs, long elapsedNs, long elements) {}

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {
            if (step.index() + 1 >= due) {
                due = Long.MAX_VALUE;
                reached = true;
                LockSupport.unpark(woken);
            }
        }

        /** The next window ends with the next multiple after a step. */
        void after(long lastStep) {
            reached = false;
            due = (lastStep + 1) / steps * steps + steps;
        }
    }

    private static final class AtEnd {
        static {
            try {
                Runtime.getRuntime()
                        .addShutdownHook(
                                new Thread(() -> OPEN.forEach(WindowExport::close), "brick-window-export-end"));
            } catch (IllegalStateException ending) {
                // The virtual machine ends already: what comes now is lost.
            }
        }

        static void register(WindowExport export) {
            OPEN.add(export);
        }
    }

    WindowExport(BrickProfiler profiler, Every every, WindowFiles files) {
        this.profiler = profiler;
        this.every = every;
        this.files = files;
        reader = WindowReaders.<ProfileSnapshot>of(profiler).add(profiler::snapshot);
        thread = new Thread(this::run, "brick-window-export");
        thread.setDaemon(true);
        stepEnds = every.steps == 0 ? null : new StepEnds(every.steps, thread);
    }

    /**
     * Starts to write a file for each window of time. Windows end at multiples of their length since 2026-01-01T00:00Z,
     * so windows with the same number cover the same time on all ranks, as far as the clocks of the hosts agree.
     *
     * @param profiler the profiler
     * @param length the length of a window, 100 ms or more
     * @param folder the folder; it is made if it does not exist
     * @return the export, which goes on until it is closed or the virtual machine ends
     * @throws IllegalArgumentException when the length is too short
     * @throws IllegalStateException when the library for JSON, jackson-core, is missing
     */
    public static WindowExport start(BrickProfiler profiler, Duration length, Path folder) {
        return start(profiler, Every.time(length), folder);
    }

    /**
     * Starts to write a file for each so many steps. The number of a window is that of its first step, divided by the
     * number of steps. A window is read some 10 us to some ms after its last step: it also has what bricks of the next
     * step have recorded by then, and later steps that have ended by then.
     *
     * @param profiler the profiler
     * @param steps the number of steps, 1 or more
     * @param folder the folder; it is made if it does not exist
     * @return the export, which goes on until it is closed or the virtual machine ends
     * @throws IllegalArgumentException when the number is below 1
     * @throws IllegalStateException when the library for JSON, jackson-core, is missing
     */
    public static WindowExport start(BrickProfiler profiler, long steps, Path folder) {
        return start(profiler, Every.steps(steps), folder);
    }

    private static WindowExport start(BrickProfiler profiler, Every every, Path folder) {
        Objects.requireNonNull(profiler, "profiler");
        Objects.requireNonNull(folder, "folder");
        OptionalPart.JACKSON_CORE.require("the export of windows");
        WindowExport export = new WindowExport(
                profiler,
                every,
                new WindowFiles(folder, WindowExport::writeJson, every.text(), every.steps > 0, maxBytes()));
        if (export.stepEnds != null) {
            profiler.addListener(export.stepEnds);
        }
        AtEnd.register(export);
        export.thread.start();
        return export;
    }

    /** Writes a window without the values that follow from others: there may be hundreds of thousands of windows. */
    static void writeJson(ProfileSnapshot window, Map<String, ?> further, Path path) throws IOException {
        byte[] json = JsonReport.toCompactJson(window, further).getBytes(StandardCharsets.UTF_8);
        AtomicFile.write(path, out -> out.write(json));
    }

    private static long maxBytes() {
        String megabytes = Settings.ofProfiler("export_mb");
        if (megabytes == null) {
            return USUAL_BYTES;
        }
        try {
            long number = Integer.parseInt(megabytes.strip());
            if (number > 0) {
                return number << 20;
            }
        } catch (NumberFormatException noNumber) {
            // Reported below.
        }
        LoggerFactory.getLogger(WindowExport.class)
                .warn(
                        "windows within '{}' megabytes: that is no whole number above 0, and they stay within 256",
                        megabytes);
        return USUAL_BYTES;
    }

    private void run() {
        boolean isLast;
        do {
            long atMs = awaitEnd();
            isLast = closing;
            writeWindow(atMs);
        } while (!isLast);
    }

    /** Returns a time within the window that has ended. */
    private long awaitEnd() {
        if (stepEnds != null) {
            while (!closing && !stepEnds.reached) {
                LockSupport.park(this);
            }
            return System.currentTimeMillis();
        }
        long nowMs = System.currentTimeMillis();
        long endMs = every.endMs(nowMs);
        // More than a whole window is left only where the clock was set back.
        while (!closing && nowMs < endMs && endMs - nowMs <= every.ms) {
            LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(Math.min(endMs - nowMs, LONGEST_SLEEP_MS)));
            nowMs = System.currentTimeMillis();
        }
        return Math.min(nowMs, endMs - 1);
    }

    /** Ends the open window, which has a time. */
    void writeWindow(long atMs) {
        ProfileSnapshot window = reader.next();
        if (stepEnds != null) {
            stepEnds.after(window == null ? -1 : window.identity().lastStep().orElse(-1));
        }
        if (window != null && !files.write(window, every.number(window, atMs))) {
            reader.giveBack(window);
        }
        synchronized (this) {
            written = files.written();
            deleted = files.deleted();
            failed = files.failed();
        }
    }

    /**
     * Returns the number of windows that were written.
     *
     * @return 0 or more
     */
    public synchronized long written() {
        return written;
    }

    /**
     * Returns the number of old windows that were deleted to keep the rest within the bound.
     *
     * @return 0 or more
     */
    public synchronized long deleted() {
        return deleted;
    }

    /**
     * Returns how often a window could not be written and became part of the next.
     *
     * @return 0 or more
     */
    public synchronized long failed() {
        return failed;
    }

    /** Writes the open window and ends the export. Waits for that. Twice does no harm. */
    @Override
    public void close() {
        closing = true;
        LockSupport.unpark(thread);
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        if (OPEN.remove(this)) {
            if (stepEnds != null) {
                profiler.removeListener(stepEnds);
            }
            reader.close();
            files.close();
        }
    }
}
