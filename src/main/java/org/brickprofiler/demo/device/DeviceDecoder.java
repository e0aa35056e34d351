package org.brickprofiler.demo.device;

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

import java.util.List;
import org.brickprofiler.BrickProfiler;

/**
 * A decoder of the Llama architecture on a device: a token and its position in, logits out. It works in float arithmetic
 * and, brick by brick, as the decoder on the processor does; the additions of a sum have another order. It owns its
 * buffers and its KV cache, in the memory of a {@link Gpu}, and follows that one's thread rule.
 */
public final class DeviceDecoder {

    private final Gpu gpu;
    private final DeviceModel model;
    private final Kernels kernels;
    private final DevicePass pass;

    private final Kernels.Cell token = new Kernels.Cell();
    private final Kernels.Cell position = new Kernels.Cell();

    /** How many positions attention looks at: up to the token's own. */
    private final Kernels.Cell positions = new Kernels.Cell();

    private final Kernels.Heads heads;
    private final DeviceFloats residual;
    private final DeviceFloats normed;
    private final DeviceFloats qkv;
    private final DeviceFloats attended;
    private final DeviceFloats projected;
    private final DeviceFloats gate;
    private final DeviceFloats up;
    private final DeviceFloats activated;
    private final DeviceFloats logits;
    private final Gpu.HostMemory result;

    /**
     * Makes a decoder.
     *
     * @param gpu the device
     * @param model a model on it
     * @throws DeviceFailure when there is no room for its buffers
     */
    public DeviceDecoder(Gpu gpu, DeviceModel model) {
        this.gpu = gpu;
        this.model = model;
        DeviceModel.Shape shape = model.shape();
        kernels = new Kernels(gpu);
        heads = new Kernels.Heads(
                gpu.allocate((long) shape.heads() * shape.maxSequence()),
                shape.heads(),
                shape.headDim(),
                shape.kvHeads(),
                shape.maxSequence());
        residual = gpu.allocate(shape.dim());
        normed = gpu.allocate(shape.dim());
        qkv = gpu.allocate(shape.dim() + 2 * shape.kvDim());
        attended = gpu.allocate(shape.dim());
        projected = gpu.allocate(shape.dim());
        gate = gpu.allocate(shape.ffnDim());
        up = gpu.allocate(shape.ffnDim());
        activated = gpu.allocate(shape.ffnDim());
        logits = gpu.allocate(shape.vocab());
        result = gpu.allocateHost(logits.bytes());
        pass = new DevicePass(
                opening(), model.layers().stream().map(this::layer).toList(), closing());
    }

    /**
     * Runs one forward pass and waits for it.
     *
     * @param input the token; one of the vocabulary
     * @param at its position; what is in the KV cache before it is what was decoded there
     * @param way how it is watched
     * @param profiler watches, in the mode that the way needs
     * @throws DeviceFailure when the device refuses
     * @throws IllegalArgumentException when there is no such token or position
     */
    public void decode(int input, int at, Watching way, BrickProfiler profiler) {
        requireBelow("token", input, model.shape().vocab());
        requireBelow("position", at, model.shape().maxSequence());
        token.set(input);
        position.set(at);
        positions.set(at + 1);
        way.run(profiler, pass);
        gpu.synchronize();
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
    public void logits(float[] to) {
        result.bytes().asFloatBuffer().get(0, to);
    }

    /**
     * How many bricks a pass has.
     *
     * @return those that the device times
     */
    public int bricks() {
        return pass.size();
    }

    // ---- the bricks, in the order in which they run ----

    private List<DeviceStep> opening() {
        return List.of(new DeviceStep(EMBEDDING, kernels.embed(residual, model.embedding(), token)));
    }

    private List<DeviceStep> layer(DeviceModel.Layer layer) {
        long cached = (long) model.shape().maxSequence() * model.shape().kvDim();
        DeviceFloats keys = gpu.allocate(cached);
        DeviceFloats values = gpu.allocate(cached);
        return List.of(
                norm(layer.attentionNorm()),
                new DeviceStep(QKV_PROJECTION, kernels.matvec(qkv, layer.qkv(), normed)),
                new DeviceStep(ROPE_EMBEDDING, kernels.rope(qkv, model.cosines(), model.sines(), heads, position)),
                new DeviceStep(KV_CACHE_UPDATE, kernels.kvUpdate(keys, values, qkv, heads, position)),
                new DeviceStep(ATTENTION_SCORE, kernels.attentionScore(qkv, keys, heads, positions)),
                new DeviceStep(ATTENTION_SOFTMAX, kernels.attentionSoftmax(heads, positions)),
                new DeviceStep(ATTENTION_OUTPUT, kernels.attentionOutput(attended, values, heads, positions)),
                new DeviceStep(OUTPUT_PROJECTION, kernels.matvec(projected, layer.output(), attended)),
                new DeviceStep(RESIDUAL_ADD, kernels.residualAdd(residual, projected)),
                norm(layer.ffnNorm()),
                new DeviceStep(GATE_PROJECTION, kernels.matvec(gate, layer.gate(), normed)),
                new DeviceStep(UP_PROJECTION, kernels.matvec(up, layer.up(), normed)),
                new DeviceStep(ACTIVATION, kernels.swiGlu(activated, gate, up)),
                new DeviceStep(DOWN_PROJECTION, kernels.matvec(projected, layer.down(), activated)),
                new DeviceStep(RESIDUAL_ADD, kernels.residualAdd(residual, projected)));
    }

    private List<DeviceStep> closing() {
        return List.of(
                norm(model.finalNorm()),
                new DeviceStep(LM_HEAD, kernels.matvec(logits, model.head(), normed)),
                new DeviceStep(DEVICE_TO_HOST, () -> gpu.copyToHost(logits, result)));
    }

    private DeviceStep norm(DeviceFloats weights) {
        return new DeviceStep(
                RMS_NORM, kernels.rmsNorm(normed, residual, weights, model.shape().rmsEpsilon()));
    }
}
