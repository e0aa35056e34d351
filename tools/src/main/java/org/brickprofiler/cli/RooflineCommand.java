package org.brickprofiler.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.function.LongFunction;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.console.MachineWatch;
import org.brickprofiler.console.OutputFile;
import org.brickprofiler.console.Terminal.InputBar;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.MachineRoof;
import org.brickprofiler.roofline.RooflineReport;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Measures the compute and bandwidth limits of this machine. */
@Command(
        name = "roofline",
        sortOptions = false,
        usageHelpWidth = 100,
        description = "Measures the limits of this machine, for one thread and for all: the bandwidth for working sets "
                + "of every size, which shows each cache level and the memory, and the rate of fused "
                + "multiply-adds. Prints them, and stores them for brick report. The measurement takes about half "
                + "a minute and all processors; run nothing else meanwhile. It tests the memory with up to half of "
                + "the heap; -Xmx raises this.",
        optionListHeading = "%nOptions:%n",
        footerHeading = "%nExamples:%n",
        footer = {
            "  The distance of each brick of a run to the limits of the machine:",
            "    brick roofline --out roof.json",
            "    brick demo --tokens 200 --json run.json",
            "    brick report run.json --roofline roof.json --threads 2"
        })
final class RooflineCommand implements Callable<Integer> {

    /** The default file of a measured machine. */
    static final String USUAL_FILE = "brick-roof.json";

    private final Path root;
    private final LongFunction<MachineRoof> probe;

    @Spec
    private CommandSpec spec;

    @Option(names = "--out", paramLabel = "FILE", description = "The file for the result (${DEFAULT-VALUE}).")
    private Path file = Path.of(USUAL_FILE);

    @SuppressWarnings("unused") // picocli reads it
    @Mixin
    private Brick.HelpOption help;

    /** For picocli. */
    RooflineCommand() {
        this(MachineWatch.ROOT, MachineRoof::measure);
    }

    /**
     * Creates a command.
     *
     * @param root the folder with {@code proc} and {@code sys}
     * @param probe measures the machine, using at most the given number of bytes
     */
    RooflineCommand(Path root, LongFunction<MachineRoof> probe) {
        this.root = root;
        this.probe = probe;
    }

    /** Options of a command that compares a profile with a measured machine. */
    static final class Options {

        @Option(
                names = "--roofline",
                paramLabel = "ROOF",
                description = "Print the distance of the bricks to the limits of the machine; ROOF is a file of brick "
                        + "roofline.")
        private @Nullable Path machine;

        @Option(
                names = "--threads",
                paramLabel = "N",
                description =
                        "With --roofline: the number of threads that work on one brick together (all of the machine).")
        private @Nullable Integer threads;

        /** Returns whether an option was set. */
        boolean isSet() {
            return machine != null || threads != null;
        }

        /**
         * Returns the bricks of a profile beside their roofs.
         *
         * @return the comparison; null if {@code --roofline} was not given
         * @throws IOException when the machine's file cannot be read
         * @throws IllegalArgumentException when the options are invalid
         */
        @Nullable
        BrickRoofline of(ProfileSnapshot snapshot) throws IOException {
            if (machine == null) {
                if (threads != null) {
                    throw new IllegalArgumentException("--threads " + threads + " requires --roofline");
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
        InputBar bar = InputBar.of("Measuring this machine");
        MachineRoof measured;
        try {
            measured = probe.apply(Runtime.getRuntime().maxMemory() / 2);
        } finally {
            bar.close();
        }
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
