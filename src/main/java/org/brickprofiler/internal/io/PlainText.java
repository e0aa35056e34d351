package org.brickprofiler.internal.io;

import java.util.Locale;

/** Text that every console shows and that stays on its line. Stateless; any thread. */
public final class PlainText {

    private static final String CUT = "...";
    private static final char FIRST_PRINTABLE = ' ';
    private static final char LAST_PRINTABLE = '~';

    private PlainText() {}

    /**
     * Escapes everything but printable ASCII, as Java source does.
     *
     * @param text any text
     * @return text in one line, for example {@code "caf\\u00e9"}
     */
    public static String ascii(String text) {
        StringBuilder plain = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            char character = text.charAt(i);
            if (character >= FIRST_PRINTABLE && character <= LAST_PRINTABLE) {
                plain.append(character);
            } else {
                plain.append(escape(character));
            }
        }
        return plain.toString();
    }

    /**
     * Escapes a character, as Java source does.
     *
     * @param character any character
     * @return for example {@code "\\u0007"}
     */
    public static String escape(char character) {
        return switch (character) {
            case '\n' -> "\\n";
            case '\r' -> "\\r";
            case '\t' -> "\\t";
            default -> String.format(Locale.ROOT, "\\u%04x", (int) character);
        };
    }

    /**
     * Cuts a text that is too long in its middle: the names of an engine's steps tend to differ at the end.
     *
     * @param text any text
     * @param limit the most characters to return, at least 5
     * @return the text, or its beginning and its end with {@code "..."} between them
     */
    public static String shortened(String text, int limit) {
        if (text.length() <= limit) {
            return text;
        }
        int kept = limit - CUT.length();
        int tail = kept / 2;
        return text.substring(0, kept - tail) + CUT + text.substring(text.length() - tail);
    }
}
