package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.zip.GZIPOutputStream;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.trace.Timeline;

/** Writes timelines to files in the format that the file name's ending selects. Stateless; any thread. */
public final class TraceFiles {

    private static final int GZIP_BUFFER_BYTES = 1 << 16;

    private TraceFiles() {}

    /**
     * Writes a timeline that this library recorded.
     *
     * @param timeline the timeline; it stays usable, also after a failure
     * @param path the file, as below
     * @throws IOException as below
     * @throws IllegalArgumentException as below
     */
    public static void write(Timeline timeline, Path path) throws IOException {
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(path, "path");
        write(timeline, path, Origin.OWN);
    }

    /**
     * Writes a timeline. The file is written completely or not at all, see {@link AtomicFile}.
     *
     * @param timeline the timeline; it stays usable, also after a failure
     * @param path the file: {@code .pftrace} or {@code .perfetto-trace} for {@link PerfettoWriter}, {@code .json} or
     *     {@code .json.gz} for {@link ChromeWriter}, in upper or lower case
     * @param origin the program that recorded it
     * @throws IOException when it cannot be written; the message names the path and the reason, and an older file there
     *     is untouched
     * @throws IllegalArgumentException for another ending, and for a timeline that breaks its own rules
     */
    public static void write(Timeline timeline, Path path, Origin origin) throws IOException {
        Objects.requireNonNull(timeline, "timeline");
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(origin, "origin");
        AtomicFile.Content content = content(timeline, path, origin);
        AtomicFile.write(path, content);
    }

    /**
     * Checks that a file name has the ending of a format.
     *
     * @param path the file of a timeline
     * @throws IllegalArgumentException for another ending
     */
    public static void requireFormat(Path path) {
        formatOf(path);
    }

    private static AtomicFile.Content content(Timeline timeline, Path path, Origin origin) {
        return switch (formatOf(path)) {
            case PERFETTO -> out -> PerfettoWriter.write(timeline, out, origin);
            case CHROME -> out -> ChromeWriter.write(timeline, out, origin);
            case ZIPPED_CHROME -> out -> writeZipped(timeline, out, origin);
        };
    }

    private enum Format {
        PERFETTO,
        CHROME,
        ZIPPED_CHROME
    }

    private static Format formatOf(Path path) {
        String name = path.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".pftrace") || name.endsWith(".perfetto-trace")) {
            return Format.PERFETTO;
        }
        if (name.endsWith(".json")) {
            return Format.CHROME;
        }
        if (name.endsWith(".json.gz")) {
            return Format.ZIPPED_CHROME;
        }
        throw new IllegalArgumentException(
                "a trace is a file .pftrace, .perfetto-trace, .json or .json.gz, not " + path);
    }

    private static void writeZipped(Timeline timeline, OutputStream out, Origin origin) throws IOException {
        GZIPOutputStream zipped = new GZIPOutputStream(out, GZIP_BUFFER_BYTES);
        ChromeWriter.write(timeline, zipped, origin);
        zipped.finish();
    }

    /** The program that recorded a timeline. */
    public enum Origin {
        /** This library: a file names it as its producer, and spans of bricks are samples. */
        OWN,
        /**
         * Another program, whose trace was read: a file does not name this library, and categories are written as they
         * are, so that readers treat it like the original.
         */
        OTHER
    }
}
