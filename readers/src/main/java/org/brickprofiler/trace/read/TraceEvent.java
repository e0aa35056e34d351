package org.brickprofiler.trace.read;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.UnifiedMap;
import org.jspecify.annotations.Nullable;

/**
 * One event of a trace, independent of the format. A parser fills it, hands it to {@link EventCollector#accept}, and
 * reuses it for the next event. One thread.
 */
final class TraceEvent {

    /** The phase of an event without one. */
    static final char NO_PHASE = 0;

    /** The bytes, elements or number of an event without any. */
    static final long NONE = -1;

    /** The bytes of an event whose bytes are malformed. */
    static final long MALFORMED_BYTES = -2;

    /** The category, in Kineto's terms, of a slice that is drawn around others on a device's row. */
    static final String AROUND = "gpu_user_annotation";

    private static final String MTIA = "mtia_ccp_events";

    // The arguments with a meaning here; this library writes all of them.
    static final String BANDWIDTH = "memory bandwidth (GB/s)";
    static final String BRICK = "brick";
    static final String BYTES = "bytes";
    static final String CATEGORY = "category";
    static final String CORRELATION = "correlation";
    static final String ELEMENTS = "elements";
    static final String DEVICE = "device";
    static final String DEVICE_NS = "device_ns";
    static final String DERIVED = "derived";
    static final String DROPPED_SPANS = "dropped_spans";
    static final String LAYER = "layer";
    static final String RANGE = "range";
    static final String SLOW_STEPS = "slow_steps";
    static final String PHASE = "phase";
    static final String SAMPLE = "sample";
    static final String STREAM = "stream";

    private static final Map<String, BrickCategory> CATEGORIES = Arrays.stream(BrickCategory.values())
            .collect(Collectors.toUnmodifiableMap(BrickCategory::displayName, Function.identity()));

    /** More arguments than real events have; further ones are only counted. */
    private static final int MOST_ARGUMENTS = 1_024;

    /** The arguments that a timeline shows; for all others the key without its value. In no order. */
    final Map<String, String> args = new UnifiedMap<>();

    /** The arguments that the rules of a profile test. A timeline does not read them. In no order. */
    final Map<String, String> ruleArgs = new UnifiedMap<>();

    /** The flows that leave it, and those that end in it, if the format stores them with the event. */
    final LongArrayList flowsOut = new LongArrayList();

    final LongArrayList flowsIn = new LongArrayList();

    /** The phase, in the letters of Chrome's format; {@link #NO_PHASE} if the trace does not state it. */
    char phase;

    String name = "";
    String category = "";
    /** The category that this library gave it, if this library wrote the trace. */
    String ownCategory = "";
    /**
     * The name that this library gave it, if this library wrote the trace under another name for its readers; otherwise
     * null.
     */
    @Nullable
    String ownName;

    String process = "";
    String thread = "";
    /** The identifier that connects events of several rows; empty if there is none. */
    String id = "";
    /** For metadata, the name of a process or a thread. */
    String label = "";
    /** For metadata, the sort index of a thread; {@link #NONE} without one. */
    long sortIndex;
    /** Whether a flow ends in the slice around this moment rather than in the next one. */
    boolean bindsEnclosing;
    /** For a counter, the value, if the format stores it outside the arguments. */
    double value;

    long startNs;
    long elapsedNs;
    long bytes;
    long elements;
    /** The correlation with its launch or its kernels, in another program's trace. */
    long correlation;
    /** The phase that the trace states, if this library wrote it; null if it states none. */
    Span.@Nullable StatedPhase statedPhase;
    /** The phase of a step or a sample, or of the slice around another slice, if this library wrote the trace. */
    Span.StatedPhase spanPhase = Span.StatedPhase.NONE;
    /** Whether the event ran on a device, if this library wrote the trace. */
    boolean onDevice;
    /** Whether the work on the device is the sample of a brick. */
    boolean isDeviceSample;
    /** Whether an argument marks it as drawn around kernels, if no category does. */
    boolean isMarker;
    /**
     * The innermost range around its launch, or its substitute in {@link TraceProfile.Range}; null if none is known.
     */
    @Nullable
    String range;
    /** The number of the step that this annotation of JAX marks; {@link #NONE} if it marks none. */
    long step = NONE;
    /** For a node of ONNX Runtime, the operator; empty if there is none. */
    String operator = "";
    /** For a node of ONNX Runtime, the execution provider. */
    String provider = "";
    /** For a node of ONNX Runtime, the types of its inputs and outputs. */
    String types = "";
    /** The tensors that the operator reads, as far as the trace has them. */
    final TensorShapes inputs = new TensorShapes();
    /** The tensors that the operator writes. */
    final TensorShapes outputs = new TensorShapes();
    /** The offset in the trace. Offsets are unique and increase from event to event. */
    long offset;
    /** A bit for each key that was read. */
    int keys;

    private String kindCategory = "";

    private String askedCategory = "";
    private @Nullable BrickCategory askedBrickCategory;
    private Kind kind = Kind.OTHER;

    boolean repeatedKey;
    /** The number of further fields that are not read. */
    int skipped;

    /** The executions that the event stands for. */
    Sum sum = Sum.ONE;

    /**
     * The executions that an event of a table of sums stands for. Immutable.
     *
     * @param executions their number, 1 or more
     * @param shortestNs the shortest of them, ns; {@link #NONE} if it is not known
     * @param longestNs the longest of them, ns; {@link #NONE} if it is not known
     */
    record Sum(long executions, long shortestNs, long longestNs) {
        /** An event that is one execution. */
        static final Sum ONE = new Sum(1, NONE, NONE);
    }

    /** The kind of a slice by its category. */
    enum Kind {
        /** Work of the device. */
        KERNEL(null),
        /** A copy or a fill by the device. */
        COPY(null),
        /** Work of the device; only the name shows whether it is a copy. */
        DEVICE_WORK(null),
        /** An annotation that is drawn around other slices. */
        ANNOTATION(Omission.Reason.ANNOTATION),
        /** A run of a whole model, which is a step. */
        RUN(Omission.Reason.ANNOTATION),
        /** The loading of a model, before its first run. */
        LOADING(Omission.Reason.LOADING),
        /** The whole recording, or a slice of the program around its operators. */
        WRAPPER(Omission.Reason.WRAPPER),
        /** A frame of Python's stack, around the operators that it calls. */
        PYTHON(Omission.Reason.PYTHON),
        /** A wait, drawn on the device's row. */
        DEVICE_WAIT(Omission.Reason.DEVICE_WAIT),
        /** An operation of a compiled program on the host. It counts alone if no device has work. */
        OPERATION(null),
        /** Any other slice: one of the host, or one in a trace that marks no slice as the device's. */
        OTHER(null);

        private static final Pattern COPY_NAME = Pattern.compile(
                "mem(ory)?(cpy|copy|set|fill)|^Copy(Host|Device)To|^FillBuffer", Pattern.CASE_INSENSITIVE);

        private final Omission.@Nullable Reason ignoredAs;

        Kind(Omission.@Nullable Reason ignoredAs) {
            this.ignoredAs = ignoredAs;
        }

        /**
         * Returns the kind for the categories of Kineto (older versions capitalised some), of AMD's rocprofv3 and ROCm
         * Systems Profiler, of Intel's unitrace, and of the reader of XLA's profiles.
         */
        static Kind of(String category) {
            return switch (category.toLowerCase(Locale.ROOT)) {
                case "kernel", "kernel_dispatch", "rocm_kernel_dispatch" -> KERNEL;
                case "gpu_memcpy", "gpu_memset", "memcpy", "memset", "memory_copy", "rocm_memory_copy" -> COPY;
                case "gpu_op" -> DEVICE_WORK;
                // CUPTI replays the kernels of such a range, so the time of the range is not that of its kernels.
                case "user_annotation", AROUND, "cuda_profiler_range" -> ANNOTATION;
                case "trace" -> WRAPPER;
                case "python_function" -> PYTHON;
                case "cuda_sync", "cuda_event" -> DEVICE_WAIT;
                case XlaName.CATEGORY -> OPERATION;
                default -> OTHER;
            };
        }

        /** Returns the kind of an event of Meta's accelerator. */
        static Kind ofMtia(String name) {
            return switch (name) {
                case "event_wait", "event_record" -> DEVICE_WAIT;
                case "dma_request" -> COPY;
                default -> KERNEL;
            };
        }

        /** Returns the reason for which a slice of this kind never counts; null if it may count. */
        Omission.@Nullable Reason ignoredAs() {
            return ignoredAs;
        }

        boolean isDevice() {
            return this == KERNEL || this == COPY || this == DEVICE_WORK;
        }

        /** Returns whether a name is that of a copy or a fill, if the category does not show it. */
        static boolean isCopy(String name) {
            return COPY_NAME.matcher(name).find();
        }
    }

    /** Clears all fields for the next event. */
    void clear(long atOffset) {
        args.clear();
        ruleArgs.clear();
        flowsOut.clear();
        flowsIn.clear();
        phase = NO_PHASE;
        name = "";
        category = "";
        ownCategory = "";
        ownName = null;
        process = "";
        thread = "";
        id = "";
        label = "";
        sortIndex = NONE;
        bindsEnclosing = false;
        value = Double.NaN;
        startNs = Microseconds.ABSENT;
        elapsedNs = Microseconds.ABSENT;
        bytes = NONE;
        elements = NONE;
        correlation = NONE;
        statedPhase = null;
        spanPhase = Span.StatedPhase.NONE;
        onDevice = false;
        isDeviceSample = false;
        isMarker = false;
        range = null;
        step = NONE;
        operator = "";
        provider = "";
        types = "";
        inputs.clear();
        outputs.clear();
        offset = atOffset;
        keys = 0;
        repeatedKey = false;
        skipped = 0;
        sum = Sum.ONE;
    }

    /** Returns the kind of a slice of this category. The last answer is cached, as each view asks several times. */
    Kind kind() {
        if (category.equals(OnnxRuntime.SESSION)) {
            return OnnxRuntime.kindOf(name);
        }
        if (category.equals(MTIA)) {
            return Kind.ofMtia(name);
        }
        if (!category.equals(kindCategory)) {
            kindCategory = category;
            kind = Kind.of(category);
        }
        return kind;
    }

    /** Keeps an argument that a timeline shows. */
    void keep(String key, String text) {
        args.put(key, text);
    }

    /** Keeps another argument, up to a bound. */
    void keepOther(String key, String text) {
        if (args.size() < MOST_ARGUMENTS) {
            args.put(key, text);
        } else {
            skipped++;
        }
    }

    /** Sets the bit of a key that was read. */
    void sawKey(int bit) {
        repeatedKey |= (keys & bit) != 0;
        keys |= bit;
    }

    /**
     * Returns whether the event is a sample, in a trace of this library. A sample is no step, and has the category of a
     * brick and elements, which no slice of an application has. An event on a device is a sample only if the device
     * timed the brick.
     */
    boolean isSample() {
        return !isStep() && (!onDevice || isDeviceSample) && elements >= 0 && brickCategory() != null;
    }

    /**
     * Returns the category of a brick in a trace of this library; null if the event has no brick's category. The last
     * answer is cached, as each sample asks several times.
     */
    @Nullable
    BrickCategory brickCategory() {
        if (!ownCategory.equals(askedCategory)) {
            askedCategory = ownCategory;
            askedBrickCategory = CATEGORIES.get(ownCategory);
        }
        return askedBrickCategory;
    }

    /** Returns the bytes; {@link #NONE} if the event states none, 0 if they are malformed. */
    long knownBytes() {
        return bytes == MALFORMED_BYTES ? 0 : bytes;
    }

    /** Returns the value of an argument that rules test as a whole number; 0 if it is negative or no number. */
    long ruleNumber(String argument) {
        return Math.max(0, wholeNumberOf(ruleArgs.getOrDefault(argument, "")));
    }

    boolean isStep() {
        return ownCategory.equals(SpanName.STEP);
    }

    /** Returns the value of an argument as a whole number; {@link #NONE} if it is negative or no number. */
    long wholeNumber(String argument) {
        return wholeNumberOf(args.getOrDefault(argument, ""));
    }

    /** Returns a number as a trace writes it; {@link #NONE} if it is negative or no number. */
    static long wholeNumberOf(String text) {
        if (text.isEmpty()) {
            return NONE;
        }
        try {
            return Math.max(NONE, Long.parseLong(text));
        } catch (NumberFormatException noNumber) {
            return NONE;
        }
    }
}
