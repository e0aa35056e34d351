package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.IntPredicate;
import java.util.regex.Pattern;
import org.brickprofiler.BrickId;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds when, in which step and in which modules kernels were launched. Modules are the slices {@code nn.Module:
 * CLASS_NUMBER} that PyTorch's profiler draws with stacks, and annotations of the application that are named after a
 * projection. While the trace is read, modules, annotations and launches are collected. Afterwards each launch gets the
 * modules around it on its thread, and each kernel gets the modules of the launch with the same correlation.
 *
 * <p>All data that grow with the trace are in {@link EventStore}s; the join of launches and kernels by correlation
 * sorts both in one store. One thread.
 */
final class LaunchSites implements Closeable {

    /** The site of a kernel whose module is unknown. */
    static final long UNKNOWN = 0;

    private static final String MODULE = "nn.Module: ";
    private static final int MOST_NAMES = 1 << 16;
    private static final int MOST_OPEN = 1 << 12;
    private static final int KIND_BITS = 6;
    private static final int KIND_MASK = (1 << KIND_BITS) - 1;
    private static final int RUN_SHIFT = 2 * KIND_BITS;

    /** The correlations below this number may be joined for each rank of a merged trace; no profiler counts so far. */
    private static final long MOST_CORRELATIONS = Bounds.MOST_COUNT;

    private static final int CORRELATION_BITS = 53;
    private static final int MOST_RANKS = 1 << 10;

    private final TraceRules rules;
    private final EventStore host = new EventStore(EventStore.Order.BY_TIME);
    private final Map<String, Integer> ranks = new HashMap<>(Map.of("", 0));
    private final Map<String, Scope> modules = new HashMap<>();
    private final Map<String, Scope> annotations = new HashMap<>();
    private final Map<String, Scope> operators = new HashMap<>();
    private final List<Scope> scopes = new ArrayList<>();
    private final Map<Scope, HostSlice> slices = new HashMap<>();
    private long ambiguous;
    private boolean modulesSeen;
    private boolean callsSeen;
    private long ignoredByRule;
    private final EngineSteps engineSteps = new EngineSteps();

    /** A slice of the host that matters for launches: one around them, or a call that gave work to the device. */
    enum SliceType {
        /** A kernel, which is joined with its launch; no slice of the host. */
        KERNEL,
        /** A call that gave work other than a kernel to the device, such as a copy, whose module does not matter. */
        CALL,
        /** A launch of kernels. */
        LAUNCH,
        /** A module, an annotation with a kind, or a slice that rules test. */
        SCOPE,
        /** A step of an engine. */
        STEP;

        private static final SliceType[] ALL = values();

        /** Returns the number of this type in stores; this method alone reads the ordinal. */
        @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
        int index() {
            return ordinal();
        }
    }

    /**
     * A slice of the host by its type. Immutable.
     *
     * @param type its type
     * @param number the number of its scope, or that of its step in {@link EngineSteps}; 0 for a call and a launch
     */
    record HostSlice(SliceType type, int number) {
        private static final HostSlice LAUNCH = new HostSlice(SliceType.LAUNCH, 0);
        private static final HostSlice CALL = new HostSlice(SliceType.CALL, 0);

        private boolean isCall() {
            return type == SliceType.LAUNCH || type == SliceType.CALL;
        }
    }

    /**
     * A module, an annotation or an operator around launches.
     *
     * @param kind its kind; null if it is neither a module nor an annotation with a kind
     * @param launch the conditions of rules on a launch that its name meets
     */
    private record Scope(@Nullable Kind kind, long launch) {
        static final Scope NONE = new Scope(null, 0);
    }

    /** Creates a collector without slices, whose scopes are those that rules test. */
    LaunchSites(TraceRules rules) {
        this.rules = rules;
    }

    /** The kind of a module by the name of its class, or of an annotation by its name. */
    enum Kind {
        /**
         * A module that does not distinguish kernels: a layer, a stack of layers, a model without a head, a wrapper.
         */
        NONE(null),
        /** A part of a model whose class gives no further information: a pooler, a classifier, an adapter. */
        OTHER(null),
        /** A whole block of attention. */
        ATTENTION(null),
        /** A whole feed-forward block, or one of experts. */
        FFN(null),
        /** A whole model with its language-model head. */
        MODEL(null),
        /** A projection whose name does not show which one. */
        LINEAR(null),
        /** A projection in a part of kind {@code OTHER}, or one with another name. */
        PART_LINEAR(null),
        /** The last projection of its block. */
        ROW_PARALLEL(null),
        /** A first projection of its block; in some engines a block has several of them. */
        COLUMN_PARALLEL(null),
        /** The first half of a feed-forward block that is not one module. */
        FFN_BEGIN(null),
        /** The second half of such a block, with the residual addition after it. */
        FFN_END(null),
        /** The gate and the up projection, fused. */
        GATE_UP(null),
        /** The products of experts. */
        EXPERTS(BrickId.MOE_EXPERT),
        ROUTER(BrickId.MOE_ROUTER),
        QKV(BrickId.QKV_PROJECTION),
        OUTPUT(BrickId.OUTPUT_PROJECTION),
        GATE(BrickId.GATE_PROJECTION),
        UP(BrickId.UP_PROJECTION),
        DOWN(BrickId.DOWN_PROJECTION),
        HEAD(BrickId.LM_HEAD),
        /** The head as annotated by the application; an annotation covers nearly everything inside it. */
        ANNOTATED_HEAD(BrickId.LM_HEAD),
        RMS_NORM(BrickId.RMS_NORM),
        LAYER_NORM(BrickId.LAYER_NORM),
        ROPE(BrickId.ROPE_EMBEDDING),
        EMBEDDING(BrickId.EMBEDDING),
        ACTIVATION(BrickId.ACTIVATION);

        private static final Kind[] ALL = values();

        /** A class that is a model for a task: {@code LlamaForCausalLM}, {@code BertForSequenceClassification}. */
        private static final Pattern FOR_A_TASK = Pattern.compile("For[A-Z]");

        /** Models whose own projection is a language-model head; in lower case, like the patterns below. */
        private static final Pattern WITH_HEAD =
                Pattern.compile("causallm|lmheadmodel|forconditionalgeneration|forseq2seqlm");

        /** Modules that hold parts of every kind; a name ends with the noun. */
        private static final Pattern CONTAINER = Pattern.compile("(model|encoder|decoder|encoderlayer|decoderlayer"
                + "|transformer|transformerlayer|transformerblock|stack|sequential|modulelist|moduledict|graphmodule"
                + "|optimizedmodule|dataparallel|wrapper)$");

        /** A layer or a block whose name does not show of what kind. */
        private static final Pattern LAYER = Pattern.compile("(layers?|blocks?)$");

        /** {@code RoPE} as a word: it is also a part of "property". */
        private static final Pattern ROPE_WORD = Pattern.compile("(RoPE|Rope|ROPE|^rope)(?![a-z])");

        /** RMS norms, including those that are called layer norms: {@code T5LayerNorm}. */
        private static final Pattern RMS_NORM_WORD =
                Pattern.compile("rms|(t5|switchtransformers|pix2struct|pop2piano|udop)layernorm");

        private static final Pattern HEAD_WORD = Pattern.compile("lmhead|lmpredictionhead$|logitsprocessor");

        /** A feed-forward block by the names of its parts: {@code T5DenseReluDense}. */
        private static final Pattern FFN_WORD =
                Pattern.compile("mlp|feedforward|ffn|moe(block|layer)?$|ff$|dense[a-z]*dense$");

        private static final Pattern ACTIVATION_WORD = Pattern.compile("silu|gelu|relu|activation");

        /** The brick of all kernels in a module of this kind; null if the kind alone does not determine the brick. */
        final @Nullable BrickId brick;

        Kind(@Nullable BrickId brick) {
            this.brick = brick;
        }

        /**
         * Returns the kind of a module by its class. The noun at the end of a name decides if the name has several:
         * {@code GPT2LMHeadModel} is a model, {@code Qwen3MoeDecoderLayer} is a layer, {@code LayerNormLinear} is a
         * projection.
         */
        static Kind ofClass(String name) {
            String text = name.toLowerCase(Locale.ROOT);
            if (WITH_HEAD.matcher(text).find()) {
                return MODEL;
            }
            if (FOR_A_TASK.matcher(name).find()) {
                return OTHER;
            }
            if (CONTAINER.matcher(text).find()) {
                return NONE;
            }
            Kind part = ofPart(name, text);
            return part == OTHER && LAYER.matcher(text).find() ? NONE : part;
        }

        private static Kind ofPart(String name, String text) {
            if (text.contains("linear") || text.equals("conv1d")) {
                return text.contains("attention") || text.contains("attn")
                        ? ATTENTION
                        : text.contains("bilinear") ? OTHER : ofLinear(text);
            }
            if (text.contains("pool") || text.contains("classif")) {
                return OTHER;
            }
            if (text.contains("norm") && !FFN_WORD.matcher(text).find()) {
                return RMS_NORM_WORD.matcher(text).find() ? RMS_NORM : text.contains("layer") ? LAYER_NORM : OTHER;
            }
            if (text.contains("rotary") || ROPE_WORD.matcher(name).find()) {
                return ROPE;
            }
            if (HEAD_WORD.matcher(text).find()) {
                return HEAD;
            }
            if (text.contains("embedding")) {
                return EMBEDDING;
            }
            if (ACTIVATION_WORD.matcher(text).find() && !FFN_WORD.matcher(text).find()) {
                return text.contains("conv") ? OTHER : ACTIVATION;
            }
            if (text.contains("fusedmoe") || text.contains("experts")) {
                return EXPERTS;
            }
            if (text.contains("router") || text.contains("topkgat") || text.endsWith("moegate")) {
                return ROUTER;
            }
            return ofBlock(text);
        }

        private static Kind ofLinear(String text) {
            if (text.contains("lmhead")) {
                return HEAD;
            }
            return text.contains("qkv")
                    ? QKV
                    : text.contains("mergedcolumn")
                            ? GATE_UP
                            : text.contains("rowparallel") || text.contains("linearallreduce")
                                    ? ROW_PARALLEL
                                    : text.contains("columnparallel") ? COLUMN_PARALLEL : LINEAR;
        }

        /**
         * Returns the kind of a block, or of one of the two halves into which BERT and related models divide theirs.
         */
        private static Kind ofBlock(String text) {
            if (text.endsWith("selfoutput") || text.endsWith("attentionoutput")) {
                return ROW_PARALLEL;
            }
            if (text.contains("attention") || text.contains("attn")) {
                return ATTENTION;
            }
            if (FFN_WORD.matcher(text).find()) {
                return FFN;
            }
            return text.endsWith("intermediate") ? FFN_BEGIN : text.endsWith("output") ? FFN_END : OTHER;
        }

        /**
         * Returns the kind of an annotation such as {@code layers.3.self_attn.q_proj}, by the part after the last
         * point.
         */
        static Kind ofAnnotation(String name) {
            String last = name.substring(name.lastIndexOf('.') + 1).strip();
            Optional<BrickId> brick = BrickId.parse(last);
            return switch (last) {
                case "q_proj", "k_proj", "v_proj" -> QKV;
                case "gate_up_proj" -> GATE_UP;
                case "self_attn", "attention", "attn" -> ATTENTION;
                case "mlp", "ffn", "feed_forward" -> FFN;
                default -> {
                    for (Kind kind : ALL) {
                        if (kind.brick != null && brick.isPresent() && kind.brick == brick.get()) {
                            yield kind == HEAD ? ANNOTATED_HEAD : kind;
                        }
                    }
                    yield NONE;
                }
            };
        }

        /** Returns the number of this kind in stores and sites; this method alone reads the ordinal. */
        @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
        int index() {
            return ordinal();
        }

        boolean isBlock() {
            return this == ATTENTION || this == FFN || this == MODEL;
        }

        /**
         * Returns the kind of a launch in an inner module within an outer one. A projection belongs to the part that
         * contains it: a projection in a pooler, or in the transform before a head's own projection, is neither one of
         * a layer nor the head.
         */
        private static Kind within(Kind inner, Kind outer) {
            return switch (inner) {
                case NONE -> outer;
                case LINEAR -> outer == NONE ? LINEAR : outer == OTHER || outer.hasNoProjection() ? PART_LINEAR : outer;
                case OTHER -> outer == NONE ? OTHER : outer;
                case PART_LINEAR ->
                    outer.brick == null || outer == HEAD || outer.hasNoProjection() ? PART_LINEAR : outer;
                default -> inner;
            };
        }

        private boolean hasNoProjection() {
            return switch (this) {
                case RMS_NORM, LAYER_NORM, ROPE, EMBEDDING, ACTIVATION -> true;
                default -> false;
            };
        }
    }

    // ---- collecting ----

    /**
     * Returns a host slice as a scope or a call; null if the slice is neither a module, an operator that rules test,
     * nor a call.
     *
     * @throws TraceRule.TooCostly when a rule takes too long
     */
    @Nullable
    HostSlice slice(TraceEvent event) {
        if (event.category.equals("python_function")) {
            return event.name.startsWith(MODULE) ? slice(scope(modules, event.name, LaunchSites::kindOfModule)) : null;
        }
        Scope operator = event.correlation >= 0 ? Scope.NONE : scope(operators, event.name, name -> null);
        if (operator.launch() != 0) {
            return slice(operator);
        }
        // The end of a slice may also carry the correlation.
        boolean mayBeKnown = event.correlation >= 0 || event.phase == 'B';
        return !mayBeKnown ? null : event.name.contains("Launch") ? HostSlice.LAUNCH : HostSlice.CALL;
    }

    /**
     * Returns an annotation as a scope or a step of an engine; null if the annotation names neither a projection, a
     * block, a step of an engine, nor anything that rules test.
     *
     * @throws TraceRule.TooCostly when a rule takes too long
     */
    @Nullable
    HostSlice annotation(String name) {
        Optional<EngineSteps.Annotation> step = EngineSteps.annotation(name);
        if (step.isPresent()) {
            return new HostSlice(SliceType.STEP, engineSteps.add(step.get()));
        }
        return slice(scope(annotations, name, text -> {
            Kind kind = Kind.ofAnnotation(text);
            return kind == Kind.NONE ? null : kind;
        }));
    }

    private Scope scope(Map<String, Scope> known, String name, Function<String, @Nullable Kind> kindOf) {
        Scope scope = known.get(name);
        if (scope == null) {
            scope = new Scope(kindOf.apply(name), rules.launchesNamed(name));
            if (known.size() < MOST_NAMES) {
                known.put(name, scope);
            }
        }
        return scope;
    }

    /** Returns a slice of a scope; null for one without a kind that no rule tests. */
    private @Nullable HostSlice slice(Scope scope) {
        HostSlice known = slices.get(scope);
        if (known == null && !scope.equals(Scope.NONE)) {
            known = new HostSlice(SliceType.SCOPE, scopes.size());
            scopes.add(scope);
            slices.put(scope, known);
        }
        return known;
    }

    private static Kind kindOfModule(String name) {
        int end = name.length();
        while (end > 0 && (Character.isDigit(name.charAt(end - 1)) || name.charAt(end - 1) == '_')) {
            end--;
        }
        return Kind.ofClass(name.substring(Math.min(end, MODULE.length()), end));
    }

    /**
     * Adds a complete host slice that is a module, an annotation or a call.
     *
     * @param correlation the correlation that joins it with its kernels; {@link TraceEvent#NONE} if there is none
     * @throws IOException when the temporary file cannot be written
     */
    void add(int row, long startNs, long endNs, long offset, HostSlice slice, long correlation) throws IOException {
        if (slice.isCall() && correlation < 0) {
            return;
        }
        modulesSeen |=
                slice.type() == SliceType.SCOPE && scopes.get(slice.number()).kind() != null;
        callsSeen |= slice.isCall();
        host.add(row, startNs, endNs, offset, slice.type().index(), correlation, 0, slice.number());
    }

    private static SliceType typeOf(EventStore.Event hostSlice) {
        return SliceType.ALL[hostSlice.name()];
    }

    private Scope scopeOf(EventStore.Event hostSlice) {
        return scopes.get((int) hostSlice.detail());
    }

    /** Returns whether any call is known that gave work to a device. */
    boolean anyCall() {
        return callsSeen;
    }

    /** Returns whether any module is known. */
    boolean isAny() {
        return modulesSeen;
    }

    /** Returns the steps of an engine that annotations name. */
    EngineSteps engineSteps() {
        return engineSteps;
    }

    /** Returns the number of kernels that the last join left out, since a rule ignores them by their launch. */
    long ignoredByRule() {
        return ignoredByRule;
    }

    // ---- sites ----

    /**
     * Returns the kind of the innermost module around a kernel's launch. A site packs the kinds of the innermost module
     * and of its block, and the number of the block's run.
     */
    static Kind leaf(long site) {
        return Kind.ALL[(int) (site & KIND_MASK)];
    }

    static Kind block(long site) {
        return Kind.ALL[(int) ((site >> KIND_BITS) & KIND_MASK)];
    }

    /** Returns the run of a block; it is equal for all kernels of one run. */
    static long run(long site) {
        return site >> RUN_SHIFT;
    }

    /** A scope that has not ended. */
    private record Open(Scope scope, long endNs, long offset) {}

    /** A step that has not ended. */
    private record OpenStep(int number, long endNs) {}

    private static long site(Deque<Open> around) {
        Kind leaf = Kind.NONE;
        boolean isInOther = false;
        Kind block = null;
        long run = 0;
        Iterator<Open> outwards = around.descendingIterator();
        while (outwards.hasNext()) {
            Open module = outwards.next();
            Kind kind = module.scope().kind();
            if (kind == null) {
                continue;
            }
            if (kind.isBlock() && (block == null || block == kind)) {
                block = kind;
                run = module.offset();
            } else if (block == null) {
                isInOther |= kind == Kind.NONE || kind == Kind.OTHER;
                leaf = Kind.within(leaf, kind);
            }
        }
        if (block == null) {
            return leaf.index();
        }
        // A projection directly in the model is its last one; inside a part of the model, it can be any.
        leaf = block == Kind.MODEL && leaf == Kind.LINEAR && isInOther ? Kind.NONE : leaf;
        return (run << RUN_SHIFT) | ((long) block.index() << KIND_BITS) | leaf.index();
    }

    /** Returns the conditions on a launch that the scopes around it meet together. */
    private static long launch(Deque<Open> around) {
        long launch = 0;
        for (Open scope : around) {
            launch |= scope.scope().launch();
        }
        return launch;
    }

    /**
     * Returns the same kernels with their sites as details instead of their correlations, as the bricks that rules name
     * for their launches. In place of a device's time they have the number of the innermost step around their launch,
     * and the time since it, as {@link Execution#marksOf} and {@link Execution#withLag} pack them.
     *
     * @param kernels the kernels; their detail is the correlation, negative if they have none
     * @param bricks the kernels by their numbers; those that count as another brick by their launch are added
     * @param firstKeptNs the begin of the first step that is kept
     * @param rows the rows of kernels and launches
     * @param isDevice whether the row with a number is a device's, and has no launch
     * @return a new store, to be closed
     */
    EventStore of(EventStore kernels, Kernels bricks, long firstKeptNs, TraceRows rows, IntPredicate isDevice)
            throws IOException {
        ignoredByRule = 0;
        EventStore sited = new EventStore(EventStore.Order.BY_TIME);
        try (EventStore join = new EventStore(EventStore.Order.BY_TIME)) {
            addLaunches(join, rows, isDevice);
            addKernels(kernels, rows, join);
            EventStore.Cursor pairs = join.inOrder();
            long correlation = -1;
            long site = UNKNOWN;
            long marks = 0;
            long launch = 0;
            long launchNs = Long.MAX_VALUE;
            String process = null;
            boolean isAmbiguous = false;
            for (EventStore.Event event = pairs.next(); event != null; event = pairs.next()) {
                if (event.startNs() != correlation) {
                    correlation = event.startNs();
                    site = UNKNOWN;
                    marks = 0;
                    launch = 0;
                    launchNs = Long.MAX_VALUE;
                    process = null;
                    isAmbiguous = false;
                }
                SliceType type = SliceType.ALL[(int) event.endNs()];
                if (type != SliceType.KERNEL) {
                    long found = Execution.marksOf(event.name(), event.deviceNs() < firstKeptNs);
                    String caller = rows.get(event.row()).process;
                    // Calls of two processes may have the same correlation; only what both show is known.
                    launch = process == null ? event.amount() : launch & event.amount();
                    isAmbiguous |= process != null && !process.equals(caller);
                    marks = process == null || Execution.haveSameLaunch(marks, found)
                            ? found
                            : Execution.marksOf(event.name());
                    marks = isAmbiguous ? Execution.withoutStep(marks) : marks;
                    // A call of the runtime contains that of the driver.
                    launchNs = Math.min(launchNs, event.deviceNs());
                    site = isAmbiguous ? UNKNOWN : type == SliceType.LAUNCH ? event.detail() : site;
                    process = caller;
                } else {
                    ambiguous += isAmbiguous ? 1 : 0;
                    int kernel = bricks.launchedBy(event.name(), correlation < 0 ? 0 : launch);
                    if (kernel == Kernels.IGNORED) {
                        ignoredByRule++;
                        continue;
                    }
                    sited.add(
                            event.row(),
                            event.deviceNs(),
                            event.detail(),
                            event.offset(),
                            kernel,
                            event.amount(),
                            correlation < 0
                                    ? 0
                                    : isAmbiguous ? marks : Execution.withLag(marks, event.deviceNs() - launchNs),
                            correlation < 0 ? UNKNOWN : site);
                }
            }
        }
        return sited;
    }

    /**
     * Returns the same operators of the host with their sites as details: those of the modules and annotations that are
     * open on their threads when they begin.
     *
     * @param operators the operators; their rows are those of the modules
     * @return a new store, to be closed
     */
    EventStore ofHost(EventStore operators) throws IOException {
        EventStore sited = new EventStore(EventStore.Order.BY_TIME);
        IntObjectHashMap<Deque<Open>> rows = new IntObjectHashMap<>();
        EventStore.Cursor modules = host.inOrder();
        EventStore.Cursor events = operators.inOrder();
        EventStore.Event module = modules.next();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            while (module != null && module.startNs() <= event.startNs()) {
                Deque<Open> around = open(rows, module);
                if (typeOf(module) == SliceType.SCOPE && around.size() < MOST_OPEN) {
                    around.addLast(new Open(scopeOf(module), module.endNs(), module.offset()));
                }
                module = modules.next();
            }
            sited.add(
                    event.row(),
                    event.startNs(),
                    event.endNs(),
                    event.offset(),
                    event.name(),
                    event.amount(),
                    event.deviceNs(),
                    site(open(rows, event)));
        }
        return sited;
    }

    /** Returns the modules of a row that are still open when an event begins. */
    private static Deque<Open> open(IntObjectHashMap<Deque<Open>> rows, EventStore.Event event) {
        Deque<Open> around = rows.getIfAbsentPut(event.row(), ArrayDeque::new);
        while (!around.isEmpty() && around.getLast().endNs() <= event.startNs()) {
            around.removeLast();
        }
        return around;
    }

    private void addLaunches(EventStore join, TraceRows rowsOfTrace, IntPredicate isDevice) throws IOException {
        IntObjectHashMap<Deque<Open>> rows = new IntObjectHashMap<>();
        IntObjectHashMap<Deque<OpenStep>> steps = new IntObjectHashMap<>();
        EventStore.Cursor events = host.inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            Deque<Open> around = open(rows, event);
            Deque<OpenStep> stepsAround = steps.getIfAbsentPut(event.row(), ArrayDeque::new);
            while (!stepsAround.isEmpty() && stepsAround.getLast().endNs() <= event.startNs()) {
                stepsAround.removeLast();
            }
            SliceType type = typeOf(event);
            switch (type) {
                case SCOPE -> {
                    if (around.size() < MOST_OPEN) {
                        around.addLast(new Open(scopeOf(event), event.endNs(), event.offset()));
                    }
                }
                case STEP -> {
                    if (stepsAround.size() < MOST_OPEN) {
                        OpenStep step = new OpenStep((int) event.detail(), event.endNs());
                        if (!stepsAround.isEmpty()) {
                            engineSteps.lies(
                                    step.number(), stepsAround.getLast().number());
                        }
                        stepsAround.addLast(step);
                    }
                }
                default -> {
                    if (!isDevice.test(event.row())) {
                        join.add(
                                event.row(),
                                keyOf(event.amount(), rowsOfTrace.get(event.row())),
                                type.index(),
                                event.offset(),
                                stepsAround.isEmpty()
                                        ? 0
                                        : stepsAround.getLast().number(),
                                launch(around),
                                event.startNs(),
                                site(around));
                    }
                }
            }
        }
    }

    /**
     * Adds kernels to a join, which is sorted by correlation. The start and end of a kernel are therefore stored in
     * other columns. The type takes the place of the end: the calls of a correlation come before its kernels, since
     * events with greater ends come first.
     */
    private void addKernels(EventStore kernels, TraceRows rows, EventStore join) throws IOException {
        EventStore.Cursor events = kernels.inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            long correlation = keyOf(event.detail(), rows.get(event.row()));
            long beginsAt = event.startNs();
            long endsAt = event.endNs();
            join.add(
                    event.row(),
                    correlation,
                    SliceType.KERNEL.index(),
                    event.offset(),
                    event.name(),
                    event.amount(),
                    beginsAt,
                    endsAt);
        }
    }

    /** Returns the number that only the launch and the work of one rank share; negative if there is none. */
    private long keyOf(long correlation, TraceRows.Row row) {
        if (correlation < 0 || correlation >= MOST_CORRELATIONS) {
            return correlation;
        }
        String rank = RowNames.rankOf(row.process);
        long number = ranks.size() < MOST_RANKS
                ? ranks.computeIfAbsent(rank, added -> ranks.size())
                : ranks.getOrDefault(rank, 0);
        return number << CORRELATION_BITS | correlation;
    }

    /** Returns the number of kernels whose launch is unknown because several processes have calls with its number. */
    long ambiguous() {
        return ambiguous;
    }

    @Override
    public void close() throws IOException {
        host.close();
    }
}
