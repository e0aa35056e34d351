package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * The roofline model (Williams, Waterman and Patterson, "Roofline: an insightful visual performance model for multicore
 * architectures", Communications of the ACM 52(4), 2009): a kernel's rate is limited by the machine's peak, and by its
 * arithmetic intensity times the memory bandwidth. Stateless; any thread, as far as the graph allows.
 */
public final class Roofline {

    /** One GFLOP/s in TFLOP/s: GB/s times FLOP/byte are GFLOP/s, both counted by 10^9. */
    private static final double GIGA_PER_TERA = 1e3;

    private Roofline() {}

    /**
     * Returns the position of every kernel whose intensity and rate are known.
     *
     * @param graph the graph; one thread
     * @param peakTflops the machine's peak rate, TFLOP/s
     * @param bandwidthGBps its memory bandwidth, GB/s of 10^9 bytes
     * @return the kernels by id, without those of {@link #unplaced}
     * @throws IllegalArgumentException when the peak or the bandwidth is not positive and finite
     */
    public static List<Distance> distances(ExecutionGraph graph, double peakTflops, double bandwidthGBps) {
        double ridge = ridgePoint(peakTflops, bandwidthGBps);
        List<Distance> distances = new ArrayList<>();
        for (int v = 0; v < graph.nodeCount(); v++) {
            if (graph.node(v) instanceof ExecutionNode.Kernel kernel && isPlaced(kernel)) {
                distances.add(distance(v, kernel, ridge, peakTflops, bandwidthGBps));
            }
        }
        return List.copyOf(distances);
    }

    private static Distance distance(
            int node, ExecutionNode.Kernel kernel, double ridge, double peakTflops, double bandwidthGBps) {
        double intensity = kernel.arithmeticIntensity().orElseThrow();
        double achieved = kernel.achievedTflops().orElseThrow();
        Bound bound = intensity >= ridge ? Bound.COMPUTE : Bound.MEMORY;
        double roof = bound == Bound.COMPUTE ? peakTflops : memoryRoof(intensity, peakTflops, bandwidthGBps);
        return new Distance(
                node, kernel.name(), intensity, achieved, roof, 1 - achieved / roof, bound, achieved > roof);
    }

    /**
     * Returns the roof of a memory-bound kernel, TFLOP/s: at least {@link Double#MIN_VALUE}, because relative to a roof
     * of 0 every rate would be infinite.
     */
    private static double memoryRoof(double intensity, double peakTflops, double bandwidthGBps) {
        double roof = Math.min(peakTflops, intensity * bandwidthGBps / GIGA_PER_TERA);
        return Math.max(Double.MIN_VALUE, roof);
    }

    /**
     * Returns the kernels without a position in the model: kernels without intensity or rate, and kernels of intensity
     * 0, which do no arithmetic and whose roof is 0.
     *
     * @param graph the graph; one thread
     * @return ids, ascending
     */
    public static List<Integer> unplaced(ExecutionGraph graph) {
        List<Integer> unplaced = new ArrayList<>();
        for (int v = 0; v < graph.nodeCount(); v++) {
            if (graph.node(v) instanceof ExecutionNode.Kernel kernel && !isPlaced(kernel)) {
                unplaced.add(v);
            }
        }
        return List.copyOf(unplaced);
    }

    private static boolean isPlaced(ExecutionNode.Kernel kernel) {
        return kernel.achievedTflops().isPresent()
                && kernel.arithmeticIntensity().orElse(0) > 0;
    }

    /**
     * Returns the ridge point: the intensity from which the peak, not the bandwidth, is the limit. A kernel exactly
     * there counts as {@link Bound#COMPUTE}.
     *
     * @param peakTflops the machine's peak rate, TFLOP/s
     * @param bandwidthGBps its memory bandwidth, GB/s of 10^9 bytes
     * @return FLOP/byte
     * @throws IllegalArgumentException when the peak or the bandwidth is not positive and finite
     */
    public static double ridgePoint(double peakTflops, double bandwidthGBps) {
        requirePositive("peak", peakTflops, "TFLOP/s");
        requirePositive("bandwidth", bandwidthGBps, "GB/s");
        return peakTflops * GIGA_PER_TERA / bandwidthGBps;
    }

    private static void requirePositive(String what, double value, String unit) {
        if (!(value > 0) || Double.isInfinite(value)) {
            throw new IllegalArgumentException(what + " of " + value + " " + unit + " is not positive and finite");
        }
    }

    /**
     * How far a kernel stays below its roof. Immutable.
     *
     * @param node the kernel's id
     * @param name the kernel
     * @param intensity its arithmetic intensity, FLOP/byte
     * @param achievedTflops the rate it reached, TFLOP/s
     * @param roofTflops the most that its intensity allows, TFLOP/s
     * @param distance {@code 1 - achievedTflops / roofTflops}: 0 at the roof, 1 for no operation at all; negative above
     *     the roof
     * @param bound the limit that sets the roof
     * @param aboveRoof whether the rate exceeds the roof, so that the rate, the intensity or the machine's figures are
     *     wrong
     */
    public record Distance(
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
        public Distance {
            Objects.requireNonNull(name, "name");
            Objects.requireNonNull(bound, "bound");
        }
    }

    /** The limit of a kernel in the roofline model. */
    public enum Bound {
        /** The memory bandwidth: the kernel lies left of the ridge point. */
        MEMORY,

        /** The peak rate: the kernel lies at the ridge point or right of it. */
        COMPUTE
    }
}
