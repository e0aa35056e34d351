package org.brickprofiler.trace;

import java.util.List;
import java.util.Objects;
import org.brickprofiler.internal.record.SpanBuffer;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.trace.TraceInfo.Device;

/**
 * The track of one stream of a device. Made by {@link TraceRecorder#stream}. Any thread; callers wait for each other,
 * which is acceptable because spans of a device are known after a synchronisation, not in a hot loop. Allocates only
 * for new names and while the track grows to its bound.
 *
 * <p>Times are the host's: ns of the recorder's clock. {@link #clockErrorNs(long)} sets their largest error.
 */
public final class DeviceTrack {

    /** The suffix of a track's name if only durations were known. */
    static final String LAID_END_TO_END = " (laid end to end)";

    private static final long UNKNOWN = -1;

    private final Device device;
    private final String name;
    private final long streamId;
    private final TraceRecorder.EventNames names;
    private final SpanBuffer spans;
    private final SpanBuffer laid;

    private long errorNs;

    DeviceTrack(Device device, String name, long streamId, TraceRecorder.EventNames names, SpanStore store) {
        this.device = device;
        this.name = name;
        this.streamId = streamId;
        this.names = names;
        this.spans = store.newSharedBuffer();
        this.laid = store.newSharedBuffer();
    }

    /**
     * Adds a span whose launch is unknown.
     *
     * @param spanName its name
     * @param category its category
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @param elements elements it processed; of the category Transfer, bytes
     * @throws IllegalArgumentException when a duration or elements are negative, or a name is empty
     */
    public synchronized void span(String spanName, String category, long startNs, long elapsedNs, long elements) {
        Objects.requireNonNull(spanName, "spanName");
        Objects.requireNonNull(category, "category");
        requireSpan(elapsedNs, elements);
        spans.add(SpanKind.SPAN, names.keyOf(spanName, category), startNs, elapsedNs, elements);
    }

    /**
     * Adds a span that a thread of the host launched: a flow connects this span with the span of the same name that
     * began on that thread at that moment.
     *
     * @param spanName its name
     * @param category its category
     * @param startNs when it began, ns on the recorder's clock
     * @param elapsedNs how long it took, ns
     * @param elements elements it processed; of the category Transfer, bytes
     * @param launchThreadId the thread that launched it, by {@link Thread#getId()}
     * @param launchNs when the host's span began, ns on the recorder's clock
     * @throws IllegalArgumentException when a duration or elements are negative, or a name is empty
     */
    public synchronized void launchedSpan(
            String spanName,
            String category,
            long startNs,
            long elapsedNs,
            long elements,
            long launchThreadId,
            long launchNs) {
        Objects.requireNonNull(spanName, "spanName");
        Objects.requireNonNull(category, "category");
        requireSpan(elapsedNs, elements);
        if (spans.add(SpanKind.SPAN, names.keyOf(spanName, category), startNs, elapsedNs, elements)) {
            spans.add(SpanKind.LAUNCH, 0, launchNs, 0, launchThreadId);
        }
    }

    /**
     * Adds a batch of which only the durations are known, as consecutive spans from the submission on. The spans get a
     * separate track, whose name ends with "(laid end to end)".
     *
     * @param submitNs when the batch was submitted, ns on the recorder's clock
     * @param spanNames the names, in the order of execution
     * @param category the category of all
     * @param elapsedNs how long each took, ns
     * @throws IllegalArgumentException when there are not as many names as durations, a duration is negative, or a name
     *     is empty; nothing is added then
     */
    public synchronized void endToEnd(long submitNs, List<String> spanNames, String category, long... elapsedNs) {
        Objects.requireNonNull(category, "category");
        if (spanNames.size() != elapsedNs.length) {
            throw new IllegalArgumentException(spanNames.size() + " names for " + elapsedNs.length + " durations");
        }
        int[] keys = spanNames.stream()
                .mapToInt(spanName -> names.keyOf(spanName, category))
                .toArray();
        for (long elapsed : elapsedNs) {
            requireSpan(elapsed, 0);
        }
        long startNs = submitNs;
        for (int i = 0; i < keys.length; i++) {
            laid.add(SpanKind.SPAN, keys[i], startNs, elapsedNs[i], UNKNOWN);
            startNs += elapsedNs[i];
        }
    }

    /**
     * Sets the largest difference between times of this stream and those of the host. If this is called several times,
     * the largest value counts.
     *
     * @param ns the error, ns
     * @throws IllegalArgumentException when it is negative
     */
    public synchronized void clockErrorNs(long ns) {
        if (ns < 0) {
            throw new IllegalArgumentException("the error of a clock is not negative: " + ns);
        }
        errorNs = Math.max(errorNs, ns);
    }

    private static void requireSpan(long elapsedNs, long elements) {
        if (elapsedNs < 0 || elements < 0) {
            throw new IllegalArgumentException(
                    "a span of " + elapsedNs + " ns and " + elements + " elements: neither may be negative");
        }
    }

    // ---- the recorder ----

    Device device() {
        return device;
    }

    String name() {
        return name;
    }

    long streamId() {
        return streamId;
    }

    synchronized long clockErrorNs() {
        return errorNs;
    }

    /**
     * Returns the identity of the buffer of the spans whose times are known: the object that its copies return, too.
     */
    Object spans() {
        return spans.identity();
    }

    /** Returns the identity of the buffer of the spans of which only the durations are known. */
    Object laid() {
        return laid.identity();
    }
}
