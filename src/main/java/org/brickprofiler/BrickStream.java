package org.brickprofiler;

import org.brickprofiler.internal.io.Checks;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * One of the device streams of a {@link BrickProfiler}: starts bricks on it, which the profiler's {@code stopBrick}
 * stops there, and with which {@code lap} goes on there; measures deferred work on it; and ends its pass alone. Any
 * thread; allocates nothing.
 */
public final class BrickStream {

    private final BrickProfiler profiler;
    private final DeviceTimers devices;
    private final int stream;

    BrickStream(BrickProfiler profiler, DeviceTimers devices, int stream) {
        this.profiler = profiler;
        this.devices = devices;
        this.stream = stream;
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
        return profiler.isEnabled() ? devices.start(id.index(), stream) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick on this stream by its key.
     *
     * @param key what {@link BrickProfiler#brickKey(String)} of the same profiler returned
     * @return the timer, for the profiler to stop; void where no brick has that key
     */
    public long startBrick(int key) {
        return profiler.isEnabled() && profiler.hasBrick(key) ? devices.start(key, stream) : TimerToken.VOID;
    }

    /**
     * Starts timing a brick on this stream by its name. Slower than by id or key.
     *
     * @param name a known name or alias, or the name of a dynamic brick
     * @return the timer, for the profiler to stop
     * @throws IllegalArgumentException when the name is null or empty
     */
    public long startBrick(@Nullable String name) {
        return profiler.isEnabled()
                ? devices.start(profiler.keyOf(BrickProfiler.requireName(name)), stream)
                : TimerToken.VOID;
    }

    /**
     * The time of deferred measurements on this stream: read it where one begins. Sets a mark on this stream as
     * {@link BrickProfiler#elapsedNs()} does on the first one.
     *
     * @return ns since the profiler's epoch; no two calls on streams of the profiler return the same
     */
    public long elapsedNs() {
        return profiler.elapsedNs(stream);
    }

    /**
     * Queues a measurement of what this stream does from the mark that {@link #elapsedNs()} set to one that this call
     * sets: see {@link BrickProfiler#recordDeferred(BrickId, long, long)}. A start that another stream read is none of
     * this one's marks.
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
     * Marks the end of a forward pass on this stream alone: waits for the last mark that was set there by the end of a
     * brick, whichever threads set it, and resolves what is pending up to it. Other streams are left alone, and so are
     * measurements without a device, the graph and the timeline. In {@link SyncMode#NONE} it waits for nothing.
     */
    public void endPass() {
        devices.endPass(stream);
    }
}
