package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.internal.base.Fnv1a;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

final class ChecksumLogTest {

    private static final ChecksumOptions OPTIONS = ChecksumOptions.DEFAULT;

    private final ChecksumLog log = new ChecksumLog();

    private ChecksumEntry last() {
        return log.list().get(log.list().size() - 1);
    }

    @Spec("10.1")
    @Test
    void coversTheFirst64Floats() {
        float[] output = Logs.floats(100, 0.5f);

        log.record("RmsNorm", 3, 17, output);

        assertThat(log.list())
                .containsExactly(ChecksumEntry.builder("RmsNorm", 3, 17)
                        .hash(Logs.hash(output, 64))
                        .floats(100, 0, 0)
                        .build());
        output[64] = -1;
        log.record("RmsNorm", 3, 17, output);
        assertThat(last().hash()).isEqualTo(Logs.hash(output, 64));
        output[63] = -1;
        log.record("RmsNorm", 3, 17, output);
        assertThat(last().hash()).isNotEqualTo(log.list().get(0).hash());
    }

    @Spec("10.1")
    @Test
    void coversTheWholeOutputIfRequested() {
        ChecksumLog whole = new ChecksumLog(OPTIONS.withScope(ChecksumOptions.Scope.WHOLE));
        float[] output = Logs.floats(1000, 0.5f);
        output[999] = Float.NaN;

        whole.record("RmsNorm", 0, 0, output);

        assertThat(whole.list().get(0).hash()).isEqualTo(Logs.hash(output, 1000));
        assertThat(whole.list().get(0).nans()).isOne();
    }

    @Test
    void outputsMayBeShortOrEmpty() {
        float[] output = Logs.floats(3, 7);

        log.record("Router", 0, 0, output);
        assertThat(last().hash()).isEqualTo(Logs.hash(output, 3));
        assertThat(last().elements()).isEqualTo(3);

        log.record("Expert", ChecksumEntry.NO_LAYER, 0, new float[0]);
        assertThat(last().hash()).isEqualTo(0xcbf29ce484222325L);
        assertThat(last().elements()).isZero();
        assertThat(last().layer()).isEqualTo(-1);
    }

    @Test
    void readsBuffersBetweenPositionAndLimitAndLeavesBothAlone() {
        float[] output = Logs.floats(10, 1.25f);
        long expected = Logs.hash(Logs.floats(5, 3.25f), 5);

        log.record("part of an array", 0, 0, output, 2, 5);
        assertThat(last().hash()).isEqualTo(expected);

        FloatBuffer floats = FloatBuffer.wrap(output);
        floats.position(2).limit(7);
        FloatBuffer readOnly = floats.asReadOnlyBuffer();
        log.record("floats", 0, 0, readOnly);
        assertThat(last().hash()).as("read-only").isEqualTo(expected);
        assertThat(readOnly.position()).isEqualTo(2);
        assertThat(readOnly.limit()).isEqualTo(7);
        log.record("floats", 0, 0, floats);
        assertThat(last().hash()).isEqualTo(expected);
        assertThat(floats.position()).isEqualTo(2);
        assertThat(floats.limit()).isEqualTo(7);

        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            ByteBuffer bytes = ByteBuffer.allocateDirect(11 + 40).order(order);
            bytes.position(11).slice().order(order).asFloatBuffer().put(output);
            bytes.position(11 + 8).limit(11 + 28);
            log.record("bytes", 0, 0, bytes);
            assertThat(last().hash()).as("%s", order).isEqualTo(expected);
            assertThat(last().elements()).isEqualTo(5);
            assertThat(bytes.position()).isEqualTo(11 + 8);
            assertThat(bytes.limit()).isEqualTo(11 + 28);
            assertThat(bytes.order()).isEqualTo(order);
        }
        // All have the same hash: the number of entries shows that each call has recorded one.
        assertThat(log.list()).hasSize(5).extracting(ChecksumEntry::hash).containsOnly(expected);
    }

    @Spec("10.1")
    @Test
    void takesBitsAsTheyAre() {
        float odd = Float.intBitsToFloat(0x7fc01234);
        ByteBuffer signalling = ByteBuffer.allocate(4).putInt(0, 0x7fa00001);

        log.record("a", 0, 0, new float[] {0.0f});
        log.record("a", 0, 0, new float[] {-0.0f});
        log.record("a", 0, 0, new float[] {Float.NaN});
        log.record("a", 0, 0, new float[] {odd});
        log.record("a", 0, 0, signalling);

        assertThat(log.list()).extracting(ChecksumEntry::hash).doesNotHaveDuplicates();
        assertThat(log.list().get(3).hash()).isEqualTo(Logs.hash(new float[] {odd}, 1));
        assertThat(last().hash()).isEqualTo(Fnv1a.of(new byte[] {1, 0, (byte) 0xa0, 0x7f}));
    }

    @Spec("10.2")
    @Test
    void countsValuesThatAreNotFiniteAmongAllFloats() {
        float[] output = new float[5_000];
        output[0] = Float.NaN;
        output[5] = Float.NEGATIVE_INFINITY;
        output[6] = Float.POSITIVE_INFINITY;
        output[62] = Float.MAX_VALUE;
        output[63] = Float.intBitsToFloat(0xff800001);
        output[64] = Float.NaN;
        output[4_999] = Float.NEGATIVE_INFINITY;

        log.record("Softmax", 0, 0, output);
        log.record("Softmax", 0, 0, FloatBuffer.wrap(output));
        ByteBuffer bytes = ByteBuffer.allocate(output.length * Float.BYTES);
        bytes.asFloatBuffer().put(output);
        log.record("Softmax", 0, 0, bytes);

        assertThat(log.list()).extracting(ChecksumEntry::nans).containsOnly(3);
        assertThat(log.list()).extracting(ChecksumEntry::infinities).containsOnly(3);
        assertThat(last().isFinite()).isFalse();
        log.record("Softmax", 0, 0, new float[] {1, 2});
        assertThat(last().isFinite()).isTrue();
    }

    @Spec("10.2")
    @Test
    void samplesAreSpreadOverTheOutput() {
        ChecksumLog sampling = new ChecksumLog(OPTIONS.withSamples(4));

        sampling.record("a", 0, 0, Logs.floats(100, 0));
        sampling.record("a", 0, 0, Logs.floats(3, 5));
        sampling.record("a", 0, 0, FloatBuffer.wrap(Logs.floats(50, 0), 10, 2));
        sampling.record("a", 0, 0, new float[0]);

        assertThat(sampling.list())
                .extracting(ChecksumEntry::samples)
                .containsExactly(List.of(0f, 33f, 66f, 99f), List.of(5f, 6f, 7f), List.of(10f, 11f), List.of());
        assertThat(ChecksumOptions.sampleIndex(0, 1, 100)).isZero();
        assertThat(ChecksumOptions.sampleIndex(1023, 1024, Integer.MAX_VALUE)).isEqualTo(Integer.MAX_VALUE - 1);
    }

    @Test
    void anEntryCarriesTheTimeOfItsBrick() {
        log.record("known", 0, 0, new float[1]);
        log.record("unknown", 0, 0, new float[1]);

        assertThat(Logs.timed(log, name -> name.equals("known") ? 1234 : -1).list())
                .extracting(ChecksumEntry::elapsedNs)
                .containsExactly(OptionalLong.of(1234), OptionalLong.empty());
    }

    @Test
    void nothingIsRecordedIfTheTimeCannotBeRead() {
        ChecksumLog failing = new ChecksumLog(OPTIONS, new OwnSamples() {
            @Override
            public int key(String name) {
                throw new IllegalStateException("no time for " + name);
            }

            @Override
            public @Nullable StatTable table() {
                return null;
            }

            @Override
            public long nowNs() {
                return 0;
            }
        });

        assertThatThrownBy(() -> failing.record("a", 0, 0, new float[1])).hasMessage("no time for a");
        assertThat(failing.list()).isEmpty();
    }

    @Test
    void refusesInvalidPlaces() {
        float[] output = new float[4];

        assertRefused(() -> log.record(nothing(), 0, 0, output), "name must not be null");
        assertRefused(() -> log.record("", 0, 0, output), "name must not be empty");
        assertRefused(() -> log.record("a", -2, 0, output), "layer -2 is below -1");
        assertRefused(() -> log.record("a", 0, -5, output), "position -5 is negative");
        assertRefused(() -> log.record("a", 0, 0, ByteBuffer.allocate(7)), "output of 7 bytes");
        assertThatThrownBy(() -> log.record("a", 0, 0, output, 3, 2))
                .isInstanceOf(IndexOutOfBoundsException.class)
                .hasMessageContaining("3 + 2");
        assertThat(log.list()).isEmpty();
    }

    @SuppressWarnings("NullAway") // arguments of a caller without null checks
    private static String nothing() {
        return null;
    }

    private static void assertRefused(Runnable call, String message) {
        assertThatThrownBy(call::run)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(message);
    }

    @Test
    void keepsEntriesInOrderOverManyChunks() {
        int count = 3 * ChecksumColumns.CHUNK_ROWS + 1;
        ChecksumLog sampling = new ChecksumLog(OPTIONS.withSamples(2));
        List<ChecksumEntry> expected = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            float[] output = {i, i + 0.5f, -i};
            String name = "x".repeat(1 + i % 9);
            sampling.record(name, i % 7, i, output);
            expected.add(ChecksumEntry.builder(name, i % 7, i)
                    .hash(Logs.hash(output, 3))
                    .floats(3, 0, 0)
                    .elapsedNs(OptionalLong.of(name.length()))
                    .samples(List.of((float) i, (float) -i))
                    .build());
        }

        assertThat(Logs.timed(sampling, String::length).list()).isEqualTo(expected);
        assertThat(ChecksumLog.of(sampling.options(), expected, 0).list()).isEqualTo(expected);
    }

    @Test
    void aListStaysAsItIs() {
        log.record("a", 0, 0, new float[1]);
        List<ChecksumEntry> before = log.list();
        ChecksumEntry first = before.get(0);

        log.record("b", 0, 0, new float[1]);
        assertThat(before).containsExactly(first);
        log.reset();
        log.record("c", 0, 0, new float[1]);

        assertThat(before).containsExactly(first);
        assertThatThrownBy(() -> before.add(first)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> before.remove(0)).isInstanceOf(UnsupportedOperationException.class);
        assertThatThrownBy(() -> before.get(1)).isInstanceOf(IndexOutOfBoundsException.class);
    }

    @Spec("10.3")
    @Test
    void dropsAndCountsEntriesBeyondItsCapacityAndLogsThisOnce() {
        ChecksumLog small = new ChecksumLog(OPTIONS.withCapacity(2));
        try (CapturedLog captured = new CapturedLog()) {
            for (int i = 0; i < 5; i++) {
                small.record("RmsNorm", 4, i, new float[1]);
            }
            assertThat(captured.linesWith("'RmsNorm' (layer 4, pos 2)")).isOne();
            assertThat(captured.linesWith("dropped")).isOne();
            assertThat(small.list()).extracting(ChecksumEntry::position).containsExactly(0, 1);
            assertThat(small.droppedCount()).isEqualTo(3);

            small.reset();
            assertThat(small.list()).isEmpty();
            assertThat(small.droppedCount()).isZero();
            for (int i = 0; i < 3; i++) {
                small.record("RmsNorm", 4, i, new float[1]);
            }
            assertThat(small.droppedCount()).isOne();
            assertThat(captured.linesWith("dropped")).isOne();
        }
    }

    @Test
    void refusesOptionsAndEntriesThatDoNotFit() {
        assertRefused(() -> OPTIONS.withSamples(-1), "samples -1");
        assertRefused(() -> OPTIONS.withSamples(1025), "samples 1025");
        assertRefused(() -> OPTIONS.withCapacity(0), "capacity 0");
        List<ChecksumEntry> two = List.of(Logs.entry("a", 0, 0, 1), Logs.entry("b", 2, 3, 1));
        assertRefused(() -> ChecksumLog.of(OPTIONS.withCapacity(1), two, 0), "2 entries");
        assertRefused(() -> ChecksumLog.of(OPTIONS, two, -1), "dropped -1");
        assertRefused(
                () -> ChecksumLog.of(OPTIONS.withSamples(4), two, 0),
                "'a' (layer 0, pos 0): expected 4 samples by the options, found 0");
        assertThat(ChecksumLog.of(OPTIONS, two, 7).droppedCount()).isEqualTo(7);
    }

    @Test
    void refusesImpossibleEntries() {
        OptionalLong noTime = OptionalLong.empty();
        List<Float> none = List.of();
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(-1, 0, 0)
                        .elapsedNs(noTime)
                        .samples(none)
                        .build(),
                "elements -1");
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(2, -1, 0)
                        .elapsedNs(noTime)
                        .samples(none)
                        .build(),
                "nans -1");
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(2, 0, -1)
                        .elapsedNs(noTime)
                        .samples(none)
                        .build(),
                "infinities -1");
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(2, 2, 1)
                        .elapsedNs(noTime)
                        .samples(none)
                        .build(),
                "2 nans and 1 infinities");
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(2, 0, 0)
                        .elapsedNs(OptionalLong.of(-3))
                        .samples(none)
                        .build(),
                "elapsedNs -3");
        assertRefused(
                () -> ChecksumEntry.builder("a", 0, 0)
                        .hash(1)
                        .floats(2, 0, 0)
                        .elapsedNs(noTime)
                        .samples(List.of(1f, 2f, 3f))
                        .build(),
                "3 samples");
    }
}
