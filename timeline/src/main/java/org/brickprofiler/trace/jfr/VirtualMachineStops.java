package org.brickprofiler.trace.jfr;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import jdk.jfr.FlightRecorder;
import jdk.jfr.FlightRecorderListener;
import jdk.jfr.Recording;
import jdk.jfr.RecordingState;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.brickprofiler.trace.TraceRecorder;

/**
 * Reports to a timeline of slow steps when this virtual machine had stopped all threads for a reason other than a
 * garbage collection: a thread dump, a deoptimization, a redefinition of classes.
 *
 * <pre>{@code
 * VirtualMachineStops stops = VirtualMachineStops.of(recorder); // until stops.close()
 * }</pre>
 *
 * <p>The stops come from a separate flight recording, which enables only {@code jdk.ExecuteVMOperation} and
 * {@code jdk.GCPhasePause} of the JDK's events. A stop arrives up to two seconds after its end. Until then the stops of
 * a step are unknown, and the explanation of the step says so. The same holds for steps that began before {@link #of}.
 * The recorder's clock must be {@link System#nanoTime()}, as it is by default. Any thread.
 *
 * <p>The recording has no setting for other events of this library: a setting of one recording that disables an event
 * hides the default of that event from all recordings that have no setting for it.
 */
public final class VirtualMachineStops implements AutoCloseable {

    private static final String OPERATION = "jdk.ExecuteVMOperation";
    private static final String PAUSE = "jdk.GCPhasePause";

    /** The most collections that are remembered: those of some seconds. */
    private static final int MOST_PAUSES = 1_024;

    /** The longest wait for the last stops; the flight recorder hands events over each second. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(3);

    /** The setting that only the recordings of this class have. */
    private static final String ANCHOR_ENABLED = StopAnchor.NAME + "#enabled";

    private final TraceRecorder recorder;
    private final RecordingStream stream;
    private final Runnable anchor = StopAnchor::emit;

    private final CountDownLatch hasBegun = new CountDownLatch(1);

    /** Ties the clocks as soon as the recording runs. */
    private final FlightRecorderListener beginning = new FlightRecorderListener() {
        @Override
        public void recordingStateChanged(Recording recording) {
            if (recording.getState() == RecordingState.RUNNING) {
                StopAnchor.emit();
                hasBegun.countDown();
            }
        }
    };

    /** The latest collections, oldest first. Guarded by this, like the next fields. */
    private final Deque<Pause> pauses = new ArrayDeque<>();

    private boolean isAnchored;

    /** The clock of the recording minus {@link System#nanoTime()}, ns. */
    private long offsetNs;

    private long firstNs;
    private long lastNs;
    private long reportedNs = Long.MIN_VALUE;
    private boolean isOver;

    /** A collection, by the clock of the recording. */
    private record Pause(Instant start, Instant end) {}

    private VirtualMachineStops(TraceRecorder recorder, RecordingStream stream) {
        this.recorder = recorder;
        this.stream = stream;
    }

    /**
     * Begins to report the stops of this virtual machine. The first flight recording of a process takes some hundred
     * milliseconds to start.
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
        stream.onEvent(OPERATION, this::stopped);
        stream.onFlush(this::flushed);
        stream.onClose(this::over);
        FlightRecorder.addListener(beginning);
        FlightRecorder.addPeriodicEvent(StopAnchor.class, anchor);
        // The stream's own thread would keep the process alive after its application has ended.
        Thread following = new Thread(this::follow, "brick-stops");
        following.setDaemon(true);
        following.start();
        try {
            hasBegun.await(LONGEST_WAIT.toMillis(), TimeUnit.MILLISECONDS);
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
        offsetNs = unixNs(event.getStartTime()) - (beforeNs + (afterNs - beforeNs) / 2);
        if (!isAnchored) {
            isAnchored = true;
            firstNs = afterNs;
        }
        lastNs = beforeNs;
    }

    private synchronized void paused(RecordedEvent event) {
        if (pauses.size() == MOST_PAUSES) {
            pauses.removeFirst();
        }
        pauses.add(new Pause(event.getStartTime(), event.getEndTime()));
    }

    /** Reports an operation, unless it is a collection, which ends after its pause. */
    private synchronized void stopped(RecordedEvent event) {
        Instant start = event.getStartTime();
        Instant end = event.getEndTime();
        boolean isCollection = pauses.stream()
                .anyMatch(pause -> pause.start().isBefore(end) && pause.end().isAfter(start));
        if (isAnchored && event.getBoolean("safepoint") && !isCollection) {
            recorder.virtualMachineStopped(
                    unixNs(start) - offsetNs, Duration.between(start, end).toNanos());
        }
    }

    private synchronized void flushed() {
        if (isAnchored && lastNs > firstNs) {
            recorder.virtualMachineStopsReported(firstNs, lastNs);
            reportedNs = lastNs;
            notifyAll();
        }
    }

    private synchronized void over() {
        isOver = true;
        notifyAll();
    }

    private static long unixNs(Instant at) {
        return ChronoUnit.NANOS.between(Instant.EPOCH, at);
    }

    // ---- the end ----

    /**
     * Waits for the stops up to now, at most {@code 3 s}, and ends the reports. Reported stops stay. A further call
     * does nothing.
     */
    @Override
    public void close() {
        awaitReported(StopAnchor.emit());
        FlightRecorder.removePeriodicEvent(anchor);
        FlightRecorder.removeListener(beginning);
        stream.close();
    }

    private synchronized void awaitReported(long untilNs) {
        long deadlineNs = System.nanoTime() + LONGEST_WAIT.toNanos();
        try {
            while (!isOver && reportedNs < untilNs) {
                long leftMs = TimeUnit.NANOSECONDS.toMillis(deadlineNs - System.nanoTime());
                if (leftMs <= 0) {
                    return;
                }
                wait(leftMs);
            }
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
    }
}
