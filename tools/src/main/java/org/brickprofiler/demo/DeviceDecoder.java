package org.brickprofiler.demo;

import static org.brickprofiler.BrickId.ACTIVATION;
import static org.brickprofiler.BrickId.ATTENTION_OUTPUT;
import static org.brickprofiler.BrickId.ATTENTION_SCORE;
import static org.brickprofiler.BrickId.ATTENTION_SOFTMAX;
import static org.brickprofiler.BrickId.DEVICE_TO_HOST;
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
import static org.brickprofiler.BrickId.UP_PROJECTION;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DevicePass.Step;

/**
 * A decoder of the Llama architecture on a device: a token and its position in, logits out. It computes in float
 * arithmetic, brick by brick as the decoder on the processor does, but adds the terms of a sum in another order. It
 * owns its buffers and its KV cache, in the memory of a {@link ComputeDevice}. One thread.
 */
final class DeviceDecoder {

    private final ComputeDevice device;
    private final ModelConfig config;
    private final Weights weights;
    private final DecoderKernels kernels;
    private final DevicePass pass;

    private final HostNumber token = new HostNumber();
    private final HostNumber position = new HostNumber();

    /** The number of positions that attention reads, including that of the token. */
    private final HostNumber positions = new HostNumber();

    private final Floats cosines;
    private final Floats sines;
    private final DecoderKernels.Heads heads;
    private final Floats residual;
    private final Floats normed;
    private final Floats qkv;
    private final Floats attended;
    private final Floats projected;
    private final Floats gate;
    private final Floats up;
    private final Floats activated;
    private final Floats logits;
    private final ByteBuffer result;

    /**
     * Makes a decoder, and copies the model to the device.
     *
     * @param device the device
     * @param weights the model
     * @throws DeviceFailure when there is no room for it
     */
    DeviceDecoder(ComputeDevice device, Weights weights) {
        this.device = device;
        this.weights = weights;
        config = weights.config();
        kernels = new DecoderKernels(device);
        RotaryEmbedding rotary = new RotaryEmbedding(config);
        cosines = device.upload(rotary.cosines());
        sines = device.upload(rotary.sines());
        heads = new DecoderKernels.Heads(
                device.allocate((long) config.heads() * config.maxSequence()),
                config.heads(),
                config.headDim(),
                config.kvHeads(),
                config.maxSequence());
        residual = device.allocate(config.dim());
        normed = device.allocate(config.dim());
        qkv = device.allocate(config.qkvDim());
        attended = device.allocate(config.dim());
        projected = device.allocate(config.dim());
        gate = device.allocate(config.ffnDim());
        up = device.allocate(config.ffnDim());
        activated = device.allocate(config.ffnDim());
        logits = device.allocate(config.vocab());
        result = device.allocateHost(logits.bytes());
        List<List<Step>> layers = IntStream.range(0, config.layers())
                .mapToObj(layer -> layer(weights.layer(layer)))
                .toList();
        pass = new DevicePass(opening(), layers, closing());
    }

    /**
     * Runs one forward pass and waits for it.
     *
     * @param input the token; one of the vocabulary
     * @param at its position; the KV cache before it must contain the tokens decoded there
     * @param way the way of watching
     * @param profiler the profiler, in the mode that the way needs
     * @throws DeviceFailure when the device refuses
     * @throws IllegalArgumentException when there is no such token or position
     */
    void decode(int input, int at, Watching way, BrickProfiler profiler) {
        requireBelow("token", input, config.vocab());
        requireBelow("position", at, config.maxSequence());
        token.set(input);
        position.set(at);
        positions.set(at + 1);
        way.run(profiler, pass);
        device.synchronize();
    }

    private static void requireBelow(String what, int value, int bound) {
        if (value < 0 || value >= bound) {
            throw new IllegalArgumentException(what + " " + value + " is not within 0 to " + (bound - 1));
        }
    }

    /**
     * Copies the logits of the last pass.
     *
     * @param to receives one for each token
     */
    void logits(float[] to) {
        result.asFloatBuffer().get(0, to);
    }

    /**
     * Returns how many bricks a pass has.
     *
     * @return those that the device times
     */
    int bricks() {
        return pass.size();
    }

    // ---- the bricks, in the order in which they run ----

    private List<Step> opening() {
        return List.of(new Step(EMBEDDING, kernels.embed(residual, upload(weights.embedding()), token)));
    }

    private List<Step> layer(Weights.Layer layer) {
        long cached = (long) config.maxSequence() * config.kvDim();
        Floats keys = device.allocate(cached);
        Floats values = device.allocate(cached);
        return List.of(
                norm(layer.attentionNorm()),
                new Step(QKV_PROJECTION, kernels.matvec(qkv, upload(layer.qkv()), normed)),
                new Step(ROPE_EMBEDDING, kernels.rope(qkv, cosines, sines, heads, position)),
                new Step(KV_CACHE_UPDATE, kernels.kvUpdate(keys, values, qkv, heads, position)),
                new Step(ATTENTION_SCORE, kernels.attentionScore(qkv, keys, heads, positions)),
                new Step(ATTENTION_SOFTMAX, kernels.attentionSoftmax(heads, positions)),
                new Step(ATTENTION_OUTPUT, kernels.attentionOutput(attended, values, heads, positions)),
                new Step(OUTPUT_PROJECTION, kernels.matvec(projected, upload(layer.output()), attended)),
                new Step(RESIDUAL_ADD, kernels.residualAdd(residual, projected)),
                norm(layer.ffnNorm()),
                new Step(GATE_PROJECTION, kernels.matvec(gate, upload(layer.gate()), normed)),
                new Step(UP_PROJECTION, kernels.matvec(up, upload(layer.up()), normed)),
                new Step(ACTIVATION, kernels.swiGlu(activated, gate, up)),
                new Step(DOWN_PROJECTION, kernels.matvec(projected, upload(layer.down()), activated)),
                new Step(RESIDUAL_ADD, kernels.residualAdd(residual, projected)));
    }

    private List<Step> closing() {
        return List.of(
                norm(weights.finalNorm()),
                new Step(LM_HEAD, kernels.matvec(logits, upload(weights.head()), normed)),
                new Step(DEVICE_TO_HOST, logits.bytes(), () -> device.copyToHost(logits, result)));
    }

    private Step norm(float[] normWeights) {
        return new Step(RMS_NORM, kernels.rmsNorm(normed, residual, device.upload(normWeights), Vectors.RMS_EPSILON));
    }

    private Floats upload(Matrix matrix) {
        return device.upload(matrix.values());
    }
}
