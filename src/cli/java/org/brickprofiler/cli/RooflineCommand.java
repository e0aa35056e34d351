package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.report.RooflineReport;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.MachineRoof;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures what this machine can do at most. */
@Command(
        name = "roofline",
        sortOptions = false,
        usageHelpWidth = 100,
        description =
                "Measures what this machine can do at most: how fast working sets of every size are read and gone "
                        + "over, which shows each cache level and the memory, and the rate of fused multiply-adds; by one thread "
                        + "and by all. Prints it, and stores it for report. Takes about half a minute and all processors: leave "
                        + "the machine alone meanwhile. Memory is measured with up to half of the heap; -Xmx makes that larger.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  How far do the bricks of a run stay below what the machine can do?",
            "    brick roofline --out roof.json",
            "    brick demo --tokens 200 --json run.json",
            "    brick report run.json --roofline roof.json --threads 2"
        })
final class RooflineCommand implements Callable<Integer> {

    /** Where a machine is stored unless something else is said. */
    static final String USUAL_FILE = "brick-roof.json";

    private final Path root;
    private final LongFunction<MachineRoof> probe;

    @Spec
    private CommandSpec spec;

    @Option(names = "--out", paramLabel = "FILE", description = "Where to store it (${DEFAULT-VALUE}).")
    private Path file = Path.of(USUAL_FILE);

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** For picocli. */
    RooflineCommand() {
        this(MachineWatch.ROOT, MachineRoof::measure);
    }

    /**
     * A command.
     *
     * @param root where {@code proc} and {@code sys} are
     * @param probe measures the machine with at most so many bytes
     */
    RooflineCommand(Path root, LongFunction<MachineRoof> probe) {
        this.root = root;
        this.probe = probe;
    }

    /** What sets a profile against a machine, as options of a command that reads a profile. */
    static final class Options {

        @Option(
                names = "--roofline",
                paramLabel = "ROOF",
                description = "Show how far the bricks stay below what the machine can do: a file of brick roofline.")
        private @Nullable Path machine;

        @Option(
                names = "--threads",
                paramLabel = "N",
                description = "With --roofline: threads that work on one brick together (all that the machine has).")
        private @Nullable Integer threads;

        /**
         * Where the bricks of a profile stand.
         *
         * @return null where nobody asked
         * @throws IOException when the machine's file cannot be read
         * @throws IllegalArgumentException when the options make no sense
         */
        @Nullable
        BrickRoofline of(ProfileSnapshot snapshot) throws IOException {
            if (machine == null) {
                if (threads != null) {
                    throw new IllegalArgumentException("--threads " + threads + " has a meaning with --roofline only");
                }
                return null;
            }
            MachineRoof roof = RooflineReport.read(machine);
            return BrickRoofline.of(
                    snapshot, roof, threads == null ? roof.environment().processors() : threads);
        }
    }

    @Override
    public Integer call() throws IOException {
        OutputFile.requireWritable(file);
        MachineWatch watch = MachineWatch.begin(root);
        MachineRoof measured = probe.apply(Runtime.getRuntime().maxMemory() / 2);
        MachineRoof machine =
                measured.withDisturbances(watch.seen(RunFacts.NONE).disturbances());
        RooflineReport.write(machine, file);
        PrintWriter out = spec.commandLine().getOut();
        out.print(RooflineReport.render(machine));
        out.println("Stored in " + file.toAbsolutePath());
        out.flush();
        return 0;
    }
}
