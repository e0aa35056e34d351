package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SuggestCommandTest {

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "--run true | --run needs -o FILE, since the command prints to the standard output",
                "--run --jfc -o x true | --jfc proposes from names: it takes no --run",
                "--run --seconds 0 -o x true | --seconds 0 is not 1 or more",
            })
    void refusesOptionsThatDoNotFit(String arguments, String message) {
        StringWriter err = new StringWriter();
        int exit = new CommandLine(new SuggestCommand())
                .setErr(new PrintWriter(err))
                .execute(arguments.split(" "));
        assertThat(exit).isEqualTo(2);
        assertThat(err.toString()).startsWith(message);
    }
}
