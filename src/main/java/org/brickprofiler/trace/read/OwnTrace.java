package org.brickprofiler.trace.read;

import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceInfo;
import org.jspecify.annotations.Nullable;

/** How this library's own traces are known, and what their slices are. Stateless; any thread. */
final class OwnTrace {

    static final String CATEGORY = "category";
    static final String ELEMENTS = "elements";
    static final String DEVICE = "device";
    static final String DROPPED = "dropped_spans";

    private static final String NAME = TraceInfo.PRODUCER.substring(0, TraceInfo.PRODUCER.indexOf(' ') + 1);

    private static final Map<String, BrickCategory> CATEGORIES = Arrays.stream(BrickCategory.values())
            .collect(Collectors.toUnmodifiableMap(BrickCategory::displayName, Function.identity()));

    private OwnTrace() {}

    /** Whether a producer is this library, of whatever version. */
    static boolean isProducer(String producer) {
        return producer.startsWith(NAME);
    }

    /** Whether its arguments mean what they mean here. */
    static boolean isUnderstood(String producer) {
        return producer.equals(TraceInfo.PRODUCER);
    }

    /**
     * What a slice is: a brick has a brick's category and elements, which nothing that an application adds has, and
     * lies on the host.
     */
    static SliceKind kind(RawEvent event) {
        if (isStep(event)) {
            return SliceKind.ANNOTATION;
        }
        if (event.onDevice) {
            return SliceKind.OF_DEVICE;
        }
        return event.elements >= 0 && category(event) != null ? SliceKind.BRICK : SliceKind.NO_BRICK;
    }

    static boolean isStep(RawEvent event) {
        return event.ownCategory.equals(SpanName.STEP);
    }

    /** The category of a brick; null where it is none's. */
    static @Nullable BrickCategory category(RawEvent event) {
        return CATEGORIES.get(event.ownCategory);
    }
}
