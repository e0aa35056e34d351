package org.brickprofiler;

import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.record.StatTable;
import org.brickprofiler.record.TableRegistry;
import org.brickprofiler.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * Where the time of a brick comes from: here, from the host's clock. As long as no profiler of the virtual machine has a
 * device stream there is no other way, and compiled code holds nothing of it. Any thread.
 */
class BrickTiming {

    final NanoClock clock;
    final NameTable names;
    final TableRegistry registry;

    /**
     * Who follows the bricks. Read without order of its own, after the switch: a thread may miss the bricks of the
     * moment in which it is set.
     */
    BrickFollower follower = BrickFollower.NOBODY;

    volatile SyncMode mode = SyncMode.DEFERRED;

    BrickTiming(NanoClock clock, NameTable names, TableRegistry registry) {
        this.clock = clock;
        this.names = names;
        this.registry = registry;
    }

    /** Sets who follows the bricks. */
    void follow(BrickFollower newFollower) {
        follower = newFollower;
    }

    // ---- the hot path ----

    /** Starts a brick that exists. */
    long start(int key) {
        return TimerToken.pack(key, clock.nanoTime());
    }

    /** Stops a timer that is not void. */
    void stop(long timer, long elements) {
        stopAt(timer, elements, clock.nanoTime());
    }

    /** Stops a timer, unless it is void, and starts another brick. */
    long lap(long timer, long elements, int nextKey) {
        long now = clock.nanoTime();
        if (timer != TimerToken.VOID) {
            stopAt(timer, elements, now);
        }
        return TimerToken.pack(nextKey, now);
    }

    private void stopAt(long timer, long elements, long now) {
        int key = TimerToken.key(timer);
        if (hasBrick(key)) {
            addSample(key, TimerToken.elapsedNs(timer, now), now, elements);
        }
    }

    final void addSample(int key, long elapsedNs, long nowNs, long elements) {
        BrickTimers.requireNotNegative("elements", elements);
        registry.add(key, elapsedNs, nowNs, elements);
        follower.ended(key, nowNs - elapsedNs, nowNs, elements);
    }

    final boolean hasBrick(int key) {
        return key >= 0 && key < names.size();
    }

    /** The clock, where a deferred measurement may begin. */
    long startNs() {
        return clock.nanoTime();
    }

    /** Queues a measurement whose start is known; false where there is no room. */
    boolean defer(int key, long startNs, long elements) {
        return registry.defer(key, startNs, elements);
    }

    /** The table of the calling thread's samples; null where it has none, or they get their times later. */
    @Nullable StatTable ownTable() {
        return registry.ownTable();
    }

    // ---- devices, of which there are none here ----

    /** How many samples wait for a device. */
    int pendingCount() {
        return 0;
    }

    /** Waits for what the calling thread has enqueued on devices, and resolves it. */
    void await() {}

    /** Resolves what devices have done; the end may be a reading of {@link #startNs()}. */
    void poll(long endNs) {}

    /** A pass of the calling thread has ended; waits for what it left, or not. */
    void endPass(boolean waits) {}

    /** Forgets what waits for devices. */
    void discard() {}

    // ---- readers ----

    /** What was recorded since the last reset in the rows from one key to before another. */
    Reading read(int fromKey, int toKey) {
        return new Reading(registry.read(fromKey, toKey), null);
    }

    /** Begins anew, and returns what was recorded until then. */
    Reading readAndReset() {
        return new Reading(registry.readAndReset(), null);
    }

    /** What was recorded since the last reset. */
    final Reading read() {
        return read(0, names.size());
    }
}
