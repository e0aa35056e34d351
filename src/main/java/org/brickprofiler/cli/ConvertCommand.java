package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import org.brickprofiler.demo.OutputFile;
import org.brickprofiler.io.AtomicFile;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.JsonReport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes the profile that a file holds into a file of another format. */
@Command(
        name = "convert",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Writes the profile of a trace or a report to a file. That is the sums of each brick, not the "
                + "timeline: a trace does not become a trace of another format.",
        parameterListHeading = "%nFiles:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Keep the profile of a large trace, to report or compare it later:",
            "    brick convert trace.json.gz profile.json",
            "  A table for a spreadsheet; names that it would run as formulas get an apostrophe before them:",
            "    brick convert profile.json bricks.csv"
        })
final class ConvertCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "IN", description = "A trace or a JSON report, as for brick report.")
    private Path in;

    @Parameters(
            paramLabel = "OUT",
            description = "The ending tells the format: the JSON report of the profile (.json), a line for each brick "
                    + "(.csv), or what brick report prints (.txt).")
    private Path out;

    @Mixin
    private TraceOptions traceOptions;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private HelpOption help;

    private enum Format {
        JSON,
        CSV,
        TEXT
    }

    @Override
    public Integer call() throws IOException {
        Format format = formatOf(out);
        InputFile.requiredTwice(in);
        if (Files.exists(out) && Files.isSameFile(in, out)) {
            throw new IllegalArgumentException("cannot write " + out + ": it is the input");
        }
        if (!Files.exists(out) || Files.isRegularFile(out) || Files.isDirectory(out)) {
            OutputFile.requireWritable(out);
        }
        ProfileInput input = ProfileInput.read(in, traceOptions);
        switch (format) {
            case JSON -> JsonReport.write(input.snapshot(), out);
            case CSV -> CsvReport.write(input.snapshot(), out);
            case TEXT -> AtomicFile.write(out, to -> to.write(input.text().getBytes(StandardCharsets.UTF_8)));
        }
        return input.exitCode(spec.commandLine().getErr());
    }

    private static Format formatOf(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        if (name.endsWith(".json")) {
            return Format.JSON;
        }
        if (name.endsWith(".csv")) {
            return Format.CSV;
        }
        if (name.endsWith(".txt")) {
            return Format.TEXT;
        }
        boolean timeline =
                name.endsWith(".pftrace") || name.endsWith(".perfetto-trace") || name.endsWith(".json.gz");
        throw new IllegalArgumentException("cannot write " + file + ": "
                + (timeline ? "that is a timeline, and this writes profiles: " : "the format is not known: ")
                + ".json, .csv or .txt");
    }
}
