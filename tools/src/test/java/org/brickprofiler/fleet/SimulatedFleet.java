package org.brickprofiler.fleet;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.commons.rng.UniformRandomProvider;
import org.apache.commons.rng.sampling.PermutationSampler;
import org.apache.commons.rng.sampling.distribution.ZigguratSampler;
import org.apache.commons.rng.simple.RandomSource;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.duckdb.DuckDBAppender;
import org.duckdb.DuckDBConnection;

/**
 * Simulates a fleet: ranks that compute and meet in collectives, with injected faults. The same seed gives the same
 * figures.
 *
 * <p>A step has {@value #SEGMENTS} segments, each of which ends in a collective. A rank enters the collective when the
 * bricks of the segment are done, and the collective ends for all once the last rank has entered. Its time on a rank is
 * that of the transfer and of the wait, from the rank's own arrival to the last one. Ranks, their hosts and their
 * bricks differ a little and permanently; windows and steps differ by chance. One window in two hundred has a stall.
 * The speed of the whole fleet varies slowly, and attention grows with the text. One thread.
 */
final class SimulatedFleet {

    static final int SEGMENTS = 4;
    static final int RANKS_A_HOST = 8;
    static final int STEPS = 16;

    /** The mean share by which a stall lengthens the bricks of a window. */
    private static final double STALL = 0.05;

    private static final double STALLED_WINDOWS = 0.005;
    private static final double RANK_SPREAD = 0.004;
    private static final double HOST_SPREAD = 0.002;
    private static final double BRICK_SPREAD = 0.006;
    private static final double WINDOW_SPREAD = 0.01;
    private static final double STEP_SPREAD = 0.01;

    private static final List<BrickId> BRICKS = List.of(BrickId.values());

    /** The bricks of the segments. */
    private static final List<BrickId> COMPUTE = BRICKS.stream()
            .filter(id -> id.category() != BrickCategory.COMMUNICATION)
            .toList();

    /** The collectives, one for the end of each segment. */
    private static final List<BrickId> COLLECTIVES = BRICKS.stream()
            .filter(id -> id.category() == BrickCategory.COMMUNICATION)
            .toList();

    private static final int LAYERS = 32;
    private static final long TRANSFER_NS = 400_000;
    private static final long WINDOW_MS = 10_000;
    private static final long START_MS = 1_767_225_600_000L;

    /**
     * The size of a fleet.
     *
     * @param run the name of its run
     * @param ranks the number of ranks
     * @param windows the number of windows of each rank
     * @param seed the seed of the random numbers
     */
    record Shape(String run, int ranks, int windows, long seed) {}

    /** The kinds of faults. */
    enum Fault {
        /** One brick of a rank takes longer. */
        BRICK,
        /** One brick of a rank takes longer in some windows. */
        BRICK_IN_WINDOWS,
        /** All bricks of a rank take longer. */
        THROTTLED,
        /** All bricks of a rank take longer in some windows. */
        SOME_WINDOWS,
        /** The collectives of the ranks of a host take longer. */
        LINK,
        /** A rank comes late, and no brick shows why. */
        UNRECORDED,
        /** All bricks of a rank take longer from window to window, up to the share in the last one. */
        DRIFT,
        /** One brick of a rank takes longer from window to window, up to the share in the last one. */
        BRICK_DRIFT
    }

    /**
     * One fault.
     *
     * @param fault the fault
     * @param where a rank, or a host for a link
     * @param brick which, for {@link Fault#BRICK}, {@link Fault#BRICK_IN_WINDOWS} and {@link Fault#BRICK_DRIFT}; else
     *     any
     * @param by how much longer, as a share of the brick's, the bricks' or the transfer's time
     * @param from the first window that has it
     * @param to the window after the last one
     */
    record Injected(Fault fault, int where, BrickId brick, double by, int from, int to) {

        boolean isIn(int window) {
            return window >= from && window < to;
        }

        /** Returns the host of the fault. */
        int host() {
            return fault == Fault.LINK ? where : where / RANKS_A_HOST;
        }

        boolean slows(BrickId some) {
            return switch (fault) {
                case BRICK, BRICK_IN_WINDOWS, BRICK_DRIFT -> some == brick;
                case THROTTLED, SOME_WINDOWS, DRIFT -> true;
                case LINK, UNRECORDED -> false;
            };
        }

        /** Returns how much longer it takes in a window, as a share. */
        double by(int window) {
            return fault == Fault.DRIFT || fault == Fault.BRICK_DRIFT ? by * (window - from) / (to - 1 - from) : by;
        }
    }

    /** The activity of the ranks in one window; reused for the next. */
    static final class Window {
        /** Its number. */
        int number;
        /** By rank and by the brick's ordinal, ns over all samples; 0 if it was not recorded. */
        final long[][] totalNs;
        /** The idle time by rank, ns. */
        final long[] idleNs;
        /** The duration of the steps, the same for every rank, ns. */
        long stepsNs;

        Window(int ranks) {
            totalNs = new long[ranks][BRICKS.size()];
            idleNs = new long[ranks];
        }
    }

    private final Shape shape;
    private final List<Injected> faults;
    private final UniformRandomProvider random;
    private final ZigguratSampler.NormalizedGaussian normal;
    private final ZigguratSampler.Exponential exponential;
    /** The permanent factor on the time of each brick, by rank and brick. */
    private final double[][] own;

    private int otherDevicesFrom = Integer.MAX_VALUE;
    private double otherDevice = 1;

    private double stalledWindows = STALLED_WINDOWS;
    private double longestStall;
    private boolean stallsEachBrick;

    private Set<Integer> lossyRanks = Set.of();
    private Set<BrickId> lossyBricks = Set.of();
    private double lostShare;
    private Set<Integer> sampledRanks = Set.of();

    SimulatedFleet(Shape shape, List<Injected> faults) {
        this.shape = shape;
        this.faults = List.copyOf(faults);
        random = RandomSource.XO_RO_SHI_RO_128_PP.create(shape.seed());
        normal = ZigguratSampler.NormalizedGaussian.of(random);
        exponential = ZigguratSampler.Exponential.of(random);
        double[] host = IntStream.rangeClosed(0, shape.ranks() / RANKS_A_HOST)
                .mapToDouble(i -> HOST_SPREAD * normal.sample())
                .toArray();
        own = new double[shape.ranks()][BRICKS.size()];
        for (int rank = 0; rank < shape.ranks(); rank++) {
            double common = host[rank / RANKS_A_HOST] + RANK_SPREAD * normal.sample();
            for (int brick = 0; brick < BRICKS.size(); brick++) {
                own[rank][brick] = Math.exp(common + BRICK_SPREAD * normal.sample());
            }
        }
    }

    /** Gives the ranks from {@code fromRank} on another device, which takes {@code times} times as long. */
    SimulatedFleet withOtherDevices(int fromRank, double times) {
        otherDevicesFrom = fromRank;
        otherDevice = times;
        return this;
    }

    /**
     * Adds stalls to the share {@code windows} of the windows of each rank. They take longer by a share that is uniform
     * up to {@code longest}.
     */
    SimulatedFleet withStalls(double windows, double longest) {
        stalledWindows = windows;
        longestStall = longest;
        return this;
    }

    /**
     * Adds stalls to the share {@code windows} of the windows of each brick of a rank. They take longer by a share that
     * is uniform up to {@code longest}.
     */
    SimulatedFleet withStallsOfBricks(double windows, double longest) {
        stallsEachBrick = true;
        return withStalls(windows, longest);
    }

    /** Lets the device report no time for a share of the samples of some bricks of some ranks. */
    SimulatedFleet withUnresolved(Set<Integer> ranks, Set<BrickId> bricks, double share) {
        lossyRanks = Set.copyOf(ranks);
        lossyBricks = Set.copyOf(bricks);
        lostShare = share;
        return this;
    }

    /** Lets some ranks mark one brick in 16, so that their times are estimates, each with an error of 1 %. */
    SimulatedFleet withSampling(Set<Integer> ranks) {
        sampledRanks = Set.copyOf(ranks);
        return this;
    }

    /** Returns an SQL expression that has a value on the ranks that mark by sampling, and another one elsewhere. */
    private String ifSampled(String value, String otherwise) {
        return "CASE WHEN "
                + sampledRanks.stream().map(rank -> "rank = " + rank).collect(Collectors.joining(" OR ", "", ""))
                + (sampledRanks.isEmpty() ? "false" : "") + " THEN " + value + " ELSE " + otherwise + " END";
    }

    /** Returns the factor by which a window takes longer: above 1 if it has a stall, else 1. */
    private double stall() {
        if (random.nextDouble() >= stalledWindows) {
            return 1;
        }
        return 1 + (longestStall > 0 ? longestStall * random.nextDouble() : STALL * exponential.sample());
    }

    /**
     * Returns the faults of the study: three ranks with one brick 8 % slower, one throttled rank, one rank that lags in
     * a tenth of the windows, one host behind a slow link, and one rank with one brick 8 % slower in a tenth of the
     * windows (at least six). The seed draws the hosts, which differ.
     */
    static List<Injected> studyFaults(Shape shape) {
        UniformRandomProvider random = RandomSource.XO_RO_SHI_RO_128_PP.create(shape.seed() ^ 0x5eed);
        int hosts = shape.ranks() / RANKS_A_HOST;
        int[] host = new PermutationSampler(random, hosts, 7).sample();
        int[] rank = Arrays.stream(host)
                .map(number -> number * RANKS_A_HOST + random.nextInt(RANKS_A_HOST))
                .toArray();
        int all = shape.windows();
        int some = Math.max(6, all / 10);
        int from = random.nextInt(all - some);
        List<Injected> faults = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            faults.add(new Injected(Fault.BRICK, rank[i], COMPUTE.get(random.nextInt(COMPUTE.size())), 0.08, 0, all));
        }
        faults.add(new Injected(Fault.THROTTLED, rank[3], BrickId.RMS_NORM, 0.12, 0, all));
        faults.add(new Injected(Fault.SOME_WINDOWS, rank[4], BrickId.RMS_NORM, 0.1, from, from + some));
        faults.add(new Injected(Fault.LINK, host[5], BrickId.ALL_REDUCE, 0.4, 0, all));
        BrickId brick = COMPUTE.get(random.nextInt(COMPUTE.size()));
        int then = random.nextInt(all - some);
        faults.add(new Injected(Fault.BRICK_IN_WINDOWS, rank[6], brick, 0.08, then, then + some));
        return faults;
    }

    /** The place of a brick in the tables here; the library's own index is not public. */
    @SuppressWarnings("EnumOrdinal")
    private static int index(BrickId brick) {
        return brick.ordinal();
    }

    static int bricks() {
        return BRICKS.size();
    }

    static String host(int rank) {
        return String.format(Locale.ROOT, "node-%04d", rank / RANKS_A_HOST);
    }

    String device(int rank) {
        return rank < otherDevicesFrom ? "Simulated A" : "Simulated B";
    }

    /** The samples of a brick in a window: some run once in a step, most once in a layer. */
    static long count(BrickId brick) {
        return STEPS * (index(brick) % 6 == 0 ? 1L : LAYERS);
    }

    private static double usualNs(BrickId brick) {
        return STEPS * 30_000.0 * (1 + index(brick) % 7);
    }

    // ---- the simulation ----

    /** Runs the simulation, and passes each window to {@code sink} as it ends. */
    void run(Consumer<Window> sink) {
        Window window = new Window(shape.ranks());
        for (int number = 0; number < shape.windows(); number++) {
            window.number = number;
            simulate(window);
            sink.accept(window);
        }
    }

    private void simulate(Window window) {
        int ranks = shape.ranks();
        double when = (double) window.number / shape.windows();
        double wander = 1 + 0.01 * Math.sin(5 * when);
        double[] stall = new double[ranks];
        for (int rank = 0; rank < ranks; rank++) {
            stall[rank] = stallsEachBrick ? 1 : stall();
        }
        Arrays.fill(window.idleNs, 0);
        window.stepsNs = 0;
        double[] arrival = new double[ranks];
        double[] waitNs = new double[ranks];
        double[] late = new double[ranks];
        for (int segment = 0; segment < SEGMENTS; segment++) {
            double[] segmentNs = new double[ranks];
            for (int rank = 0; rank < ranks; rank++) {
                for (int i = segment; i < COMPUTE.size(); i += SEGMENTS) {
                    BrickId brick = COMPUTE.get(i);
                    double growth = brick.category() == BrickCategory.ATTENTION ? 1 + 0.1 * when : 1;
                    double ns = usualNs(brick)
                            * growth
                            * wander
                            * stall[rank]
                            * own[rank][index(brick)]
                            * (1 + WINDOW_SPREAD * normal.sample())
                            * (rank >= otherDevicesFrom ? otherDevice : 1)
                            * (stallsEachBrick ? stall() : 1);
                    window.totalNs[rank][index(brick)] = Math.round(ns);
                }
            }
            applySlowBricks(window, segment);
            for (int rank = 0; rank < ranks; rank++) {
                for (int i = segment; i < COMPUTE.size(); i += SEGMENTS) {
                    segmentNs[rank] += window.totalNs[rank][index(COMPUTE.get(i))];
                }
                late[rank] = unrecordedShare(rank, window.number) * segmentNs[rank] / STEPS;
            }
            window.stepsNs += meet(segmentNs, late, arrival, waitNs);
            int collective = index(COLLECTIVES.get(segment));
            for (int rank = 0; rank < ranks; rank++) {
                double transferNs = STEPS * TRANSFER_NS * (1 + WINDOW_SPREAD * Math.abs(normal.sample()));
                double linkNs = STEPS * TRANSFER_NS * linkShare(rank, window.number);
                window.totalNs[rank][collective] = Math.round(transferNs + linkNs + waitNs[rank]);
            }
            window.stepsNs += Math.round(STEPS * TRANSFER_NS * (1.03 + slowestLink(window.number)));
        }
        for (int rank = 0; rank < ranks; rank++) {
            long recordedNs = Arrays.stream(window.totalNs[rank]).sum();
            window.idleNs[rank] = Math.max(0, window.stepsNs - recordedNs);
        }
    }

    /**
     * Lets all ranks enter a collective in each step; returns the collective's duration, ns, and adds up the waiting
     * time of each rank.
     */
    private long meet(double[] segmentNs, double[] lateNs, double[] arrival, double[] waitNs) {
        Arrays.fill(waitNs, 0);
        double allNs = 0;
        for (int step = 0; step < STEPS; step++) {
            double last = 0;
            for (int rank = 0; rank < arrival.length; rank++) {
                arrival[rank] = segmentNs[rank] / STEPS * (1 + STEP_SPREAD * normal.sample()) + lateNs[rank];
                last = Math.max(last, arrival[rank]);
            }
            for (int rank = 0; rank < arrival.length; rank++) {
                waitNs[rank] += last - arrival[rank];
            }
            allNs += last;
        }
        return Math.round(allNs);
    }

    private void applySlowBricks(Window window, int segment) {
        for (Injected fault : faults) {
            for (int i = segment; i < COMPUTE.size() && fault.isIn(window.number); i += SEGMENTS) {
                if (fault.slows(COMPUTE.get(i))) {
                    long[] ns = window.totalNs[fault.where()];
                    int brick = index(COMPUTE.get(i));
                    ns[brick] = Math.round(ns[brick] * (1 + fault.by(window.number)));
                }
            }
        }
    }

    private long lost(int rank, BrickId brick) {
        return lossyRanks.contains(rank) && lossyBricks.contains(brick) ? Math.round(lostShare * count(brick)) : 0;
    }

    private double unrecordedShare(int rank, int window) {
        return share(Fault.UNRECORDED, rank, window);
    }

    private double linkShare(int rank, int window) {
        return share(Fault.LINK, rank / RANKS_A_HOST, window);
    }

    private double share(Fault kind, int where, int window) {
        for (Injected fault : faults) {
            if (fault.fault() == kind && fault.where() == where && fault.isIn(window)) {
                return fault.by();
            }
        }
        return 0;
    }

    private double slowestLink(int window) {
        return faults.stream()
                .filter(fault -> fault.fault() == Fault.LINK && fault.isIn(window))
                .mapToDouble(Injected::by)
                .max()
                .orElse(0);
    }

    // ---- as tables ----

    /**
     * Writes the tables as Parquet files, {@code TABLE.parquet} each.
     *
     * @param folder the folder; it is created
     * @param distributions whether to write the distributions, which are most of the bytes
     * @return the file of each table
     */
    Map<String, String> write(Path folder, boolean distributions) throws Exception {
        Files.createDirectories(folder);
        Map<String, String> files = new TreeMap<>();
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:");
                Statement statement = connection.createStatement()) {
            for (Map.Entry<String, String> table :
                    fill(connection, distributions).entrySet()) {
                String file = folder.resolve(table.getKey() + ".parquet").toString();
                statement.execute(
                        "COPY (" + table.getValue() + ") TO '" + file + "' (FORMAT parquet, COMPRESSION zstd)");
                files.put(table.getKey(), file);
            }
        }
        return files;
    }

    /**
     * Makes the tables, without distributions, in the memory of an engine, which is faster than by way of files.
     *
     * @param engine DuckDB
     * @param prefix of their names
     * @return the tables, without the prefix
     */
    Set<String> load(FleetEngine engine, String prefix) throws Exception {
        Connection connection = ((DuckEngine) engine).connection();
        Map<String, String> tables = fill(connection, false);
        try (Statement statement = connection.createStatement()) {
            for (Map.Entry<String, String> table : tables.entrySet()) {
                statement.execute("CREATE TABLE " + prefix + table.getKey() + " AS " + table.getValue());
            }
        }
        return tables.keySet();
    }

    /** Fills the tables of the simulation, and returns the query of each table of a fleet over them. */
    private Map<String, String> fill(Connection connection, boolean distributions) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE brick (id SMALLINT, brick VARCHAR, category VARCHAR, samples BIGINT)");
            statement.execute("INSERT INTO brick VALUES "
                    + BRICKS.stream()
                            .map(brick -> "(" + index(brick) + ", '" + brick.displayName() + "', '"
                                    + brick.category().displayName() + "', " + count(brick) + ")")
                            .collect(Collectors.joining(", ")));
            statement.execute("CREATE TABLE device (rank INTEGER, host VARCHAR, device VARCHAR)");
            statement.execute("CREATE TABLE b (win INTEGER, rank INTEGER, id SMALLINT, total_ns BIGINT, bucket INTEGER,"
                    + " lost BIGINT)");
            statement.execute("CREATE TABLE w (win INTEGER, rank INTEGER, idle_ns BIGINT, steps_ns BIGINT)");
        }
        fill(connection.unwrap(DuckDBConnection.class));
        String run = "'" + shape.run() + "' AS run_id";
        String window = "start_ms + win * " + WINDOW_MS + " AS start_ms, steps_ns AS wall_ns, CAST(win * " + STEPS
                + " AS BIGINT) AS first_step, CAST((win + 1) * " + STEPS + " - 1 AS BIGINT) AS last_step";
        return Map.of(
                "brick_window",
                "SELECT " + run
                        + ", rank, win, category, brick, samples AS count, total_ns, CAST(total_ns * 0.9 / greatest(samples, 1) AS BIGINT)"
                        + " AS min_ns, CAST(total_ns * 1.6 / greatest(samples, 1) AS BIGINT) AS max_ns, samples AS elements, lost AS unresolved, "
                        + ifSampled("samples // 16", "0") + " AS device_samples, "
                        + ifSampled("samples - samples // 16", "0") + " AS unmarked, "
                        + ifSampled("1e-2 * total_ns", "NULL") + " AS standard_error_ns, "
                        + ifSampled("30e0", "NULL") + " AS degrees_of_freedom, "
                        + (distributions ? DISTRIBUTION : "CAST(NULL AS STRUCT(bucket INTEGER, n BIGINT)[])")
                        + " AS dist FROM (SELECT *" + (distributions ? ", " + PARTS + " AS parts" : "")
                        + " FROM (SELECT b.*, brick, category, samples - lost AS samples FROM b JOIN brick USING (id)))",
                "rank_window",
                "SELECT " + run + ", rank, win, " + shape.ranks()
                        + " AS world_size, host, device, 'simulated' AS model, 'float16' AS precision, 'c0ffee' AS commit_id, "
                        + "'decode' AS phase, " + window.replace("start_ms +", START_MS + " +")
                        + ", CAST(0 AS BIGINT) AS dropped, CAST(0 AS BIGINT) AS pending"
                        + " FROM w JOIN device USING (rank)",
                "step_window",
                "SELECT " + run + ", rank, win, 'decode' AS phase, CAST(" + STEPS
                        + " AS BIGINT) AS steps, steps_ns AS total_ns, steps_ns AS wall_ns, CAST(" + STEPS
                        + " AS BIGINT) AS tokens, "
                        + "CAST(steps_ns / " + STEPS + " * 1.2 AS BIGINT) AS max_ns FROM w",
                "device_window",
                "SELECT " + run
                        + ", rank, win, device, 'stream 0' AS stream, (SELECT CAST(sum(samples) AS BIGINT) FROM brick) AS bricks, "
                        + "steps_ns - idle_ns AS busy_ns, " + ifSampled("NULL", "idle_ns")
                        + " AS idle_ns FROM w JOIN device USING (rank)");
    }

    /** Buckets around that of the mean, by chance more or fewer in each, and one sample in a hundred in the tail. */
    private static final String DISTRIBUTION = "list_filter(list_append(parts, {bucket: bucket, n: samples - "
            + "CAST(list_sum(list_transform(parts, lambda x: x.n)) AS BIGINT)}), lambda x: x.n > 0)";

    private static final String PARTS = "["
            + IntStream.rangeClosed(-6, 7)
                    .filter(i -> i != 0)
                    .mapToObj(i -> i == 7
                            ? "{bucket: bucket + 40, n: samples // 100}"
                            : "{bucket: greatest(bucket + " + i + ", 0), n: CAST(samples * " + permille(i)
                                    + " * (75 + hash(win, rank, id, " + i + ") % 51) // 100000 AS BIGINT)}")
                    .collect(Collectors.joining(", "))
            + "]::STRUCT(bucket INTEGER, n BIGINT)[]";

    private static long permille(int fromMiddle) {
        return Math.round(1000 * Math.exp(-fromMiddle * fromMiddle / 12.0) / 7);
    }

    private void fill(DuckDBConnection connection) throws SQLException {
        try (DuckDBAppender bricks = connection.createAppender("main", "b");
                DuckDBAppender windows = connection.createAppender("main", "w");
                DuckDBAppender devices = connection.createAppender("main", "device")) {
            for (int rank = 0; rank < shape.ranks(); rank++) {
                devices.beginRow()
                        .append(rank)
                        .append(host(rank))
                        .append(device(rank))
                        .endRow();
            }
            run(window -> append(window, bricks, windows));
        }
    }

    private void append(Window window, DuckDBAppender bricks, DuckDBAppender windows) {
        try {
            for (int rank = 0; rank < shape.ranks(); rank++) {
                for (BrickId brick : BRICKS) {
                    long samples = count(brick);
                    long lost = lost(rank, brick);
                    long totalNs = window.totalNs[rank][index(brick)] * (samples - lost) / samples;
                    bricks.beginRow()
                            .append(window.number)
                            .append(rank)
                            .append((short) index(brick))
                            .append(totalNs)
                            .append(LatencyBuckets.indexOf(totalNs / Math.max(1, samples - lost)))
                            .append(lost)
                            .endRow();
                }
                windows.beginRow()
                        .append(window.number)
                        .append(rank)
                        .append(window.idleNs[rank])
                        .append(window.stepsNs)
                        .endRow();
            }
        } catch (SQLException failed) {
            throw new IllegalStateException(failed);
        }
    }
}
