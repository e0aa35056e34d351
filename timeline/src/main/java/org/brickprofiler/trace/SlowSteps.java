package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.io.IOException;
import java.io.InputStream;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.WallClock;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.request.Wait;

/**
 * The slowest steps of a run, each compared with typical steps of its size, and the number of events that were left out
 * of the timeline that holds them: see {@link TraceRecorder.Builder#keepSlowSteps}. Immutable.
 *
 * <p>A step lasts from its beginning to its end by the host's clock. Each ns of it has one place: the innermost brick
 * of the step's own thread; else a brick of the device that the step launched; else a brick of another thread; else it
 * lies between bricks. A stop of the virtual machine that a flight recording reports is a place of its own.
 *
 * <p>The typical step is the median, place by place, of the {@value #NEAREST} nearest comparable steps, and of all that
 * are as near as the last of these. They are chosen from a sample of {@value #SAMPLED} steps of the phase, by their
 * distance in batch, prompt tokens and KV length. A step is comparable if none of the three differs by more than a
 * quarter. With fewer than {@value #FEWEST} comparable steps there is no verdict.
 *
 * <p>Garbage collections, the time that the step's thread waited for a processor, and the time that it neither ran nor
 * waited, have no place within the step. Their excess over typical steps is subtracted from the places that exceed the
 * typical step, in proportion to the excess of each place, if there is such a place. Collections are known to the
 * millisecond, so they explain at most the sum of the excesses of these places. The parts therefore sum to the excess,
 * to the ns. The excess of the wait for a processor counts as throttled as far as a CPU quota throttled the process for
 * longer than in typical steps, by the readings around each step.
 *
 * <p>Of all unreachable profilers together, only the slowest steps are kept, with the explanations that they had when
 * their profilers were removed.
 *
 * @param phases how many steps each phase had, over all profilers
 * @param slowest the slowest steps of each phase, slowest first
 * @param spansKept events of the kept steps in the timeline
 * @param spansLeftOut events of other steps, and between steps, that were recorded and dropped
 */
public record SlowSteps(List<PhaseSteps> phases, List<Explained> slowest, long spansKept, long spansLeftOut)
        implements FindingSource {

    /** The steps that make a typical one; more if several are equally near. */
    public static final int NEAREST = 9;

    /** The fewest comparable steps for a verdict. */
    public static final int FEWEST = 5;

    /** The steps in the sample of each phase. */
    public static final int SAMPLED = 256;

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public SlowSteps {
        phases = List.copyOf(Objects.requireNonNull(phases, "phases"));
        slowest = List.copyOf(Objects.requireNonNull(slowest, "slowest"));
        requireNotNegative("spansKept", spansKept);
        requireNotNegative("spansLeftOut", spansLeftOut);
    }

    /**
     * The steps of a phase.
     *
     * @param phase the phase
     * @param steps steps that ended
     * @param kept steps whose spans the timeline holds: the slowest ones, and one whose duration is close to the median
     * @param median the number of the step close to the median, of the profiler with the most steps of the phase; -1 if
     *     there is none
     */
    public record PhaseSteps(StepInfo.Phase phase, long steps, int kept, long median) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public PhaseSteps {
            Objects.requireNonNull(phase, "phase");
            requireNotNegative("steps", steps);
            requireNotNegative("kept", kept);
        }
    }

    /** The kinds of parts of an excess. */
    public enum Kind {
        /** A brick. */
        BRICK("brick"),
        /** Time in no brick. */
        BETWEEN("between bricks"),
        /** The virtual machine had stopped all threads for a garbage collection. */
        GARBAGE_COLLECTION("garbage collection"),
        /** The virtual machine had stopped all threads for something else. */
        OTHER_STOP("other stops of the virtual machine"),
        /** The step's thread was ready to run and had no processor, while a CPU quota of the process was used up. */
        THROTTLED(Wait.THROTTLED.displayName()),
        /** The step's thread was ready to run, and the operating system gave it no processor. */
        NO_PROCESSOR(Wait.NO_PROCESSOR.displayName()),
        /** The step's thread neither ran nor was ready to run: it waited for something, or the process was stopped. */
        BLOCKED("blocked or stopped");

        private final String displayName;

        Kind(String displayName) {
            this.displayName = displayName;
        }

        /**
         * Returns the name in reports.
         *
         * @return for example {@code "garbage collection"}
         */
        public String displayName() {
            return displayName;
        }
    }

    /**
     * A part of a step's excess over the typical step.
     *
     * @param kind its kind
     * @param name the brick, or the display name of the kind
     * @param excessNs ns more than typical; negative if the step took less there
     */
    public record Part(Kind kind, String name, long excessNs) {

        /** Checks that nothing is null. */
        public Part {
            Objects.requireNonNull(kind, "kind");
            Objects.requireNonNull(name, "name");
        }
    }

    /** Whether a step has an explanation. */
    public enum Verdict {
        /** The parts explain the excess. */
        EXPLAINED,
        /**
         * The same, but other steps were under way at the same time, or during one of the compared steps: bricks of
         * threads that began no step count as time between bricks, since the step for which they worked is unknown.
         */
        BESIDE_OTHER_STEPS,
        /** Too few sampled steps have its size. */
        FEW_COMPARABLE_STEPS,
        /** Spans of the step were overwritten, had no room, were not resolved in time, or were cleared in mid-step. */
        SPANS_MISSING,
        /** Other steps ran on virtual threads at the same time; a span does not show to which step it belongs. */
        MIXED_WITH_OTHERS;

        /**
         * Returns whether there is an explanation.
         *
         * @return true if the parts explain the excess
         */
        public boolean isExplained() {
            return this == EXPLAINED || this == BESIDE_OTHER_STEPS;
        }
    }

    /**
     * The typical step of a size.
     *
     * @param elapsedNs the sum of the medians of all parts, ns; 0 if there is none
     * @param compared the nearest ones among the comparable steps: {@value #NEAREST}, fewer if there are no more, or
     *     more if several are as near as the last of these
     * @param asLong how many of them took as long as the step, or longer
     * @param longestNs the longest of them, ns
     * @param sampled the steps of its phase to choose from
     * @param sampledKvLength the median of the KV length of those
     * @param sampledPrefillTokens the median of the prompt tokens of those
     * @param sampledBatch the median of the batch of those
     */
    public record Typical(
            long elapsedNs,
            int compared,
            int asLong,
            long longestNs,
            int sampled,
            long sampledKvLength,
            long sampledPrefillTokens,
            long sampledBatch) {

        /**
         * Returns whether at least a quarter of the compared steps took as long as the step, so that it is no outlier.
         *
         * @return false without comparable steps
         */
        public boolean isUsual() {
            return asLong > 0 && 4L * asLong >= compared;
        }
    }

    /**
     * One of the slowest steps.
     *
     * @param index its number, as in {@link org.brickprofiler.Step}
     * @param startNs its beginning on the timeline's clock, ns
     * @param startedAt its beginning by the system's clock, in ms, to within 2 ms; empty if it is not known, as in
     *     files of older versions
     * @param durationNs from its beginning to its end, ns
     * @param info its phase, batch and lengths
     * @param verdict whether the parts explain it
     * @param typical the steps that it was compared with
     * @param parts the parts of the excess, largest first, which sum to {@link #excessNs}; empty without a verdict
     * @param unknown the kinds whose time is unknown for this step, or known for too few of the steps that it was
     *     compared with; their time is in the other parts. {@link Kind#THROTTLED} is among them only if
     *     {@link Kind#NO_PROCESSOR} is, or has a part that may be throttled
     * @param samples the samples of stacks that were taken in it; empty if none are taken, as without
     *     {@link TraceRecorder.Builder#lines}
     */
    public record Explained(
            long index,
            long startNs,
            Optional<Instant> startedAt,
            long durationNs,
            StepInfo info,
            Verdict verdict,
            Typical typical,
            List<Part> parts,
            Set<Kind> unknown,
            Optional<SamplesOfStep> samples) {

        /**
         * Copies the lists.
         *
         * @throws IllegalArgumentException when a number is negative, or the parts do not sum to the excess
         */
        public Explained {
            Objects.requireNonNull(startedAt, "startedAt");
            Objects.requireNonNull(info, "info");
            Objects.requireNonNull(verdict, "verdict");
            Objects.requireNonNull(typical, "typical");
            requireNotNegative("index", index);
            requireNotNegative("durationNs", durationNs);
            parts = List.copyOf(Objects.requireNonNull(parts, "parts"));
            unknown = Collections.unmodifiableSet(new TreeSet<>(Objects.requireNonNull(unknown, "unknown")));
            Objects.requireNonNull(samples, "samples");
            long sum = parts.stream().mapToLong(Part::excessNs).sum();
            if (verdict.isExplained() && sum != durationNs - typical.elapsedNs()) {
                throw new IllegalArgumentException("the parts of step " + index + " sum to " + sum
                        + " ns, and its excess is " + (durationNs - typical.elapsedNs()) + " ns");
            }
        }

        /**
         * Returns the step with the time of day of its beginning.
         *
         * @param unixMs ms since 1970, or {@link WallClock#UNKNOWN}
         */
        Explained startedAt(long unixMs) {
            Optional<Instant> at =
                    unixMs == WallClock.UNKNOWN ? Optional.empty() : Optional.of(Instant.ofEpochMilli(unixMs));
            return new Explained(index, startNs, at, durationNs, info, verdict, typical, parts, unknown, samples);
        }

        /**
         * Returns the step with samples of stacks.
         *
         * @param taken its samples; empty if none are taken
         */
        Explained withSamples(Optional<SamplesOfStep> taken) {
            return new Explained(index, startNs, startedAt, durationNs, info, verdict, typical, parts, unknown, taken);
        }

        /**
         * Returns how much longer the step took than the typical one.
         *
         * @return ns; 0 without a verdict
         */
        public long excessNs() {
            return verdict.isExplained() ? durationNs - typical.elapsedNs() : 0;
        }

        /**
         * Returns the step as a sentence.
         *
         * @return for example {@code "Step 512 at 2026-01-02T03:04:05.006Z: 41.2 ms, typical for its size 23.1: +9.8 ms
         *     garbage collection, +5.1 ms no processor, +2.2 ms FusedAttention."}
         */
        public String sentence() {
            return SlowStepText.sentence(this);
        }
    }

    /**
     * The samples of stacks that were taken in a step: of its thread, of threads that work for it without bricks of
     * their own, and, unless other steps were under way, in bricks of further threads.
     *
     * @param state whether all samples are known
     * @param inBricks those that were taken in a brick
     * @param outside those of the step's thread in no brick
     * @param unknown those whose bricks are unknown: they came too late, or several profilers timed bricks
     * @param hottest the methods with the most samples in bricks, most first, at most {@value #MOST_METHODS}
     */
    public record SamplesOfStep(
            SamplesOfStep.State state, long inBricks, long outside, long unknown, List<SampledMethod> hottest) {

        /** The most methods that are named. */
        public static final int MOST_METHODS = 5;

        /** Whether all samples of a step are known. */
        public enum State {
            /** All have arrived. */
            COMPLETE,
            /** Some may still arrive, or their bricks may still end. */
            MORE_TO_COME,
            /** The step began before samples were taken, or its first ones are no longer kept. */
            BEGINNING_MISSING
        }

        /**
         * Copies the list.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public SamplesOfStep {
            Objects.requireNonNull(state, "state");
            requireNotNegative("inBricks", inBricks);
            requireNotNegative("outside", outside);
            requireNotNegative("unknown", unknown);
            hottest = List.copyOf(Objects.requireNonNull(hottest, "hottest"));
        }

        /**
         * Returns the number of samples.
         *
         * @return 0 or more
         */
        public long total() {
            return inBricks + outside + unknown;
        }
    }

    /**
     * A method in which samples of a step stood.
     *
     * @param brick the brick in which they were taken
     * @param method the method with its class; empty if it is in doubt
     * @param samples their number
     */
    public record SampledMethod(String brick, String method, long samples) {

        /**
         * Checks the number.
         *
         * @throws IllegalArgumentException when it is negative
         */
        public SampledMethod {
            Objects.requireNonNull(brick, "brick");
            Objects.requireNonNull(method, "method");
            requireNotNegative("samples", samples);
        }
    }

    /**
     * Returns how many of the steps of each phase the timeline holds.
     *
     * @return a sentence in ASCII
     */
    public String heldText() {
        return SlowStepText.held(this);
    }

    /**
     * Returns a report: how many steps the timeline holds, and a sentence for each of the slowest steps.
     *
     * @return printable ASCII, with {@code "\n"} at the end of each line, in every locale
     */
    public String text() {
        return SlowStepText.render(this);
    }

    /**
     * Returns a sentence for each of the slowest steps, for the report of the whole run.
     *
     * @return printable ASCII, with {@code "\n"} at the end of each line, in every locale
     */
    public String sentences() {
        return SlowStepText.sentences(this);
    }

    /**
     * Returns the causes of the slow steps of each phase as candidates for findings, and the steps that have no
     * explanation as a reason to doubt. The profile beside it is not that of the whole run, and is not read.
     *
     * @param snapshot a profile
     * @return candidates
     */
    @Override
    public List<Finding> candidates(ProfileSnapshot snapshot) {
        Objects.requireNonNull(snapshot, "snapshot");
        return SlowStepFindings.of(this);
    }

    /**
     * Returns these steps as further entries of the report of the whole run: {@link JsonReport#SLOWEST_STEPS}, and the
     * findings of the profile, with those on these steps.
     *
     * @param snapshot the profile of the run
     * @return entries for {@link JsonReport#toJson(ProfileSnapshot, Map)} or a page
     */
    public Map<String, Object> reportEntries(ProfileSnapshot snapshot) {
        Objects.requireNonNull(snapshot, "snapshot");
        Map<String, Object> entries = new LinkedHashMap<>();
        entries.put("findings", Findings.values(Findings.of(snapshot, besideRun())));
        entries.put(JsonReport.SLOWEST_STEPS, values());
        return entries;
    }

    /**
     * Returns a source of the findings on these steps for the report of the whole run. A step without explanation is no
     * reason to doubt that report.
     *
     * @return the source
     */
    public FindingSource besideRun() {
        return snapshot -> SlowStepFindings.besideRun(this);
    }

    /**
     * Reads the slow steps from the report of a whole run.
     *
     * @param json a report as {@link JsonReport} writes it; closed
     * @return the entry {@link JsonReport#SLOWEST_STEPS}; empty if the report has none
     * @throws IOException when the text is no JSON
     * @throws IllegalArgumentException when the entry has not the form of {@link #toJson}; the message names the fault
     */
    public static Optional<SlowSteps> ofReport(InputStream json) throws IOException {
        return SlowStepJson.ofReport(Objects.requireNonNull(json, "json"));
    }

    /**
     * Returns this as the values of a JSON object.
     *
     * @return lists, maps, strings and numbers, in the order of writing
     */
    public Map<String, Object> values() {
        return SlowStepJson.values(this);
    }

    /**
     * Returns this as a JSON object on one line, in ASCII.
     *
     * @return JSON
     */
    public String toJson() {
        return JsonTable.write(values());
    }

    /**
     * Reads the JSON that {@link #toJson} wrote.
     *
     * @param json an object
     * @return an equal value
     * @throws IllegalArgumentException when the text is not such JSON; the message names the fault
     */
    public static SlowSteps fromJson(String json) {
        return SlowStepJson.read(Objects.requireNonNull(json, "json"));
    }
}
