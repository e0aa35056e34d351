package org.brickprofiler.demo.device;

import java.util.List;

/**
 * A model whose weights are on a device. Matrices are row after row.
 *
 * @param shape its shape
 * @param embedding a row for each token
 * @param layers the weights of each layer
 * @param finalNorm the weights of the last norm
 * @param head a row for each token
 * @param cosines of the rotary embedding: one for each pair of a head, position after position
 * @param sines likewise
 */
public record DeviceModel(
        Shape shape,
        DeviceFloats embedding,
        List<Layer> layers,
        DeviceFloats finalNorm,
        DeviceFloats head,
        DeviceFloats cosines,
        DeviceFloats sines) {

    /** Copies the list. */
    public DeviceModel {
        layers = List.copyOf(layers);
    }

    /**
     * The shape of a model.
     *
     * @param dim width of the residual stream
     * @param heads number of query heads
     * @param kvHeads number of key and value heads
     * @param ffnDim width of the feed-forward block
     * @param vocab number of different tokens
     * @param maxSequence number of positions the KV cache has room for
     * @param rmsEpsilon what RMS norm adds to the mean square
     */
    public record Shape(int dim, int heads, int kvHeads, int ffnDim, int vocab, int maxSequence, float rmsEpsilon) {

        int headDim() {
            return dim / heads;
        }

        int kvDim() {
            return kvHeads * headDim();
        }
    }

    /**
     * The weights of one layer.
     *
     * @param attentionNorm of the norm before attention
     * @param qkv queries, then keys, then values, head after head
     * @param output after attention
     * @param ffnNorm of the norm before the feed-forward block
     * @param gate of its gate
     * @param up beside the gate
     * @param down back to the width of the model
     */
    public record Layer(
            DeviceFloats attentionNorm,
            DeviceFloats qkv,
            DeviceFloats output,
            DeviceFloats ffnNorm,
            DeviceFloats gate,
            DeviceFloats up,
            DeviceFloats down) {}
}
