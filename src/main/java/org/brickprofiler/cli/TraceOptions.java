package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Path;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceRules;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** How a trace is to be read. The fields are filled by picocli. */
final class TraceOptions {

    @Option(
            names = "--rules",
            paramLabel = "FILE",
            description = "Traces: which kernels are which bricks, a rule in each line such as RmsNorm <- "
                    + "name=/rms_?norm/i; asked before the built-in rules.")
    private @Nullable Path rules;

    @Option(
            names = "--skip-steps",
            paramLabel = "N",
            description = "Traces: leave out the first N steps (ProfilerStep#) and what is before them.")
    private int skipSteps;

    @Option(names = "--keep-warmup", description = "Traces: count what is or looks like warm-up, too.")
    private boolean keepWarmup;

    /** Whether any option was set. */
    boolean isAnySet() {
        return rules != null || skipSteps != 0 || keepWarmup;
    }

    /**
     * The options for the reader.
     *
     * @throws IOException when the rules cannot be read
     * @throws IllegalArgumentException when an option makes no sense; the message names it, or line and column
     */
    ReadOptions toReadOptions() throws IOException {
        if (skipSteps < 0) {
            throw new IllegalArgumentException("--skip-steps " + skipSteps + " is negative");
        }
        TraceRules all = rules == null
                ? TraceRules.builtIn()
                : TraceRules.load(InputFile.required(rules)).then(TraceRules.builtIn());
        return ReadOptions.defaults().withRules(all).withSkipSteps(skipSteps).withKeepWarmup(keepWarmup);
    }
}
