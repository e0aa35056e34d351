package org.brickprofiler.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Style;
import org.brickprofiler.console.Terminal;
import org.brickprofiler.fleet.FleetReport;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Reports a pack. */
@Command(
        name = "report",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Reports a fleet: what is wrong with its data, which ranks and hosts keep the others waiting and "
                + "what that costs, the bricks of all ranks, how far ranks differ, what each did, and what drifts.",
        parameterListHeading = "%nParameter:%n",
        optionListHeading = "%nOptions:%n")
final class FleetReportCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private FleetCommand.PackOptions options;

    @Parameters(arity = "0..1", paramLabel = "PACK", description = "The pack, instead of --pack.")
    private @Nullable String pack;

    @ArgGroup
    private @Nullable Form form;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** Output formats that exclude each other; the default is text for a terminal. */
    private static final class Form {
        @Option(names = "--json", description = "Print the report as JSON.")
        private boolean json;

        @SuppressWarnings("unused") // picocli reads it; it applies if neither of the others is set
        @Option(names = "--markdown", description = "Print the report as a comment for a pull request.")
        private boolean markdown;

        @Option(
                names = "--html",
                paramLabel = "OUT",
                description =
                        "Write the report as one page that opens in a browser, from the disk and without a network.")
        private @Nullable Path html;
    }

    @Override
    public Integer call() throws IOException {
        Path page = form == null ? null : form.html;
        if (page != null) {
            OutputFile.requireWritable(page);
        }
        FleetReport report;
        try (FleetCommand.OpenPack open = options.open(pack, spec.commandLine().getErr())) {
            report = FleetReport.of(open.engine(), open.pack().problems());
        }
        PrintWriter out = spec.commandLine().getOut();
        if (page != null) {
            byte[] bytes = report.toHtml().getBytes(UTF_8);
            AtomicFile.write(page, file -> file.write(bytes));
            out.println(Terminal.shown("HTML: " + page.toAbsolutePath()));
        } else if (form == null) {
            Style style = Style.ofOutput();
            out.print(style.applied(report.toText(style.columns())));
        } else {
            out.print(Terminal.shown(form.json ? report.toJson() : report.toMarkdown()));
        }
        out.flush();
        return CommandLine.ExitCode.OK;
    }
}
