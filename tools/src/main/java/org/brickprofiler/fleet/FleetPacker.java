package org.brickprofiler.fleet;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.fleet.Manifest.PackFile;
import org.brickprofiler.fleet.PackProblem.Kind;
import org.brickprofiler.fleet.ProfileWindow.Head;
import org.brickprofiler.fleet.ProfileWindow.Unreadable;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.ExportLoss;
import org.brickprofiler.internal.io.FolderLock;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.jspecify.annotations.Nullable;

/**
 * Builds a pack from profiles. Each worker reads some thousand files of a run into a {@link PartWriter}, so memory does
 * not grow with the number of files, except for some hundred bytes for the head of each file.
 *
 * <p>The tables go into a new folder inside the pack's folder; the manifest, which replaces the former one atomically,
 * names the new folder. A reader therefore sees, and an interrupted process leaves, either the former pack or the new
 * one. Only one process may write a pack at a time.
 */
public final class FleetPacker {

    /**
     * The most windows in one Parquet file: with 36 bricks some 100 MB in DuckDB's memory, and 3 to 10 MB on the disk.
     */
    private static final int PART_WINDOWS = 8_192;

    /** The fewest windows that are worth another file. */
    private static final int LEAST_WINDOWS = 512;

    private static final String TABLES_FOLDER = "tables-";

    private final Path folder;
    private final @Nullable String model;
    private final FleetEngine.Options options;
    private final Progress progress;

    private final AtomicLong readBytes = new AtomicLong();
    private long totalBytes;

    /** Receives the progress of packing. Any thread. */
    public interface Progress {
        /**
         * Reports progress.
         *
         * @param bytes the bytes that are done
         * @param totalBytes all bytes
         */
        void at(long bytes, long totalBytes);
    }

    /**
     * The result of packing.
     *
     * @param manifest the manifest of the pack
     * @param windows the number of windows in the tables
     */
    public record Result(Manifest manifest, long windows) {}

    /**
     * Creates a packer.
     *
     * @param folder the pack: a folder that does not exist, is empty, or is a pack, which is replaced
     * @param model the model whose files are packed; null for the model of more than half of the files
     * @param options the resources of DuckDB; its temporary files are in the pack's folder until it is done, and its
     *     memory is divided among the workers, one for each thread
     * @param progress receives the progress
     */
    public FleetPacker(Path folder, @Nullable String model, FleetEngine.Options options, Progress progress) {
        this.folder = folder;
        this.model = model;
        this.options = options;
        this.progress = progress;
    }

    /** A file that is to be read. */
    private record Source(Path file, String ownRun, long bytes) {}

    /**
     * Packs profiles.
     *
     * @param files the profiles, in any order; a profile without a run is named after its path
     * @return the result; if no window is left, nothing was written
     * @throws IOException when the pack cannot be written, or the engine fails; the former pack stays complete
     * @throws IllegalArgumentException when the folder contains something other than a pack, no file has the chosen
     *     model, or, if none is chosen, no model is that of more than half of the files
     */
    public Result pack(Collection<Path> files) throws IOException {
        return pack(files, Map.of());
    }

    /**
     * Packs profiles, and names files that may be profiles but are not read.
     *
     * @param files the profiles, in any order; a profile without a run is named after its path
     * @param passedOver the files that are not read, with the reasons; each is a problem of the pack
     * @return the result; if no window is left, nothing was written
     * @throws IOException when the pack cannot be written, or the engine fails; the former pack stays complete
     * @throws IllegalArgumentException when the folder contains something other than a pack, no file has the chosen
     *     model, or, if none is chosen, no model is that of more than half of the files
     */
    public Result pack(Collection<Path> files, Map<Path, String> passedOver) throws IOException {
        requireOwnFolder();
        // The driver is needed: fail before hundreds of thousands of files are read in vain.
        DuckPlugin.driver();
        List<Source> sources = sources(files);
        totalBytes = sources.stream().mapToLong(Source::bytes).sum();
        List<PackProblem> problems = Collections.synchronizedList(new ArrayList<>(losses(sources)));
        passedOver.forEach((file, reason) ->
                problems.add(new PackProblem(Kind.PASSED_OVER, null, null, null, file.toString(), reason, 1)));
        ExecutorService workers = Executors.newFixedThreadPool(options.threads(), work -> {
            Thread thread = new Thread(work, "brick fleet pack");
            thread.setDaemon(true);
            return thread;
        });
        try {
            PackPlan plan = new PackPlan(heads(sources, workers, problems), model);
            problems.addAll(plan.problems());
            Files.createDirectories(folder);
            try (FolderLock held = locked()) {
                return write(sources.size(), plan, workers, problems);
            }
        } finally {
            workers.shutdownNow();
        }
    }

    private FolderLock locked() throws IOException {
        FolderLock held = FolderLock.take(folder)
                .orElseThrow(() -> new IOException("cannot write " + folder + ": another process is packing into it"));
        if (held.failure().isPresent()) {
            held.close();
            throw held.failure().get();
        }
        return held;
    }

    private void requireOwnFolder() throws IOException {
        if (Files.notExists(folder)) {
            return;
        }
        if (!Files.isDirectory(folder)) {
            throw new IllegalArgumentException("cannot write to " + folder + ": it is not a folder");
        }
        if (Files.exists(folder.resolve(Manifest.NAME))) {
            Manifest.read(folder);
            return;
        }
        try (Stream<Path> there = Files.list(folder)) {
            if (there.map(file -> file.getFileName().toString())
                    .anyMatch(name -> !name.startsWith(TABLES_FOLDER) && !name.equals(FolderLock.FILE))) {
                throw new IllegalArgumentException(
                        "cannot write to " + folder + ": it holds something other than a pack of profiles");
            }
        }
    }

    private static List<Source> sources(Collection<Path> files) throws IOException {
        Map<Path, Source> sources = new TreeMap<>();
        for (Path file : files) {
            String name = file.toString().replace('\\', '/');
            sources.putIfAbsent(
                    file.toAbsolutePath().normalize(),
                    new Source(file, name.replaceFirst("\\.json(\\.gz)?$", ""), Files.size(file)));
        }
        return List.copyOf(sources.values());
    }

    /** Returns the losses that exports have recorded in the folders of the files. */
    private static List<PackProblem> losses(List<Source> sources) {
        List<PackProblem> losses = new ArrayList<>();
        sources.stream()
                .map(source -> source.file().toAbsolutePath().getParent())
                .distinct()
                .forEach(windows -> {
                    String file = windows.resolve(ExportLoss.FILE).toString();
                    try {
                        ExportLoss.read(windows)
                                .filter(loss -> loss.windows() > 0)
                                .ifPresent(loss -> losses.add(new PackProblem(
                                        Kind.UNWRITTEN_WINDOWS,
                                        loss.run().isEmpty() ? null : loss.run(),
                                        loss.rank().isPresent()
                                                ? (Integer) loss.rank().getAsInt()
                                                : null,
                                        null,
                                        file,
                                        Plural.of(loss.windows(), "window") + " of the rank, of which "
                                                + Plural.of(
                                                        loss.samples(),
                                                        "sample of " + loss.totalNs() + " ns is known",
                                                        "samples of " + loss.totalNs() + " ns are known")
                                                + (loss.windows() == 1 ? ", is in no file: " : ", are in no file: ")
                                                + loss.reason(),
                                        loss.windows())));
                    } catch (IOException damaged) {
                        losses.add(new PackProblem(
                                Kind.DAMAGED, null, null, null, file, String.valueOf(damaged.getMessage()), 0));
                    }
                });
        return losses;
    }

    // ---- heads ----

    private List<Head> heads(List<Source> sources, ExecutorService workers, List<PackProblem> problems)
            throws IOException {
        List<Head> heads = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger next = new AtomicInteger();
        all(workers, () -> {
            ProfileWindow reader = new ProfileWindow();
            for (int i = next.getAndIncrement(); i < sources.size(); i = next.getAndIncrement()) {
                Source source = sources.get(i);
                try {
                    heads.add(reader.head(source.file(), source.ownRun()));
                } catch (Unreadable unreadable) {
                    problems.add(unread(source.file(), unreadable.kind, unreadable));
                } catch (IOException failed) {
                    problems.add(new PackProblem(
                            Kind.DAMAGED, null, null, null, source.file().toString(), AtomicFile.reason(failed), 1));
                }
                done(source.bytes() / HEAD_SHARE);
            }
            return null;
        });
        return heads;
    }

    /** The cost of reading a head, as the divisor of the cost of reading the whole file. */
    private static final int HEAD_SHARE = 8;

    private static PackProblem unread(Path file, Kind kind, Unreadable unreadable) {
        return new PackProblem(kind, null, null, null, file.toString(), String.valueOf(unreadable.getMessage()), 1);
    }

    private void done(long bytes) {
        progress.at(readBytes.addAndGet(bytes), work(totalBytes));
    }

    /**
     * Returns the total that {@link Progress} reaches.
     *
     * @param bytes the bytes of all files
     * @return the same, plus the work for their heads
     */
    public static long work(long bytes) {
        return bytes + bytes / HEAD_SHARE;
    }

    private void all(ExecutorService workers, Callable<@Nullable Void> work) throws IOException {
        List<Future<@Nullable Void>> running = new ArrayList<>();
        for (int worker = 0; worker < options.threads(); worker++) {
            running.add(workers.submit(work));
        }
        try {
            for (Future<@Nullable Void> each : running) {
                each.get();
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IOException("packing was interrupted", stopped);
        } catch (ExecutionException failed) {
            if (failed.getCause() instanceof IOException reason) {
                throw reason;
            }
            if (failed.getCause() instanceof UncheckedIOException reason) {
                throw new IOException(reason.getMessage(), reason);
            }
            if (failed.getCause() instanceof Error error) {
                throw error;
            }
            throw new IllegalStateException(failed.getCause());
        }
    }

    // ---- tables ----

    /** Some windows of a run, which become one file of each table. */
    private record Part(String path, List<Head> windows) {}

    /** A window in the tables, and how many earlier ones its export had deleted. */
    private record Taken(Head head, long windowsDeleted) {}

    private Result write(int profiles, PackPlan plan, ExecutorService workers, List<PackProblem> problems)
            throws IOException {
        Path tables = TemporaryFiles.keep(folder.resolve(TABLES_FOLDER + UUID.randomUUID()));
        List<PackFile> files = Collections.synchronizedList(new ArrayList<>());
        List<Taken> taken = Collections.synchronizedList(new ArrayList<>());
        try {
            for (String table : FleetPack.TABLES) {
                Files.createDirectories(tables.resolve(table));
            }
            List<Part> parts = parts(plan);
            AtomicInteger next = new AtomicInteger();
            all(workers, () -> {
                ProfileWindow reader = new ProfileWindow();
                try (DuckEngine engine = engine(tables)) {
                    for (int i = next.getAndIncrement(); i < parts.size(); i = next.getAndIncrement()) {
                        files.addAll(
                                write(parts.get(i), new PartWriter(engine, folder, tables), reader, taken, problems));
                    }
                }
                return null;
            });
            files.addAll(emptyTables(tables, files));
            Map<String, List<Taken>> runs = new TreeMap<>();
            taken.forEach(each -> runs.computeIfAbsent(each.head().runId(), none -> new ArrayList<>())
                    .add(each));
            runs.values().forEach(run -> {
                problems.addAll(PackPlan.missing(run.stream().map(Taken::head).toList()));
                problems.addAll(deleted(run));
            });
            Manifest manifest = new Manifest(profiles, plan.identical(), sorted(files), sortedProblems(problems));
            if (taken.isEmpty()) {
                TemporaryFiles.delete(tables);
            } else {
                // From now on, the tables may be those of the manifest.
                TemporaryFiles.release(tables);
                manifest.write(folder);
                deleteFormer(tables);
            }
            return new Result(manifest, taken.size());
        } catch (IOException | RuntimeException | Error failed) {
            TemporaryFiles.delete(tables);
            throw failed;
        }
    }

    /**
     * Returns problems for the windows that the exports of a run's ranks deleted, as far as later windows count them.
     */
    private static List<PackProblem> deleted(List<Taken> run) {
        List<PackProblem> problems = new ArrayList<>();
        run.stream()
                .collect(Collectors.groupingBy(each -> each.head().rank(), TreeMap::new, Collectors.toList()))
                .forEach((rank, windows) -> {
                    long all = 0;
                    long ofProcess = 0;
                    windows.sort(Comparator.comparingLong(each -> each.head().window()));
                    for (Taken each : windows) {
                        // A new process counts from 0 again.
                        all = Sums.limited(all, each.windowsDeleted() < ofProcess ? ofProcess : 0);
                        ofProcess = each.windowsDeleted();
                    }
                    all = Sums.limited(all, ofProcess);
                    if (all > 0) {
                        problems.add(new PackProblem(
                                Kind.UNWRITTEN_WINDOWS,
                                windows.get(0).head().runId(),
                                rank,
                                null,
                                null,
                                "the export of rank " + rank + " deleted at least " + all
                                        + " windows to stay within its bound",
                                all));
                    }
                });
        return problems;
    }

    private static List<PackFile> sorted(List<PackFile> files) {
        return files.stream().sorted(Comparator.comparing(PackFile::path)).toList();
    }

    private static List<PackProblem> sortedProblems(List<PackProblem> problems) {
        return problems.stream()
                .sorted(Comparator.comparing(PackProblem::kind)
                        .thenComparing(problem -> String.valueOf(problem.runId()))
                        .thenComparing(problem -> problem.rank() == null ? -1 : problem.rank())
                        .thenComparing(problem -> problem.window() == null ? -1L : problem.window())
                        .thenComparing(problem -> String.valueOf(problem.file())))
                .toList();
    }

    private List<Part> parts(PackPlan plan) {
        List<Part> parts = new ArrayList<>();
        Set<String> names = new HashSet<>();
        plan.runs().forEach((run, windows) -> {
            String name = folderName(run, names);
            int count = parts(windows.size());
            for (int number = 0; number < count; number++) {
                parts.add(new Part(
                        String.format("run=%s/%05d.parquet", name, number),
                        windows.subList(from(number, count, windows.size()), from(number + 1, count, windows.size()))));
            }
        });
        return parts;
    }

    /**
     * Returns the number of parts for some windows. The parts have one size, and each worker gets the same number of
     * them, unless they would be too small.
     */
    private int parts(int windows) {
        int needed = (windows + PART_WINDOWS - 1) / PART_WINDOWS;
        int alike = (needed + options.threads() - 1) / options.threads() * options.threads();
        return windows < (long) LEAST_WINDOWS * alike ? needed : alike;
    }

    private static int from(int part, int parts, int windows) {
        return (int) ((long) windows * part / parts);
    }

    /**
     * Returns a folder name that no other run has: the end of the run's name, with underscores for characters that not
     * every file system allows. The column {@code run_id} has the complete name.
     */
    private static String folderName(String run, Set<String> others) {
        String plain = run.replaceAll("[^A-Za-z0-9._-]+", "_");
        String name = plain.substring(Math.max(0, plain.length() - 100));
        for (int number = 2; !others.add(name); number++) {
            name = plain.substring(Math.max(0, plain.length() - 100)) + "~" + number;
        }
        return name;
    }

    /**
     * Returns the engine of a worker, with its share of the memory. Data that do not fit go to files beside the new
     * tables. If the process is killed, the next pack deletes these files together with the tables.
     */
    private DuckEngine engine(Path tables) throws IOException {
        return DuckEngine.open(new FleetEngine.Options(options.memoryBytes() / options.threads(), 1, tables, null));
    }

    private List<PackFile> write(
            Part part, PartWriter tables, ProfileWindow reader, List<Taken> taken, List<PackProblem> problems)
            throws IOException {
        try (tables) {
            for (Head head : part.windows()) {
                byte[] bytes = Files.readAllBytes(head.file());
                try {
                    reader.read(bytes);
                    tables.add(head, reader);
                    taken.add(new Taken(head, reader.windowsDeleted));
                } catch (Unreadable unreadable) {
                    problems.add(PackPlan.problem(unreadable.kind, head, String.valueOf(unreadable.getMessage())));
                }
                done(bytes.length);
            }
            return tables.finish(part.path());
        }
    }

    /** Writes a file without rows for each table that has no file, so that every table has one. */
    private List<PackFile> emptyTables(Path tables, List<PackFile> files) throws IOException {
        List<PackFile> empty = new ArrayList<>();
        try (DuckEngine engine = engine(tables);
                PartWriter none = new PartWriter(engine, folder, tables)) {
            for (String table : FleetPack.TABLES) {
                if (files.stream().noneMatch(file -> file.table().equals(table))) {
                    empty.add(none.finish(table, "empty.parquet"));
                }
            }
        }
        return empty;
    }

    /** Deletes the files of an earlier or an interrupted pack. */
    private void deleteFormer(Path tables) throws IOException {
        try (Stream<Path> there = Files.list(folder)) {
            there.filter(each -> each.getFileName().toString().startsWith(TABLES_FOLDER) && !each.equals(tables))
                    .forEach(TemporaryFiles::delete);
        }
    }
}
