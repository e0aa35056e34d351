package org.brickprofiler.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.brickprofiler.cli.fleet.FleetEngine;
import org.brickprofiler.cli.fleet.FleetPack;
import org.brickprofiler.cli.fleet.FleetRuns;
import org.brickprofiler.compare.Comparison;
import org.brickprofiler.compare.Run;
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
        description = "Says which bricks changed between the runs of two fleets, as brick compare does: each run is one "
                + "observation, however many ranks and windows it has.",
        parameterListHeading = "%nPacks:%n",
        optionListHeading = "%nOptions:%n")
final class FleetCompareCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "BEFORE", arity = "1..*", description = "Packs. After two dashes, those of the other side.")
    private List<Path> before;

    @Option(names = "--", paramLabel = "AFTER", arity = "1..*", hidden = true)
    private @Nullable List<Path> after;

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
        List<Path> others = ComparisonOptions.second(after, "packs", spec.commandLine());
        return options.print(Comparison.of(runs(before), runs(others), options.toOptions()), spec.commandLine());
    }

    private List<Run> runs(List<Path> folders) throws IOException {
        List<Run> runs = new ArrayList<>();
        for (Path folder : folders) {
            FleetPack pack = how.pack(folder, spec.commandLine().getErr());
            try (FleetEngine engine = how.engine(pack)) {
                runs.addAll(FleetRuns.of(engine, folder.toString()));
            }
        }
        return runs;
    }
}
