package org.brickprofiler;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.internal.io.FileFormat;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of one rank's windows, {@code RUN/rank-00003/window-000012.json}, within a bound. One thread.
 */
final class WindowFiles {

    private static final Logger LOG = LoggerFactory.getLogger(WindowExport.class);
    private static final Pattern WINDOW = Pattern.compile("window-(\\d{6,18})\\.json");
    private static final Pattern UNSAFE = Pattern.compile("[^A-Za-z0-9._-]|^\\.");
    private static final int LONGEST_NAME = 100;

    /** The folders that somebody in this virtual machine writes to. */
    private static final Set<Path> IN_USE = ConcurrentHashMap.newKeySet();

    private final Path root;
    private final FileFormat<ProfileSnapshot> format;
    private final String every;
    private final boolean isNumberedOn;
    private final long maxBytes;

    private @Nullable Path folder;

    /** Those that are there, oldest first, with their bytes. */
    private final Map<Path, Long> files = new LinkedHashMap<>();

    private long bytes;

    /** The number that a window after an earlier process of the same rank is counted from. */
    private long base;

    private long last = -1;
    private long written;
    private long deleted;
    private long failed;

    /**
     * Files that are not there yet.
     *
     * @param every what ends a window, for the files
     * @param isNumberedOn whether numbers begin anew with each process, so that they are counted on from what is there
     * @param maxBytes how much all of them take at most; the newest file stays in any case
     */
    WindowFiles(Path root, FileFormat<ProfileSnapshot> format, String every, boolean isNumberedOn, long maxBytes) {
        this.root = root;
        this.format = format;
        this.every = every;
        this.isNumberedOn = isNumberedOn;
        this.maxBytes = maxBytes;
    }

    /**
     * Writes a window.
     *
     * @param number its number, where no window has it yet; the next free one otherwise
     * @return false where that failed, which is counted, and logged the first time
     */
    boolean write(ProfileSnapshot window, long number) {
        try {
            Path into = folder == null ? claim(window.identity()) : folder;
            Files.createDirectories(into);
            long free = Math.max(last + 1, base + Math.max(0, number));
            while (Files.exists(file(into, free))) {
                free++;
            }
            Map<String, Object> further = new LinkedHashMap<>();
            further.put("every", every);
            further.put("windows_deleted", deleted);
            further.put("windows_failed", failed);
            Path file = file(into, free);
            format.write(
                    window.withIdentity(window.identity().toBuilder().window(free).build()),
                    Map.of("export", further),
                    file);
            last = free;
            written++;
            keep(file);
            return true;
        } catch (IOException | RuntimeException | LinkageError e) {
            if (failed++ == 0) {
                LOG.warn(
                        "a window of the profile cannot be written, and is part of the next; further failures are counted in"
                                + " the files: {}",
                        e.getMessage());
            }
            return false;
        }
    }

    private static Path file(Path folder, long number) {
        return folder.resolve(String.format(Locale.ROOT, "window-%06d.json", number));
    }

    /** Takes a folder of its own, which may be there from an earlier process of the same rank. */
    private Path claim(RunIdentity identity) throws IOException {
        String run = name(identity.runId().orElse("run"));
        String rank = identity.rank().isPresent()
                ? String.format(Locale.ROOT, "rank-%05d", identity.rank().getAsInt())
                : "process-" + ProcessHandle.current().pid();
        Path wanted = root.toAbsolutePath().resolve(run).resolve(rank);
        Path free = wanted;
        for (int i = 2; !IN_USE.add(free); i++) {
            free = wanted.resolveSibling(rank + "-" + i);
        }
        folder = free;
        if (Files.isDirectory(free)) {
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
        }
        base = isNumberedOn ? last + 1 : 0;
        return free;
    }

    /** A name of a folder on every system. */
    private static String name(String id) {
        String safe = UNSAFE.matcher(id).replaceAll("_");
        return safe.length() > LONGEST_NAME ? safe.substring(0, LONGEST_NAME) : safe;
    }

    /** Counts a file, and deletes the oldest ones beyond the bound. */
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

    /** Lets go of the folder. */
    void close() {
        if (folder != null) {
            IN_USE.remove(folder);
        }
    }
}
