package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.brickprofiler.demo.PtxKernel.Order;
import org.brickprofiler.demo.PtxKernel.Shape;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The kernels compute the same values as the decoder on the processor. They run from the very text that a driver gets,
 * with their threads and blocks in one order and in the other.
 */
class DeviceKernelsTest {

    private static final double RELATIVE = 1e-3;

    /** For results near 0, of values of about 1. */
    private static final double ABSOLUTE = 1e-5;

    private static final PtxModule KERNELS = PtxInterpreter.read(KernelText.PTX);

    private final SplittableRandom random = new SplittableRandom(7);
    private final PtxArena arena = new PtxArena();

    private static Stream<Arguments> lengthsAndBlocks() {
        return Stream.of(Order.values()).flatMap(order -> Stream.of(1, 31, 32, 33, 100, 256, 257, 1408)
                .flatMap(length -> Stream.of(32, 64, 256, 1024).map(block -> Arguments.of(length, block, order))));
    }

    private static Stream<Arguments> matrices() {
        int[][] shapes = {{1, 1}, {3, 7}, {8, 32}, {9, 33}, {50, 100}, {64, 257}};
        return Stream.of(Order.values())
                .flatMap(order -> Arrays.stream(shapes).map(shape -> Arguments.of(shape[0], shape[1], order)));
    }

    /** Query heads, key heads, width of a head, positions, room for positions. */
    private static Stream<Arguments> attentions() {
        int[][] shapes = {
            {1, 1, 2, 1, 1},
            {2, 1, 6, 3, 5},
            {4, 2, 8, 9, 9},
            {4, 4, 32, 33, 40},
            {6, 2, 64, 70, 128},
            {2, 1, 100, 300, 301},
        };
        return Stream.of(Order.values()).flatMap(order -> Arrays.stream(shapes)
                .map(s -> Arguments.of(new ModelConfig(1, s[0] * s[2], s[0], s[1], 1, 1, s[4]), s[3], order)));
    }

    @ParameterizedTest
    @MethodSource("lengthsAndBlocks")
    void embedCopiesTheRowOfAToken(int length, int block, Order order) {
        float[] table = values(5 * length);
        float[] output = new float[length];

        run("embed", threads(length, block), order, at(output), at(table), 3, length);

        assertThat(output).containsExactly(Arrays.copyOfRange(table, 3 * length, 4 * length));
    }

    @ParameterizedTest
    @MethodSource("lengthsAndBlocks")
    void rmsNormAgreesWithTheReference(int length, int block, Order order) {
        float[] input = values(length);
        float[] weights = values(length);
        float[] expected = new float[length];
        Vectors.rmsNorm(input, weights, expected);
        float[] output = new float[length];

        run(
                "rms_norm",
                new Shape(1, 1, block),
                order,
                at(output),
                at(input),
                at(weights),
                length,
                bits(Vectors.RMS_EPSILON));

        assertNear(output, expected);
    }

    @ParameterizedTest
    @MethodSource("matrices")
    void productAgreesWithTheReference(int rows, int cols, Order order) {
        float[] matrix = values(rows * cols);
        float[] input = values(cols);
        float[] expected = new float[rows];
        try (WorkerPool pool = new WorkerPool(1)) {
            new TiledProduct(pool, TiledProduct.Probe.NONE).multiply(new Matrix(rows, cols, matrix), input, expected);
        }
        float[] output = new float[rows];

        run("matvec", new Shape((rows + 7) / 8, 1, 256), order, at(output), at(matrix), at(input), rows, cols);

        assertNear(output, expected);
    }

    @ParameterizedTest
    @MethodSource("attentions")
    void ropeAgreesWithTheReference(ModelConfig config, int positions, Order order) {
        RotaryEmbedding rotary = new RotaryEmbedding(config);
        int heads = config.heads() + config.kvHeads();
        float[] expected = values(config.qkvDim());
        float[] output = expected.clone();
        rotary.rotate(expected, heads, positions - 1);
        int pairs = config.headDim() / 2;
        int count = heads * pairs;

        run(
                "rope",
                threads(count, 64),
                order,
                at(output),
                at(rotary.cosines()),
                at(rotary.sines()),
                positions - 1,
                pairs,
                count);

        assertNear(output, expected);
    }

    /** Update, scores, softmax and output one after the other, each checked against its reference. */
    @ParameterizedTest
    @MethodSource("attentions")
    void attentionAgreesWithTheReference(ModelConfig config, int positions, Order order) {
        try (WorkerPool pool = new WorkerPool(1)) {
            Attention attention = new Attention(config, pool);
            Attention.KvCache cache = new Attention.KvCache(config);
            int kvDim = config.kvDim();
            int row = config.maxSequence();
            int sharing = config.heads() / config.kvHeads();
            float[] keys = new float[row * kvDim];
            float[] values = new float[row * kvDim];
            float[] qkv = new float[config.qkvDim()];
            for (int position = 0; position < positions; position++) {
                qkv = values(config.qkvDim());
                cache.put(qkv, config.dim(), position);
                run(
                        "kv_update",
                        threads(kvDim, 64),
                        order,
                        at(keys),
                        at(values),
                        at(qkv),
                        config.dim(),
                        position,
                        kvDim);
                assertThat(Arrays.copyOfRange(keys, position * kvDim, (position + 1) * kvDim))
                        .containsExactly(cache.keys(position));
                assertThat(Arrays.copyOfRange(values, position * kvDim, (position + 1) * kvDim))
                        .containsExactly(cache.values(position));
            }

            float[] scores = new float[config.heads() * row];
            float scale = (float) (1 / Math.sqrt(config.headDim()));
            run(
                    "attention_score",
                    new Shape((positions + 3) / 4, config.heads(), 128),
                    order,
                    at(scores),
                    at(qkv),
                    at(keys),
                    positions,
                    row,
                    config.headDim(),
                    kvDim,
                    sharing,
                    bits(scale));
            assertNear(scores, attention.score(qkv, cache, positions - 1));

            run("attention_softmax", new Shape(config.heads(), 1, 128), order, at(scores), positions, row);
            assertNear(scores, attention.softmax(positions - 1));

            float[] output = new float[config.dim()];
            float[] expected = new float[config.dim()];
            attention.output(cache, positions - 1, expected);
            run(
                    "attention_output",
                    new Shape((config.headDim() + 31) / 32, config.heads(), 256),
                    order,
                    at(output),
                    at(scores),
                    at(values),
                    positions,
                    row,
                    config.headDim(),
                    kvDim,
                    sharing);
            assertNear(output, expected);
        }
    }

    @ParameterizedTest
    @MethodSource("lengthsAndBlocks")
    void swiGluAgreesWithTheReference(int length, int block, Order order) {
        float[] gate = values(length);
        float[] up = values(length);
        gate[0] = -200;
        gate[length - 1] = 200;
        float[] expected = new float[length];
        Vectors.swiGlu(gate, up, expected);
        float[] output = new float[length];

        run("swiglu", threads(length, block), order, at(output), at(gate), at(up), length);

        assertNear(output, expected);
    }

    @ParameterizedTest
    @MethodSource("lengthsAndBlocks")
    void residualAddAgreesWithTheReference(int length, int block, Order order) {
        float[] expected = values(length);
        float[] sum = expected.clone();
        float[] addend = values(length);
        Vectors.add(expected, addend);

        run("residual_add", threads(length, block), order, at(sum), at(addend), length);

        assertThat(sum).containsExactly(expected);
    }

    @ParameterizedTest
    @EnumSource
    void softmaxOfFarApartScoresHasNoOverflow(Order order) {
        float[] scores = {-1e30f, 5000, 4999, -5000};
        float[] expected = scores.clone();
        Vectors.softmax(expected, 0, expected.length);

        run("attention_softmax", new Shape(1, 1, 64), order, at(scores), scores.length, scores.length);

        assertNear(scores, expected);
    }

    @Test
    void spinLastsForTheGivenTimeAndStampsItsBeginAndEnd() {
        float[] stamps = new float[4];
        long[] now = {1L << 33};
        LongSupplier timer = () -> now[0] += 300;

        KERNELS.kernel("spin_ns_stamped")
                .run(new Shape(1, 1, 1), new long[] {1_000, arena.addressOf(stamps)}, arena, Order.FORWARD, timer);

        assertThat(longAt(stamps, 0)).isEqualTo((1L << 33) + 300);
        assertThat(longAt(stamps, 2)).isEqualTo((1L << 33) + 300 + 1_200);
    }

    private static long longAt(float[] bits, int index) {
        return ((long) Float.floatToRawIntBits(bits[index + 1]) << Integer.SIZE)
                | (Float.floatToRawIntBits(bits[index]) & 0xffffffffL);
    }

    @Test
    void theInterpreterFindsAnAccessBesideAnArray() {
        float[] sum = new float[3];
        float[] addend = new float[4];

        assertThatThrownBy(() -> run("residual_add", threads(4, 32), Order.FORWARD, at(sum), at(addend), 4))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("an array of 3 floats");
    }

    @Test
    void theInterpreterFindsABarrierThatAThreadDoesNotComeTo() {
        String early = KernelText.PTX.replaceFirst("bar\\.sync 0;", "@%other_lane ret; bar.sync 0;");

        assertThatThrownBy(() -> PtxInterpreter.read(early)
                        .kernel("rms_norm")
                        .run(
                                new Shape(1, 1, 64),
                                new long[] {at(new float[1]), at(new float[1]), at(new float[1]), 1, 0},
                                arena,
                                Order.FORWARD,
                                () -> 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("ENDED");
    }

    @ParameterizedTest
    @EnumSource
    void theInterpreterShowsThatABarrierIsMissing(Order order) {
        float[] input = values(64);
        float[] expected = new float[64];
        Vectors.rmsNorm(input, input, expected);
        float[] output = new float[64];
        long[] arguments = {at(output), at(input), at(input), 64, bits(Vectors.RMS_EPSILON)};
        String without = KernelText.PTX.replaceFirst("bar\\.sync 0;", "");

        PtxInterpreter.read(without).kernel("rms_norm").run(new Shape(1, 1, 64), arguments, arena, order, () -> 0);

        assertThatThrownBy(() -> assertNear(output, expected)).isInstanceOf(AssertionError.class);
    }

    private void run(String kernel, Shape shape, Order order, long... arguments) {
        KERNELS.kernel(kernel).run(shape, arguments, arena, order, () -> 0);
    }

    private long at(float[] array) {
        return arena.addressOf(array);
    }

    private float[] values(int length) {
        float[] values = new float[length];
        for (int i = 0; i < length; i++) {
            values[i] = Matrix.symmetric(random);
        }
        return values;
    }

    private static long bits(float value) {
        return Float.floatToRawIntBits(value) & 0xffffffffL;
    }

    private static Shape threads(int count, int blockSize) {
        return new Shape((count + blockSize - 1) / blockSize, 1, blockSize);
    }

    private static void assertNear(float[] actual, float[] expected) {
        assertThat(actual).hasSameSizeAs(expected);
        for (int i = 0; i < expected.length; i++) {
            assertThat(actual[i]).as("value %d of %d", i, expected.length).isCloseTo(expected[i], within((float)
                    (ABSOLUTE + RELATIVE * Math.abs(expected[i]))));
        }
    }
}
