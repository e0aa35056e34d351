package org.brickprofiler.demo;

import static java.util.Map.entry;

import java.util.Map;
import org.brickprofiler.BrickId;

/** The expected profile of the decoder, derived from the architecture alone. */
final class Formulas {

    private Formulas() {}

    /** Returns how often each brick runs in one pass; bricks that are missing do not run. */
    static Map<BrickId, Integer> countsPerPass(int layers) {
        return Map.ofEntries(
                entry(BrickId.EMBEDDING, 1),
                entry(BrickId.RMS_NORM, 2 * layers + 1),
                entry(BrickId.QKV_PROJECTION, layers),
                entry(BrickId.ROPE_EMBEDDING, layers),
                entry(BrickId.KV_CACHE_UPDATE, layers),
                entry(BrickId.ATTENTION_SCORE, layers),
                entry(BrickId.ATTENTION_SOFTMAX, layers),
                entry(BrickId.ATTENTION_OUTPUT, layers),
                entry(BrickId.OUTPUT_PROJECTION, layers),
                entry(BrickId.RESIDUAL_ADD, 2 * layers),
                entry(BrickId.GATE_PROJECTION, layers),
                entry(BrickId.UP_PROJECTION, layers),
                entry(BrickId.ACTIVATION, layers),
                entry(BrickId.DOWN_PROJECTION, layers),
                entry(BrickId.LM_HEAD, 1),
                entry(BrickId.SAMPLING, 1));
    }

    /** Returns the floating-point operations of all matrix products of one pass: two for each weight. */
    static long matrixFlopsPerPass(ModelConfig config) {
        long dim = config.dim();
        long headDim = dim / config.heads();
        long qkv = dim * (dim + 2L * config.kvHeads() * headDim);
        long feedForward = 3 * dim * config.ffnDim();
        return 2 * (config.layers() * (qkv + dim * dim + feedForward) + dim * config.vocab());
    }
}
