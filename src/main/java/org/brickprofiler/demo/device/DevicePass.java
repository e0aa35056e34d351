package org.brickprofiler.demo.device;

import java.util.List;

/**
 * The bricks of one forward pass on a device, in the order in which they are enqueued. Opening, closing and layers may
 * be empty, but no layer is.
 *
 * @param opening what comes before the layers
 * @param layers what each layer does
 * @param closing what comes after the layers
 */
record DevicePass(List<DeviceStep> opening, List<List<DeviceStep>> layers, List<DeviceStep> closing) {

    DevicePass {
        opening = List.copyOf(opening);
        layers = layers.stream().map(List::copyOf).toList();
        closing = List.copyOf(closing);
    }

    /** How many bricks. */
    int size() {
        return opening.size() + layers.stream().mapToInt(List::size).sum() + closing.size();
    }
}
