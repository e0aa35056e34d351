package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Collects the bytes of a file and writes them to the stream in large pieces. One thread at a time; grows only if one
 * piece does not fit.
 */
abstract class FileBuffer {

    private static final int FULL_BYTES = 1 << 16;
    private static final char REPLACEMENT = '\uFFFD';

    byte[] bytes = new byte[FULL_BYTES + 4 * 1024];
    int size;

    private final OutputStream out;

    FileBuffer(OutputStream out) {
        this.out = out;
    }

    final void ensure(int further) {
        if (bytes.length - size < further) {
            bytes = Arrays.copyOf(bytes, Math.max(2 * bytes.length, size + further));
        }
    }

    /** Appends bytes for which there is room. */
    final void append(byte[] text) {
        System.arraycopy(text, 0, bytes, size, text.length);
        size += text.length;
    }

    /**
     * Writes a full buffer to the stream. The exception is unchecked because visitors of a timeline cannot throw a
     * checked one.
     *
     * @throws UncheckedIOException if the stream fails
     */
    final void drainIfFull() {
        if (size >= FULL_BYTES) {
            try {
                drain();
            } catch (IOException failed) {
                throw new UncheckedIOException(failed);
            }
        }
    }

    /** Runs an action that fills this buffer, then writes the rest and flushes the stream. */
    final void writeAndFlush(Runnable content) throws IOException {
        try {
            content.run();
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
        flush();
    }

    /** Writes the rest and flushes the stream. */
    final void flush() throws IOException {
        drain();
        out.flush();
    }

    private void drain() throws IOException {
        out.write(bytes, 0, size);
        size = 0;
    }

    /** Returns the text in UTF-8, {@linkplain #wellFormed well-formed}. */
    static byte[] utf8(String text) {
        return wellFormed(text).getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Returns the text with an escape for each unpaired surrogate, which has no encoding: the replacement character and
     * the four hexadecimal digits of the surrogate, so that different names stay different.
     */
    static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                return escaped(text);
            }
        }
        return text;
    }

    private static String escaped(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
                clean.append(REPLACEMENT).append(Integer.toHexString(c));
            } else {
                clean.appendCodePoint(c);
            }
        });
        return clean.toString();
    }
}
