package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.graph.Dim3;
import org.brickprofiler.graph.EdgeType;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The profiler's own calls fill its graph and give its checksums their times. */
final class BrickProfilerGraphTest {

    private static final Dim3 ONE = new Dim3(1, 1, 1);

    private final FakeClock clock = new FakeClock(1_000);
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();

    private void brick(BrickId id, long elapsedNs) {
        long timer = profiler.startBrick(id);
        clock.advance(elapsedNs);
        profiler.stopBrick(timer, 1);
    }

    private List<String> children(ExecutionGraph graph, String parent) {
        return graph.children(graph.nodesByName(parent).get(0)).stream()
                .map(graph::node)
                .map(ExecutionNode::name)
                .toList();
    }

    @Test
    void layersHoldBricksAndBricksHoldKernels() {
        profiler.enable();
        profiler.graph().enable();
        brick(BrickId.EMBEDDING, 5);
        clock.advance(1);
        profiler.startLayer();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance(10);
        profiler.graph().recordKernel("rms_norm_kernel", 1, ONE, ONE, 0);
        clock.advance(10);
        timer = profiler.lap(timer, 3, BrickId.QKV_PROJECTION);
        profiler.graph().recordKernel("gemm", 2, ONE, ONE, 0);
        clock.advance(30);
        profiler.stopBrick(timer, 3);
        profiler.endLayer();
        profiler.endPass();

        ExecutionGraph graph = profiler.graph().graph();
        assertThat(children(graph, "Layer 0")).containsExactly("RmsNorm", "QkvProjection");
        assertThat(children(graph, "RmsNorm")).containsExactly("rms_norm_kernel");
        assertThat(children(graph, "QkvProjection")).containsExactly("gemm");
        int norm = graph.nodesByName("RmsNorm").get(0);
        assertThat(graph.node(norm)).isEqualTo(new ExecutionNode.Brick("RmsNorm", 20, 3));
        assertThat(graph.outgoing(norm)).anyMatch(edge -> edge.type() == EdgeType.LAUNCHES);
        assertThat(graph.parent(graph.nodesByName("Embedding").get(0))).isEmpty();
        assertThat(graph.nodeCount()).isEqualTo(6);
    }

    @Spec("9.3")
    @Test
    void theGraphStaysEmptyUnlessBothSwitchesAreOn() {
        profiler.enable();
        brick(BrickId.RMS_NORM, 10);
        profiler.endLayer();
        profiler.disable();
        profiler.graph().enable();
        brick(BrickId.RMS_NORM, 10);
        profiler.startLayer();
        profiler.endLayer();
        profiler.endPass();

        assertThat(profiler.graph().graph().nodeCount()).isZero();
    }

    @Spec("4.10")
    @Test
    void aResetEmptiesGraphAndChecksumsAndASnapshotWithResetDoesNot() {
        profiler.enable();
        profiler.graph().enable();
        brick(BrickId.RMS_NORM, 10);
        profiler.checksums().record("RmsNorm", 0, 0, new float[] {1});

        assertThat(profiler.snapshotAndReset().brick("RmsNorm")).isPresent();
        assertThat(profiler.graph().graph().nodeCount()).isEqualTo(1);
        assertThat(profiler.checksums().list()).hasSize(1);

        profiler.reset();
        assertThat(profiler.graph().graph().nodeCount()).isZero();
        assertThat(profiler.checksums().list()).isEmpty();
    }

    @Test
    void aChecksumCarriesTheTimeOfTheCallingThreadsLatestSample() throws Exception {
        profiler.enable();
        brick(BrickId.RMS_NORM, 10);
        brick(BrickId.RMS_NORM, 25);
        profiler.checksums().record("RmsNorm", 0, 0, new float[] {1});
        profiler.checksums().record("never timed", 0, 0, new float[] {1});
        profiler.checksums().record("LmHead", 0, 0, new float[] {1});
        Crew.runOnNewThread(() -> profiler.checksums().record("RmsNorm", 0, 1, new float[] {1}));

        assertThat(profiler.checksums().list())
                .extracting(ChecksumEntry::elapsedNs)
                .containsExactly(OptionalLong.of(25), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());
    }

    /** The thread has resolved the brick of a previous pass, not the brick whose output is recorded. */
    @ParameterizedTest
    @EnumSource(SyncMode.class)
    void aChecksumCarriesNoTimeThatADeviceWillTellLater(SyncMode mode) {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        BrickProfiler devices =
                BrickProfiler.builder().clock(clock).deviceStream(stream).build();
        devices.setSyncMode(mode);
        devices.enable();
        for (int pass = 1; pass <= 2; pass++) {
            long timer = devices.startBrick(BrickId.RMS_NORM);
            stream.work(1_000);
            clock.advance(pass);
            devices.stopBrick(timer, 1);
            devices.checksums().record("RmsNorm", 0, pass, new float[] {1});
            devices.endPass();
            assertThat(devices.brickStats(BrickId.RMS_NORM).count()).isEqualTo(pass);
        }
        boolean known = mode == SyncMode.NONE;
        assertThat(devices.checksums().list())
                .extracting(ChecksumEntry::elapsedNs)
                .containsExactly(
                        known ? OptionalLong.of(1) : OptionalLong.empty(),
                        known ? OptionalLong.of(2) : OptionalLong.empty());
    }
}
