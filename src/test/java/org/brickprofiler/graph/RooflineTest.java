package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.Roofline.Bound;
import org.brickprofiler.graph.Roofline.Distance;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class RooflineTest {

    /** A machine of 20 TFLOP/s and 1,000 GB/s: its ridge point is at 20 FLOP/byte. */
    private static final double PEAK_TFLOPS = 20;

    private static final double BANDWIDTH_GBPS = 1_000;

    private final ExecutionGraph graph = new ExecutionGraph();

    @Spec("9.9")
    @Test
    void leftOfTheRidgeTheBandwidthIsTheRoof() {
        graph.addNode(new Brick("norm", 10, 1));
        int node = kernel("norm_kernel", 4, 1);

        assertThat(Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS))
                .as("4 FLOP/byte at 1,000 GB/s are 4 TFLOP/s, of which 1 is reached")
                .containsExactly(new Distance(node, "norm_kernel", 4, 1, 4, 0.75, Bound.MEMORY, false));
    }

    @Test
    void rightOfTheRidgeThePeakIsTheRoof() {
        int node = kernel("gemm", 200, 15);

        assertThat(Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS))
                .containsExactly(new Distance(node, "gemm", 200, 15, 20, 0.25, Bound.COMPUTE, false));
    }

    @Test
    void theRidgeItselfCountsAsCompute() {
        kernel("at", 20, 20);
        kernel("below", Math.nextDown(20.0), 20);

        List<Distance> distances = Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS);

        assertThat(distances).extracting(Distance::bound).containsExactly(Bound.COMPUTE, Bound.MEMORY);
        assertThat(distances.get(0).distance()).isZero();
        assertThat(distances.get(0).aboveRoof()).as("at the roof, not above it").isFalse();
    }

    @Spec("9.9")
    @Test
    void aRateAboveTheRoofIsFlaggedAndKept() {
        kernel("wrong", 10, 15);

        Distance distance =
                Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS).get(0);

        assertThat(distance.aboveRoof()).isTrue();
        assertThat(distance.distance()).isEqualTo(-0.5);
        assertThat(distance.achievedTflops()).isEqualTo(15);
    }

    @Spec("9.9")
    @Test
    void unknownValuesAreNotInvented() {
        int nothing = graph.addNode(kernelOf("nothing", OptionalDouble.empty(), OptionalDouble.empty()));
        int noRate = graph.addNode(kernelOf("no rate", OptionalDouble.of(1), OptionalDouble.empty()));
        int noIntensity = graph.addNode(kernelOf("no intensity", OptionalDouble.empty(), OptionalDouble.of(1)));
        int copy = kernel("copy", 0, 0);
        int placed = kernel("placed", 1, 0);

        assertThat(Roofline.unplaced(graph)).containsExactly(nothing, noRate, noIntensity, copy);
        assertThat(Roofline.distances(graph, PEAK_TFLOPS, BANDWIDTH_GBPS))
                .extracting(Distance::node, Distance::distance)
                .containsExactly(tuple(placed, 1.0));
    }

    @Test
    void anEmptyGraphHasNoDistances() {
        assertThat(Roofline.distances(graph, 1, 1)).isEmpty();
        assertThat(Roofline.unplaced(graph)).isEmpty();
    }

    @Test
    void refusesMachinesThatDoNotExist() {
        for (double value : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Roofline.distances(graph, value, 1))
                    .withMessage("peak of " + value + " TFLOP/s is not positive and finite");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> Roofline.distances(graph, 1, value))
                    .withMessage("bandwidth of " + value + " GB/s is not positive and finite");
        }
    }

    @Test
    void extremeFiguresKeepTheirMeaning() {
        kernel("tiny", Double.MIN_VALUE, 0);
        kernel("huge", Double.MAX_VALUE, 1);

        assertThat(Roofline.distances(graph, Double.MAX_VALUE, 1))
                .allSatisfy(distance -> assertThat(distance.distance()).isBetween(0.0, 1.0));
        assertThat(Roofline.distances(graph, 1, Double.MAX_VALUE))
                .allSatisfy(distance -> assertThat(distance.roofTflops()).isPositive());
    }

    @Property
    void boundRoofAndFlagAgree(
            @ForAll @DoubleRange(min = 0.01, max = 1e4) double intensity,
            @ForAll @DoubleRange(max = 1e4) double achieved,
            @ForAll @DoubleRange(min = 0.01, max = 1e4) double peak,
            @ForAll @DoubleRange(min = 0.01, max = 1e5) double bandwidth) {
        graph.clear();
        kernel("k", intensity, achieved);

        Distance distance = Roofline.distances(graph, peak, bandwidth).get(0);

        assertThat(distance.roofTflops()).isCloseTo(Math.min(peak, intensity * bandwidth / 1e3), within(peak * 1e-12));
        assertThat(distance.bound())
                .isEqualTo(intensity >= Roofline.ridgePoint(peak, bandwidth) ? Bound.COMPUTE : Bound.MEMORY);
        assertThat(distance.aboveRoof()).isEqualTo(distance.distance() < 0);
    }

    private int kernel(String name, double intensity, double achievedTflops) {
        return graph.addNode(kernelOf(name, OptionalDouble.of(intensity), OptionalDouble.of(achievedTflops)));
    }

    private static Kernel kernelOf(String name, OptionalDouble intensity, OptionalDouble achievedTflops) {
        Dim3 one = new Dim3(1, 1, 1);
        return new Kernel(name, 0, one, one, 0, OptionalLong.empty(), intensity, achievedTflops);
    }
}
