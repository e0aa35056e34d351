package org.brickprofiler.demo.device;

import org.brickprofiler.BrickId;

/**
 * One brick of a pass on a device.
 *
 * @param brick as what it is timed
 * @param work what it enqueues
 */
record DeviceStep(BrickId brick, Work work) {

    /** Work for a stream. */
    interface Work {
        /** Enqueues the work, and waits for nothing. */
        void enqueue();
    }
}
