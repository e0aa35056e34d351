package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * JSON text, written into a buffer that is handed on when it is full. Knows numbers and strings; the caller writes the
 * brackets. One thread at a time; allocates only for a text that outgrows the buffer, and for strings.
 */
final class JsonBuffer {

    private static final int FULL_BYTES = 1 << 16;
    /** The digits of a {@code long}, its sign, and a decimal point. */
    private static final int NUMBER_BYTES = 24;

    private static final String HEX = "0123456789abcdef";

    private final OutputStream out;
    private byte[] bytes = new byte[FULL_BYTES + 4 * 1024];
    private int size;

    JsonBuffer(OutputStream out) {
        this.out = out;
    }

    /** Characters of ASCII, as they are. */
    JsonBuffer ascii(String text) {
        int length = text.length();
        ensure(length);
        for (int i = 0; i < length; i++) {
            bytes[size++] = (byte) text.charAt(i);
        }
        return this;
    }

    /** What {@link #quoted} made. */
    JsonBuffer raw(byte[] text) {
        ensure(text.length);
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
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

    /** Nanoseconds as microseconds with three decimals: exact. */
    JsonBuffer micros(long ns) {
        ensure(NUMBER_BYTES);
        long size = sign(ns);
        digits(Long.divideUnsigned(size, 1_000), 1);
        bytes[this.size++] = '.';
        digits(Long.remainderUnsigned(size, 1_000), 3);
        return this;
    }

    /** Writes the sign; returns the rest, which for the smallest number is to be read as unsigned. */
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

    /** A string with its quotes and escapes, in UTF-8. */
    static byte[] quoted(String text) {
        StringBuilder json = new StringBuilder(text.length() + 2).append('"');
        String clean = Utf8.wellFormed(text);
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

    /** Hands on what is full. */
    void drainIfFull() {
        if (size >= FULL_BYTES) {
            try {
                drain();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }

    /** Hands on everything. */
    void flush() throws IOException {
        drain();
        out.flush();
    }

    private void drain() throws IOException {
        out.write(bytes, 0, size);
        size = 0;
    }

    private void ensure(int further) {
        if (bytes.length - size < further) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + further));
        }
    }
}
