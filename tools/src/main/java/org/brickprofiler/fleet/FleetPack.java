package org.brickprofiler.fleet;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.CRC32C;
import org.brickprofiler.fleet.Manifest.PackFile;
import org.brickprofiler.fleet.PackProblem.Kind;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.ProfileFields;
import org.brickprofiler.report.internal.RequestFields;
import org.jspecify.annotations.Nullable;

/**
 * A folder of tables that {@code brick fleet pack} wrote: Parquet files, one or more of each of {@link #TABLES}, and
 * the manifest that lists them. All of their bytes are checked before the first query, because engines silently return
 * wrong results from a file with some wrong bits. Immutable; any thread, as long as the files do not change.
 */
public final class FleetPack {

    /** The tables that are files, as they are called in SQL. */
    public static final List<String> TABLES = List.of(
            "rank_window", "brick_window", "step_window", "device_window", FleetPack.REQUESTS, FleetPack.PHASES);

    /** The table of requests, which packs of earlier versions lack. */
    static final String REQUESTS = "request_window";

    /** The table of bricks by phase, which packs of earlier versions lack. */
    static final String PHASES = "brick_phase_window";

    /** The table of {@link #problems()}, for SQL. */
    public static final String PROBLEMS = "pack_problem";

    private static final int BUFFER_BYTES = 1 << 20;

    /** The scheme of an address; a single letter is a drive. */
    private static final Pattern SCHEME = Pattern.compile("^[A-Za-z][A-Za-z0-9+.-]+:");

    private final String folder;
    private final Manifest manifest;
    private final List<PackFile> files;
    private final List<PackProblem> ofPack;

    private FleetPack(String folder, Manifest manifest, List<PackFile> files, List<PackProblem> ofPack) {
        this.folder = folder;
        this.manifest = manifest;
        this.files = files;
        this.ofPack = ofPack;
    }

    /**
     * Returns whether a folder is a pack.
     *
     * @param folder any path
     * @return true if it has the manifest of a pack, damaged or not
     */
    public static boolean isPack(Path folder) {
        Path manifest = folder.resolve(Manifest.NAME);
        if (!Files.isRegularFile(manifest)) {
            return false;
        }
        try (InputStream in = Files.newInputStream(manifest)) {
            return new String(in.readNBytes(64), StandardCharsets.ISO_8859_1).contains(Manifest.KIND);
        } catch (IOException unreadable) {
            return false;
        }
    }

    /**
     * Opens a pack, and reads all of its files once to check them.
     *
     * @param engine the engine that reads them
     * @param location its location: a folder of this machine, or an address that the engine reads, which begins with a
     *     scheme
     * @param salvage whether to leave out the windows of damaged files, in all tables, instead of refusing the pack
     * @return the pack
     * @throws IOException when it does not exist, has another version, or, unless salvaged, has a missing or changed
     *     file; the message names the file
     */
    public static FleetPack open(FleetEngine engine, String location, boolean salvage) throws IOException {
        String folder = SCHEME.matcher(location).find()
                ? location.replaceFirst("/+$", "")
                : Path.of(location).toAbsolutePath().toString();
        Manifest manifest = manifest(engine, folder, location);
        Map<PackFile, String> damaged = new LinkedHashMap<>();
        for (PackFile file : manifest.files()) {
            String fault = fault(engine, folder, file);
            if (!fault.isEmpty()) {
                damaged.put(file, fault);
            }
        }
        if (!damaged.isEmpty() && !salvage) {
            Map.Entry<PackFile, String> first = damaged.entrySet().iterator().next();
            throw new IOException(folder + "/" + first.getKey().path() + " " + first.getValue()
                    + (damaged.size() == 1 ? "" : " (and " + Plural.of(damaged.size() - 1, "more file") + ")")
                    + "; pack again, or --salvage leaves its windows out");
        }
        return of(folder, manifest, damaged);
    }

    private static FleetPack of(String folder, Manifest manifest, Map<PackFile, String> damaged) throws IOException {
        Set<String> lost = new HashSet<>();
        damaged.keySet().forEach(file -> lost.add(file.part()));
        List<PackFile> files = manifest.files().stream()
                .filter(file -> !lost.contains(file.part()))
                .toList();
        for (String table : TABLES) {
            if (!EMPTY.containsKey(table)
                    && files.stream().noneMatch(file -> file.table().equals(table))) {
                throw new IOException(
                        folder + " has no file of the table " + table + (damaged.isEmpty() ? "" : " that is whole"));
            }
        }
        List<PackProblem> ofPack = new ArrayList<>();
        if (manifest.revision() == 0) {
            ofPack.add(new PackProblem(
                    Kind.EARLIER_PACK,
                    null,
                    null,
                    null,
                    null,
                    "an earlier version made the pack, which does not count unresolved and dropped measurements: a"
                            + " rank that lacks some looks faster than it is; the tokens/s are not known either; pack"
                            + " again",
                    0));
        }
        Set<String> counted = new HashSet<>();
        damaged.forEach((file, fault) -> {
            long windows = !counted.add(file.part())
                    ? 0
                    : manifest.files().stream()
                            .filter(each -> each.table().equals("rank_window")
                                    && each.part().equals(file.part()))
                            .mapToLong(PackFile::rows)
                            .sum();
            ofPack.add(new PackProblem(Kind.DAMAGED_PACK, null, null, null, file.path(), fault, windows));
        });
        return new FleetPack(folder, manifest, files, List.copyOf(ofPack));
    }

    private static Manifest manifest(FleetEngine engine, String folder, String location) throws IOException {
        InputStream bytes;
        try {
            bytes = engine.read(folder + "/" + Manifest.NAME);
        } catch (NoSuchFileException | FileNotFoundException none) {
            throw new IOException(
                    location + " is no pack of profiles: it has no " + Manifest.NAME
                            + ", which brick fleet pack writes",
                    none);
        }
        return Manifest.read(location, bytes);
    }

    /** Returns the fault of a file; empty if the file is as it was written. */
    private static String fault(FleetEngine engine, String folder, PackFile file) throws IOException {
        CRC32C sum = new CRC32C();
        long bytes;
        try (InputStream in = engine.read(folder + "/" + file.path())) {
            bytes = addTo(sum, in);
        } catch (NoSuchFileException | FileNotFoundException none) {
            return "is missing";
        }
        if (bytes != file.bytes()) {
            return "has " + bytes + " bytes instead of " + file.bytes();
        }
        return (int) sum.getValue() == file.crc32c() ? "" : "is not what was written: its checksum differs";
    }

    /**
     * Returns the entry of the manifest for a file.
     *
     * @param folder the pack
     * @param table the table to which the file belongs
     * @param file the file, below the folder
     * @param rows the number of its rows
     * @return the entry
     * @throws IOException when the file cannot be read
     */
    static PackFile entry(Path folder, String table, Path file, long rows) throws IOException {
        String path = folder.relativize(file).toString().replace('\\', '/');
        return new PackFile(table, path, Files.size(file), rows, checksum(file));
    }

    /**
     * Returns the checksum of a file's bytes: CRC-32C, which processors compute as fast as they read. It finds every
     * change of up to 32 neighbouring bits, and misses one in 2<sup>32</sup> of other changes.
     */
    static int checksum(Path file) throws IOException {
        CRC32C sum = new CRC32C();
        try (InputStream in = Files.newInputStream(file)) {
            addTo(sum, in);
        }
        return (int) sum.getValue();
    }

    private static long addTo(CRC32C sum, InputStream in) throws IOException {
        byte[] buffer = new byte[BUFFER_BYTES];
        long bytes = 0;
        for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
            sum.update(buffer, 0, read);
            bytes += read;
        }
        return bytes;
    }

    /**
     * Returns the manifest of the pack.
     *
     * @return the manifest
     */
    public Manifest manifest() {
        return manifest;
    }

    /**
     * Returns the problems of the pack: those that packing found, and then those of the pack itself: an earlier
     * version, and damaged files.
     *
     * @return all problems
     */
    public List<PackProblem> problems() {
        List<PackProblem> all = new ArrayList<>(manifest.problems());
        all.addAll(ofPack);
        return List.copyOf(all);
    }

    /**
     * Creates the tables of this pack in an engine.
     *
     * @param engine the engine
     * @throws IOException when it cannot read them
     */
    public void mount(FleetEngine engine) throws IOException {
        for (String table : TABLES) {
            List<String> paths = files.stream()
                    .filter(file -> file.table().equals(table))
                    .map(file -> folder + "/" + file.path())
                    .toList();
            if (paths.isEmpty()) {
                engine.view(table, Objects.requireNonNull(EMPTY.get(table), table));
                continue;
            }
            List<Column> missing = missingColumns(table);
            if (missing.isEmpty()) {
                engine.table(table, paths);
            } else {
                engine.table(table + "_as_packed", paths);
                engine.view(
                        table,
                        missing.stream()
                                .map(column -> ", CAST(NULL AS " + column.type() + ") AS " + column.name())
                                .collect(Collectors.joining("", "SELECT *", " FROM " + table + "_as_packed")));
            }
        }
        engine.view(PROBLEMS, problemRows());
    }

    /** Returns the columns that a table lacks because the pack has an earlier revision. */
    private List<Column> missingColumns(String table) {
        return ADDED.stream()
                .filter(added -> added.table.equals(table) && added.revision > manifest.revision())
                .flatMap(added -> added.columns.stream())
                .toList();
    }

    /** The table of requests without rows. */
    static final String NO_REQUESTS =
            "SELECT CAST('' AS STRING) AS run_id, CAST(0 AS INTEGER) AS rank, CAST(0 AS BIGINT) AS win"
                    + RequestFields.REQUESTS.packed().stream()
                            .map(column -> ", CAST(0 AS BIGINT) AS " + column.name())
                            .collect(Collectors.joining())
                    + " WHERE 1 = 0";

    /** The table of bricks by phase without rows. Its distributions have the type of those of {@code brick_window}. */
    static final String NO_PHASES = "SELECT run_id, rank, win, CAST('' AS STRING) AS phase, category, brick"
            + ProfileFields.BRICK.packed().stream()
                    .map(column -> ", " + column.name())
                    .collect(Collectors.joining())
            + ", standard_error_ns, degrees_of_freedom, dist FROM brick_window WHERE 1 = 0";

    /** The tables that packs of earlier versions lack, without rows. */
    private static final Map<String, String> EMPTY = Map.of(REQUESTS, NO_REQUESTS, PHASES, NO_PHASES);

    /** Columns that a revision of the tables added. */
    private record Added(String table, int revision, List<Column> columns) {

        static Added wholes(String table, int revision, String... names) {
            return new Added(
                    table,
                    revision,
                    Stream.of(names).map(name -> new Column(name, "BIGINT")).toList());
        }
    }

    private record Column(String name, String type) {}

    /** The columns of samples that a device timed, and of the errors of estimates. */
    private static final List<Column> ESTIMATES = List.of(
            new Column("device_samples", "BIGINT"),
            new Column("unmarked", "BIGINT"),
            new Column("standard_error_ns", "DOUBLE"),
            new Column("degrees_of_freedom", "DOUBLE"));

    private static final List<Added> ADDED = List.of(
            Added.wholes("rank_window", 1, "dropped", "pending"),
            Added.wholes("brick_window", 1, "unresolved"),
            Added.wholes("step_window", 1, "wall_ns"),
            Added.wholes(PHASES, 1, "unresolved"),
            Added.wholes(REQUESTS, 2, "own_work_ns"),
            new Added("brick_window", 3, ESTIMATES),
            new Added(PHASES, 3, ESTIMATES));

    private String problemRows() {
        String columns = "SELECT CAST(kind AS STRING) AS kind, CAST(run_id AS STRING) AS run_id,"
                + " CAST(rank AS INTEGER) AS rank, CAST(win AS BIGINT) AS win, CAST(file AS STRING) AS file,"
                + " CAST(reason AS STRING) AS reason, CAST(left_out AS BIGINT) AS left_out FROM (VALUES ";
        List<PackProblem> problems = problems();
        String rows = problems.isEmpty()
                ? "(NULL, NULL, NULL, NULL, NULL, NULL, NULL)"
                : problems.stream().map(FleetPack::row).collect(Collectors.joining(", "));
        return columns + rows + ") AS p (kind, run_id, rank, win, file, reason, left_out)"
                + (problems.isEmpty() ? " WHERE kind IS NOT NULL" : "");
    }

    private static String row(PackProblem problem) {
        return "(" + text(problem.kind().key()) + ", " + text(problem.runId()) + ", " + problem.rank() + ", "
                + problem.window() + ", " + text(problem.file()) + ", " + text(problem.reason()) + ", "
                + problem.leftOut() + ")";
    }

    /**
     * Returns a text as an SQL literal. Engines differ in backslashes: to some a backslash is a character, to others an
     * escape. Therefore a backslash becomes a slash.
     */
    private static String text(@Nullable String text) {
        return text == null ? "NULL" : "'" + text.replace("'", "''").replace('\\', '/') + "'";
    }
}
