package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeSet;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.fleet.SimulatedFleet.Fault;
import org.brickprofiler.fleet.SimulatedFleet.Injected;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.fleet.Stragglers.Finding;
import org.brickprofiler.fleet.Stragglers.Kind;

/**
 * Counts the stragglers that are found in simulated fleets, and the fleets without a straggler that have a finding, for
 * a table of docs/BENCHMARKS.md. Arguments: the number of fleets (20), ranks (1000) and windows (200), and the first
 * seed (1). The exit code is 1 if a fault is missed or wrongly named, or anything else is reported.
 *
 * <p>If the first argument is {@code stalls}, the study counts false alarms among heavy independent stalls instead:
 * {@code stalls} FLEETS RANKS WINDOWS SEED, and the shares of stalled windows in percent (20 25 30 35). The exit code
 * is 1 if more than 5 % of the fleets without a straggler have a finding.
 */
public final class FleetStudy {

    private FleetStudy() {}

    /**
     * Runs the study.
     *
     * @param args see the class
     */
    public static void main(String[] args) throws Exception {
        if (args.length > 0 && args[0].equals("stalls")) {
            System.exit(stalls(args) ? 0 : 1);
        }
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

    /** How much longer the straggler among stalls takes, throughout. */
    private static final double SLOWER = 0.2;

    /** The longest stall, as a share of the usual time. */
    private static final double LONGEST_STALL = 0.5;

    private static boolean stalls(String[] args) throws Exception {
        int fleets = Integer.parseInt(args[1]);
        int ranks = Integer.parseInt(args[2]);
        int windows = Integer.parseInt(args[3]);
        long seed = Long.parseLong(args[4]);
        List<Integer> percents = args.length > 5
                ? Arrays.stream(args).skip(5).map(Integer::valueOf).toList()
                : List.of(20, 25, 30, 35);
        boolean isRight = true;
        Path folder = Files.createTempDirectory("fleet-study");
        try {
            System.out.printf("%d fleets of %d ranks, %d windows a row%n", fleets, ranks, windows);
            System.out.println("| stalls of | % of windows | no straggler: finding / none / does not apply"
                    + " | +20 % straggler: only it / it and others / missed / does not apply |");
            for (boolean eachBrick : new boolean[] {false, true}) {
                for (int percent : percents) {
                    int[] clean = new int[3];
                    int[] slow = new int[4];
                    for (int i = 0; i < fleets; i++) {
                        Shape shape = new Shape("simulated", ranks, windows, seed + i);
                        Injected fault = new Injected(Fault.THROTTLED, 5, BrickId.RMS_NORM, SLOWER, 0, windows);
                        Stragglers none = find(stalled(shape, List.of(), eachBrick, percent), folder);
                        clean[!none.findings().isEmpty() ? 0 : none.shown().isEmpty() ? 2 : 1]++;
                        none.findings()
                                .forEach(finding -> System.out.printf(
                                        "  seed %d: %s: %s%n", shape.seed(), finding.who(), finding.what()));
                        Stragglers some = find(stalled(shape, List.of(fault), eachBrick, percent), folder);
                        some.findings().stream()
                                .filter(finding -> !finding.rank().equals(OptionalInt.of(fault.where())))
                                .forEach(finding -> System.out.printf(
                                        "  seed %d, beside the straggler: %s: %s%n",
                                        shape.seed(), finding.who(), finding.what()));
                        boolean isFound = some.findings().stream()
                                .anyMatch(finding -> finding.rank().equals(OptionalInt.of(fault.where())));
                        slow[
                                isFound
                                        ? (some.findings().size() == 1 ? 0 : 1)
                                        : some.shown().isEmpty() ? 3 : 2]++;
                    }
                    System.out.printf(
                            "| %s | %d | %d / %d / %d | %d / %d / %d / %d |%n",
                            eachBrick ? "each brick" : "each rank",
                            percent,
                            clean[0],
                            clean[1],
                            clean[2],
                            slow[0],
                            slow[1],
                            slow[2],
                            slow[3]);
                    isRight &= 20 * clean[0] <= fleets;
                }
            }
        } finally {
            delete(folder);
        }
        return isRight;
    }

    static SimulatedFleet stalled(Shape shape, List<Injected> faults, boolean eachBrick, int percent) {
        SimulatedFleet fleet = new SimulatedFleet(shape, faults);
        double share = percent / 100.0;
        return eachBrick ? fleet.withStallsOfBricks(share, LONGEST_STALL) : fleet.withStalls(share, LONGEST_STALL);
    }

    /** The findings in a fleet. */
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
     * Compares the injected faults with the findings.
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

    /** Ranks differ permanently by more than a percent; the injected slowness comes on top of that. */
    private static boolean isNear(Injected fault, Finding finding) {
        return Math.abs(finding.percent() - 100 * fault.by()) <= 4;
    }

    /**
     * At most two windows of the fault may be missed, and at most four others named: some have a stall of their own.
     */
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
