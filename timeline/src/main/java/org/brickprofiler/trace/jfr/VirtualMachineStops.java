package org.brickprofiler.trace.jfr;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingStream;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.WaitSource;
import org.brickprofiler.trace.LineLog;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Reports to a timeline of slow steps when this virtual machine had stopped all threads for a reason other than a
 * garbage collection: a thread dump, a deoptimization, a redefinition of classes, and which lock the thread of a step
 * waited for, and how long a CPU quota throttled this process. The quota is unknown if the virtual machine saw no
 * container at its start. On request, the same recording {@linkplain #splitWaits splits the waits of requests}, and
 * samples stacks for the {@linkplain TraceRecorder.Builder#lines lines of bricks}.
 *
 * <pre>{@code
 * VirtualMachineStops stops = VirtualMachineStops.of(recorder); // until stops.close()
 * stops.splitWaits(profiler.requests());
 * }</pre>
 *
 * <p>The stops come from a separate flight recording, which enables only {@code jdk.ExecuteVMOperation},
 * {@code jdk.GCPhasePause}, {@code jdk.ContainerCPUThrottling} once a second, ten times while a quota throttles the
 * process, and, of a millisecond or more, {@code jdk.JavaMonitorEnter} and {@code jdk.ThreadPark} of the JDK's events,
 * and for lines, each 20 ms, {@code jdk.ExecutionSample} and {@code jdk.NativeMethodSample}; if another recording
 * enables {@code jdk.CPUTimeSample}, lines have these samples, too. A stop arrives up to two seconds after its end.
 * Until then the stops of a step are unknown, and the explanation of the step says so. The same holds for steps that
 * began before {@link #of}. The recorder's clock must be {@link System#nanoTime()}, as it is by default. Any thread.
 *
 * <p>The recording has no setting for other events of this library: a setting of one recording that disables an event
 * hides the default of that event from all recordings that have no setting for it.
 */
public final class VirtualMachineStops implements AutoCloseable {

    private static final String OPERATION = "jdk.ExecuteVMOperation";
    private static final String PAUSE = "jdk.GCPhasePause";
    private static final String MONITOR = "jdk.JavaMonitorEnter";
    private static final String PARK = "jdk.ThreadPark";
    private static final String QUOTA = "jdk.ContainerCPUThrottling";

    /** The shortest wait for a lock that is recorded. */
    private static final Duration SHORTEST_BLOCK = Duration.ofMillis(1);

    /** Locks on which a thread parks, without the conditions, on which it waits for something to do. */
    private static final String LOCKS = "java.util.concurrent.locks.";

    private static final String CONDITION = "$ConditionObject";

    /** The most collections that are remembered: those of some seconds. */
    private static final int MOST_PAUSES = 1_024;

    /** How often the quota is read: a reading takes some milliseconds of processor time. */
    private static final Duration QUOTA_PERIOD = Duration.ofSeconds(1);

    /** How often it is read for {@link #WATCHED} after it has throttled the process. */
    private static final Duration WATCHED_PERIOD = Duration.ofMillis(100);

    private static final Duration WATCHED = Duration.ofSeconds(10);

    /** The longest wait for the last stops; the flight recorder hands events over each second. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

    /** The setting that only the recordings of this class have. */
    private static final String ANCHOR_ENABLED = StopAnchor.NAME + "#enabled";

    private final TraceRecorder recorder;
    private final RecordingStream stream;
    private final Runnable anchor = StopAnchor::emit;
    private final WaitSource waits;
    private final @Nullable LineLog lines;

    private final Object closing = new Object();
    private final CountDownLatch hasBegun = new CountDownLatch(1);

    /** When a recording of this class ended, ns; {@link Long#MIN_VALUE} before. Written under the recorder's lock. */
    private volatile long stoppedNs = Long.MIN_VALUE;

    /** Ties the clocks as soon as the recording runs. */
    private final FlightRecorderListener beginning = new FlightRecorderListener() {
        @Override
        public void recordingStateChanged(Recording recording) {
            if (recording.getState() == RecordingState.RUNNING) {
                StopAnchor.emit();
                hasBegun.countDown();
            } else if (recording.getState() == RecordingState.STOPPED && isOwn(recording)) {
                stoppedNs = System.nanoTime();
            }
        }
    };

    /** The latest collections, oldest first. Guarded by this, like the next fields. */
    private final Deque<Pause> pauses = new ArrayDeque<>();

    private boolean isAnchored;

    /** The clock of the recording minus {@link System#nanoTime()}, ns. */
    private long offsetNs;

    /** The largest error of {@link #offsetNs} since the last flush, ns. */
    private long errorNs;

    /** The latest reading of the quota, ns; negative before the first. */
    private long throttledSumNs = -1;

    /** Until when the quota is read more often; null if it is not. */
    private @Nullable Instant watchedUntil;

    private long firstNs;
    private long lastNs;

    /** The time of the latest sample. */
    private long sampledNs = Long.MIN_VALUE;

    private long reportedNs = Long.MIN_VALUE;

    /** Guarded by {@link #closing}. */
    private boolean isClosed;

    /** Whether {@link #close} ends the stream; otherwise it ends by itself. */
    private boolean isEnding;

    private boolean isOver;
    private @Nullable RequestRecorder requests;

    /** A collection, by the clock of the recording. */
    private record Pause(Instant start, Instant end) {}

    private VirtualMachineStops(TraceRecorder recorder, RecordingStream stream) {
        this.recorder = recorder;
        this.stream = stream;
        this.waits = recorder.waitSource("a flight recording");
        this.lines = recorder.lineLog().orElse(null);
    }

    /**
     * Begins to report the stops of this virtual machine, and the threads that waited for a monitor, or for a lock of
     * {@code java.util.concurrent.locks}, for a millisecond or more. The first flight recording of a process takes some
     * hundred milliseconds to start. It enables {@code jdk.JavaMonitorEnter} and {@code jdk.ThreadPark} from a
     * millisecond on and without stack traces; other recordings that have these events enabled get the shorter ones,
     * too.
     *
     * @param recorder the recorder of the timeline
     * @return the handle whose {@link #close} ends the reports
     * @throws IllegalStateException when this virtual machine has no flight recorder
     */
    public static VirtualMachineStops of(TraceRecorder recorder) {
        Objects.requireNonNull(recorder, "recorder");
        VirtualMachineStops stops = new VirtualMachineStops(recorder, new RecordingStream());
        stops.begin();
        return stops;
    }

    /**
     * Splits the waits of the requests that finish from now on, by what this virtual machine states: pauses for
     * collections; threads that waited for a monitor, or for a lock of {@code java.util.concurrent.locks}, for a
     * millisecond or more; the quota of a container; and how long threads of steps waited for a processor, as the
     * timeline of slow steps knows it. The thread that counts is that of the request's next step.
     *
     * @param recorderOfRequests the requests; their clock must be {@link System#nanoTime()}
     */
    public void splitWaits(RequestRecorder recorderOfRequests) {
        Objects.requireNonNull(recorderOfRequests, "recorderOfRequests");
        synchronized (this) {
            if (requests != null) {
                throw new IllegalStateException("a recording splits the waits of one recorder of requests");
            }
            requests = recorderOfRequests;
        }
        recorderOfRequests.setWaitSource(waits);
    }

    /**
     * Returns whether a flight recording is one of this class, which needs no events of bricks, steps and requests.
     *
     * @param recording a recording of this virtual machine
     * @return whether {@link #of} began it
     */
    public static boolean isOwn(Recording recording) {
        return Objects.requireNonNull(recording, "recording").getSettings().containsKey(ANCHOR_ENABLED);
    }

    private void begin() {
        stream.enable(OPERATION).withoutThreshold().withoutStackTrace();
        stream.enable(PAUSE).withoutThreshold();
        stream.enable(StopAnchor.NAME);
        stream.onEvent(StopAnchor.NAME, this::anchored);
        stream.onEvent(PAUSE, this::paused);
        stream.onEvent(MONITOR, this::entered);
        stream.onEvent(PARK, this::parked);
        stream.onEvent(QUOTA, this::throttled);
        stream.enable(QUOTA).withPeriod(QUOTA_PERIOD);
        stream.enable(MONITOR).withThreshold(SHORTEST_BLOCK).withoutStackTrace();
        stream.enable(PARK).withThreshold(SHORTEST_BLOCK).withoutStackTrace();
        stream.onEvent(OPERATION, this::stopped);
        if (lines != null) {
            new StackSamples(lines, this::sampledNs).follow(stream);
            lines.endBy(this::close);
        }
        stream.onFlush(this::flushed);
        stream.onClose(this::over);
        FlightRecorder.addListener(beginning);
        FlightRecorder.addPeriodicEvent(StopAnchor.class, anchor);
        // The stream's own thread would keep the process alive after its application has ended.
        Thread following = new Thread(this::follow, "brick-stops");
        following.setDaemon(true);
        following.start();
        try {
            if (hasBegun.await(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS) && lines != null) {
                lines.sampledFrom(System.nanoTime());
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }

    private void follow() {
        try {
            stream.start();
        } catch (IllegalStateException closedAlready) {
            over();
        }
    }

    // ---- called on the stream's thread, which receives the events of a flush in the order of their ends ----

    private synchronized void anchored(RecordedEvent event) {
        long beforeNs = event.getLong("beforeNs");
        long afterNs = event.getLong("afterNs");
        long newOffsetNs = unixNs(event.getStartTime()) - (beforeNs + (afterNs - beforeNs) / 2);
        errorNs = Math.max(errorNs, (afterNs - beforeNs) / 2);
        if (isAnchored) {
            errorNs = Math.max(errorNs, Math.abs(newOffsetNs - offsetNs));
        }
        offsetNs = newOffsetNs;
        if (!isAnchored) {
            isAnchored = true;
            firstNs = afterNs;
            if (lines != null) {
                lines.sampledFrom(firstNs);
            }
        }
        lastNs = beforeNs;
    }

    private synchronized void paused(RecordedEvent event) {
        if (pauses.size() == MOST_PAUSES) {
            pauses.removeFirst();
        }
        pauses.add(new Pause(event.getStartTime(), event.getEndTime()));
        if (isAnchored) {
            long startNs = clockNs(event.getStartTime());
            recorder.threadsCollected(startNs, Math.max(0, clockNs(event.getEndTime()) - startNs));
        }
    }

    private synchronized void entered(RecordedEvent event) {
        RecordedThread owner = event.getThread("previousOwner");
        String holder = owner == null || owner.getJavaName() == null ? "" : ", held by " + owner.getJavaName();
        blocked(event, "monitor of " + className(event, "monitorClass") + holder);
    }

    private synchronized void parked(RecordedEvent event) {
        String lock = className(event, "parkedClass");
        if (lock.startsWith(LOCKS) && !lock.endsWith(CONDITION)) {
            int inner = lock.indexOf('$');
            blocked(event, inner < 0 ? lock : lock.substring(0, inner));
        }
    }

    private void blocked(RecordedEvent event, String lock) {
        RecordedThread thread = event.getThread();
        if (isAnchored && thread != null) {
            long startNs = clockNs(event.getStartTime());
            long endNs = clockNs(event.getEndTime());
            recorder.threadBlocked(thread.getJavaThreadId(), startNs, Math.max(0, endNs - startNs), lock);
        }
    }

    private static String className(RecordedEvent event, String field) {
        RecordedClass type = event.getClass(field);
        return type == null ? "an unknown class" : type.getName();
    }

    private synchronized void throttled(RecordedEvent event) {
        long sumNs = event.getDuration("cpuThrottledTime").toNanos();
        // Negative if the virtual machine cannot read it.
        if (isAnchored && sumNs >= 0) {
            recorder.quotaRead(clockNs(event.getStartTime()), sumNs);
            watchQuota(event.getStartTime(), sumNs);
        }
    }

    /** Reads the quota more often while it throttles the process. */
    private void watchQuota(Instant at, long sumNs) {
        boolean wasWatched = watchedUntil != null;
        if (throttledSumNs >= 0 && sumNs > throttledSumNs) {
            watchedUntil = at.plus(WATCHED);
        } else if (watchedUntil != null && at.isAfter(watchedUntil)) {
            watchedUntil = null;
        }
        throttledSumNs = sumNs;
        boolean isWatched = watchedUntil != null;
        if (isWatched != wasWatched) {
            stream.enable(QUOTA).withPeriod(isWatched ? WATCHED_PERIOD : QUOTA_PERIOD);
        }
    }

    /** Returns a moment of the recording on the clock {@link System#nanoTime()}. */
    private long clockNs(Instant at) {
        return unixNs(at) - offsetNs;
    }

    private synchronized OptionalLong sampledNs(Instant at) {
        if (!isAnchored) {
            return OptionalLong.empty();
        }
        long atNs = clockNs(at);
        sampledNs = Math.max(sampledNs, atNs);
        return OptionalLong.of(atNs);
    }

    /** Reports an operation, unless it is a collection, which ends after its pause. */
    private synchronized void stopped(RecordedEvent event) {
        Instant start = event.getStartTime();
        Instant end = event.getEndTime();
        boolean isCollection = pauses.stream()
                .anyMatch(pause -> pause.start().isBefore(end) && pause.end().isAfter(start));
        if (isAnchored && event.getBoolean("safepoint") && !isCollection) {
            recorder.virtualMachineStopped(
                    clockNs(start), Duration.between(start, end).toNanos());
        }
    }

    private void flushed() {
        RequestRecorder splitting;
        long untilNs;
        long clockErrorNs;
        synchronized (this) {
            if (!isAnchored || lastNs <= firstNs) {
                return;
            }
            recorder.virtualMachineStopsReported(firstNs, lastNs);
            splitting = requests;
            untilNs = lastNs;
            clockErrorNs = errorNs;
            errorNs = 0;
        }
        if (lines != null) {
            lines.reported(untilNs, System.nanoTime(), clockErrorNs);
        }
        if (splitting != null) {
            splitting.splitWaits(untilNs);
        }
        synchronized (this) {
            reportedNs = untilNs;
            notifyAll();
        }
    }

    /**
     * Joins the last samples if the recording ended by itself, as it does with the virtual machine: all that it took
     * have arrived.
     */
    private void over() {
        long untilNs;
        long clockErrorNs;
        synchronized (this) {
            untilNs = isEnding ? reportedNs : Math.max(reportedNs, Math.max(sampledNs, stoppedNs));
            clockErrorNs = errorNs;
        }
        if (lines != null) {
            lines.reported(untilNs, System.nanoTime(), clockErrorNs);
        }
        synchronized (this) {
            reportedNs = untilNs;
            isOver = true;
            notifyAll();
        }
    }

    private static long unixNs(Instant at) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, at);
    }

    // ---- the end ----

    /**
     * Waits for the stops, waits and samples up to now, at most {@code 3 s}, and ends the reports. What was reported
     * stays; lines state if the last samples are lost. A further call does nothing.
     */
    @Override
    public void close() {
        // At the end of a process, several reports wait here for the last samples.
        synchronized (closing) {
            if (!isClosed) {
                isClosed = true;
                end();
            }
        }
    }

    private void end() {
        awaitReported(StopAnchor.emit());
        if (lines != null) {
            lines.ended();
        }
        FlightRecorder.removePeriodicEvent(anchor);
        FlightRecorder.removeListener(beginning);
        stream.close();
        RequestRecorder split;
        synchronized (this) {
            split = requests;
        }
        if (split != null) {
            split.removeWaitSource(waits);
        }
    }

    private synchronized void awaitReported(long untilNs) {
        long deadlineNs = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (!isOver && reportedNs < untilNs) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    break;
                }
                wait(leftMs);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        isEnding = true;
    }
}
