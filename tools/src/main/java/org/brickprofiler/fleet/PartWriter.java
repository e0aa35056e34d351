package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.brickprofiler.fleet.Manifest.PackFile;
import org.brickprofiler.fleet.ProfileWindow.Head;
import org.brickprofiler.internal.record.LatencyBuckets;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.RequestFields;
import org.jspecify.annotations.Nullable;

/**
 * Writes some windows of a run as one Parquet file of each table. The rows are added to tables in DuckDB's memory,
 * which DuckDB then writes. DuckDB spends most of this time on lists, so a distribution is one list there and not two.
 * One thread; an engine serves one writer at a time.
 */
final class PartWriter implements AutoCloseable {

    /** Returns the columns of a table while it is filled. */
    private static String columns(String table) {
        return "run_id VARCHAR, rank INTEGER, win BIGINT, "
                + switch (table) {
                    case "rank_window" ->
                        "world_size BIGINT, host VARCHAR, device VARCHAR, model VARCHAR, precision VARCHAR,"
                                + " commit_id VARCHAR, phase VARCHAR, start_ms BIGINT, wall_ns BIGINT, first_step BIGINT,"
                                + " last_step BIGINT, dropped BIGINT, pending BIGINT";
                    case "brick_window" -> BRICK_COLUMNS;
                    case FleetPack.PHASES -> "phase VARCHAR, " + BRICK_COLUMNS;
                    case "step_window" -> "phase VARCHAR" + packed(ProfileFields.PHASE);
                    case "device_window" ->
                        "device VARCHAR, stream VARCHAR" + packed(ProfileFields.STREAM)
                                + ", device_uuid VARCHAR, pci_address VARCHAR";
                    case FleetPack.REQUESTS -> packed(RequestFields.REQUESTS).substring(", ".length());
                    default -> throw new IllegalArgumentException("no table " + table);
                };
    }

    private static final String BRICK_COLUMNS = "category VARCHAR, brick VARCHAR" + packed(ProfileFields.BRICK)
            + ", standard_error_ns DOUBLE, degrees_of_freedom DOUBLE, dist BIGINT[]";

    private static final int STREAM_COLUMNS = ProfileFields.STREAM.packed().size();

    private static String packed(Fields<?> fields) {
        return fields.packed().stream()
                .map(column -> ", " + column.name() + " BIGINT")
                .collect(Collectors.joining());
    }

    /** Returns the columns of a table as they are written. */
    private static String written(String table) {
        return switch (table) {
            case "rank_window" -> "* REPLACE (CAST(world_size AS INTEGER) AS world_size)";
            case "brick_window", FleetPack.PHASES ->
                "* REPLACE (list_transform(dist, lambda each: {bucket: CAST(each % " + LatencyBuckets.COUNT
                        + " AS INTEGER), n: each // " + LatencyBuckets.COUNT + "}) AS dist)";
            default -> "*";
        };
    }

    private final DuckEngine engine;
    private final Path folder;
    private final Path tables;
    private final DuckAppender ranks;
    private final DuckAppender bricks;
    private final DuckAppender steps;
    private final DuckAppender devices;
    private final DuckAppender requests;
    private final DuckAppender bricksByPhase;
    private final long[] rows = new long[FleetPack.TABLES.size()];

    /**
     * Creates a part without rows.
     *
     * @param engine the engine for its rows; the rows of an earlier part are dropped
     * @param folder the pack
     * @param tables the folder inside the pack for the tables
     * @throws IOException when the engine fails
     */
    PartWriter(DuckEngine engine, Path folder, Path tables) throws IOException {
        this.engine = engine;
        this.folder = folder;
        this.tables = tables;
        for (String table : FleetPack.TABLES) {
            engine.execute("CREATE OR REPLACE TABLE " + table + " (" + columns(table) + ")");
        }
        ranks = new DuckAppender(engine.connection(), "rank_window");
        bricks = new DuckAppender(engine.connection(), "brick_window");
        steps = new DuckAppender(engine.connection(), "step_window");
        devices = new DuckAppender(engine.connection(), "device_window");
        requests = new DuckAppender(engine.connection(), FleetPack.REQUESTS);
        bricksByPhase = new DuckAppender(engine.connection(), FleetPack.PHASES);
    }

    /**
     * Adds a window.
     *
     * @param head the head of its file
     * @param window its values
     * @throws IOException when the engine fails
     */
    void add(Head head, ProfileWindow window) throws IOException {
        rank(head, window);
        bricks(head, window.bricks, bricks);
        bricks(head, window.bricksByPhase, bricksByPhase);
        steps(head, window);
        devices(head, window);
        requests(head, window);
        rows[0]++;
        rows[1] += window.bricks.size;
        rows[2] += window.phases;
        rows[3] += window.streams;
        rows[4] += window.hasRequests ? 1 : 0;
        rows[5] += window.bricksByPhase.size;
    }

    private void rank(Head head, ProfileWindow window) throws IOException {
        @Nullable Integer size = head.worldSize();
        ranks.beginRow().add(head.runId()).add(head.rank()).add(head.window());
        ranks.add(size == null ? null : (Long) (long) size);
        ranks.add(head.labels().host())
                .add(head.labels().device())
                .add(head.labels().model())
                .add(head.labels().precision())
                .add(head.labels().commit());
        ranks.add(head.labels().phase())
                .add(head.startMs())
                .add(head.wallNs())
                .add(head.firstStep())
                .add(head.lastStep())
                .add(window.dropped)
                .add(window.pending);
        ranks.endRow();
    }

    private static void bricks(Head head, ProfileWindow.Bricks from, DuckAppender to) throws IOException {
        for (int i = 0; i < from.size; i++) {
            to.beginRow().add(head.runId()).add(head.rank()).add(head.window());
            @Nullable String phase = from.phase[i];
            if (phase != null) {
                to.add(phase);
            }
            to.add(from.category[i]).add(from.name[i]);
            for (long figure : from.figures[i]) {
                to.add(figure);
            }
            to.add(from.standardErrorNs[i]).add(from.degreesOfFreedom[i]);
            to.add(from.dist[i]).endRow();
        }
    }

    private void steps(Head head, ProfileWindow window) throws IOException {
        for (int i = 0; i < window.phases; i++) {
            steps.beginRow()
                    .add(head.runId())
                    .add(head.rank())
                    .add(head.window())
                    .add(window.phase[i]);
            for (long figure : window.steps[i]) {
                steps.add(figure);
            }
            steps.endRow();
        }
    }

    private void devices(Head head, ProfileWindow window) throws IOException {
        for (int i = 0; i < window.streams; i++) {
            devices.beginRow().add(head.runId()).add(head.rank()).add(head.window());
            devices.add(window.device[i]).add(window.stream[i]);
            for (int column = 0; column < STREAM_COLUMNS; column++) {
                devices.add(window.time(i, column));
            }
            devices.add(window.uuid[i]).add(window.pci[i]);
            devices.endRow();
        }
    }

    private void requests(Head head, ProfileWindow window) throws IOException {
        if (window.hasRequests) {
            requests.beginRow().add(head.runId()).add(head.rank()).add(head.window());
            for (long figure : window.requests) {
                requests.add(figure);
            }
            requests.endRow();
        }
    }

    /**
     * Writes the tables that have rows.
     *
     * @param path the path of each file below its table
     * @return the files
     * @throws IOException when they cannot be written
     */
    List<PackFile> finish(String path) throws IOException {
        close();
        List<PackFile> files = new ArrayList<>();
        for (int table = 0; table < rows.length; table++) {
            if (rows[table] > 0) {
                files.add(finish(FleetPack.TABLES.get(table), path));
            }
        }
        return files;
    }

    /** Writes one table, even if it has no rows. */
    PackFile finish(String table, String path) throws IOException {
        Path file = tables.resolve(table).resolve(path);
        Files.createDirectories(file.getParent());
        engine.execute("COPY (SELECT " + written(table) + " FROM " + table + ") TO "
                + DuckEngine.literal(file.toString()) + " (FORMAT parquet, COMPRESSION zstd)");
        // The manifest must not name a file that a crash of the machine could lose.
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.force(true);
        }
        return FleetPack.entry(folder, table, file, rows[FleetPack.TABLES.indexOf(table)]);
    }

    /** Hands over the last rows. A further call does nothing. */
    @Override
    public void close() throws IOException {
        for (DuckAppender each : List.of(ranks, bricks, steps, devices, requests, bricksByPhase)) {
            each.close();
        }
    }
}
