package org.brickprofiler.cli.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.cli.fleet.SimulatedFleet.Fault;
import org.brickprofiler.cli.fleet.SimulatedFleet.Injected;
import org.brickprofiler.cli.fleet.SimulatedFleet.Shape;
import org.brickprofiler.cli.fleet.Stragglers.Finding;
import org.brickprofiler.cli.fleet.Stragglers.Kind;

/**
 * Which stragglers are found in simulated fleets, and how often one is reported where there is none; a table for
 * docs/BENCHMARKS.md. Arguments: how many fleets (20), ranks (1000), windows (200), the first seed (1). The exit code
 * is 1 where a fault is missed or wrongly named, or anything else is reported.
 */
public final class FleetStudy {

    private FleetStudy() {}

    /**
     * Runs the study.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws Exception {
        int fleets = args.length > 0 ? Integer.parseInt(args[0]) : 20;
        int ranks = args.length > 1 ? Integer.parseInt(args[1]) : 1_000;
        int windows = args.length > 2 ? Integer.parseInt(args[2]) : 200;
        long seed = args.length > 3 ? Long.parseLong(args[3]) : 1;
        Path folder = Files.createTempDirectory("fleet-study");
        try {
            System.out.printf("%d ranks, %d windows, %d bricks%n", ranks, windows, SimulatedFleet.bricks());
            boolean isRight = true;
            for (boolean faulty : new boolean[] {true, false}) {
                int right = 0;
                for (int i = 0; i < fleets; i++) {
                    Shape shape = new Shape("simulated", ranks, windows, seed + i + (faulty ? 0 : 1_000_000));
                    List<Injected> faults = faulty ? SimulatedFleet.studyFaults(shape) : List.of();
                    List<String> wrong = wrong(faults, find(new SimulatedFleet(shape, faults), folder));
                    right += wrong.isEmpty() ? 1 : 0;
                    wrong.forEach(each -> System.out.printf("  seed %d: %s%n", shape.seed(), each));
                }
                System.out.printf(
                        "%d fleets with %s: in %d exactly these were reported%n",
                        fleets, faulty ? "7 faults each" : "no fault", right);
                isRight &= right == fleets;
            }
            if (!isRight) {
                System.exit(1);
            }
        } finally {
            delete(folder);
        }
    }

    /** What is found in a fleet. */
    static Stragglers find(SimulatedFleet fleet, Path folder) throws Exception {
        Map<String, String> files = fleet.write(folder, false);
        try (FleetEngine engine = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults())) {
            for (Map.Entry<String, String> file : files.entrySet()) {
                engine.table(file.getKey(), List.of(file.getValue()));
            }
            return Stragglers.of(engine);
        }
    }

    /**
     * What differs between what was injected and what was found.
     *
     * @return a line for each fault that was missed or named wrongly, and for each finding without a fault
     */
    static List<String> wrong(List<Injected> faults, Stragglers stragglers) {
        List<String> wrong = new ArrayList<>();
        List<Finding> others = new ArrayList<>(stragglers.findings());
        for (Injected fault : faults) {
            List<Finding> right =
                    others.stream().filter(finding -> isNamedBy(fault, finding)).toList();
            if (right.size() == 1) {
                others.remove(right.get(0));
            } else {
                wrong.add("missed " + fault);
            }
        }
        others.forEach(finding -> wrong.add("reported " + finding.who() + ": " + finding.what()));
        return wrong;
    }

    private static boolean isNamedBy(Injected fault, Finding finding) {
        boolean isThere = fault.fault() == Fault.LINK
                ? finding.rank().isEmpty()
                        && finding.host().equals(SimulatedFleet.host(fault.where() * SimulatedFleet.RANKS_A_HOST))
                : finding.rank().isPresent() && finding.rank().getAsInt() == fault.where();
        return isThere
                && finding.kind() == kind(fault.fault())
                && switch (fault.fault()) {
                    case BRICK ->
                        finding.bricks().equals(List.of(fault.brick().displayName())) && isNear(fault, finding);
                    case THROTTLED -> isNear(fault, finding);
                    case SOME_WINDOWS -> finding.bricks().isEmpty() && isNear(fault, finding) && covers(fault, finding);
                    case BRICK_IN_WINDOWS ->
                        finding.bricks().equals(List.of(fault.brick().displayName()))
                                && isNear(fault, finding)
                                && covers(fault, finding);
                    case LINK, UNRECORDED, DRIFT, BRICK_DRIFT -> true;
                };
    }

    private static Kind kind(Fault fault) {
        return switch (fault) {
            case BRICK -> Kind.BRICKS;
            case THROTTLED -> Kind.THROUGHOUT;
            case SOME_WINDOWS, BRICK_IN_WINDOWS -> Kind.SOME_WINDOWS;
            case LINK -> Kind.LINK;
            case UNRECORDED -> Kind.NOT_KNOWN;
            case DRIFT, BRICK_DRIFT -> Kind.DRIFT;
        };
    }

    /** Ranks differ for good by more than a percent: the injected slowness comes on top of that. */
    private static boolean isNear(Injected fault, Finding finding) {
        return Math.abs(finding.percent() - 100 * fault.by()) <= 4;
    }

    /** At most two windows of a tenth of all may be missed, or be too many: some have a stall of their own. */
    private static boolean covers(Injected fault, Finding finding) {
        TreeSet<Integer> missed =
                new TreeSet<>(IntStream.range(fault.from(), fault.to()).boxed().toList());
        int more = 0;
        for (Stragglers.Stretch stretch : finding.windows()) {
            for (long window = stretch.first(); window <= stretch.last(); window++) {
                more += missed.remove((int) window) ? 0 : 1;
            }
        }
        return missed.size() <= 2 && more <= 4;
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted((one, two) -> two.compareTo(one)).toList()) {
                Files.delete(file);
            }
        }
    }
}
