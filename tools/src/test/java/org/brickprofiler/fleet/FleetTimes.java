package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.fleet.SimulatedFleet.Shape;

/**
 * Measures how long the questions take, for docs/BENCHMARKS.md. {@code write FOLDER RANKS WINDOWS} writes the tables of
 * a simulated fleet with distributions, seed 42. {@code ask FOLDER [ENGINE]} asks each question twice and prints both
 * times, the size of the answer, and the peak memory of the process so far, MiB, as the operating system counts it.
 * {@code page FOLDER [ENGINE]} makes the page of {@code brick fleet report}. Spark is asked with {@code local[2]}.
 */
public final class FleetTimes {

    private FleetTimes() {}

    /**
     * Runs the command that the first argument names.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[1]);
        if (args[0].equals("write")) {
            Shape shape = new Shape("simulated", Integer.parseInt(args[2]), Integer.parseInt(args[3]), 42);
            new SimulatedFleet(shape, List.of()).write(folder, true);
            return;
        }
        String name = args.length > 2 ? args[2] : FleetEngine.DEFAULT;
        FleetEngine.Options usual = FleetEngine.Options.defaults();
        FleetEngine.Options options = name.equals(FleetEngine.DEFAULT)
                ? usual
                : new FleetEngine.Options(usual.memoryBytes(), 2, folder, "local[2]");
        long startedNs = System.nanoTime();
        try (FleetEngine engine = FleetEngine.open(name, options)) {
            for (String table : FleetPack.TABLES) {
                Path file = folder.resolve(table + ".parquet");
                if (Files.exists(file)) {
                    engine.table(table, List.of(file.toString()));
                } else {
                    engine.view(table, table.equals(FleetPack.PHASES) ? FleetPack.NO_PHASES : FleetPack.NO_REQUESTS);
                }
            }
            System.out.printf("| start | %d | | | %d |%n", sinceMs(startedNs), mostMemoryMb());
            if (args[0].equals("page")) {
                startedNs = System.nanoTime();
                int characters = FleetReport.of(engine, List.of()).toHtml().length();
                System.out.printf("| page | %d | | %d | %d |%n", sinceMs(startedNs), characters, mostMemoryMb());
            } else {
                ask(engine);
            }
        }
    }

    private static void ask(FleetEngine engine) throws IOException {
        for (FleetQuestion question : FleetQuestion.values()) {
            long startedNs = System.nanoTime();
            int rows = question.ask(engine).size();
            long firstMs = sinceMs(startedNs);
            startedNs = System.nanoTime();
            question.ask(engine);
            System.out.printf(
                    "| %s | %d | %d | %d | %d |%n", question, firstMs, sinceMs(startedNs), rows, mostMemoryMb());
        }
        long startedNs = System.nanoTime();
        int findings = Stragglers.of(engine).findings().size();
        System.out.printf("| stragglers, whole | %d | | %d | %d |%n", sinceMs(startedNs), findings, mostMemoryMb());
    }

    private static long sinceMs(long startedNs) {
        return (System.nanoTime() - startedNs) / 1_000_000;
    }

    static long mostMemoryMb() throws IOException {
        return Files.readAllLines(Path.of("/proc/self/status")).stream()
                .filter(line -> line.startsWith("VmHWM:"))
                .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")) >> 10)
                .findFirst()
                .orElse(-1);
    }
}
