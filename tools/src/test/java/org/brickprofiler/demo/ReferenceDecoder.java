package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * The same model once more, as plainly as it can be written: double arithmetic, one thread, a new array for every
 * result, each formula as the papers have it. Slow; only the tests use it.
 */
final class ReferenceDecoder {

    private final Weights weights;
    private final ModelConfig config;
    private final double temperature;
    private final double topP;
    private final SplittableRandom random;
    private final List<List<double[]>> keys = new ArrayList<>();
    private final List<List<double[]>> values = new ArrayList<>();
    private int position;
    private double[] logits = {};

    ReferenceDecoder(Weights weights, double temperature, double topP, long seed) {
        this.weights = weights;
        this.config = weights.config();
        this.temperature = temperature;
        this.topP = topP;
        this.random = new SplittableRandom(seed);
        for (int layer = 0; layer < config.layers(); layer++) {
            keys.add(new ArrayList<>());
            values.add(new ArrayList<>());
        }
    }

    double[] logits() {
        return logits;
    }

    int decode(int token) {
        double[] x = new double[config.dim()];
        for (int i = 0; i < x.length; i++) {
            x[i] = weights.embedding().values()[token * config.dim() + i];
        }
        for (int layer = 0; layer < config.layers(); layer++) {
            Weights.Layer w = weights.layer(layer);
            x = plus(x, times(w.output(), attention(layer, times(w.qkv(), norm(x, w.attentionNorm())))));
            double[] normed = norm(x, w.ffnNorm());
            double[] gate = times(w.gate(), normed);
            double[] up = times(w.up(), normed);
            double[] activated = new double[gate.length];
            for (int i = 0; i < gate.length; i++) {
                activated[i] = gate[i] / (1 + Math.exp(-gate[i])) * up[i];
            }
            x = plus(x, times(w.down(), activated));
        }
        logits = times(weights.head(), norm(x, weights.finalNorm()));
        position++;
        return choose();
    }

    private double[] attention(int layer, double[] qkv) {
        int dim = config.dim();
        int size = dim / config.heads();
        int kvDim = size * config.kvHeads();
        keys.get(layer).add(rotated(slice(qkv, dim, kvDim), size));
        values.get(layer).add(slice(qkv, dim + kvDim, kvDim));
        double[] queries = rotated(slice(qkv, 0, dim), size);
        double[] result = new double[dim];
        for (int head = 0; head < config.heads(); head++) {
            int kvHead = head * config.kvHeads() / config.heads();
            double[] scores = new double[position + 1];
            for (int p = 0; p <= position; p++) {
                for (int i = 0; i < size; i++) {
                    scores[p] += queries[head * size + i] * keys.get(layer).get(p)[kvHead * size + i];
                }
                scores[p] /= Math.sqrt(size);
            }
            double[] shares = softmax(scores);
            for (int p = 0; p <= position; p++) {
                for (int i = 0; i < size; i++) {
                    result[head * size + i] += shares[p] * values.get(layer).get(p)[kvHead * size + i];
                }
            }
        }
        return result;
    }

    /** Multiplies each pair of values, as a complex number, by {@code e^(i * position * angle)}. */
    private double[] rotated(double[] heads, int size) {
        double[] result = new double[heads.length];
        for (int i = 0; i < heads.length; i += 2) {
            double angle = position / Math.pow(10_000, (double) (i % size) / size);
            result[i] = heads[i] * Math.cos(angle) - heads[i + 1] * Math.sin(angle);
            result[i + 1] = heads[i + 1] * Math.cos(angle) + heads[i] * Math.sin(angle);
        }
        return result;
    }

    private int choose() {
        List<Integer> tokens = new ArrayList<>();
        for (int token = 0; token < logits.length; token++) {
            tokens.add(token);
        }
        tokens.sort(Comparator.comparingDouble((Integer token) -> -logits[token]));
        if (temperature == 0) {
            return tokens.get(0);
        }
        double[] scaled = new double[logits.length];
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] = logits[i] / temperature;
        }
        double[] probabilities = softmax(scaled);
        List<Integer> nucleus = new ArrayList<>();
        double reached = 0;
        for (int token : tokens) {
            if (reached >= topP) {
                break;
            }
            nucleus.add(token);
            reached += probabilities[token];
        }
        double left = random.nextDouble() * reached;
        for (int token : nucleus) {
            left -= probabilities[token];
            if (left < 0) {
                return token;
            }
        }
        return nucleus.get(nucleus.size() - 1);
    }

    private static double[] softmax(double[] x) {
        double largest = Double.NEGATIVE_INFINITY;
        for (double value : x) {
            largest = Math.max(largest, value);
        }
        double sum = 0;
        double[] result = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            result[i] = Math.exp(x[i] - largest);
            sum += result[i];
        }
        for (int i = 0; i < x.length; i++) {
            result[i] /= sum;
        }
        return result;
    }

    private static double[] norm(double[] x, float[] weights) {
        double squares = 0;
        for (double value : x) {
            squares += value * value;
        }
        double[] result = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            result[i] = x[i] / Math.sqrt(squares / x.length + 1e-5) * weights[i];
        }
        return result;
    }

    private static double[] times(Matrix matrix, double[] x) {
        double[] result = new double[matrix.rows()];
        for (int row = 0; row < matrix.rows(); row++) {
            for (int col = 0; col < matrix.cols(); col++) {
                result[row] += matrix.values()[row * matrix.cols() + col] * x[col];
            }
        }
        return result;
    }

    private static double[] plus(double[] a, double[] b) {
        double[] result = new double[a.length];
        for (int i = 0; i < a.length; i++) {
            result[i] = a[i] + b[i];
        }
        return result;
    }

    private static double[] slice(double[] x, int from, int length) {
        double[] result = new double[length];
        for (int i = 0; i < length; i++) {
            result[i] = x[from + i];
        }
        return result;
    }
}
