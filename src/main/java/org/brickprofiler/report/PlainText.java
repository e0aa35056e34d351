package org.brickprofiler.report;

import java.util.Locale;

/** Text that every console shows and that stays on its line. Stateless; any thread. */
final class PlainText {

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
    static String ascii(String text) {
        StringBuilder plain = new StringBuilder(text.length());
        for (int i = 0; i < text.length(); i++) {
            appendPrintable(plain, text.charAt(i));
        }
        return plain.toString();
    }

    private static void appendPrintable(StringBuilder plain, char character) {
        switch (character) {
            case '\n' -> plain.append("\\n");
            case '\r' -> plain.append("\\r");
            case '\t' -> plain.append("\\t");
            default -> {
                if (character >= FIRST_PRINTABLE && character <= LAST_PRINTABLE) {
                    plain.append(character);
                } else {
                    plain.append(String.format(Locale.ROOT, "\\u%04x", (int) character));
                }
            }
        }
    }

    /**
     * Cuts a text that is too long in its middle: the names of an engine's steps tend to differ at the end.
     *
     * @param text any text
     * @param limit the most characters to return, at least 5
     * @return the text, or its beginning and its end with {@code "..."} between them
     */
    static String shortened(String text, int limit) {
        if (text.length() <= limit) {
            return text;
        }
        int kept = limit - CUT.length();
        int tail = kept / 2;
        return text.substring(0, kept - tail) + CUT + text.substring(text.length() - tail);
    }
}
