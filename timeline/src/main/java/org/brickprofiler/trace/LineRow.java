package org.brickprofiler.trace;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import org.brickprofiler.StepInfo;

/** The samples and the processor time of a brick in a phase. Not thread-safe. */
final class LineRow {

    /** The most methods of which is known in which passes the virtual machine interpreted them. */
    private static final int MOST_METHODS = 64;

    /** The virtual machine's name of the mode of a frame that it interprets. */
    static final String INTERPRETED = "Interpreted";

    private final String brick;
    private final Optional<StepInfo.Phase> phase;
    private final LineTree java;
    private final LineTree natives;

    /** Of each method, its samples by passes; empty if the virtual machine had compiled it at the first one. */
    private final Map<String, Optional<InterpretedPasses>> interpreted = new HashMap<>();

    private final LineSums allocated = new LineSums();
    private final LineSums waited = new LineSums();
    private long ofThreads;
    private long ofWorkers;
    private double processorNs;
    private boolean isTimeUnknown;

    LineRow(String brick, Optional<StepInfo.Phase> phase, LineTree.Room room) {
        this.brick = brick;
        this.phase = phase;
        java = new LineTree(room);
        natives = new LineTree(room);
    }

    String brick() {
        return brick;
    }

    /** Adds a sample, or an event, of a thread that timed the brick, or that worked for its step. */
    void add(LineSample sample) {
        Optional<LineEvent> event = sample.event();
        if (event.isPresent()) {
            add(event.get());
        } else {
            add(sample.isNative(), sample.stack(), sample.isOfWorker(), 1);
            if (!sample.isNative()) {
                addMode(sample.stack().get(0), sample.pass());
            }
        }
    }

    private void addMode(Frame frame, long pass) {
        String method = frame.method();
        boolean isInterpreted = frame.how().equals(INTERPRETED);
        if (interpreted.size() < MOST_METHODS && !interpreted.containsKey(method)) {
            interpreted.put(method, isInterpreted ? Optional.of(new InterpretedPasses()) : Optional.empty());
        }
        interpreted.getOrDefault(method, Optional.empty()).ifPresent(passes -> passes.add(pass, isInterpreted));
    }

    /**
     * Returns the first passes in which the virtual machine interpreted the hottest line's method; empty if unknown.
     */
    private OptionalLong interpretedPasses(CallTree tree) {
        return tree.lines(1).stream()
                .flatMap(line -> interpreted.getOrDefault(line.place().method(), Optional.empty()).stream())
                .map(InterpretedPasses::first)
                .findFirst()
                .orElse(OptionalLong.empty());
    }

    /** Adds memory that was allocated in the brick, or a wait. */
    void add(LineEvent event) {
        (event.kind() == LineEvent.Kind.ALLOCATION ? allocated : waited).add(event);
    }

    /** Adds samples of one stack. */
    void add(boolean isNative, List<Frame> stack, boolean isOfWorker, long count) {
        (isNative ? natives : java).add(stack, count);
        if (isOfWorker) {
            ofWorkers += count;
        } else {
            ofThreads += count;
        }
    }

    /** Adds time of a thread in the brick, without the bricks inside it, ns of processor time; NaN if unknown. */
    void ran(double ns) {
        if (Double.isNaN(ns)) {
            isTimeUnknown = true;
        } else {
            processorNs += ns;
        }
    }

    /** Returns whether the processor time of all its threads is known. */
    boolean isTimeKnown() {
        return !isTimeUnknown;
    }

    /** Returns the samples of threads that timed the brick. */
    long ofThreads() {
        return ofThreads;
    }

    double processorNs() {
        return processorNs;
    }

    boolean isEmpty(Counts earlier) {
        return ofThreads + ofWorkers + allocated.events() + waited.events() == earlier.ofThreads + earlier.ofWorkers
                && processorNs == earlier.processorNs
                && !isTimeUnknown;
    }

    /**
     * The samples and the time of a row up to a moment, without memory and waits.
     *
     * @param ofThreads the samples of threads that timed the brick
     * @param ofWorkers the samples of other threads
     * @param processorNs the processor time, ns
     * @param java the counts of the tree of Java code
     * @param natives the counts of the tree of native code
     */
    record Counts(long ofThreads, long ofWorkers, double processorNs, LineTree.Counts java, LineTree.Counts natives) {
        static final Counts NONE = new Counts(0, 0, 0, LineTree.Counts.NONE, LineTree.Counts.NONE);
    }

    Counts counts() {
        return new Counts(ofThreads, ofWorkers, processorNs, java.counts(), natives.counts());
    }

    /**
     * Returns the samples since a moment.
     *
     * @param earlier the counts at that moment
     * @param samplesPerNs the samples since then per ns of processor time of all bricks; NaN if unknown
     * @param hasPasses whether the passes of all samples have common numbers
     */
    LineProfile.OfBrick since(Counts earlier, double samplesPerNs, boolean hasPasses) {
        CallTree javaTree = java.toTree(earlier.java);
        return new LineProfile.OfBrick(
                brick,
                phase,
                ofWorkers - earlier.ofWorkers,
                isTimeUnknown || Double.isNaN(samplesPerNs)
                        ? OptionalDouble.empty()
                        : OptionalDouble.of((processorNs - earlier.processorNs) * samplesPerNs),
                javaTree,
                natives.toTree(earlier.natives),
                allocated.toAmounts(),
                waited.toAmounts(),
                hasPasses && earlier.equals(Counts.NONE) ? interpretedPasses(javaTree) : OptionalLong.empty());
    }
}
