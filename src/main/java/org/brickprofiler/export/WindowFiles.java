package org.brickprofiler.export;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunIdentity;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.io.ExportLoss;
import org.brickprofiler.internal.io.FolderLock;
import org.jspecify.annotations.Nullable;

/**
 * The files of one rank's windows, {@code RUN/rank-00003/window-000012.json}, limited in total size, and the record of
 * losses beside these files. One thread.
 */
final class WindowFiles {

    private static final Log LOG = Log.of(WindowExport.class);
    private static final Pattern WINDOW = Pattern.compile("window-(\\d{6,18})\\.json");
    private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9._-]|^\\.");
    private static final int LONGEST_NAME = 100;

    /** Writes a window, completely or not at all. */
    @FunctionalInterface
    interface Format {
        /**
         * Writes a window.
         *
         * @param window the window
         * @param further further members of the file, by key
         * @param path the file; its folder exists
         * @throws IOException when writing fails; the message names the path and the reason
         */
        void write(ProfileSnapshot window, Map<String, ?> further, Path path) throws IOException;
    }

    private final Path root;
    private final Format format;
    private final String every;
    private final boolean isNumberedOn;
    private final long maxBytes;

    private @Nullable Path folder;

    /** The lock that keeps other exports out of the folder; null without a folder. */
    private @Nullable FolderLock lock;

    /** The existing files, oldest first, with their sizes. */
    private final Map<Path, Long> files = new LinkedHashMap<>();

    private long bytes;

    /** The offset of window numbers after an earlier process of the same rank. */
    private long base;

    /** The losses of earlier processes, and the windows that another program deleted. */
    private @Nullable ExportLoss lostBefore;

    /** The loss since the last written window; null if there is none. */
    private @Nullable ExportLoss lost;

    private boolean recorded;
    private long last = -1;
    private long written;
    private long deleted;
    private long failed;

    /**
     * Creates an object without a folder; no file is created yet.
     *
     * @param every the length of a window, as written to the files
     * @param isNumberedOn true if the numbers given to {@link #write} restart at 0 with each process, so that they are
     *     continued after the existing files
     * @param maxBytes the largest total size; the newest file is always kept
     */
    WindowFiles(Path root, Format format, String every, boolean isNumberedOn, long maxBytes) {
        this.root = root;
        this.format = format;
        this.every = every;
        this.isNumberedOn = isNumberedOn;
        this.maxBytes = maxBytes;
    }

    /**
     * Writes a window.
     *
     * @param number its number; if a file has this number or a later one, the next free number is used
     * @param more further members of the file, by key
     * @return false if writing failed; failures are counted, and the first one is logged
     */
    boolean write(ProfileSnapshot window, long number, Map<String, ?> more) {
        try {
            Path into = folder == null ? claim(window.identity()) : folder;
            Files.createDirectories(into);
            reserve(into, window.identity());
            long free = Math.max(last + 1, base + Math.max(0, number));
            while (Files.exists(file(into, free))) {
                free++;
            }
            Map<String, Object> export = new LinkedHashMap<>();
            export.put("every", every);
            export.put("windows_deleted", deleted);
            export.put("windows_failed", failed);
            Map<String, Object> further = new LinkedHashMap<>(Map.of("export", export));
            further.putAll(more);
            Path file = file(into, free);
            format.write(
                    window.withIdentity(
                            window.identity().toBuilder().window(free).build()),
                    further,
                    file);
            last = free;
            written++;
            keep(file);
            if (lost != null) {
                lost = null;
                recorded = record();
            }
            return true;
        } catch (IOException | RuntimeException | LinkageError e) {
            lose(window, e);
            if (failed++ == 0) {
                LOG.warn(
                        "a window of the profile cannot be written, and is part of the next; further failures are"
                                + " counted in the files: {}",
                        e.getMessage());
            }
            return false;
        }
    }

    /**
     * Creates the record of losses while the disk has space for it. If the record was deleted meanwhile, counts the
     * deleted windows as lost.
     */
    private void reserve(Path into, RunIdentity identity) {
        if (recorded && Files.exists(into.resolve(ExportLoss.FILE))) {
            return;
        }
        ExportLoss none = none(identity);
        if (lostBefore == null) {
            try {
                lostBefore = ExportLoss.read(into).orElse(none);
            } catch (IOException damaged) {
                LOG.warn("the losses of earlier processes of the rank are unknown: {}", damaged.getMessage());
                lostBefore = none;
            }
        } else if (recorded) {
            long gone = files.keySet().stream().filter(Files::notExists).count();
            files.keySet().removeIf(Files::notExists);
            bytes = files.values().stream().mapToLong(Long::longValue).sum();
            lostBefore = lostBefore.plus(new ExportLoss(
                    none.run(), none.rank(), gone, 0, 0, "their files were deleted while the run went on"));
        }
        recorded = record();
    }

    private static ExportLoss none(RunIdentity identity) {
        return ExportLoss.none(identity.runId().orElse(""), identity.rank());
    }

    /** Counts a window that is in no file. The window contains all earlier windows that could not be written. */
    private void lose(ProfileSnapshot window, Throwable why) {
        ExportLoss none = none(window.identity());
        lost = new ExportLoss(
                none.run(),
                none.rank(),
                lost == null ? 1 : lost.windows() + 1,
                window.bricks().stream().mapToLong(BrickStats::count).sum(),
                window.totalNs(),
                String.valueOf(why.getMessage()));
        recorded = record();
    }

    /** Writes the record; returns false if that fails, too. */
    private boolean record() {
        Path into = folder;
        ExportLoss before = lostBefore;
        if (into == null || before == null) {
            return false;
        }
        try {
            (lost == null ? before : before.plus(lost)).write(into);
            return true;
        } catch (IOException failed) {
            return false;
        }
    }

    private static Path file(Path folder, long number) {
        return folder.resolve(String.format(Locale.ROOT, "window-%06d.json", number));
    }

    /**
     * Claims a folder, which an earlier process of the same rank may have left. A folder that another export uses, in
     * this process or in another one, is never claimed: each would overwrite the windows of the other.
     */
    private Path claim(RunIdentity identity) throws IOException {
        String run = name(identity.runId().orElse("run"));
        String rank = identity.rank().isPresent()
                ? String.format(Locale.ROOT, "rank-%05d", identity.rank().getAsInt())
                : "process-" + ProcessHandle.current().pid();
        Path wanted = root.toAbsolutePath().resolve(run).resolve(rank);
        Path free = wanted;
        for (int i = 2; !take(free); i++) {
            free = wanted.resolveSibling(rank + "-" + i);
        }
        folder = free;
        NavigableMap<Long, Path> found = new TreeMap<>();
        try (DirectoryStream<Path> there = Files.newDirectoryStream(free)) {
            for (Path each : there) {
                Matcher window = WINDOW.matcher(String.valueOf(each.getFileName()));
                if (window.matches()) {
                    found.put(Long.parseLong(window.group(1)), each);
                }
            }
        }
        found.values().forEach(this::keep);
        last = found.isEmpty() ? -1 : found.lastKey();
        base = isNumberedOn ? last + 1 : 0;
        return free;
    }

    /** Locks a folder for this export until the export ends; returns false if another export has locked it. */
    private boolean take(Path free) throws IOException {
        Files.createDirectories(free);
        lock = FolderLock.take(free).orElse(null);
        if (lock == null) {
            return false;
        }
        lock.failure()
                .ifPresent(failed -> LOG.warn(
                        "{} cannot be locked: another process of the same rank may overwrite windows: {}",
                        free,
                        AtomicFile.reason(failed)));
        return true;
    }

    /** Returns a name that is valid for a folder on every system. */
    private static String name(String id) {
        String safe = UNSAFE.matcher(id).replaceAll("_");
        return safe.length() > LONGEST_NAME ? safe.substring(0, LONGEST_NAME) : safe;
    }

    /** Adds a file, and deletes the oldest files beyond the limit. */
    private void keep(Path file) {
        long size = file.toFile().length();
        files.put(file, size);
        bytes += size;
        while (bytes > maxBytes && files.size() > 1) {
            Map.Entry<Path, Long> entry = files.entrySet().iterator().next();
            Path oldest = entry.getKey();
            bytes -= entry.getValue();
            files.remove(oldest);
            if (oldest.toFile().delete()) {
                deleted++;
            }
        }
    }

    long written() {
        return written;
    }

    long deleted() {
        return deleted;
    }

    long failed() {
        return failed;
    }

    /** Releases the folder. */
    void close() {
        if (lost != null) {
            LOG.error(
                    "the export of windows ends, and its last windows are in no file: {} with {} of {} ns; {}: {}",
                    Plural.of(lost.windows(), "window"),
                    Plural.of(lost.samples(), "sample"),
                    lost.totalNs(),
                    recorded ? folder + "/" + ExportLoss.FILE + " records it" : "no file records it",
                    lost.reason());
        }
        if (lock != null) {
            try {
                lock.close();
            } catch (IOException failed) {
                LOG.warn("{} stays locked until the process ends: {}", folder, AtomicFile.reason(failed));
            }
        }
    }
}
