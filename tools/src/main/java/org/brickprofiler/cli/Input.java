package org.brickprofiler.cli;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Terminal.InputBar;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.report.ChecksumFile;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.read.GzipMembers;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceFormatException;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;

/**
 * Opens the input of commands, and recognises reports of this library, traces and logs of checksums by their content.
 */
final class Input {

    private Input() {}

    /**
     * Checks that a path exists and is no folder.
     *
     * @param file the path
     * @return the same path
     * @throws IOException if the path does not exist or is a folder
     */
    static Path required(Path file) throws IOException {
        if (Files.notExists(file)) {
            throw cannotRead(file, "it does not exist");
        }
        if (Files.isDirectory(file)) {
            throw cannotRead(file, "it is a folder");
        }
        return file;
    }

    private static IOException cannotRead(Path file, String reason) {
        return new IOException("cannot read " + file + ": " + reason);
    }

    /**
     * Checks before a long run that its result can be written, and does not replace the input.
     *
     * @param in the input
     * @param out the output; a pipe or a terminal is not checked
     * @throws IOException if the input does not exist
     * @throws IllegalArgumentException if the output cannot be written; the message says why
     */
    static void requireOutput(Path in, Path out) throws IOException {
        boolean isFile =
                !in.equals(Opened.STANDARD_INPUT) && !Files.isDirectory(in) && Files.isRegularFile(required(in));
        if (isFile && Files.exists(out) && Files.isSameFile(in, out)) {
            throw new IllegalArgumentException("cannot write " + out + ": it is the input");
        }
        if (!Files.exists(out) || Files.isRegularFile(out) || Files.isDirectory(out)) {
            OutputFile.requireWritable(out);
        }
    }

    /**
     * Reads the timeline of a trace.
     *
     * @param file a file, a pipe, or {@code -} for the standard input
     * @param salvage whether to read a damaged trace up to the damage
     * @return the timeline; the caller closes it
     * @throws IOException if the file cannot be read, or is no trace; the message names the file
     */
    static TraceTimeline timeline(Path file, boolean salvage) throws IOException {
        try (Opened input = new Opened(file)) {
            return switch (input.kind()) {
                case REPORT ->
                    throw new IOException(input.name + " is a report: it holds sums, from which no timeline is made");
                case CHECKSUMS -> throw new IOException(input.name + " is a log of checksums, and no trace");
                case SUMMARY -> throw input.withoutBricks();
                case TRACE ->
                    input.trace(
                            ReadOptions.defaults().withSalvage(salvage), TraceReader::timeline, TraceReader::timeline);
            };
        }
    }

    /**
     * Reads a log of checksums.
     *
     * @param file a file, a pipe, or {@code -} for the standard input
     * @return the log
     * @throws IOException if the file cannot be read, or is no log; the message names the file
     */
    static ChecksumLog checksums(Path file) throws IOException {
        try (Opened input = new Opened(file)) {
            return InputFile.guarded(input.name, () -> ChecksumFile.read(input.bytes, input.name));
        }
    }

    /** Thrown for a summary of a run, which has no bricks. */
    static final class WithoutBricks extends IOException {
        private static final long serialVersionUID = 1L;

        final transient TraceReader.Summary summary;

        WithoutBricks(String name, TraceReader.Summary summary) {
            super(name + " is a summary of " + summary.program()
                    + ": it has phases or requests and no bricks; brick report prints it");
            this.summary = summary;
        }
    }

    /** The opened input, which is read once because it may be a pipe. Used by one thread. */
    static final class Opened implements Closeable {

        /** The argument that stands for the standard input. */
        static final Path STANDARD_INPUT = Path.of("-");

        /** The number of bytes that are inspected to recognise the kind. */
        private static final int LOOKAHEAD_BYTES = 1 << 18;

        private static final byte[] GZIP = {0x1f, (byte) 0x8b};
        private static final int BUFFER_BYTES = 1 << 13;

        private final Path file;
        final String name;
        private final boolean isOneFile;
        private final Kind kind;

        /** The content from its beginning; reports and logs of checksums are unpacked. */
        private final BufferedInputStream bytes;

        Opened(Path file) throws IOException {
            this(List.of(file));
        }

        /**
         * Opens a file, a pipe or the standard input; or the files of one run, see {@link TraceReader#together}.
         *
         * @param files at least one
         * @throws IOException if one cannot be read, or several are not of one run
         */
        Opened(List<Path> files) throws IOException {
            this.file = files.get(0);
            boolean isStandardInput = files.size() == 1 && file.equals(STANDARD_INPUT);
            this.name = isStandardInput
                    ? "the standard input"
                    : files.size() == 1 ? file.toString() : file + " and " + (files.size() - 1) + " more";
            this.isOneFile = files.size() == 1 && Files.isRegularFile(file);
            InputStream opened = isStandardInput
                    ? System.in
                    : files.size() > 1 || Files.isDirectory(file)
                            ? TraceReader.together(files)
                            : new Unasked(InputFile.open(required(file)));
            BufferedInputStream stored = new BufferedInputStream(opened);
            stored.mark(LOOKAHEAD_BYTES);
            byte[] head = stored.readNBytes(LOOKAHEAD_BYTES);
            stored.reset();
            boolean isPacked = Arrays.equals(head, 0, Math.min(head.length, GZIP.length), GZIP, 0, GZIP.length);
            this.kind = InputFile.guarded(name, () -> Kind.of(isPacked ? unpacked(head) : head));
            // The reader of traces unpacks by itself, and salvages a damaged file.
            this.bytes = isPacked && kind != Kind.TRACE
                    ? new BufferedInputStream(new GzipMembers(stored, BUFFER_BYTES))
                    : stored;
        }

        /** Returns the beginning of a packed text, up to the end of its packed beginning or to damage. */
        private static byte[] unpacked(byte[] packed) {
            ByteArrayOutputStream text = new ByteArrayOutputStream();
            try (InputStream members = new GzipMembers(new ByteArrayInputStream(packed), BUFFER_BYTES)) {
                byte[] part = new byte[BUFFER_BYTES];
                for (int read = members.read(part);
                        read >= 0 && text.size() < LOOKAHEAD_BYTES;
                        read = members.read(part)) {
                    text.write(part, 0, read);
                }
            } catch (IOException damagedOrCut) {
                // The beginning is enough; its reader reports damage.
            }
            return text.toByteArray();
        }

        /** Answers 0 when asked for the available bytes, because asking a pipe fails. */
        private static final class Unasked extends FilterInputStream {
            Unasked(InputStream in) {
                super(in);
            }

            @Override
            public int available() {
                return 0;
            }
        }

        Kind kind() {
            return kind;
        }

        /** Returns the refusal of a summary, which a command that needs bricks throws. */
        WithoutBricks withoutBricks() throws IOException {
            return new WithoutBricks(name, TraceReader.summary(bytes, name));
        }

        ProfileSnapshot report() throws IOException {
            return InputFile.guarded(name, () -> JsonReport.read(bytes, name));
        }

        /** A report, and the slow steps and the lines of bricks of its run if the report has them. */
        record WholeReport(ProfileSnapshot snapshot, Optional<SlowSteps> slowest, Optional<LineProfile> lines) {}

        /** Reads a report with its slow steps and lines. */
        WholeReport wholeReport() throws IOException {
            return InputFile.guarded(name, () -> {
                byte[] all = whole();
                ProfileSnapshot snapshot = JsonReport.read(new ByteArrayInputStream(all), name);
                try {
                    return new WholeReport(
                            snapshot,
                            SlowSteps.ofReport(new ByteArrayInputStream(all)),
                            LineProfile.ofReport(new ByteArrayInputStream(all)));
                } catch (IllegalArgumentException malformed) {
                    throw new IOException(name + ": " + malformed.getMessage(), malformed);
                }
            });
        }

        private byte[] whole() throws IOException {
            try {
                return bytes.readAllBytes();
            } catch (IOException failed) {
                throw InputFile.cannotRead(name, failed);
            }
        }

        /** Reads a trace from a stream. */
        interface Reading<T> {
            T read(InputStream trace, String source, ReadOptions options) throws IOException;
        }

        /** Reads a trace from a file; databases can be read in no other way. */
        interface FileReading<T> {
            T read(Path file, ReadOptions options) throws IOException;
        }

        <T> T trace(ReadOptions options, FileReading<T> ofFile, Reading<T> ofStream) throws IOException {
            // The size of a pipe is unknown.
            try (InputBar bar = InputBar.of(file, isOneFile ? Files.size(file) : 0)) {
                ReadOptions watched = options.withProgress(bar);
                return isOneFile ? ofFile.read(file, watched) : ofStream.read(bytes, name, watched);
            } catch (TraceFormatException refused) {
                if (refused.isDamage() && !options.salvage()) {
                    throw new IOException(refused.getMessage() + "; --salvage reads what stands before it", refused);
                }
                throw refused;
            }
        }

        @Override
        public void close() throws IOException {
            if (!file.equals(STANDARD_INPUT)) {
                bytes.close();
            }
        }
    }

    /** The kinds of content. */
    enum Kind {
        /** A report of this library. */
        REPORT,
        /** A log of checksums. */
        CHECKSUMS,
        /** Phases and requests that another program sums up, without bricks. */
        SUMMARY,
        /** Anything else; the reader of traces recognises the format, or reports the fault. */
        TRACE;

        private static final JsonFactory FACTORY = new JsonFactory();

        /**
         * Recognises the kind by the keys of the outermost object, up to the first decisive key.
         *
         * @param head the first bytes
         * @return the kind; for malformed content, the kind whose reader reports the fault
         */
        static Kind of(byte[] head) {
            if (TraceReader.isSummary(head)) {
                return SUMMARY;
            }
            Signs signs = new Signs();
            try (JsonParser json = FACTORY.createParser(head)) {
                signs.read(json);
            } catch (IOException unreadable) {
                return signs.kind();
            }
            return signs.kind();
        }

        /** The keys seen so far. */
        private static final class Signs {
            private boolean version;
            private boolean bricks;
            private boolean events;
            private boolean checksums;

            void read(JsonParser json) throws IOException {
                if (json.nextToken() != JsonToken.START_OBJECT) {
                    return;
                }
                while (json.nextToken() == JsonToken.FIELD_NAME) {
                    String key = json.currentName();
                    JsonToken value = json.nextToken();
                    switch (key) {
                        case "schema_version" -> version = true;
                        case "bricks" -> bricks = true;
                        case "traceEvents" -> events = true;
                        case "kind" ->
                            checksums = value == JsonToken.VALUE_STRING
                                    && json.getText().equals("brick-checksums");
                        default -> {
                            // Not decisive.
                        }
                    }
                    // The value of a decisive key may be nearly the whole file, so it is not skipped.
                    if (bricks || events || checksums) {
                        return;
                    }
                    json.skipChildren();
                }
            }

            Kind kind() {
                if (checksums) {
                    return CHECKSUMS;
                }
                // A report that is truncated before its bricks is still a report.
                return bricks || (version && !events) ? REPORT : TRACE;
            }
        }
    }
}
