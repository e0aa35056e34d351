package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.ThreadTimes;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.brickprofiler.trace.StepParts.Busy;
import org.brickprofiler.trace.StepParts.Place;
import org.brickprofiler.trace.StepParts.Work;
import org.brickprofiler.trace.internal.StopLog;

/**
 * A step that is kept for its spans, or as a sample of its phase for the places of its time. Its spans are copied from
 * the buffers once they are complete, or before they would be overwritten. Guarded by the {@link SlowStepKeeper}.
 */
final class StepWindow {

    private final long index;
    private final StepInfo info;
    private final long startNs;
    private final long startMs;
    private final long endNs;

    /** Its thread, and the timeline of the thread, which virtual threads share. */
    private final long threadId;

    private final long line;

    /** The timelines of threads with another step at the same time. */
    private final Set<Long> others;

    private final StepParts.Times threadTimes;

    /** Whether no span of it was cleared before it ended. */
    private final boolean isWhole;

    // Why it is kept.
    boolean isSlow;
    boolean isSampled;
    boolean isMedian;

    /**
     * The number of times that its spans were copied while some were unresolved; copies for a timeline do not count.
     */
    int settled;

    private int taken;

    private List<Held> held = List.of();

    /** The work of the window, without stops; empty once only the places are needed. */
    private List<Busy> work = List.of();

    private StepParts parts;
    private Verdict verdict = Verdict.EXPLAINED;
    private int unresolved;

    /** How long a CPU quota throttled the process, ns, or {@link ThreadTimes#UNKNOWN}. */
    private long throttledNs = ThreadTimes.UNKNOWN;

    /**
     * Whether all stops during the step are known, and whether none can be reported later, so that its places are
     * final.
     */
    private boolean knowsStops;

    private boolean hasAllStops;

    /** Its samples of stacks so far; empty if none are taken. */
    private Optional<SamplesOfStep> samples = Optional.empty();

    /** Whether no further sample will come. */
    private boolean hasAllSamples;

    /** The spans of a step in one buffer. */
    record Held(SpanContents contents, SpanCopy spans) {}

    /** What is known of a step at one moment. Immutable, so that it is compared without the keeper's lock. */
    record Facts(
            long index,
            long startNs,
            long startMs,
            long endNs,
            StepInfo info,
            Verdict verdict,
            StepParts parts,
            boolean knowsStops,
            Optional<SamplesOfStep> samples)
            implements StepComparison.Candidate {

        /** Compares the step with a sample of its phase. */
        SlowSteps.Explained explain(List<Facts> sample) {
            return StepComparison.explain(this, sample).startedAt(startMs).withSamples(samples);
        }
    }

    /** A store of spans, the names of their keys, and their kind. */
    record Source(SpanContents contents, SpanSink.Names names, Content content) {}

    /** The kind of spans that a source holds. */
    enum Content {
        /** The bricks of the profiler of a step, or of another one. */
        BRICKS,
        /** Bricks of a device's stream. */
        DEVICE,
        /** Tiles, and the events that an application added. */
        FURTHER
    }

    /**
     * Keeps a step that has ended.
     *
     * @param startMs its beginning by the system's clock, ms since 1970, or {@code WallClock.UNKNOWN}
     */
    StepWindow(
            long index,
            StepInfo info,
            long startNs,
            long startMs,
            long endNs,
            long threadId,
            long line,
            Set<Long> others,
            StepParts.Times times,
            boolean isWhole) {
        this.index = index;
        this.info = info;
        this.startNs = startNs;
        this.startMs = startMs;
        this.endNs = Math.max(startNs, endNs);
        this.threadId = threadId;
        this.line = line;
        this.others = others;
        this.threadTimes = times;
        this.isWhole = isWhole;
        this.parts = StepParts.of(startNs, this.endNs, List.of(), times);
    }

    boolean isWanted() {
        return isSlow || isSampled || isMedian;
    }

    boolean keepsSpans() {
        return isSlow || isMedian;
    }

    /** Returns whether some work of a device, or a deferred measurement, of the step is not resolved yet. */
    boolean isUnresolved() {
        return unresolved > 0;
    }

    List<Held> held() {
        return held;
    }

    List<SpanCopy> heldOf(SpanContents contents) {
        return held.stream()
                .filter(each -> each.contents() == contents)
                .map(Held::spans)
                .toList();
    }

    long heldCount() {
        return held.stream().mapToLong(each -> each.spans().size()).sum();
    }

    /** Forgets the spans; their places stay known. */
    void dropSpans() {
        held = List.of();
        work = List.of();
    }

    /** Drops the spans because there is no room for them; the step then has no explanation. */
    void refuseSpans() {
        held = List.of();
        verdict = Verdict.SPANS_MISSING;
    }

    // ---- taking the spans ----

    /**
     * Copies the spans from all buffers again. If a buffer has lost some of them since, an earlier, complete copy
     * stays.
     *
     * @param sources the buffers
     * @param own the bricks of the step's profiler
     * @param stops the stops of the virtual machine
     * @param resolvedNs the latest end of a step of the profiler at which no deferred measurement was pending
     */
    void take(List<Source> sources, SpanContents own, StopLog stops, long resolvedNs) {
        List<Held> found = new ArrayList<>();
        List<Busy> busy = new ArrayList<>();
        int launched = 0;
        int resolved = 0;
        boolean isLosing = false;
        for (Source source : sources) {
            for (SpanCopy copy : source.contents().copiesAfter(startNs)) {
                if (isForeign(copy)) {
                    continue;
                }
                isLosing |= copy.dropped() > 0;
                boolean[] chosen = chosen(copy, source, own);
                boolean isOwn = source.content() == Content.BRICKS && isOwnLine(copy.threadId());
                for (int entry = 0; entry < chosen.length; entry++) {
                    if (chosen[entry]) {
                        launched += copy.kind(entry) == SpanKind.ENQUEUED && source.contents() == own ? 1 : 0;
                        resolved += copy.kind(entry) == SpanKind.DEVICE_SAMPLE ? 1 : 0;
                        addBusy(busy, copy, entry, source, isOwn);
                    }
                }
                SpanCopy kept = copy.select(entry -> chosen[entry]);
                if (kept.size() > 0) {
                    found.add(new Held(source.contents(), kept));
                }
            }
        }
        boolean wasWhole = taken > 0 && verdict != Verdict.SPANS_MISSING;
        taken++;
        if (isLosing && wasWhole) {
            return;
        }
        unresolved = Math.max(endNs > resolvedNs ? 1 : 0, launched - resolved);
        verdict = verdict(isLosing);
        work = List.copyOf(busy);
        held = List.copyOf(found);
        hasAllStops = false;
        addStops(stops);
    }

    /**
     * Computes the places of the step again, with the stops that are known by now: a flight recording reports stops
     * with a delay.
     */
    void addStops(StopLog stops) {
        if (hasAllStops) {
            return;
        }
        knowsStops = stops.isKnown(startNs, endNs);
        hasAllStops = stops.isComplete(startNs, endNs);
        List<Busy> busy = new ArrayList<>(work);
        for (StopLog.Stop stop : stops.within(startNs, endNs)) {
            busy.add(new Busy(Work.STOP, Place.of(SlowSteps.Kind.OTHER_STOP), stop.startNs(), stop.endNs()));
        }
        for (StopLog.Block block : stops.blocked(threadId, startNs, endNs)) {
            busy.add(new Busy(Work.LOCK, Place.lock(block.lock()), block.startNs(), block.endNs()));
        }
        parts = StepParts.of(startNs, endNs, busy, threadTimes);
        readQuota(stops);
    }

    /** Notes how long a CPU quota throttled the thread, once the quota was read after the step. */
    void readQuota(StopLog stops) {
        if (throttledNs < 0 && stops.knowsThrottling(startNs, endNs)) {
            throttledNs = stops.throttledNs(startNs, endNs);
        }
        if (throttledNs >= 0 && parts.throttledNs() < 0) {
            parts = parts.throttled(throttledNs);
        }
    }

    /** Counts its samples again, unless none of them can change. */
    void addSamples(LatestSamples latest) {
        boolean wasComplete = samples.filter(known -> known.state() == SamplesOfStep.State.COMPLETE)
                .isPresent();
        if (hasAllSamples) {
            return;
        }
        if (wasComplete && latest.fromNs() > startNs) {
            hasAllSamples = true;
            return;
        }
        samples = Optional.of(latest.in(startNs, endNs, threadId, others.isEmpty()));
        hasAllSamples = latest.isFinal(startNs, endNs);
    }

    Optional<SamplesOfStep> samples() {
        return samples;
    }

    private Verdict verdict(boolean isLosing) {
        if (isLosing || !isWhole || unresolved > 0) {
            return Verdict.SPANS_MISSING;
        }
        if (line < 0 && others.stream().anyMatch(other -> other < 0)) {
            return Verdict.MIXED_WITH_OTHERS;
        }
        return others.isEmpty() ? Verdict.EXPLAINED : Verdict.BESIDE_OTHER_STEPS;
    }

    /**
     * Returns whether a buffer belongs to the step's thread. Virtual threads write to any free one of their shared
     * buffers, which have negative ids.
     */
    private boolean isOwnLine(long threadId) {
        return threadId == line || (line < 0 && threadId < 0);
    }

    /** Returns whether a buffer belongs to a thread with another step at the same time. */
    private boolean isForeign(SpanCopy copy) {
        return !isOwnLine(copy.threadId()) && others.contains(copy.threadId());
    }

    private boolean[] chosen(SpanCopy copy, Source source, SpanContents own) {
        boolean[] chosen = new boolean[copy.size()];
        boolean isStepThread = source.contents() == own && isOwnLine(copy.threadId());
        for (int entry = 0; entry < chosen.length; entry++) {
            chosen[entry] = switch (copy.kind(entry)) {
                case SPAN, INSTANT, ENQUEUED, DEFERRED, COUNTER, LAYER_CHANGE -> overlaps(copy, entry);
                case LAYER_START, LAYER_END -> isStepThread && overlaps(copy, entry);
                // Only the lines of bricks need it.
                case WORK_FOR -> false;
                // The mark of the end is set a little later than the clock is read.
                case STEP_START -> isStepThread && copy.startNs(entry) == startNs;
                case PASS_END -> isStepThread && copy.startNs(entry) >= endNs && isFirstEnd(copy, entry);
                case DEVICE_SAMPLE -> entry + 1 < chosen.length && isLaunchedHere(copy, entry + 1);
                case LAUNCH ->
                    entry > 0
                            && (copy.kind(entry - 1) == SpanKind.DEVICE_SAMPLE
                                    ? isLaunchedHere(copy, entry)
                                    : chosen[entry - 1]);
            };
        }
        return chosen;
    }

    private boolean overlaps(SpanCopy copy, int entry) {
        return copy.startNs(entry) <= endNs
                && (copy.endNs(entry) > startNs || copy.startNs(entry) == startNs)
                && (copy.startNs(entry) < endNs || copy.endNs(entry) == copy.startNs(entry));
    }

    private boolean isFirstEnd(SpanCopy copy, int entry) {
        for (int before = entry - 1; before >= 0 && copy.startNs(before) >= endNs; before--) {
            if (copy.kind(before) == SpanKind.PASS_END || copy.kind(before) == SpanKind.STEP_START) {
                return false;
            }
        }
        return true;
    }

    private boolean isLaunchedHere(SpanCopy copy, int launch) {
        long launchNs = copy.startNs(launch);
        return copy.kind(launch) == SpanKind.LAUNCH
                && launchNs >= startNs
                && (launchNs < endNs || launchNs == startNs)
                && (isOwnLine(copy.value(launch)) || !others.contains(copy.value(launch)));
    }

    private void addBusy(List<Busy> busy, SpanCopy copy, int entry, Source source, boolean isOwn) {
        Work work =
                switch (copy.kind(entry)) {
                    case SPAN -> source.content() != Content.BRICKS ? null : isOwn ? Work.OWN : Work.OTHER_THREAD;
                    case DEFERRED, DEVICE_SAMPLE -> Work.DEVICE;
                    default -> null;
                };
        // While several steps are under way, the step for which another thread works is unknown.
        if (work != null && (work != Work.OTHER_THREAD || others.isEmpty())) {
            busy.add(new Busy(
                    work, Place.brick(source.names().name(copy.key(entry))), copy.startNs(entry), copy.endNs(entry)));
        }
    }

    // ---- what is known ----

    Facts facts() {
        return new Facts(index, startNs, startMs, endNs, info, verdict, parts, knowsStops, samples);
    }

    long index() {
        return index;
    }

    long startNs() {
        return startNs;
    }

    long durationNs() {
        return endNs - startNs;
    }
}
