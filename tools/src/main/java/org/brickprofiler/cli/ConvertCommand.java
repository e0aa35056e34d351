package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.trace.read.TraceTimeline;
import org.brickprofiler.trace.write.TraceFiles;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Converts a profile or a timeline to another file format. */
@Command(
        name = "convert",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Writes the profile of a trace or a report to a file, that is the sums of each brick, or the "
                + "timeline of a trace. What a timeline has no place for is reported.",
        parameterListHeading = "%nFiles:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Keep the profile of a large trace, to report or compare it later:",
            "    brick convert trace.json.gz profile.json",
            "  A table for a spreadsheet; names that it would run as formulas get an apostrophe before them:",
            "    brick convert profile.json bricks.csv",
            "  A trace of PyTorch as a small file for ui.perfetto.dev:",
            "    brick convert trace.json.gz trace.pftrace",
            "  A timeline of this library for tools that read PyTorch's traces:",
            "    brick convert pass.pftrace pass.json.gz",
            "  The samples of a recording of Jlama that ran without the agent:",
            "    brick convert run.jfr run.json --agent-rules jlama"
        })
final class ConvertCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "IN",
            description = "A trace or a JSON report, as for brick report; - is the standard input.")
    private Path in;

    @Parameters(
            paramLabel = "OUT",
            description = "The ending is the format. Profiles: the JSON report (.json), a line for each brick "
                    + "(.csv), or what brick report prints (.txt). Timelines: Chrome's format, packed (.json.gz), or "
                    + "Perfetto's (.pftrace, .perfetto-trace).")
    private Path out;

    @Option(
            names = "--timeline",
            description = "Write the timeline where OUT ends in .json, too, in Chrome's format and not packed.")
    private boolean timeline;

    @Mixin
    private TraceOptions traceOptions;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    private enum Format {
        JSON,
        CSV,
        TEXT,
        TIMELINE
    }

    @Override
    public Integer call() throws IOException {
        Format format = formatOf(out);
        Input.requireOutput(in, out);
        return format == Format.TIMELINE ? writeTimeline() : writeProfile(format);
    }

    private int writeProfile(Format format) throws IOException {
        ProfileInput input = ProfileInput.read(in, traceOptions);
        if (format == Format.JSON) {
            Map<String, Object> further = input.lines()
                    .<Map<String, Object>>map(lines -> Map.of(JsonReport.LINES, lines.values()))
                    .orElse(Map.of());
            JsonReport.write(input.requireWholeRun("a report of one").snapshot(), further, out);
        } else if (format == Format.CSV) {
            CsvReport.write(
                    input.requireWholeRun("a report of one")
                            .requireTimes("cannot write " + out)
                            .snapshot(),
                    out);
        } else {
            String text = input.text(Integer.MAX_VALUE, true) + input.findingsText(Integer.MAX_VALUE);
            AtomicFile.write(out, to -> to.write(text.getBytes(StandardCharsets.UTF_8)));
        }
        return input.exitCode(spec.commandLine().getErr());
    }

    private int writeTimeline() throws IOException {
        if (traceOptions.isForProfile()) {
            throw new IllegalArgumentException(
                    "cannot write " + out + ": --rules, --agent-rules, --skip-steps and --keep-warmup"
                            + " are for profiles, and that is a timeline");
        }
        PrintWriter err = spec.commandLine().getErr();
        try (TraceTimeline read = Input.timeline(in, traceOptions.salvage())) {
            TraceFiles.write(read.timeline(), out, read.isOwn() ? TraceFiles.Origin.OWN : TraceFiles.Origin.OTHER);
            String differences = read.differences();
            if (!differences.isEmpty()) {
                Brick.report(err, out + " lacks parts of " + in + ": " + differences);
            }
            if (read.events() > 0) {
                return CommandLine.ExitCode.OK;
            }
            Brick.report(err, in + " contains no event for a timeline");
            return CommandLine.ExitCode.SOFTWARE;
        } catch (UncheckedIOException failed) {
            throw failed.getCause();
        }
    }

    private Format formatOf(Path file) {
        String name = file.toString().toLowerCase(Locale.ROOT);
        boolean isTimeline = name.endsWith(".pftrace") || name.endsWith(".perfetto-trace") || name.endsWith(".json.gz");
        if (isTimeline || (timeline && name.endsWith(".json"))) {
            return Format.TIMELINE;
        }
        if (timeline) {
            throw new IllegalArgumentException("cannot write " + file
                    + ": the format of a timeline is .pftrace, .perfetto-trace, .json.gz or .json");
        }
        if (name.endsWith(".json")) {
            return Format.JSON;
        }
        if (name.endsWith(".csv")) {
            return Format.CSV;
        }
        if (name.endsWith(".txt")) {
            return Format.TEXT;
        }
        throw new IllegalArgumentException(
                "cannot write " + file + ": the format is not known: .json, .csv or .txt for "
                        + "a profile, .pftrace, .perfetto-trace or .json.gz for a timeline");
    }
}
