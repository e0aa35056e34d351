package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.io.IOException;
import java.io.InputStream;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.JsonReport;

/**
 * The methods and lines in which bricks spend their time: samples that the virtual machine took of the stacks of
 * threads, joined with the bricks by thread and time. Immutable.
 *
 * <p>A sample belongs to the innermost brick that its thread timed at that moment. Shares are those of the samples of a
 * brick, never of several: the virtual machine loses samples in code whose stack it cannot walk, so their numbers do
 * not compare bricks. Samples in native code are a tree of their own, because the virtual machine samples one thread in
 * native code at a time, and several in Java code.
 *
 * @param samples where the samples are
 * @param periodNs the time between two samples of a thread that the recording asked for, ns; 0 if unknown
 * @param clockErrorNs the error of the times of samples beside those of bricks, ns; 0 if there are no samples
 * @param missing why samples are missing, all of them if there are none; empty if they were taken
 * @param bricks the bricks with samples, events or processor time, most samples first
 * @param elsewhere the memory and the waits that are in no brick
 * @param mode what the samples are of, in words, such as {@code "wall-clock time"}; empty if the virtual machine took
 *     them of threads that run
 * @param byFrames that the recording has no bricks, and frames of samples or their spans show them
 * @param doubt why the methods and lines of samples may be wrong ones, in words; empty if nothing is known to make them
 *     so
 */
public record LineProfile(
        Samples samples,
        long periodNs,
        long clockErrorNs,
        Optional<String> missing,
        List<OfBrick> bricks,
        Elsewhere elsewhere,
        Optional<String> mode,
        Optional<ByFrames> byFrames,
        Optional<String> doubt)
        implements FindingSource {

    /** The samples that are taken each time that a thread has used some time of a processor, in words. */
    public static final String PROCESSOR_TIME = "processor time";

    /** The samples that the virtual machine takes of threads that run, in words. */
    public static final String RUNNING_THREADS = "running threads";

    /** The number of missing samples up to which a brick is not doubted. */
    public static final int FEW_MISSING = 20;

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException when a time is negative
     */
    public LineProfile {
        Objects.requireNonNull(samples, "samples");
        requireNotNegative("periodNs", periodNs);
        requireNotNegative("clockErrorNs", clockErrorNs);
        Objects.requireNonNull(missing, "missing");
        bricks = List.copyOf(Objects.requireNonNull(bricks, "bricks"));
        Objects.requireNonNull(elsewhere, "elsewhere");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(byFrames, "byFrames");
        Objects.requireNonNull(doubt, "doubt");
    }

    /**
     * Returns what the samples are of. Shares are comparable only between samples of one kind.
     *
     * @return {@link #mode()} without the time within which the samples lie; {@link #RUNNING_THREADS} if it is empty
     */
    public String kindOfSamples() {
        return mode.map(words -> words.replaceFirst(" \\(.*", "")).orElse(RUNNING_THREADS);
    }

    /**
     * Makes a profile of samples that the virtual machine took, joined with bricks by time, without memory and waits.
     *
     * @param samples where the samples are
     * @param periodNs the time between two samples of a thread that the recording asked for, ns; 0 if unknown
     * @param clockErrorNs the error of the times of samples beside those of bricks, ns
     * @param missing why samples are missing, all of them if there are none; empty if they were taken
     * @param bricks the bricks with samples or processor time, most samples first
     * @throws IllegalArgumentException when a time is negative
     */
    public LineProfile(
            Samples samples, long periodNs, long clockErrorNs, Optional<String> missing, List<OfBrick> bricks) {
        this(
                samples,
                periodNs,
                clockErrorNs,
                missing,
                bricks,
                Elsewhere.NONE,
                Optional.empty(),
                Optional.empty(),
                Optional.empty());
    }

    /**
     * Returns a profile without samples.
     *
     * @param reason why there are none
     * @return the profile
     */
    public static LineProfile without(String reason) {
        return new LineProfile(Samples.NONE, 0, 0, Optional.of(Objects.requireNonNull(reason, "reason")), List.of());
    }

    /** Returns the profile with a statement of what its samples are of. */
    LineProfile ofMode(String of) {
        return new LineProfile(
                samples, periodNs, clockErrorNs, missing, bricks, elsewhere, Optional.of(of), byFrames, doubt);
    }

    /**
     * Returns the profile with a reason why the methods and lines of its samples may be wrong ones.
     *
     * @param reason the reason in words; empty if there is none
     * @return the profile
     */
    public LineProfile doubted(Optional<String> reason) {
        Objects.requireNonNull(reason, "reason");
        return new LineProfile(samples, periodNs, clockErrorNs, missing, bricks, elsewhere, mode, byFrames, reason);
    }

    /** Returns the profile with a further reason why samples are missing. */
    private LineProfile withMissing(String reason) {
        return new LineProfile(
                samples,
                periodNs,
                clockErrorNs,
                Optional.of(missing.map(known -> known + "; " + reason).orElse(reason)),
                bricks,
                elsewhere,
                mode,
                byFrames,
                doubt);
    }

    /**
     * Returns the profile with the samples of another kind as missing, and those that the virtual machine has lost.
     *
     * @param other the number of samples that share no table with these, since they are taken at another rate
     * @param of what the other samples are of, in words
     * @param lost the number of samples by processor time that the virtual machine states to have lost
     * @return the profile
     * @throws IllegalArgumentException when a number is negative
     */
    public LineProfile withoutOthers(long other, String of, long lost) {
        requireNotNegative("other", other);
        requireNotNegative("lost", lost);
        Objects.requireNonNull(of, "of");
        LineProfile stated = other == 0 ? this : withMissing(Plural.of(other, "sample") + " of " + of + " left out");
        return lost == 0
                ? stated
                : stated.withMissing(
                        "the virtual machine has lost " + Plural.of(lost, "sample") + " of " + PROCESSOR_TIME);
    }

    /**
     * Returns a section of a report: where the samples are, and the three hottest lines of each brick with their shares
     * and 95 % intervals. Bricks whose samples were lost are said to be, and those with fewer than 20 have no shares.
     *
     * @return printable ASCII, with {@code "\n"} at the end of each line, in every locale
     */
    public String text() {
        return LineProfileText.render(this);
    }

    /**
     * Returns the part of the section on some bricks: why samples are missing if some are, and the hottest lines of
     * each.
     *
     * @param names the names of the bricks, in the order in which they are listed; those without samples are left out
     * @return lines as {@link #text()} has them; empty if no brick has samples, and none are missing
     */
    public String text(List<String> names) {
        Objects.requireNonNull(names, "names");
        return LineProfileText.render(
                this,
                bricks.stream()
                        .filter(each -> names.contains(each.brick()))
                        .sorted(Comparator.comparingInt(each -> names.indexOf(each.brick())))
                        .toList());
    }

    /**
     * Returns no candidates: lines are no findings of their own, since shares do not compare bricks.
     *
     * @param snapshot a profile
     * @return an empty list
     */
    @Override
    public List<Finding> candidates(ProfileSnapshot snapshot) {
        Objects.requireNonNull(snapshot, "snapshot");
        return List.of();
    }

    /**
     * Adds the hottest line of its brick to a finding on a brick, if enough samples show it.
     *
     * @param finding a finding
     * @return the finding itself if it is on no brick with samples
     */
    @Override
    public Finding explained(Finding finding) {
        return LineProfileText.explained(this, Objects.requireNonNull(finding, "finding"));
    }

    /**
     * Returns the hottest line of a brick in the phase in which it has the most samples.
     *
     * @param brick the name of the brick
     * @return for example {@code "In decode steps, 71 % of its samples (66 to 75 %) are in VectorMath.dot line 88"};
     *     empty if too few samples show it, or lines are in {@linkplain #doubt() doubt}
     */
    public Optional<String> hottestLine(String brick) {
        Objects.requireNonNull(brick, "brick");
        return bricks.stream()
                .filter(each -> doubt.isEmpty() && each.brick().equals(brick))
                .findFirst()
                .flatMap(LineProfileText::hottest);
    }

    /**
     * Returns this as a further entry of the report of the run, {@link JsonReport#LINES}, and the findings of the
     * profile, which name the hottest lines of their bricks.
     *
     * @param snapshot the profile of the run
     * @return entries for {@link JsonReport#toJson(ProfileSnapshot, Map)} or a page
     */
    public Map<String, Object> reportEntries(ProfileSnapshot snapshot) {
        Objects.requireNonNull(snapshot, "snapshot");
        Map<String, Object> entries = new LinkedHashMap<>();
        entries.put("findings", Findings.values(Findings.of(snapshot, this)));
        entries.put(JsonReport.LINES, values());
        return entries;
    }

    /**
     * Reads the lines of bricks from the report of a run.
     *
     * @param json a report as {@link JsonReport} writes it; closed
     * @return the entry {@link JsonReport#LINES}; empty if the report has none
     * @throws IOException when the text is no JSON
     * @throws IllegalArgumentException when the entry has not the form of {@link #toJson}; the message names the fault
     */
    public static Optional<LineProfile> ofReport(InputStream json) throws IOException {
        return LineProfileJson.ofReport(Objects.requireNonNull(json, "json"));
    }

    /**
     * Returns this as the values of a JSON object of at most 2,000 nodes of trees and 150 KB in a report. Rare parts of
     * larger trees are summed up as {@link Frame#OTHER_PATHS}.
     *
     * @return lists, maps, strings, numbers and truth values, in the order of writing
     */
    public Map<String, Object> values() {
        return LineProfileJson.values(this);
    }

    /** Returns the values for a window: the three hottest places of each brick, without trees. */
    Map<String, Object> valuesOfWindow() {
        return LineProfileJson.valuesOfWindow(this);
    }

    /**
     * Returns this as a JSON object on one line, in ASCII, with the bounds of {@link #values}.
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
     * @return an equal profile if its trees were within the bounds
     * @throws IllegalArgumentException when the text has another form; the message names the fault
     */
    public static LineProfile fromJson(String json) {
        return LineProfileJson.read(Objects.requireNonNull(json, "json"));
    }

    /**
     * The samples of a run by the place in which each was taken. One of these numbers counts each sample.
     *
     * @param inBricks in a brick of their thread; or, of threads that were in no brick, in the brick of the step for
     *     whose layer they worked; or, of threads in Java code that run no steps and were given no layer, in the brick
     *     of the only step that had one under way
     * @param outside on a thread with bricks, in none of them
     * @param otherThreads on a thread without bricks that was in native code, that belongs to this library or to the
     *     flight recorder, or while no step had a brick under way
     * @param severalSteps of such threads while several steps had a brick under way, or more threads ran steps than are
     *     searched; or in bricks of several profilers
     * @param virtualThreads on a virtual thread without bricks of its own
     * @param notEnded at a time after which their thread has ended no brick: perhaps in a brick that had not ended
     * @param tooLate at a time whose bricks, or the step for whose layer the thread worked, were overwritten before the
     *     sample arrived
     * @param cutStacks in no brick by their frames, of which the outer ones are left out: perhaps in a brick among
     *     these
     */
    public record Samples(
            long inBricks,
            long outside,
            long otherThreads,
            long severalSteps,
            long virtualThreads,
            long notEnded,
            long tooLate,
            long cutStacks) {

        /** No samples. */
        public static final Samples NONE = new Samples(0, 0, 0, 0, 0, 0, 0, 0);

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Samples {
            requireNotNegative("inBricks", inBricks);
            requireNotNegative("outside", outside);
            requireNotNegative("otherThreads", otherThreads);
            requireNotNegative("severalSteps", severalSteps);
            requireNotNegative("virtualThreads", virtualThreads);
            requireNotNegative("notEnded", notEnded);
            requireNotNegative("tooLate", tooLate);
            requireNotNegative("cutStacks", cutStacks);
        }

        /**
         * Returns the number of all samples.
         *
         * @return 0 or more
         */
        public long total() {
            return inBricks + outside + otherThreads + severalSteps + virtualThreads + notEnded + tooLate + cutStacks;
        }
    }

    /**
     * That frames or spans of samples show the bricks: their executions and times are unknown.
     *
     * @param methods the methods that rules name as whole bricks; 0 if spans of async-profiler show the bricks
     * @param leftOut the bricks of the rules that frames do not show, such as parts of methods, each with its place
     */
    public record ByFrames(int methods, List<String> leftOut) {

        /** That spans of bricks with samples show the bricks. */
        public static final ByFrames SPANS = new ByFrames(0, List.of());

        /**
         * Copies the list.
         *
         * @throws IllegalArgumentException when the number is negative
         */
        public ByFrames {
            requireNotNegative("methods", methods);
            leftOut = List.copyOf(Objects.requireNonNull(leftOut, "leftOut"));
        }
    }

    /**
     * Amounts of memory or time with the places that have most of them.
     *
     * @param events how many events state them; 0 if nothing was recorded
     * @param sum the sum of all places
     * @param largest the largest places, at most {@value #MOST_PLACES}
     */
    public record Amounts(long events, long sum, List<Part> largest) {

        /** The most places that are named. */
        public static final int MOST_PLACES = 3;

        /** Nothing. */
        public static final Amounts NONE = new Amounts(0, 0, List.of());

        /**
         * The amount of one place.
         *
         * @param place the method or the class of the lock
         * @param amount its part of the sum
         */
        public record Part(String place, long amount) {

            /**
             * Checks the amount.
             *
             * @throws IllegalArgumentException when it is negative
             */
            public Part {
                Objects.requireNonNull(place, "place");
                requireNotNegative("amount", amount);
            }
        }

        /**
         * Copies the list.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Amounts {
            requireNotNegative("events", events);
            requireNotNegative("sum", sum);
            largest = List.copyOf(Objects.requireNonNull(largest, "largest"));
        }

        /** Returns the sum of all places, and the largest of them. */
        static Amounts of(long events, Map<String, Long> byPlace) {
            return new Amounts(
                    events,
                    byPlace.values().stream().mapToLong(Long::longValue).sum(),
                    byPlace.entrySet().stream()
                            .sorted(Map.Entry.<String, Long>comparingByValue()
                                    .reversed()
                                    .thenComparing(Map.Entry.comparingByKey()))
                            .limit(MOST_PLACES)
                            .map(each -> new Part(each.getKey(), each.getValue()))
                            .toList());
        }
    }

    /**
     * The memory and the waits that are in no brick, or in one that is not known.
     *
     * @param allocations the events that state the memory
     * @param allocatedBytes the memory, an estimate, bytes
     * @param waits the waits
     * @param waitedNs their time, ns
     * @param leastWaitNs the duration from which on all waits were recorded, in bricks and elsewhere, ns; 0 if unknown
     */
    public record Elsewhere(long allocations, long allocatedBytes, long waits, long waitedNs, long leastWaitNs) {

        /** Nothing. */
        public static final Elsewhere NONE = new Elsewhere(0, 0, 0, 0, 0);

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative
         */
        public Elsewhere {
            requireNotNegative("allocations", allocations);
            requireNotNegative("allocatedBytes", allocatedBytes);
            requireNotNegative("waits", waits);
            requireNotNegative("waitedNs", waitedNs);
            requireNotNegative("leastWaitNs", leastWaitNs);
        }
    }

    /**
     * The samples of a brick in a phase.
     *
     * @param brick the name of the brick
     * @param phase the phase of its steps; empty outside of steps
     * @param ofWorkers how many of the samples are of threads that worked for a layer of its step, or, without a layer
     *     and a brick, while its step was the only one with a brick under way: they are assumed to work for it
     * @param due how many samples its own threads would have if all bricks had samples in proportion to their processor
     *     time; empty if that is unknown
     * @param java the samples in Java code
     * @param natives the samples in native code
     * @param allocated the memory that its threads allocated, an estimate, bytes, by the innermost method outside of
     *     the JDK
     * @param waited the time for which its threads waited for monitors or were parked, ns, by the class of the lock
     * @param interpretedPasses the number of first passes, of those recorded, in which the virtual machine interpreted
     *     the method of the hottest line of Java code, and after which it rarely did; empty unless enough samples show
     *     it, on one thread that runs passes
     */
    public record OfBrick(
            String brick,
            Optional<StepInfo.Phase> phase,
            long ofWorkers,
            OptionalDouble due,
            CallTree java,
            CallTree natives,
            Amounts allocated,
            Amounts waited,
            OptionalLong interpretedPasses) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the number of workers' samples is negative or exceeds all
         */
        public OfBrick {
            Objects.requireNonNull(brick, "brick");
            Objects.requireNonNull(phase, "phase");
            requireNotNegative("ofWorkers", ofWorkers);
            Objects.requireNonNull(due, "due");
            Objects.requireNonNull(java, "java");
            Objects.requireNonNull(natives, "natives");
            Objects.requireNonNull(allocated, "allocated");
            Objects.requireNonNull(waited, "waited");
            Objects.requireNonNull(interpretedPasses, "interpretedPasses");
            if (ofWorkers > java.samples() + natives.samples()) {
                throw new IllegalArgumentException("brick " + brick + " has " + ofWorkers + " samples of workers, of "
                        + (java.samples() + natives.samples()));
            }
        }

        /**
         * Makes the samples of a brick without memory and waits.
         *
         * @param brick the name of the brick
         * @param phase the phase of its steps; empty outside of steps
         * @param ofWorkers how many of the samples are of threads without bricks
         * @param due how many samples its own threads would have in proportion to their processor time; empty if
         *     unknown
         * @param java the samples in Java code
         * @param natives the samples in native code
         * @throws IllegalArgumentException when the number of workers' samples is negative or exceeds all
         */
        public OfBrick(
                String brick,
                Optional<StepInfo.Phase> phase,
                long ofWorkers,
                OptionalDouble due,
                CallTree java,
                CallTree natives) {
            this(brick, phase, ofWorkers, due, java, natives, Amounts.NONE, Amounts.NONE, OptionalLong.empty());
        }

        /**
         * Returns the number of samples.
         *
         * @return 0 or more
         */
        public long samples() {
            return java.samples() + natives.samples();
        }

        /**
         * Returns whether the virtual machine has lost samples of the brick: there are fewer than half of those that
         * are due, and more than {@value LineProfile#FEW_MISSING} are missing. Its lines may then be those of a part of
         * its time alone.
         *
         * @return false also if the number that is due is unknown
         */
        public boolean isDoubted() {
            double own = samples() - ofWorkers;
            return due.isPresent() && own < due.getAsDouble() / 2 && due.getAsDouble() - own > FEW_MISSING;
        }
    }
}
