package org.brickprofiler.demo;

import java.util.List;
import org.brickprofiler.BrickId;

/**
 * The bricks of one forward pass, in the order in which they run. None of the lists is empty.
 *
 * @param opening the bricks before the layers
 * @param layers the bricks of each layer
 * @param closing the bricks after the layers
 */
record Pass(List<Step> opening, List<List<Step>> layers, List<Step> closing) {

    Pass {
        opening = List.copyOf(opening);
        layers = layers.stream().map(List::copyOf).toList();
        closing = List.copyOf(closing);
    }

    /**
     * One brick of a pass.
     *
     * @param brick the brick under which it is timed
     * @param operation its computation
     */
    record Step(BrickId brick, Operation operation) {}

    /** The work of a step. */
    interface Operation {
        /** Does the work, and returns the array that holds its output. */
        float[] run();
    }
}
