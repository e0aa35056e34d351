package org.brickprofiler.tile;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.brickprofiler.internal.record.RowCounts;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.StatRow;
import org.brickprofiler.internal.record.StatSums;
import org.brickprofiler.internal.record.StatTable;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.spi.Tracing;
import org.jspecify.annotations.Nullable;

/**
 * Times tiles, by level. Recording is off until enabled; a call then does almost nothing. While recording is on, a tile
 * costs two clock reads and one row of the calling thread's table, without a lock and without allocation.
 *
 * <p>Every method may be called from any thread. A timer may be stopped on another thread than the one that started it.
 * A timer is a value; stopping it twice counts twice. A timer that was started while recording was off is void.
 *
 * <p>The timer carries level, row, column and start in one {@code long}. Larger rows and columns than
 * {@link #LARGEST_TIMED_INDEX} count as that index. If neither exceeds {@link #LARGEST_SHORT_INDEX}, the timer holds up
 * to 4.8 hours, otherwise 33 seconds. A tile that takes longer is unresolved: {@link TileStats#unresolved} counts it,
 * and it is in no sum. Times are known only modulo 9.7 hours and 34.3 seconds, so a tile of 40 seconds at row 100
 * counts as 5.6 seconds, which cannot be noticed. Use {@link #record} for anything larger. A brick's timer is void
 * here, and a tile's timer is void for bricks.
 *
 * <p>{@link #recordPlaces} adds statistics by place in the grid.
 */
public final class TileProfiler {

    /** The largest row or column that a timer can hold. */
    public static final int LARGEST_TIMED_INDEX = (1 << 13) - 1;

    /** If neither row nor column is larger, a timer holds hours instead of seconds. */
    public static final int LARGEST_SHORT_INDEX = (1 << 6) - 1;

    private static final List<TileLevel> LEVELS = List.of(TileLevel.values());

    private final NanoClock clock;
    private final TableRegistry registry;

    /** The tiles of each level whose timer could not hold their time. */
    private final RowCounts unresolved = new RowCounts();

    private volatile boolean enabled;

    /** Null until tiles are recorded by place. */
    private volatile @Nullable Places places;

    /**
     * Creates a profiler for tiles, switched off, whose tiles are not kept as spans.
     *
     * @param clock the clock it reads
     */
    public TileProfiler(NanoClock clock) {
        this(clock, null);
    }

    /**
     * Creates a profiler for tiles, switched off.
     *
     * @param clock the clock it reads
     * @param tracing the recorder that also keeps the tiles as spans, or null
     * @throws IllegalArgumentException when the recorder does not come from this library
     */
    public TileProfiler(NanoClock clock, @Nullable Tracing tracing) {
        Objects.requireNonNull(clock, "clock");
        this.clock = clock;
        SpanStore spans = tracing == null ? null : SpanSinks.of(tracing).tiles(new Names());
        this.registry = new TableRegistry(LEVELS.size(), false, null, spans, null);
    }

    /** Switches recording on, unless {@code BRICK_PROFILER=off} or its property switches off the whole profiler. */
    public void enable() {
        enabled = SwitchSetting.ofProfiler().on();
    }

    /** Switches recording off and keeps the statistics. */
    public void disable() {
        enabled = false;
    }

    /**
     * Returns whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}; always false if {@code BRICK_PROFILER=off} or its
     *     property switches off the whole profiler
     */
    public boolean isEnabled() {
        return enabled;
    }

    /**
     * Starts timing a tile.
     *
     * @param level its level
     * @param row its row in the grid of tiles, 0 or more
     * @param col its column, 0 or more
     * @return the timer, for {@link #stop}; void while recording is off
     * @throws IllegalArgumentException when the row or the column is negative
     */
    public long start(TileLevel level, int row, int col) {
        Objects.requireNonNull(level, "level");
        requireNotNegative("row", row);
        requireNotNegative("col", col);
        if (!enabled) {
            return TimerToken.VOID;
        }
        long startNs = clock.nanoTime();
        return (row | col) <= LARGEST_SHORT_INDEX
                ? ShortToken.pack(level.index(), row, col, startNs)
                : LongToken.pack(
                        level.index(), Math.min(row, LARGEST_TIMED_INDEX), Math.min(col, LARGEST_TIMED_INDEX), startNs);
    }

    /**
     * The timer of a tile whose row and column are small. {@link TimerToken#FOREIGN} is bit 12.
     *
     * <pre>
     *   63                           19 18  13  12   11  10 9    4 3     2 1 0
     *  +-------------------------------+------+----+-------+------+-------+---+
     *  | start: low 45 bits, ns        | row  | 1  |   0   | col  | level | 3 |
     *  +-------------------------------+------+----+-------+------+-------+---+
     * </pre>
     */
    private static final class ShortToken {
        private static final long KIND = 3;
        private static final long LEVEL_MASK = 3;
        private static final int LEVEL_SHIFT = 2;
        private static final int COL_SHIFT = 4;
        private static final int ROW_SHIFT = 13;
        private static final int START_SHIFT = 19;
        private static final long BELOW_START = (1L << START_SHIFT) - 1;
        private static final long RANGE_NS = 1L << (Long.SIZE - START_SHIFT);
        private static final long LONGEST_NS = RANGE_NS / 2;

        static long pack(int level, int row, int col, long startNs) {
            return startNs << START_SHIFT
                    | (long) row << ROW_SHIFT
                    | TimerToken.FOREIGN
                    | (long) col << COL_SHIFT
                    | (long) level << LEVEL_SHIFT
                    | KIND;
        }

        static boolean is(long timer) {
            return (timer & KIND) == KIND;
        }

        static int level(long timer) {
            return (int) (timer >>> LEVEL_SHIFT & LEVEL_MASK);
        }

        static int row(long timer) {
            return (int) (timer >>> ROW_SHIFT) & LARGEST_SHORT_INDEX;
        }

        static int col(long timer) {
            return (int) (timer >>> COL_SHIFT) & LARGEST_SHORT_INDEX;
        }

        static long elapsedNs(long timer, long nowNs) {
            // The minuend has all low bits set, so that the place in the subtrahend never borrows from the time.
            long passedNs = ((nowNs << START_SHIFT | BELOW_START) - timer) >>> START_SHIFT;
            return TimerToken.elapsedNs(passedNs, LONGEST_NS, RANGE_NS);
        }
    }

    /**
     * The timer of any other tile: its start, then its place (row, column, level), with {@link TimerToken#FOREIGN}
     * between the bits of the place. The level is never 3, which marks a {@link ShortToken}.
     */
    private static final class LongToken {
        private static final int LEVEL_BITS = 2;
        private static final long LEVEL_MASK = (1L << LEVEL_BITS) - 1;
        private static final int INDEX_BITS = 13;
        private static final int ROW_SHIFT = LEVEL_BITS + INDEX_BITS;
        private static final int PLACE_BITS = ROW_SHIFT + INDEX_BITS;
        private static final int START_SHIFT = PLACE_BITS + 1;
        private static final long BELOW_START = (1L << START_SHIFT) - 1;
        private static final long BELOW_FOREIGN = TimerToken.FOREIGN - 1;
        private static final long ABOVE_FOREIGN = (1L << PLACE_BITS) - TimerToken.FOREIGN;
        private static final long RANGE_NS = 1L << (Long.SIZE - START_SHIFT);
        private static final long LONGEST_NS = RANGE_NS - (1L << 30) - 1;

        static long pack(int level, int row, int col, long startNs) {
            long place = (long) row << ROW_SHIFT | (long) col << LEVEL_BITS | level;
            long low = (place & ABOVE_FOREIGN) << 1 | TimerToken.FOREIGN | (place & BELOW_FOREIGN);
            return startNs << START_SHIFT | low;
        }

        private static long place(long timer) {
            return (timer >>> 1 & ABOVE_FOREIGN) | (timer & BELOW_FOREIGN);
        }

        static int level(long timer) {
            return (int) (timer & LEVEL_MASK);
        }

        static int row(long timer) {
            return (int) (place(timer) >>> ROW_SHIFT) & LARGEST_TIMED_INDEX;
        }

        static int col(long timer) {
            return (int) (place(timer) >>> LEVEL_BITS) & LARGEST_TIMED_INDEX;
        }

        static long elapsedNs(long timer, long nowNs) {
            long passedNs = ((nowNs << START_SHIFT | BELOW_START) - timer) >>> START_SHIFT;
            return TimerToken.elapsedNs(passedNs, LONGEST_NS, RANGE_NS);
        }
    }

    /**
     * Stops a timer and records the tile.
     *
     * @param timer the timer that {@link #start} returned
     * @param elements elements the tile read or wrote, 0 or more
     * @param flops floating-point operations it did, 0 or more
     * @throws IllegalArgumentException when a number is negative; nothing is recorded then
     */
    public void stop(long timer, long elements, long flops) {
        // This bit is clear in a void timer and in a brick's timer.
        if ((timer & TimerToken.FOREIGN) == 0 || !enabled) {
            requireNotNegative("elements", elements);
            requireNotNegative("flops", flops);
            return;
        }
        long now = clock.nanoTime();
        if (!ShortToken.is(timer)) {
            long elapsedNs = LongToken.elapsedNs(timer, now);
            add(LongToken.level(timer), LongToken.row(timer), LongToken.col(timer), elapsedNs, now, elements, flops);
        } else if (ShortToken.level(timer) < LEVELS.size()) {
            long elapsedNs = ShortToken.elapsedNs(timer, now);
            add(ShortToken.level(timer), ShortToken.row(timer), ShortToken.col(timer), elapsedNs, now, elements, flops);
        }
    }

    /**
     * Records a tile that was timed elsewhere.
     *
     * @param level its level
     * @param row its row in the grid of tiles, 0 or more
     * @param col its column, 0 or more
     * @param elapsedNs its duration, ns, 0 or more
     * @param elements elements it read or wrote, 0 or more
     * @param flops floating-point operations it did, 0 or more
     * @throws IllegalArgumentException when a number is negative; nothing is recorded then
     */
    public void record(TileLevel level, int row, int col, long elapsedNs, long elements, long flops) {
        Objects.requireNonNull(level, "level");
        requireNotNegative("row", row);
        requireNotNegative("col", col);
        requireNotNegative("elapsedNs", elapsedNs);
        requireNotNegative("elements", elements);
        requireNotNegative("flops", flops);
        if (enabled) {
            add(level.index(), row, col, elapsedNs, clock.nanoTime(), elements, flops);
        }
    }

    private void add(int level, int row, int col, long elapsedNs, long atNs, long elements, long flops) {
        requireNotNegative("elements", elements);
        requireNotNegative("flops", flops);
        if (elapsedNs == TimerToken.UNRESOLVED) {
            countUnresolved(level, row, col);
            return;
        }
        StatTable table = registry.acquire();
        table.addWork(level, elapsedNs, atNs, elements, flops, tag(row, col));
        registry.release(table);
        Places where = places;
        if (where != null) {
            where.add(level, row, col, elapsedNs, atNs, elements, flops);
        }
    }

    private void countUnresolved(int level, int row, int col) {
        unresolved.increment(level);
        Places where = places;
        if (where != null) {
            where.unresolved.increment(where.key(level, row, col));
        }
    }

    // ---- places ----

    /**
     * Begins to record tiles by place as well as by level: the grid of each level is divided into at most 32 by 32
     * parts of whole rows and columns. Each tile then also updates a second row of its thread's sums, and each thread
     * takes up to 400 KB more. Earlier statistics by place are forgotten.
     *
     * @param rows of the grid of tiles, 1 or more; tiles of further rows count in the last part
     * @param cols of the grid, 1 or more, likewise
     * @throws IllegalArgumentException when a number is less than 1
     */
    public void recordPlaces(int rows, int cols) {
        places = new Places(new Axis("rows", rows), new Axis("cols", cols));
    }

    /**
     * Returns the statistics by place since {@link #recordPlaces} or the last reset.
     *
     * @return the parts that had tiles, by level, row and column, each consistent in itself; empty if tiles are not
     *     recorded by place
     */
    public List<TileProfiler.Place> places() {
        Places where = places;
        return where == null ? List.of() : where.all();
    }

    /** One direction of the grid, cut into parts of nearly equal length. */
    private static final class Axis {

        private static final int MOST_PARTS = 32;

        private final int length;
        private final int parts;

        Axis(String name, int length) {
            if (length < 1) {
                throw new IllegalArgumentException(name + " " + length + " is less than 1");
            }
            this.length = length;
            this.parts = Math.min(MOST_PARTS, length);
        }

        int part(int index) {
            return (int) ((long) Math.min(index, length - 1) * parts / length);
        }

        /** Returns the smallest index of a part; for the part after the last, the length. */
        int first(int part) {
            return (int) (((long) part * length + parts - 1) / parts);
        }
    }

    /** The sums of the parts of the grid, a row for each level and part. */
    private static final class Places {

        private final Axis rows;
        private final Axis cols;
        private final TableRegistry registry = new TableRegistry(1, false);
        private final RowCounts unresolved = new RowCounts();

        Places(Axis rows, Axis cols) {
            this.rows = rows;
            this.cols = cols;
        }

        void add(int level, int row, int col, long elapsedNs, long atNs, long elements, long flops) {
            StatTable table = registry.acquire();
            table.addWork(key(level, row, col), elapsedNs, atNs, elements, flops, tag(row, col));
            registry.release(table);
        }

        int key(int level, int row, int col) {
            return keyOfPart(level, rows.part(row), cols.part(col));
        }

        private int keyOfPart(int level, int row, int col) {
            return (level * rows.parts + row) * cols.parts + col;
        }

        List<TileProfiler.Place> all() {
            StatSums sums = registry.read();
            RowCounts.Reading unknown = unresolved.read(0, keyOfPart(LEVELS.size(), 0, 0));
            List<TileProfiler.Place> found = new ArrayList<>();
            for (TileLevel level : LEVELS) {
                for (int row = 0; row < rows.parts; row++) {
                    for (int col = 0; col < cols.parts; col++) {
                        int key = keyOfPart(level.index(), row, col);
                        TileStats part = stats(level, sums.row(key), unknown.of(key));
                        if (part.count() > 0 || part.unresolved() > 0) {
                            found.add(new Place(
                                    rows.first(row),
                                    rows.first(row + 1) - 1,
                                    cols.first(col),
                                    cols.first(col + 1) - 1,
                                    part));
                        }
                    }
                }
            }
            return List.copyOf(found);
        }
    }

    private static long tag(int row, int col) {
        return (long) row << Integer.SIZE | col;
    }

    // ---- results ----

    /**
     * Returns the statistics of one level.
     *
     * @param level the level
     * @return its stats, never null
     */
    public TileStats stats(TileLevel level) {
        int row = level.index();
        return stats(
                level,
                registry.read(row, row + 1).row(row),
                unresolved.read(row, row + 1).of(row));
    }

    /**
     * Returns the statistics of every level.
     *
     * @return three stats, in order
     */
    public List<TileStats> all() {
        return snapshot().levels();
    }

    /**
     * Returns the statistics of every level and the number of recording threads.
     *
     * @return an immutable snapshot, consistent level by level
     */
    public TileProfiler.Snapshot snapshot() {
        return snapshot(registry.read(), unresolved.read(0, LEVELS.size()));
    }

    /** Forgets all statistics. A tile that is recorded at the same time counts as before or after. */
    public void reset() {
        registry.readAndReset();
        unresolved.readAndReset();
        resetPlaces();
    }

    private void resetPlaces() {
        Places where = places;
        if (where != null) {
            where.registry.readAndReset();
            where.unresolved.readAndReset();
        }
    }

    /**
     * Resets all statistics, by place as well, and returns the statistics by level until then. No tile is lost or
     * counted twice by level.
     *
     * @return the statistics since the last reset
     */
    public TileProfiler.Snapshot snapshotAndReset() {
        TileProfiler.Snapshot until = snapshot(registry.readAndReset(), unresolved.readAndReset());
        resetPlaces();
        return until;
    }

    private static TileProfiler.Snapshot snapshot(StatSums sums, RowCounts.Reading unresolved) {
        List<TileStats> levels = LEVELS.stream()
                .map(level -> stats(level, sums.row(level.index()), unresolved.of(level.index())))
                .toList();
        return new TileProfiler.Snapshot(levels, sums.threads(), sums.virtualThreads());
    }

    private static TileStats stats(TileLevel level, StatRow row, long unresolved) {
        if (row.count() == 0) {
            return TileStats.builder(level).unresolved(unresolved).build();
        }
        boolean tagged = row.maxTag() != StatRow.NO_TAG;
        return TileStats.builder(level)
                .samples(row.count(), row.totalNs(), row.minNs(), row.maxNs())
                .work(row.elements(), row.work())
                .slowest(
                        tagged ? (int) (row.maxTag() >>> Integer.SIZE) : TileStats.UNKNOWN,
                        tagged ? (int) row.maxTag() : TileStats.UNKNOWN)
                .unresolved(unresolved)
                .build();
    }

    /**
     * Returns a line for each level that has tiles, a line for each that has unresolved ones, and a line if recording
     * is off. Elements count as 4 bytes.
     *
     * @return text that ends with a line break
     */
    public String summary() {
        StringBuilder text = new StringBuilder();
        for (TileStats stats : all()) {
            if (stats.count() > 0) {
                text.append(String.format(
                        Locale.ROOT,
                        "%-5s %,d tiles, avg %.2f us (min %.2f, max %.2f at row %d, col %d), "
                                + "%.2f GFLOP/s, %.2f FLOP/B at 4 B an element\n",
                        stats.level().displayName(),
                        stats.count(),
                        stats.avgUs(),
                        stats.minUs(),
                        stats.maxUs(),
                        stats.slowestRow(),
                        stats.slowestCol(),
                        stats.gflops(),
                        stats.arithmeticIntensity()));
            }
            if (stats.unresolved() > 0) {
                text.append(String.format(
                        Locale.ROOT,
                        "%-5s %,d tiles are unresolved: their timer could not hold their time\n",
                        stats.level().displayName(),
                        stats.unresolved()));
            }
        }
        if (text.length() == 0) {
            text.append("no tiles recorded\n");
        }
        return enabled
                ? text.toString()
                : text.append("tile recording is off\n").toString();
    }

    /**
     * Returns the switch and all levels as JSON.
     *
     * @return an object with {@code tile_profiling_enabled} and {@code tiles}, an array of three objects, as in reports
     */
    public String toJson() {
        StringBuilder json = new StringBuilder("{\"tile_profiling_enabled\":")
                .append(enabled)
                .append(",\"tiles\":[");
        String separator = "";
        for (TileStats stats : all()) {
            json.append(separator)
                    .append(String.format(
                            Locale.ROOT,
                            "{\"level\":\"%s\",\"count\":%d,\"total_ns\":%d,\"avg_us\":%s,\"min_us\":%s,\"max_us\":%s,"
                                    + "\"gflops\":%s,\"arithmetic_intensity\":%s,\"total_elements\":%d,"
                                    + "\"total_flops\":%d,\"slowest_row\":%d,\"slowest_col\":%d%s}",
                            stats.level().displayName(),
                            stats.count(),
                            stats.totalNs(),
                            stats.avgUs(),
                            stats.minUs(),
                            stats.maxUs(),
                            stats.gflops(),
                            stats.arithmeticIntensity(),
                            stats.totalElements(),
                            stats.totalFlops(),
                            stats.slowestRow(),
                            stats.slowestCol(),
                            stats.unresolved() == 0 ? "" : ",\"unresolved\":" + stats.unresolved()));
            separator = ",";
        }
        return json.append("]}").toString();
    }

    /** The names under which a timeline shows tiles. */
    private static final class Names implements SpanSink.Names {

        @Override
        public int size() {
            return LEVELS.size();
        }

        @Override
        public String name(int key) {
            return LEVELS.get(key).displayName() + " tile";
        }

        @Override
        public String category(int key) {
            return "Tile";
        }
    }

    /**
     * The state of a {@link TileProfiler} at one moment. Immutable.
     *
     * @param levels one entry per level, in order
     * @param threads platform threads that recorded tiles
     * @param virtualThreads whether virtual threads recorded tiles too; they are not counted
     */
    public record Snapshot(List<TileStats> levels, int threads, boolean virtualThreads) {

        /** Makes the list unchangeable. */
        public Snapshot {
            Objects.requireNonNull(levels, "levels");
            levels = List.copyOf(levels);
        }
    }

    /**
     * The statistics of the tiles of one level in one part of their grid: see {@link #recordPlaces}. Immutable.
     *
     * @param firstRow the first row of the part
     * @param lastRow its last row; the part at the grid's end includes all further rows
     * @param firstCol its first column
     * @param lastCol its last column, likewise
     * @param stats the statistics of the tiles in it
     */
    public record Place(int firstRow, int lastRow, int firstCol, int lastCol, TileStats stats) {

        /**
         * Refuses null.
         *
         * @throws NullPointerException when a component is null; the message names it
         */
        public Place {
            Objects.requireNonNull(stats, "stats");
        }
    }
}
