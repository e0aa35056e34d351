package org.brickprofiler.demo;

import java.util.List;
import org.brickprofiler.BrickId;

/**
 * The bricks of one forward pass on a device, in the order in which they are enqueued. Opening, closing and layers may
 * be empty, but no layer is.
 *
 * @param opening the bricks before the layers
 * @param layers the bricks of each layer
 * @param closing the bricks after the layers
 */
public record DevicePass(List<Step> opening, List<List<Step>> layers, List<Step> closing) {

    /** Copies the lists. */
    public DevicePass {
        opening = List.copyOf(opening);
        layers = layers.stream().map(List::copyOf).toList();
        closing = List.copyOf(closing);
    }

    /** Work for a stream. */
    public interface Work {
        /** Enqueues the work, and waits for nothing. */
        void enqueue();
    }

    /**
     * One brick of a pass.
     *
     * @param brick the brick under which it is timed
     * @param elements its elements: one token, or the bytes of a copy
     * @param work the work that it enqueues
     */
    public record Step(BrickId brick, long elements, Work work) {

        /**
         * Creates a brick that processes one token.
         *
         * @param brick the brick under which it is timed
         * @param work the work that it enqueues
         */
        public Step(BrickId brick, Work work) {
            this(brick, 1, work);
        }
    }

    /** Returns the number of bricks. */
    int size() {
        return opening.size() + layers.stream().mapToInt(List::size).sum() + closing.size();
    }
}
