package org.brickprofiler.cli;

import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.cli.ProgramRunner.RunOutcome;
import org.brickprofiler.compare.RunComparison;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.internal.base.Plural;

/**
 * The cost of profiling a program, from runs with the profiler on and off.
 *
 * @param on the runs with it, one or more
 * @param off the runs without it, one or more
 */
record Overhead(List<RunOutcome> on, List<RunOutcome> off) {

    private static final double NS_PER_S = 1e9;

    /** The share of a run, %, above which the work of JIT compilers is reported. */
    private static final double MUCH_COMPILING_PERCENT = 10;

    /** Returns the lines for a console. */
    String text() {
        boolean hasRates = Stream.concat(on.stream(), off.stream())
                .allMatch(outcome -> outcome.snapshot().isPresent()
                        && outcome.snapshot().get().facts().tokensPerSec().isPresent());
        ToDoubleFunction<RunOutcome> seconds = hasRates
                ? outcome -> 1
                        / outcome.snapshot()
                                .orElseThrow()
                                .facts()
                                .tokensPerSec()
                                .getAsDouble()
                : outcome -> outcome.elapsedNs() / NS_PER_S;
        double[] with = on.stream().mapToDouble(seconds).toArray();
        double[] without = off.stream().mapToDouble(seconds).toArray();
        Change cost = Change.between(without, with);
        StringBuilder text = new StringBuilder(String.format(
                Locale.ROOT,
                "With the profiler on, %s takes %+.2f %% %s, by %s with it and %d without.\n",
                hasRates ? "a token" : "the process",
                cost.percent(),
                cost.hasInterval()
                        ? String.format(
                                Locale.ROOT, "(95 %% interval %+.2f to %+.2f)", cost.lowPercent(), cost.highPercent())
                        : "(fewer than " + RunComparison.FEWEST_FOR_INTERVAL + " runs a side have no interval)",
                Plural.of(on.size(), "run"),
                off.size()));
        text.append(side("without", without, hasRates)).append(side("with it", with, hasRates));
        ownAccount().ifPresent(text::append);
        return text.append(compiling()).append(faults()).toString();
    }

    private static String side(String which, double[] seconds, boolean areRates) {
        double mean = Math.exp(DoubleStream.of(seconds).map(Math::log).average().orElseThrow());
        return areRates
                ? String.format(Locale.ROOT, "  %-8s %.2f tokens/s\n", which, 1 / mean)
                : String.format(Locale.ROOT, "  %-8s %.3f s, start and end of the process included\n", which, mean);
    }

    /** Returns the profiler's own estimate of its cost. */
    private Optional<String> ownAccount() {
        List<ProfileSnapshot> profiles = on.stream()
                .flatMap(outcome -> outcome.snapshot().stream())
                .filter(profile -> profile.overheadNs() > 0 && profile.netOrTotalNs() > 0)
                .toList();
        return profiles.isEmpty()
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "By its own account it took %.2f %% of the brick time. What is beyond that is what its calls"
                                + " keep the compiler from doing, inlining above all, and the memory that they touch.\n",
                        profiles.stream()
                                .mapToDouble(profile -> 100.0 * profile.overheadNs() / profile.netOrTotalNs())
                                .average()
                                .orElseThrow()));
    }

    /** Returns a warning if a part of the cost may be due to the JIT compilers; that part vanishes in longer runs. */
    private String compiling() {
        double percent = on.stream()
                .flatMap(outcome -> outcome.snapshot().stream())
                .flatMap(profile -> profile.facts().virtualMachines().stream())
                .mapToDouble(RunFacts.VirtualMachine::jitPercent)
                .average()
                .orElse(0);
        return percent < MUCH_COMPILING_PERCENT
                ? ""
                : String.format(
                        Locale.ROOT,
                        "! Compilers worked for %.0f %% of the time of the runs with it, on its code, too: longer"
                                + " runs, or a longer warm-up, show what it costs once all is compiled.\n",
                        percent);
    }

    private String faults() {
        long disturbed = Stream.concat(on.stream(), off.stream())
                .filter(outcome -> !outcome.disturbances().isEmpty())
                .count();
        return disturbed == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "! %d of %s disturbed.\n",
                        disturbed,
                        Plural.of(on.size() + off.size(), "run was", "runs were"));
    }
}
