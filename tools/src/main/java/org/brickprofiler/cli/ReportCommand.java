package org.brickprofiler.cli;

import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Style;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.report.CsvReport;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.HtmlReport;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.TimelineDigest;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceReader;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
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
        description = "Prints the time of each brick: as text with the counted and omitted events, as JSON, or as CSV; "
                + "or writes it as one page for a browser.",
        parameterListHeading = "%nInput:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  A trace of PyTorch, without its first two steps:",
            "    brick report trace.json.gz --skip-steps 2",
            "  Own kernels, assigned by a file with lines such as \"my norm\" (Norm) <- name=/^my_norm/:",
            "    brick report trace.json --rules my.rules",
            "  The tables of one run of AMD's rocprofv3, together:",
            "    brick report 12345_*.csv",
            "  The layers of a TensorRT engine, beside the times of its runs:",
            "    brick report profile.json times.json",
            "  A page to read and to share:",
            "    brick report brick-profile.json --html out.html",
            "  The distance to the limits of the machine that brick roofline measured:",
            "    brick report brick-profile.json --roofline brick-roof.json",
            "  The attention of a trace of vLLM beside the limits of its device:",
            "    brick report trace.json.gz --attention layers=36,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350",
            "  The share of the requests that waited at most half a second for the first token:",
            "    brick report brick-profile.json --slo ttft=500ms",
            "  The methods of a recording of Jlama that ran without the agent:",
            "    brick report run.jfr --agent-rules jlama",
            "  A page whose lines lead to their sources:",
            "    brick report run.jfr --html out.html --sources src/main/java",
            "  The ten bricks with the largest total time, in a shell:",
            "    brick report brick-profile.json --json | jq -r '.bricks[:10][].name'"
        })
final class ReportCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "FILE|ADDRESS",
            arity = "1..*",
            description = "A JSON report or a timeline of this library, " + TraceReader.FORMATS
                    + "; with or without gzip. Of a file with phases or requests and "
                    + "no bricks, such as a log of llama.cpp, these are printed. The content decides the format, "
                    + "not the name; - is the standard input. An address such as http://localhost:8080 is the port of an "
                    + "agent; several are replicas, whose profiles are added.")
    private List<File> inputs = List.of(); // The completion of shells lists files for this type.

    @ArgGroup
    private @Nullable Form form;

    @Option(
            names = "--slo",
            paramLabel = "LIMITS",
            description =
                    "Print the share of the requests that met a service-level objective, and their number per second "
                            + "(goodput), such as ttft=500ms,tpot=50ms: the longest time to first token, and per output token.")
    private @Nullable String slo;

    @Option(
            names = "--attention",
            paramLabel = "NUMBERS",
            description =
                    "Print the roofline of attention of a trace of vLLM or SGLang, whose annotations state the pairs of "
                            + "query and key. The trace lacks the dimensions: layers, heads, kv-heads, dim, bytes (2) of an "
                            + "element, and tflops and gbps of the device, such as "
                            + "layers=36,heads=64,kv-heads=8,dim=64,tflops=989,gbps=3350.")
    private @Nullable String attention;

    @Option(
            names = {"-v", "--verbose"},
            description = "Print also the account: the ignored events, the bricks that were placed without a rule, the "
                    + "period, the clock, and the cost of profiling. The tables are as wide as the terminal, or as the "
                    + "variable COLUMNS says; CSV and JSON have all columns.")
    private boolean isVerbose;

    @Option(
            names = "--sources",
            paramLabel = "DIR|URL",
            description =
                    "With --html: make the lines of bricks links to their sources. The packages are in this folder or at "
                            + "this address, such as src/main/java or https://github.com/acme/engine/blob/main/src/main/java; "
                            + "DIR=URL links to the address of the files that the folder has. May be repeated.")
    private List<String> sources = List.of();

    /** The links to {@link #sources}. */
    private SourceLinks links = SourceLinks.to(List.of());

    @Mixin
    private RooflineCommand.Options rooflineOptions;

    @Mixin
    private TraceOptions traceOptions;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** The output formats for requests. */
    private enum RequestForm {
        CSV,
        OLLAMA
    }

    /** Output formats that exclude each other; the default is text. */
    private static final class Form {
        @Option(
                names = "--html",
                paramLabel = "OUT",
                description = "Write one page that a browser opens from the disk, without a network.")
        private @Nullable Path html;

        @Option(
                names = "--net",
                description = "Print also the times without the cost of timing; for a report with a calibration (demo "
                        + "--calibrate).")
        private boolean net;

        @Option(names = "--json", description = "Print the profile as JSON.")
        private boolean json;

        @Option(
                names = "--requests",
                paramLabel = "FORM",
                description =
                        "Print the latest requests, one by one: csv, or ollama for JSON with the fields of Ollama's "
                                + "API.")
        private @Nullable RequestForm requests;

        @SuppressWarnings("unused") // picocli reads it; it applies if none of the others is set
        @Option(names = "--csv", description = "Print one line per brick, as comma-separated values.")
        private boolean csv;
    }

    @Override
    public Integer call() throws IOException {
        Path html = form == null ? null : form.html;
        if (slo != null && form != null && !form.json) {
            throw new IllegalArgumentException(
                    "--slo prints text, or JSON with --json; it cannot be combined with another " + "form");
        }
        if (isVerbose && form != null) {
            throw new IllegalArgumentException("--verbose adds to the text; it cannot be combined with another form");
        }
        if (!sources.isEmpty() && html == null) {
            throw new IllegalArgumentException("--sources makes links in a page; it needs --html");
        }
        links = SourceLinks.to(sources);
        ServiceLevel objective = slo == null ? null : ServiceLevel.parse(slo);
        List<String> words = inputs.stream().map(ReportCommand::word).toList();
        if (words.stream().anyMatch(PortSource::isAddress)) {
            if (html != null) {
                OutputFile.requireWritable(html);
            }
            return report(ProfileInput.ofReplicas(words, traceOptions), html, objective);
        }
        List<Path> files = words.stream().map(Path::of).toList();
        if (html == null) {
            try {
                return report(ProfileInput.read(files, traceOptions), null, objective);
            } catch (Input.WithoutBricks none) {
                return summary(none);
            }
        }
        for (Path file : files) {
            Input.requireOutput(file, html);
        }
        try (ProfileInput input = ProfileInput.withTimeline(files, traceOptions)) {
            return report(input, html, null);
        }
    }

    /** Returns the word that was typed: in an address, a file has lost a slash. */
    private static String word(File input) {
        String path = input.getPath();
        return path.matches("https?:[/\\\\][^/\\\\].*")
                ? path.replace('\\', '/').replaceFirst(":/", "://")
                : path;
    }

    private int report(ProfileInput input, @Nullable Path html, @Nullable ServiceLevel objective) throws IOException {
        Rooflines rooflines = new Rooflines(rooflineOptions.of(input.snapshot()), attention(input));
        PrintWriter out = spec.commandLine().getOut();
        if (html == null) {
            Style style = Style.ofOutput();
            String text = Terminal.shown(inForm(input, rooflines, objective, style));
            out.print(form == null || form.net ? style.applied(text) : text);
        } else {
            page(input, rooflines).write(html);
            out.println("HTML: " + html.toAbsolutePath()
                    + (input.hasTimes()
                            ? ""
                            : " (without a timeline: the file holds durations or sums, no start times)"));
        }
        out.flush();
        return input.exitCode(spec.commandLine().getErr());
    }

    /** Prints a summary, which has no bricks; options that are about bricks are refused. */
    private int summary(Input.WithoutBricks file) throws IOException {
        boolean isJson = form != null && form.json;
        if ((form != null && !isJson)
                || slo != null
                || attention != null
                || traceOptions.isAnySet()
                || rooflineOptions.isSet()) {
            throw file;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.print(Terminal.shown(isJson ? file.summary.toJson() : file.summary.text()));
        out.flush();
        return CommandLine.ExitCode.OK;
    }

    /** The rooflines that were requested. */
    private record Rooflines(
            @Nullable BrickRoofline bricks, @Nullable AttentionRoofline attention) {

        FindingSource[] sources() {
            return Stream.of(Optional.ofNullable(bricks), Optional.ofNullable(attention))
                    .flatMap(Optional::stream)
                    .toArray(FindingSource[]::new);
        }

        String text(int columns) {
            return (bricks == null ? "" : "\n" + RooflineReport.render(bricks, columns))
                    + (attention == null ? "" : "\n" + attention.text());
        }
    }

    private @Nullable AttentionRoofline attention(ProfileInput input) {
        if (attention == null) {
            return null;
        }
        AttentionRoofline.Shape shape = AttentionRoofline.Shape.parse(attention);
        TraceProfile trace = input.requireWholeRun("compared with a roof")
                .trace()
                .orElseThrow(() -> new IllegalArgumentException(
                        input.name() + " is no trace: --attention needs one of vLLM or SGLang"));
        return AttentionRoofline.of(input.name(), trace, shape);
    }

    private HtmlReport page(ProfileInput input, Rooflines rooflines) {
        Map<String, Object> further = new LinkedHashMap<>(input.further());
        further.put("findings", Findings.values(input.findings(rooflines.sources())));
        HtmlReport profile =
                HtmlReport.of(input.snapshot()).withFurther(further).named(input.name());
        BrickRoofline bricks = rooflines.bricks();
        HtmlReport beside = bricks == null ? profile : profile.with(RooflineReport.part(bricks));
        HtmlReport accounted = input.account().map(beside::with).orElse(beside);
        HtmlReport page = sources.isEmpty() ? accounted : accounted.with(links.part(linesOf(input)));
        return input.timeline()
                .map(timeline -> page.with(TimelineDigest.of(timeline.timeline())))
                .orElse(page);
    }

    private static LineProfile linesOf(ProfileInput input) {
        return input.lines()
                .orElseThrow(() -> new IllegalArgumentException(
                        input.name() + " has no lines of bricks; --sources makes these into links"));
    }

    private String inForm(ProfileInput input, Rooflines rooflines, @Nullable ServiceLevel objective, Style style) {
        String further =
                (objective == null ? "" : "\n" + objective.render(input.snapshot())) + rooflines.text(style.columns());
        if (form == null) {
            return input.text(style.columns(), isVerbose)
                    + further
                    + input.findingsText(style.columns(), rooflines.sources());
        }
        if (form.net) {
            input.requireWholeRun("printed without the cost of timing");
            try {
                return TextReport.renderNet(input.snapshot(), style.columns())
                        + further
                        + input.findingsText(style.columns(), rooflines.sources());
            } catch (IllegalArgumentException notCalibrated) {
                throw new IllegalArgumentException(input.name() + ": " + notCalibrated.getMessage(), notCalibrated);
            }
        }
        if (!form.json) {
            if (rooflines.sources().length > 0) {
                throw new IllegalArgumentException("--roofline and --attention cannot be combined with "
                        + (form.requests == null ? "--csv" : "--requests"));
            }
            return form.requests == null
                    ? CsvReport.toCsv(input.requireWholeRun("a table without remarks")
                            .requireTimes("cannot print a table of " + input.name())
                            .snapshot())
                    : requests(input, form.requests);
        }
        Map<String, Object> keys = new LinkedHashMap<>(input.further());
        keys.put("findings", Findings.values(input.findings(rooflines.sources())));
        if (rooflines.bricks() != null) {
            keys.put("roofline", RooflineReport.values(rooflines.bricks()));
        }
        if (rooflines.attention() != null) {
            keys.put("attention_roofline", rooflines.attention().values());
        }
        if (objective != null) {
            keys.put("slo", objective.values(input.snapshot()));
        }
        return JsonReport.toJson(input.snapshot(), keys);
    }

    private static String requests(ProfileInput input, RequestForm form) {
        return form == RequestForm.CSV
                ? RequestExport.toCsv(input.snapshot())
                : RequestExport.toOllama(input.snapshot());
    }
}
