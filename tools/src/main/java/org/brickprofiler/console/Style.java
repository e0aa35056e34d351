package org.brickprofiler.console;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The width and the look of text on the standard output.
 *
 * @param columns the width, more than 0: that of the terminal, else the variable {@code COLUMNS}, else
 *     {@value #USUAL_COLUMNS}
 * @param isTerminal whether the standard output is a terminal, on which sentences are broken between words
 * @param isColoured whether text may have colour and weight: only on a terminal, and not if the variable
 *     {@code NO_COLOR} is set
 */
public record Style(int columns, boolean isTerminal, boolean isColoured) {

    /** The width if it is unknown. */
    static final int USUAL_COLUMNS = 100;

    private static final int LIMIT_MS = 500;

    /** The beginning of a line that has a name and a value, or a value below another one. */
    private static final Pattern VALUE = Pattern.compile(" +(\\S+( \\S+)?  +)?");

    /**
     * Returns the style of this process's standard output.
     *
     * @return the style
     */
    public static Style ofOutput() {
        boolean isTerminal = Terminal.isInteractive();
        return of(isTerminal, isTerminal ? sizeOfTerminal() : "", System.getenv());
    }

    /**
     * Returns whether text on the standard output may have colour and weight, without asking for its width.
     *
     * @return true only on a terminal, and if the variable {@code NO_COLOR} is not set
     */
    public static boolean isOutputColoured() {
        return Terminal.isInteractive() && isColourWanted(System.getenv());
    }

    /**
     * Returns a report as the standard output shows it. On a terminal, sentences are broken between words; with colour,
     * titles and headers of tables are bold, rules are pale, and remarks on the whole run are yellow.
     *
     * @param report lines of text without control characters; its tables fit the width
     * @return the same text for a file or a pipe
     */
    public String applied(String report) {
        String fitted =
                isTerminal ? report.lines().map(this::broken).collect(Collectors.joining("\n", "", "\n")) : report;
        return isColoured
                ? fitted.replaceAll("(?m)^(-[- ]*)$", "\u001b[2m$1\u001b[0m")
                        .replaceAll("(?<=\n\n)(\\S.*)(?=\n\u001b\\[2m-)", "\u001b[1m$1\u001b[0m")
                        .replaceAll("(?<=\\A|\n\n)([A-Z][^\n.:\u001b]*)(?=\n)", "\u001b[1m$1\u001b[0m")
                        .replaceAll("(?m)^(! .*)$", "\u001b[33m$1\u001b[0m")
                : fitted;
    }

    /** Returns a line, broken if it is a sentence that is too long; its further parts begin below its value. */
    private String broken(String line) {
        Matcher value = VALUE.matcher(line);
        int indent = value.lookingAt() ? value.end() : 0;
        if (line.length() <= columns || line.indexOf("  ", indent) >= 0) {
            return line;
        }
        StringBuilder text = new StringBuilder();
        String rest = line;
        while (rest.length() > columns) {
            int space = rest.lastIndexOf(' ', columns);
            if (space <= indent) {
                break;
            }
            text.append(rest, 0, space).append('\n');
            rest = " ".repeat(indent) + rest.substring(space + 1);
        }
        return text.append(rest).toString();
    }

    /**
     * Returns a style.
     *
     * @param isTerminal whether the standard output is a terminal
     * @param size the terminal's rows and columns, such as {@code "24 80"}; anything else if they are unknown
     * @param variables the environment
     */
    static Style of(boolean isTerminal, String size, Map<String, String> variables) {
        String[] parts = size.strip().split(" ", -1);
        int ofTerminal = parts.length == 2 ? positive(parts[1]) : 0;
        int columns = ofTerminal > 0 ? ofTerminal : positive(variables.getOrDefault("COLUMNS", ""));
        return new Style(columns > 0 ? columns : USUAL_COLUMNS, isTerminal, isTerminal && isColourWanted(variables));
    }

    private static boolean isColourWanted(Map<String, String> variables) {
        return variables.getOrDefault("NO_COLOR", "").isEmpty() && !"dumb".equals(variables.get("TERM"));
    }

    private static int positive(String digits) {
        return digits.matches("[1-9][0-9]{0,3}") ? Integer.parseInt(digits) : 0;
    }

    /** Returns what {@code stty} prints of the terminal at the standard input; empty where there is no such program. */
    private static String sizeOfTerminal() {
        try {
            Process stty = new ProcessBuilder("stty", "size")
                    .redirectInput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            if (!stty.waitFor(LIMIT_MS, TimeUnit.MILLISECONDS)) {
                stty.destroyForcibly();
                return "";
            }
            return new String(stty.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException noSuchProgram) {
            return "";
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return "";
        }
    }
}
