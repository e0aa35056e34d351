package org.brickprofiler.console;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The width and the look of text on the standard output.
 *
 * @param columns the width, more than 0: that of the terminal, else the variable {@code COLUMNS}, else
 *     {@value #USUAL_COLUMNS}
 * @param isColoured whether text may have colour and weight: only on a terminal, and not if the variable
 *     {@code NO_COLOR} is set
 */
public record Style(int columns, boolean isColoured) {

    /** The width if it is unknown. */
    static final int USUAL_COLUMNS = 100;

    private static final int LIMIT_MS = 500;

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
     * Returns a report with weight and colour: titles and headers of tables are bold, rules are pale, and remarks on
     * the whole run are yellow.
     *
     * @param report lines of text without control characters
     * @return the same text if it may not be coloured
     */
    public String applied(String report) {
        return isColoured
                ? report.replaceAll("(?m)^(-[- ]*)$", "\u001b[2m$1\u001b[0m")
                        .replaceAll("(?m)^(\\S.*)$(?=\n\u001b\\[2m-)", "\u001b[1m$1\u001b[0m")
                        .replaceAll("(?<=\\A|\n\n)([A-Z][^\n.:\u001b]*)(?=\n)", "\u001b[1m$1\u001b[0m")
                        .replaceAll("(?m)^(! .*)$", "\u001b[33m$1\u001b[0m")
                : report;
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
        return new Style(columns > 0 ? columns : USUAL_COLUMNS, isTerminal && isColourWanted(variables));
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
