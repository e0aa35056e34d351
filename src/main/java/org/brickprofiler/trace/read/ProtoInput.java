package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;

/**
 * Reads the wire format of Protocol Buffers field by field, without ever holding a message; see
 * <a href="https://protobuf.dev/programming-guides/encoding/">its description</a>. Fields with the wire types of groups
 * are refused. After {@link #nextField} exactly one of the methods that take the value is called. One thread.
 */
final class ProtoInput {

    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int LENGTH_DELIMITED = 2;
    static final int FIXED32 = 5;

    private static final int BUFFER_BYTES = 1 << 16;
    private static final int LONGEST_VARINT_SHIFT = 63;
    private static final long NO_END = Long.MAX_VALUE;

    private final InputStream in;
    private final String source;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int next;
    private int filled;
    private long bufferOffset;

    /** Where the message ends that is being read. */
    private long end = NO_END;

    private int field;
    private int wireType;

    /**
     * Reads from the first byte on.
     *
     * @param in the bytes; left open
     * @param source what to call them in messages
     */
    ProtoInput(InputStream in, String source) {
        this.in = in;
        this.source = source;
    }

    /** How many bytes were read. */
    long offset() {
        return bufferOffset + next;
    }

    TraceFormatException error(String fault) {
        return new TraceFormatException(source, offset(), fault);
    }

    // ---- fields ----

    /**
     * Goes to the next field of the message.
     *
     * @return false where the message is over
     * @throws TraceFormatException when there is no field
     */
    boolean nextField() throws IOException {
        if (offset() == end || (end == NO_END && next == filled && !fill())) {
            return false;
        }
        long tag = varint();
        field = (int) (tag >>> 3);
        wireType = (int) tag & 7;
        if (tag >>> Integer.SIZE != 0 || field == 0) {
            throw error("the field number " + Long.toUnsignedString(tag >>> 3) + " does not exist");
        }
        if (wireType > LENGTH_DELIMITED && wireType != FIXED32) {
            throw error("the wire type " + wireType + " is not used in traces");
        }
        return true;
    }

    /** Whether the field is this one, and encoded so. */
    boolean is(int number, int type) {
        return field == number && wireType == type;
    }

    /** The field's number; 0 where it is not encoded so, which is passed over like a field that is not known. */
    int fieldOf(int type) {
        return wireType == type ? field : 0;
    }

    int wireType() {
        return wireType;
    }

    // ---- values ----

    long varint() throws IOException {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int next = read();
            if (shift == LONGEST_VARINT_SHIFT && next > 1) {
                throw error("a number has more than 64 bits");
            }
            value |= (long) (next & 0x7f) << shift;
            if (next < 0x80) {
                return value;
            }
        }
    }

    long fixed64() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            value |= (long) read() << shift;
        }
        return value;
    }

    /**
     * A text in UTF-8; bytes that are none become replacement characters.
     *
     * @param mostBytes how long it may be
     * @throws TraceFormatException when it is longer
     */
    String text(int mostBytes) throws IOException {
        long length = length();
        if (length > mostBytes) {
            throw error("a text of " + length + " bytes; " + mostBytes + " is the limit");
        }
        byte[] text = new byte[(int) length];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) read();
        }
        return new String(text, StandardCharsets.UTF_8);
    }

    /**
     * Goes into the message that the field holds.
     *
     * @return what {@link #leave} needs
     */
    long enter() throws IOException {
        long length = length();
        long outer = end;
        end = offset() + length;
        return outer;
    }

    /** Leaves the message that {@link #enter} went into last, wherever it stands in it. */
    void leave(long outer) throws IOException {
        skip(end - offset());
        end = outer;
    }

    boolean isInside() {
        return offset() < end;
    }

    /** Passes over the value. */
    void skip() throws IOException {
        switch (wireType) {
            case VARINT -> varint();
            case FIXED64 -> skip(Long.BYTES);
            case FIXED32 -> skip(Integer.BYTES);
            default -> skip(length());
        }
    }

    private long length() throws IOException {
        long length = varint();
        if (length < 0 || length > end - offset()) {
            throw error("a field of " + Long.toUnsignedString(length) + " bytes is longer than what holds it");
        }
        return length;
    }

    // ---- bytes ----

    private int read() throws IOException {
        if (offset() >= end) {
            throw error("a field is longer than what holds it");
        }
        if (next == filled && !fill()) {
            throw error("the trace ends too early");
        }
        return buffer[next++] & 0xff;
    }

    private void skip(long bytes) throws IOException {
        if (bytes > end - offset()) {
            throw error("a field is longer than what holds it");
        }
        long left = bytes;
        while (left > 0) {
            if (next == filled && !fill()) {
                throw error("the trace ends too early");
            }
            int passed = (int) Math.min(left, filled - next);
            next += passed;
            left -= passed;
        }
    }

    private boolean fill() throws IOException {
        bufferOffset += filled;
        next = 0;
        filled = 0;
        filled = Math.max(0, in.read(buffer, 0, buffer.length));
        return filled > 0;
    }
}
