package org.brickprofiler.trace.read;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Texts that programs write in other ways than as plain UTF-8: in UTF-16, as {@code >} of PowerShell writes it, and
 * with the escape sequences by which a terminal is coloured (ECMA-48). Stateless; any thread.
 */
final class PlainBytes {

    private static final int LOOKED_AT = 16;
    private static final int BUFFER_CHARS = 1 << 13;

    private static final Pattern ESCAPES = Pattern.compile(
            "\u001b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\u0007\u001b\\n]{0,4096}(?:\u0007|\u001b\\\\)|[ -/]*[0-Z\\\\^-~])");

    private PlainBytes() {}

    /** Returns a text without the escape sequences of terminals. */
    static String withoutEscapes(String text) {
        return text.indexOf('\u001b') < 0 ? text : ESCAPES.matcher(text).replaceAll("");
    }

    /** Returns the encoding of a text in UTF-16 by its first bytes; empty for any other content. */
    static Optional<Charset> utf16(byte[] head, int length) {
        if (length < 2) {
            return Optional.empty();
        }
        int mark = (head[0] & 0xff) << Byte.SIZE | (head[1] & 0xff);
        // The mark of UTF-32 begins with that of UTF-16.
        boolean isUtf32 = length >= 4 && head[2] == 0 && head[3] == 0;
        if (mark == 0xfffe && !isUtf32) {
            return Optional.of(StandardCharsets.UTF_16LE);
        }
        if (mark == 0xfeff) {
            return Optional.of(StandardCharsets.UTF_16BE);
        }
        int looked = Math.min(length, LOOKED_AT) / 2 * 2;
        boolean isLittle = looked >= 4;
        boolean isBig = isLittle;
        for (int i = 0; i < looked; i += 2) {
            isLittle &= isAscii(head[i]) && head[i + 1] == 0;
            isBig &= head[i] == 0 && isAscii(head[i + 1]);
        }
        return isLittle
                ? Optional.of(StandardCharsets.UTF_16LE)
                : isBig ? Optional.of(StandardCharsets.UTF_16BE) : Optional.empty();
    }

    private static boolean isAscii(byte c) {
        return c >= ' ' || c == '\t' || c == '\n' || c == '\r';
    }

    /**
     * Returns a text in UTF-8.
     *
     * @param bytes the text; closed by the returned stream
     * @return the same stream unless the text is in UTF-16
     * @throws IOException when the text cannot be read
     */
    static InputStream asUtf8(BufferedInputStream bytes) throws IOException {
        byte[] head = new byte[LOOKED_AT];
        int length = 0;
        bytes.mark(LOOKED_AT);
        try {
            for (int read = 0; read >= 0 && length < LOOKED_AT; length += Math.max(0, read)) {
                read = bytes.read(head, length, LOOKED_AT - length);
            }
        } catch (TraceInput.DamagedException damaged) {
            // The reader of the text reports the damage.
        }
        bytes.reset();
        Optional<Charset> encoding = utf16(head, length);
        return encoding.isEmpty() ? bytes : new Transcoded(new InputStreamReader(bytes, encoding.get()));
    }

    /** Returns the beginning of a text in UTF-8, one character for each byte. */
    static String asUtf8(byte[] head) {
        Optional<Charset> encoding = utf16(head, head.length);
        if (encoding.isEmpty()) {
            return new String(head, StandardCharsets.ISO_8859_1);
        }
        String text = withoutMark(new String(head, encoding.get()));
        return new String(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.ISO_8859_1);
    }

    private static String withoutMark(String text) {
        return text.startsWith("\ufeff") ? text.substring(1) : text;
    }

    /** Encodes characters in UTF-8. One thread. */
    private static final class Transcoded extends InputStream {
        private final Reader text;
        private final char[] chars = new char[BUFFER_CHARS];
        private byte[] encoded = {};
        private int at;
        private boolean isBegun;

        Transcoded(Reader text) {
            this.text = text;
        }

        @Override
        public int read() throws IOException {
            return isEnded() ? -1 : encoded[at++] & 0xff;
        }

        @Override
        public int read(byte[] buffer, int from, int length) throws IOException {
            if (length == 0) {
                return 0;
            }
            if (isEnded()) {
                return -1;
            }
            int taken = Math.min(length, encoded.length - at);
            System.arraycopy(encoded, at, buffer, from, taken);
            at += taken;
            return taken;
        }

        private boolean isEnded() throws IOException {
            while (at == encoded.length) {
                int read = text.read(chars, 0, BUFFER_CHARS - 1);
                if (read < 0) {
                    return true;
                }
                if (read > 0 && Character.isHighSurrogate(chars[read - 1])) {
                    int low = text.read();
                    if (low >= 0) {
                        chars[read++] = (char) low;
                    }
                }
                String part = new String(chars, 0, read);
                encoded = (isBegun ? part : withoutMark(part)).getBytes(StandardCharsets.UTF_8);
                isBegun = true;
                at = 0;
            }
            return false;
        }

        @Override
        public void close() throws IOException {
            text.close();
        }
    }
}
