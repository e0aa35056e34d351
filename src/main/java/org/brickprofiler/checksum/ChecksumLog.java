package org.brickprofiler.checksum;

import static org.brickprofiler.internal.io.Checks.requireNotNegative;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.io.Fnv1a;
import org.brickprofiler.internal.record.OwnSamples;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.spi.SampleTimes;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * A checksum of each output of a forward pass, in order of execution, to be compared with the log of another run.
 *
 * <p>Every method may be called from any thread. The checksum is computed on the calling thread, outside any lock; a
 * short lock then appends it, since the order of execution is one order over all threads. A record allocates nothing,
 * except for a new name and for every 1,024th entry. At most {@link ChecksumOptions#capacity} entries are kept; further
 * ones are dropped, counted, and logged once.
 *
 * <p>Checksums cover the bits: 0.0 and -0.0 differ, and so do two NaNs with different bits. NaN and infinities are
 * counted among all floats of an output, whichever of them the checksum covers; that takes some 0.5 ns a float.
 */
public final class ChecksumLog {

    private static final int NOT_SIGN = 0x7fffffff;
    private static final int INFINITE = 0x7f800000;

    private final ChecksumOptions options;
    private final @Nullable OwnSamples samples;

    /** A monitor, and not a lock of java.util.concurrent, which allocates when threads meet at it. */
    private final Object lock = new Object();

    private final PendingTimes pending = new PendingTimes();

    private ChecksumColumns columns;
    private long dropped;
    private boolean dropLogged;

    /** A log of the first 64 floats of each output. */
    public ChecksumLog() {
        this(ChecksumOptions.DEFAULT);
    }

    /**
     * A log whose entries carry no times.
     *
     * @param options what to keep of each output
     */
    public ChecksumLog(ChecksumOptions options) {
        this(null, options);
    }

    /**
     * A log whose entries carry the time of their brick's sample, whether the brick is stopped before the output is
     * recorded or after, as where {@code lap} goes on to the next brick: the sample of the calling thread that was
     * under way then, else the one that it had recorded last where that is the brick's. An entry has no time where
     * neither is so, where it is not known any more, and before a thread's first sample. A brick that is stopped after
     * its output was recorded has its time once it is stopped.
     *
     * @param options what to keep of each output
     * @param samples a profiler's, for the samples of the calling thread; read on that thread and outside any lock
     * @throws IllegalArgumentException when they are not a profiler's
     */
    public ChecksumLog(ChecksumOptions options, SampleTimes samples) {
        this(ownSamples(samples), options);
    }

    private static OwnSamples ownSamples(SampleTimes samples) {
        if (Objects.requireNonNull(samples, "samples") instanceof OwnSamples own) {
            return own;
        }
        throw new IllegalArgumentException("samples are a profiler's of this library, and these are those of a "
                + samples.getClass().getName());
    }

    private ChecksumLog(@Nullable OwnSamples samples, ChecksumOptions options) {
        this.samples = samples;
        this.options = Objects.requireNonNull(options, "options");
        this.columns = new ChecksumColumns(options.samples());
    }

    /**
     * A log of entries that were recorded elsewhere, for example in another process.
     *
     * @param options what was kept of each output
     * @param entries the entries, in order of execution
     * @param dropped how many more there were, 0 or more
     * @return a log that holds them
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
            throw new IllegalArgumentException(
                    "'" + entry.name() + "' (layer " + entry.layer() + ", pos " + entry.position() + ") has "
                            + entry.samples().size() + " samples, and by the options " + expected);
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
     * @param output the floats from the buffer's position to its limit, both of which stay
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
     * @param output floats in the buffer's own byte order, from its position to its limit, both of which stay
     * @throws IllegalArgumentException when the name is null or empty, a number is out of its range, or the bytes are
     *     no whole number of floats; nothing is recorded then
     */
    public void record(String name, int layer, int position, ByteBuffer output) {
        int bytes = output.remaining();
        if (bytes % Float.BYTES != 0) {
            throw new IllegalArgumentException("output of " + bytes + " bytes is no whole number of floats");
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
            LoggerFactory.getLogger(ChecksumLog.class)
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
     * What is kept of each output.
     *
     * @return the options of this log
     */
    public ChecksumOptions options() {
        return options;
    }

    /**
     * What was recorded so far.
     *
     * @return an immutable list in order of execution; it takes no memory of its own beside that of the log, and makes
     *     an entry at each access
     */
    public List<ChecksumEntry> list() {
        synchronized (lock) {
            pending.settleAll(columns);
            return columns.list();
        }
    }

    /**
     * How many entries did not fit.
     *
     * @return entries dropped since the last reset
     */
    public long droppedCount() {
        synchronized (lock) {
            return dropped;
        }
    }

    /** Forgets what was recorded. Lists that were taken before stay as they are. */
    public void reset() {
        synchronized (lock) {
            columns = new ChecksumColumns(options.samples());
            pending.clear();
            dropped = 0;
        }
    }

    /**
     * The first entry with another checksum than the reference's, or that only one of the logs has. See
     * {@link #compareWith}.
     *
     * @param reference the log that is taken to be right
     * @return the divergence, or empty where both agree
     * @throws IllegalArgumentException when the logs differ in scope
     */
    public Optional<Divergence> firstDivergenceFrom(ChecksumLog reference) {
        return compareWith(reference, Tolerance.EXACT).first();
    }

    /**
     * Compares this log with another one. Entries belong together if they have the same name, layer and position, and
     * are each log's first, or second, ... of these; the order in which different ones were executed does not matter,
     * as threads may change it.
     *
     * <p>The first divergence is the earliest in this log's order of execution. An entry that only the reference has
     * stands right behind the last one in this log of those that the reference executed before it.
     *
     * @param reference the log that is taken to be right
     * @param tolerance how far values may be apart. A tolerance other than {@link Tolerance#EXACT} is applied to the
     *     samples; where a log has none, checksums are compared, and counted in {@link Comparison#comparedByHash}
     * @return what was found
     * @throws IllegalArgumentException when the logs differ in scope, or, within a tolerance, both have samples and not
     *     equally many
     */
    public Comparison compareWith(ChecksumLog reference, Tolerance tolerance) {
        return new LogComparer(this, reference, tolerance).compare();
    }

    /**
     * Reads the floats of a tensor in place. One reader serves all tensors of its kind, so that reading makes no
     * object.
     *
     * @param <T> what holds the floats
     */
    @FunctionalInterface
    private interface FloatReader<T> {

        /** Arrays; {@code from} is an index. */
        FloatReader<float[]> OF_ARRAY = (floats, from, index) -> Float.floatToRawIntBits(floats[from + index]);

        /** Buffers of floats; {@code from} is a position. */
        FloatReader<FloatBuffer> OF_FLOATS = (floats, from, index) -> Float.floatToRawIntBits(floats.get(from + index));

        /** Buffers of bytes in their own byte order; {@code from} is a position, in bytes. */
        FloatReader<ByteBuffer> OF_BYTES = (bytes, from, index) -> bytes.getInt(from + index * Float.BYTES);

        /** The bits of the float at an index from 0, those of a NaN unchanged. */
        int bits(T source, int from, int index);
    }

    /**
     * Entries whose brick may still run: an output is there before its brick is stopped, or after. When an entry is
     * recorded it is not known which of the two it is, so it gets the time of the brick that its thread has just timed,
     * if that is its own, and is looked at again later: where the next sample of its brick began before the entry was
     * recorded, that one is the entry's. Where too many samples have come by then, the entry has no time. Allocates
     * nothing. The owner's lock guards it.
     */
    private static final class PendingTimes {

        /** Entries of all threads that are looked at again; the oldest one stays as it is where there are more. */
        private static final int ROOM = 64;

        /** Those in use come first. */
        private final Pending[] entries = new Pending[ROOM];

        private int size;

        /** An entry, and the samples of its thread as they were when its output was there. */
        private static final class Pending {
            private int row;
            private @Nullable StatTable table;
            private int key;
            private long count;
            private long notedNs;

            /** When the brick's latest sample had ended by then: one that begins before that was timed elsewhere. */
            private long endedNs;
        }

        PendingTimes() {
            for (int i = 0; i < ROOM; i++) {
                entries[i] = new Pending();
            }
        }

        /** Notes an entry of the calling thread, and the clock when its output was there. */
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

        /** Looks at the entries of the calling thread again. */
        void settle(StatTable own, ChecksumColumns columns) {
            for (int i = size - 1; i >= 0; i--) {
                Pending entry = entries[i];
                if (entry.table == own) {
                    long count = own.count(entry.key);
                    if (count != entry.count) {
                        settle(entry, count, own.latestBeganNs(entry.key), own.latestNs(entry.key), columns);
                        remove(i);
                    } else if (own.hasBegunSince(entry.notedNs)) {
                        // Another brick began meanwhile and ended: what ran when the entry was recorded is over.
                        remove(i);
                    }
                }
            }
        }

        /** Looks at the entries of all threads again. */
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
