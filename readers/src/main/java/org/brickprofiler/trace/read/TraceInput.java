package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.internal.io.TemporaryFiles;
import org.jspecify.annotations.Nullable;

/**
 * Opens the text of a trace: unpacks it if it is compressed, reports progress, and gives faults of the compression
 * their own exception type.
 */
final class TraceInput {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int LONGEST_BLANK = 4_096;
    private static final int PACKET_TAG = 1 << 3 | 2;
    private static final String SQLITE = "SQLite format 3";
    private static final String FLIGHT_RECORDING = "FLR\0";
    private static final String GZIP = "\u001f\u008b";

    // The bounds of a packed text that is unpacked into a file. Databases and tables are packed to a tenth or less.
    private static final long MOST_UNPACKED_BYTES = 8L << 30;
    private static final long FREE_BYTES = 64L << 20;
    private static final long MOST_RATIO = 100;

    /**
     * The length of the beginning in which a format is looked for, such as TornadoVM's first object in the output of a
     * program.
     */
    private static final int LONGEST_OUTPUT = 1 << 18;

    /** The length of a beginning that contains the name of an XSpace's first plane. */
    private static final int LONGEST_PLANE_HEAD = 256;

    private static final int PLANE_ID_TAG = 1 << 3;
    private static final int PLANE_NAME_TAG = 2 << 3 | 2;

    private TraceInput() {}

    /** Thrown if the compressed bytes are damaged. */
    static final class DamagedException extends IOException {
        private static final long serialVersionUID = 1L;

        DamagedException(String fault, IOException cause) {
            super(fault, cause);
        }
    }

    /**
     * Returns the text of a trace.
     *
     * @param raw the bytes of the file; unpacked if they begin as gzip does. Left open
     * @param totalBytes the number of bytes, or {@link ReadOptions.Progress#UNKNOWN}
     * @param source their name in messages
     * @param progress is called when bytes were read, on the thread that reads the text
     * @return the text, to be closed; reading it throws {@link DamagedException} if the compression is damaged
     * @throws IOException when the bytes cannot be read
     */
    static BufferedInputStream text(InputStream raw, long totalBytes, String source, ReadOptions.Progress progress)
            throws IOException {
        Counted counted = new Counted(raw, source);
        BufferedInputStream bytes = new BufferedInputStream(counted, BUFFER_BYTES);
        boolean isPacked = begin(bytes, GZIP.length()).equals(GZIP);
        InputStream text =
                PlainBytes.asUtf8(isPacked ? new BufferedInputStream(new Unpacked(bytes), BUFFER_BYTES) : bytes);
        // A caller's stream is not read ahead: reading it may block for long, and it must not be read after this stream
        // is closed.
        boolean isLargeFile = totalBytes > BUFFER_BYTES;
        InputStream read = isPacked && isLargeFile ? new ReadAhead(text) : text;
        return new Text(new Reported(read, counted, totalBytes, progress), isPacked ? counted : null);
    }

    /**
     * Returns the first bytes, one character for each, up to damage, which the parser will report; the position of the
     * text is kept.
     */
    private static String begin(BufferedInputStream text, int most) throws IOException {
        byte[] head = new byte[most];
        int length = 0;
        text.mark(most);
        try {
            for (int read = 0; read >= 0 && length < most; length += Math.max(0, read)) {
                read = text.read(head, length, most - length);
            }
        } catch (DamagedException damaged) {
            // The beginning up to the damage is enough.
        }
        text.reset();
        return new String(head, 0, length, StandardCharsets.ISO_8859_1);
    }

    /**
     * Returns the beginning of a text in which its format is looked for, one character for each byte, without the
     * escape sequences of terminals.
     */
    static String head(BufferedInputStream text) throws IOException {
        return PlainBytes.withoutEscapes(begin(text, LONGEST_OUTPUT));
    }

    /**
     * Opens the text of a file.
     *
     * @return the text, unpacked, to be closed
     * @throws IOException when the file cannot be read; the message names it
     */
    static InputStream unpacked(Path file) throws IOException {
        InputStream bytes = new BufferedInputStream(InputFile.open(file));
        try {
            return isUnpacked(file) ? bytes : new GZIPInputStream(bytes);
        } catch (IOException failed) {
            bytes.close();
            throw InputFile.cannotRead(file.toString(), failed);
        }
    }

    /**
     * Opens the text of a file that is copied before it is read.
     *
     * @return the text, unpacked, to be closed; reading it fails if it is far longer than its packed form
     * @throws IOException when the file cannot be read; the message names it
     */
    static InputStream unpackedWithinBound(Path file) throws IOException {
        InputStream text = unpacked(file);
        if (isUnpacked(file)) {
            return text;
        }
        long packedBytes = Files.size(file);
        return new Blocks() {
            private long bytes;

            @Override
            public int read(byte[] buffer, int from, int length) throws IOException {
                int read = text.read(buffer, from, length);
                bytes += Math.max(0, read);
                requireBounded(bytes, packedBytes, file.toString());
                return read;
            }

            @Override
            public void close() throws IOException {
                text.close();
            }
        };
    }

    /**
     * Copies the rest of a text to a file.
     *
     * @param text the text
     * @param file the file
     * @param source the name of the text in messages
     * @throws DamagedException when its compression is damaged
     * @throws TraceFormatException when it is far longer than its packed form
     * @throws IOException when it cannot be read, or the file cannot be written
     */
    static void copy(InputStream text, Path file, String source) throws IOException {
        @Nullable Counted packed = text instanceof Text known ? known.packed : null;
        byte[] buffer = new byte[BUFFER_BYTES];
        long bytes = 0;
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int read = text.read(buffer); read >= 0; read = text.read(buffer)) {
                bytes += read;
                if (packed != null) {
                    requireBounded(bytes, packed.bytesRead, source);
                }
                write(out, buffer, read);
            }
        }
    }

    private static void write(OutputStream out, byte[] buffer, int length) throws IOException {
        try {
            out.write(buffer, 0, length);
        } catch (IOException failed) {
            throw TemporaryFiles.cannotWrite(failed);
        }
    }

    private static void requireBounded(long bytes, long packedBytes, String source) throws TraceFormatException {
        if (bytes > MOST_UNPACKED_BYTES || (bytes > FREE_BYTES && bytes > MOST_RATIO * packedBytes)) {
            throw new TraceFormatException(
                    source,
                    bytes,
                    String.format(
                            Locale.ROOT,
                            "its first %,d bytes unpack to %,d, and a packed file of this format is unpacked into a"
                                    + " temporary one up to %,d times its size and %,d GiB; unpack it by hand, and read"
                                    + " the result: gunzip -c FILE > UNPACKED",
                            packedBytes,
                            bytes,
                            MOST_RATIO,
                            MOST_UNPACKED_BYTES >> 30));
        }
    }

    /** Returns the beginning of a file's text in which its format is looked for, one character for each byte. */
    static String head(Path file) throws IOException {
        try (InputStream text = unpacked(file)) {
            return PlainBytes.withoutEscapes(PlainBytes.asUtf8(text.readNBytes(LONGEST_OUTPUT)));
        }
    }

    /** Returns whether a file is not compressed. */
    static boolean isUnpacked(Path file) throws IOException {
        try (InputStream bytes = InputFile.open(file)) {
            return !new String(bytes.readNBytes(GZIP.length()), StandardCharsets.ISO_8859_1).startsWith(GZIP);
        }
    }

    /** Returns whether a text is in UTF-8, judged by its beginning: JSON begins with ASCII. */
    static boolean isUtf8(BufferedInputStream text) throws IOException {
        String begin = begin(text, 4);
        return begin.indexOf('\0') < 0 && !begin.startsWith("\u00fe\u00ff") && !begin.startsWith("\u00ff\u00fe");
    }

    /** The format of a trace. */
    enum Format {
        CHROME,
        PERFETTO,
        /** An SQLite database, as exported by Nsight Systems or written by AMD's profilers. */
        SQLITE,
        /** An XSpace of XLA's profiler. */
        XSPACE,
        /** Tables (CSV) of AMD's rocprofv3 or rocprof. */
        ROCM_TABLES,
        /** The JSON of AMD's rocprofv3. */
        ROCM_JSON,
        /** A recording of the Java Flight Recorder. */
        FLIGHT_RECORDING,
        /** The output of TornadoVM's profiler, with or without a program's own output. */
        TORNADO_VM,
        /** A table of sums; see {@link SumTables}. */
        SUMS
    }

    /**
     * Returns the format of a trace, by its content. Unknown content counts as {@link Format#CHROME}, whose parser
     * reports the fault.
     *
     * @param trace the bytes, unpacked; its position is kept
     * @param source its name in messages
     * @throws TraceFormatException when the compression is damaged, or the bytes have a known format that is no trace
     * @throws IOException when they cannot be read
     */
    static Format format(BufferedInputStream trace, String source) throws IOException {
        try {
            String begin = begin(trace, ForeignText.LONGEST_MAGIC);
            if (begin.startsWith(SQLITE)) {
                return Format.SQLITE;
            }
            if (begin.startsWith(FLIGHT_RECORDING)) {
                return Format.FLIGHT_RECORDING;
            }
            String foreign = ForeignText.ofMagic(begin);
            if (foreign != null) {
                throw new TraceFormatException(source, 0, foreign);
            }
            if (isXSpace(begin(trace, LONGEST_PLANE_HEAD))) {
                return Format.XSPACE;
            }
            return format(trace, source, isUtf8(trace));
        } catch (DamagedException damaged) {
            throw new TraceFormatException(source, 0, String.valueOf(damaged.getMessage()), damaged);
        }
    }

    /**
     * Returns whether the first message is a plane of an XSpace rather than a packet of Perfetto; the tags are the
     * same. A plane begins with a number and a name; a packet has no number there, and a message in place of the name;
     * see <a href="https://github.com/openxla/xla/blob/main/xla/tsl/profiler/protobuf/xplane.proto">its
     * description</a>.
     */
    private static boolean isXSpace(String begin) {
        int at = begin.isEmpty() || begin.charAt(0) != PACKET_TAG ? -1 : afterVarint(begin, 1);
        if (at >= 0 && at < begin.length() && begin.charAt(at) == PLANE_ID_TAG) {
            at = afterVarint(begin, at + 1);
        }
        if (at < 0 || at + 1 >= begin.length() || begin.charAt(at) != PLANE_NAME_TAG) {
            return false;
        }
        int length = begin.charAt(at + 1);
        int end = at + 2 + length;
        return length > 0
                && end <= begin.length()
                && begin.substring(at + 2, end).chars().allMatch(c -> c >= ' ' && c <= '~');
    }

    /** Returns the index after a varint; -1 if the varint does not end. */
    private static int afterVarint(String bytes, int from) {
        int at = from;
        while (at < bytes.length() && bytes.charAt(at) >= 0x80) {
            at++;
        }
        return at < bytes.length() ? at + 1 : -1;
    }

    /**
     * Returns the format of a text or of a Perfetto trace. The first byte of a Perfetto trace, the tag of a packet, is
     * also the line feed with which a text may begin. JSON has only blanks before its first bracket and a valid JSON
     * token after it; a program may print anything before TornadoVM's first object.
     */
    private static Format format(BufferedInputStream trace, String source, boolean isUtf8) throws IOException {
        trace.mark(LONGEST_BLANK);
        int first = trace.read();
        int bracket = afterBlanks(trace, first);
        int inside = bracket == '{' || bracket == '[' ? afterBlanks(trace, trace.read()) : bracket;
        trace.reset();
        boolean isJson = bracket < 0
                || (bracket == '{' && (inside < 0 || inside == '"' || inside == '}'))
                || (bracket == '[' && (inside < 0 || inside == '{' || inside == ']' || inside == 'n'));
        // A program may have printed something before the first object.
        String head = head(trace);
        if ((isJson && bracket == '[') ? TornadoParser.begins(head) : TornadoParser.beginsIn(head)) {
            return Format.TORNADO_VM;
        }
        if (RocmTables.begins(head)) {
            return Format.ROCM_TABLES;
        }
        if (RocmJson.begins(head)) {
            return Format.ROCM_JSON;
        }
        if (SumTables.begins(head, isJson)) {
            return Format.SUMS;
        }
        if (isJson && SummaryFormat.of(head) != null) {
            throw new TraceFormatException(
                    source,
                    0,
                    "it is a summary of a run: it has phases or requests and no bricks; brick report prints it");
        }
        boolean isPerfetto = first == PACKET_TAG && !isJson && !ForeignText.isLongText(head);
        String foreign = isPerfetto || !isUtf8 ? null : ForeignText.fault(head);
        if (foreign != null) {
            throw new TraceFormatException(source, 0, foreign);
        }
        return isPerfetto ? Format.PERFETTO : Format.CHROME;
    }

    /** Returns the first non-blank byte from a given one on; -1 if none is near. */
    private static int afterBlanks(InputStream trace, int first) throws IOException {
        int at = first;
        for (int i = 0; i < LONGEST_BLANK / 4 && (at == ' ' || at == '\t' || at == '\n' || at == '\r'); i++) {
            at = trace.read();
        }
        return at == ' ' || at == '\t' || at == '\n' || at == '\r' ? -1 : at;
    }

    /** A stream that reads single bytes through its method for blocks. */
    private abstract static class Blocks extends InputStream {
        @Override
        public final int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public abstract int read(byte[] buffer, int from, int length) throws IOException;
    }

    /** The text of a trace, with the bytes of its packed form; null if it is not packed. */
    private static final class Text extends BufferedInputStream {
        private final @Nullable Counted packed;

        Text(InputStream in, @Nullable Counted packed) {
            super(in, BUFFER_BYTES);
            this.packed = packed;
        }
    }

    /** Counts the bytes of a file, and names the file in exceptions. Any thread may read the count. */
    private static final class Counted extends Blocks {
        private final InputStream in;
        private final String source;
        private volatile long bytesRead;

        Counted(InputStream in, String source) {
            this.in = in;
            this.source = source;
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            try {
                int read = in.read(buffer, from, length);
                long sum = bytesRead + Math.max(0, read);
                bytesRead = sum;
                return read;
            } catch (IOException failed) {
                throw InputFile.cannotRead(source, failed);
            }
        }

        /** Leaves the file open: its opener closes it. */
        @Override
        public void close() {
            // The file stays open.
        }
    }

    /** Reports the progress in the file. */
    private static final class Reported extends Blocks {
        private final InputStream text;
        private final Counted file;
        private final long totalBytes;
        private final ReadOptions.Progress progress;
        private long reported;

        Reported(InputStream text, Counted file, long totalBytes, ReadOptions.Progress progress) {
            this.text = text;
            this.file = file;
            this.totalBytes = totalBytes;
            this.progress = progress;
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            int read = text.read(buffer, from, length);
            long bytesRead = file.bytesRead;
            if (bytesRead > reported) {
                reported = bytesRead;
                progress.at(bytesRead, totalBytes);
            }
            return read;
        }

        @Override
        public void close() throws IOException {
            text.close();
        }
    }

    /** Unpacks; after a failure, each further read fails in the same way. */
    private static final class Unpacked extends Blocks {
        private final GzipMembers text;
        private @Nullable DamagedException failed;

        Unpacked(InputStream packed) {
            this.text = new GzipMembers(packed, BUFFER_BYTES);
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            DamagedException before = failed;
            if (before != null) {
                throw before;
            }
            try {
                return text.read(buffer, from, length);
            } catch (EOFException early) {
                throw fail("the packed file ends too early", early);
            } catch (ZipException damaged) {
                throw fail("the packed file is damaged: " + damaged.getMessage(), damaged);
            }
        }

        private DamagedException fail(String fault, IOException cause) {
            DamagedException failure = new DamagedException(fault, cause);
            failed = failure;
            return failure;
        }

        @Override
        public void close() throws IOException {
            text.close();
        }
    }
}
