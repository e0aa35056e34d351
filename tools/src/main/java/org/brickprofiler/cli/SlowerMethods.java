package org.brickprofiler.cli;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.compare.Run;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.MethodsOfBrick;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.CallTree.Share;
import org.brickprofiler.trace.Frame;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineProfile.OfBrick;

/**
 * The methods that take longer in the bricks that became slower. The time of a method in a run is its share in the
 * samples of the brick in Java code, of the time of the brick; these times are compared as bricks are, with the same
 * test for chance over the runs. Stateless; any thread.
 */
final class SlowerMethods {

    /** With fewer samples, shares say nothing. */
    private static final int FEWEST_SAMPLES = 20;

    private SlowerMethods() {}

    /**
     * A run with its lines.
     *
     * @param run the run
     * @param lines the lines of its bricks, if its file has them
     */
    record WithLines(Run run, Optional<LineProfile> lines) {

        private Optional<OfBrick> of(OfBrick brick) {
            return lines.stream()
                    .flatMap(known -> known.bricks().stream())
                    .filter(each ->
                            each.brick().equals(brick.brick()) && each.phase().equals(brick.phase()))
                    .filter(each -> each.java().samples() >= FEWEST_SAMPLES)
                    .findFirst();
        }

        /** Returns what the samples are of; only of a run with lines. */
        String kindOfSamples() {
            return lines.orElseThrow().kindOfSamples();
        }

        /** Returns whether the samples of two runs with lines are of one kind, so that their shares are comparable. */
        boolean isOfKind(WithLines other) {
            return kindOfSamples().equals(other.kindOfSamples());
        }

        /** Returns the kinds of the samples of two runs, in words. */
        static String kindsOf(WithLines one, WithLines other) {
            return one.run.name() + " has samples of " + one.kindOfSamples() + ", and " + other.run.name() + " of "
                    + other.kindOfSamples();
        }

        /** Returns the time of a brick in its phase, or in none, ns. */
        private long ns(OfBrick brick) {
            return sum(brick, BrickStats::totalNs);
        }

        /** Returns how often the brick ran there. */
        private long count(OfBrick brick) {
            return sum(brick, BrickStats::count);
        }

        private long sum(OfBrick brick, ToLongFunction<BrickStats> value) {
            ProfileSnapshot snapshot = run.snapshot();
            long inPhases = snapshot.phases().entrySet().stream()
                    .filter(each -> brick.phase().isEmpty() || brick.phase().get() == each.getKey())
                    .mapToLong(each -> sum(each.getValue(), brick, value))
                    .sum();
            return brick.phase().isPresent() ? inPhases : sum(snapshot.bricks(), brick, value) - inPhases;
        }

        private static long sum(List<BrickStats> bricks, OfBrick brick, ToLongFunction<BrickStats> value) {
            return bricks.stream()
                    .filter(each -> each.name().equals(brick.brick()))
                    .mapToLong(value)
                    .sum();
        }
    }

    /**
     * Adds the methods of bricks that became slower to a comparison.
     *
     * @param comparison the comparison of the runs
     * @param before the runs of the first side, in any order
     * @param after the runs of the second side
     * @return the comparison; without methods if no brick with lines became slower
     */
    static RunComparison addTo(RunComparison comparison, List<WithLines> before, List<WithLines> after) {
        // A method is neither a brick of the baseline nor the one whose executions are the steps.
        RunComparison.Options ofMethods = RunComparison.Options.defaults()
                .withFloorPercent(comparison.options().floorPercent())
                .withAcrossEnvironments(comparison.options().acrossEnvironments())
                .withSeed(comparison.options().seed());
        List<MethodsOfBrick> methods = new ArrayList<>();
        for (Line line : comparison.lines()) {
            if (line.kind() == Kind.BRICK && line.verdict() == Verdict.SLOWER) {
                Stream.concat(before.stream(), after.stream())
                        .flatMap(run -> run.lines().stream())
                        .flatMap(lines -> lines.bricks().stream())
                        .filter(brick -> isOn(line, brick))
                        .findFirst()
                        .ifPresent(brick -> methods.add(methods(line.name(), brick, before, after, ofMethods)));
            }
        }
        return comparison.withMethods(methods);
    }

    private static boolean isOn(Line line, OfBrick brick) {
        return line.phase().equals(brick.phase())
                && (line.name().equals(brick.brick()) || line.name().startsWith(brick.brick() + ", "));
    }

    private static MethodsOfBrick methods(
            String name, OfBrick brick, List<WithLines> before, List<WithLines> after, RunComparison.Options options) {
        List<WithLines> all = Stream.concat(before.stream(), after.stream()).toList();
        Optional<WithLines> without =
                all.stream().filter(run -> run.of(brick).isEmpty()).findFirst();
        if (without.isPresent()) {
            return new MethodsOfBrick(
                    name,
                    List.of(),
                    "its methods are unknown, since " + without.get().run().name() + " has fewer than " + FEWEST_SAMPLES
                            + " samples of it");
        }
        Optional<WithLines> doubted = all.stream()
                .filter(run -> run.lines().flatMap(LineProfile::doubt).isPresent())
                .findFirst();
        if (doubted.isPresent()) {
            return new MethodsOfBrick(
                    name,
                    List.of(),
                    "its methods are not compared, since those of "
                            + doubted.get().run().name() + " may be wrong: "
                            + doubted.get().lines().flatMap(LineProfile::doubt).orElseThrow());
        }
        Optional<WithLines> other =
                all.stream().filter(run -> !run.isOfKind(all.get(0))).findFirst();
        if (other.isPresent()) {
            return new MethodsOfBrick(
                    name,
                    List.of(),
                    "its methods are not compared, since " + WithLines.kindsOf(all.get(0), other.get()));
        }
        Set<String> methods = new LinkedHashSet<>();
        all.forEach(run -> run.of(brick)
                .orElseThrow()
                .java()
                .methods(CallTree.MOST_PLACES)
                .forEach(method -> methods.add(method.place())));
        methods.removeIf(method -> all.stream()
                .anyMatch(run ->
                        samples(run.of(brick).orElseThrow().java(), method).isEmpty()));
        if (methods.isEmpty()) {
            return new MethodsOfBrick(name, List.of(), "no method has samples of it in all runs");
        }
        RunComparison compared = RunComparison.of(
                before.stream().map(run -> ofMethods(run, brick, methods)).toList(),
                after.stream().map(run -> ofMethods(run, brick, methods)).toList(),
                options);
        return new MethodsOfBrick(
                name,
                compared.lines().stream()
                        .filter(line -> line.kind() == Kind.BRICK)
                        .map(line -> line.withKind(Kind.METHOD, sharePercent(before, brick, line.name())))
                        .toList(),
                "");
    }

    /** Returns the mean share of a method in the samples of a brick, %. */
    private static double sharePercent(List<WithLines> runs, OfBrick brick, String method) {
        return runs.stream()
                .map(run -> run.of(brick).orElseThrow().java())
                .mapToDouble(tree -> 100.0 * samples(tree, method).orElseThrow() / tree.samples())
                .average()
                .orElseThrow();
    }

    /** Returns a run whose bricks are methods. */
    private static Run ofMethods(WithLines run, OfBrick brick, Set<String> methods) {
        CallTree tree = run.of(brick).orElseThrow().java();
        long brickNs = run.ns(brick);
        List<BrickStats> times = new ArrayList<>();
        for (String method : methods) {
            long samples = samples(tree, method).orElseThrow();
            long ns = Math.round((double) brickNs * samples / tree.samples());
            times.add(BrickStats.builder(method, BrickCategory.OTHER)
                    .samples(run.count(brick), ns, 0, ns)
                    .build());
        }
        ProfileSnapshot whole = run.run().snapshot();
        return Run.of(
                run.run().name(),
                ProfileSnapshot.builder(whole.startedAt(), whole.endedAt(), whole.wallNs())
                        .threads(whole.threads(), whole.virtualThreads())
                        .environments(whole.environments())
                        .bricks(times)
                        .build());
    }

    /** Returns the samples that stood in a method; empty if there are none, or their number is not known. */
    private static OptionalLong samples(CallTree tree, String method) {
        Optional<Share<String>> hot = tree.methods(CallTree.MOST_PLACES).stream()
                .filter(each -> each.place().equals(method))
                .findFirst();
        if (hot.isPresent()) {
            return OptionalLong.of(hot.get().samples());
        }
        Map<String, Long> counts = new HashMap<>();
        tree.nodes().forEach(node -> counts.merge(node.frame().method(), node.self(), Long::sum));
        boolean isCut = counts.containsKey(Frame.OTHER_PATHS.method());
        long samples = counts.getOrDefault(method, 0L);
        return isCut || samples == 0 ? OptionalLong.empty() : OptionalLong.of(samples);
    }
}
