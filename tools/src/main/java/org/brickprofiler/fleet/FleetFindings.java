package org.brickprofiler.fleet;

import static org.brickprofiler.report.internal.RoughUnits.percent;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.ToLongFunction;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.fleet.FleetQuestion.Row;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.Finding.Kind;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.internal.RoughUnits;

/**
 * The candidates for the findings on a fleet. The whole is the time of all ranks. Immutable; any thread.
 *
 * @param stragglers the stragglers
 * @param leftOut the number of windows that were left out because of problems
 * @param runs the answer to {@link FleetQuestion#RUNS}
 * @param phases the answer to {@link FleetQuestion#PHASES}
 * @param requests the answer to {@link FleetQuestion#REQUESTS}
 * @param shares the answer to {@link FleetQuestion#SHARES}
 * @param bricks the bricks of all samples
 * @param areEstimated whether times of bricks are estimates
 */
record FleetFindings(
        Stragglers stragglers,
        long leftOut,
        List<Row> runs,
        List<Row> phases,
        List<Row> requests,
        List<Row> shares,
        List<Row> bricks,
        boolean areEstimated) {

    /** Returns at most {@value Findings#MOST} findings, the most important first. */
    List<Finding> ranked() {
        List<Finding> found = new ArrayList<>();
        leftOutWindows().ifPresent(found::add);
        untested().ifPresent(found::add);
        waitingRequests().ifPresent(found::add);
        stragglers.findings().stream().map(this::straggler).forEach(found::add);
        communication().ifPresent(found::add);
        idle().ifPresent(found::add);
        largestBrick().ifPresent(found::add);
        return Findings.ranked(
                found, !stragglers.shown().isEmpty() && stragglers.findings().isEmpty());
    }

    private Optional<Finding> leftOutWindows() {
        return leftOut == 0
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.DISTURBED,
                        "",
                        0,
                        "The numbers are without " + Plural.of(leftOut, "window")
                                + " with a problem; the list of problems names each.",
                        ""));
    }

    private Optional<Finding> untested() {
        return !stragglers.shown().isEmpty() || stragglers.remarks().isEmpty()
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.TOO_SHORT,
                        "",
                        0,
                        "No rank could be tested for being slower than its peers. "
                                + stragglers.remarks().get(0),
                        "record more ranks or windows" + (areEstimated ? ", without deviceSampling" : "")));
    }

    private Optional<Finding> waitingRequests() {
        double behindPrompts = sum(requests, row -> row.number("behind_prompts_ns"));
        double behindDecoding = sum(requests, row -> row.number("behind_decoding_ns"));
        double idle = sum(requests, row -> row.number("idle_ns"));
        double waited = behindPrompts + behindDecoding + idle;
        double all = waited + sum(requests, row -> row.number("served_ns"));
        if (waited == 0) {
            return Optional.empty();
        }
        double most = Math.max(behindPrompts, Math.max(behindDecoding, idle));
        String where = most == idle
                ? "while no step ran"
                : most == behindPrompts ? "behind others' prompts" : "behind others' decoding";
        return Optional.of(new Finding(
                Kind.REQUESTS_QUEUE,
                "",
                waited / all,
                "Requests wait for " + percent(waited / all) + " of their time"
                        + (most == waited ? ", " : "; the largest part, " + percent(most / all) + " of their time, ")
                        + where + ".",
                most == behindPrompts
                        ? "process prompts in chunks, or have more slots"
                        : "compare the ranks with the longest waits"));
    }

    /** Returns a straggler, with its cost in a step if collectives were recorded. */
    private Finding straggler(Stragglers.Finding each) {
        OptionalDouble stepNs = stepNs();
        OptionalDouble ofStep = each.costNs().isPresent() && stepNs.isPresent()
                ? OptionalDouble.of(share(each.costNs().getAsLong(), stepNs.getAsDouble()))
                : OptionalDouble.empty();
        String run = runs.size() > 1 ? " of run " + each.run() : "";
        double share = ofStep.orElse(Math.min(1, Math.abs(each.percent()) / 100));
        return new Finding(
                Kind.STRAGGLER,
                each.who() + run,
                share,
                capital(each.who()) + run + ": " + each.what() + cost(each.costNs(), ofStep) + ".",
                next(each.kind()));
    }

    private static String cost(OptionalLong ns, OptionalDouble ofStep) {
        if (ns.isEmpty()) {
            return "; what it costs is unknown, because no collectives were recorded";
        }
        if (ns.getAsLong() <= 0) {
            return "; no step waits for it, because other ranks are as late";
        }
        return "; each step waits up to " + RoughUnits.duration(ns.getAsLong()) + " for it"
                + (ofStep.isEmpty() ? "" : ", " + percent(ofStep.getAsDouble()) + " of a step");
    }

    private static String next(Stragglers.Kind kind) {
        return switch (kind) {
            case LINK -> "look at the network of this host";
            case MORE_WORK -> "look at how the work is divided among the ranks";
            case BRICKS, THROUGHOUT, SOME_WINDOWS, DRIFT, NOT_KNOWN ->
                "compare the clock, the temperature and the processes of its device with those of a peer";
        };
    }

    /** Returns the mean time of a step; empty without steps, and for several runs, whose steps may differ. */
    private OptionalDouble stepNs() {
        double steps = sum(phases, row -> row.number("steps"));
        return runs.size() != 1 || steps == 0
                ? OptionalDouble.empty()
                : OptionalDouble.of(sum(phases, row -> row.number("total_ns")) / steps);
    }

    private Optional<Finding> communication() {
        double ns = sum(shares, row -> row.number("communication_ns"));
        return ns == 0
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.COMMUNICATION,
                        "",
                        ns / allNs(),
                        "Collectives take " + estimate(ns / allNs())
                                + " of the time of all ranks, waiting for the latest rank included.",
                        "with --html OUT, the same command draws which ranks wait least"));
    }

    private Optional<Finding> idle() {
        double ns = sum(shares, row -> row.ifNumber("idle_ns").orElse(0));
        boolean isKnown =
                shares.stream().allMatch(row -> row.ifNumber("idle_ns").isPresent());
        return ns == 0 || !isKnown
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.IDLE,
                        "",
                        ns / allNs(),
                        "Ranks are idle for " + estimate(ns / allNs()) + " of their time.",
                        "look at the timeline of a rank: brick report FILE --html OUT"));
    }

    private double allNs() {
        return sum(
                shares,
                row -> row.number("compute_ns")
                        + row.number("communication_ns")
                        + row.ifNumber("idle_ns").orElse(0));
    }

    private Optional<Finding> largestBrick() {
        double all = sum(bricks, row -> row.number("total_ns"));
        return bricks.stream()
                .filter(row -> !row.text("category").equals(BrickCategory.COMMUNICATION.displayName()))
                .max(Comparator.comparingLong(row -> row.number("total_ns")))
                .filter(row -> row.number("total_ns") > 0)
                .map(row -> new Finding(
                        Kind.LARGEST_BRICK,
                        row.text("brick"),
                        row.number("total_ns") / all,
                        row.text("brick") + " is the largest brick that computes, "
                                + estimate(row.number("total_ns") / all) + " of brick time.",
                        ""));
    }

    /** Returns a share of times that may be estimates. */
    private String estimate(double share) {
        return (areEstimated ? "by estimate " : "") + percent(share);
    }

    private static double sum(List<Row> rows, ToLongFunction<Row> value) {
        return rows.stream().mapToDouble(value::applyAsLong).sum();
    }

    private static double share(long part, double whole) {
        return Math.max(0, Math.min(1, part / whole));
    }

    private static String capital(String who) {
        return who.startsWith("rank ") ? "R" + who.substring(1) : who;
    }
}
