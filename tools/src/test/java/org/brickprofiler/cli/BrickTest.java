package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.testing.Golden;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrickTest {

    @TempDir
    Path folder;

    @Test
    void helpTeachesByExample() throws IOException {
        Cli help = Cli.run("--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.err()).isEmpty();
        Golden.assertSame(help.out(), BrickTest.class, "help.txt");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "report",
                "compare",
                "run",
                "fleet",
                "convert",
                "diverge",
                "roofline",
                "devices",
                "top",
                "attach",
                "suggest"
            })
    void helpOfACommandTeachesByExample(String command) throws IOException {
        Cli help = Cli.run(command, "--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).contains("Examples:", "    brick " + command);
        Golden.assertSame(help.out(), BrickTest.class, "help-" + command + ".txt");
    }

    @Test
    void helpOfTheDemonstrationShowsThisCommandLine() {
        Cli help = Cli.run("demo", "--help");

        assertThat(help.exitCode()).isZero();
        assertThat(help.out())
                .contains("Usage: brick demo ", "--sync-mode=MODE", "    brick demo --layers 4 --tokens 200\n")
                .doesNotContain("mvn");
    }

    @Test
    void runsTheDemonstration() {
        Path json = folder.resolve("out.json");
        String tiny = "demo --layers 1 --dim 16 --heads 2 --kv-heads 1 --ffn 32 --vocab 50 --tokens 3 --threads 1 ";
        Cli demo = Cli.run((Object[]) (tiny + "--sync-mode per_layer --json=" + json).split(" "));

        assertThat(demo.err()).isEmpty();
        assertThat(demo.exitCode()).isZero();
        assertThat(demo.out()).contains("RmsNorm", "JSON: " + json);
        assertThat(Cli.run("report", json).out()).contains("RmsNorm");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            xyzzy                           | there is no command xyzzy (brick --help lists
            fleet xyzzy                     | there is no command xyzzy (brick fleet --help lists
            --no-such-option                | Unknown option: '--no-such-option'
            report                          | Missing required parameter: 'FILE|ADDRESS' (brick report --help
            convert a b c                   | Unmatched argument at index 3: 'c'
            report a --no-such-option       | Unknown option: '--no-such-option'
            report a --json --csv           | mutually exclusive
            report a --skip-steps many      | Invalid value for option '--skip-steps'
            report a --skip-steps -1        | --skip-steps -1 is negative
            convert a                       | Missing required parameter: 'OUT'
            diverge a                       | Missing required parameter: 'B'
            diverge a b --tolerance float8  | Invalid value for option '--tolerance'
            diverge a b --abs x             | Invalid value for option '--abs'
            diverge a b --abs -1            | absolute tolerance -1.0 is not
            diverge a b --rel NaN           | relative tolerance NaN is not
            diverge a b --tolerance exact --abs 1 | --tolerance excludes --abs and --rel
            demo --layers 0                 | layers 0 is not within
            demo --tokens many              | Invalid value for option '--tokens'
            """)
    void tellsABadCommandLineInOneLine(String arguments, String reason) {
        Cli.run((Object[]) arguments.split(" ")).assertRefused(reason);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            reprot        | there is no command reprot; did you mean report?
            comapre a b   | there is no command comapre; did you mean compare?
            fleet pakc    | there is no command pakc; did you mean pack?
            report a --jsno | Unknown option: '--jsno'; did you mean --json?
            """)
    void guessesAtAMistypedWordOnce(String arguments, String line) {
        assertThat(Cli.run((Object[]) arguments.split(" ")).err()).isEqualTo("brick: " + line + "\n");
    }

    @Test
    void headingsOfTheHelpAreBoldOnATerminalOnly() {
        assertThat(CommandList.help(true))
                .contains("\u001b[1mLook:\u001b[0m\n", "\u001b[1mExamples:\u001b[0m\n")
                .isNotEqualTo(CommandList.help(false));
        assertThat(CommandList.help(true).replaceAll("\u001b\\[[01]m", "")).isEqualTo(CommandList.help(false));
    }

    @Test
    void theHelpFitsATerminalOf80Columns() {
        assertThat(Cli.run("--help").out().lines()).allMatch(line -> line.length() <= 80);
    }

    @Test
    void asksForACommand() {
        Cli.run().assertRefused("no command is given (brick --help");
    }

    @Test
    void keepsNamesOfFilesInTheLine() {
        Cli.run("report", "two\nlines\u001b[2J").assertRefused("cannot read two lines\\u001b[2J: it does not exist");
    }

    @Test
    void saysThatAVersionIsInTheJarOnly() {
        Cli version = Cli.run("--version");

        assertThat(version.exitCode()).isZero();
        assertThat(version.out()).startsWith("brick").contains("Java " + Runtime.version());
    }

    @Test
    void completesCommandsOptionsAndValues() {
        Cli completion = Cli.run("completion");

        assertThat(completion.exitCode()).isZero();
        assertThat(completion.out())
                .contains("complete -F _complete_brick ", "completion", "'--keep-warmup'", "bfloat16")
                .contains("'--perturb'");
    }
}
