package org.brickprofiler.checksum;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import org.brickprofiler.internal.base.Fnv1a;

/** Logs and entries for tests. */
public final class Logs {

    private Logs() {}

    /** Returns a log of entries without samples. */
    static ChecksumLog of(ChecksumEntry... entries) {
        return of(List.of(entries));
    }

    static ChecksumLog of(List<ChecksumEntry> entries) {
        return ChecksumLog.of(ChecksumOptions.DEFAULT, entries, 0);
    }

    static ChecksumEntry entry(String name, int layer, int position, long hash) {
        return ChecksumEntry.builder(name, layer, position)
                .hash(hash)
                .floats(64, 0, 0)
                .build();
    }

    /** Returns a log with one entry of some values, of which up to 16 are samples. */
    static ChecksumLog sampled(float... values) {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(16));
        log.record("RmsNorm", 0, 0, values);
        return log;
    }

    /**
     * Returns a log of the same entries with the times, in ns, that a function returns for their names; a negative time
     * stands for an unknown one.
     */
    public static ChecksumLog timed(ChecksumLog log, ToLongFunction<String> elapsedNs) {
        List<ChecksumEntry> entries = log.list().stream()
                .map(entry -> timed(entry, elapsedNs.applyAsLong(entry.name())))
                .toList();
        return ChecksumLog.of(log.options(), entries, log.droppedCount());
    }

    private static ChecksumEntry timed(ChecksumEntry entry, long elapsedNs) {
        return ChecksumEntry.builder(entry.name(), entry.layer(), entry.position())
                .hash(entry.hash())
                .floats(entry.elements(), entry.nans(), entry.infinities())
                .elapsedNs(elapsedNs < 0 ? OptionalLong.empty() : OptionalLong.of(elapsedNs))
                .samples(entry.samples())
                .build();
    }

    /** Returns floats that differ from each other: seed, seed + 1, ... */
    static float[] floats(int count, float seed) {
        float[] floats = new float[count];
        IntStream.range(0, count).forEach(i -> floats[i] = seed + i);
        return floats;
    }

    /** Returns the hash of the first floats, computed byte by byte. */
    static long hash(float[] floats, int count) {
        ByteBuffer bytes = ByteBuffer.allocate(count * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        IntStream.range(0, count).forEach(i -> bytes.putInt(Float.floatToRawIntBits(floats[i])));
        return Fnv1a.of(bytes.array());
    }
}
