package org.brickprofiler.export;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.ProfilerListener;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.access.ProfilerAccess;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.WindowReaders;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.internal.setting.Settings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.stats.LatencyDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Writes a profiler's windows to files while the application runs. Each file is written completely or not at all. Its
 * path is {@code FOLDER/RUN/rank-00003/window-000012.json}, with the run and the rank of the profiler's
 * {@link RunIdentity}; {@code process-PID} replaces an unknown rank. If another export uses the folder, for example
 * because two processes have the same rank, this export writes to {@code rank-00003-2}. The files are JSON reports on
 * one line, without derived values. Their member {@code identity} contains the number of the window, and their member
 * {@code export} counts earlier windows that were deleted or not written.
 *
 * <p><b>A window</b> contains the samples that were recorded since the previous window; the first window contains all
 * samples that the profiler held. All windows merged equal the whole profile, extremes and percentiles included. An
 * extreme of one window is exact if its samples set a new one since the start. Otherwise it is exact within
 * {@link LatencyDistribution#RELATIVE_ERROR} if the profiler records percentiles, and unknown if it does not. A window
 * without samples is not written; its time is part of the next window with samples. The time after the last sample is
 * therefore in no window. The export does not change {@link BrickProfiler#snapshot}. Samples that
 * {@link BrickProfiler#snapshotAndReset} returns are in the windows, too; samples that {@link BrickProfiler#reset}
 * discards are in none. If the recorder of the profiler's spans keeps the lines of bricks, a window has those of the
 * samples that arrived in it, which is up to two seconds after they were taken; of samples that arrive after the last
 * window, in none.
 *
 * <p><b>The engine</b> does not wait: a daemon thread reads, writes and deletes. A window therefore ends a moment after
 * its last step. If several windows would end while one is being written, the next window contains all of them; its
 * number is that of its first step, or of the time at its end. The property {@code brick.profiler.export_mb} or the
 * variable {@code BRICK_PROFILER_EXPORT_MB} limits the size of a rank's windows, 256 MiB by default; the oldest windows
 * are deleted. A window that cannot be written is counted, and becomes part of the next window; the first failure is
 * logged. If no later window is written, the sums of the lost windows are in the file {@code windows.state} beside the
 * windows. That file exists from the first window and is overwritten in place, so it can be written even if the disk is
 * full. {@link #close} also logs these sums; if the file cannot be written either, they are only in the log.
 *
 * <p><b>The end.</b> {@link #close}, and an orderly shutdown of the virtual machine, write the open window. A virtual
 * machine that is killed loses at most that window.
 *
 * <p>Any thread.
 */
public final class WindowExport implements AutoCloseable {

    /** The origin of windows of time, recent so that their numbers are small. */
    private static final long ORIGIN_MS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();

    /** The shortest window of time. */
    public static final Duration SHORTEST = Duration.ofMillis(100);

    private static final long USUAL_BYTES = 256L << 20;

    /** The longest sleep. It is limited because the system's clock may be set. */
    private static final long LONGEST_SLEEP_MS = 1_000;

    private static final Log LOG = Log.of(WindowExport.class);

    private final BrickProfiler profiler;
    private final Every every;
    private final WindowReaders<ProfileSnapshot>.Reader reader;
    private final WindowFiles files;
    private final Thread thread;
    private final @Nullable StepEnds stepEnds;
    private volatile boolean closing;
    private volatile boolean isProcessEnding;

    /** Reads what the profiler's sink knows beside spans. */
    private final Optional<SpanSink.Windows> ofSink;

    /** Guarded by the export: the results of its thread so far. */
    private long written;

    private long deleted;
    private long failed;

    /**
     * The length of a window: a time or a number of steps.
     *
     * @param ms the time, ms; 0 if steps end the window
     * @param steps the number of steps; 0 if time ends the window
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
                throw new IllegalArgumentException("a window of " + number + " steps: expected 1 or more");
            }
            return new Every(0, number);
        }

        private String text() {
            return steps > 0 ? steps + " steps" : ms + " ms";
        }

        /** Returns the number of a window, by its first step or by a time within it. */
        long number(ProfileSnapshot window, long atMs) {
            return steps > 0 ? window.identity().firstStep().orElse(0) / steps : Math.floorDiv(atMs - ORIGIN_MS, ms);
        }

        /** Returns the end of the window that contains a time. */
        private long endMs(long nowMs) {
            return ORIGIN_MS + (Math.floorDiv(nowMs - ORIGIN_MS, ms) + 1) * ms;
        }
    }

    /** Wakes the export when enough steps have ended. */
    private static final class StepEnds implements ProfilerListener {
        private final long steps;
        private final Thread woken;

        /** The number of steps at which the window ends; {@link Long#MAX_VALUE} while the export is awake. */
        private volatile long due;

        private volatile boolean reached;

        /** The index of the step that ended the last window; negative before the first. */
        private volatile long reachedAt = -1;

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
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {}

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {
            if (step.index() + 1 >= due) {
                due = Long.MAX_VALUE;
                reachedAt = step.index();
                reached = true;
                LockSupport.unpark(woken);
            }
        }

        /** Makes the next window end at the next multiple of {@code steps} after a step. */
        void after(long lastStep) {
            reached = false;
            due = (Math.max(lastStep, reachedAt) + 1) / steps * steps + steps;
        }
    }

    /**
     * Closes the open exports when the virtual machine ends. While none is open there is no hook, so that the class
     * loader of this library can be unloaded.
     */
    private static final class AtEnd {
        private static final Set<WindowExport> OPEN = new HashSet<>();
        private static @Nullable Thread hook;

        static synchronized void register(WindowExport export) {
            OPEN.add(export);
            if (hook == null) {
                Thread added = new Thread(AtEnd::closeAll, "brick-window-export-end");
                try {
                    Runtime.getRuntime().addShutdownHook(added);
                    hook = added;
                } catch (IllegalStateException ending) {
                    // The virtual machine is already ending: later samples are lost.
                }
            }
        }

        /** Removes an export; returns false if it was removed before. */
        static synchronized boolean remove(WindowExport export) {
            boolean wasOpen = OPEN.remove(export);
            Thread added = hook;
            if (added != null && OPEN.isEmpty()) {
                try {
                    Runtime.getRuntime().removeShutdownHook(added);
                    hook = null;
                } catch (IllegalStateException ending) {
                    // The hook is running, and closes this export.
                }
            }
            return wasOpen;
        }

        private static void closeAll() {
            List<WindowExport> open;
            synchronized (AtEnd.class) {
                open = List.copyOf(OPEN);
            }
            open.forEach(export -> export.isProcessEnding = true);
            open.forEach(WindowExport::close);
        }
    }

    WindowExport(BrickProfiler profiler, Every every, WindowFiles files) {
        this.profiler = profiler;
        this.every = every;
        this.files = files;
        reader = ProfilerAccess.windows(profiler).add(profiler::snapshot);
        ofSink = ProfilerAccess.sink(profiler).flatMap(SpanSink::windows);
        thread = new Thread(this::run, "brick-window-export");
        thread.setDaemon(true);
        stepEnds = every.steps == 0 ? null : new StepEnds(every.steps, thread);
    }

    /**
     * Starts to write a file for each window of time. Windows end at multiples of their length since 2026-01-01T00:00Z,
     * so windows with the same number end at the same time on all ranks, as far as the clocks of the hosts agree.
     *
     * @param profiler the profiler
     * @param length the length of a window, {@link #SHORTEST} or more
     * @param folder the folder; it is created if it does not exist
     * @return the export, which continues until it is closed or the virtual machine ends
     * @throws IllegalArgumentException when the length is too short
     * @throws IllegalStateException when the library for JSON, jackson-core, is missing
     */
    public static WindowExport start(BrickProfiler profiler, Duration length, Path folder) {
        return start(profiler, Every.time(length), folder);
    }

    /**
     * Starts to write a file for each window of a number of steps. The number of a window is that of its first step,
     * divided by the number of steps. A window is read some 10 us to some ms after its last step, so it also contains
     * the samples that the next step has recorded by then, and any further steps that have ended by then.
     *
     * @param profiler the profiler
     * @param steps the number of steps, 1 or more
     * @param folder the folder; it is created if it does not exist
     * @return the export, which continues until it is closed or the virtual machine ends
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

    /** Writes a window without derived values: there may be hundreds of thousands of windows. */
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
            // The caller reports the failure.
        }
        LOG.warn("export_mb '{}': expected a whole number above 0; using 256 MiB", megabytes);
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

    /** Waits until the window ends, or the export is being closed. Returns a time within the window. */
    private long awaitEnd() {
        if (stepEnds != null) {
            while (!closing && !stepEnds.reached) {
                LockSupport.park(this);
            }
            return System.currentTimeMillis();
        }
        long nowMs = System.currentTimeMillis();
        long endMs = every.endMs(nowMs);
        // More than a whole window remains only if the clock was set back.
        while (!closing && nowMs < endMs && endMs - nowMs <= every.ms) {
            LockSupport.parkNanos(this, TimeUnit.MILLISECONDS.toNanos(Math.min(endMs - nowMs, LONGEST_SLEEP_MS)));
            nowMs = System.currentTimeMillis();
        }
        return Math.min(nowMs, endMs - 1);
    }

    /** Ends and writes the open window; {@code atMs} is a time within it. */
    void writeWindow(long atMs) {
        ProfileSnapshot window = reader.next(closing);
        if (stepEnds != null) {
            stepEnds.after(window == null ? -1 : window.identity().lastStep().orElse(-1));
        }
        if (window != null) {
            if (files.write(window, every.number(window, atMs), further())) {
                ofSink.ifPresent(SpanSink.Windows::next);
            } else {
                reader.giveBack(window);
            }
        }
        synchronized (this) {
            written = files.written();
            deleted = files.deleted();
            failed = files.failed();
        }
    }

    /** Returns what the profiler's sink knows beside spans; without it, a failure of the sink would lose the window. */
    private Map<String, Object> further() {
        try {
            return ofSink.map(each -> each.read(isProcessEnding)).orElse(Map.of());
        } catch (RuntimeException | LinkageError lost) {
            LOG.warn("a window lacks the lines of bricks: {}", lost.toString());
            return Map.of();
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
     * Returns the number of old windows that were deleted to keep the rest within the size limit.
     *
     * @return 0 or more
     */
    public synchronized long deleted() {
        return deleted;
    }

    /**
     * Returns how often a window could not be written and became part of the next window.
     *
     * @return 0 or more
     */
    public synchronized long failed() {
        return failed;
    }

    /** Writes the open window and ends the export. Waits until the window is written. A second call does nothing. */
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
        if (AtEnd.remove(this)) {
            if (stepEnds != null) {
                profiler.removeListener(stepEnds);
            }
            reader.close();
            files.close();
        }
    }
}
