package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.LongConsumer;

/**
 * Reads the wire format of Protocol Buffers field by field, without holding a whole message; see <a
 * href="https://protobuf.dev/programming-guides/encoding/">its description</a>. Fields with the wire types of groups
 * are refused. For each field the caller calls exactly one of the methods that read or skip the value. One thread.
 */
final class ProtoInput {

    // A field and its encoding in one number, as in the encoded message: FIELD << 3 | TYPE.
    static final int VARINT = 0;
    static final int FIXED64 = 1;
    static final int BYTES = 2;
    private static final int FIXED32 = 5;

    private static final int TYPE_BITS = 3;
    private static final int TYPE_MASK = (1 << TYPE_BITS) - 1;
    private static final int BUFFER_BYTES = 1 << 16;
    private static final int LONGEST_VARINT_SHIFT = 63;
    private static final long NO_END = Long.MAX_VALUE;

    private final InputStream in;
    private final String source;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int next;
    private int filled;
    private long bufferOffset;

    /** The end of the message that is being read. */
    private long end = NO_END;

    private int type;

    /** Reads a field of a message. */
    @FunctionalInterface
    interface Field {
        /**
         * Reads the value of the field, or {@linkplain #skip skips it}.
         *
         * @param tag the field and its encoding, {@code FIELD << 3 | TYPE}
         * @throws IOException when the value cannot be read
         */
        void read(int tag) throws IOException;
    }

    /**
     * Creates a reader at the first byte.
     *
     * @param in the bytes; left open
     * @param source their name in messages
     */
    ProtoInput(InputStream in, String source) {
        this.in = in;
        this.source = source;
    }

    /** Returns the number of bytes that were read. */
    long offset() {
        return bufferOffset + next;
    }

    TraceFormatException error(String fault) {
        return new TraceFormatException(source, offset(), fault);
    }

    private TraceFormatException damage(String fault) {
        return TraceFormatException.damage(source, offset(), fault);
    }

    // ---- fields ----

    /**
     * Reads all fields up to the end of the bytes.
     *
     * @throws TraceFormatException when one is malformed
     */
    void fields(Field field) throws IOException {
        while (offset() != end && (end != NO_END || next < filled || fill())) {
            long tag = varint();
            if (tag >>> Integer.SIZE != 0 || tag >>> TYPE_BITS == 0) {
                throw damage("the field number " + Long.toUnsignedString(tag >>> TYPE_BITS) + " does not exist");
            }
            type = (int) tag & TYPE_MASK;
            if (type > BYTES && type != FIXED32) {
                throw damage("the wire type " + type + " is not used in traces");
            }
            field.read((int) tag);
        }
    }

    /** Reads all fields of the message in the current field. */
    void message(Field field) throws IOException {
        long outer = enter();
        fields(field);
        leave(outer);
    }

    /** Reads the packed numbers in the current field. */
    void packed(LongConsumer number) throws IOException {
        long outer = enter();
        while (offset() < end) {
            number.accept(varint());
        }
        leave(outer);
    }

    /** Enters the message in the current field and returns the outer end, which {@link #leave} needs. */
    long enter() throws IOException {
        long length = length();
        long outer = end;
        end = offset() + length;
        return outer;
    }

    /** Leaves, at its end, the message that was entered last. */
    void leave(long outer) {
        end = outer;
    }

    // ---- values ----

    long varint() throws IOException {
        long value = 0;
        for (int shift = 0; ; shift += 7) {
            int next = read();
            if (shift == LONGEST_VARINT_SHIFT && next > 1) {
                throw damage("a number has more than 64 bits");
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
     * Returns a text in UTF-8 of bounded length; invalid bytes become replacement characters.
     *
     * @param mostBytes the longest text, in bytes
     * @throws TraceFormatException when it is longer
     */
    String name(int mostBytes) throws IOException {
        long length = length();
        if (length > mostBytes) {
            throw error("a text of " + length + " bytes; " + mostBytes + " is the limit");
        }
        byte[] text = new byte[(int) length];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) read();
        }
        return TraceNames.bounded(new String(text, StandardCharsets.UTF_8));
    }

    /** Returns the beginning of a text in UTF-8 of any length. */
    String beginning(int mostBytes) throws IOException {
        long length = length();
        byte[] text = new byte[(int) Math.min(length, mostBytes)];
        for (int i = 0; i < text.length; i++) {
            text[i] = (byte) read();
        }
        skip(length - text.length);
        return TraceNames.bounded(new String(text, StandardCharsets.UTF_8));
    }

    /** Skips the value. */
    void skip() throws IOException {
        switch (type) {
            case VARINT -> varint();
            case FIXED64 -> skip(Long.BYTES);
            case FIXED32 -> skip(Integer.BYTES);
            default -> skip(length());
        }
    }

    private long length() throws IOException {
        long length = varint();
        if (length < 0 || length > end - offset()) {
            throw damage("a field of " + Long.toUnsignedString(length) + " bytes is longer than its message");
        }
        return length;
    }

    // ---- bytes ----

    private int read() throws IOException {
        if (offset() >= end) {
            throw damage("a field is longer than its message");
        }
        if (next == filled && !fill()) {
            throw damage("the trace ends too early");
        }
        return buffer[next++] & 0xff;
    }

    private void skip(long bytes) throws IOException {
        if (bytes > end - offset()) {
            throw damage("a field is longer than its message");
        }
        long left = bytes;
        while (left > 0) {
            if (next == filled && !fill()) {
                throw damage("the trace ends too early");
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
