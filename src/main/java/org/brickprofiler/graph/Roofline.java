package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;

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
     * Where every kernel stands whose intensity and rate are known.
     *
     * @param graph the graph; one thread
     * @param peakTflops the machine's peak rate, TFLOP/s
     * @param bandwidthGBps its memory bandwidth, GB/s of 10^9 bytes
     * @return the kernels by id; those of {@link #unplaced} are missing
     * @throws IllegalArgumentException when the peak or the bandwidth is not positive and finite
     */
    public static List<RooflineDistance> distances(ExecutionGraph graph, double peakTflops, double bandwidthGBps) {
        double ridge = ridgePoint(peakTflops, bandwidthGBps);
        List<RooflineDistance> distances = new ArrayList<>();
        for (int v = 0; v < graph.nodeCount(); v++) {
            if (graph.node(v) instanceof ExecutionNode.Kernel kernel && isPlaced(kernel)) {
                distances.add(distance(v, kernel, ridge, peakTflops, bandwidthGBps));
            }
        }
        return List.copyOf(distances);
    }

    private static RooflineDistance distance(
            int node, ExecutionNode.Kernel kernel, double ridge, double peakTflops, double bandwidthGBps) {
        double intensity = kernel.arithmeticIntensity().orElseThrow();
        double achieved = kernel.achievedTflops().orElseThrow();
        Bound bound = intensity >= ridge ? Bound.COMPUTE : Bound.MEMORY;
        double roof = bound == Bound.COMPUTE ? peakTflops : memoryRoof(intensity, peakTflops, bandwidthGBps);
        return new RooflineDistance(
                node, kernel.name(), intensity, achieved, roof, 1 - achieved / roof, bound, achieved > roof);
    }

    /** At least the smallest number there is, for a roof of 0 would make every rate infinitely high. */
    private static double memoryRoof(double intensity, double peakTflops, double bandwidthGBps) {
        double roof = Math.min(peakTflops, intensity * bandwidthGBps / GIGA_PER_TERA);
        return Math.max(Double.MIN_VALUE, roof);
    }

    /**
     * The kernels that have no place in the model: those without intensity or rate, and those whose intensity is 0, for
     * they do no arithmetic and their roof is 0.
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
     * The intensity from which on the peak, not the bandwidth, is the limit. A kernel exactly there counts as
     * {@link Bound#COMPUTE}.
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
}
