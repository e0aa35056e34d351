package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.read.EventCollector.Site;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.LayerPlaces.Evidence;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;

/**
 * A trace of this library. Each sample of a brick counts under its own name with its whole duration, nested bricks
 * included, as in the profiler; nothing else counts. One thread.
 */
final class OwnTrace extends TraceKind {

    private static final int MOST_PHASES = 1_000_000;

    private final EventStore samples = new EventStore(EventStore.Order.BY_TIME);
    private final Kernels bricks = newKernels();

    /** Maps a time to whether a warm-up begins or ends there. */
    private final NavigableMap<Long, Boolean> phases = new TreeMap<>();

    /** Whether a step has a phase. */
    private boolean announcedStepSeen;

    private long withoutKnownPhase;
    private long samplesOfDevices;

    OwnTrace(ProfileBuilder builder) {
        super(builder);
    }

    // ---- collecting ----

    @Override
    @Nullable
    Reason ignores(TraceEvent event) throws TraceFormatException {
        if (event.isStep()) {
            announcedStepSeen |= builder.ownPhase(event) != Span.StatedPhase.NONE;
            addStep(event);
            return Reason.ANNOTATION;
        }
        if (event.onDevice && !event.isDeviceSample) {
            return Reason.DEVICE;
        }
        return event.isSample() ? null : Reason.NO_BRICK;
    }

    private void addStep(TraceEvent event) throws TraceFormatException {
        if (!Microseconds.isTime(event.startNs)) {
            return;
        }
        int row = builder.row(event).number;
        builder.steps.addOfRow(event, row);
        if (event.phase == 'X' && Microseconds.isTime(event.elapsedNs)) {
            head.disturbances.count("step: " + event.name, row, event.startNs, event.startNs + event.elapsedNs);
        }
    }

    @Override
    @Nullable
    Site site(TraceEvent event) {
        return null;
    }

    @Override
    Slice beginSlice(TraceEvent event) throws TraceFormatException {
        int row = builder.row(event).number;
        int brick = bricks.brick(event.name, Objects.requireNonNull(event.brickCategory(), "category"));
        long marks = Execution.withElements(Execution.marksOf(event.spanPhase.number()));
        long elements = Math.max(0, event.elements);
        samplesOfDevices += event.isDeviceSample ? 1 : 0;
        return new Slice(event) {
            @Override
            void endedBy(TraceEvent end) {
                // The begin states everything.
            }

            @Override
            void keep(long endNs) throws IOException {
                samples.add(row, startNs, endNs, offset, brick, elements, marks, 0);
            }
        };
    }

    @Override
    void addOther(TraceEvent event) throws TraceFormatException {
        boolean isPhase = "iIR".indexOf(event.phase) >= 0 && event.ownCategory.equals(SpanName.PHASE);
        if (isPhase && Microseconds.isTime(event.startNs)) {
            if (phases.size() == MOST_PHASES) {
                throw builder.error(event.offset, "there are more than " + MOST_PHASES + " phases");
            }
            phases.put(event.startNs, event.name.equals(SpanName.WARMUP));
        }
    }

    // ---- summing ----

    @Override
    TraceProfile profile() throws IOException {
        long firstKeptNs = builder.steps.firstKeptNs(options.skipSteps());
        ProfileSums sums = new ProfileSums(builder, bricks, null);
        BusyTime busy = new BusyTime();
        EventStore.Cursor events = samples.inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            Execution sample = new Execution(event);
            boolean isKept = sample.isIn(firstKeptNs);
            boolean counts = isKept && !isInWarmup(sample);
            busy.add(sample, counts);
            if (counts) {
                sums.count(sample, sample.elapsedNs(), Work.NONE, phaseOf(sample), Evidence.BY_RULE);
            } else {
                Reason reason = isKept ? Reason.WARM_UP : Reason.SKIPPED_STEP;
                sums.leaveOut(sample, sample.elapsedNs(), TraceEvent.Sum.ONE, reason);
            }
        }
        if (announcedStepSeen) {
            omissions.add(Reason.NO_KNOWN_PHASE, withoutKnownPhase);
        }
        if (head.hasNetTimes) {
            omissions.add(Reason.WITH_MARKS, samplesOfDevices);
        }
        // The time between chosen steps belongs to none of them.
        long wallNs = head.slowSteps().isPresent() ? busy.busyNs() : busy.wallNs();
        return sums.profile(TraceProfile.Counting.BRICKS, wallNs, busy, builder.steps.count())
                .omissions(builder.listOmissions())
                .build();
    }

    private Optional<StepInfo.Phase> phaseOf(Execution sample) {
        if (sample.step() == 0) {
            return Optional.empty();
        }
        Span.StatedPhase phase = Span.StatedPhase.of(sample.step());
        withoutKnownPhase += phase == Span.StatedPhase.UNKNOWN ? 1 : 0;
        return phase.ofStep();
    }

    /**
     * Returns whether a sample belongs to a warm-up that the trace marks. A sample belongs to the phase in which it
     * ended, as in the profiler, which discards everything recorded until a warm-up is over; a sample of length 0 at a
     * mark belongs to the phase that begins there.
     */
    private boolean isInWarmup(Execution sample) {
        if (options.keepWarmup() || phases.isEmpty()) {
            return false;
        }
        boolean isMoment = sample.startNs() == sample.endNs();
        Map.Entry<Long, Boolean> phase =
                isMoment ? phases.floorEntry(sample.endNs()) : phases.lowerEntry(sample.endNs());
        return phase != null && phase.getValue();
    }

    @Override
    public void close() throws IOException {
        samples.close();
    }
}
