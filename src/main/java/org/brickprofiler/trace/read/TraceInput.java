package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/** The text of a trace: unpacked if it is packed, with progress, and with faults of the packing told apart. */
final class TraceInput {

    private static final int BUFFER_BYTES = 1 << 16;
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
     * @param totalBytes how many there are, or {@link ReadProgress#UNKNOWN}
     * @param progress is told when bytes were read
     * @return the text; reading it throws {@link DamagedException} where the packing is wrong
     * @throws IOException when the bytes cannot be read
     */
    static InputStream text(InputStream raw, long totalBytes, ReadProgress progress) throws IOException {
        BufferedInputStream bytes = new BufferedInputStream(new Counted(raw, totalBytes, progress), BUFFER_BYTES);
        bytes.mark(2);
        int first = bytes.read();
        int second = bytes.read();
        bytes.reset();
        return first == GZIP_MAGIC_1 && second == GZIP_MAGIC_2 ? new Unpacked(bytes) : bytes;
    }

    /** Tells how far it is. */
    private static final class Counted extends FilterInputStream {
        private final long totalBytes;
        private final ReadProgress progress;
        private long bytesRead;

        Counted(InputStream in, long totalBytes, ReadProgress progress) {
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
