package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * The steps of a run, from {@link BrickProfiler#beginStep} to the end of their pass: sums by phase, time to first
 * token, time per output token, and some single steps. Immutable; its size does not depend on the number of steps.
 *
 * <p><b>Time to first token:</b> from the beginning of the first step of a prompt to the end of the step that gives its
 * first token, on the thread that drives both; one value for each such step of phase PREFILL. The time that a request
 * waits before its first step is not included.
 *
 * <p><b>Time per output token:</b> from the end of the thread's previous step that gave tokens to the end of this step,
 * divided by the mean number of tokens per sequence; one value for each step of phase DECODE. It includes the work of
 * the engine between passes, such as sampling. If no previous step gave tokens, the time counts from the beginning of
 * the step.
 *
 * <p><b>The kept steps</b> are a uniform sample of {@value #SAMPLED} steps of the run, or all steps if there are fewer,
 * and the {@value #SLOWEST} slowest steps of each phase. The sample consists of the steps with the smallest hashes of
 * their number, a bottom-<i>k</i> sample (Cohen and Kaplan, "Summarizing data using bottom-k sketches", PODC 2007). It
 * does not depend on the order in which profiles are merged.
 *
 * @param phases the sums of each phase that had a step, in the order of the phases. If all steps of a phase were
 *     abandoned, its number of steps is 0, and only its time is known
 * @param timeToFirstToken times to first token
 * @param timeToFirstTokenNs their sum, ns; 0 if it is unknown, as in a file of an older version
 * @param timePerOutputToken times per output token
 * @param abandoned steps that began and did not end: their thread abandoned its pass, began another step or has ended,
 *     or the profiler was switched off
 * @param kept the kept steps, sorted by their beginning
 */
public record Steps(
        List<StepStats> phases,
        LatencyDistribution timeToFirstToken,
        long timeToFirstTokenNs,
        LatencyDistribution timePerOutputToken,
        long abandoned,
        List<Step> kept) {

    /** The number of steps in the uniform sample. */
    public static final int SAMPLED = 256;

    /** The number of slowest steps of each phase that are kept in addition. */
    public static final int SLOWEST = 8;

    private static final Comparator<Step> BY_BEGINNING = Steps::compareBeginnings;

    /** The order of the sample, which does not depend on the time or the duration of a step. */
    static final Comparator<Step> BY_CHANCE =
            (one, other) -> firstUnequal(Long.compare(hash(one.index()), hash(other.index())), one, other);

    /** The slowest first. */
    static final Comparator<Step> BY_SLOWNESS =
            (one, other) -> firstUnequal(Long.compare(other.durationNs(), one.durationNs()), one, other);

    /** No steps. */
    public static final Steps NONE =
            new Steps(List.of(), LatencyDistribution.EMPTY, 0, LatencyDistribution.EMPTY, 0, List.of());

    /**
     * Sorts the lists, adds up the sums of the same phase, and limits the kept steps.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public Steps {
        Objects.requireNonNull(phases, "phases");
        Objects.requireNonNull(timeToFirstToken, "timeToFirstToken");
        Objects.requireNonNull(timePerOutputToken, "timePerOutputToken");
        Objects.requireNonNull(kept, "kept");
        requireNotNegative("timeToFirstTokenNs", timeToFirstTokenNs);
        requireNotNegative("abandoned", abandoned);
        phases = sumByPhase(phases);
        kept = thinned(kept);
    }

    private static List<StepStats> sumByPhase(Collection<StepStats> parts) {
        Map<StepInfo.Phase, StepStats> sums = new EnumMap<>(StepInfo.Phase.class);
        for (StepStats part : parts) {
            if (part.count() > 0 || part.wallNs() > 0) {
                sums.merge(part.phase(), part, StepStats::plus);
            }
        }
        return List.copyOf(sums.values());
    }

    private static int firstUnequal(int compared, Step one, Step other) {
        return compared == 0 ? compareBeginnings(one, other) : compared;
    }

    private static int compareBeginnings(Step one, Step other) {
        int beginnings = Long.compare(one.startedAtUnixNs(), other.startedAtUnixNs());
        int indexes = beginnings == 0 ? Long.compare(one.index(), other.index()) : beginnings;
        int durations = indexes == 0 ? Long.compare(one.durationNs(), other.durationNs()) : indexes;
        return durations == 0 ? one.toString().compareTo(other.toString()) : durations;
    }

    private static List<Step> thinned(Collection<Step> steps) {
        if (steps.isEmpty()) {
            return List.of();
        }
        List<Step> all = new ArrayList<>(new LinkedHashSet<>(steps));
        Set<Step> chosen = new LinkedHashSet<>();
        all.sort(BY_CHANCE);
        chosen.addAll(all.subList(0, Math.min(SAMPLED, all.size())));
        all.sort(BY_SLOWNESS);
        for (StepInfo.Phase phase : StepInfo.Phase.values()) {
            all.stream()
                    .filter(step -> step.info().phase() == phase)
                    .limit(SLOWEST)
                    .forEach(chosen::add);
        }
        return chosen.stream().sorted(BY_BEGINNING).toList();
    }

    /** The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). */
    static long hash(long index) {
        long mixed = index + 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ (mixed >>> 30)) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ (mixed >>> 27)) * 0x94d049bb133111ebL;
        return mixed ^ (mixed >>> 31);
    }

    /**
     * Returns the sums of a phase.
     *
     * @param phase the phase
     * @return its sums, or empty if it had no step, not even an abandoned one
     */
    public Optional<StepStats> phase(StepInfo.Phase phase) {
        Objects.requireNonNull(phase, "phase");
        return phases.stream().filter(stats -> stats.phase() == phase).findFirst();
    }

    /**
     * Returns the number of steps.
     *
     * @return steps of all phases
     */
    public long count() {
        return phases.stream().mapToLong(StepStats::count).reduce(0, Sums::limited);
    }

    private boolean knowsFirstTokens() {
        return timeToFirstTokenNs > 0 || timeToFirstToken.count() == 0;
    }

    /**
     * Returns the slowest step of a phase.
     *
     * @param phase the phase
     * @return the step, or empty if the phase had none
     */
    public Optional<Step> slowest(StepInfo.Phase phase) {
        return kept(phase).min(BY_SLOWNESS);
    }

    /**
     * Returns the kept step of a phase whose duration is closest to the phase's median.
     *
     * @param phase the phase
     * @return the step, or empty if the phase had none
     */
    public Optional<Step> median(StepInfo.Phase phase) {
        long medianNs = phase(phase).map(stats -> stats.percentileNs(50)).orElse(0L);
        return kept(phase)
                .min(Comparator.<Step>comparingLong(step -> Math.abs(step.durationNs() - medianNs))
                        .thenComparing(BY_BEGINNING));
    }

    private Stream<Step> kept(StepInfo.Phase phase) {
        Objects.requireNonNull(phase, "phase");
        return kept.stream().filter(step -> step.info().phase() == phase);
    }

    /**
     * Returns the steps of both, as if one profiler had recorded them. Commutative and associative.
     *
     * @param other the other steps
     * @return the steps of both
     */
    public Steps merge(Steps other) {
        List<StepStats> bothPhases = new ArrayList<>(phases);
        bothPhases.addAll(other.phases);
        List<Step> bothKept = new ArrayList<>(kept);
        bothKept.addAll(other.kept);
        return new Steps(
                bothPhases,
                timeToFirstToken.plus(other.timeToFirstToken),
                knowsFirstTokens() && other.knowsFirstTokens()
                        ? limited(timeToFirstTokenNs, other.timeToFirstTokenNs)
                        : 0,
                timePerOutputToken.plus(other.timePerOutputToken),
                limited(abandoned, other.abandoned),
                bothKept);
    }
}
