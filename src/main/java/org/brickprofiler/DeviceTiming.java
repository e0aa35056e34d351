package org.brickprofiler;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.device.DeviceRecorder;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkToken;
import org.brickprofiler.device.StreamTracing;
import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.StatTable;
import org.brickprofiler.record.TableRegistry;
import org.brickprofiler.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * Bricks on devices: they are timed by marks in the queue of a stream, except in {@link SyncMode#NONE}, where the host's
 * clock is all there is. Any thread.
 */
final class DeviceTiming extends BrickTiming {

    private static final int DEFAULT_STREAM = 0;

    private final List<String> streamNames;
    private final DeviceRecorder device;

    /** A timing. By its supertype, so that whoever calls this is verified without loading the class. */
    static BrickTiming of(
            NanoClock clock,
            NameTable names,
            TableRegistry registry,
            Map<String, DeviceStream> streams,
            int launchesEvery,
            StreamTracing tracing) {
        return new DeviceTiming(clock, names, registry, streams, launchesEvery, tracing);
    }

    private DeviceTiming(
            NanoClock clock,
            NameTable names,
            TableRegistry registry,
            Map<String, DeviceStream> streams,
            int launchesEvery,
            StreamTracing tracing) {
        super(clock, names, registry);
        this.streamNames = List.copyOf(streams.keySet());
        this.device = new DeviceRecorder(
                clock, registry, new ArrayList<>(streams.values()), launchesEvery, tracing);
    }

    /** The number of a stream. */
    int stream(String name) {
        int stream = streamNames.indexOf(name);
        if (stream < 0) {
            throw new IllegalArgumentException("no device stream is named '" + name + "'; there are " + streamNames);
        }
        return stream;
    }

    @Override
    long start(int key) {
        return start(key, DEFAULT_STREAM);
    }

    long start(int key, int stream) {
        return mode == SyncMode.NONE ? MarkToken.host(key, clock.nanoTime()) : device.start(key, stream);
    }

    @Override
    void stop(long timer, long elements) {
        int key = MarkToken.key(timer);
        if (!hasBrick(key)) {
            return;
        }
        if (MarkToken.isDevice(timer)) {
            BrickTimers.requireNotNegative("elements", elements);
            follow(key, timer, device.stop(timer, elements), elements);
            if (mode == SyncMode.IMMEDIATE) {
                device.await();
            }
        } else {
            long now = clock.nanoTime();
            addSample(key, MarkToken.elapsedNs(timer, now), now, elements);
        }
    }

    /** One mark for two bricks, where the device need not be waited for in between. */
    @Override
    long lap(long timer, long elements, int nextKey) {
        SyncMode now = mode;
        int key = MarkToken.key(timer);
        if (now == SyncMode.IMMEDIATE || now == SyncMode.NONE || !MarkToken.isDevice(timer) || !hasBrick(key)) {
            if (timer != TimerToken.VOID) {
                stop(timer, elements);
            }
            boolean onStream = MarkToken.isDevice(timer) && hasBrick(key);
            return start(nextKey, onStream ? device.stream(timer) : DEFAULT_STREAM);
        }
        BrickTimers.requireNotNegative("elements", elements);
        long next = device.lap(timer, elements, nextKey);
        if (follower != BrickFollower.NOBODY) {
            follow(key, timer, device.startedNs(next), elements);
        }
        return next;
    }

    /** Whoever follows gets the host's times: the order of things is that of the launches. */
    private void follow(int key, long timer, long endNs, long elements) {
        long startNs = endNs == DeviceRecorder.NO_TIME ? endNs : device.startedNs(timer);
        if (startNs != DeviceRecorder.NO_TIME) {
            follower.ended(key, startNs, endNs, elements);
        }
    }

    @Override
    void follow(BrickFollower newFollower) {
        device.timeEveryLaunch();
        super.follow(newFollower);
    }

    /** Sets a mark, by which {@link #defer} knows the start again. */
    @Override
    long startNs() {
        return mode == SyncMode.NONE ? super.startNs() : device.markStart(DEFAULT_STREAM);
    }

    @Override
    boolean defer(int key, long startNs, long elements) {
        if (mode == SyncMode.NONE) {
            return super.defer(key, startNs, elements);
        }
        device.endSince(key, DEFAULT_STREAM, startNs, elements);
        return true;
    }

    /** Not what the thread has resolved: that is of an earlier pass, and may be another thread's. */
    @Override
    @Nullable StatTable ownTable() {
        return mode == SyncMode.NONE ? super.ownTable() : null;
    }

    @Override
    int pendingCount() {
        return device.pendingCount();
    }

    @Override
    void await() {
        device.await();
    }

    @Override
    void poll(long endNs) {
        device.poll(endNs);
    }

    @Override
    void endPass(boolean waits) {
        device.endPass(waits);
    }

    /** A pass of one stream has ended. */
    void endPass(int stream) {
        device.endPass(stream, mode != SyncMode.NONE);
    }

    @Override
    void discard() {
        device.discard();
    }

    @Override
    Reading read(int fromKey, int toKey) {
        return device.whileQuiet(() -> new Reading(registry.read(fromKey, toKey), device.figures(fromKey, toKey)));
    }

    @Override
    Reading readAndReset() {
        return device.whileQuiet(() -> new Reading(registry.readAndReset(), device.figuresAndReset()));
    }
}
