package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;
import static org.brickprofiler.BrickId.DOWN_PROJECTION;
import static org.brickprofiler.BrickId.GATE_PROJECTION;
import static org.brickprofiler.BrickId.LM_HEAD;
import static org.brickprofiler.BrickId.OUTPUT_PROJECTION;
import static org.brickprofiler.BrickId.QKV_PROJECTION;
import static org.brickprofiler.BrickId.UP_PROJECTION;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.Work;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.brickprofiler.tile.TileStats;
import org.junit.jupiter.api.Test;

/** Compares the cost model with the memory and accesses of the demonstration's decoder. */
final class DecoderWorkTest {

    /** The demonstration's default model with fewer layers, whose shares of the work are the same. */
    private static final ModelConfig CONFIG = new ModelConfig(2, 512, 8, 4, 1_408, 16_000, 64);

    private static final int PASSES = 3;

    private final Weights weights = Weights.random(CONFIG, 1);

    @Spec("18.3")
    @Test
    void aDecodeStepMovesTheWeightsAndTheCache() {
        for (int kvLength : new int[] {1, 20, 1_500}) {
            long moved = CONFIG.work().decode(1, kvLength).values().stream()
                    .mapToLong(Work::bytes)
                    .sum();
            assertThat((double) moved)
                    .as("with %d keys", kvLength)
                    .isCloseTo(weightBytes() + cacheBytes(kvLength), within(0.01 * moved));
        }
    }

    /** Returns the bytes of the arrays that a pass reads; of the embedding it reads one row. */
    private double weightBytes() {
        long floats = (long) CONFIG.dim()
                + weights.finalNorm().length
                + weights.head().values().length;
        for (int i = 0; i < CONFIG.layers(); i++) {
            Weights.Layer layer = weights.layer(i);
            floats += layer.attentionNorm().length + layer.ffnNorm().length;
            for (Matrix matrix : List.of(layer.qkv(), layer.output(), layer.gate(), layer.up(), layer.down())) {
                floats += matrix.values().length;
            }
        }
        return (double) Float.BYTES * floats;
    }

    private static double cacheBytes(int kvLength) {
        return (double) Float.BYTES * 2 * CONFIG.layers() * kvLength * CONFIG.kvDim();
    }

    /** Tiles count the accesses of their loops, without a model. */
    @Spec("18.3")
    @Test
    void productsTouchTheBytesOfTheModel() {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.tiles().enable();
        try (Decoder decoder = new Decoder(weights, new Sampler(0, 1, 1), 1, Decoder.Instruments.of(profiler))) {
            DecodeRun.run(
                    decoder,
                    profiler,
                    1,
                    new DecodeRun.Limit(PASSES, DecodeRun.Limit.NO_TIME),
                    NanoClock.SYSTEM,
                    DecodeProgress.SILENT);
        }
        Work model = Work.NONE;
        for (BrickId product :
                List.of(QKV_PROJECTION, OUTPUT_PROJECTION, GATE_PROJECTION, UP_PROJECTION, DOWN_PROJECTION, LM_HEAD)) {
            model = model.plus(profiler.brickStats(product).work());
        }

        TileStats touched = profiler.tiles().stats(TileLevel.MACRO);
        assertThat(model.flops()).isEqualTo(touched.totalFlops());
        // A tile loads its part of the input anew.
        assertThat((double) model.bytes())
                .isCloseTo(Float.BYTES * (double) touched.totalElements(), within(0.03 * model.bytes()));
    }

    @Test
    void aRunRecordsTheWorkOfItsPasses() {
        BrickProfiler profiler = BrickProfiler.enabled();
        try (Decoder decoder = new Decoder(weights, new Sampler(0, 1, 1), 1, Decoder.Instruments.of(profiler))) {
            DecodeRun.run(
                    decoder,
                    profiler,
                    2,
                    new DecodeRun.Limit(PASSES, DecodeRun.Limit.NO_TIME),
                    NanoClock.SYSTEM,
                    DecodeProgress.SILENT);
        }

        Map<BrickId, Work> expected = new EnumMap<>(BrickId.class);
        for (int kvLength = 3; kvLength <= 5; kvLength++) {
            CONFIG.work().decode(1, kvLength).forEach((id, work) -> expected.merge(id, work, Work::plus));
        }
        assertThat(profiler.allBrickStats()).hasSize(expected.size()).allSatisfy(brick -> {
            BrickId id = BrickId.parse(brick.name()).orElseThrow();
            assertThat(brick.count()).as(brick.name()).isPositive();
            assertThat(brick.work()).as(brick.name()).isEqualTo(expected.get(id));
        });
    }
}
