package org.brickprofiler.report;

import static org.brickprofiler.report.internal.RoughUnits.duration;
import static org.brickprofiler.report.internal.RoughUnits.percent;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.report.Finding.Kind;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.RequestStats;
import org.brickprofiler.request.Wait;

/** The candidates that a snapshot itself holds. It names no cause that the snapshot does not state. Any thread. */
final class SnapshotFindings implements FindingSource {

    /** A profile with fewer steps, or with less time in bricks, is too short. */
    private static final int FEWEST_STEPS = 30;

    private static final long SHORTEST_NS = 2_000_000_000L;

    /** The share of the slowest steps of which the excess over the median is a finding, percent. */
    private static final double SLOW_PERCENT = 5;

    /** The fewest steps of which the slowest {@link #SLOW_PERCENT} are more than one or two. */
    private static final long FEWEST_FOR_SLOW = 100;

    /** The largest difference between the wall time and the dates of the profile of one run, as a share. */
    private static final double ONE_RUN = 0.01;

    /** The share of steps that bricks cover, below which most of a step is not marked. */
    private static final double MARKED = 0.5;

    /** The share of a profile from which the time of compilers means that the virtual machine was warming up. */
    private static final double COMPILING = 0.2;

    /** Compilers that a virtual machine may have on a machine with few processors. */
    private static final int FEWEST_COMPILERS = 3;

    /** The largest ratio of the median context length of slow steps to that of all kept steps. */
    private static final double MOST_LONGER = 1.25;

    private static final String LESS_ON_THE_PROCESSORS = "run fewer threads, or nothing else on this machine";
    private static final String LESS_OR_A_QUOTA = LESS_ON_THE_PROCESSORS + ", or raise a CPU quota";

    @Override
    public List<Finding> candidates(ProfileSnapshot snapshot) {
        List<Finding> found = new ArrayList<>();
        disturbed(snapshot).ifPresent(found::add);
        tooShort(snapshot).ifPresent(found::add);
        compiled(snapshot).ifPresent(found::add);
        requests(snapshot, found);
        if (snapshot.wallNs() > 0) {
            outside(snapshot).ifPresent(found::add);
            outsideOfBricks(snapshot).ifPresent(found::add);
            snapshot.steps().phases().forEach(phase -> slowSteps(snapshot, phase)
                    .ifPresent(found::add));
            noProcessor(snapshot).ifPresent(found::add);
            snapshot.streams().forEach(stream -> idleDevice(snapshot, stream).ifPresent(found::add));
        }
        garbageCollection(snapshot).ifPresent(found::add);
        largest(snapshot).ifPresent(found::add);
        return found;
    }

    /** Returns whether threads recorded the profile; that of a trace has none. */
    static boolean isRecorded(ProfileSnapshot snapshot) {
        return snapshot.threads() > 0 || snapshot.virtualThreads();
    }

    // ---- doubts ----

    private static Optional<Finding> disturbed(ProfileSnapshot snapshot) {
        List<String> remarks = snapshot.facts().disturbances();
        if (remarks.isEmpty()) {
            return Optional.empty();
        }
        String more = remarks.size() == 1 ? "" : " (and " + Plural.of(remarks.size() - 1, "more remark") + ")";
        // A remark is the machine's or the engine's; only the figures of the machine, if there are any, are known
        // apart.
        return Optional.of(new Finding(
                Kind.DISTURBED,
                "",
                0,
                "The run is in doubt: " + remarks.get(0) + more + ".",
                snapshot.facts().machine().isEmpty()
                        ? "mend what the remark names, and measure again"
                        : "measure again when the machine is quiet"));
    }

    private static Optional<Finding> tooShort(ProfileSnapshot snapshot) {
        long steps =
                snapshot.steps().phases().stream().mapToLong(StepStats::count).sum();
        boolean isShort = snapshot.totalNs() < SHORTEST_NS || (steps > 0 && steps < FEWEST_STEPS);
        if (!isRecorded(snapshot) || snapshot.samples() == 0 || !isShort) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Kind.TOO_SHORT,
                "",
                0,
                "The profile is short, so it may show the warm-up of the virtual machine: "
                        + (steps == 0 ? "" : Plural.of(steps, "step") + ", ")
                        + duration(snapshot.totalNs())
                        + " in bricks.",
                "record at least " + FEWEST_STEPS + " steps and " + duration(SHORTEST_NS) + " in bricks"));
    }

    // ---- requests ----

    private static void requests(ProfileSnapshot snapshot, List<Finding> found) {
        RequestStats stats = snapshot.requests();
        long allNs = sum(stats, Cause.values());
        if (allNs == 0) {
            return;
        }
        queue(snapshot, allNs).ifPresent(found::add);
        stall(snapshot, allNs).ifPresent(found::add);
        for (Wait wait : Wait.values()) {
            if (wait != Wait.UNKNOWN && stats.waits().ns(wait) > 0) {
                found.add(waiting(stats, wait, allNs));
            }
        }
        long own = stats.causeNs(Cause.OWN_WORK);
        if (own > 0) {
            found.add(new Finding(
                    Kind.OWN_WORK,
                    "",
                    share(own, allNs),
                    "The threads that serve requests do other work between the steps, such as that of a tokenizer: "
                            + percent(share(own, allNs)) + " of the requests' time.",
                    "mark this work as bricks"));
        }
        long delivery = stats.causeNs(Cause.DELIVERY);
        if (delivery > 0) {
            found.add(new Finding(
                    Kind.DELIVERY,
                    "",
                    share(delivery, allNs),
                    "After their last token, requests take " + percent(share(delivery, allNs))
                            + " of their time until they finish.",
                    "look at what the engine does after the last token"));
        }
    }

    private static long sum(RequestStats stats, Cause... causes) {
        long ns = 0;
        for (Cause cause : causes) {
            ns = Sums.limited(ns, stats.causeNs(cause));
        }
        return ns;
    }

    private static Optional<Finding> queue(ProfileSnapshot snapshot, long allNs) {
        RequestStats stats = snapshot.requests();
        long behindPrompts = stats.causeNs(Cause.QUEUED_BEHIND_PROMPTS);
        long behindDecoding = stats.causeNs(Cause.QUEUED_BEHIND_DECODING);
        long idle = stats.causeNs(Cause.QUEUED_IDLE);
        long queued = sum(stats, Cause.QUEUED_BEHIND_PROMPTS, Cause.QUEUED_BEHIND_DECODING, Cause.QUEUED_IDLE);
        if (queued == 0) {
            return Optional.empty();
        }
        long most = Math.max(behindPrompts, Math.max(behindDecoding, idle));
        String behind = most == idle
                ? "while no step ran"
                : most == behindPrompts ? "behind others' prompts" : "behind others' decoding";
        String next = most == idle
                ? "look at what the engine does between the arrival and the first step"
                : most == behindPrompts ? "process prompts in chunks, or have more slots" : "have more slots";
        String median = stats.latencies().queueTime().count() == 0
                ? ""
                : " (p50 " + duration(stats.latencies().queueTime().percentileNs(50)) + ")";
        return Optional.of(new Finding(
                Kind.REQUESTS_QUEUE,
                "",
                share(queued, allNs),
                "Requests wait for a place: " + percent(share(queued, allNs)) + " of their time is spent in the queue"
                        + median + part(most, queued, allNs) + behind + "."
                        + ServingRates.of(snapshot).map(ServingRates::load).orElse(""),
                next));
    }

    /**
     * Returns the share of the largest part of a wait, before the words for it; without the share if it is the only
     * part.
     */
    private static String part(long mostNs, long waitNs, long allNs) {
        return mostNs == waitNs ? ", " : "; the largest part, " + percent(share(mostNs, allNs)) + " of their time, ";
    }

    private static Optional<Finding> stall(ProfileSnapshot snapshot, long allNs) {
        RequestStats stats = snapshot.requests();
        long stalled = sum(stats, Cause.STALLED_BEHIND_PROMPTS, Cause.STALLED_BEHIND_DECODING, Cause.STALLED_IDLE);
        if (stalled == 0) {
            return Optional.empty();
        }
        long behindPrompts = stats.causeNs(Cause.STALLED_BEHIND_PROMPTS);
        long idle = stats.causeNs(Cause.STALLED_IDLE);
        long behindDecoding = stats.causeNs(Cause.STALLED_BEHIND_DECODING);
        long most = Math.max(behindPrompts, Math.max(behindDecoding, idle));
        boolean isBehindPrompts = most == behindPrompts;
        String prefill = snapshot.steps().phases().stream()
                .filter(phase -> phase.phase() == StepInfo.Phase.PREFILL && phase.count() > 0)
                .findFirst()
                .map(phase -> ", each of whose steps takes " + duration(phase.avgNs()) + " on average and "
                        + duration(phase.maxNs()) + " at most")
                .orElse("");
        String where = isBehindPrompts
                ? "behind others' prompts" + prefill
                : most == idle ? "while no step ran" : "behind others' decoding";
        return Optional.of(new Finding(
                Kind.REQUESTS_STALL,
                "",
                share(stalled, allNs),
                "Requests wait between their tokens for " + percent(share(stalled, allNs)) + " of their time"
                        + part(most, stalled, allNs) + where + ".",
                isBehindPrompts
                        ? "process prompts in chunks"
                        : "look at the slowest requests: brick report FILE --html OUT"));
    }

    /** Returns a wait that is stated for the time in which requests were queued or stalled: a second split of it. */
    private static Finding waiting(RequestStats stats, Wait wait, long allNs) {
        double share = share(stats.waits().ns(wait), allNs);
        boolean isQuotaUnknown = stats.waits().isUnknown(Wait.THROTTLED);
        String state =
                switch (wait) {
                    case GC -> "a garbage collection had stopped all threads";
                    case BLOCKED -> "a lock blocked the thread that they waited for" + longestBlock(stats);
                    case THROTTLED -> "a CPU quota throttled the thread that they waited for";
                    case NO_PROCESSOR ->
                        "the thread that they waited for had no processor"
                                + (isQuotaUnknown ? ", or was throttled by a CPU quota, which is unknown" : "");
                    case UNKNOWN -> throw new IllegalArgumentException("nothing is stated");
                };
        String next =
                switch (wait) {
                    case GC -> "run with -Xlog:gc";
                    case BLOCKED -> "look at what holds the lock";
                    case THROTTLED -> "raise the quota, or run fewer threads";
                    case NO_PROCESSOR, UNKNOWN -> isQuotaUnknown ? LESS_OR_A_QUOTA : LESS_ON_THE_PROCESSORS;
                };
        return new Finding(
                Kind.REQUESTS_WAIT,
                wait.displayName(),
                share,
                "For " + percent(share) + " of their time, requests were queued or stalled while " + state + ".",
                next);
    }

    /** Returns the lock that blocked one of the slowest requests longest, after a semicolon; empty if none is known. */
    private static String longestBlock(RequestStats stats) {
        return Stream.concat(stats.slowestFirstTokens().stream(), stats.longestGaps().stream())
                .filter(request -> request.lock().isPresent())
                .max(Comparator.comparingLong(request -> request.waitNs().getOrDefault(Wait.BLOCKED, 0L)))
                .map(request -> "; of the slowest ones, one waited "
                        + duration(request.waitNs().getOrDefault(Wait.BLOCKED, 0L)) + ", longest for "
                        + request.lock().orElseThrow())
                .orElse("");
    }

    /**
     * Returns that the compilers worked for much of the profile. Their time is known since the start of the virtual
     * machine; before the profile, all of them may have worked all the time.
     */
    private static Optional<Finding> compiled(ProfileSnapshot snapshot) {
        int processors = snapshot.environments().stream()
                .mapToInt(Environment::processors)
                .max()
                .orElse(0);
        if (processors == 0 || snapshot.facts().virtualMachines().size() != 1) {
            return Optional.empty();
        }
        RunFacts.VirtualMachine machine = snapshot.facts().virtualMachines().get(0);
        long beforeNs = Math.max(0, machine.upNs() - snapshot.wallNs());
        double withinNs = machine.jitNs() - (double) Math.max(FEWEST_COMPILERS, processors) * beforeNs;
        return withinNs < COMPILING * snapshot.wallNs() || withinNs <= 0
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.DISTURBED,
                        "compilation",
                        0,
                        "Part of the profile is warm-up: the compilers of the virtual machine worked for at least "
                                + duration(withinNs) + " of its " + duration(snapshot.wallNs()) + ".",
                        "reset the profiler after a warm-up, or record a longer run"));
    }

    // ---- wall time ----

    /**
     * Returns the time in which no step was under way; without steps, the time that the bricks cannot have covered.
     * With requests, a server without work is no finding.
     */
    private static Optional<Finding> outside(ProfileSnapshot snapshot) {
        long inSteps =
                snapshot.steps().phases().stream().mapToLong(StepStats::wallNs).reduce(0, Sums::limited);
        boolean hasSteps = inSteps > 0;
        long within = hasSteps ? inSteps : snapshot.totalNs();
        boolean isKnown = hasSteps || (isComplete(snapshot) && !snapshot.isEstimated());
        if (snapshot.requests().hasRequests() || !isKnown || within == 0 || within >= snapshot.wallNs()) {
            return Optional.empty();
        }
        long outside = snapshot.wallNs() - within;
        double share = share(outside, snapshot.wallNs());
        String amount =
                percent(share) + " of wall time (" + duration(outside) + " of " + duration(snapshot.wallNs()) + ")";
        if (!hasSteps) {
            return Optional.of(new Finding(
                    Kind.IDLE,
                    "",
                    share,
                    "At least " + amount + " lies outside of all bricks.",
                    "mark more bricks, or look at the timeline"));
        }
        Optional<Edges> edges = Edges.of(snapshot, outside);
        return Optional.of(new Finding(
                Kind.IDLE,
                "",
                share,
                amount + " lies outside of steps"
                        + edges.map(Edges::words)
                                .orElse(", which includes the time before the first and after the last one")
                        + ".",
                edges.map(Edges::next)
                        .orElse("take the snapshot right after the last step, or mark what the engine does between"
                                + " steps")));
    }

    /**
     * The time without steps at both ends of the profile of one run.
     *
     * @param beforeNs from its beginning to the first kept step, ns
     * @param afterNs from the end of the last kept step to its end, ns
     * @param least the least of these times that is worth a word, ns
     * @param isLimit whether there are steps that are not kept, so that the times are upper limits
     */
    private record Edges(long beforeNs, long afterNs, double least, boolean isLimit) {

        /** Returns the times, at most {@code mostNs} each; empty if they are not known, as in a sum of several runs. */
        static Optional<Edges> of(ProfileSnapshot snapshot, long mostNs) {
            long startNs = unixNs(snapshot.startedAt());
            long endNs = unixNs(snapshot.endedAt());
            boolean isOneRun = Math.abs(endNs - startNs - snapshot.wallNs()) <= ONE_RUN * snapshot.wallNs();
            List<Step> kept = snapshot.steps().kept();
            if (!isOneRun || kept.isEmpty()) {
                return Optional.empty();
            }
            long firstNs = kept.stream().mapToLong(Step::startedAtUnixNs).min().orElseThrow();
            long lastNs = kept.stream()
                    .mapToLong(step -> step.startedAtUnixNs() + step.durationNs())
                    .max()
                    .orElseThrow();
            return Optional.of(new Edges(
                    Math.max(0, Math.min(firstNs - startNs, mostNs)),
                    Math.max(0, Math.min(endNs - lastNs, mostNs)),
                    Findings.LEAST_SHARE * snapshot.wallNs(),
                    kept.size() < snapshot.steps().count()));
        }

        private boolean isShort() {
            return Math.max(beforeNs, afterNs) < least;
        }

        String words() {
            return isShort()
                    ? ""
                    : ", " + (isLimit ? "at most " : "") + duration(Math.max(beforeNs, afterNs))
                            + (afterNs >= beforeNs ? " of it after the last step" : " of it before the first step");
        }

        String next() {
            if (isShort()) {
                return "mark what the engine does between steps";
            }
            return afterNs >= beforeNs
                    ? "take the snapshot right after the last step"
                    : "reset the profiler right before the first step";
        }
    }

    private static long unixNs(Instant instant) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, instant);
    }

    /**
     * Returns the time of steps outside of their bricks. Bricks of several threads run at the same time, so their sum
     * shows no gaps; lost samples would look like gaps.
     */
    private static Optional<Finding> outsideOfBricks(ProfileSnapshot snapshot) {
        boolean isNested = snapshot.facts().nesting().values().stream().anyMatch(nesting -> nesting.within() > 0);
        List<StepStats> phases = snapshot.steps().phases().stream()
                .filter(phase -> phase.count() > 0)
                .toList();
        boolean isKnown = phases.stream().allMatch(phase -> phase.attributed() == phase.count());
        if (snapshot.threads() != 1 || snapshot.virtualThreads() || !isComplete(snapshot) || isNested || !isKnown) {
            return Optional.empty();
        }
        long stepsNs = phases.stream().mapToLong(StepStats::totalNs).reduce(0, Sums::limited);
        long bricksNs = phases.stream()
                .flatMap(phase -> phase.categoryNs().values().stream())
                .mapToLong(Long::longValue)
                .reduce(0, Sums::limited);
        if (stepsNs <= bricksNs) {
            return Optional.empty();
        }
        double covered = share(bricksNs, stepsNs);
        return Optional.of(new Finding(
                Kind.BETWEEN_BRICKS,
                "",
                share(stepsNs - bricksNs, snapshot.wallNs()),
                "Bricks cover " + percent(covered) + " of the time in steps; " + duration(stepsNs - bricksNs)
                        + " are not marked.",
                covered < MARKED
                        ? "mark more bricks, or let brick suggest propose them"
                        : "brick report FILE --html OUT shows the median and the slowest step"));
    }

    /** Returns whether each sample has a time. */
    private static boolean isComplete(ProfileSnapshot snapshot) {
        return snapshot.pending() == 0 && snapshot.unresolved() == 0 && snapshot.droppedPending() == 0;
    }

    /** Returns the excess of the slowest steps of a phase over its median, if its steps do the same work. */
    private static Optional<Finding> slowSteps(ProfileSnapshot snapshot, StepStats phase) {
        if (phase.count() < FEWEST_FOR_SLOW || !isAlike(snapshot, phase)) {
            return Optional.empty();
        }
        long medianNs = phase.percentileNs(50);
        double slowNs = phase.durations().meanNs(100 - SLOW_PERCENT, 100);
        double excessNs = phase.count() * SLOW_PERCENT / 100 * (slowNs - medianNs);
        if (excessNs <= 0) {
            return Optional.empty();
        }
        double share = Math.min(1, excessNs / snapshot.wallNs());
        String name = phase.phase().displayName();
        return Optional.of(new Finding(
                Kind.SLOW_STEPS,
                name,
                share,
                "1 " + name + " step in 20 takes " + duration(slowNs) + " on average instead of " + duration(medianNs)
                        + ", the median: " + percent(share) + " of wall time. The profile does not state why.",
                "keep the slowest steps with their timeline (keepSlowSteps, or slow= of the agent)"));
    }

    /**
     * Returns whether the steps of a phase do the same work: steps also differ if their prompts differ in length, or if
     * the slow steps have the longer contexts.
     */
    private static boolean isAlike(ProfileSnapshot snapshot, StepStats phase) {
        List<Step> kept = snapshot.steps().kept().stream()
                .filter(step -> step.info().phase() == phase.phase())
                .toList();
        long shapes = kept.stream()
                .map(Step::info)
                .map(step -> List.of((long) step.batch(), step.prefillTokens(), step.draftedTokens()))
                .distinct()
                .count();
        long slowNs = phase.percentileNs(100 - SLOW_PERCENT);
        List<Step> slow =
                kept.stream().filter(step -> step.durationNs() >= slowNs).toList();
        return shapes <= 1 && medianLength(slow) <= MOST_LONGER * medianLength(kept);
    }

    private static long medianLength(List<Step> steps) {
        long[] lengths = steps.stream()
                .mapToLong(step -> step.info().kvLength())
                .sorted()
                .toArray();
        return lengths.length == 0 ? 0 : lengths[(lengths.length - 1) / 2];
    }

    private static Optional<Finding> noProcessor(ProfileSnapshot snapshot) {
        long waited = 0;
        long of = 0;
        for (StepStats phase : snapshot.steps().phases()) {
            if (phase.cpu().waitedNs().isPresent()) {
                waited = Sums.limited(waited, phase.cpu().waitedNs().getAsLong());
                of = Sums.limited(of, phase.cpu().wallNs());
            }
        }
        if (waited == 0) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Kind.NO_PROCESSOR,
                "",
                share(waited, Math.max(of, snapshot.wallNs())),
                "The threads of steps waited for a processor for " + percent(share(waited, of))
                        + " of the steps' time, because other threads and processes occupied it or a CPU quota was used up.",
                LESS_OR_A_QUOTA));
    }

    /**
     * Returns the time in which a stream had no brick within its passes, without the time that marks may have taken.
     * Whether the stream waited for its host is not known: work without marks counts as idle.
     */
    private static Optional<Finding> idleDevice(ProfileSnapshot snapshot, StreamTotals stream) {
        long idleNs = stream.idleNs() - stream.idleOfMarksNs();
        long passesNs = Sums.limited(stream.busyNs(), stream.idleNs());
        return idleNs <= 0
                ? Optional.empty()
                : Optional.of(new Finding(
                        Kind.DEVICE_IDLE,
                        stream.device() + ", " + stream.stream(),
                        share(idleNs, snapshot.wallNs()),
                        "Stream " + stream.stream() + " of " + stream.device() + " ran no brick for "
                                + percent(share(idleNs, passesNs)) + " of the time of its passes (" + duration(idleNs)
                                + " of " + duration(passesNs) + "), beside what marks may take.",
                        "launch work earlier or as a graph, or mark what else runs there"));
    }

    /** Returns the time of the garbage collectors; concurrent ones report the time of whole cycles. */
    private static Optional<Finding> garbageCollection(ProfileSnapshot snapshot) {
        long collecting = 0;
        long up = 0;
        for (RunFacts.VirtualMachine machine : snapshot.facts().virtualMachines()) {
            collecting = Sums.limited(collecting, machine.gcNs());
            up = Sums.limited(up, machine.upNs());
        }
        if (collecting == 0 || up == 0) {
            return Optional.empty();
        }
        return Optional.of(new Finding(
                Kind.GARBAGE_COLLECTION,
                "",
                share(collecting, up),
                "Garbage collectors were active for " + duration(collecting) + ", " + percent(share(collecting, up))
                        + " of the time since the start of the virtual machine; a concurrent collector stops the program"
                        + " only for a part of it.",
                "run with -Xlog:gc, or record slow steps, which state the pauses"));
    }

    // ---- bricks ----

    private static Optional<Finding> largest(ProfileSnapshot snapshot) {
        long totalNs = snapshot.netOrTotalNs();
        if (totalNs == 0) {
            return Optional.empty();
        }
        return snapshot.bricks().stream()
                .max((a, b) -> Long.compare(a.netOrTotalNs(), b.netOrTotalNs()))
                .filter(brick -> brick.netOrTotalNs() > 0)
                .map(brick -> new Finding(
                        Kind.LARGEST_BRICK,
                        brick.name(),
                        share(brick.netOrTotalNs(), totalNs),
                        brick.name() + " is the largest brick, " + (snapshot.isEstimated() ? "by estimate " : "")
                                + percent(share(brick.netOrTotalNs(), totalNs))
                                + " of brick time" + ofWall(snapshot, brick) + ".",
                        isRecorded(snapshot)
                                ? "brick roofline --out roof.json measures the limits of this machine, and brick report FILE"
                                        + " --roofline roof.json shows the distance of each brick to them"
                                : "brick report FILE --html OUT shows when it runs"));
    }

    private static String ofWall(ProfileSnapshot snapshot, BrickStats brick) {
        return snapshot.wallNs() == 0 || brick.netOrTotalNs() > snapshot.wallNs()
                ? ""
                : " and " + percent(share(brick.netOrTotalNs(), snapshot.wallNs())) + " of wall time";
    }

    // ---- numbers ----

    private static double share(long part, long whole) {
        return whole == 0 ? 0 : Math.min(1, (double) part / whole);
    }
}
