package org.brickprofiler.trace;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.jspecify.annotations.Nullable;

/** The entries of one buffer that belong to one track. Immutable. */
final class TrackPart {

    private static final long UNKNOWN = -1;

    private static final Set<SpanKind> ON_ITS_OWN_TRACK = Collections.unmodifiableSet(
            EnumSet.of(SpanKind.SPAN, SpanKind.ENQUEUED, SpanKind.DEVICE_SAMPLE, SpanKind.INSTANT));

    private final SpanCopy copy;
    private final int[] names;
    private final IntPredicate belongs;
    private final boolean valueIsElements;

    /**
     * The entries at which the thread began to work for another layer, of which {@link #layersAfter} has the numbers;
     * null if there are none.
     */
    private final int @Nullable [] changes;

    private final int[] layersAfter;
    private final int layerAtFirst;

    private TrackPart(SpanCopy copy, int[] names, IntPredicate belongs, boolean valueIsElements) {
        this.copy = copy;
        this.names = names;
        this.belongs = belongs;
        this.valueIsElements = valueIsElements;
        int[] found = IntStream.range(0, copy.size())
                .filter(entry -> copy.kind(entry) == SpanKind.LAYER_CHANGE)
                .toArray();
        changes = found.length == 0 ? null : found;
        layersAfter = Arrays.stream(found)
                .map(entry -> LayerToken.layerAfter(copy.value(entry)))
                .toArray();
        layerAtFirst = found.length == 0 ? LayerToken.OWN_LAYER : LayerToken.layerBefore(copy.value(found[0]));
    }

    /**
     * Returns the spans and instants of the buffer's own thread or stream.
     *
     * @param copy a copy of the buffer
     * @param names the index of each key, not copied
     */
    static TrackPart ofThread(SpanCopy copy, int[] names) {
        return new TrackPart(copy, names, entry -> ON_ITS_OWN_TRACK.contains(copy.kind(entry)), true);
    }

    /**
     * Returns the measurements whose end became known at a synchronisation.
     *
     * @param copy a copy of the buffer
     * @param names the index of each key, not copied
     */
    static TrackPart deferred(SpanCopy copy, int[] names) {
        return new TrackPart(copy, names, entry -> copy.kind(entry) == SpanKind.DEFERRED, true);
    }

    /**
     * Returns the spans and instants whose value is the number of their track.
     *
     * @param copy a copy of the buffer
     * @param names the index of each key, not copied
     * @param number the number of the track
     */
    static TrackPart numbered(SpanCopy copy, int[] names, long number) {
        return new TrackPart(
                copy,
                names,
                entry -> ON_ITS_OWN_TRACK.contains(copy.kind(entry)) && copy.value(entry) == number,
                false);
    }

    SpanCopy copy() {
        return copy;
    }

    boolean has(int entry) {
        return belongs.test(entry);
    }

    int name(int entry) {
        return names[copy.key(entry)];
    }

    /**
     * Returns the layer that the thread worked for when it wrote an entry, or {@link LayerToken#OWN_LAYER} for its own.
     */
    int layer(int entry) {
        int[] at = changes;
        if (at == null) {
            return LayerToken.OWN_LAYER;
        }
        int change = Arrays.binarySearch(at, entry);
        int last = change >= 0 ? change : -change - 2;
        return last < 0 ? layerAtFirst : layersAfter[last];
    }

    /** Returns the phase in which the profiler counted a sample. */
    Span.StatedPhase phase(int entry) {
        return Span.StatedPhase.of(copy.phase(entry));
    }

    long elements(int entry) {
        return valueIsElements ? copy.value(entry) : UNKNOWN;
    }
}
