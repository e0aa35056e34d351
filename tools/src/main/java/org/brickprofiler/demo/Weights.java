package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The weights of a decoder. Random, and the same for the same seed on every machine. They are scaled so that the
 * residual stream keeps its size through any number of layers and that the logits are spread about as widely as those
 * of a trained model. Not changed after construction, so several decoders may share them.
 */
final class Weights {

    /** Standard deviation of the logits. */
    private static final double LOGIT_GAIN = 3.0;

    /** The largest distance of norm weights from 1. */
    private static final float NORM_SPREAD = 0.1f;

    private final ModelConfig config;
    private final Matrix embedding;
    private final List<Layer> layers;
    private final float[] finalNorm;
    private final Matrix head;

    private Weights(ModelConfig config, SplittableRandom random) {
        this.config = config;
        // A row is one token's vector: the gain undoes the scaling by the row's length.
        embedding = Matrix.random(config.vocab(), config.dim(), Math.sqrt(config.dim()), random);
        layers = new ArrayList<>();
        for (int layer = 0; layer < config.layers(); layer++) {
            layers.add(new Layer(config, random));
        }
        finalNorm = randomNorm(config.dim(), random);
        head = Matrix.random(config.vocab(), config.dim(), LOGIT_GAIN, random);
    }

    /**
     * Makes random weights.
     *
     * @param config the shape
     * @param seed the same seed gives the same weights
     */
    static Weights random(ModelConfig config, long seed) {
        return new Weights(config, new SplittableRandom(seed));
    }

    private static float[] randomNorm(int dim, SplittableRandom random) {
        float[] norm = new float[dim];
        for (int i = 0; i < dim; i++) {
            norm[i] = 1.0f + NORM_SPREAD * Matrix.symmetric(random);
        }
        return norm;
    }

    /** The weights of one layer. */
    static final class Layer {
        private final float[] attentionNorm;
        private final Matrix qkv;
        private final Matrix output;
        private final float[] ffnNorm;
        private final Matrix gate;
        private final Matrix up;
        private final Matrix down;

        private Layer(ModelConfig config, SplittableRandom random) {
            int dim = config.dim();
            // Each layer adds two vectors to the residual stream; their squares add up to 1 over all layers.
            double residualGain = 1.0 / Math.sqrt(2.0 * config.layers());
            attentionNorm = randomNorm(dim, random);
            qkv = Matrix.random(config.qkvDim(), dim, 1.0, random);
            output = Matrix.random(dim, dim, residualGain, random);
            ffnNorm = randomNorm(dim, random);
            gate = Matrix.random(config.ffnDim(), dim, 1.0, random);
            up = Matrix.random(config.ffnDim(), dim, 1.0, random);
            down = Matrix.random(dim, config.ffnDim(), residualGain, random);
        }

        float[] attentionNorm() {
            return attentionNorm;
        }

        /** Queries, then keys, then values, head after head. */
        Matrix qkv() {
            return qkv;
        }

        Matrix output() {
            return output;
        }

        float[] ffnNorm() {
            return ffnNorm;
        }

        Matrix gate() {
            return gate;
        }

        Matrix up() {
            return up;
        }

        Matrix down() {
            return down;
        }
    }

    ModelConfig config() {
        return config;
    }

    /** Returns one row per token. */
    Matrix embedding() {
        return embedding;
    }

    Layer layer(int index) {
        return layers.get(index);
    }

    float[] finalNorm() {
        return finalNorm;
    }

    Matrix head() {
        return head;
    }
}
