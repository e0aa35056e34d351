package org.brickprofiler.report.internal;

import org.brickprofiler.internal.io.PlainText;

/** Text in Markdown. Stateless; any thread. */
public final class Markdown {

    /** Characters with a meaning in Markdown, or for programs that show it. */
    private static final String MEANINGFUL = "\\`*_{}[]<>()#+!|~@&$";

    private Markdown() {}

    /**
     * Returns a text that shows as it is: each character that could mean something by its number, which no Markdown
     * reads.
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
