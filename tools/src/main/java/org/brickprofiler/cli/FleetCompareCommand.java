package org.brickprofiler.cli;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.fleet.FleetRuns;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Compares the runs of two sets of packs. */
@Command(
        name = "compare",
        sortOptions = false,
        sortSynopsis = false,
        usageHelpWidth = 100,
        customSynopsis = "brick fleet compare [OPTIONS] BEFORE... -- AFTER... [OPTIONS]",
        description =
                "Prints which bricks changed between the runs of two fleets, as brick compare does: each run is one "
                        + "observation, however many ranks and windows it has.",
        parameterListHeading = "%nPacks:%n",
        optionListHeading = "%nOptions:%n")
final class FleetCompareCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "BEFORE",
            arity = "1..*",
            description = "Packs. After two dashes, those of the other side.")
    private List<String> before;

    @Option(names = "--", paramLabel = "AFTER", arity = "1..*", hidden = true)
    private @Nullable List<String> after;

    @Mixin
    private FleetCommand.EngineOptions how;

    @Mixin
    private ComparisonOptions options;

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    @Override
    public Integer call() throws IOException {
        options.check();
        List<String> others = ComparisonOptions.second(after, "packs", spec.commandLine());
        return options.print(RunComparison.of(runs(before), runs(others), options.toOptions()), spec.commandLine());
    }

    private List<Run> runs(List<String> packs) throws IOException {
        List<Run> runs = new ArrayList<>();
        for (String pack : packs) {
            try (FleetCommand.OpenPack open = how.open(pack, spec.commandLine().getErr())) {
                for (Run run : FleetRuns.of(open.engine(), pack)) {
                    for (Run known : runs) {
                        requireOther(run, known);
                    }
                    runs.add(run);
                }
            }
        }
        return runs;
    }

    /** Refuses a run that two packs of a side contain, whole or in part: the run would count as two observations. */
    private static void requireOther(Run run, Run known) {
        ProfileSnapshot one = run.snapshot();
        ProfileSnapshot two = known.snapshot();
        if (one.identity().runId().equals(two.identity().runId())
                && !one.startedAt().isAfter(two.endedAt())
                && !two.startedAt().isAfter(one.endedAt())) {
            throw new IllegalArgumentException(run.name() + " is the same run at the same time as " + known.name()
                    + ": give each run only once, with all of its ranks in one pack");
        }
    }
}
