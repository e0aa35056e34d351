package org.brickprofiler.demo;

import org.brickprofiler.BrickId;

/**
 * One brick of a pass.
 *
 * @param brick as what it is timed
 * @param operation what it does
 */
record Step(BrickId brick, Operation operation) {

    /** The work of a step. */
    interface Operation {
        /** Does the work, and returns the array that holds its output. */
        float[] run();
    }
}
