package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The manual page is valid for groff, and has all that the help of the commands has. */
@OneJdk
final class ManualPageTest {

    @TempDir
    Path folder;

    @Test
    void groffFormatsWhatTheHelpSays() throws Exception {
        Fixture.GROFF.needProgram("groff");
        Path page = folder.resolve("brick.1");
        ManualPage.main(new String[] {page.toString(), "1.2.3"});

        ProcessResult formatted = ChildProcess.of("groff")
                .arguments(List.of("-man", "-ww", "-Tutf8", "-P-cbou", page.toString()))
                .run();

        assertThat(formatted.err()).isEmpty();
        assertThat(formatted.exitCode()).isZero();
        String text = words(formatted.out());
        // The headings of the help end with a colon, those of the page do not.
        assertThat(text).contains("brick 1.2.3", words(CommandList.TAIL.replaceAll("(?m)^(Ex.*):$", "$1")));
        for (CommandList.Entry entry : CommandList.Entry.values()) {
            assertThat(text).contains(" " + entry.word + " " + entry.summary + " ");
        }
        Brick.commandLine().getSubcommands().values().forEach(command -> assertCommand(text, command));
    }

    private static void assertCommand(String text, CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        String heading = spec.qualifiedName().toUpperCase(Locale.ROOT) + " brick ";
        assertThat(text).containsOnlyOnce(heading);
        String section = text.substring(text.indexOf(heading));
        Stream.concat(spec.options().stream(), spec.positionalParameters().stream())
                .filter(each -> !each.hidden())
                .forEach(each -> assertThat(section).contains(words(name(each)), words(described(each.description()))));
        assertThat(section)
                .contains(
                        words(described(spec.usageMessage().description())),
                        words(described(spec.usageMessage().footer())));
        command.getSubcommands().values().forEach(each -> assertCommand(text, each));
    }

    private static String name(ArgSpec argument) {
        return argument instanceof OptionSpec option ? String.join(", ", option.names()) : argument.paramLabel();
    }

    private static String described(String[] description) {
        return String.join(" ", description).replace("%n", " ").replace("%%", "%");
    }

    private static String words(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }
}
