package org.brickprofiler;

import java.util.Optional;
import java.util.function.Function;
import org.brickprofiler.graph.GraphRecorder;
import org.brickprofiler.internal.access.CurrentSums;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.record.PendingResolver;
import org.brickprofiler.internal.record.RunPeriod;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.WindowReaders;
import org.jspecify.annotations.Nullable;

/**
 * Takes snapshots of a profiler while other threads record. Bricks and steps are read one after the other, and read
 * again if a step has ended in between: the bricks of a snapshot then belong to its steps. Thread-safe.
 */
final class SnapshotReader {

    /** A snapshot reads bricks and steps at most this often, unless many steps end during the last reading. */
    private static final int USUAL_READINGS = 4;

    /** A snapshot reads them at most this often: a thread is rarely preempted during each of so many readings. */
    private static final int MOST_READINGS = 16;

    /**
     * The number of steps that may end during the last usual reading or a later one, since steps may be shorter than a
     * reading.
     */
    private static final int FEW_STEPS = 3;

    private final BrickProfiler profiler;
    private final PendingResolver resolver;

    /** The marks on device streams; null without a device stream. */
    private final @Nullable DeviceRecorder devices;

    private final RunPeriod period;
    private final Results results;
    private final WindowReaders<ProfileSnapshot> windows = new WindowReaders<>(new SnapshotDifference());

    SnapshotReader(BrickProfiler profiler, Results results) {
        this.profiler = profiler;
        this.resolver = profiler.resolver;
        this.devices = profiler.devices;
        this.period = profiler.period;
        this.results = results;
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    static final class OfProfiler implements Function<BrickProfiler, WindowReaders<ProfileSnapshot>> {
        @Override
        public WindowReaders<ProfileSnapshot> apply(BrickProfiler profiler) {
            return profiler.snapshots.windows;
        }
    }

    /** A named class for the same reason. */
    static final class SumsOfProfiler implements Function<BrickProfiler, CurrentSums> {
        @Override
        public CurrentSums apply(BrickProfiler profiler) {
            return profiler.snapshots.sums();
        }
    }

    /** A named class for the same reason. */
    static final class SinkOfProfiler implements Function<BrickProfiler, Optional<SpanSink>> {
        @Override
        public Optional<SpanSink> apply(BrickProfiler profiler) {
            return Optional.ofNullable(profiler.sink);
        }
    }

    ProfileSnapshot snapshot() {
        return take(true).snapshot();
    }

    /** Takes a snapshot without what {@link CurrentSums} lacks. */
    private CurrentSums sums() {
        return take(false);
    }

    private CurrentSums take(boolean whole) {
        Results.SnapshotFacts settings = settings(resolver.dropped(), resolver.overlaps());
        for (int attempt = 1; ; attempt++) {
            StepRecorder recorder = profiler.steps();
            StepRecorder.Reading ended = recorder == null ? StepRecorder.Reading.NONE : recorder.read(whole);
            Results.Recorded recorded =
                    Results.Recorded.read(profiler, devices, profiler.work, 0, profiler.names.size(), whole);
            if (isLast(attempt, recorder, ended)) {
                ProfileSnapshot snapshot = results.snapshot(
                        recorded, profiler.tiles().snapshot(), ended, period.until(profiler.nowNs()), settings);
                return new CurrentSums(snapshot, ended.latest());
            }
        }
    }

    ProfileSnapshot snapshotAndReset() {
        return windows.taking(this::takeAndReset);
    }

    /** Takes several parts and merges them if steps end between the readings of the steps and of the bricks. */
    private ProfileSnapshot takeAndReset() {
        ProfileSnapshot taken = null;
        for (int attempt = 1; ; attempt++) {
            RunPeriod.Part part = period.endAndRestart(profiler.nowNs());
            Results.SnapshotFacts settings = settings(resolver.takeDropped(), resolver.takeOverlaps());
            StepRecorder recorder = profiler.steps();
            StepRecorder.Reading ended = recorder == null ? StepRecorder.Reading.NONE : recorder.readAndReset();
            ProfileSnapshot next = results.snapshot(
                    Results.Recorded.readAndReset(profiler, devices, profiler.work),
                    profiler.tiles().snapshotAndReset(),
                    ended,
                    part,
                    settings);
            taken = taken == null ? next : taken.withUnfinishedOf(null).merge(next);
            if (isLast(attempt, recorder, ended)) {
                return taken;
            }
        }
    }

    private Results.SnapshotFacts settings(long droppedPending, long overlaps) {
        return results.settings(
                droppedPending,
                profiler.pendingCount(),
                overlaps,
                !profiler.tiles().isEnabled(),
                profiler.graph);
    }

    /**
     * Returns whether the bricks and the steps were read at one moment, or have been read often enough. If a step has
     * ended since the steps were read, the bricks that were read include its samples, but the steps do not include it.
     * The first reading of a virtual machine takes long, since it loads classes.
     */
    private boolean isLast(int attempt, @Nullable StepRecorder recorder, StepRecorder.Reading ended) {
        if (attempt == MOST_READINGS) {
            return true;
        }
        if (recorder != profiler.steps()) {
            return false;
        }
        long since = recorder == null ? 0 : recorder.endedSince(ended);
        return since == 0 || (attempt >= USUAL_READINGS && since <= FEW_STEPS);
    }

    /** Reads the sums of the bricks from {@code fromKey} to before {@code toKey}. */
    Results.Recorded read(int fromKey, int toKey) {
        return Results.Recorded.read(profiler, devices, profiler.work, fromKey, toKey, true);
    }

    /** Forgets all that was recorded, but lets open passes go on. */
    void forget() {
        windows.forgetting(this::forgetRecorded);
    }

    private void forgetRecorded() {
        resolver.discard();
        if (devices != null) {
            devices.discard();
        }
        Results.Recorded.readAndReset(profiler, devices, profiler.work);
        StepRecorder stepped = profiler.steps();
        if (stepped != null) {
            stepped.readAndReset();
        }
        profiler.tiles().reset();
        profiler.checksums().reset();
        GraphRecorder recorder = profiler.graph;
        if (recorder != null) {
            recorder.reset();
        }
        resolver.takeDropped();
        resolver.takeOverlaps();
        period.endAndRestart(profiler.nowNs());
    }
}
