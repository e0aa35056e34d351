package org.brickprofiler.demo;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Chooses the next token: the likeliest one at temperature 0, otherwise a random one among the likeliest that together
 * reach the probability {@code topP} (Holtzman et al., 2019). The same seed gives the same choices. One thread.
 */
final class Sampler {

    private final double temperature;
    private final double topP;
    private final SplittableRandom random;

    // Reused from token to token: the vocabulary is large.
    private float[] weights = new float[0];
    private long[] candidates = new long[0];

    /**
     * Makes a sampler.
     *
     * @param temperature 0 or more
     * @param topP above 0, up to 1
     * @param seed the same seed gives the same choices
     * @throws IllegalArgumentException when a number is out of range
     */
    Sampler(double temperature, double topP, long seed) {
        if (!(temperature >= 0 && temperature < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("temperature " + temperature + " is not 0 or more");
        }
        if (!(topP > 0 && topP <= 1)) {
            throw new IllegalArgumentException("top-p " + topP + " is not above 0 and up to 1");
        }
        this.temperature = temperature;
        this.topP = topP;
        this.random = new SplittableRandom(seed);
    }

    /**
     * Chooses a token.
     *
     * @param logits one logit for each token, none of them NaN
     * @return the token; of equally likely tokens, the first
     */
    int sample(float[] logits) {
        int likeliest = likeliest(logits);
        return temperature == 0 ? likeliest : choose(logits, logits[likeliest]);
    }

    private static int likeliest(float[] logits) {
        int best = 0;
        for (int i = 1; i < logits.length; i++) {
            if (logits[i] > logits[best]) {
                best = i;
            }
        }
        return best;
    }

    private int choose(float[] logits, float largest) {
        int tokens = logits.length;
        if (weights.length != tokens) {
            weights = new float[tokens];
            candidates = new long[tokens];
        }
        double sum = 0;
        for (int i = 0; i < tokens; i++) {
            weights[i] = (float) Math.exp((logits[i] - largest) / temperature);
            sum += weights[i];
        }
        int count = collectCandidates(sum);
        Arrays.sort(candidates, 0, count);
        return draw(count, sum * topP);
    }

    /** Leaves out tokens that are too unlikely to be needed: the sort is the costly part. */
    private int collectCandidates(double sum) {
        // All tokens below this add up to less than 1 - topP.
        double smallest = sum * (1 - topP) / weights.length;
        int count = 0;
        for (int token = 0; token < weights.length; token++) {
            if (weights[token] >= smallest) {
                // Weights are not negative, so their bits sort as they do; negated, the largest comes first.
                candidates[count++] = (long) -Float.floatToRawIntBits(weights[token]) << Integer.SIZE | token;
            }
        }
        return count;
    }

    private int draw(int count, double enough) {
        double reached = 0;
        int used = 0;
        while (used < count && reached < enough) {
            reached += weights[token(used++)];
        }
        double remaining = random.nextDouble() * reached;
        for (int i = 0; i < used; i++) {
            remaining -= weights[token(i)];
            if (remaining < 0) {
                return token(i);
            }
        }
        return token(used - 1);
    }

    private int token(int candidate) {
        return (int) candidates[candidate];
    }
}
