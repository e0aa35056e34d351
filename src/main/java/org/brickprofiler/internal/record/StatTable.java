package org.brickprofiler.internal.record;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.brickprofiler.internal.base.Sums;
import org.jspecify.annotations.Nullable;

/**
 * The sums of one recording thread, a row per key and phase. One writer, any number of readers.
 *
 * <p>The writer is the owner or, for a shared table, whichever thread holds it; {@link PerThread} has the memory model.
 * Recording allocates nothing once a row exists, takes no lock and never waits. {@link RowReader} reads the rows.
 *
 * <h2>Why a row's values belong together</h2>
 *
 * Each row has two counts: {@code BEGUN} is incremented before the other columns are written, {@code COUNT} after them.
 * The writer's fences order <i>begun, columns, count</i>; a reader's order <i>count, columns, begun</i>. If a reader
 * finds both counts equal, no write overlapped its loads. If a write had begun, {@code BEGUN} would show it; a write
 * that had ended earlier was complete when {@code COUNT} was read.
 *
 * <h2>The layout of a row</h2>
 *
 * Between two samples an engine reads its weights, so nothing of a table is in a cache, and the cost of a sample is the
 * number of cache lines and pages that it has to wait for. All columns of a sample are therefore eight adjacent longs.
 * With percentiles, eight further longs follow: the {@link BucketLog} of the row's latest samples. When the log is
 * full, its samples are counted in the row's buckets, which are on other pages.
 *
 * <h2>Phases</h2>
 *
 * Each phase has rows of its own, created with its first sample. The writer records in the rows of the selected phase.
 * {@link #use} selects a phase by exchanging a few fields, so the path of a sample is the same in every phase. A
 * selection is valid for one state of the profiler, see {@link #addTimed}.
 */
public final class StatTable extends PerThread.Owned {

    static final int BEGUN = 0;
    static final int COUNT = 1;
    static final int TOTAL_NS = 2;
    static final int MIN_NS = 3;
    static final int MAX_NS = 4;
    static final int LAST_NS = 5;
    static final int LAST_AT_NS = 6;
    static final int ELEMENTS = 7;

    // The columns that only few samples have are in an array of their own. The first such sample creates it.
    static final int BYTES = 0;
    static final int COMPRESSED_BYTES = 1;
    static final int CYCLES = 2;
    static final int MIN_CYCLES = 3;
    static final int MAX_CYCLES = 4;
    static final int WORK = 5;
    static final int MAX_TAG = 6;
    static final int CYCLE_SAMPLES = 7;

    /**
     * If the number of elements has more bits than this, the sample goes through {@link #add}, which keeps sums from
     * wrapping. {@link #addTimed} checks this together with the sign, in one comparison.
     */
    private static final int LARGE_BITS = 32;

    /**
     * A longer sample goes through {@link #add}, which keeps sums from wrapping, or is unresolved. Samples that are not
     * longer, and have no more elements, wrap a sum only after 2<sup>31</sup> of them have followed the sample that
     * exceeded it; until then readers see the overflow.
     */
    private static final long LONG_NS = 1L << LARGE_BITS;

    /** The binary logarithm of the number of columns of a row. There are as many as a cache line has longs. */
    private static final int COLUMNS_SHIFT = 3;

    private static final int COLUMNS = 1 << COLUMNS_SHIFT;

    /** The same for a row with the log of its latest samples. */
    private static final int LOGGED_SHIFT = COLUMNS_SHIFT + 1;

    /**
     * The state of a profiler that is off. No phase is selected for it, so {@link #addTimed} with this state records in
     * the phase that {@link #use} selected; in a table without phases, this is the only state.
     */
    public static final int NO_STATE = 0;

    private static final long[] NO_ROWS = {};

    static final VarHandle CELL = MethodHandles.arrayElementVarHandle(long[].class);

    private static final VarHandle ROWS;
    private static final VarHandle BUCKETS;
    private static final VarHandle EXTRAS;
    private static final VarHandle PHASES = MethodHandles.arrayElementVarHandle(Part[].class);

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ROWS = lookup.findVarHandle(Part.class, "rows", long[].class);
            BUCKETS = lookup.findVarHandle(Part.class, "buckets", long[][].class);
            EXTRAS = lookup.findVarHandle(Part.class, "extras", long[].class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final PendingQueue pending;

    /** Receives each sample as a span, too; null without tracing. */
    private final @Nullable SpanWriter spans;

    private final @Nullable NameTable names;

    /** The number of samples that need not be the writer's own. */
    private long foreign;

    /** The binary logarithm of the number of longs per row. */
    private final int shift;

    /** The rows of each phase, {@link PhaseKey#NO_PHASE} first; null if the phase has no sample. */
    private final @Nullable Part[] parts = new Part[PhaseKey.PHASES];

    // The selected phase. These fields are the writer's alone.

    private Part part;
    private int phase;

    /** The rows and buckets of the part, repeated here to save a load. */
    private long[] rows;

    private long @Nullable [] @Nullable [] buckets;

    /** The state of the profiler for which the phase was selected. */
    private int selectedFor = NO_STATE;

    /** The lane that also holds the rows; null if there is none. */
    private @Nullable Lane lane;

    /** Holds the rows of a table until the table reports that they may have changed. */
    @FunctionalInterface
    public interface Lane {
        /** Forgets the rows. Called by the writer alone. */
        void close();
    }

    /** The rows of one phase. Only the writer replaces the arrays, with release, by longer copies. */
    private static final class Part {
        /** Has rows only for keys in use. */
        private long[] rows;

        /** The further columns of each row; null until a sample has one of them. */
        private long @Nullable [] extras;

        /** The buckets of each row, null if percentiles are off; a row's own buckets come with its first sample. */
        private long @Nullable [] @Nullable [] buckets;

        Part(int rowCount, int shift) {
            rows = emptyRows(rowCount, shift);
            buckets = shift == LOGGED_SHIFT ? new long[rowCount][] : null;
        }
    }

    /**
     * Creates an empty table.
     *
     * @param owner the only thread that may write, or null for a shared table, which its current holder writes
     * @param rowCount the initial number of rows
     * @param withBuckets whether durations are also counted in {@link LatencyBuckets}
     * @param pending the queue of deferred measurements of the same writer
     * @param spans the timeline of the same writer, or null without one
     * @param names the names whose keys may have rows, or null if every key may
     */
    StatTable(
            @Nullable Thread owner,
            int rowCount,
            boolean withBuckets,
            PendingQueue pending,
            @Nullable SpanWriter spans,
            @Nullable NameTable names) {
        super(owner);
        this.pending = pending;
        this.spans = spans;
        this.names = names;
        this.shift = withBuckets ? LOGGED_SHIFT : COLUMNS_SHIFT;
        Part first = new Part(rowCount, shift);
        this.part = first;
        this.rows = first.rows;
        this.buckets = first.buckets;
        PHASES.setRelease(parts, PhaseKey.NO_PHASE, first);
    }

    private static long[] emptyRows(int rowCount, int shift) {
        long[] cells = new long[rowCount << shift];
        initialise(cells, 0, shift);
        return cells;
    }

    private static long[] emptyExtras(int length) {
        long[] cells = new long[length];
        initialiseExtras(cells, 0);
        return cells;
    }

    private static void initialise(long[] cells, int from, int shift) {
        for (int base = from; base < cells.length; base += 1 << shift) {
            cells[base + MIN_NS] = Long.MAX_VALUE;
            cells[base + LAST_AT_NS] = Long.MIN_VALUE;
        }
    }

    private static void initialiseExtras(long[] cells, int from) {
        for (int base = from; base < cells.length; base += COLUMNS) {
            cells[base + MIN_CYCLES] = Long.MAX_VALUE;
            cells[base + MAX_TAG] = StatRow.NO_TAG;
        }
    }

    // ---- the writer ----

    /**
     * Selects the phase whose rows receive the next samples. If another phase was selected before, no phase is selected
     * for any state afterwards, see {@link #deselect}. Only the writer.
     *
     * @param number the number of the phase, or {@link PhaseKey#NO_PHASE}
     */
    public void use(int number) {
        if (number != phase) {
            Part next = parts[number];
            if (next == null) {
                next = new Part(rows.length >>> shift, shift);
                PHASES.setRelease(parts, number, next);
            }
            part = next;
            phase = number;
            rows = next.rows;
            buckets = next.buckets;
            deselect();
        }
    }

    /**
     * Selects the phase of the timed samples that the writer adds while the profiler is in a state. Only the writer.
     *
     * @param number the number of the phase, or {@link PhaseKey#NO_PHASE}
     * @param state the state, not {@link #NO_STATE}
     */
    public void select(int number, int state) {
        use(number);
        selectedFor = state;
    }

    /**
     * Requires that the phase is selected again before the next timed sample, and closes the lane. A lane never closes
     * otherwise: a phase that stayed selected behind a closed lane would outlive the writer's step. Only the writer.
     */
    public void deselect() {
        selectedFor = NO_STATE;
        Lane open = lane;
        if (open != null) {
            lane = null;
            open.close();
        }
    }

    /**
     * Returns the rows of the selected phase, for the static {@link #addTimed(long[], boolean, long, long, long)}. Only
     * the writer.
     *
     * @param holder holds the rows; closed by {@link #deselect}, also when these are no longer the rows of the phase
     * @return the rows
     */
    public long[] openLane(Lane holder) {
        lane = holder;
        return rows;
    }

    /**
     * Returns whether the phase was selected for a state. Only the writer.
     *
     * @param state the state
     * @return true if {@link #phase} is the phase of the writer's samples
     */
    public boolean isSelectedFor(int state) {
        return selectedFor == state;
    }

    /**
     * Returns the phase that is selected. Only the writer.
     *
     * @return its number, or {@link PhaseKey#NO_PHASE}
     */
    public int phase() {
        return phase;
    }

    /**
     * Adds the sample of a timer; nearly all samples take this path. Only the writer.
     *
     * @param state the state of the profiler. It differs from the state for which the phase was selected if the writer
     *     may work for another phase now
     * @param timer a {@link TimerToken}
     * @param nowNs the clock when it was stopped
     * @param elementCount elements it processed
     * @return false, without adding anything, if the phase has to be selected, this table has no row for the timer yet,
     *     the time is long or unresolved, or the elements are negative or so many that their sum may wrap
     */
    public boolean addTimed(int state, long timer, long nowNs, long elementCount) {
        if (state != selectedFor) {
            return false;
        }
        int key = TimerToken.key(timer);
        long elapsedNs = TimerToken.passedNs(timer, nowNs);
        if (!addTimed(rows, logs(), timer, nowNs, elementCount)) {
            if (!logs()
                    || key < 0
                    || key << shift >= rows.length
                    || elementCount >>> LARGE_BITS != 0
                    || elapsedNs > LONG_NS) {
                return false;
            }
            addUntraced(key, elapsedNs, nowNs, elementCount);
        }
        addSampleSpan(SpanKind.SPAN, key, nowNs - elapsedNs, elapsedNs, elementCount);
        return true;
    }

    /**
     * Adds the sample of a timer to rows alone. Only the writer.
     *
     * @param cells the rows that {@link #openLane} returned
     * @param logs whether the rows have logs, as in a table with buckets
     * @param timer a {@link TimerToken}
     * @param nowNs the clock when it was stopped
     * @param elementCount elements it processed
     * @return false, without adding anything, if the row does not exist or is new, its log would be full, the time is
     *     long or unresolved, or the elements are negative or so many that their sum may wrap
     */
    public static boolean addTimed(long[] cells, boolean logs, long timer, long nowNs, long elementCount) {
        int key = TimerToken.key(timer);
        int base = logs ? key << LOGGED_SHIFT : key << COLUMNS_SHIFT;
        if (base < 0 || base >= cells.length || elementCount >>> LARGE_BITS != 0) {
            return false;
        }
        if (logs && BucketLog.needsBuckets(cells[base + COUNT])) {
            return false;
        }
        long elapsedNs = TimerToken.passedNs(timer, nowNs);
        if (elapsedNs > LONG_NS) {
            return false;
        }
        long count = begin(cells, base);
        addTime(cells, base, elapsedNs, nowNs, elementCount);
        if (logs) {
            BucketLog.add(cells, base + COLUMNS, count, LatencyBuckets.indexOf(elapsedNs));
        }
        end(cells, base, count);
        return true;
    }

    /**
     * Adds a sample. Only the writer; the arguments are not checked. Creates the row first if it is new to this table;
     * only this allocates.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elementCount elements it processed
     */
    public void add(int key, long elapsedNs, long atNs, long elementCount) {
        addUntraced(key, elapsedNs, atNs, elementCount);
        addSampleSpan(SpanKind.SPAN, key, atNs - elapsedNs, elapsedNs, elementCount);
    }

    /** Adds a sample whose end became known later, at a synchronisation. Only the writer. */
    void addDeferred(int key, long startNs, long elapsedNs, long atNs, long elementCount) {
        addUntraced(key, elapsedNs, atNs, elementCount);
        addSampleSpan(SpanKind.DEFERRED, key, startNs, elapsedNs, elementCount);
    }

    /** Adds a sample to the sums, but not to a timeline. Only the writer. */
    private void addUntraced(int key, long elapsedNs, long atNs, long elementCount) {
        long[] cells = rowsFor(key);
        int base = key << shift;
        long count = begin(cells, base);
        addTimeLimited(cells, base, count, elapsedNs, atNs, elementCount);
        end(cells, base, count);
    }

    /**
     * Adds a sample that need not be one of the writer's own, such as a sample of a device. It counts in the sums but
     * is on no timeline, and does not make the writer a thread that recorded. Only the writer.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elementCount elements it processed
     */
    public void addForeign(int key, long elapsedNs, long atNs, long elementCount) {
        // Incremented before the row's count, so that a reader that sees the sample in the row sees it here, too.
        foreign++;
        addUntraced(key, elapsedNs, atNs, elementCount);
    }

    /**
     * Adds a sample of the selected phase that {@link #addTimed(long[], boolean, long, long, long)} has added to its
     * row to the timeline, too. Only the writer.
     *
     * @param timer its timer, a {@link TimerToken}
     * @param nowNs the clock when it was stopped
     * @param elementCount elements it processed
     */
    public void addTimedSpan(long timer, long nowNs, long elementCount) {
        long elapsedNs = TimerToken.passedNs(timer, nowNs);
        addSampleSpan(SpanKind.SPAN, TimerToken.key(timer), nowNs - elapsedNs, elapsedNs, elementCount);
    }

    /** Adds a sample of the selected phase to the timeline. */
    private void addSampleSpan(SpanKind kind, int key, long startNs, long elapsedNs, long elementCount) {
        addSpan(kind, PhaseKey.of(phase, key), startNs, elapsedNs, elementCount);
    }

    /** Adds an entry to the timeline of this table's writer, if there is one. Only the writer. */
    void addSpan(SpanKind kind, int row, long startNs, long elapsedNs, long value) {
        SpanWriter line = spans;
        if (line != null) {
            line.add(kind, row, startNs, elapsedNs, value);
        }
    }

    /** Returns the id of the writer's timeline; 0 if there is none. */
    long lineId() {
        return spans == null ? 0 : spans.lineId();
    }

    /**
     * Adds a sample with the bytes that went in and came out. Only the writer.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elementCount elements it processed
     * @param inputBytes bytes before compression
     * @param outputBytes bytes after compression
     */
    public void addBytes(int key, long elapsedNs, long atNs, long elementCount, long inputBytes, long outputBytes) {
        long[] cells = rowsFor(key);
        int base = key << shift;
        long[] more = extrasFor(key);
        int further = key << COLUMNS_SHIFT;
        long count = begin(cells, base);
        addTimeLimited(cells, base, count, elapsedNs, atNs, elementCount);
        addLimited(more, further + BYTES, inputBytes);
        addLimited(more, further + COMPRESSED_BYTES, outputBytes);
        end(cells, base, count);
        addSampleSpan(SpanKind.SPAN, key, atNs - elapsedNs, elapsedNs, elementCount);
    }

    /**
     * Adds a sample with its processor cycles. Only the writer. Zero cycles mean that none were measured.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elementCount elements it processed
     * @param cycleCount cycles it took
     */
    public void addCycles(int key, long elapsedNs, long atNs, long elementCount, long cycleCount) {
        long[] cells = rowsFor(key);
        int base = key << shift;
        long[] more = extrasFor(key);
        int further = key << COLUMNS_SHIFT;
        long count = begin(cells, base);
        addTimeLimited(cells, base, count, elapsedNs, atNs, elementCount);
        if (cycleCount > 0) {
            more[further + CYCLE_SAMPLES]++;
            addLimited(more, further + CYCLES, cycleCount);
            more[further + MIN_CYCLES] = Math.min(more[further + MIN_CYCLES], cycleCount);
            more[further + MAX_CYCLES] = Math.max(more[further + MAX_CYCLES], cycleCount);
        }
        end(cells, base, count);
        addSampleSpan(SpanKind.SPAN, key, atNs - elapsedNs, elapsedNs, elementCount);
    }

    /**
     * Adds a sample with an amount of work and a tag; the row keeps the tag of its longest sample. Only the writer.
     *
     * @param key the row, 0 or more
     * @param elapsedNs its duration, ns
     * @param atNs the clock when it ended
     * @param elementCount elements it processed
     * @param workCount units of work it did
     * @param tag the tag of the sample, 0 or more
     */
    public void addWork(int key, long elapsedNs, long atNs, long elementCount, long workCount, long tag) {
        long[] cells = rowsFor(key);
        int base = key << shift;
        long[] more = extrasFor(key);
        int further = key << COLUMNS_SHIFT;
        long count = begin(cells, base);
        // Of equally long samples the greater tag is kept, as in StatRow.plus: the result must not depend on the order
        // of the threads.
        long longest = cells[base + MAX_NS];
        if (elapsedNs > longest || (elapsedNs == longest && tag > more[further + MAX_TAG])) {
            more[further + MAX_TAG] = tag;
        }
        addTimeLimited(cells, base, count, elapsedNs, atNs, elementCount);
        addLimited(more, further + WORK, workCount);
        end(cells, base, count);
        addSampleSpan(SpanKind.SPAN, key, atNs - elapsedNs, elapsedNs, elementCount);
    }

    /**
     * Adds amounts without a duration. Only the writer.
     *
     * @param key the row, 0 or more
     * @param size a size; the row's longest duration is the largest of these
     * @param elementCount added to the elements
     * @param inputBytes added to the bytes before compression
     * @param outputBytes added to the bytes after compression
     * @param workCount added to the work
     */
    public void addAmounts(int key, long size, long elementCount, long inputBytes, long outputBytes, long workCount) {
        long[] cells = rowsFor(key);
        int base = key << shift;
        long[] more = extrasFor(key);
        int further = key << COLUMNS_SHIFT;
        long count = begin(cells, base);
        addTimeLimited(cells, base, count, size, 0, elementCount);
        addLimited(more, further + BYTES, inputBytes);
        addLimited(more, further + COMPRESSED_BYTES, outputBytes);
        addLimited(more, further + WORK, workCount);
        end(cells, base, count);
    }

    private static long begin(long[] cells, int base) {
        long count = cells[base + COUNT] + 1;
        CELL.setOpaque(cells, base + BEGUN, count);
        VarHandle.storeStoreFence();
        return count;
    }

    /** Adds a time as {@link #addTime} does, but sums saturate at 2<sup>63</sup> - 1. Logs the sample, too. */
    private void addTimeLimited(long[] cells, int base, long count, long elapsedNs, long atNs, long elementCount) {
        long totalNs = Sums.limited(Sums.limited(cells[base + TOTAL_NS]), elapsedNs);
        long elements = Sums.limited(Sums.limited(cells[base + ELEMENTS]), elementCount);
        addTime(cells, base, elapsedNs, atNs, elementCount);
        cells[base + TOTAL_NS] = totalNs;
        cells[base + ELEMENTS] = elements;
        if (logs()) {
            log(cells, base, count, elapsedNs);
        }
    }

    private static void addLimited(long[] cells, int cell, long amount) {
        cells[cell] = Sums.limited(cells[cell], amount);
    }

    /**
     * Adds without limits: a sum that passes 2<sup>63</sup> - 1 becomes negative, which readers recognise as an
     * overflow.
     */
    private static void addTime(long[] cells, int base, long elapsedNs, long atNs, long elementCount) {
        cells[base + TOTAL_NS] += elapsedNs;
        if (elapsedNs < cells[base + MIN_NS]) {
            cells[base + MIN_NS] = elapsedNs;
        }
        if (elapsedNs > cells[base + MAX_NS]) {
            cells[base + MAX_NS] = elapsedNs;
        }
        cells[base + LAST_NS] = elapsedNs;
        cells[base + LAST_AT_NS] = atNs;
        cells[base + ELEMENTS] += elementCount;
    }

    private boolean logs() {
        return shift == LOGGED_SHIFT;
    }

    /** Logs the bucket of a sample, which is number {@code count} of its row; counts the samples of a full log. */
    private void log(long[] cells, int base, long count, long elapsedNs) {
        int bucket = LatencyBuckets.indexOf(elapsedNs);
        if (BucketLog.add(cells, base + COLUMNS, count, bucket)) {
            BucketLog.count(cells, base + COLUMNS, BucketLog.CAPACITY, bucketsOf(base >>> shift));
        }
    }

    private static void end(long[] cells, int base, long count) {
        CELL.setRelease(cells, base + COUNT, count);
    }

    /** Returns the buckets of a row, which percentiles need. */
    private long[] bucketsOf(int key) {
        long[] @Nullable [] all = Objects.requireNonNull(buckets, "buckets");
        long[] row = all[key];
        if (row == null) {
            row = new long[LatencyBuckets.COUNT];
            all[key] = row;
        }
        return row;
    }

    /**
     * Returns the rows, after creating the row of a key and its buckets if they are missing. Called before the row's
     * write begins, because an allocation may fail.
     */
    private long[] rowsFor(int key) {
        long[] cells = rows;
        if (key << shift >= cells.length) {
            cells = grow(key);
        }
        if (logs() && cells[(key << shift) + COUNT] == 0) {
            bucketsOf(key);
        }
        return cells;
    }

    private long[] grow(int key) {
        long[] old = rows;
        int oldCount = old.length >>> shift;
        int inUse = names == null ? TimerToken.MAX_KEY + 1 : names.size();
        int newCount = Math.max(key + 1, Math.min(inUse, oldCount + oldCount / 2));
        long[] longer = Arrays.copyOf(old, newCount << shift);
        initialise(longer, old.length, shift);
        long @Nullable [] @Nullable [] oldBuckets = buckets;
        if (oldBuckets != null) {
            buckets = Arrays.copyOf(oldBuckets, newCount);
            BUCKETS.setRelease(part, buckets);
        }
        rows = longer;
        ROWS.setRelease(part, longer);
        deselect();
        return longer;
    }

    /**
     * Returns the further columns, after creating those of a key that has a row. Called before the row's write begins.
     */
    private long[] extrasFor(int key) {
        long[] more = part.extras;
        return more != null && key << COLUMNS_SHIFT < more.length ? more : growExtras(more);
    }

    private long[] growExtras(long @Nullable [] old) {
        int length = rows.length >>> shift << COLUMNS_SHIFT;
        long[] longer = old == null ? emptyExtras(length) : Arrays.copyOf(old, length);
        if (old != null) {
            initialiseExtras(longer, old.length);
        }
        EXTRAS.setRelease(part, longer);
        return longer;
    }

    /**
     * Returns the number of samples of a row, in all phases. Only the writer.
     *
     * @param key the row
     * @return 0 or more
     */
    public long count(int key) {
        long count = 0;
        for (Part each : parts) {
            count += each == null ? 0 : count(each.rows, key << shift);
        }
        return count;
    }

    private static long count(long[] cells, int base) {
        return base < cells.length ? cells[base + COUNT] : 0;
    }

    /** Returns the rows of the phase in which a row has its latest sample; the selected ones if it has none. */
    private long[] latest(int key) {
        int base = key << shift;
        long[] latest = rows;
        for (Part each : parts) {
            if (each != null
                    && count(each.rows, base) > 0
                    && (count(latest, base) == 0 || each.rows[base + LAST_AT_NS] - latest[base + LAST_AT_NS] > 0)) {
                latest = each.rows;
            }
        }
        return latest;
    }

    /**
     * Returns the duration of the latest sample of a row. Only the writer.
     *
     * @param key the row
     * @return ns, -1 if there is none
     */
    public long latestNs(int key) {
        long[] cells = latest(key);
        return count(cells, key << shift) > 0 ? cells[(key << shift) + LAST_NS] : -1;
    }

    /**
     * Returns when the latest sample of a row began. Only the writer.
     *
     * @param key a row that has a sample
     * @return the clock, ns
     */
    public long latestBeganNs(int key) {
        long[] cells = latest(key);
        int base = key << shift;
        return cells[base + LAST_AT_NS] - cells[base + LAST_NS];
    }

    /**
     * Returns when the latest sample of a row ended. Only the writer.
     *
     * @param key the row
     * @return the clock, ns; {@link Long#MIN_VALUE} if it has none
     */
    public long latestEndedNs(int key) {
        long[] cells = latest(key);
        return count(cells, key << shift) > 0 ? cells[(key << shift) + LAST_AT_NS] : Long.MIN_VALUE;
    }

    /**
     * Returns whether no row has a sample that ended later than the latest sample of a given row. Reads every row. Only
     * the writer.
     *
     * @param key the row
     * @return false if the row has no sample, or another row has a later one
     */
    public boolean isLatest(int key) {
        long[] own = latest(key);
        if (count(own, key << shift) == 0) {
            return false;
        }
        long endedNs = own[(key << shift) + LAST_AT_NS];
        return !hasSample((cells, base) -> cells[base + LAST_AT_NS] - endedNs > 0);
    }

    /**
     * Returns whether some row's latest sample began at a time or later. Reads every row. Only the writer.
     *
     * @param ns the clock
     * @return true if there is such a row
     */
    public boolean hasBegunSince(long ns) {
        return hasSample((cells, base) -> cells[base + LAST_AT_NS] - cells[base + LAST_NS] - ns >= 0);
    }

    /** A condition on a row that has samples. */
    private interface RowCondition {
        boolean test(long[] cells, int base);
    }

    private boolean hasSample(RowCondition question) {
        for (Part each : parts) {
            long[] cells = each == null ? NO_ROWS : each.rows;
            for (int base = 0; base < cells.length; base += 1 << shift) {
                if (cells[base + COUNT] > 0 && question.test(cells, base)) {
                    return true;
                }
            }
        }
        return false;
    }

    // ---- any thread ----

    /** Returns the deferred measurements of this table's writer. */
    PendingQueue pending() {
        return pending;
    }

    /** Returns the number of rows of a phase; 0 if it has no sample. */
    int rowCount(int number) {
        return cells(number).length >>> shift;
    }

    /** Returns the number of rows of the phase that has the most. */
    int rowCount() {
        int most = 0;
        for (int number = 0; number < PhaseKey.PHASES; number++) {
            most = Math.max(most, rowCount(number));
        }
        return most;
    }

    /** Returns the number of samples that need not be the writer's own. */
    long foreignCount() {
        return foreign;
    }

    /**
     * Returns whether a sample was ever added. Reads the count that is written last, with release: a reader that sees
     * it also sees everything that the writer wrote before, even to other tables.
     */
    boolean isWritten() {
        for (int number = 0; number < PhaseKey.PHASES; number++) {
            long[] cells = cells(number);
            for (int base = 0; base < cells.length; base += 1 << shift) {
                if ((long) CELL.getAcquire(cells, base + COUNT) != 0) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns whether a sample was ever added to a row of a phase, or is being added. */
    boolean isBegun(int number, int key) {
        long[] cells = cells(number);
        int base = base(key);
        return base < cells.length && (long) CELL.getOpaque(cells, base + BEGUN) != 0;
    }

    /** Returns whether durations are counted in buckets, too: each row that has a sample then has buckets. */
    boolean withBuckets() {
        return logs();
    }

    /** Returns the place of a row's columns in {@link #cells}. */
    int base(int key) {
        return key << shift;
    }

    /** Returns the place of the log of a row's latest samples in {@link #cells}. Only for a table with buckets. */
    int log(int key) {
        return base(key) + COLUMNS;
    }

    /** Returns the place of a row's further columns in {@link #extras}. */
    static int extrasBase(int key) {
        return key << COLUMNS_SHIFT;
    }

    /**
     * Adds the time of each row's samples of a phase to the sum of its key's tag. A sample that is being added may or
     * may not be included.
     *
     * @return a negative number if a sum has reached its limit, so that the sums are not exact; otherwise 0 or more
     */
    long addTotalsNs(int number, byte[] tags, long[] totalsNs, int from) {
        // The writer finds its rows with fewer loads.
        long[] cells = number == phase && isOf(Thread.currentThread()) ? rows : cells(number);
        int stride = 1 << shift;
        long signs = 0;
        for (int key = 0, at = TOTAL_NS; at < cells.length; key++, at += stride) {
            // Acquired before the tag is read, because the tag is written before the first sample.
            long totalNs = (long) CELL.getAcquire(cells, at);
            signs |= addExactly(totalsNs, from + tags[key], totalNs);
        }
        return signs;
    }

    /**
     * Adds a sum to another one.
     *
     * @return a negative number if one of them has reached its limit; otherwise 0 or more
     */
    static long addExactly(long[] sumsNs, int at, long totalNs) {
        long sumNs = sumsNs[at] + totalNs;
        sumsNs[at] = sumNs;
        // A sum that stays at its limit becomes negative by one more.
        return sumNs | totalNs | (totalNs + 1);
    }

    /** Removes all samples. Only the writer. */
    void clear() {
        int rowCount = rowCount();
        foreign = 0;
        for (int number = 1; number < PhaseKey.PHASES; number++) {
            PHASES.setRelease(parts, number, (Part) null);
        }
        Part first = new Part(rowCount, shift);
        PHASES.setRelease(parts, PhaseKey.NO_PHASE, first);
        part = first;
        phase = PhaseKey.NO_PHASE;
        rows = first.rows;
        buckets = first.buckets;
        deselect();
    }

    /** Returns an empty table of the same writer, with the same number of rows. */
    StatTable renewed() {
        return new StatTable(owner(), rowCount(), logs(), pending, spans, names);
    }

    /**
     * Returns the values of a row as they stood at one moment, in all phases, without its buckets.
     *
     * @param key the row
     * @return the values
     */
    public StatRow read(int key) {
        StatRow sum = StatRow.EMPTY;
        for (int number = 0; number < PhaseKey.PHASES; number++) {
            sum = sum.plus(read(number, key));
        }
        return sum;
    }

    /** Returns the values of a row of a phase as they stood at one moment, without its buckets. */
    StatRow read(int number, int key) {
        return RowReader.read(this, number, key, null, false).build();
    }

    private @Nullable Part part(int number) {
        return (Part) PHASES.getAcquire(parts, number);
    }

    /** Returns the rows of a phase as they are now; only the writer changes them. */
    long[] cells(int number) {
        Part of = part(number);
        return of == null ? NO_ROWS : (long[]) ROWS.getAcquire(of);
    }

    /** Returns the further columns of a phase; null if no sample has one of them. */
    long @Nullable [] extras(int number) {
        Part of = part(number);
        return of == null ? null : (long[]) EXTRAS.getAcquire(of);
    }

    /** Returns the buckets of a row of a phase, or null if it has none; only the writer changes them. */
    long @Nullable [] buckets(int number, int key) {
        Part of = part(number);
        long @Nullable [] @Nullable [] all = of == null ? null : (long[][]) BUCKETS.getAcquire(of);
        return all == null || key >= all.length ? null : all[key];
    }
}
