package org.brickprofiler;

import static org.brickprofiler.BrickId.ACTIVATION;
import static org.brickprofiler.BrickId.ATTENTION_OUTPUT;
import static org.brickprofiler.BrickId.ATTENTION_SCORE;
import static org.brickprofiler.BrickId.ATTENTION_SOFTMAX;
import static org.brickprofiler.BrickId.DOWN_PROJECTION;
import static org.brickprofiler.BrickId.EMBEDDING;
import static org.brickprofiler.BrickId.FUSED_ATTENTION;
import static org.brickprofiler.BrickId.GATE_PROJECTION;
import static org.brickprofiler.BrickId.KV_CACHE_UPDATE;
import static org.brickprofiler.BrickId.LM_HEAD;
import static org.brickprofiler.BrickId.MOE_EXPERT;
import static org.brickprofiler.BrickId.MOE_ROUTER;
import static org.brickprofiler.BrickId.OUTPUT_PROJECTION;
import static org.brickprofiler.BrickId.QKV_PROJECTION;
import static org.brickprofiler.BrickId.RESIDUAL_ADD;
import static org.brickprofiler.BrickId.RMS_NORM;
import static org.brickprofiler.BrickId.ROPE_EMBEDDING;
import static org.brickprofiler.BrickId.SAMPLING;
import static org.brickprofiler.BrickId.UP_PROJECTION;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.internal.base.Checks;

/**
 * The work of the bricks of a model in one step, computed from its shape alone. Record it beside the samples:
 *
 * <pre>{@code
 * WorkModel model = WorkModel.llama(WorkModel.LlamaConfig.dense(32, 4096, 32, 8, 14336, 128_256));
 * model.decode(1, position + 1).forEach(profiler::recordWork);
 * }</pre>
 *
 * <p><b>Counting.</b> Each weight is read once in a step, each cached key and value once for its sequence, and each
 * brick reads its inputs and writes its outputs once. A matrix product takes 2 x rows x columns x inner operations. A
 * comparison, a division, a square root and an exponential count as one operation each. Scales of quantised weights are
 * included in the bits of a weight. Attention scores do not count as bytes: they need not leave the core that computes
 * them, as fused attention shows.
 *
 * <p><b>Working sets.</b> Weights and cached keys and values are used once in a step, so all of them are the working
 * set of the bricks that use them. The working set of any other brick is only what one call of it reads and writes.
 *
 * <p>Immutable; any thread.
 */
public final class WorkModel {

    private final LlamaConfig config;

    private WorkModel(LlamaConfig config) {
        this.config = config;
    }

    /**
     * Returns a model of the Llama architecture: RMS norm, rotary embedding, grouped-query attention, SwiGLU, dense or
     * with experts.
     *
     * @param config its shape
     * @return its work
     */
    public static WorkModel llama(LlamaConfig config) {
        return new WorkModel(Objects.requireNonNull(config, "config"));
    }

    /**
     * The shape and precision of a model. Immutable.
     *
     * @param layers number of layers
     * @param dim width of the residual stream
     * @param heads query heads
     * @param kvHeads heads of keys and values
     * @param headDim width of a head
     * @param ffnDim width of the feed-forward block; with experts, width of one expert
     * @param vocab size of the vocabulary
     * @param weightBits bits of a matrix weight, including its share of scales: 4.5 for blocks of 32 weights of 4 bits
     *     with a scale of 16
     * @param cacheBits bits of a number of a cached key or value
     * @param activationBits bits of a number between two bricks, and of a weight of a norm
     * @param experts experts of a layer, 0 for a dense model
     * @param expertsPerToken experts that a token uses, 0 for a dense model
     * @param fusedAttention whether scores are computed, normalised and used in one brick,
     *     {@link BrickId#FUSED_ATTENTION}
     */
    public record LlamaConfig(
            int layers,
            int dim,
            int heads,
            int kvHeads,
            int headDim,
            int ffnDim,
            int vocab,
            double weightBits,
            double cacheBits,
            double activationBits,
            int experts,
            int expertsPerToken,
            boolean fusedAttention) {

        private static final double HALF_BITS = 16;

        /**
         * Checks the shape.
         *
         * @throws IllegalArgumentException when a number is not positive and finite, there are fewer experts than a
         *     token uses, or a token uses none of the experts
         */
        public LlamaConfig {
            requirePositive("layers", layers);
            requirePositive("dim", dim);
            requirePositive("heads", heads);
            requirePositive("kvHeads", kvHeads);
            requirePositive("headDim", headDim);
            requirePositive("ffnDim", ffnDim);
            requirePositive("vocab", vocab);
            requirePositive("weightBits", weightBits);
            requirePositive("cacheBits", cacheBits);
            requirePositive("activationBits", activationBits);
            if (expertsPerToken < 0 || expertsPerToken > experts || (experts > 0 && expertsPerToken == 0)) {
                throw new IllegalArgumentException(
                        "a token cannot use " + expertsPerToken + " of " + experts + " experts");
            }
        }

        private static void requirePositive(String what, double value) {
            if (!(value > 0) || Double.isInfinite(value)) {
                throw new IllegalArgumentException(what + " " + value + " is not above 0");
            }
        }

        /**
         * Returns a dense model whose numbers take 16 bits and whose heads divide its width.
         *
         * @param layers number of layers
         * @param dim width of the residual stream
         * @param heads query heads
         * @param kvHeads heads of keys and values
         * @param ffnDim width of the feed-forward block
         * @param vocab size of the vocabulary
         * @return the shape
         * @throws IllegalArgumentException when a number is not above 0
         */
        public static LlamaConfig dense(int layers, int dim, int heads, int kvHeads, int ffnDim, int vocab) {
            requirePositive("heads", heads);
            Builder shape = new Builder();
            shape.layers = layers;
            shape.dim = dim;
            shape.heads = heads;
            shape.kvHeads = kvHeads;
            shape.headDim = dim / heads;
            shape.ffnDim = ffnDim;
            shape.vocab = vocab;
            return shape.build();
        }

        /**
         * Returns a copy with another precision.
         *
         * @param weight bits of a weight
         * @param cache bits of a cached number
         * @param activation bits of a number between two bricks
         * @return the shape
         * @throws IllegalArgumentException when a number is not above 0
         */
        public LlamaConfig withBits(double weight, double cache, double activation) {
            Builder shape = toBuilder();
            shape.weightBits = weight;
            shape.cacheBits = cache;
            shape.activationBits = activation;
            return shape.build();
        }

        /**
         * Returns a copy with another width of a head, for models in which it is not {@code dim / heads}.
         *
         * @param width width of a head
         * @return the shape
         * @throws IllegalArgumentException when the width is not above 0
         */
        public LlamaConfig withHeadDim(int width) {
            Builder shape = toBuilder();
            shape.headDim = width;
            return shape.build();
        }

        /**
         * Returns a copy with experts instead of each feed-forward block.
         *
         * @param all experts of a layer
         * @param perToken experts that a token uses
         * @return the shape
         * @throws IllegalArgumentException when there are fewer experts than a token uses
         */
        public LlamaConfig withExperts(int all, int perToken) {
            Builder shape = toBuilder();
            shape.experts = all;
            shape.expertsPerToken = perToken;
            return shape.build();
        }

        /**
         * Returns a copy with attention in one brick.
         *
         * @return the shape
         */
        public LlamaConfig withFusedAttention() {
            Builder shape = toBuilder();
            shape.fusedAttention = true;
            return shape.build();
        }

        private Builder toBuilder() {
            Builder copy = new Builder();
            copy.layers = layers;
            copy.dim = dim;
            copy.heads = heads;
            copy.kvHeads = kvHeads;
            copy.headDim = headDim;
            copy.ffnDim = ffnDim;
            copy.vocab = vocab;
            copy.weightBits = weightBits;
            copy.cacheBits = cacheBits;
            copy.activationBits = activationBits;
            copy.experts = experts;
            copy.expertsPerToken = expertsPerToken;
            copy.fusedAttention = fusedAttention;
            return copy;
        }

        private double queryDim() {
            return (double) heads * headDim;
        }

        private double kvDim() {
            return (double) kvHeads * headDim;
        }

        /** Collects the shape by name. The default is a dense model whose numbers take 16 bits. */
        private static final class Builder {
            private int layers;
            private int dim;
            private int heads;
            private int kvHeads;
            private int headDim;
            private int ffnDim;
            private int vocab;
            private double weightBits = HALF_BITS;
            private double cacheBits = HALF_BITS;
            private double activationBits = HALF_BITS;
            private int experts;
            private int expertsPerToken;
            private boolean fusedAttention;

            LlamaConfig build() {
                return new LlamaConfig(
                        layers,
                        dim,
                        heads,
                        kvHeads,
                        headDim,
                        ffnDim,
                        vocab,
                        weightBits,
                        cacheBits,
                        activationBits,
                        experts,
                        expertsPerToken,
                        fusedAttention);
            }
        }
    }

    /**
     * Returns the work of one step in which each sequence gets one more token.
     *
     * @param sequences the number of sequences that decode together, 1 or more
     * @param kvLength keys that each new token attends to, including itself, 1 or more
     * @return the work of each brick, over all layers
     * @throws IllegalArgumentException when a number is below 1
     */
    public Map<BrickId, Work> decode(int sequences, int kvLength) {
        requireCount("kvLength", kvLength);
        return step(sequences, 1, kvLength - 1);
    }

    /**
     * Returns the work of one step in which the cache is empty and each sequence processes its prompt. Only the last
     * token of each prompt needs logits.
     *
     * @param sequences the number of prompts, 1 or more
     * @param tokens tokens of each prompt, 1 or more
     * @return the work of each brick, over all layers
     * @throws IllegalArgumentException when a number is below 1
     */
    public Map<BrickId, Work> prefill(int sequences, int tokens) {
        requireCount("tokens", tokens);
        return step(sequences, tokens, 0);
    }

    /**
     * Returns the work of one step in which each sequence processes a part of its prompt. Only the last token of each
     * part needs logits.
     *
     * @param sequences the number of prompts, 1 or more
     * @param tokens tokens of each part, 1 or more
     * @param cached tokens of each prompt that are in the cache already, 0 or more
     * @return the work of each brick, over all layers
     * @throws IllegalArgumentException when a number is out of range
     */
    public Map<BrickId, Work> prefill(int sequences, int tokens, int cached) {
        requireCount("tokens", tokens);
        Checks.requireNotNegative("cached", cached);
        return step(sequences, tokens, cached);
    }

    private static void requireCount(String what, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(what + " " + value + " is not 1 or more");
        }
    }

    private Map<BrickId, Work> step(int sequences, int newTokens, int cached) {
        requireCount("sequences", sequences);
        StepWork step = new StepWork(config, sequences, newTokens, cached);
        step.count();
        return Collections.unmodifiableMap(step.works());
    }

    /**
     * Returns the expected number of different experts that some tokens use together, if each token chooses its experts
     * at random, uniformly and without repetition: E (1 - (1 - k/E)^n). A token misses a given expert with the
     * probability 1 - k/E, so n tokens miss it with its n-th power, and expectations add up. (The occupancy problem,
     * Feller, "An Introduction to Probability Theory and Its Applications", volume 1, chapter IV.) A router that
     * prefers some experts uses fewer.
     *
     * @param experts the number of experts, 1 or more
     * @param perToken the number of experts that a token uses, at most all
     * @param tokens the number of tokens, 0 or more
     * @return the expected number of experts
     * @throws IllegalArgumentException when a number is out of range
     */
    public static double distinctExperts(int experts, int perToken, long tokens) {
        requireCount("experts", experts);
        Checks.requireNotNegative("tokens", tokens);
        if (perToken < 0 || perToken > experts) {
            throw new IllegalArgumentException("a token cannot use " + perToken + " of " + experts + " experts");
        }
        return experts * (1 - Math.pow(1 - (double) perToken / experts, (double) tokens));
    }

    /** Counts one step. One thread. */
    private static final class StepWork {

        private static final double BITS = 8;

        /** Squaring, adding, scaling, and the weight. */
        private static final double NORM_FLOPS = 4;

        /** Four products and two sums rotate two numbers. */
        private static final double ROPE_FLOPS = 3;

        /** Largest, difference, exponential, sum, scale. */
        private static final double SOFTMAX_FLOPS = 5;

        /** Exponential, sum, division; the products with the gate and with the other half. */
        private static final double SWIGLU_FLOPS = 5;

        private final LlamaConfig c;
        private final double sequences;
        private final double tokens;
        private final double weight;
        private final double cache;
        private final double activation;

        /**
         * The keys of one sequence at the end, and the pairs of a token and a key that it attends to, over all
         * sequences.
         */
        private final double keys;

        private final double pairs;

        private final Map<BrickId, double[]> sums = new EnumMap<>(BrickId.class);

        /** The bytes of all weights and cached numbers of the step. */
        private double streamedBytes;

        StepWork(LlamaConfig config, int sequences, int newTokens, int cached) {
            c = config;
            this.sequences = sequences;
            tokens = (double) sequences * newTokens;
            weight = config.weightBits() / BITS;
            cache = config.cacheBits() / BITS;
            activation = config.activationBits() / BITS;
            keys = (double) cached + newTokens;
            // Each new token attends to the cached tokens and to the new ones up to itself.
            pairs = sequences * (newTokens * (double) cached + newTokens * (newTokens + 1.0) / 2);
        }

        void count() {
            stream(EMBEDDING, 1, 0, tokens * c.dim() * weight, tokens * c.dim());
            between(RMS_NORM, 2.0 * c.layers() + 1, NORM_FLOPS * tokens * c.dim(), (2 * tokens + 1) * c.dim());
            product(QKV_PROJECTION, c.layers(), c.dim(), c.queryDim() + 2 * c.kvDim());
            double rotated = tokens * (c.queryDim() + c.kvDim());
            between(ROPE_EMBEDDING, c.layers(), ROPE_FLOPS * rotated, 2 * rotated);
            stream(KV_CACHE_UPDATE, c.layers(), 0, 2 * tokens * c.kvDim() * cache, 2 * tokens * c.kvDim());
            attention();
            product(OUTPUT_PROJECTION, c.layers(), c.queryDim(), c.dim());
            between(RESIDUAL_ADD, 2.0 * c.layers(), tokens * c.dim(), 3 * tokens * c.dim());
            if (c.experts() == 0) {
                product(GATE_PROJECTION, c.layers(), c.dim(), c.ffnDim());
                product(UP_PROJECTION, c.layers(), c.dim(), c.ffnDim());
                between(ACTIVATION, c.layers(), SWIGLU_FLOPS * tokens * c.ffnDim(), 3 * tokens * c.ffnDim());
                product(DOWN_PROJECTION, c.layers(), c.ffnDim(), c.dim());
            } else {
                experts();
            }
            double logits = sequences * c.vocab();
            stream(
                    LM_HEAD,
                    1,
                    2 * logits * c.dim(),
                    (double) c.dim() * c.vocab() * weight,
                    sequences * c.dim() + logits);
            between(SAMPLING, 1, logits, logits);
        }

        private void attention() {
            double products = 2 * pairs * c.queryDim();
            double scores = pairs * c.heads();
            double cached = sequences * keys * c.kvDim() * cache;
            double vectors = tokens * c.queryDim();
            double softmax = SOFTMAX_FLOPS * scores;
            if (c.fusedAttention()) {
                stream(FUSED_ATTENTION, c.layers(), 2 * products + softmax, 2 * cached, 2 * vectors);
            } else {
                stream(ATTENTION_SCORE, c.layers(), products, cached, vectors);
                between(ATTENTION_SOFTMAX, c.layers(), softmax, 0);
                stream(ATTENTION_OUTPUT, c.layers(), products, cached, vectors);
            }
        }

        private void experts() {
            product(MOE_ROUTER, c.layers(), c.dim(), c.experts());
            double distinct = distinctExperts(c.experts(), c.expertsPerToken(), (long) tokens);
            double routed = tokens * c.expertsPerToken();
            double block = 3.0 * c.dim() * c.ffnDim();
            // Each of the three products reads and writes its vectors, and so does the activation between them.
            stream(
                    MOE_EXPERT,
                    c.layers(),
                    routed * (2 * block + SWIGLU_FLOPS * c.ffnDim()),
                    distinct * block * weight,
                    routed * (3.0 * c.dim() + 6.0 * c.ffnDim()));
        }

        /** Adds a product of a weight matrix and the tokens' vectors. */
        private void product(BrickId brick, double times, double in, double out) {
            stream(brick, times, 2 * tokens * in * out, in * out * weight, tokens * (in + out));
        }

        /** Adds a brick that uses weights or cached numbers, and some activations. */
        private void stream(BrickId brick, double times, double flops, double bytes, double activations) {
            streamedBytes += times * bytes;
            sums.put(brick, new double[] {times * flops, times * (bytes + activations * activation), -1});
        }

        /** Adds a brick that works on activations alone. */
        private void between(BrickId brick, double times, double flops, double activations) {
            double bytes = activations * activation;
            sums.put(brick, new double[] {times * flops, times * bytes, bytes});
        }

        Map<BrickId, Work> works() {
            Map<BrickId, Work> works = new EnumMap<>(BrickId.class);
            sums.forEach((brick, sum) -> works.put(
                    brick,
                    new Work(Math.round(sum[0]), Math.round(sum[1]), Math.round(sum[2] < 0 ? streamedBytes : sum[2]))));
            return works;
        }
    }
}
