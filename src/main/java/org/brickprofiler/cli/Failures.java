package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** What went wrong, in one line. Stateless; any thread. */
final class Failures {

    private static final int TROUBLE = CommandLine.ExitCode.USAGE;

    private Failures() {}

    /** Tells that the command line makes no sense. */
    static int badArguments(ParameterException badInput, @SuppressWarnings("unused") String[] args) {
        CommandLine command = badInput.getCommandLine();
        String message = String.valueOf(badInput.getMessage()).replaceFirst("^Error: ", "");
        return tell(
                command.getErr(),
                message + suggestion(badInput) + " (" + command.getCommandSpec().qualifiedName()
                        + " --help tells what there is)");
    }

    private static String suggestion(ParameterException badInput) {
        List<String> known = badInput instanceof UnmatchedArgumentException unmatched
                ? unmatched.getSuggestions()
                : List.of();
        return known.isEmpty() ? "" : "; did you mean " + String.join(" or ", known) + "?";
    }

    /** Tells that a command failed. */
    static int failed(Exception failed, CommandLine command, @SuppressWarnings("unused") ParseResult parsed) {
        boolean expected = failed instanceof IOException
                || failed instanceof UncheckedIOException
                || failed instanceof IllegalArgumentException;
        return tell(command.getErr(), expected && failed.getMessage() != null ? failed.getMessage() : fault(failed));
    }

    /** What helps whoever is told of a fault of the program itself. */
    private static String fault(Exception failed) {
        StackTraceElement[] trace = failed.getStackTrace();
        return "a fault of this program: " + failed + (trace.length == 0 ? "" : " at " + trace[0]);
    }

    /**
     * Tells a message in one line; names of files may hold control characters.
     *
     * @return the exit code
     */
    static int tell(PrintWriter err, String message) {
        err.println("brick: " + message.replaceAll("\\p{Cntrl}+", " ").strip());
        err.flush();
        return TROUBLE;
    }
}
