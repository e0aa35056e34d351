package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The text of a trace: unpacked if it is packed, with progress, and with faults of the packing of their own type. */
final class TraceInput {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int LONGEST_BLANK = 4_096;
    private static final int PACKET_TAG = 1 << 3 | 2;
    private static final int GZIP_MAGIC_1 = 0x1f;
    private static final int GZIP_MAGIC_2 = 0x8b;

    private TraceInput() {}

    /** Says that what is packed is damaged. */
    static final class DamagedException extends IOException {
        private static final long serialVersionUID = 1L;

        DamagedException(String fault, IOException cause) {
            super(fault, cause);
        }
    }

    /**
     * The text of a trace.
     *
     * @param raw the bytes of the file; packed with gzip if they begin so
     * @param totalBytes how many there are, or {@link ReadOptions.Progress#UNKNOWN}
     * @param progress is called when bytes were read
     * @return the text; reading it throws {@link DamagedException} where the packing is wrong
     * @throws IOException when the bytes cannot be read
     */
    static BufferedInputStream text(InputStream raw, long totalBytes, ReadOptions.Progress progress)
            throws IOException {
        BufferedInputStream bytes = new BufferedInputStream(new Counted(raw, totalBytes, progress), BUFFER_BYTES);
        bytes.mark(2);
        int first = bytes.read();
        int second = bytes.read();
        bytes.reset();
        boolean packed = first == GZIP_MAGIC_1 && second == GZIP_MAGIC_2;
        return packed ? new BufferedInputStream(new Unpacked(bytes), BUFFER_BYTES) : bytes;
    }

    /**
     * Whether a trace is in Perfetto's format rather than JSON. Its first byte, the tag of a packet, is also a line
     * feed, with which JSON may begin: then there are only blanks before a bracket, and after that bracket what may
     * follow it.
     *
     * @param trace the bytes, unpacked; where it stands is kept
     * @param source what to call it in messages
     * @throws TraceFormatException when the packing is wrong
     * @throws IOException when they cannot be read
     */
    static boolean isPerfetto(BufferedInputStream trace, String source) throws IOException {
        try {
            return isPerfetto(trace);
        } catch (DamagedException damaged) {
            throw new TraceFormatException(source, 0, String.valueOf(damaged.getMessage()), damaged);
        }
    }

    private static boolean isPerfetto(BufferedInputStream trace) throws IOException {
        trace.mark(LONGEST_BLANK);
        int first = trace.read();
        int bracket = afterBlanks(trace, first);
        int inside = bracket == '{' || bracket == '[' ? afterBlanks(trace, trace.read()) : bracket;
        trace.reset();
        boolean isJson = bracket < 0
                || (bracket == '{' && (inside < 0 || inside == '"' || inside == '}'))
                || (bracket == '[' && (inside < 0 || inside == '{' || inside == ']' || inside == 'n'));
        return first == PACKET_TAG && !isJson;
    }

    /** The first byte that is no blank, beginning with one that was read; -1 where there is none, or none near. */
    private static int afterBlanks(InputStream trace, int first) throws IOException {
        int at = first;
        for (int i = 0; i < LONGEST_BLANK / 4 && (at == ' ' || at == '\t' || at == '\n' || at == '\r'); i++) {
            at = trace.read();
        }
        return at == ' ' || at == '\t' || at == '\n' || at == '\r' ? -1 : at;
    }

    /** Reports how far it is. */
    private static final class Counted extends FilterInputStream {
        private final long totalBytes;
        private final ReadOptions.Progress progress;
        private long bytesRead;

        Counted(InputStream in, long totalBytes, ReadOptions.Progress progress) {
            super(in);
            this.totalBytes = totalBytes;
            this.progress = progress;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            int read = super.read(buffer, from, length);
            if (read > 0) {
                bytesRead += read;
                progress.at(bytesRead, totalBytes);
            }
            return read;
        }

        @Override
        public boolean markSupported() {
            return false;
        }
    }

    /** Unpacks when it is first read, so that a damaged head is found there too. */
    private static final class Unpacked extends InputStream {
        private final InputStream packed;
        private InputStream text = InputStream.nullInputStream();
        private boolean begun;

        Unpacked(InputStream packed) {
            this.packed = packed;
        }

        @Override
        public int read() throws IOException {
            byte[] one = new byte[1];
            return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            try {
                if (!begun) {
                    begun = true;
                    text = new GZIPInputStream(packed, BUFFER_BYTES);
                }
                return text.read(buffer, from, length);
            } catch (EOFException early) {
                throw new DamagedException("the packed file ends too early", early);
            } catch (ZipException damaged) {
                throw new DamagedException("the packed file is damaged: " + damaged.getMessage(), damaged);
            }
        }

        @Override
        public void close() throws IOException {
            text.close();
            packed.close();
        }
    }
}
