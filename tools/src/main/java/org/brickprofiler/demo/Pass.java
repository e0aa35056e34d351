package org.brickprofiler.demo;

import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import org.brickprofiler.BrickId;
import org.brickprofiler.Work;

/**
 * The bricks of one forward pass, in the order in which they run. None of the lists is empty.
 *
 * @param opening the bricks before the layers
 * @param layers the bricks of each layer
 * @param closing the bricks after the layers
 * @param work the work of each brick in a pass at a position
 */
record Pass(List<Step> opening, List<List<Step>> layers, List<Step> closing, IntFunction<Map<BrickId, Work>> work) {

    Pass {
        opening = List.copyOf(opening);
        layers = layers.stream().map(List::copyOf).toList();
        closing = List.copyOf(closing);
    }

    /** Returns the same pass with other bricks in its layers. */
    Pass withLayers(List<List<Step>> others) {
        return new Pass(opening, others, closing, work);
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
