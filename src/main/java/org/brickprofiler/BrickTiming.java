package org.brickprofiler;

import org.brickprofiler.record.NameTable;
import org.brickprofiler.record.TableRegistry;

/**
 * What becomes of samples between a timer and a reader: here, where there are no devices, they go straight to the sums.
 * Any thread.
 */
class BrickTiming {

    final NameTable names;
    final TableRegistry registry;

    /**
     * Who follows the bricks. Read without order of its own, after the switch: a thread may miss the bricks of the
     * moment in which it is set.
     */
    BrickFollower follower = BrickFollower.NOBODY;

    volatile SyncMode mode = SyncMode.DEFERRED;

    BrickTiming(NameTable names, TableRegistry registry) {
        this.names = names;
        this.registry = registry;
    }

    /** Sets who follows the bricks. */
    void follow(BrickFollower newFollower) {
        follower = newFollower;
    }

    /** Adds a sample that the host's clock took. */
    final void addSample(int key, long elapsedNs, long nowNs, long elements) {
        BrickTimers.requireNotNegative("elements", elements);
        registry.add(key, elapsedNs, nowNs, elements);
        follower.ended(key, nowNs - elapsedNs, nowNs, elements);
    }

    /** Queues a measurement whose start is known; false where there is no room. */
    boolean defer(int key, long startNs, long elements) {
        return registry.defer(key, startNs, elements);
    }

    // ---- devices, of which there are none here ----

    /** How many samples wait for a device. */
    int pendingCount() {
        return 0;
    }

    /** Waits for devices, and resolves what waits for them. */
    void await() {}

    /** Resolves what devices have done. */
    void poll() {}

    /** A pass has ended; waits for what it left, or not. */
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
