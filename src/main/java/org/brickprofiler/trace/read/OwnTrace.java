package org.brickprofiler.trace.read;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.jspecify.annotations.Nullable;

/** How this library's own traces are known, and what their slices are. Stateless; any thread. */
final class OwnTrace {

    static final String CATEGORY = "category";
    static final String ELEMENTS = "elements";
    static final String DEVICE = "device";
    static final String DROPPED = "dropped_spans";
    static final String LAYER = "layer";
    static final String SAMPLE = "sample";
    static final String DEVICE_NS = "device_ns";
    static final String STREAM = "stream";
    static final String DERIVED = "derived";

    /** The producers of Chrome traces whose arguments are understood. */
    static final List<String> CHROME = List.of(ChromeWriter.PRODUCER);

    /** The same of Perfetto traces; those of the second leave out what goes without saying. */
    static final List<String> PERFETTO = List.of("brick-profiler 1", PerfettoWriter.PRODUCER);

    private static final String NAME = "brick-profiler ";

    private static final Map<String, BrickCategory> CATEGORIES = Arrays.stream(BrickCategory.values())
            .collect(Collectors.toUnmodifiableMap(BrickCategory::displayName, Function.identity()));

    private OwnTrace() {}

    /** Whether a producer is this library, of whatever version. */
    static boolean isProducer(String producer) {
        return producer.startsWith(NAME);
    }

    /** Whether a producer leaves out what goes without saying: one element of a brick, the layer of the slice around. */
    static boolean leavesOut(String producer) {
        return producer.equals(PerfettoWriter.PRODUCER);
    }

    /**
     * What a slice is: a brick has a brick's category and elements, which nothing that an application adds has, and lies
     * on the host, or on the device that timed it.
     */
    static SliceKind kind(RawEvent event) {
        if (isStep(event)) {
            return SliceKind.ANNOTATION;
        }
        if (event.onDevice && !event.isDeviceSample) {
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
