package org.brickprofiler.graph;

import java.util.Objects;

/**
 * How far a kernel stays below its roof. Immutable.
 *
 * @param node the kernel's id
 * @param name the kernel
 * @param intensity its arithmetic intensity, FLOP/byte
 * @param achievedTflops the rate it reached, TFLOP/s
 * @param roofTflops the most that its intensity allows, TFLOP/s
 * @param distance {@code 1 - achievedTflops / roofTflops}: 0 at the roof, 1 for no operation at all; negative above the
 *     roof
 * @param bound what the roof is made of
 * @param aboveRoof whether the rate exceeds the roof, so that the rate, the intensity or the machine's figures are
 *     wrong
 */
public record RooflineDistance(
        int node,
        String name,
        double intensity,
        double achievedTflops,
        double roofTflops,
        double distance,
        Bound bound,
        boolean aboveRoof) {

    /**
     * Refuses null.
     *
     * @throws NullPointerException when a component is null; the message names it
     */
    public RooflineDistance {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(bound, "bound");
    }
}
