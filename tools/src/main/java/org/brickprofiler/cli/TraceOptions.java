package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import org.brickprofiler.agent.FrameRules;
import org.brickprofiler.trace.FrameBricks;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceRules;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of commands that read traces. Picocli sets the fields. Used by one thread. */
final class TraceOptions {

    @Option(
            names = "--rules",
            paramLabel = "FILE",
            description = "Traces: a file of rules that assign kernels to bricks, one rule per line, such as "
                    + "RmsNorm <- name=/rms_?norm/i. They take precedence over the built-in rules.")
    private @Nullable Path rules;

    @Option(
            names = "--skip-steps",
            paramLabel = "N",
            description =
                    "Traces: leave out the first N steps (ProfilerStep#, JAX's step_num) and everything before them.")
    private int skipSteps;

    @Option(names = "--keep-warmup", description = "Traces: count the warm-up, too, whether it is marked or detected.")
    private boolean keepWarmup;

    @Option(names = "--salvage", description = "Traces: read a damaged trace up to the damage.")
    private boolean salvage;

    @Option(
            names = "--agent-rules",
            paramLabel = "FILE|ENGINE",
            description =
                    "A flight recording without bricks, also of async-profiler: the agent's rules, or the engine whose "
                            + "rules are bundled. A sample belongs to the innermost method on its stack that is a whole brick by a "
                            + "rule. Executions and times stay unknown.")
    private @Nullable Path agentRules;

    /** The rules of the agent, once they are read. */
    private Optional<FrameBricks> frames = Optional.empty();

    /** Returns whether the frames of samples show the bricks. */
    boolean isByFrames() {
        return agentRules != null;
    }

    /** Returns whether an option was set that applies to profiles only. */
    boolean isForProfile() {
        return rules != null || agentRules != null || skipSteps != 0 || keepWarmup;
    }

    /** Returns whether any option was set. */
    boolean isAnySet() {
        return isForProfile() || salvage;
    }

    /** Returns whether to read a damaged trace up to the damage. */
    boolean salvage() {
        return salvage;
    }

    /**
     * Checks the options before a trace is read.
     *
     * @throws IOException if the file of the agent's rules cannot be read
     * @throws IllegalArgumentException if an option is invalid; the message names it
     */
    void check() throws IOException {
        if (skipSteps < 0) {
            throw new IllegalArgumentException("--skip-steps " + skipSteps + " is negative: use 0 or more");
        }
        if (agentRules != null) {
            frames = Optional.of(FrameRules.read(agentRules));
        }
    }

    /**
     * Returns the options for the reader. Call it for traces only, because it compiles the built-in rules.
     *
     * @throws IOException if the file of the rules cannot be read
     * @throws IllegalArgumentException if a rule is invalid; the message names line and column
     */
    ReadOptions toReadOptions() throws IOException {
        TraceRules all = rules == null
                ? TraceRules.builtIn()
                : TraceRules.load(Input.required(rules)).then(TraceRules.builtIn());
        ReadOptions options = ReadOptions.defaults()
                .withRules(all)
                .withSkipSteps(skipSteps)
                .withKeepWarmup(keepWarmup)
                .withSalvage(salvage);
        return frames.map(options::withFrames).orElse(options);
    }
}
