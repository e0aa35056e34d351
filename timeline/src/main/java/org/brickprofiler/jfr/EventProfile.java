package org.brickprofiler.jfr;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import jdk.jfr.consumer.EventStream;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Steps;
import org.jspecify.annotations.Nullable;

/**
 * The profile of a flight recording of this or another virtual machine, up to the last event that has arrived.
 *
 * <pre>{@code
 * try (RecordingStream stream = new RecordingStream()) {
 *     stream.enable("brick.Execution");
 *     EventProfile profile = EventProfile.of(stream);
 *     stream.startAsync();
 *     ...
 *     ProfileSnapshot snapshot = profile.snapshot();
 * }
 * }</pre>
 *
 * <p>Bricks come from {@code brick.Execution}, steps from {@code brick.Step}. The wall time reaches from the first
 * event to the last. Times to first token and per output token are computed by thread. If several threads drove steps
 * at the same time, the time in which a step was under way is the sum over the threads. An event reaches a stream up to
 * a second after its commit. Any thread.
 */
public final class EventProfile {

    private static final BrickCategory[] CATEGORIES = BrickCategory.values();

    private final Playback bricks = new Playback();

    /** The bricks of each phase. Guarded by {@code this}. */
    private final Map<StepInfo.Phase, Playback> phases = new EnumMap<>(StepInfo.Phase.class);

    /** The steps of each pair of a thread and a profiler. Guarded by {@code this}. */
    private final Map<Driver, Playback> threads = new HashMap<>();

    private @Nullable Instant first;
    private Instant last = Instant.EPOCH;

    /** A thread that drives the steps of a profiler, both by number. Immutable. */
    private record Driver(long thread, int profiler) {}

    private EventProfile() {}

    /**
     * Creates a profile that follows a stream of events.
     *
     * @param stream the stream, not started yet; enable events on it, since {@code brick.Execution} is off by default
     * @return the profile, still empty
     */
    public static EventProfile of(EventStream stream) {
        Objects.requireNonNull(stream, "stream");
        EventProfile profile = new EventProfile();
        stream.onEvent(ExecutionEvent.NAME, profile::addExecution);
        stream.onEvent(StepEvent.NAME, profile::addStep);
        return profile;
    }

    private synchronized void addExecution(RecordedEvent event) {
        long elapsedNs = event.getLong("elapsed");
        cover(event.getEndTime().minusNanos(elapsedNs), event.getEndTime());
        bricks.playExecution(event, elapsedNs);
        // A recording of an earlier version lacks the phase.
        String phase = event.hasField("phase") ? event.getString("phase") : "";
        if (!phase.isEmpty()) {
            phases.computeIfAbsent(phase(phase), of -> new Playback()).playExecution(event, elapsedNs);
        }
    }

    /** Returns a phase by its name, which recordings of earlier versions have in capitals. */
    private static StepInfo.Phase phase(String name) {
        return StepInfo.Phase.valueOf(name.toUpperCase(Locale.ROOT));
    }

    private synchronized void addStep(RecordedEvent event) {
        cover(event.getStartTime(), event.getEndTime());
        RecordedThread thread = event.getThread();
        // A recording of an earlier version does not tell profilers apart.
        int profiler = event.hasField("profiler") ? event.getInt("profiler") : 0;
        threads.computeIfAbsent(new Driver(thread == null ? 0 : thread.getId(), profiler), driver -> new Playback())
                .playStep(event);
    }

    private void cover(Instant start, Instant end) {
        first = first == null || start.isBefore(first) ? start : first;
        last = end.isAfter(last) ? end : last;
    }

    /**
     * Returns the profile of the events that have arrived.
     *
     * @return the snapshot, with the environment of this virtual machine
     */
    public synchronized ProfileSnapshot snapshot() {
        Instant start = first == null ? last : first;
        Steps steps = Steps.NONE;
        for (Playback thread : threads.values()) {
            steps = steps.merge(thread.profiler.snapshot().steps());
        }
        Map<StepInfo.Phase, List<BrickStats>> ofPhases = new EnumMap<>(StepInfo.Phase.class);
        phases.forEach((phase, played) -> ofPhases.put(phase, played.profiler.allBrickStats()));
        return ProfileSnapshot.builder(
                        start, last, Duration.between(start, last).toNanos())
                .tilesOff(true)
                .environments(List.of(Environment.current()))
                .bricks(bricks.profiler.allBrickStats())
                .phases(ofPhases)
                .steps(steps)
                .build();
    }

    /** A profiler to which events are replayed, on the clock of the recording. Guarded by the profile. */
    private static final class Playback {
        /** The profiler's clock, ns since 1970. */
        private long nowNs = unixNs(Instant.now());

        private final BrickProfiler profiler = BrickProfiler.builder()
                .percentiles(true)
                .nvtx(false)
                .clock(() -> nowNs)
                .build();

        Playback() {
            profiler.enable();
        }

        private static long unixNs(Instant at) {
            return ChronoUnit.NANOS.between(Instant.EPOCH, at);
        }

        void playExecution(RecordedEvent event, long elapsedNs) {
            nowNs = unixNs(event.getEndTime());
            profiler.record(
                    keyOf(event.getString("brick"), category(event.getString("category"))),
                    elapsedNs,
                    event.getLong("elements"));
        }

        /**
         * Returns the key of a brick. An event contains a known brick's display name, so a name that is only an alias
         * of a known brick is that of an engine's own brick.
         */
        private int keyOf(String brick, BrickCategory category) {
            boolean isOwn = BrickId.parse(brick)
                    .filter(known -> !known.displayName().equals(brick))
                    .isPresent();
            return isOwn ? profiler.ownBrickKey(brick, category) : profiler.brickKey(brick, category);
        }

        void playStep(RecordedEvent event) {
            nowNs = unixNs(event.getStartTime());
            if (!is(event, "follows")) {
                profiler.abandonPass();
            }
            if (!is(event, "attributed")) {
                // The brick time of a step is unknown if a measurement is pending at its beginning.
                profiler.recordDeferred(BrickId.SAMPLING, nowNs, 0);
            }
            profiler.beginStep(new StepInfo(
                    phase(event.getString("phase")),
                    event.getInt("batch"),
                    event.getLong("prefillTokens"),
                    event.getLong("kvLength"),
                    event.getLong("outputTokens"),
                    event.getLong("draftedTokens")));
            // A recording of an earlier version lacks the duration of the step itself.
            nowNs += event.hasField("elapsed")
                    ? event.getLong("elapsed")
                    : event.getDuration().toNanos();
            profiler.recordAcceptedTokens(event.getLong("acceptedTokens"));
            for (BrickCategory category : CATEGORIES) {
                String field = StepEvent.field(category);
                // A recording of an earlier version lacks the categories that were added since.
                long ns = event.hasField(field) ? event.getLong(field) : 0;
                if (ns > 0) {
                    profiler.record(profiler.brickKey(category.displayName(), category), ns, 0);
                }
            }
            profiler.endPass();
        }

        /** Returns a fact about a step; true for a recording of an earlier version, which lacks the fact. */
        private static boolean is(RecordedEvent event, String field) {
            return !event.hasField(field) || event.getBoolean(field);
        }

        private static BrickCategory category(String name) {
            for (BrickCategory category : CATEGORIES) {
                if (category.displayName().equals(name)) {
                    return category;
                }
            }
            return BrickCategory.OTHER;
        }
    }
}
