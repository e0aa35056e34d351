package org.brickprofiler.demo;

import java.io.Console;

/** What is known of the other end of the standard output. Stateless; any thread. */
public final class Terminal {

    private Terminal() {}

    /**
     * Whether a person watches.
     *
     * @return false where input or output is a file or a pipe
     */
    @SuppressWarnings("SystemConsoleNull") // null before Java 22; from then on isTerminal tells
    public static boolean isInteractive() {
        Console console = System.console();
        return console != null && isTerminal(console);
    }

    /** From Java 22 on there is a console without a terminal, too, and it has a method to tell. */
    private static boolean isTerminal(Console console) {
        try {
            return (boolean) Console.class.getMethod("isTerminal").invoke(console);
        } catch (ReflectiveOperationException olderThanJava22) {
            return true;
        }
    }
}
