package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.RooflineReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.brickprofiler.trace.read.TraceTimeline;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints the profile that a file holds. */
@Command(
        name = "report",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Prints which bricks took the time: as text with what was and was not counted, or the bare "
                + "profile as JSON or CSV; or writes it as one page for a browser.",
        parameterListHeading = "%nInput:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  A trace of PyTorch, without its first two steps:",
            "    brick report trace.json.gz --skip-steps 2",
            "  Kernels of one's own, named in a file with lines such as \"my norm\" (Norm) <- name=/^my_norm/:",
            "    brick report trace.json --rules my.rules",
            "  A page to look at and to send around:",
            "    brick report brick-profile.json --html out.html",
            "  How far from what the machine can do, which brick roofline has measured:",
            "    brick report brick-profile.json --roofline brick-roof.json",
            "  The ten bricks that took most time, in a shell:",
            "    brick report brick-profile.json --json | jq -r '.bricks[:10][].name'"
        })
final class ReportCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "FILE",
            description =
                    "A JSON report of this library, its timeline, a Chrome or Perfetto trace of another program, "
                            + "a flight recording, an SQLite export of Nsight Systems, or a log with the output of TornadoVM's "
                            + "profiler, packed with gzip or not. The content decides which, not the name; - is the standard input.")
    private Path file;

    @ArgGroup
    private @Nullable Form form;

    @Mixin
    private RooflineCommand.Options rooflineOptions;

    @Mixin
    private Input.TraceOptions traceOptions;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** One of these, or text. */
    private static final class Form {
        @Option(
                names = "--html",
                paramLabel = "OUT",
                description = "Write one page that opens in a browser, from the disk and without a network.")
        private @Nullable Path html;

        @Option(
                names = "--net",
                description = "Print, beside the times, those without what timing the bricks took; for a report with a "
                        + "calibration (demo --calibrate).")
        private boolean net;

        @Option(names = "--json", description = "Print the profile as JSON.")
        private boolean json;

        @SuppressWarnings("unused") // what is not the one is the other
        @Option(names = "--csv", description = "Print a line for each brick, as comma-separated values.")
        private boolean csv;
    }

    @Override
    public Integer call() throws IOException {
        Path html = form == null ? null : form.html;
        if (html != null) {
            Input.requireOutput(file, html);
        }
        Input.Profile input = Input.Profile.read(file, traceOptions);
        BrickRoofline roofline = rooflineOptions.of(input.snapshot());
        PrintWriter out = spec.commandLine().getOut();
        if (html == null) {
            out.print(inForm(input, roofline));
        } else {
            page(input, roofline).write(html);
            out.println("HTML: " + html.toAbsolutePath());
        }
        out.flush();
        return input.exitCode(spec.commandLine().getErr());
    }

    /** The page of a profile, of a trace with its timeline: the trace is read once more, where that is possible. */
    private HtmlReport page(Input.Profile input, @Nullable BrickRoofline roofline) throws IOException {
        HtmlReport profile = HtmlReport.of(input.snapshot()).withFurther(input.further());
        HtmlReport page = roofline == null ? profile : profile.withRoofline(roofline);
        boolean hasTimes = input.trace().stream().anyMatch(trace -> trace.counting() != Counting.TASK_GRAPHS);
        if (!hasTimes || !Files.isRegularFile(file)) {
            return page;
        }
        try (TraceTimeline timeline = Input.timeline(file, traceOptions.salvage())) {
            return page.withTimeline(timeline.timeline());
        }
    }

    private String inForm(Input.Profile input, @Nullable BrickRoofline roofline) {
        String further = roofline == null ? "" : "\n" + RooflineReport.render(roofline);
        if (form == null) {
            return input.text() + further;
        }
        if (form.net) {
            try {
                return TextReport.renderNet(input.snapshot()) + further;
            } catch (IllegalArgumentException notCalibrated) {
                throw new IllegalArgumentException(input.name() + ": " + notCalibrated.getMessage(), notCalibrated);
            }
        }
        if (!form.json) {
            if (roofline != null) {
                throw new IllegalArgumentException("--roofline has no place in a table of --csv");
            }
            return CsvReport.toCsv(input.snapshot());
        }
        Map<String, Object> keys = new LinkedHashMap<>(input.further());
        if (roofline != null) {
            keys.put("roofline", RooflineReport.values(roofline));
        }
        return JsonReport.toJson(input.snapshot(), keys);
    }
}
