package org.brickprofiler;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.device.DeviceFigures;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.device.MarkToken;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.TimerToken;

/**
 * The bricks of a {@link BrickProfiler} that has device streams: they are timed by marks in the queue of a stream,
 * except in {@link SyncMode#NONE}, where the host's clock is all there is. Any thread.
 */
final class DeviceTimers {

    /** The stream of bricks that name none. */
    static final int DEFAULT_STREAM = 0;

    private final BrickProfiler profiler;
    private final List<String> streamNames;
    private final DeviceStream firstStream;
    private final DeviceRecorder device;

    DeviceTimers(BrickProfiler profiler, BrickProfilerBuilder options) {
        this.profiler = profiler;
        this.streamNames = List.copyOf(options.streams.keySet());
        SpanSink sink = options.tracing;
        DeviceRecorder.Tracing tracing = sink == null
                ? DeviceRecorder.Tracing.NONE
                : (place, catchUp) -> sink.stream(place, profiler.spanNames, profiler, catchUp);
        List<DeviceStream> streams = new ArrayList<>(options.streams.values());
        this.firstStream = streams.get(DEFAULT_STREAM);
        this.device = new DeviceRecorder(options.clock, profiler.registry, streams, options.launchesEvery, tracing);
    }

    /** The number of a stream. */
    int stream(String name) {
        int stream = streamNames.indexOf(name);
        if (stream < 0) {
            throw new IllegalArgumentException("no device stream is named '" + name + "'; there are " + streamNames);
        }
        return stream;
    }

    /** The stream of bricks that name none. */
    DeviceStream firstStream() {
        return firstStream;
    }

    // ---- bricks ----

    long start(int key) {
        return start(key, DEFAULT_STREAM);
    }

    long start(int key, int stream) {
        return profiler.syncMode() == SyncMode.NONE ? MarkToken.host(key, profiler.nowNs()) : device.start(key, stream);
    }

    /** Stops a timer that is not void. */
    void stop(long timer, long elements) {
        requireNotNegative("elements", elements);
        int key = MarkToken.key(timer);
        if (!profiler.hasBrick(key)) {
            return;
        }
        if (MarkToken.isDevice(timer)) {
            follow(key, timer, device.stop(timer, elements), elements);
            if (profiler.syncMode() == SyncMode.IMMEDIATE) {
                device.await();
            }
        } else {
            long nowNs = profiler.nowNs();
            long elapsedNs = MarkToken.elapsedNs(timer, nowNs);
            profiler.registry.add(key, elapsedNs, nowNs, elements);
            profiler.follow(key, nowNs - elapsedNs, nowNs, elements);
            profiler.reportSample(key, elapsedNs, nowNs, elements);
        }
    }

    /**
     * Stops a timer, unless it is void, and starts another brick: with one mark where the device need not be waited
     * for.
     */
    long lap(long timer, long elements, int nextKey) {
        requireNotNegative("elements", elements);
        SyncMode mode = profiler.syncMode();
        int key = MarkToken.key(timer);
        boolean onStream = MarkToken.isDevice(timer) && profiler.hasBrick(key);
        if (mode == SyncMode.IMMEDIATE || mode == SyncMode.NONE || !onStream) {
            if (timer != TimerToken.VOID) {
                stop(timer, elements);
            }
            return start(nextKey, onStream ? device.stream(timer) : DEFAULT_STREAM);
        }
        long next = device.lap(timer, elements, nextKey);
        if (profiler.isFollowed()) {
            follow(key, timer, device.startedNs(next), elements);
        }
        return next;
    }

    /** Whoever follows gets the host's times: the order of things is that of the launches. */
    private void follow(int key, long timer, long endNs, long elements) {
        long startNs = endNs == DeviceRecorder.NO_TIME ? endNs : device.startedNs(timer);
        if (startNs != DeviceRecorder.NO_TIME) {
            profiler.follow(key, startNs, endNs, elements);
        }
    }

    /** From now on somebody follows, who wants the host's times of every brick. */
    void timeEveryLaunch() {
        device.timeEveryLaunch();
    }

    // ---- deferred measurements ----

    /** The clock where a deferred measurement may begin, at a mark by which {@link #defer} finds that start again. */
    long startNs(int stream) {
        return device.markStart(stream);
    }

    void defer(int key, int stream, long startNs, long elements) {
        device.endSince(key, stream, startNs, elements);
    }

    int pendingCount() {
        return device.pendingCount();
    }

    // ---- boundaries ----

    /** Waits for what the calling thread has enqueued, and resolves it. */
    void await() {
        device.await();
    }

    /** Resolves what devices have done; the end may be a reading of {@link #startNs}. */
    void poll(long endNs) {
        device.poll(endNs);
    }

    /** A pass of the calling thread has ended; waits for what it left, or not. */
    void endPass(boolean waits) {
        device.endPass(waits);
    }

    /** A pass of one stream has ended. */
    void endPass(int stream) {
        device.endPass(stream, profiler.syncMode() != SyncMode.NONE);
    }

    /** Forgets what waits. */
    void discard() {
        device.discard();
    }

    /** Gives the marks back of what has begun and not ended: it is unresolved where it ends after all. */
    void giveBack() {
        device.giveBack();
    }

    // ---- readers ----

    Results.Recorded read(int fromKey, int toKey) {
        return device.whileQuiet(() -> {
            StatSums sums = profiler.registry.read(fromKey, toKey);
            DeviceFigures figures = device.figures(fromKey, toKey);
            return new Results.Recorded(sums, figures, null);
        });
    }

    Results.Recorded readAndReset() {
        return device.whileQuiet(
                () -> new Results.Recorded(profiler.registry.readAndReset(), device.figuresAndReset(), null));
    }
}
