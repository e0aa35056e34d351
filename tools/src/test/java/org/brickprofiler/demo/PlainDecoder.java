package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.brickprofiler.demo.Attention.KvCache;

/**
 * The demonstration's decoder as engines are usually written: one method with all of a pass, and no call of a profiler.
 * Made of the same kernels, it gives the same tokens.
 */
public final class PlainDecoder implements AutoCloseable {

    private final ModelConfig config;
    private final Weights weights;
    private final Sampler sampler;
    private final WorkerPool pool;
    private final TiledProduct product;
    private final Attention attention;
    private final RotaryEmbedding rotary;
    private final List<KvCache> caches;

    private final float[] residual;
    private final float[] normed;
    private final float[] qkv;
    private final float[] attended;
    private final float[] projected;
    private final float[] gate;
    private final float[] up;
    private final float[] activated;
    private final float[] logits;

    private PlainDecoder(Weights weights, Sampler sampler, int threads) {
        this.config = weights.config();
        this.weights = weights;
        this.sampler = sampler;
        pool = new WorkerPool(threads);
        product = new TiledProduct(pool, TiledProduct.Probe.NONE);
        attention = new Attention(config, pool);
        rotary = new RotaryEmbedding(config);
        caches = IntStream.range(0, config.layers())
                .mapToObj(layer -> new KvCache(config))
                .toList();
        residual = new float[config.dim()];
        normed = new float[config.dim()];
        qkv = new float[config.qkvDim()];
        attended = new float[config.dim()];
        projected = new float[config.dim()];
        gate = new float[config.ffnDim()];
        up = new float[config.ffnDim()];
        activated = new float[config.ffnDim()];
        logits = new float[config.vocab()];
    }

    private int forward(int token, int position) {
        System.arraycopy(weights.embedding().values(), token * config.dim(), residual, 0, config.dim());
        for (int number = 0; number < config.layers(); number++) {
            Weights.Layer layer = weights.layer(number);
            KvCache cache = caches.get(number);
            Vectors.rmsNorm(residual, layer.attentionNorm(), normed);
            product.multiply(layer.qkv(), normed, qkv);
            rotary.rotate(qkv, config.heads() + config.kvHeads(), position);
            cache.put(qkv, config.dim(), position);
            attention.score(qkv, cache, position);
            attention.softmax(position);
            attention.output(cache, position, attended);
            product.multiply(layer.output(), attended, projected);
            Vectors.add(residual, projected);
            Vectors.rmsNorm(residual, layer.ffnNorm(), normed);
            product.multiply(layer.gate(), normed, gate);
            product.multiply(layer.up(), normed, up);
            Vectors.swiGlu(gate, up, activated);
            product.multiply(layer.down(), activated, projected);
            Vectors.add(residual, projected);
        }
        Vectors.rmsNorm(residual, weights.finalNorm(), normed);
        product.multiply(weights.head(), normed, logits);
        return sampler.sample(logits);
    }

    @Override
    public void close() {
        pool.close();
    }

    /**
     * Decodes a small model's tokens and prints them.
     *
     * @param args the number of tokens, and the number of threads
     */
    public static void main(String[] args) {
        List<Integer> tokens = new ArrayList<>();
        try (PlainDecoder decoder = new PlainDecoder(weights(), sampler(), Integer.parseInt(args[1]))) {
            int token = DecodeRun.BEGIN_OF_SEQUENCE;
            for (int position = 0; position < Integer.parseInt(args[0]); position++) {
                token = decoder.forward(token, position);
                tokens.add(token);
            }
        }
        System.out.println(tokens.stream().map(String::valueOf).collect(Collectors.joining(" ")));
    }

    /** The model of the comparison. */
    static Weights weights() {
        return Weights.random(new ModelConfig(3, 64, 8, 4, 96, 300, 64), 42);
    }

    /** Returns a new sampler of the comparison. */
    static Sampler sampler() {
        return new Sampler(0.8, 0.95, 42);
    }
}
