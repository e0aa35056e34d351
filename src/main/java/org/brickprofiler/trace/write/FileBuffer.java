package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Bytes of a file, handed on when there are many. One thread at a time; grows only for what outgrows it. */
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
     * Hands on what is full. Visitors of a timeline cannot throw what a stream does.
     *
     * @throws UncheckedIOException when the stream fails
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

    /** Hands on everything. */
    final void flush() throws IOException {
        drain();
        out.flush();
    }

    private void drain() throws IOException {
        out.write(bytes, 0, size);
        size = 0;
    }

    /** The text in UTF-8. Half of a surrogate pair has no encoding and becomes the replacement character. */
    static byte[] utf8(String text) {
        return wellFormed(text).getBytes(StandardCharsets.UTF_8);
    }

    /** The text with the replacement character for each half of a surrogate pair that stands alone. */
    static String wellFormed(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                StringBuilder clean = new StringBuilder(text.length());
                text.codePoints()
                        .map(c -> c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE ? REPLACEMENT : c)
                        .forEach(clean::appendCodePoint);
                return clean.toString();
            }
        }
        return text;
    }
}
