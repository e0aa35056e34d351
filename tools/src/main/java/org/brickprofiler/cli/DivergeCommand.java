package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.brickprofiler.checksum.ChecksumComparison;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.console.Style;
import org.brickprofiler.report.DivergenceReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares two logs of checksums. */
@Command(
        name = "diverge",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        description = "Compares two logs of checksums and names the first brick that differs, in the order of "
                + "execution. Exit code 0 where they agree, 1 where they differ or are both empty.",
        parameterListHeading = "%nLogs:%n",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  Does the engine still compute the same, bit by bit?",
            "    brick diverge new.jsonl reference.jsonl",
            "  Half precision against single precision, by sampled values:",
            "    brick diverge half.jsonl single.jsonl --tolerance float16",
            "  With custom tolerances: |new - reference| <= 0.001 + 0.01 * |reference|",
            "    brick diverge new.jsonl reference.jsonl --abs 1e-3 --rel 1e-2",
            "  Two logs to try it on:",
            "    brick demo --tokens 5 --checksums a.jsonl",
            "    brick demo --tokens 5 --checksums b.jsonl --perturb 1:RmsNorm"
        })
final class DivergeCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "A", description = "The log to check; - is the standard input.")
    private Path here;

    @Parameters(paramLabel = "B", description = "The reference log, which is taken to be right.")
    private Path reference;

    @Option(
            names = "--tolerance",
            paramLabel = "TYPE",
            description = "Tolerance for sampled values, by the type of number: ${COMPLETION-CANDIDATES}. The default, "
                    + "exact, compares checksums only.")
    private @Nullable NumberType type;

    @Option(names = "--abs", paramLabel = "X", description = "The largest difference if the expected value is 0 (0).")
    private @Nullable Double absolute;

    @Option(
            names = "--rel",
            paramLabel = "X",
            description = "The largest difference as a share of the expected value (0).")
    private @Nullable Double relative;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** The types of numbers that have a tolerance of their own. */
    private enum NumberType {
        EXACT,
        FLOAT32,
        FLOAT16,
        BFLOAT16;

        Tolerance tolerance() {
            return switch (this) {
                case EXACT -> Tolerance.EXACT;
                case FLOAT32 -> Tolerance.FLOAT32;
                case FLOAT16 -> Tolerance.FLOAT16;
                case BFLOAT16 -> Tolerance.BFLOAT16;
            };
        }

        /** Returns the name on the command line. */
        @Override
        public String toString() {
            return tolerance().name();
        }
    }

    @Override
    public Integer call() throws IOException {
        Tolerance tolerance = tolerance();
        ChecksumLog log = Input.checksums(here);
        ChecksumComparison comparison = log.compareWith(Input.checksums(reference), tolerance);
        PrintWriter out = spec.commandLine().getOut();
        Style style = Style.ofOutput();
        out.print(style.applied(DivergenceReport.render(comparison, style.columns())));
        out.flush();
        boolean found = comparison.compared() > 0;
        return comparison.matches() && found ? CommandLine.ExitCode.OK : CommandLine.ExitCode.SOFTWARE;
    }

    private Tolerance tolerance() {
        if (absolute == null && relative == null) {
            return type == null ? Tolerance.EXACT : type.tolerance();
        }
        if (type != null) {
            throw new ParameterException(spec.commandLine(), "--tolerance excludes --abs and --rel");
        }
        return Tolerance.of(absolute == null ? 0 : absolute, relative == null ? 0 : relative);
    }
}
