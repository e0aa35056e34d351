package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import org.brickprofiler.testing.SourceTree;
import picocli.CommandLine;

/**
 * One run of the command line within the test.
 *
 * @param exitCode its exit code
 * @param out its standard output
 * @param err its standard error
 */
record Cli(int exitCode, String out, String err) {

    static final Path TRACES = SourceTree.path("readers", "src", "test", "resources", "traces");
    static final Path REPORTS = SourceTree.path("src", "test", "resources", "org", "brickprofiler", "report");

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
