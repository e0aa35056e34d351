package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads the lines of a text in UTF-8 with their places, in bounded memory and without the escape sequences of
 * terminals. One thread.
 */
final class TextLines {

    /** A longer line is cut; no line that a reader understands is as long. */
    private static final int LONGEST = 1 << 16;

    private static final int BUFFER_BYTES = 1 << 16;

    private final BufferedInputStream text;
    private final String source;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int at;
    private int limit;
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
    private long lineOffset;
    private long nextOffset;
    private boolean isEnded = true;

    /**
     * Creates a reader of lines.
     *
     * @param text the bytes; left open
     * @param source their name in messages
     */
    TextLines(BufferedInputStream text, String source) {
        this.text = text;
        this.source = source;
    }

    /**
     * Returns the next line without its line break; null after the last one.
     *
     * @throws TraceFormatException when the compression is damaged
     * @throws IOException when the text cannot be read
     */
    @Nullable
    String next() throws IOException {
        try {
            return read();
        } catch (TraceInput.DamagedException damaged) {
            throw TraceFormatException.damage(source, nextOffset, String.valueOf(damaged.getMessage()), damaged);
        }
    }

    private @Nullable String read() throws IOException {
        line.reset();
        lineOffset = nextOffset;
        if (isAtEnd()) {
            return null;
        }
        isEnded = false;
        while (!isEnded && !isAtEnd()) {
            int end = at;
            while (end < limit && buffer[end] != '\n') {
                end++;
            }
            line.write(buffer, at, Math.min(end - at, LONGEST - line.size()));
            isEnded = end < limit;
            nextOffset += end - at + (isEnded ? 1 : 0);
            at = end + (isEnded ? 1 : 0);
        }
        String whole = PlainBytes.withoutEscapes(line.toString(StandardCharsets.UTF_8));
        return whole.endsWith("\r") ? whole.substring(0, whole.length() - 1) : whole;
    }

    private boolean isAtEnd() throws IOException {
        if (at == limit) {
            at = 0;
            limit = Math.max(0, text.read(buffer));
        }
        return limit == 0;
    }

    /** Returns the place of the last line, in bytes of the text; at the end, the length of the text. */
    long offset() {
        return lineOffset;
    }

    /** Returns the place after the last line. */
    long endOffset() {
        return nextOffset;
    }

    /** Returns whether a line feed ended the last line. */
    boolean isEnded() {
        return isEnded;
    }
}
