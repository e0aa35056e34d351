package org.brickprofiler;

import java.util.List;
import org.brickprofiler.internal.base.Checks;
import org.brickprofiler.internal.device.DeviceRecorder;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * A device stream of a {@link BrickProfiler}. It starts bricks on the stream, which the profiler's {@code stopBrick}
 * and {@code lap} stop there, measures deferred work, and ends a pass on this stream alone. Thread-safe; allocates
 * nothing.
 */
public final class BrickStream {

    private final BrickProfiler profiler;
    private final DeviceRecorder devices;
    private final int stream;

    BrickStream(BrickProfiler profiler, DeviceRecorder devices, int stream) {
        this.profiler = profiler;
        this.devices = devices;
        this.stream = stream;
    }

    /**
     * Returns the stream of a name.
     *
     * @param names the names of the profiler's streams, in their order
     * @throws IllegalArgumentException when there is no stream of that name, or it is null
     */
    static BrickStream named(
            @Nullable String name, List<String> names, BrickProfiler profiler, @Nullable DeviceRecorder devices) {
        requireName(name);
        int stream = names.indexOf(name);
        if (devices == null || stream < 0) {
            throw new IllegalArgumentException("no device stream is named '" + name + "'"
                    + (devices == null ? ": there are none" : "; there are " + names));
        }
        return new BrickStream(profiler, devices, stream);
    }

    static void requireName(@Nullable String name) {
        if (name == null) {
            throw new IllegalArgumentException("the name of a device stream must not be null");
        }
    }

    /**
     * Starts timing a brick on this stream.
     *
     * @param id the brick
     * @return the timer, for the profiler to stop
     */
    public long startBrick(BrickId id) {
        int key = id.index();
        return profiler.isEnabled() ? profiler.start(stream, key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick on this stream by its key.
     *
     * @param key the key that {@link BrickProfiler#brickKey(String)} of the same profiler returned
     * @return the timer, for the profiler to stop; void if no brick has that key
     */
    public long startBrick(int key) {
        return profiler.isEnabled() && profiler.hasBrick(key) ? profiler.start(stream, key) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick on this stream by its name. Slower than by id or key.
     *
     * @param name a known name or alias, or the name of a dynamic brick
     * @return the timer, for the profiler to stop
     * @throws IllegalArgumentException when the name is null or empty
     */
    public long startBrick(@Nullable String name) {
        String brick = SampleTables.requireName(name);
        return profiler.isEnabled() ? profiler.start(stream, profiler.brickKey(brick)) : TimerToken.VOID;
    }

    /**
     * Returns the time of deferred measurements on this stream. Call it at the beginning of a measurement. It sets a
     * mark on this stream, as {@link BrickProfiler#elapsedNs()} does on the first one.
     *
     * @return ns since the profiler's epoch; no two calls on streams of the profiler return the same
     */
    public long elapsedNs() {
        return profiler.elapsedNs(stream);
    }

    /**
     * Queues a measurement of the device's time between the mark that {@link #elapsedNs()} set and one that this call
     * sets: see {@link BrickProfiler#recordDeferred(BrickId, long, long)}. A start from another stream matches no mark
     * of this one.
     *
     * @param id the brick
     * @param startNs when it began, as {@link #elapsedNs()} of this stream read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative
     */
    public void recordDeferred(BrickId id, long startNs, long elements) {
        defer(id.index(), startNs, elements);
    }

    /**
     * Queues a measurement, as {@link #recordDeferred(BrickId, long, long)} does.
     *
     * @param key the brick's key
     * @param startNs when it began, as {@link #elapsedNs()} of this stream read it
     * @param elements elements it processes
     * @throws IllegalArgumentException when the elements are negative, or no brick has that key
     */
    public void recordDeferred(int key, long startNs, long elements) {
        profiler.requireKey(key);
        defer(key, startNs, elements);
    }

    private void defer(int key, long startNs, long elements) {
        Checks.requireNotNegative("elements", elements);
        if (profiler.isEnabled()) {
            profiler.defer(key, stream, startNs, elements);
        }
    }

    /**
     * Marks the end of a forward pass on this stream alone: the call waits for the last mark that the end of a brick
     * set on this stream, on any thread, and resolves the bricks up to it. Other streams, measurements without a
     * device, the graph and the timeline are not affected. In {@link SyncMode#NONE} the call waits for nothing.
     */
    public void endPass() {
        devices.endPass(stream, profiler.syncMode() != SyncMode.NONE);
    }
}
