package org.brickprofiler.checksum;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.base.Fnv1a;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of the outputs of a forward pass, in order of execution, to be compared with another run's log.
 *
 * <p>Every method may be called from any thread. The checksum is computed on the calling thread, outside any lock; a
 * short lock then appends it, because all threads share one order of execution. {@code record} allocates only for a new
 * name and for every 1,024th entry. At most {@link ChecksumOptions#capacity} entries are kept; further ones are
 * dropped, counted, and logged once.
 *
 * <p>Checksums cover the bits: 0.0 and -0.0 differ, and so do two NaNs with different bits. NaNs and infinities are
 * counted in the whole output, even if the checksum covers only a part of it; counting takes some 0.5 ns a float.
 */
public final class ChecksumLog {

    private static final int NOT_SIGN = 0x7fffffff;
    private static final int INFINITE = 0x7f800000;

    private final ChecksumOptions options;
    private final @Nullable OwnSamples samples;

    /** A monitor: a lock of java.util.concurrent allocates under contention. */
    private final Object lock = new Object();

    private final PendingTimes pending = new PendingTimes();

    private ChecksumColumns columns;
    private long dropped;
    private boolean dropLogged;

    /** Creates a log of the first 64 floats of each output. */
    public ChecksumLog() {
        this(ChecksumOptions.DEFAULT);
    }

    /**
     * Creates a log whose entries carry no times.
     *
     * @param options the parts of each output to keep
     */
    public ChecksumLog(ChecksumOptions options) {
        this(null, options);
    }

    /**
     * Creates a log whose entries carry the time of their brick's sample. The brick may stop before its output is
     * recorded or, as with {@code lap}, afterwards. The sample is the one that was running on the calling thread. If
     * none was running, it is the last one that the thread recorded, if that sample is of the same brick. An entry has
     * no time if neither exists, if the time is no longer known, or before the thread's first sample. If the brick
     * stops after its output was recorded, the entry gets its time then.
     *
     * @param options the parts of each output to keep
     * @param samples a profiler's samples; read on the calling thread, outside any lock
     * @throws IllegalArgumentException when they are not a profiler's
     */
    public ChecksumLog(ChecksumOptions options, SampleTimes samples) {
        this(ownSamples(samples), options);
    }

    private static OwnSamples ownSamples(SampleTimes samples) {
        if (Objects.requireNonNull(samples, "samples") instanceof OwnSamples own) {
            return own;
        }
        throw new IllegalArgumentException("expected a BrickProfiler's samples, found "
                + samples.getClass().getName());
    }

    private ChecksumLog(@Nullable OwnSamples samples, ChecksumOptions options) {
        this.samples = samples;
        this.options = Objects.requireNonNull(options, "options");
        this.columns = new ChecksumColumns(options.samples());
    }

    /**
     * Creates a log of entries that were recorded elsewhere, for example in another process.
     *
     * @param options the parts of each output that were kept
     * @param entries the entries, in order of execution
     * @param dropped the number of further entries that were dropped, 0 or more
     * @return a log that holds the entries
     * @throws IllegalArgumentException when there are more entries than the capacity, an entry has another number of
     *     samples than the options demand, or {@code dropped} is negative
     */
    public static ChecksumLog of(ChecksumOptions options, List<ChecksumEntry> entries, long dropped) {
        if (entries.size() > options.capacity()) {
            throw new IllegalArgumentException(
                    entries.size() + " entries are more than the capacity of " + options.capacity());
        }
        requireNotNegative("dropped", dropped);
        ChecksumLog log = new ChecksumLog(options);
        synchronized (log.lock) {
            entries.forEach(log::copy);
            log.dropped = dropped;
        }
        return log;
    }

    private void copy(ChecksumEntry entry) {
        int expected = options.samplesOf(entry.elements());
        if (entry.samples().size() != expected) {
            throw new IllegalArgumentException("'" + entry.name() + "' (layer " + entry.layer() + ", pos "
                    + entry.position() + "): expected " + expected + " samples by the options, found "
                    + entry.samples().size());
        }
        long elapsedNs = entry.elapsedNs().orElse(ChecksumColumns.UNKNOWN_NS);
        columns.place(entry.name(), entry.layer(), entry.position(), elapsedNs);
        columns.content(entry.hash(), entry.elements(), entry.nans(), entry.infinities());
        for (int i = 0; i < expected; i++) {
            columns.sample(i, entry.samples().get(i));
        }
        columns.commit();
    }

    /**
     * Records an output.
     *
     * @param name the brick, not empty
     * @param layer its layer, or {@link ChecksumEntry#NO_LAYER}
     * @param position the position in the sequence, 0 or more
     * @param output the output; may be empty
     * @throws IllegalArgumentException when the name is null or empty, or a number is out of its range; nothing is
     *     recorded then
     */
    public void record(String name, int layer, int position, float[] output) {
        add(name, layer, position, FloatReader.OF_ARRAY, output, 0, output.length);
    }

    /**
     * Records an output that is part of an array.
     *
     * @param name the brick, not empty
     * @param layer its layer, or {@link ChecksumEntry#NO_LAYER}
     * @param position the position in the sequence, 0 or more
     * @param output the array
     * @param offset the index of the output's first float
     * @param length how many floats it has; may be 0
     * @throws IllegalArgumentException when the name is null or empty, or a number is out of its range; nothing is
     *     recorded then
     * @throws IndexOutOfBoundsException when the array has no such part; nothing is recorded then
     */
    public void record(String name, int layer, int position, float[] output, int offset, int length) {
        Objects.checkFromIndexSize(offset, length, output.length);
        add(name, layer, position, FloatReader.OF_ARRAY, output, offset, length);
    }

    /**
     * Records an output.
     *
     * @param name the brick, not empty
     * @param layer its layer, or {@link ChecksumEntry#NO_LAYER}
     * @param position the position in the sequence, 0 or more
     * @param output the floats from the buffer's position to its limit, both of which are unchanged
     * @throws IllegalArgumentException when the name is null or empty, or a number is out of its range; nothing is
     *     recorded then
     */
    public void record(String name, int layer, int position, FloatBuffer output) {
        add(name, layer, position, FloatReader.OF_FLOATS, output, output.position(), output.remaining());
    }

    /**
     * Records an output.
     *
     * @param name the brick, not empty
     * @param layer its layer, or {@link ChecksumEntry#NO_LAYER}
     * @param position the position in the sequence, 0 or more
     * @param output floats in the buffer's own byte order, from its position to its limit, both of which are unchanged
     * @throws IllegalArgumentException when the name is null or empty, a number is out of its range, or the bytes are
     *     not a whole number of floats; nothing is recorded then
     */
    public void record(String name, int layer, int position, ByteBuffer output) {
        int bytes = output.remaining();
        if (bytes % Float.BYTES != 0) {
            throw new IllegalArgumentException(
                    "output of " + bytes + " bytes: not a multiple of 4 bytes, the size of a float");
        }
        add(name, layer, position, FloatReader.OF_BYTES, output, output.position(), bytes / Float.BYTES);
    }

    private <T> void add(
            String name, int layer, int position, FloatReader<T> reader, T output, int from, int elements) {
        ChecksumEntry.requirePlace(name, layer, position);
        int covered = options.scope().covered(elements);
        long hash = Fnv1a.OFFSET_BASIS;
        int nans = 0;
        int infinities = 0;
        for (int i = 0; i < covered; i++) {
            hash = Fnv1a.addLittleEndian(hash, reader.bits(output, from, i));
        }
        for (int i = 0; i < elements; i++) {
            int magnitude = reader.bits(output, from, i) & NOT_SIGN;
            if (magnitude >= INFINITE) {
                nans += magnitude > INFINITE ? 1 : 0;
                infinities += magnitude == INFINITE ? 1 : 0;
            }
        }
        OwnSamples source = samples;
        int key = source == null ? -1 : source.key(name);
        StatTable own = source == null || key < 0 ? null : source.table();
        long nowNs = source == null || own == null ? 0 : source.nowNs();
        long elapsedNs = own != null && own.isLatest(key) ? own.latestNs(key) : ChecksumColumns.UNKNOWN_NS;
        boolean firstDropped;
        synchronized (lock) {
            if (own != null) {
                pending.settle(own, columns);
            }
            if (columns.size() < options.capacity()) {
                columns.place(name, layer, position, elapsedNs);
                columns.content(hash, elements, nans, infinities);
                addSamples(reader, output, from, elements);
                if (own != null) {
                    pending.add(own, key, nowNs, columns.size());
                }
                columns.commit();
                return;
            }
            dropped++;
            firstDropped = !dropLogged;
            dropLogged = true;
        }
        if (firstDropped) {
            Log.of(ChecksumLog.class)
                    .warn(
                            "more than {} checksums: that of '{}' (layer {}, pos {}) and all further ones are dropped",
                            options.capacity(),
                            name,
                            layer,
                            position);
        }
    }

    private <T> void addSamples(FloatReader<T> reader, T output, int from, int elements) {
        int count = options.samplesOf(elements);
        for (int i = 0; i < count; i++) {
            int index = ChecksumOptions.sampleIndex(i, count, elements);
            columns.sample(i, Float.intBitsToFloat(reader.bits(output, from, index)));
        }
    }

    /**
     * Returns the options.
     *
     * @return the options of this log
     */
    public ChecksumOptions options() {
        return options;
    }

    /**
     * Returns the entries recorded so far.
     *
     * @return an immutable list in order of execution; it shares the log's memory and creates an entry at each access
     */
    public List<ChecksumEntry> list() {
        synchronized (lock) {
            pending.settleAll(columns);
            return columns.list();
        }
    }

    /**
     * Returns the number of entries that did not fit.
     *
     * @return entries dropped since the last reset
     */
    public long droppedCount() {
        synchronized (lock) {
            return dropped;
        }
    }

    /** Forgets all entries. Lists that were taken before do not change. */
    public void reset() {
        synchronized (lock) {
            columns = new ChecksumColumns(options.samples());
            pending.clear();
            dropped = 0;
        }
    }

    /**
     * Returns the first entry whose checksum differs from the reference's, or that only one of the logs has. See
     * {@link #compareWith}.
     *
     * @param reference the log that is assumed to be correct
     * @return the divergence, or empty if both logs agree
     * @throws IllegalArgumentException when the logs differ in scope
     */
    public Optional<Divergence> firstDivergenceFrom(ChecksumLog reference) {
        Objects.requireNonNull(reference, "reference");
        return compareWith(reference, Tolerance.EXACT).first();
    }

    /**
     * Compares this log with another one. The n-th entry of a name, layer and position in one log belongs to the n-th
     * entry of the same name, layer and position in the other. The order of different entries does not matter, because
     * threads may change it.
     *
     * <p>The first divergence is the earliest in this log's order of execution. An entry that only the reference has
     * counts as executed after all entries of this log that the reference executed before it.
     *
     * @param reference the log that is assumed to be correct
     * @param tolerance the largest difference that counts as equal. A tolerance other than {@link Tolerance#EXACT} is
     *     applied to the samples. If a log has no samples, checksums are compared and counted in
     *     {@link ChecksumComparison#comparedByHash}
     * @return the comparison
     * @throws IllegalArgumentException when the logs differ in scope, or if, within a tolerance, both have samples but
     *     different numbers of them
     */
    public ChecksumComparison compareWith(ChecksumLog reference, Tolerance tolerance) {
        Objects.requireNonNull(reference, "reference");
        Objects.requireNonNull(tolerance, "tolerance");
        return new LogComparer(this, reference, tolerance).compare();
    }

    /**
     * Reads the floats of a tensor in place. One reader serves all tensors of its kind, so that reading allocates
     * nothing.
     *
     * @param <T> the type that holds the floats
     */
    @FunctionalInterface
    private interface FloatReader<T> {

        /** Arrays; {@code from} is an index. */
        FloatReader<float[]> OF_ARRAY = (floats, from, index) -> Float.floatToRawIntBits(floats[from + index]);

        /** Buffers of floats; {@code from} is a position. */
        FloatReader<FloatBuffer> OF_FLOATS = (floats, from, index) -> Float.floatToRawIntBits(floats.get(from + index));

        /** Buffers of bytes in their own byte order; {@code from} is a position, in bytes. */
        FloatReader<ByteBuffer> OF_BYTES = (bytes, from, index) -> bytes.getInt(from + index * Float.BYTES);

        /** Returns the bits of the float at an index from 0. The bits of a NaN are unchanged. */
        int bits(T source, int from, int index);
    }

    /**
     * Entries whose brick may still run: an output may be recorded before or after its brick stops. A new entry gets
     * the time of the last sample of its thread, if that sample is of its brick, and is checked again later. If the
     * next sample of its brick began before the entry was recorded, the entry gets the time of that sample. If too many
     * samples were recorded in between, the entry has no time. Allocates nothing. The owner's lock guards it.
     */
    private static final class PendingTimes {

        /**
         * The most entries, over all threads, that are checked again. If another one is added, the oldest one keeps its
         * present time.
         */
        private static final int ROOM = 64;

        /** The entries in use, then unused ones. */
        private final Pending[] entries = new Pending[ROOM];

        private int size;

        /** An entry, and the state of its thread's samples when its output was recorded. */
        private static final class Pending {
            private int row;
            private @Nullable StatTable table;
            private int key;
            private long count;
            private long notedNs;

            /** The end of the brick's latest sample at that time. A sample that begins earlier was timed elsewhere. */
            private long endedNs;
        }

        PendingTimes() {
            for (int i = 0; i < ROOM; i++) {
                entries[i] = new Pending();
            }
        }

        /** Adds an entry of the calling thread, with the time of the clock at which its output was recorded. */
        void add(StatTable table, int key, long nowNs, int row) {
            if (size == ROOM) {
                remove(0);
            }
            Pending entry = entries[size++];
            entry.row = row;
            entry.table = table;
            entry.key = key;
            entry.count = table.count(key);
            entry.notedNs = nowNs;
            entry.endedNs = table.latestEndedNs(key);
        }

        /** Checks the entries of the calling thread again, and sets the times that are known now. */
        void settle(StatTable own, ChecksumColumns columns) {
            for (int i = size - 1; i >= 0; i--) {
                Pending entry = entries[i];
                if (entry.table == own) {
                    long count = own.count(entry.key);
                    if (count != entry.count) {
                        settle(entry, count, own.latestBeganNs(entry.key), own.latestNs(entry.key), columns);
                        remove(i);
                    } else if (own.hasBegunSince(entry.notedNs)) {
                        // Another brick has begun and ended since: the brick that ran when the entry was recorded is
                        // over.
                        remove(i);
                    }
                }
            }
        }

        /** Checks the entries of all threads again, and sets the times that are known now. */
        void settleAll(ChecksumColumns columns) {
            for (int i = size - 1; i >= 0; i--) {
                Pending entry = entries[i];
                StatTable table = Objects.requireNonNull(entry.table);
                StatRow row = table.read(entry.key);
                if (row.count() != entry.count) {
                    settle(entry, row.count(), row.lastAtNs() - row.lastNs(), row.lastNs(), columns);
                    remove(i);
                } else if (!table.isOwnerAlive()) {
                    remove(i);
                }
            }
        }

        private static void settle(Pending entry, long count, long beganNs, long elapsedNs, ChecksumColumns columns) {
            boolean isNext = count == entry.count + 1;
            long sinceNs = entry.notedNs - beganNs;
            boolean isElsewhere = entry.count > 0 && beganNs - entry.endedNs < 0;
            if (!isNext) {
                columns.setElapsed(entry.row, ChecksumColumns.UNKNOWN_NS);
            } else if (!isElsewhere && (sinceNs > 0 || (sinceNs == 0 && columns.elapsedNs(entry.row) < 0))) {
                columns.setElapsed(entry.row, elapsedNs);
            }
        }

        private void remove(int i) {
            Pending removed = entries[i];
            System.arraycopy(entries, i + 1, entries, i, --size - i);
            entries[size] = removed;
            removed.table = null;
        }

        void clear() {
            while (size > 0) {
                remove(size - 1);
            }
        }
    }
}
