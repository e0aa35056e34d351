package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine;
import picocli.CommandLine.Help;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * A step of the build: writes the manual page of the command line from the help of its commands, for {@code man} and
 * other programs that format troff with the macros {@code man}. Not thread-safe.
 */
final class ManualPage {

    /** Columns of the help that this reads, which breaks no line. */
    private static final int WIDTH = 10_000;

    private final StringBuilder page = new StringBuilder();

    private ManualPage() {}

    /**
     * Writes the page.
     *
     * @param args the file, and the version of the command line
     * @throws IOException when the file cannot be written
     */
    public static void main(String[] args) throws IOException {
        Files.writeString(Path.of(args[0]), text(args[1]), UTF_8);
    }

    /**
     * Returns the page.
     *
     * @param version the version of the command line, for the last line
     */
    static String text(String version) {
        ManualPage manual = new ManualPage();
        manual.head(version);
        Brick.commandLine().getSubcommands().values().forEach(manual::command);
        manual.paragraphs(CommandList.TAIL, ".SH");
        return manual.page.toString();
    }

    private void head(String version) {
        // Words are neither divided nor spaced to the margin: many are to be copied.
        line(".TH BRICK 1 \"\" \"brick " + escaped(version) + "\" \"Brick Profiler\"");
        line(".nh");
        line(".ad l");
        List<String> title = CommandList.TITLE.lines().toList();
        String purpose = title.get(1);
        line(".SH NAME");
        line("brick \\- " + purpose.substring(0, 1).toLowerCase(Locale.ROOT) + escaped(purpose.substring(1)));
        line(".SH SYNOPSIS");
        paragraphs(title.get(0).replace("Usage: ", "  ").replace(", ", "\n  "), ".SH");
        line(".SH COMMANDS");
        for (CommandList.Purpose purposes : CommandList.Purpose.values()) {
            line(".SS " + purposes.heading);
            for (CommandList.Entry entry : CommandList.Entry.values()) {
                if (entry.purpose == purposes) {
                    item(entry.word, "", entry.summary);
                }
            }
        }
    }

    /** Adds the section of a command, and those of its own commands. */
    private void command(CommandLine command) {
        CommandSpec spec = command.getCommandSpec();
        spec.usageMessage().width(WIDTH);
        Help help = new Help(spec, Help.defaultColorScheme(Help.Ansi.OFF));
        line(".SH " + escaped(spec.qualifiedName().toUpperCase(Locale.ROOT)));
        line(escaped(help.synopsis(0).strip()));
        line(".PP");
        paragraphs(help.description(), ".SS");
        for (PositionalParamSpec parameter : spec.positionalParameters()) {
            if (!parameter.hidden()) {
                item(
                        label(help, parameter),
                        "",
                        description(help.createDefaultParameterRenderer()
                                .render(parameter, help.parameterLabelRenderer(), help.colorScheme())));
            }
        }
        for (OptionSpec option : spec.options()) {
            if (!option.hidden()) {
                item(
                        String.join(", ", option.names()),
                        label(help, option),
                        description(help.createDefaultOptionRenderer()
                                .render(option, help.parameterLabelRenderer(), help.colorScheme())));
            }
        }
        paragraphs(help.footerHeading() + help.footer(), ".SS");
        command.getSubcommands().values().stream().distinct().forEach(this::command);
    }

    private static String label(Help help, ArgSpec argument) {
        return help.parameterLabelRenderer()
                .renderParameterLabel(argument, Help.Ansi.OFF, List.of())
                .toString();
    }

    /** Returns the last column of the help of an argument. */
    private static String description(Help.Ansi.Text[][] rows) {
        return Stream.of(rows)
                .map(row -> row[row.length - 1].toString())
                .collect(Collectors.joining(" "))
                .replaceAll("\\s+", " ")
                .strip();
    }

    private void item(String name, String label, String description) {
        line(".TP");
        line("\\fB" + escaped(name) + "\\fP" + escaped(label));
        line(escaped(description));
    }

    /**
     * Adds a text. Its indented lines stay as they are; the others are filled.
     *
     * @param heading the macro of lines that end with a colon before an indented one
     */
    private void paragraphs(String text, String heading) {
        List<String> lines = text.stripTrailing().lines().toList();
        boolean isIndented = false;
        for (int i = 0; i < lines.size(); i++) {
            String each = lines.get(i);
            boolean wasIndented = isIndented;
            isIndented = each.startsWith(" ");
            if (isIndented != wasIndented) {
                line(isIndented ? ".nf" : ".fi");
            }
            if (isHeading(lines, i)) {
                line(heading + " " + escaped(each.substring(0, each.length() - 1)));
            } else if (!each.isEmpty()) {
                line(escaped(each));
            } else if (i > 0 && !isHeading(lines, i + 1)) {
                // A heading has space of its own.
                line(".PP");
            }
        }
        if (isIndented) {
            line(".fi");
        }
    }

    private static boolean isHeading(List<String> lines, int at) {
        return lines.get(at).endsWith(":")
                && !lines.get(at).startsWith(" ")
                && at + 1 < lines.size()
                && lines.get(at + 1).startsWith(" ");
    }

    private void line(String line) {
        page.append(line).append('\n');
    }

    /** Returns a text in which no character means something to troff, and quotes and hyphens are those of ASCII. */
    private static String escaped(String text) {
        StringBuilder escaped = new StringBuilder(text.startsWith(".") || text.startsWith("'") ? "\\&" : "");
        text.codePoints().forEach(each -> {
            switch (each) {
                case '\\' -> escaped.append("\\e");
                case '-' -> escaped.append("\\-");
                case '\'' -> escaped.append("\\(aq");
                case '`' -> escaped.append("\\(ga");
                case '^' -> escaped.append("\\(ha");
                case '~' -> escaped.append("\\(ti");
                default -> {
                    if (each < 0x80) {
                        escaped.appendCodePoint(each);
                    } else {
                        escaped.append(String.format(Locale.ROOT, "\\[u%04X]", each));
                    }
                }
            }
        });
        return escaped.toString();
    }
}
