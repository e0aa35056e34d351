package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.duration;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Step;
import org.brickprofiler.StepStats;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.BrickRoofline.Bound;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.jspecify.annotations.Nullable;

/**
 * The lines of advice at the end of a report: the brick with the most time above its roof, the largest time between
 * bricks, and the phase whose steps differ most. Each has a number and a command that shows more. A line is left out if
 * the profile has no reliable number for it. Stateless; any thread.
 */
final class Advice {

    /** The share of the time below which no advice is given. */
    private static final double LEAST_SHARE = 0.05;

    /** The distance from its roof, as a share, below which no advice on a brick is given. */
    private static final double LEAST_DISTANCE = 0.1;

    /** The fewest steps whose 99th percentile is not just the slowest step. */
    private static final long LEAST_STEPS = 100;

    private static final double LEAST_SPREAD = 1.5;

    /** The largest ratio of the median context length of slow steps to that of all kept steps. */
    private static final double MOST_LONGER = 1.25;

    private Advice() {}

    /**
     * Returns the advice on a profile.
     *
     * @param input the profile
     * @param roofline its bricks beside their roofs, if they were requested
     * @return at most three lines after a title; empty without advice
     */
    static String of(ProfileInput input, @Nullable BrickRoofline roofline) {
        if (input.slowSteps().isPresent()) {
            // The sums of chosen steps are not those of the run; the report explains the chosen steps above.
            return "";
        }
        List<String> lines = new ArrayList<>();
        ProfileSnapshot snapshot = input.snapshot();
        if (roofline != null) {
            belowItsRoof(snapshot, roofline).ifPresent(lines::add);
        }
        betweenBricks(input).ifPresent(lines::add);
        spread(snapshot).ifPresent(lines::add);
        String title = lines.isEmpty() ? "" : "\nAdvice\n";
        return lines.stream()
                .map(line -> "  " + PlainText.ascii(line) + "\n")
                .collect(Collectors.joining("", title, ""));
    }

    /**
     * Returns the advice on the brick with the most time above its roof; empty if the roof may be that of another
     * machine.
     */
    private static Optional<String> belowItsRoof(ProfileSnapshot snapshot, BrickRoofline roofline) {
        Environment measured = roofline.machine().environment();
        boolean isSameMachine = !snapshot.environments().isEmpty()
                && snapshot.environments().stream()
                        .allMatch(each ->
                                each.cpu().equals(measured.cpu()) && each.processors() == measured.processors());
        if (!isSameMachine) {
            return Optional.empty();
        }
        return roofline.bricks().stream()
                .findFirst()
                .filter(brick -> !brick.isAboveRoof() && brick.distance() >= LEAST_DISTANCE)
                .filter(brick -> brick.countedNs() - brick.roofNs() >= LEAST_SHARE * snapshot.totalNs())
                .map(brick -> String.format(
                        Locale.ROOT,
                        "%s is at %.0f %% of its roof, which is %s: %s of brick time lie above it. brick report FILE"
                                + " --roofline ROOF --html OUT draws it.",
                        brick.name(),
                        100 * (1 - brick.distance()),
                        limit(brick),
                        percent((brick.countedNs() - brick.roofNs()) / snapshot.totalNs())));
    }

    private static String limit(Distance brick) {
        return brick.roof() == Bound.MEMORY ? "the memory's bandwidth" : "the rate of operations";
    }

    /**
     * Returns the advice on the time between bricks: for a trace, the time in which nothing that counts ran; otherwise,
     * the time of steps outside of their bricks.
     */
    private static Optional<String> betweenBricks(ProfileInput input) {
        if (input.trace().isPresent()) {
            return input.trace()
                    .filter(trace -> trace.counting().hasTimes() && trace.wallNs() > 0)
                    .filter(trace -> trace.idleNs() >= LEAST_SHARE * trace.wallNs())
                    .map(trace -> "Between bricks: " + duration(trace.idleNs()) + ", "
                            + percent((double) trace.idleNs() / trace.wallNs())
                            + " of wall time. brick convert FILE timeline.pftrace shows where.");
        }
        ProfileSnapshot snapshot = input.snapshot();
        // Bricks of several threads run at the same time, so their sum shows no gaps; lost samples would look like
        // gaps.
        boolean isComplete = snapshot.pending() == 0 && snapshot.unresolved() == 0 && snapshot.droppedPending() == 0;
        boolean isNested = snapshot.facts().nesting().values().stream().anyMatch(nesting -> nesting.within() > 0);
        if (snapshot.threads() != 1 || snapshot.virtualThreads() || !isComplete || isNested) {
            return Optional.empty();
        }
        return snapshot.steps().phases().stream()
                .filter(phase -> phase.attributed() == phase.count())
                .max(Comparator.comparingLong(Advice::betweenNs))
                .filter(phase -> betweenNs(phase) >= LEAST_SHARE * phase.totalNs() && phase.totalNs() > 0)
                .map(phase -> "Between bricks: " + duration(betweenNs(phase)) + " of " + name(phase) + " steps, "
                        + percent((double) betweenNs(phase) / phase.totalNs()) + " of their time. brick report FILE"
                        + " --html OUT shows the median and the slowest step.");
    }

    /** Returns the time of steps outside of their bricks, ns; negative if bricks nest. */
    private static long betweenNs(StepStats phase) {
        return phase.totalNs()
                - phase.categoryNs().values().stream()
                        .mapToLong(Long::longValue)
                        .sum();
    }

    /**
     * Returns the advice on the phase with the largest spread. Only phases whose steps do the same work are considered:
     * steps also differ if their prompts differ in length, or if the slow steps have the longer contexts.
     */
    private static Optional<String> spread(ProfileSnapshot snapshot) {
        return snapshot.steps().phases().stream()
                .filter(phase -> phase.count() >= LEAST_STEPS && isAlike(snapshot, phase))
                .max(Comparator.comparingDouble(Advice::spread))
                .filter(phase -> spread(phase) >= LEAST_SPREAD)
                .map(phase -> String.format(
                        Locale.ROOT,
                        "The p99 of %s steps is %.1f times their median, %s beside %s. brick report FILE --html OUT shows"
                                + " the slowest one.",
                        name(phase),
                        spread(phase),
                        duration(phase.percentileNs(99)),
                        duration(phase.percentileNs(50))));
    }

    private static double spread(StepStats phase) {
        long medianNs = phase.percentileNs(50);
        return medianNs == 0 ? 0 : (double) phase.percentileNs(99) / medianNs;
    }

    private static boolean isAlike(ProfileSnapshot snapshot, StepStats phase) {
        List<Step> kept = snapshot.steps().kept().stream()
                .filter(step -> step.info().phase() == phase.phase())
                .toList();
        long shapes = kept.stream()
                .map(Step::info)
                .map(step -> List.of((long) step.batch(), step.prefillTokens(), step.draftedTokens()))
                .distinct()
                .count();
        List<Step> slow = kept.stream()
                .filter(step -> step.durationNs() >= phase.percentileNs(99))
                .toList();
        return shapes <= 1 && medianLength(slow) <= MOST_LONGER * medianLength(kept);
    }

    private static long medianLength(List<Step> steps) {
        long[] lengths = steps.stream()
                .mapToLong(step -> step.info().kvLength())
                .sorted()
                .toArray();
        return lengths.length == 0 ? 0 : lengths[(lengths.length - 1) / 2];
    }

    private static String name(StepStats phase) {
        return phase.phase().name().toLowerCase(Locale.ROOT);
    }

    private static String percent(double share) {
        return String.format(Locale.ROOT, "%.1f %%", 100 * share);
    }
}
