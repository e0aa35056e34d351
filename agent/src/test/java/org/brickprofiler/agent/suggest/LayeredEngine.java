package org.brickprofiler.agent.suggest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.brickprofiler.agent.AppliedRules;
import org.brickprofiler.agent.ClassFiles.ClassFile;

/** The classes of an engine in which each layer is an object, and which keeps no keys and values. */
final class LayeredEngine {

    private final Gpt model = new Gpt();

    private LayeredEngine() {}

    /** Returns its class files. */
    static List<ClassFile> files() throws IOException {
        List<ClassFile> files = new ArrayList<>();
        for (Class<?> type : List.of(
                LayeredEngine.class,
                Linear.class,
                LayerNorm.class,
                MultiHeadAttention.class,
                FeedForward.class,
                Gelu.class,
                Gpt.class)) {
            files.add(AppliedRules.file(type));
        }
        return files;
    }

    int[] generate(int[] prompt, int count) {
        int[] made = {};
        for (int i = 0; i < count; i++) {
            int[] all = together(prompt, made);
            float[] logits = model.forward(all);
            made = together(made, new int[] {(int) logits[0]});
        }
        return made;
    }

    private static int[] together(int[] first, int[] second) {
        int[] all = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, all, first.length, second.length);
        return all;
    }

    /** One matrix. */
    static final class Linear {
        private final float[] weight = {1, 2};

        float[] forward(float[] x) {
            return shifted(product(x, weight));
        }

        private static float[] shifted(float[] x) {
            for (int i = 0; i < x.length; i++) {
                x[i] += 1;
            }
            return x;
        }
    }

    static final class LayerNorm {
        float[] forward(float[] x) {
            float[] y = x.clone();
            for (int i = 0; i < y.length; i++) {
                y[i] /= 2;
            }
            return y;
        }
    }

    static final class MultiHeadAttention {
        private final Linear wQuery = new Linear();
        private final Linear wKey = new Linear();
        private final Linear wValue = new Linear();
        private final Linear outProj = new Linear();

        float[] forward(float[] x) {
            float[] queries = wQuery.forward(x);
            float[] keys = wKey.forward(x);
            float[] values = wValue.forward(x);
            return outProj.forward(product(product(queries, keys), values));
        }
    }

    static final class FeedForward {
        private final Linear fc1 = new Linear();
        private final Linear fc2 = new Linear();

        float[] forward(float[] x) {
            float[] wide = fc1.forward(x);
            return fc2.forward(Gelu.forward(wide));
        }
    }

    static final class Gelu {
        static float[] forward(float[] x) {
            float[] y = new float[x.length];
            for (int i = 0; i < x.length; i++) {
                y[i] = (float) Math.tanh(x[i]);
            }
            return y;
        }
    }

    static final class Gpt {
        private final float[] tokenEmbedding = {1, 2, 3};
        private final LayerNorm norm = new LayerNorm();
        private final MultiHeadAttention attention = new MultiHeadAttention();
        private final FeedForward feedForward = new FeedForward();

        float[] forward(int[] tokens) {
            float[] x = new float[tokens.length];
            x[0] = tokenEmbedding[0];
            for (int layer = 0; layer < 2; layer++) {
                x = block(x);
            }
            return product(norm.forward(x), transpose(tokenEmbedding));
        }

        private float[] block(float[] x) {
            x[0] += tokenEmbedding[1];
            return feedForward.forward(attention.forward(norm.forward(x)));
        }
    }

    static float[] product(float[] left, float[] right) {
        float[] sums = new float[left.length];
        for (int i = 0; i < left.length; i++) {
            sums[i] += left[i] * right[i % right.length];
        }
        return sums;
    }

    static float[] transpose(float[] matrix) {
        float[] result = new float[matrix.length];
        for (int i = 0; i < matrix.length; i++) {
            result[matrix.length - 1 - i] = matrix[i];
        }
        return result;
    }
}
