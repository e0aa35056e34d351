package org.brickprofiler.demo;

import java.util.List;
import java.util.function.IntSupplier;
import org.brickprofiler.demo.ComputeDevice.Argument;
import org.brickprofiler.demo.ComputeDevice.Launch;
import org.brickprofiler.demo.ComputeDevice.Share;
import org.brickprofiler.demo.DevicePass.Work;

/**
 * The decoder's kernels as launches on a device: each with its arguments and its shape. {@code kernels.ptx} and
 * {@code kernels.cl} contain the kernels. Numbers that change from pass to pass are {@link HostNumber}s. One thread.
 */
final class DecoderKernels {

    private final ComputeDevice device;

    DecoderKernels(ComputeDevice device) {
        this.device = device;
    }

    /** The data and the shape of one layer's attention. */
    record Heads(Floats scores, int heads, int headDim, int kvHeads, int maxSequence) {

        int kvDim() {
            return kvHeads * headDim;
        }

        int sharing() {
            return heads / kvHeads;
        }

        Floats cache(Floats array) {
            return array.requireLength((long) maxSequence * kvDim());
        }
    }

    Work embed(Floats out, Floats table, HostNumber token) {
        return perValue("embed", out.length(), out, table, token, HostNumber.of(out.length()));
    }

    Work rmsNorm(Floats out, Floats in, Floats weights, float epsilon) {
        int n = in.length();
        out.requireLength(n);
        weights.requireLength(n);
        return launch("rms_norm", Share.GROUP, () -> 1, 1, out, in, weights, HostNumber.of(n), HostNumber.of(epsilon));
    }

    Work matvec(Floats out, Floats matrix, Floats in) {
        int rows = out.length();
        int cols = in.length();
        matrix.requireLength((long) rows * cols);
        return launch("matvec", Share.ROW, () -> rows, 1, out, matrix, in, HostNumber.of(rows), HostNumber.of(cols));
    }

    Work rope(Floats qkv, Floats cosines, Floats sines, Heads shape, HostNumber position) {
        int pairs = shape.headDim() / 2;
        int count = (shape.heads() + shape.kvHeads()) * pairs;
        qkv.requireLength(2L * count);
        cosines.requireLength((long) shape.maxSequence() * pairs);
        sines.requireLength((long) shape.maxSequence() * pairs);
        return perValue("rope", count, qkv, cosines, sines, position, HostNumber.of(pairs), HostNumber.of(count));
    }

    Work kvUpdate(Floats keys, Floats values, Floats qkv, Heads shape, HostNumber position) {
        int n = shape.kvDim();
        int from = shape.heads() * shape.headDim();
        qkv.requireLength(from + 2L * n);
        return perValue(
                "kv_update",
                n,
                shape.cache(keys),
                shape.cache(values),
                qkv,
                HostNumber.of(from),
                position,
                HostNumber.of(n));
    }

    Work attentionScore(Floats queries, Floats keys, Heads shape, HostNumber positions) {
        float scale = (float) (1.0 / Math.sqrt(shape.headDim()));
        return launch(
                "attention_score",
                Share.ROW,
                positions::get,
                shape.heads(),
                shape.scores(),
                queries,
                shape.cache(keys),
                positions,
                HostNumber.of(shape.maxSequence()),
                HostNumber.of(shape.headDim()),
                HostNumber.of(shape.kvDim()),
                HostNumber.of(shape.sharing()),
                HostNumber.of(scale));
    }

    Work attentionSoftmax(Heads shape, HostNumber positions) {
        return launch(
                "attention_softmax",
                Share.GROUP,
                shape::heads,
                1,
                shape.scores(),
                positions,
                HostNumber.of(shape.maxSequence()));
    }

    Work attentionOutput(Floats out, Floats values, Heads shape, HostNumber positions) {
        return launch(
                "attention_output",
                Share.COLUMN,
                shape::headDim,
                shape.heads(),
                out.requireLength((long) shape.heads() * shape.headDim()),
                shape.scores(),
                shape.cache(values),
                positions,
                HostNumber.of(shape.maxSequence()),
                HostNumber.of(shape.headDim()),
                HostNumber.of(shape.kvDim()),
                HostNumber.of(shape.sharing()));
    }

    Work swiGlu(Floats out, Floats gate, Floats up) {
        int n = out.length();
        gate.requireLength(n);
        up.requireLength(n);
        return perValue("swiglu", n, out, gate, up, HostNumber.of(n));
    }

    Work residualAdd(Floats sum, Floats addend) {
        int n = sum.length();
        addend.requireLength(n);
        return perValue("residual_add", n, sum, addend, HostNumber.of(n));
    }

    private Work perValue(String kernel, int count, Argument... arguments) {
        return launch(kernel, Share.VALUE, () -> count, 1, arguments);
    }

    private Work launch(String kernel, Share share, IntSupplier width, int height, Argument... arguments) {
        return device.prepare(new Launch(kernel, share, width, height, List.of(arguments)));
    }
}
