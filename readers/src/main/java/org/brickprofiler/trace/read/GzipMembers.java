package org.brickprofiler.trace.read;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * Unpacks all members of a gzip file (RFC 1952) up to the end of the file. After the last member only zeros may follow,
 * with which tapes and block devices pad files. {@link java.util.zip.GZIPInputStream}, in contrast, ends silently at
 * the first byte that begins no member, and may end between two members. One thread.
 */
public final class GzipMembers extends InputStream {

    /** The message for other bytes after the last member. */
    static final String TRAILING = "bytes that are not packed with gzip follow the packed text";

    private static final int FIRST_MAGIC = 0x1f;
    private static final int SECOND_MAGIC = 0x8b;
    private static final int DEFLATE = 8;
    private static final int HEADER_CRC = 1 << 1;
    private static final int EXTRA = 1 << 2;
    private static final int NAME = 1 << 3;
    private static final int COMMENT = 1 << 4;
    private static final int RESERVED = 0xe0;

    /** The time, the level and the system of a member, which do not affect the text. */
    private static final int UNUSED_BYTES = 6;

    private final InputStream packed;
    private final byte[] buffer;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 checksum = new CRC32();
    private int at;
    private int limit;
    private boolean anyMember;
    private boolean inMember;
    private boolean isOver;

    /**
     * Creates a stream that has read nothing.
     *
     * @param packed the bytes; closed with this stream
     * @param bufferBytes the size of the input buffer
     */
    public GzipMembers(InputStream packed, int bufferBytes) {
        this.packed = Objects.requireNonNull(packed, "packed");
        this.buffer = new byte[bufferBytes];
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    /**
     * Reads text.
     *
     * @throws EOFException when the file ends within a member
     * @throws ZipException if it is damaged, or other bytes follow its members
     */
    @Override
    public int read(byte[] text, int from, int length) throws IOException {
        Objects.requireNonNull(text, "text");
        while (length > 0) {
            if (!inMember && !beginMember()) {
                return -1;
            }
            int read = inflate(text, from, length);
            if (read > 0) {
                checksum.update(text, from, read);
                return read;
            }
            if (inflater.finished()) {
                endMember();
            } else if (inflater.needsDictionary()) {
                throw new ZipException("a member needs a dictionary");
            } else {
                fill();
                inflater.setInput(buffer, 0, limit);
            }
        }
        return 0;
    }

    private int inflate(byte[] text, int from, int length) throws ZipException {
        try {
            return inflater.inflate(text, from, length);
        } catch (DataFormatException malformed) {
            throw (ZipException) new ZipException(String.valueOf(malformed.getMessage())).initCause(malformed);
        }
    }

    // ---- members ----

    /** Begins the next member; returns false at the end of the file. */
    private boolean beginMember() throws IOException {
        isOver = isOver || (anyMember && !skipZeros());
        if (isOver) {
            return false;
        }
        if (next() != FIRST_MAGIC || next() != SECOND_MAGIC) {
            throw new ZipException(anyMember ? TRAILING : "it does not begin as gzip does");
        }
        if (next() != DEFLATE) {
            throw new ZipException("the method of its compression is unknown");
        }
        int flags = next();
        if ((flags & RESERVED) != 0) {
            throw new ZipException("a member has unknown flags");
        }
        skip(UNUSED_BYTES);
        skip((flags & EXTRA) == 0 ? 0 : next() | next() << Byte.SIZE);
        skipText((flags & NAME) != 0);
        skipText((flags & COMMENT) != 0);
        skip((flags & HEADER_CRC) == 0 ? 0 : Short.BYTES);
        inflater.reset();
        inflater.setInput(buffer, at, limit - at);
        checksum.reset();
        anyMember = true;
        inMember = true;
        return true;
    }

    private void endMember() throws IOException {
        at = limit - inflater.getRemaining();
        if (fixed32() != checksum.getValue() || fixed32() != (inflater.getBytesWritten() & 0xffff_ffffL)) {
            throw new ZipException("the checksum or the length of a member is wrong");
        }
        inMember = false;
    }

    private long fixed32() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            value |= (long) next() << shift;
        }
        return value;
    }

    /** Skips zeros up to the next other byte; returns false at the end. */
    private boolean skipZeros() throws IOException {
        while (true) {
            while (at < limit) {
                if (buffer[at] != 0) {
                    return true;
                }
                at++;
            }
            if (!tryFill()) {
                return false;
            }
        }
    }

    private void skip(int bytes) throws IOException {
        for (int i = 0; i < bytes; i++) {
            next();
        }
    }

    private void skipText(boolean isThere) throws IOException {
        while (isThere && next() != 0) {
            // Skip up to the terminating zero.
        }
    }

    // ---- bytes ----

    private int next() throws IOException {
        if (at == limit) {
            fill();
        }
        return buffer[at++] & 0xff;
    }

    private void fill() throws IOException {
        if (!tryFill()) {
            throw new EOFException("the packed bytes end within a member");
        }
    }

    private boolean tryFill() throws IOException {
        at = 0;
        limit = 0;
        int read = packed.read(buffer, 0, buffer.length);
        limit = Math.max(0, read);
        return read > 0;
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        packed.close();
    }
}
