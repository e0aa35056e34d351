package org.brickprofiler.demo;

import java.util.List;

/**
 * The bricks of one forward pass, in the order in which they run. None of the lists is empty.
 *
 * @param opening what comes before the layers
 * @param layers what each layer does
 * @param closing what comes after the layers
 */
record Pass(List<Step> opening, List<List<Step>> layers, List<Step> closing) {

    Pass {
        opening = List.copyOf(opening);
        layers = layers.stream().map(List::copyOf).toList();
        closing = List.copyOf(closing);
    }
}
