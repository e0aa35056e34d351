package org.brickprofiler.trace.read;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/**
 * Replaces each invalid byte of a text in UTF-8 by a question mark, and counts the replacements. No byte moves, so
 * offsets are unchanged. Table 3-7 of the Unicode Standard defines well-formed sequences. One thread.
 */
final class Utf8Repair extends FilterInputStream {

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int LONGEST_SEQUENCE = 4;
    private static final VarHandle EIGHT_BYTES =
            MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
    private static final long NOT_ASCII = 0x8080_8080_8080_8080L;

    /** Marks the end of a sequence that is not in the buffer yet. */
    private static final int CUT = -1;

    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int next;
    /** The index up to which the bytes in the buffer are checked. */
    private int checked;

    private int filled;
    private long bufferOffset;
    private boolean atEnd;
    private long replaced;
    private long firstOffset;

    /**
     * Creates a stream that has read nothing.
     *
     * @param text the bytes, from the first one of the text on
     */
    Utf8Repair(InputStream text) {
        super(text);
    }

    /** Returns the number of bytes that were replaced so far. */
    long replaced() {
        return replaced;
    }

    /** Returns the position of the first replaced byte; 0 if there is none. */
    long firstOffset() {
        return firstOffset;
    }

    @Override
    public int read() throws IOException {
        return next < checked || fill() ? buffer[next++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (next == checked && !fill()) {
            return -1;
        }
        int read = Math.min(length, checked - next);
        System.arraycopy(buffer, next, into, from, read);
        next += read;
        return read;
    }

    @Override
    public long skip(long bytes) throws IOException {
        if (bytes <= 0 || (next == checked && !fill())) {
            return 0;
        }
        long skipped = Math.min(bytes, checked - next);
        next += (int) skipped;
        return skipped;
    }

    @Override
    public int available() {
        return checked - next;
    }

    @Override
    public boolean markSupported() {
        return false;
    }

    /** Reads more bytes once all checked ones were returned; returns false at the end. */
    private boolean fill() throws IOException {
        while (next == checked && !atEnd) {
            // The beginning of a sequence is kept until its end arrives.
            System.arraycopy(buffer, checked, buffer, 0, filled - checked);
            bufferOffset += checked;
            filled -= checked;
            next = 0;
            checked = 0;
            int read = in.read(buffer, filled, buffer.length - filled);
            atEnd = read < 0;
            filled += Math.max(0, read);
            check();
        }
        return next < checked;
    }

    private void check() {
        int at = 0;
        while (at < filled) {
            if (at + Long.BYTES <= filled && ((long) EIGHT_BYTES.get(buffer, at) & NOT_ASCII) == 0) {
                at += Long.BYTES;
            } else if (buffer[at] >= 0) {
                at++;
            } else {
                int length = sequenceAt(at);
                if (length == CUT && !atEnd) {
                    break;
                }
                if (length <= 0) {
                    replace(at);
                }
                at += Math.max(1, length);
            }
        }
        checked = at;
    }

    private void replace(int at) {
        firstOffset = replaced == 0 ? bufferOffset + at : firstOffset;
        replaced++;
        buffer[at] = '?';
    }

    /** Returns the length of the valid sequence at an index; 0 if there is none. */
    private int sequenceAt(int at) {
        int first = buffer[at] & 0xff;
        int length = first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? LONGEST_SEQUENCE : 0;
        for (int i = 1; i < length; i++) {
            if (at + i == filled) {
                return CUT;
            }
            int smallest = i > 1 ? 0x80 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
            int largest = i > 1 ? 0xbf : first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
            int further = buffer[at + i] & 0xff;
            if (further < smallest || further > largest) {
                return 0;
            }
        }
        return length;
    }
}
