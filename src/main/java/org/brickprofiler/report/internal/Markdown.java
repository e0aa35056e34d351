package org.brickprofiler.report.internal;

import org.brickprofiler.internal.base.PlainText;

/** Text in Markdown. Stateless; any thread. */
public final class Markdown {

    /** Characters with a meaning in Markdown, or for programs that show it. */
    private static final String MEANINGFUL = "\\`*_{}[]<>()#+!|~@&$";

    private Markdown() {}

    /**
     * Returns a text that Markdown shows unchanged: each character with a meaning is replaced by its numeric character
     * reference. Characters other than printable ASCII are escaped, as in Java source.
     *
     * @param text any text
     * @return printable ASCII in one line
     */
    public static String escaped(String text) {
        StringBuilder plain = new StringBuilder();
        PlainText.ascii(text).chars().forEach(character -> {
            if (MEANINGFUL.indexOf(character) >= 0) {
                plain.append("&#").append(character).append(';');
            } else {
                plain.append((char) character);
            }
        });
        return plain.toString();
    }
}
