package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import picocli.CommandLine;

/**
 * One run of the command line within the test.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
record Cli(int exitCode, String out, String err) {

    static final Path RESOURCES = Path.of("src", "test", "resources");
    static final Path TRACES = RESOURCES.resolve("traces");
    static final Path REPORTS =
            RESOURCES.resolve("org").resolve("brickprofiler").resolve("report");

    /** Runs a command; paths are arguments as they are. */
    static Cli run(Object... arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        String[] args = new String[arguments.length];
        for (int i = 0; i < args.length; i++) {
            args[i] = arguments[i].toString();
        }
        int exitCode = Brick.commandLine(args)
                .setOut(new PrintWriter(out))
                .setErr(new PrintWriter(err))
                .setColorScheme(CommandLine.Help.defaultColorScheme(CommandLine.Help.Ansi.OFF))
                .execute(args);
        return new Cli(
                exitCode, out.toString().replace("\r\n", "\n"), err.toString().replace("\r\n", "\n"));
    }

    /** Asserts that the command was refused in one line that contains all reasons. */
    void assertRefused(String... reasons) {
        assertThat(err).startsWith("brick: ").endsWith("\n").hasLineCount(1).contains(reasons);
        assertThat(exitCode).isEqualTo(2);
        assertThat(out).isEmpty();
    }
}
