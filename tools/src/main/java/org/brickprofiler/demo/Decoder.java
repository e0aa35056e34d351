package org.brickprofiler.demo;

import static org.brickprofiler.BrickId.ACTIVATION;
import static org.brickprofiler.BrickId.ATTENTION_OUTPUT;
import static org.brickprofiler.BrickId.ATTENTION_SCORE;
import static org.brickprofiler.BrickId.ATTENTION_SOFTMAX;
import static org.brickprofiler.BrickId.DOWN_PROJECTION;
import static org.brickprofiler.BrickId.EMBEDDING;
import static org.brickprofiler.BrickId.GATE_PROJECTION;
import static org.brickprofiler.BrickId.KV_CACHE_UPDATE;
import static org.brickprofiler.BrickId.LM_HEAD;
import static org.brickprofiler.BrickId.OUTPUT_PROJECTION;
import static org.brickprofiler.BrickId.QKV_PROJECTION;
import static org.brickprofiler.BrickId.RESIDUAL_ADD;
import static org.brickprofiler.BrickId.RMS_NORM;
import static org.brickprofiler.BrickId.ROPE_EMBEDDING;
import static org.brickprofiler.BrickId.SAMPLING;
import static org.brickprofiler.BrickId.UP_PROJECTION;

import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.Attention.KvCache;
import org.brickprofiler.demo.Pass.Step;

/**
 * A decoder of the Llama architecture: one token in, one token out, on the processor and in float arithmetic. It owns
 * its buffers, its KV cache and its threads. One thread at a time may use it; {@link #close} ends the threads that it
 * started.
 */
final class Decoder implements AutoCloseable {

    /**
     * The instruments that observe a decoder or change its work.
     *
     * @param runner runs its bricks
     * @param tiles times its tiles
     * @param fault changes its pass; refuses one that it does not fit with an {@link IllegalArgumentException}
     */
    record Instruments(PassRunner runner, TiledProduct.Probe tiles, UnaryOperator<Pass> fault) {

        /** No instruments: no call of a profiler is made. */
        static final Instruments NONE =
                new Instruments(PassRunner.PLAIN, TiledProduct.Probe.NONE, UnaryOperator.identity());

        /** Returns instruments with which a profiler watches passes that are parts of steps. */
        static Instruments inSteps(BrickProfiler profiler) {
            return new Instruments(
                    new PassRunner.InStep(profiler), TiledProduct.Probe.of(profiler.tiles()), UnaryOperator.identity());
        }

        /** Returns instruments with which a profiler watches. */
        static Instruments of(BrickProfiler profiler) {
            return new Instruments(
                    new PassRunner.Profiled(profiler),
                    TiledProduct.Probe.of(profiler.tiles()),
                    UnaryOperator.identity());
        }
    }

    private final ModelConfig config;
    private final Weights weights;
    private final Sampler sampler;
    private final WorkerPool pool;
    private final boolean ownsPool;
    private final TiledProduct product;
    private final Attention attention;
    private final RotaryEmbedding rotary;
    private final PassRunner runner;
    private final Pass pass;

    private final float[] residual;
    private final float[] normed;
    private final float[] qkv;
    private final float[] attended;
    private final float[] projected;
    private final float[] gate;
    private final float[] up;
    private final float[] activated;
    private final float[] logits;
    // A token is a whole number below 2^20, which a float holds exactly.
    private final float[] chosen = new float[1];

    private int token;
    private int position;

    /**
     * Makes a decoder with an empty KV cache and starts its threads.
     *
     * @param weights the model
     * @param sampler chooses the tokens; used by this decoder only
     * @param threads number of working threads, including the caller of {@link #decode}
     * @param instruments the profiler and the other instruments
     * @throws IllegalArgumentException when the instruments do not fit the model
     */
    Decoder(Weights weights, Sampler sampler, int threads, Instruments instruments) {
        this(weights, sampler, new WorkerPool(threads), true, instruments);
    }

    /**
     * Makes a decoder with an empty KV cache that shares its threads with others, of which one at a time decodes.
     *
     * @param weights the model
     * @param sampler chooses the tokens; used by this decoder only
     * @param pool the threads; left open
     * @param instruments the profiler and the other instruments
     * @throws IllegalArgumentException when the instruments do not fit the model
     */
    Decoder(Weights weights, Sampler sampler, WorkerPool pool, Instruments instruments) {
        this(weights, sampler, pool, false, instruments);
    }

    private Decoder(Weights weights, Sampler sampler, WorkerPool pool, boolean ownsPool, Instruments instruments) {
        this.config = weights.config();
        this.weights = weights;
        this.sampler = sampler;
        this.runner = instruments.runner();
        this.pool = pool;
        this.ownsPool = ownsPool;
        product = new TiledProduct(pool, instruments.tiles());
        attention = new Attention(config, pool);
        rotary = new RotaryEmbedding(config);
        residual = new float[config.dim()];
        normed = new float[config.dim()];
        qkv = new float[config.qkvDim()];
        attended = new float[config.dim()];
        projected = new float[config.dim()];
        gate = new float[config.ffnDim()];
        up = new float[config.ffnDim()];
        activated = new float[config.ffnDim()];
        logits = new float[config.vocab()];
        pass = altered(instruments.fault());
    }

    private Pass altered(UnaryOperator<Pass> fault) {
        try {
            return fault.apply(
                    new Pass(opening(), layers(), closing(), at -> config.work().decode(1, at + 1)));
        } catch (IllegalArgumentException doesNotFit) {
            close();
            throw doesNotFit;
        }
    }

    /**
     * Runs one forward pass.
     *
     * @param input the token at the next position
     * @return the token that the model puts after it
     * @throws IllegalArgumentException when there is no such token
     * @throws IllegalStateException when the KV cache is full
     */
    int decode(int input) {
        if (input < 0 || input >= config.vocab()) {
            throw new IllegalArgumentException("token " + input + " is not within 0 to " + (config.vocab() - 1));
        }
        if (position == config.maxSequence()) {
            throw new IllegalStateException("the KV cache is full after " + position + " positions");
        }
        token = input;
        runner.run(pass, position);
        position++;
        return token;
    }

    /** Returns the shape of the model. */
    ModelConfig config() {
        return config;
    }

    /** Returns the model. */
    Weights weights() {
        return weights;
    }

    /** Returns the logits of the last pass, one per token; a copy. */
    float[] logits() {
        return logits.clone();
    }

    @Override
    public void close() {
        if (ownsPool) {
            pool.close();
        }
    }

    // ---- the bricks, in the order in which they run ----

    private List<Step> opening() {
        return List.of(new Step(EMBEDDING, this::embed));
    }

    private List<List<Step>> layers() {
        return IntStream.range(0, config.layers())
                .mapToObj(layer -> layer(weights.layer(layer), new KvCache(config)))
                .toList();
    }

    private List<Step> layer(Weights.Layer layer, KvCache cache) {
        return List.of(
                norm(layer.attentionNorm()),
                project(QKV_PROJECTION, layer.qkv(), normed, qkv),
                new Step(ROPE_EMBEDDING, this::rotate),
                new Step(KV_CACHE_UPDATE, () -> remember(cache)),
                new Step(ATTENTION_SCORE, () -> attention.score(qkv, cache, position)),
                new Step(ATTENTION_SOFTMAX, () -> attention.softmax(position)),
                new Step(ATTENTION_OUTPUT, () -> attend(cache)),
                project(OUTPUT_PROJECTION, layer.output(), attended, projected),
                new Step(RESIDUAL_ADD, this::addResidual),
                norm(layer.ffnNorm()),
                project(GATE_PROJECTION, layer.gate(), normed, gate),
                project(UP_PROJECTION, layer.up(), normed, up),
                new Step(ACTIVATION, this::activate),
                project(DOWN_PROJECTION, layer.down(), activated, projected),
                new Step(RESIDUAL_ADD, this::addResidual));
    }

    private List<Step> closing() {
        return List.of(
                norm(weights.finalNorm()),
                project(LM_HEAD, weights.head(), normed, logits),
                new Step(SAMPLING, this::choose));
    }

    private Step norm(float[] normWeights) {
        return new Step(RMS_NORM, () -> {
            Vectors.rmsNorm(residual, normWeights, normed);
            return normed;
        });
    }

    private Step project(BrickId brick, Matrix matrix, float[] input, float[] output) {
        return new Step(brick, () -> {
            product.multiply(matrix, input, output);
            return output;
        });
    }

    private float[] embed() {
        System.arraycopy(weights.embedding().values(), token * config.dim(), residual, 0, config.dim());
        return residual;
    }

    private float[] rotate() {
        rotary.rotate(qkv, config.heads() + config.kvHeads(), position);
        return qkv;
    }

    private float[] remember(KvCache cache) {
        cache.put(qkv, config.dim(), position);
        return cache.keys(position);
    }

    private float[] attend(KvCache cache) {
        attention.output(cache, position, attended);
        return attended;
    }

    private float[] addResidual() {
        Vectors.add(residual, projected);
        return residual;
    }

    private float[] activate() {
        Vectors.swiGlu(gate, up, activated);
        return activated;
    }

    private float[] choose() {
        token = sampler.sample(logits);
        chosen[0] = token;
        return chosen;
    }
}
