package org.brickprofiler.trace.write;

import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * A buffer for JSON text. Writes numbers and strings; the caller writes the brackets. One thread at a time; allocates
 * only for a text that outgrows the buffer, and for strings.
 */
final class JsonBuffer extends FileBuffer {

    /** The digits of a {@code long}, its sign, and a decimal point. */
    private static final int NUMBER_BYTES = 24;

    private static final String HEX = "0123456789abcdef";

    JsonBuffer(OutputStream out) {
        super(out);
    }

    /** Appends ASCII characters as they are. */
    JsonBuffer ascii(String text) {
        int length = text.length();
        ensure(length);
        for (int i = 0; i < length; i++) {
            bytes[size++] = (byte) text.charAt(i);
        }
        return this;
    }

    /** Appends a text that {@link #quoted} returned. */
    JsonBuffer raw(byte[] text) {
        ensure(text.length);
        append(text);
        return this;
    }

    JsonBuffer string(String text) {
        return raw(quoted(text));
    }

    JsonBuffer number(long value) {
        ensure(NUMBER_BYTES);
        digits(sign(value), 1);
        return this;
    }

    /** Appends nanoseconds as microseconds with three decimals, exactly. */
    JsonBuffer micros(long ns) {
        ensure(NUMBER_BYTES);
        long unsigned = sign(ns);
        digits(Long.divideUnsigned(unsigned, 1_000), 1);
        bytes[size++] = '.';
        digits(Long.remainderUnsigned(unsigned, 1_000), 3);
        return this;
    }

    /**
     * Writes the sign and returns the absolute value, to be read as unsigned: that of {@link Long#MIN_VALUE} exceeds
     * the signed range.
     */
    private long sign(long value) {
        if (value < 0) {
            bytes[size++] = '-';
            return -value;
        }
        return value;
    }

    private void digits(long unsigned, int atLeast) {
        int count = Math.max(atLeast, digitsOf(unsigned));
        long rest = unsigned;
        for (int i = size + count - 1; i >= size; i--) {
            bytes[i] = (byte) ('0' + Long.remainderUnsigned(rest, 10));
            rest = Long.divideUnsigned(rest, 10);
        }
        size += count;
    }

    private static int digitsOf(long unsigned) {
        int count = 1;
        for (long rest = Long.divideUnsigned(unsigned, 10); rest != 0; rest /= 10) {
            count++;
        }
        return count;
    }

    /** Returns a string with its quotes and escapes, in UTF-8. */
    static byte[] quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2).append('"');
        String clean = wellFormed(text);
        for (int i = 0; i < clean.length(); i++) {
            char c = clean.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ' || c == 0x7F) {
                json.append("\\u00").append(HEX.charAt(c >> 4)).append(HEX.charAt(c & 0xF));
            } else {
                json.append(c);
            }
        }
        return json.append('"').toString().getBytes(StandardCharsets.UTF_8);
    }
}
