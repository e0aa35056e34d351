package org.brickprofiler.checksum;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToLongFunction;
import org.brickprofiler.io.Fnv1a;
import org.brickprofiler.record.OwnSamples;
import org.brickprofiler.record.StatTable;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A checksum of each output of a forward pass, in order of execution, to be compared with the log of another run.
 *
 * <p>Every method may be called from any thread. The checksum is computed on the calling thread, outside any lock; a
 * short lock then appends it, since the order of execution is one order over all threads. A record allocates nothing,
 * except for a new name and for every 1,024th entry. At most {@link ChecksumOptions#capacity} entries are kept; further
 * ones are dropped, counted, and logged once.
 *
 * <p>Checksums cover the bits: 0.0 and -0.0 differ, and so do two NaNs with different bits.
 */
public final class ChecksumLog {

    private static final Logger LOG = LoggerFactory.getLogger(ChecksumLog.class);

    private static final int NOT_SIGN = 0x7fffffff;
    private static final int INFINITE = 0x7f800000;

    private final ChecksumOptions options;
    private final ToLongFunction<String> latestNs;
    private final @Nullable OwnSamples samples;

    /** A monitor, and not a lock of java.util.concurrent, which allocates when threads meet at it. */
    private final Object lock = new Object();

    private final OpenTimes open = new OpenTimes();

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
        this(options, name -> ChecksumColumns.UNKNOWN_NS);
    }

    /**
     * A log whose entries carry the time that their brick took.
     *
     * @param options what to keep of each output
     * @param latestNs gives, for a name, the elapsed ns of the calling thread's latest sample of that brick, or a
     *     negative number if there is none. Each record asks it once, on its own thread and outside any lock; what it
     *     throws reaches the caller, and nothing is recorded then
     */
    public ChecksumLog(ChecksumOptions options, ToLongFunction<String> latestNs) {
        this(options, latestNs, null);
    }

    /**
     * A log whose entries carry the time of their brick's sample, whether the brick is stopped before the output is
     * recorded or after, as where {@code lap} goes on to the next brick: the sample of the calling thread that was under
     * way then, else the one that it had recorded last where that is the brick's. An entry has no time where neither is
     * so, where it is not known any more, and before a thread's first sample. A brick that is stopped after its output
     * was recorded has its time once it is stopped.
     *
     * @param options what to keep of each output
     * @param samples tells of the calling thread's samples; asked on its own thread and outside any lock
     */
    public ChecksumLog(ChecksumOptions options, OwnSamples samples) {
        this(options, name -> ChecksumColumns.UNKNOWN_NS, Objects.requireNonNull(samples, "samples"));
    }

    private ChecksumLog(ChecksumOptions options, ToLongFunction<String> latestNs, @Nullable OwnSamples samples) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(latestNs, "latestNs");
        this.options = options;
        this.latestNs = latestNs;
        this.samples = samples;
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
     *     samples than the options say, or {@code dropped} is negative
     */
    public static ChecksumLog of(ChecksumOptions options, List<ChecksumEntry> entries, long dropped) {
        if (entries.size() > options.capacity()) {
            throw new IllegalArgumentException(
                    entries.size() + " entries are more than the capacity of " + options.capacity());
        }
        if (dropped < 0) {
            throw new IllegalArgumentException("dropped " + dropped + " is negative");
        }
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
            int bits = reader.bits(output, from, i);
            hash = Fnv1a.addLittleEndian(hash, bits);
            int magnitude = bits & NOT_SIGN;
            nans += magnitude > INFINITE ? 1 : 0;
            infinities += magnitude == INFINITE ? 1 : 0;
        }
        OwnSamples source = samples;
        int key = source == null ? -1 : source.key(name);
        StatTable own = source == null || key < 0 ? null : source.table();
        long nowNs = source == null || own == null ? 0 : source.nowNs();
        boolean isLatest = own != null && own.isLatest(key);
        long elapsedNs = own != null && isLatest ? own.latestNs(key) : latestNs.applyAsLong(name);
        boolean firstDropped;
        synchronized (lock) {
            if (own != null) {
                open.settle(own, columns);
            }
            if (columns.size() < options.capacity()) {
                columns.place(name, layer, position, elapsedNs);
                columns.content(hash, elements, nans, infinities);
                addSamples(reader, output, from, elements);
                if (own != null) {
                    open.add(own, key, nowNs, columns.size());
                }
                columns.commit();
                return;
            }
            dropped++;
            firstDropped = !dropLogged;
            dropLogged = true;
        }
        if (firstDropped) {
            LOG.warn(
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
     *     an entry whenever it is asked for one
     */
    public List<ChecksumEntry> list() {
        synchronized (lock) {
            open.settleAll(columns);
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
            open.clear();
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
}
