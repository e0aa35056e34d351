package org.brickprofiler.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu.Floats;

/**
 * The kernels of {@code kernels.ptx} as launches in a stream: each with its arguments, and as many threads as it is
 * written for; a launch may be enqueued any number of times. Numbers that change from pass to pass are {@link Cell}s,
 * read at the time of each launch. One thread.
 */
public final class Kernels {

    private static final int BLOCK = 256;
    private static final int WARP = 32;

    /** For kernels that give each warp work of its own. */
    private static final int WARPS = BLOCK / WARP;

    /** Values of neighbouring positions are far apart in memory: more warps hide more of the way there. */
    private static final int OUTPUT_BLOCK = 512;

    private final Gpu gpu;
    private final CUstream stream;
    private final Map<String, CUfunction> functions = new HashMap<>();

    /** Where {@link #spin} leaves its two readings: an array of so many floats. */
    public static final int STAMP_FLOATS = 2 * Long.BYTES / Float.BYTES;

    /**
     * Launches in the stream of a device.
     *
     * @param gpu the device
     */
    public Kernels(Gpu gpu) {
        this(gpu, gpu.handle());
    }

    /**
     * Launches in another stream of a device.
     *
     * @param gpu the device
     * @param stream the stream
     */
    public Kernels(Gpu gpu, CUstream stream) {
        this.gpu = gpu;
        this.stream = stream;
    }

    /** The text of the module. */
    static String text() {
        try (InputStream ptx = Objects.requireNonNull(Kernels.class.getResourceAsStream("kernels.ptx"))) {
            return new String(ptx.readAllBytes(), US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException("the kernels cannot be read", e);
        }
    }

    /**
     * A number that a launch reads. It lies outside of Java's heap, as all arguments do: from the heap JCuda would hand
     * it over in a way that no garbage can be collected until the launch returns, and a launch waits where a stream is
     * full.
     */
    static final class Cell {
        private final ByteBuffer value = ByteBuffer.allocateDirect(Long.BYTES).order(ByteOrder.nativeOrder());

        void set(int number) {
            value.putInt(0, number);
        }

        int get() {
            return value.getInt(0);
        }

        private Pointer pointer() {
            return Pointer.to(value);
        }
    }

    /** What the attention of one layer works on, and its shape. */
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

    Work embed(Floats out, Floats table, Cell token) {
        return perValue("embed", out.length(), to(out), to(table), token.pointer(), to(out.length()));
    }

    Work rmsNorm(Floats out, Floats in, Floats weights, float epsilon) {
        int n = in.length();
        out.requireLength(n);
        weights.requireLength(n);
        return launch("rms_norm", () -> 1, 1, BLOCK, to(out), to(in), to(weights), to(n), to(epsilon));
    }

    Work matvec(Floats out, Floats matrix, Floats in) {
        int rows = out.length();
        int cols = in.length();
        matrix.requireLength((long) rows * cols);
        int blocks = divideUp(rows, WARPS);
        return launch("matvec", () -> blocks, 1, BLOCK, to(out), to(matrix), to(in), to(rows), to(cols));
    }

    Work rope(Floats qkv, Floats cosines, Floats sines, Heads shape, Cell position) {
        int pairs = shape.headDim() / 2;
        int count = (shape.heads() + shape.kvHeads()) * pairs;
        qkv.requireLength(2L * count);
        cosines.requireLength((long) shape.maxSequence() * pairs);
        sines.requireLength((long) shape.maxSequence() * pairs);
        return perValue("rope", count, to(qkv), to(cosines), to(sines), position.pointer(), to(pairs), to(count));
    }

    Work kvUpdate(Floats keys, Floats values, Floats qkv, Heads shape, Cell position) {
        int n = shape.kvDim();
        int from = shape.heads() * shape.headDim();
        qkv.requireLength(from + 2L * n);
        return perValue(
                "kv_update",
                n,
                to(shape.cache(keys)),
                to(shape.cache(values)),
                to(qkv),
                to(from),
                position.pointer(),
                to(n));
    }

    Work attentionScore(Floats queries, Floats keys, Heads shape, Cell positions) {
        float scale = (float) (1.0 / Math.sqrt(shape.headDim()));
        return launch(
                "attention_score",
                () -> divideUp(positions.get(), WARPS),
                shape.heads(),
                BLOCK,
                to(shape.scores()),
                to(queries),
                to(shape.cache(keys)),
                positions.pointer(),
                to(shape.maxSequence()),
                to(shape.headDim()),
                to(shape.kvDim()),
                to(shape.sharing()),
                to(scale));
    }

    Work attentionSoftmax(Heads shape, Cell positions) {
        return launch(
                "attention_softmax",
                shape::heads,
                1,
                BLOCK,
                to(shape.scores()),
                positions.pointer(),
                to(shape.maxSequence()));
    }

    Work attentionOutput(Floats out, Floats values, Heads shape, Cell positions) {
        int blocks = divideUp(shape.headDim(), WARP);
        return launch(
                "attention_output",
                () -> blocks,
                shape.heads(),
                OUTPUT_BLOCK,
                to(out.requireLength((long) shape.heads() * shape.headDim())),
                to(shape.scores()),
                to(shape.cache(values)),
                positions.pointer(),
                to(shape.maxSequence()),
                to(shape.headDim()),
                to(shape.kvDim()),
                to(shape.sharing()));
    }

    Work swiGlu(Floats out, Floats gate, Floats up) {
        int n = out.length();
        gate.requireLength(n);
        up.requireLength(n);
        return perValue("swiglu", n, to(out), to(gate), to(up), to(n));
    }

    Work residualAdd(Floats sum, Floats addend) {
        int n = sum.length();
        addend.requireLength(n);
        return perValue("residual_add", n, to(sum), to(addend), to(n));
    }

    /**
     * A kernel that lasts a given time by the device's clock.
     *
     * @param ns how long, ns
     * @param stamps receives its two readings of the clock, as 64 bits each: {@link #STAMP_FLOATS} floats
     * @return the launch
     */
    public Work spin(long ns, Floats stamps) {
        stamps.requireLength(STAMP_FLOATS);
        return launch("spin_ns_stamped", () -> 1, 1, 1, to(ns), to(stamps));
    }

    /**
     * Tries to launch a kernel that ends at once, in a shape that may be refused.
     *
     * @param stamps as for {@link #spin}
     * @param blocks number of blocks
     * @param threads number of threads of a block
     * @return the driver's code
     */
    public int trySpin(Floats stamps, int blocks, int threads) {
        CUfunction function = functions.computeIfAbsent("spin_ns_stamped", gpu::function);
        Pointer arguments = Pointer.to(to(0L), to(stamps));
        return JCudaDriver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, null);
    }

    /**
     * A kernel that ends with an error of the device, after which its context is of no use to anybody.
     *
     * @return the launch
     */
    public Work trap() {
        return launch("trap_now", () -> 1, 1, 1);
    }

    private Work perValue(String kernel, int count, Pointer... arguments) {
        int blocks = divideUp(count, BLOCK);
        return launch(kernel, () -> blocks, 1, BLOCK, arguments);
    }

    private Work launch(String kernel, IntSupplier gridX, int gridY, int block, Pointer... arguments) {
        CUfunction function = functions.computeIfAbsent(kernel, gpu::function);
        Pointer all = arguments.length == 0 ? new Pointer() : Pointer.to(arguments);
        // The grid's width is asked for at each launch: some depend on a cell.
        return () -> Gpu.require(
                "cuLaunchKernel",
                JCudaDriver.cuLaunchKernel(function, gridX.getAsInt(), gridY, 1, block, 1, 1, 0, stream, all, null));
    }

    private static Pointer to(Floats array) {
        return Pointer.to(array.address());
    }

    private static Pointer to(int number) {
        Cell cell = new Cell();
        cell.set(number);
        return cell.pointer();
    }

    private static Pointer to(float number) {
        return to(Float.floatToRawIntBits(number));
    }

    private static Pointer to(long number) {
        Cell cell = new Cell();
        cell.value.putLong(0, number);
        return cell.pointer();
    }

    private static int divideUp(int value, int by) {
        return (value + by - 1) / by;
    }
}
