package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.trace.read.LaunchSites.Kind;
import org.eclipse.collections.impl.map.mutable.primitive.IntIntHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.jspecify.annotations.Nullable;

/**
 * Finds the projection of a matrix product and the brick of an element-wise kernel if the kernel's name does not show
 * it. If the trace has modules, the module that launched the kernel decides; otherwise, the place of the kernel in the
 * layer decides. One thread.
 *
 * <p><b>The layer.</b> On a stream, the kernels between two attentions are the rest of one layer and the beginning of
 * the next:
 *
 * <pre>{@code
 * attention | output | norm | gate, up, activation, down | norm | query, key, value | attention
 * }</pre>
 *
 * <p>Norms and collectives divide the products into groups. Three groups are expected, as above. If a fourth group
 * precedes the last, it is the head of the model, and the next pass begins after it. Before the first attention only
 * the end of this sequence exists, and after the last attention only its beginning. If a group has a number of products
 * that its part of the layer cannot have, its products stay matrix products. The whole stretch between two attentions
 * stays unchanged if it has another number of groups or any kernel of a backward pass. Norms of queries and keys divide
 * the last group into three.
 *
 * <p><b>Softmax.</b> Without a module or a name that shows its use, the kernels around it decide it: before a product
 * it belongs to an attention, and after a choice, as after the first product behind an attention and its norm, or
 * before a choice, an expert, a norm or an activation to a router, a sampling, a classifier or a loss. If the trace has
 * no fused attention, the softmax of an attention counts as the attention, and the products beside it are its scores
 * and its output.
 *
 * <p><b>Diffusion transformers.</b> Layer norms begin their blocks, and RMS norms lie between the projections of
 * queries, keys and values. Text and image may have products of their own, in any order:
 *
 * <pre>{@code
 * attention | output | norm | output | norm | up, activation, down | norm | up, activation, down | norm | q, k, v, q, k, v | attention
 * attention | up, activation, down | norm | q, k, v | attention
 * }</pre>
 *
 * <p>There, only layer norms divide the products into groups. A group may contain a product that modulates a norm
 * beside the two products of a feed-forward block. That product stays a matrix product, because only the two products
 * of the block directly enclose the activation.
 *
 * <p><b>Lookups of rows.</b> A lookup at the beginning of the stream or after a copy from the host is that of the
 * embedding, unless an attention, a convolution or a copy uses its rows. So is a lookup by the same kernel before the
 * same kernel. Other lookups select states, outputs or experts.
 *
 * <p><b>Memory.</b> For each stream the kernels since the last attention are kept, at most {@value #MOST_KEPT}. In
 * longer stretches, the place of a kernel does not count.
 */
final class LayerPlaces implements Closeable {

    /** The most kernels between two attentions. */
    static final int MOST_KEPT = 4_096;

    private static final int MOST_LAYOUTS = 1_024;
    private static final int LONGEST_SHAPE = 256;

    /** The least number of occurrences of a layout that counts as repeating. */
    private static final int ALIKE = 3;

    /** The most projections before an attention over text and images: query, key and value of each. */
    private static final int MOST_PROJECTIONS = 6;

    /**
     * The largest ratio of the times of the two products of a feed-forward block. They do about the same work; a
     * product of a modulation does far less.
     */
    private static final int MOST_UNEQUAL = 3;

    private static final TraceRule.Target GATE_UP = new TraceRule.Target("GateUpProjection", BrickCategory.FFN);
    /** One product of the concatenated results of an attention and a feed-forward block beside it. */
    private static final TraceRule.Target OUTPUT_DOWN = new TraceRule.Target("OutputDownProjection", BrickCategory.FFN);

    private static final TraceRule.Target ATTENTION_COPY =
            new TraceRule.Target("AttentionCopy", BrickCategory.ATTENTION);
    private static final TraceRule.Target ATTENTION_ELEMENTWISE =
            new TraceRule.Target("AttentionElementwise", BrickCategory.ATTENTION);
    private static final TraceRule.Target FFN_ELEMENTWISE = new TraceRule.Target("FfnElementwise", BrickCategory.FFN);
    /** A softmax whose result no attention uses. */
    private static final TraceRule.Target OTHER_SOFTMAX = new TraceRule.Target("Softmax", BrickCategory.OTHER);

    private static final TraceRule.Target ROW_LOOKUP = new TraceRule.Target("RowLookup", BrickCategory.OTHER);

    private static final TraceRule.Target OTHER_SOFTMAX_BACKWARD =
            new TraceRule.Target("SoftmaxBackward", BrickCategory.OTHER);

    private static final Pattern SOFTMAX = Pattern.compile("soft_?max", Pattern.CASE_INSENSITIVE);

    /** The name of a softmax that is an attention's whatever follows it. */
    private static final Pattern OF_ATTENTION = Pattern.compile("att(ention|n)", Pattern.CASE_INSENSITIVE);

    /** A tanh alone: a kernel of PyTorch, or one by Inductor, which may also add the bias of the product before it. */
    private static final Pattern TANH = Pattern.compile("\\btanh_kernel|^triton_poi_fused_(addmm_)?tanh_\\d+$");

    private static final Pattern TAKES_APART = Pattern.compile("_(neg|cat|stack|sub|cos|sin|slice|unbind)(_|$)");

    private final Kernels kernels;
    private final EventStore placed = new EventStore(EventStore.Order.BY_TIME);
    private final boolean softmaxIsAttention;
    /** The softmax kernels that an attention used, and those that something else used. */
    private final IntHashSet ofAttention = new IntHashSet();

    private final IntHashSet ofOthers = new IntHashSet();
    /** The kernels of lookups in the embedding, each with the kernel after it. */
    private final Set<List<Integer>> embeddings = new HashSet<>();
    /**
     * Whether a runtime orders the kernels by their dependencies only. It may then project the values after the
     * softmax. Inductor does so, too.
     */
    private final boolean isByDependency;

    private final IntObjectHashMap<Stream> streams = new IntObjectHashMap<>();
    private final IntObjectHashMap<LayerPart> parts = new IntObjectHashMap<>();
    private final Map<List<LayerPart>, Integer> layouts = new HashMap<>();
    private final IntIntHashMap stretches = new IntIntHashMap();

    /** The evidence for the brick of an event, and its layout, packed into the detail of a placed event. */
    static final class Evidence {
        static final long BY_RULE = 0;
        static final long BY_MODULE = 1;
        private static final long BY_PLACE = 2;

        private Evidence() {}

        static boolean isPlace(long evidence) {
            return evidence >= BY_PLACE;
        }

        static long inLayout(int layout) {
            return BY_PLACE + layout;
        }

        static int layout(long evidence) {
            return (int) (evidence - BY_PLACE);
        }
    }

    /** An event that is not placed yet. */
    private static final class Item {
        final Execution event;
        final long site;
        final Use use;
        LayerPart part;
        TraceRule.@Nullable Target target;
        long evidence = Evidence.BY_RULE;

        Item(Execution event, long site, LayerPart part, Use use) {
            this.event = event;
            this.site = site;
            this.part = part;
            this.use = use;
        }

        void be(TraceRule.@Nullable Target brick, long why) {
            if (brick != null) {
                target = brick;
                evidence = why;
            }
        }

        boolean isSited() {
            return LaunchSites.leaf(site) != Kind.NONE || LaunchSites.block(site) != Kind.NONE;
        }
    }

    /** The events of a stream since its last attention. */
    private static final class Stream {
        final List<Item> items = new ArrayList<>();
        /** The attention before these events; null before the first one. */
        @Nullable
        Item opening;
        /** The index of the softmax of which the next events decide whether it is an attention's; negative for none. */
        int softmax = -1;
        /** Whether a choice came after the last product, norm and attention. */
        boolean isAfterChoice;
        /** Whether a norm or a collective, and neither an activation nor an expert, came after the last attention. */
        boolean isBeforeFeedForward;

        boolean isAfterActivation;
        /** How many products came after the last norm, collective and attention. */
        int products;
        /** Whether the stream, or copies from the host and nothing else, came before the next event. */
        boolean isAtBegin = true;
        /** The lookup that was the last event; null if that was another kernel. */
        @Nullable
        Item lookup;
        /** Whether that lookup was at the beginning of a pass. */
        boolean isFirstLookup;
        /** Whether there are more events than the limit. */
        boolean isTooLong;
        /** The kernels that were found to be query, key and value projections. */
        final Set<Integer> qkv = new HashSet<>();
        /** How many projections were found before the attention that opens these events. */
        int projections;

        /** Keeps what decides the use of a softmax after an event. */
        void pass(LayerPart part) {
            boolean isEnd = part == LayerPart.PRODUCT || part.separates();
            isAfterChoice = part == LayerPart.CHOICE || (isAfterChoice && !isEnd);
            isAfterActivation |= part.isActivation() || part == LayerPart.EXPERT;
            isBeforeFeedForward = !isAfterActivation && (isBeforeFeedForward || part.separates());
            products = part.separates() ? 0 : products + (part == LayerPart.PRODUCT ? 1 : 0);
        }

        /** Begins the rest of a layer after its attention. */
        void passAttention() {
            isAfterChoice = false;
            isAfterActivation = false;
            isBeforeFeedForward = false;
            products = 0;
        }

        /**
         * Returns whether a softmax after these events is that of a choice: one was made, or the only product since the
         * norm after the attention can be that of a router. An attention has two products before its softmax at least.
         */
        boolean isOfChoice() {
            return isAfterChoice || (opening != null && isBeforeFeedForward && products == 1);
        }
    }

    private LayerPlaces(Kernels kernels, boolean isByDependency) {
        this.kernels = kernels;
        this.isByDependency = isByDependency;
        this.softmaxIsAttention = !kernels.anyIs(TraceRule.Target.of(BrickId.FUSED_ATTENTION));
    }

    /**
     * Places events.
     *
     * @param kernels the kernels of the events; the bricks that are found are added
     * @param sited events with their sites as details
     * @param isByDependency whether a runtime orders the events, by their dependencies only, instead of the program
     * @return the placed events; the caller closes them
     * @throws IOException when a temporary file cannot be written or read
     */
    static LayerPlaces of(Kernels kernels, EventStore sited, boolean isByDependency) throws IOException {
        LayerPlaces places = new LayerPlaces(kernels, isByDependency);
        try {
            EventStore.Cursor events = sited.inOrder();
            for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                places.add(new Execution(event), event.detail());
            }
            for (Stream stream : places.streams.values()) {
                places.lookUp(stream, null);
                places.decide(stream, places.endsInAttention(stream));
                places.end(stream, null);
            }
            return places;
        } catch (IOException | RuntimeException failed) {
            places.close();
            throw failed;
        }
    }

    /** Returns whether any kernel is an attention or a lookup of rows, so that places can be inferred. */
    static boolean mayKnow(Kernels kernels) {
        return kernels.anyIs(TraceRule.Target.of(BrickId.FUSED_ATTENTION))
                || kernels.anyIs(TraceRule.Target.of(BrickId.ATTENTION_SOFTMAX))
                || kernels.anyIs(ROW_LOOKUP);
    }

    /** Returns the same events with their new bricks, and with an {@link Evidence} as details. */
    EventStore events() {
        return placed;
    }

    /**
     * Returns whether so many stretches between attentions have the layout of this evidence that it is no coincidence.
     */
    boolean repeats(long evidence) {
        return Evidence.isPlace(evidence) && stretches.get(Evidence.layout(evidence)) >= ALIKE;
    }

    @Override
    public void close() throws IOException {
        placed.close();
    }

    private void add(Execution event, long site) throws IOException {
        LayerPart part = parts.getIfAbsentPut(event.kernel(), () -> LayerPart.of(kernels.get(event.kernel())));
        Stream stream = streams.getIfAbsentPut(event.row(), Stream::new);
        Item item = new Item(event, site, part, useOf(stream, event, site, part));
        lookUp(stream, item);
        if (stream.softmax >= 0 && isAfterAttention(item)) {
            decide(stream, true);
        } else if (stream.softmax >= 0 && isAfterOtherSoftmax(item)) {
            decide(stream, false);
        }
        if (item.use == Use.ATTENTION) {
            ofAttention.add(event.kernel());
        } else if (item.use == Use.ROUTER) {
            ofOthers.add(event.kernel());
        } else if (item.use == Use.OTHER) {
            ofOthers.add(event.kernel());
            item.be(OTHER_SOFTMAX, Evidence.BY_RULE);
        } else if (isBackwardOfOtherSoftmax(item)) {
            item.be(OTHER_SOFTMAX_BACKWARD, Evidence.BY_RULE);
        }
        if (item.part == LayerPart.ATTENTION || (softmaxIsAttention && item.use == Use.ATTENTION)) {
            decide(stream, false);
            attention(stream, item);
            return;
        }
        if (stream.softmax < 0 && item.use == Use.UNKNOWN) {
            stream.softmax = stream.items.size();
        }
        stream.pass(item.part);
        stream.items.add(item);
        if (stream.items.size() == MOST_KEPT) {
            decide(stream, endsInAttention(stream));
            stream.isTooLong = true;
            end(stream, null);
        }
    }

    private void attention(Stream stream, Item item) throws IOException {
        end(stream, item);
        stream.opening = item;
        stream.isTooLong = false;
        stream.passAttention();
        write(item);
    }

    // ---- lookups of rows ----

    /**
     * Decides whether the lookup before an event is that of the embedding.
     *
     * @param next the event; null at the end of the stream
     */
    private void lookUp(Stream stream, @Nullable Item next) {
        Item lookup = stream.lookup;
        if (lookup != null && (next == null || mayUseEmbedding(next))) {
            List<Integer> pair = List.of(lookup.event.kernel(), next == null ? -1 : next.event.kernel());
            if (stream.isFirstLookup) {
                embeddings.add(pair);
            }
            if (embeddings.contains(pair)) {
                lookup.be(TraceRule.Target.of(BrickId.EMBEDDING), Evidence.inLayout(layout(List.of(lookup.part))));
                lookup.part = LayerPart.EMBEDDING;
            }
        }
        if (next != null) {
            stream.lookup = next.part == LayerPart.LOOKUP ? next : null;
            stream.isFirstLookup = stream.isAtBegin;
            TraceRule.Target brick = kernels.get(next.event.kernel()).target();
            stream.isAtBegin = brick.equals(TraceRule.Target.of(BrickId.HOST_TO_DEVICE))
                    || (stream.isAtBegin && brick.category() == BrickCategory.TRANSFER);
        }
    }

    private boolean mayUseEmbedding(Item item) {
        BrickCategory category = kernels.get(item.event.kernel()).target().category();
        return item.part != LayerPart.COPY
                && category != BrickCategory.ATTENTION
                && category != BrickCategory.CONVOLUTION;
    }

    // ---- the use of a softmax ----

    /** The use of a softmax, before the next events are known. */
    private enum Use {
        /** The event is no softmax. */
        NONE,
        ATTENTION,
        ROUTER,
        /** That of a choice, of experts or of tokens. */
        OTHER,
        UNKNOWN
    }

    /**
     * Returns the use of a softmax by its module, its name, or the events before it. If the order of the events shows
     * nothing, its name made it an attention's.
     */
    private Use useOf(Stream stream, Execution event, long site, LayerPart part) {
        if (part != LayerPart.SOFTMAX) {
            return Use.NONE;
        }
        Kind block = LaunchSites.block(site);
        if (block == Kind.FFN || LaunchSites.leaf(site) == Kind.ROUTER) {
            return Use.ROUTER;
        }
        boolean isOfAttention = block == Kind.ATTENTION
                || OF_ATTENTION.matcher(kernels.get(event.kernel()).name()).find();
        return isOfAttention ? Use.ATTENTION : !isByDependency && stream.isOfChoice() ? Use.OTHER : Use.UNKNOWN;
    }

    /** Returns whether an event uses the softmax before it as an attention does: a product mixes the values. */
    private boolean isAfterAttention(Item item) {
        if (isByDependency) {
            return item.part != LayerPart.CHOICE && item.part != LayerPart.SOFTMAX;
        }
        boolean isOfAttention = kernels.get(item.event.kernel()).target().category() == BrickCategory.ATTENTION;
        return switch (item.part) {
            case PRODUCT -> true;
            case SOFTMAX, BACKWARD -> false;
            default -> isOfAttention;
        };
    }

    /** Returns whether an event shows that the softmax before it is of a router, a sampling, a classifier or a loss. */
    private static boolean isAfterOtherSoftmax(Item item) {
        return switch (item.part) {
            case CHOICE, ROUTER, EXPERT, BACKWARD -> true;
            default -> item.part.separates() || item.part.isActivation();
        };
    }

    /** Returns whether an event is the backward pass of a softmax, and no softmax before it was an attention's. */
    private boolean isBackwardOfOtherSoftmax(Item item) {
        return item.part == LayerPart.BACKWARD
                && softmaxIsAttention
                && ofAttention.isEmpty()
                && !ofOthers.isEmpty()
                && SOFTMAX.matcher(nameOf(item)).find()
                && kernels.get(item.event.kernel()).target().category() == BrickCategory.ATTENTION;
    }

    /** Returns whether a softmax whose use is not in the trace has a kernel that only attentions used before. */
    private boolean endsInAttention(Stream stream) {
        if (stream.softmax < 0 || isByDependency) {
            return isByDependency;
        }
        int kernel = stream.items.get(stream.softmax).event.kernel();
        return ofAttention.contains(kernel) && !ofOthers.contains(kernel);
    }

    /** Decides the use of a softmax that waits for it, and of those behind it. */
    private void decide(Stream stream, boolean isAttention) throws IOException {
        if (stream.softmax < 0) {
            return;
        }
        List<Item> since = stream.items.subList(stream.softmax, stream.items.size());
        (isAttention ? ofAttention : ofOthers).add(since.get(0).event.kernel());
        stream.softmax = -1;
        if (!isAttention) {
            since.stream()
                    .filter(item -> item.use == Use.UNKNOWN)
                    .forEach(item -> item.be(OTHER_SOFTMAX, Evidence.BY_RULE));
        } else if (softmaxIsAttention) {
            List<Item> items = List.copyOf(since);
            since.clear();
            for (Item item : items) {
                if (item.use == Use.UNKNOWN) {
                    attention(stream, item);
                } else {
                    stream.items.add(item);
                }
            }
        }
    }

    /** Places the kernels of a stretch, which ends here. */
    private void end(Stream stream, @Nullable Item closing) throws IOException {
        Stretch stretch = new Stretch(stream, closing);
        if (!stream.isTooLong) {
            stretch.byPlace();
        }
        stretch.bySite();
        stretch.sums();
        stream.projections = stretch.projected;
        writeAll(stream);
    }

    private String nameOf(Item item) {
        return kernels.get(item.event.kernel()).name();
    }

    private void writeAll(Stream stream) throws IOException {
        for (Item item : stream.items) {
            write(item);
        }
        stream.items.clear();
    }

    private void write(Item item) throws IOException {
        Execution event = item.event;
        TraceRule.Target target = item.target;
        int kernel = target == null ? event.kernel() : kernels.as(event.kernel(), target);
        placed.add(
                event.row(),
                event.startNs(),
                event.endNs(),
                event.offset(),
                kernel,
                event.amount(),
                event.marks(),
                item.evidence);
    }

    /** Counts an occurrence of a layout and returns its number; layouts beyond the limit do not repeat. */
    private int layout(List<LayerPart> shape) {
        Integer known = layouts.get(shape);
        if (known == null) {
            if (layouts.size() == MOST_LAYOUTS || shape.size() > LONGEST_SHAPE) {
                return MOST_LAYOUTS;
            }
            known = layouts.size();
            layouts.put(shape, known);
        }
        stretches.addToValue(known, 1);
        return known;
    }

    /** The kernels between two attentions. */
    private final class Stretch {
        private final Stream stream;
        private final List<Item> items;
        private final @Nullable Item opening;
        private final @Nullable Item closing;
        private final List<Group> groups = new ArrayList<>();
        private long evidence;
        /** The projections before the attention that closes the stretch. */
        private int projected;

        Stretch(Stream stream, @Nullable Item closing) {
            this.stream = stream;
            this.items = stream.items;
            this.opening = stream.opening;
            this.closing = closing;
        }

        /**
         * Places kernels by their order, unless the stretch has kernels of a backward pass, whose order differs, or no
         * attention.
         */
        void byPlace() {
            if (items.stream().noneMatch(item -> item.part == LayerPart.BACKWARD)
                    && (opening != null || closing != null)) {
                evidence = Evidence.inLayout(layout(shape()));
                norms();
                boolean isOfDiffusion = projectsBetweenNorms();
                group(isOfDiffusion);
                if (isOfDiffusion) {
                    diffusionLayer();
                } else {
                    layer();
                }
            }
        }

        /** Returns the order of the parts, by which layers are compared. */
        private List<LayerPart> shape() {
            List<LayerPart> shape = new ArrayList<>();
            if (opening != null) {
                shape.add(opening.part);
            }
            for (Item item : items) {
                if (item.part.isSpecific()) {
                    shape.add(item.part);
                }
            }
            if (closing != null) {
                shape.add(closing.part);
            }
            return shape;
        }

        // ---- norms of several kernels ----

        /**
         * Finds norms that consist of several kernels: the mean of squares and its root, and the products with the root
         * and the weights, with the casts around them.
         */
        private void norms() {
            for (int root = 0; root < items.size(); root++) {
                int mean = is(root - 1, LayerPart.ADD) ? root - 2 : root - 1;
                if (items.get(root).part == LayerPart.ROOT && is(mean, LayerPart.REDUCTION)) {
                    int begin = is(mean - 1, LayerPart.ARITHMETIC) ? mean - 1 : mean;
                    begin -= is(begin - 1, LayerPart.COPY) ? 1 : 0;
                    int end = root + 1;
                    while (end <= root + 3 && (is(end, LayerPart.ARITHMETIC) || is(end, LayerPart.COPY))) {
                        end++;
                    }
                    items.subList(begin, end).forEach(item -> item.be(TraceRule.Target.of(BrickId.RMS_NORM), evidence));
                }
            }
        }

        private boolean is(int at, LayerPart part) {
            return at >= 0 && at < items.size() && items.get(at).part == part;
        }

        // ---- by place ----

        private void group(boolean keepsRmsNorms) {
            Group group = new Group(0, false);
            for (int at = 0; at <= items.size(); at++) {
                LayerPart part = at == items.size() ? LayerPart.LAYER_NORM : items.get(at).part;
                if (part.separates() && !(keepsRmsNorms && part.isRmsNorm())) {
                    group.isWhole = at < items.size() || closing != null;
                    if (group.matters()) {
                        groups.add(group);
                    }
                    group = new Group(at + 1, group.isOfNextPass || is(at, LayerPart.EMBEDDING));
                } else {
                    group.add(at, part);
                }
            }
        }

        /**
         * Joins the query, key and value projections, which norms of queries and keys divide into three groups, into
         * one group. The three groups must follow a whole feed-forward block, or the head after it.
         */
        private void joinProjections() {
            int size = groups.size();
            if (closing == null || size < 5) {
                return;
            }
            List<Group> three = groups.subList(size - 3, size);
            Group query = three.get(0);
            boolean areOfOnePass = query.isOfNextPass == three.get(2).isOfNextPass;
            int before = groups.get(size - 4).isLone(0) ? size - 5 : size - 4;
            boolean areLone =
                    query.isLone(0) && three.get(1).isLone(0) && three.get(2).isLone(scoreProducts());
            if (areOfOnePass && areLone && groups.get(before).isWholeFeedForward()) {
                List<Group> others = three.subList(1, 3);
                others.forEach(group -> query.products.addAll(group.products));
                others.clear();
            }
        }

        /** Returns how many products before the closing attention compute its scores: one if it is a softmax. */
        private int scoreProducts() {
            return closing != null && closing.part == LayerPart.SOFTMAX ? 1 : 0;
        }

        private void layer() {
            if (groups.isEmpty()) {
                return;
            }
            joinProjections();
            int last = groups.size() - 1;
            List<Group> ahead = closing == null ? groups : groups.subList(0, last);
            ahead = ahead.stream().filter(group -> !group.isOfNextPass).toList();
            if (opening == null) {
                // Earlier kernels may be missing, and earlier products of the group, too, unless a kernel before it is
                // there.
                if (groups.get(last).begin > 0) {
                    qkv(groups.get(last));
                }
                if (last > 0 && groups.get(last - 1).isWholeFeedForward()) {
                    feedForward(groups.get(last - 1));
                }
            } else if (isLayer(ahead)) {
                output(ahead.get(0));
                if (ahead.size() > 1) {
                    feedForward(ahead.get(1));
                }
                if (ahead.size() > 2) {
                    head(ahead.get(2).products.get(0));
                }
                if (closing != null) {
                    qkv(groups.get(last));
                }
            }
        }

        /**
         * Returns whether the groups can be the output projection, the feed-forward block and the head, or a prefix of
         * these.
         */
        private boolean isLayer(List<Group> ahead) {
            int parts = ahead.size();
            boolean mayBeCutOff = closing == null;
            return switch (parts) {
                case 1 -> mayBeCutOff;
                case 2 -> true;
                case 3 -> ahead.get(2).products.size() == 1;
                default -> false;
            };
        }

        // ---- by place, in a diffusion transformer ----

        /**
         * Returns whether RMS norms lie between the products after the last layer norm: those of queries and keys,
         * whose projections are computed apart.
         */
        private boolean projectsBetweenNorms() {
            int norm = items.size() - 1;
            while (norm >= 0 && !is(norm, LayerPart.LAYER_NORM)) {
                norm--;
            }
            if (closing == null || norm < 0) {
                return false;
            }
            boolean isProjected = false;
            boolean isNormed = false;
            for (Item item : items.subList(norm, items.size())) {
                if (item.part == LayerPart.PRODUCT && isNormed) {
                    return true;
                }
                isProjected |= item.part == LayerPart.PRODUCT;
                isNormed |= isProjected && item.part.isRmsNorm();
            }
            return false;
        }

        private void diffusionLayer() {
            int last = groups.size() - 1;
            boolean isAfterAttention = opening != null;
            boolean hasOutput = false;
            for (Group group : groups.subList(0, last)) {
                if (!group.activations.isEmpty()) {
                    pairs(group, isAfterAttention && !hasOutput);
                    isAfterAttention = false;
                } else if (isAfterAttention && group.products.size() == 1) {
                    items.get(group.products.get(0)).be(TraceRule.Target.of(BrickId.OUTPUT_PROJECTION), evidence);
                    hasOutput = true;
                }
            }
            projections(groups.get(last), MOST_PROJECTIONS);
        }

        /**
         * Names the products before and after each activation. If a product were both, or if the group has more than
         * one further product, none is named.
         *
         * @param isBesideAttention whether the attention has no output projection of its own
         */
        private void pairs(Group group, boolean isBesideAttention) {
            List<Integer> functions =
                    group.activations.stream().filter(this::isPair).toList();
            Set<Integer> paired = new HashSet<>();
            functions.forEach(at -> paired.addAll(List.of(at - 1, at + 1)));
            if (paired.size() < 2 * functions.size() || group.products.size() > paired.size() + 1) {
                return;
            }
            for (int at : functions) {
                boolean isOutput = isBesideAttention && name(at).contains("_cat_");
                items.get(at - 1).be(TraceRule.Target.of(BrickId.UP_PROJECTION), evidence);
                items.get(at + 1).be(isOutput ? OUTPUT_DOWN : TraceRule.Target.of(BrickId.DOWN_PROJECTION), evidence);
            }
        }

        /**
         * Returns whether an activation is that of a feed-forward block between its two products. A SiLU without a
         * factor is not: it belongs to the embedding of a time or to a modulation.
         */
        private boolean isPair(int activation) {
            boolean isEnclosed = is(activation - 1, LayerPart.PRODUCT) && is(activation + 1, LayerPart.PRODUCT);
            if (!isEnclosed
                    || !is(activation, LayerPart.ACTIVATION)
                    || name(activation).contains("silu")) {
                return false;
            }
            long upNs = items.get(activation - 1).event.elapsedNs();
            long downNs = items.get(activation + 1).event.elapsedNs();
            return Math.max(upNs, downNs) <= MOST_UNEQUAL * Math.min(upNs, downNs);
        }

        /**
         * Counts a product after the last layer as the head. The last product of a trace may also be the first one of
         * another layer, if first products use the same kernel. A product of a pooler or a classifier is no head, as
         * its module or the activation after it shows. A softmax right after the head belongs to the sampling.
         */
        private void head(int at) {
            Item product = items.get(at);
            boolean mayBeOfLayer = closing == null && stream.qkv.contains(product.event.kernel());
            if (mayBeHead(product.site) && !mayBeOfLayer && !isActivated(at)) {
                product.be(TraceRule.Target.of(BrickId.LM_HEAD), evidence);
                int end = at + 1;
                while (end < items.size() && !items.get(end).part.separates()) {
                    end++;
                }
                softmax(at + 1, end, BrickId.SAMPLING);
            }
        }

        private void softmax(int from, int to, BrickId brick) {
            for (int at = from; at < to; at++) {
                if (is(at, LayerPart.SOFTMAX)) {
                    items.get(at).be(TraceRule.Target.of(brick), evidence);
                }
            }
        }

        /** Returns whether an activation follows a product directly. A tanh that caps logits follows a division. */
        private boolean isActivated(int product) {
            int at = product + 1;
            while (is(at, LayerPart.PRODUCT_SUM)) {
                at++;
            }
            return at < items.size()
                    && (items.get(at).part.isActivation()
                            || TANH.matcher(name(at)).find());
        }

        private boolean mayBeHead(long site) {
            Kind leaf = LaunchSites.leaf(site);
            Kind block = LaunchSites.block(site);
            return leaf != Kind.OTHER && leaf != Kind.PART_LINEAR && block != Kind.ATTENTION && block != Kind.FFN;
        }

        private void output(Group group) {
            List<Integer> products = group.products;
            boolean isUnfused = opening != null && opening.part == LayerPart.SOFTMAX;
            boolean isFree = isByDependency || (opening != null && LayerPart.isCompiled(nameOf(opening)));
            boolean isValueLate =
                    isFree && isUnfused && stream.projections == 2 && products.size() == 3 && group.activation < 0;
            if (products.size() == (isValueLate ? 3 : isUnfused ? 2 : 1) && !group.hasExperts) {
                int output = products.get(products.size() - 1);
                if (isValueLate) {
                    items.get(products.get(0)).be(TraceRule.Target.of(BrickId.QKV_PROJECTION), evidence);
                }
                if (isUnfused) {
                    int mixing = products.get(products.size() - 2);
                    items.get(mixing).be(TraceRule.Target.of(BrickId.ATTENTION_OUTPUT), evidence);
                }
                items.get(output).be(TraceRule.Target.of(BrickId.OUTPUT_PROJECTION), evidence);
                inAttention(0, output, 0);
                residual(output + 1);
            }
        }

        private void qkv(Group group) {
            projections(group, MOST_PROJECTIONS / 2);
        }

        private void projections(Group group, int most) {
            List<Integer> products = group.products;
            int projections = products.size() - scoreProducts();
            boolean isOfOneOrTwo = projections >= 1 && (projections <= MOST_PROJECTIONS / 2 || projections == most);
            if (!isOfOneOrTwo || group.hasExperts || group.activation >= 0) {
                return;
            }
            projected = projections;
            for (int product : products.subList(0, projections)) {
                items.get(product).be(TraceRule.Target.of(BrickId.QKV_PROJECTION), evidence);
                stream.qkv.add(items.get(product).event.kernel());
            }
            boolean isUnfused = scoreProducts() > 0;
            int scores = isUnfused ? products.get(projections) : items.size();
            if (isUnfused) {
                items.get(scores).be(TraceRule.Target.of(BrickId.ATTENTION_SCORE), evidence);
            }
            beforeAttention(products.get(0) + 1, scores);
        }

        private void feedForward(Group group) {
            List<Integer> products = group.products;
            if (group.hasExperts && products.size() <= 1) {
                products.forEach(product -> items.get(product).be(TraceRule.Target.of(BrickId.MOE_ROUTER), evidence));
                softmax(group.begin, group.lastExpert, BrickId.MOE_ROUTER);
                general(group.begin, group.lastExpert, FFN_ELEMENTWISE);
            } else if (!group.hasExperts && group.isWhole && feedForward(products, group.activation, evidence)) {
                int down = products.get(products.size() - 1);
                for (int at = products.get(0); at < down; at++) {
                    // An activation function neither reduces, copies nor fills.
                    boolean computes =
                            !is(at, LayerPart.REDUCTION) && !is(at, LayerPart.COPY) && !is(at, LayerPart.FILL);
                    general(at, at + 1, computes ? TraceRule.Target.of(BrickId.ACTIVATION) : FFN_ELEMENTWISE);
                }
                residual(down + 1);
            }
        }

        /** Finds the residual addition that follows a block, unless the addition is part of a norm. */
        private void residual(int from) {
            for (int at = from; at < items.size() && items.get(at).part != LayerPart.PRODUCT; at++) {
                Item item = items.get(at);
                if (item.target != null) {
                    return;
                }
                if (item.part == LayerPart.ADD) {
                    item.be(TraceRule.Target.of(BrickId.RESIDUAL_ADD), evidence);
                    return;
                }
            }
        }

        /**
         * Names the kernels between the projections and the attention. If the rotary embedding has no kernel of its
         * own, the arithmetic before the attention, or before the product that computes its scores, is taken for it,
         * provided that this arithmetic can rotate.
         */
        private void beforeAttention(int from, int scores) {
            int rotated = from;
            if (closing != null
                    && items.subList(from, scores).stream().noneMatch(item -> item.part == LayerPart.ROPE)) {
                rotated = scores;
                while (rotated > from && !isArithmetic(rotated - 1)) {
                    rotated--;
                }
                rotated = rotates(from, rotated) ? rotated : from;
            }
            inAttention(from, items.size(), rotated);
        }

        /**
         * Names the kernels between the projections and the attention, or between the attention and its output
         * projection.
         *
         * @param rotated the end of the rotary embedding. Copies after it, and kernels that find the range of numbers,
         *     do not belong to it
         */
        private void inAttention(int from, int to, int rotated) {
            for (int at = from; at < to; at++) {
                boolean isRotation = at < rotated && (isArithmetic(at) || is(at, LayerPart.COPY)) && multiplies(at);
                TraceRule.Target other = is(at, LayerPart.COPY) ? ATTENTION_COPY : ATTENTION_ELEMENTWISE;
                general(at, at + 1, isRotation ? TraceRule.Target.of(BrickId.ROPE_EMBEDDING) : other);
            }
        }

        private boolean isArithmetic(int at) {
            return is(at, LayerPart.ARITHMETIC) || is(at, LayerPart.ADD);
        }

        /**
         * Returns whether kernels can rotate: they multiply twice and add, or a compiled kernel multiplies and takes
         * numbers apart. A bias is only added, and a scale is one factor.
         */
        private boolean rotates(int from, int to) {
            int factors = 0;
            int sums = 0;
            for (int at = from; at < to; at++) {
                if (isArithmetic(at) && LayerPart.isCompiled(name(at))) {
                    if (multiplies(at) && TAKES_APART.matcher(name(at)).find()) {
                        return true;
                    }
                } else {
                    factors += is(at, LayerPart.ARITHMETIC) ? 1 : 0;
                    sums += is(at, LayerPart.ADD) ? 1 : 0;
                }
            }
            return factors >= 2 && sums >= 1;
        }

        /** Returns whether a kernel may multiply: compiled kernels list their operations by name. */
        private boolean multiplies(int at) {
            return !LayerPart.isCompiled(name(at)) || name(at).contains("_mul");
        }

        private String name(int at) {
            return nameOf(items.get(at));
        }

        private void general(int from, int to, TraceRule.Target brick) {
            for (int at = from; at < to; at++) {
                Item item = items.get(at);
                if (item.part.isGeneral && item.target == null) {
                    item.be(brick, evidence);
                }
            }
        }

        /**
         * Names the products of a feed-forward block: three, or two if the activation or a later kernel multiplies the
         * two halves of its input, so that the first product does the work of two.
         *
         * @param activation the index of the activation; negative if there is none
         */
        private boolean feedForward(List<Integer> products, int activation, long why) {
            int size = products.size();
            if (size < 2 || size > 3 || activation < products.get(0) || activation > products.get(size - 1)) {
                return false;
            }
            LayerPart function = items.get(activation).part;
            long factors = items.subList(activation + 1, products.get(size - 1)).stream()
                    .filter(item -> item.part == LayerPart.ARITHMETIC)
                    .count();
            // The first factor of a sigmoid is its own input.
            boolean isGated =
                    function == LayerPart.GATED_ACTIVATION || factors > (function == LayerPart.SIGMOID ? 1 : 0);
            Item first = items.get(products.get(0));
            if (size == 3) {
                first.be(TraceRule.Target.of(BrickId.GATE_PROJECTION), why);
                items.get(products.get(1)).be(TraceRule.Target.of(BrickId.UP_PROJECTION), why);
            } else {
                first.be(isGated ? GATE_UP : TraceRule.Target.of(BrickId.UP_PROJECTION), why);
            }
            items.get(products.get(size - 1)).be(TraceRule.Target.of(BrickId.DOWN_PROJECTION), why);
            return true;
        }

        // ---- by module ----

        void bySite() {
            Map<Long, List<Integer>> feedForwards = new HashMap<>();
            for (int at = 0; at < items.size(); at++) {
                Item item = items.get(at);
                if (item.use == Use.ROUTER) {
                    item.be(TraceRule.Target.of(BrickId.MOE_ROUTER), Evidence.BY_MODULE);
                } else if (item.isSited() && (item.part == LayerPart.PRODUCT || item.part.isGeneral)) {
                    Kind leaf = LaunchSites.leaf(item.site);
                    Kind block = LaunchSites.block(item.site);
                    if (leaf == Kind.HEAD && item.part == LayerPart.PRODUCT && isTransformOfHead(at)) {
                        item.target = null;
                        item.evidence = Evidence.BY_RULE;
                    } else if (leaf.brick != null) {
                        item.be(TraceRule.Target.of(leaf.brick), Evidence.BY_MODULE);
                    } else if (leaf == Kind.GATE_UP && item.part == LayerPart.PRODUCT) {
                        item.be(GATE_UP, Evidence.BY_MODULE);
                    } else if (leaf == Kind.FFN_BEGIN && item.part == LayerPart.PRODUCT) {
                        item.be(TraceRule.Target.of(BrickId.UP_PROJECTION), Evidence.BY_MODULE);
                    } else if (leaf == Kind.FFN_END && item.part == LayerPart.PRODUCT) {
                        item.be(TraceRule.Target.of(BrickId.DOWN_PROJECTION), Evidence.BY_MODULE);
                    } else if (block == Kind.ATTENTION) {
                        inAttention(item);
                    } else if (block == Kind.FFN && item.part == LayerPart.PRODUCT) {
                        feedForwards
                                .computeIfAbsent(LaunchSites.run(item.site), run -> new ArrayList<>())
                                .add(at);
                    } else if (block == Kind.FFN) {
                        item.be(item.target == null ? FFN_ELEMENTWISE : item.target, Evidence.BY_MODULE);
                    } else if (block == Kind.MODEL && leaf == Kind.LINEAR && item.part == LayerPart.PRODUCT) {
                        item.be(TraceRule.Target.of(BrickId.LM_HEAD), Evidence.BY_MODULE);
                    }
                }
            }
            feedForwards.values().forEach(this::inFeedForward);
        }

        /**
         * Returns whether a product in a head transforms the head's input: then an activation of the head and the
         * head's own projection follow, as in {@code RobertaLMHead}.
         */
        private boolean isTransformOfHead(int product) {
            boolean isActivated = false;
            for (Item item : items.subList(product + 1, items.size())) {
                if (LaunchSites.leaf(item.site) == Kind.HEAD) {
                    if (item.part == LayerPart.PRODUCT) {
                        return isActivated;
                    }
                    isActivated |= item.part.isActivation();
                }
            }
            return false;
        }

        /**
         * Places a kernel inside a block of attention. If the attention of the same run of the block came before, a
         * product is the output projection.
         */
        private void inAttention(Item item) {
            Kind leaf = LaunchSites.leaf(item.site);
            if (item.part != LayerPart.PRODUCT) {
                TraceRule.Target general = item.part == LayerPart.COPY ? ATTENTION_COPY : ATTENTION_ELEMENTWISE;
                item.be(item.target == null ? general : item.target, Evidence.BY_MODULE);
            } else if (leaf == Kind.NONE || leaf == Kind.OTHER || leaf == Kind.PART_LINEAR) {
                item.be(item.target, Evidence.BY_MODULE);
            } else {
                boolean isAfter = leaf == Kind.ROW_PARALLEL
                        || (opening != null && LaunchSites.run(opening.site) == LaunchSites.run(item.site));
                item.be(
                        TraceRule.Target.of(isAfter ? BrickId.OUTPUT_PROJECTION : BrickId.QKV_PROJECTION),
                        Evidence.BY_MODULE);
            }
        }

        private void inFeedForward(List<Integer> products) {
            Item first = items.get(products.get(0));
            Item last = items.get(products.get(products.size() - 1));
            long run = LaunchSites.run(first.site);
            int activation = -1;
            boolean hasExperts = false;
            for (int at = 0; at < items.size(); at++) {
                Item item = items.get(at);
                if (LaunchSites.run(item.site) == run) {
                    activation = isActivation(item) ? at : activation;
                    hasExperts |= item.part == LayerPart.EXPERT || item.part == LayerPart.ROUTER;
                }
            }
            if (hasExperts) {
                if (products.size() == 1) {
                    first.be(TraceRule.Target.of(BrickId.MOE_ROUTER), Evidence.BY_MODULE);
                }
            } else if (!feedForward(products, activation, Evidence.BY_MODULE)
                    && LaunchSites.leaf(last.site) == Kind.ROW_PARALLEL) {
                last.be(TraceRule.Target.of(BrickId.DOWN_PROJECTION), Evidence.BY_MODULE);
            }
        }

        /** Returns whether a kernel is an activation, or by its module one of several kernels of an activation. */
        private boolean isActivation(Item item) {
            return item.part.isActivation() || LaunchSites.leaf(item.site) == Kind.ACTIVATION;
        }

        // ---- sums of products ----

        /** Counts a kernel that sums the parts of a product as the product's brick. */
        void sums() {
            Item product = null;
            for (Item item : items) {
                if (item.part == LayerPart.PRODUCT) {
                    product = item;
                } else if (item.part == LayerPart.PRODUCT_SUM && product != null) {
                    item.be(product.target, product.evidence);
                }
            }
        }
    }

    /** The kernels between two norms or collectives. */
    private static final class Group {
        final int begin;
        /** Whether the embedding of the next pass precedes it. */
        final boolean isOfNextPass;

        final List<Integer> products = new ArrayList<>();
        final List<Integer> activations = new ArrayList<>();
        /** The index of the last activation; negative if there is none. */
        int activation = -1;

        int lastExpert;
        boolean hasExperts;
        /** Whether the kernel that ends it is in the trace. */
        boolean isWhole;

        Group(int begin, boolean isOfNextPass) {
            this.begin = begin;
            this.isOfNextPass = isOfNextPass;
        }

        void add(int at, LayerPart part) {
            if (part == LayerPart.PRODUCT) {
                products.add(at);
            } else if (part.isActivation()) {
                activations.add(at);
                activation = at;
            } else if (part == LayerPart.EXPERT || part == LayerPart.ROUTER) {
                hasExperts = true;
                lastExpert = at;
            }
        }

        boolean matters() {
            return !products.isEmpty() || hasExperts;
        }

        /**
         * Returns whether the group has a single product besides those of the attention, no activation and no experts.
         *
         * @param scores how many further products belong to the attention
         */
        boolean isLone(int scores) {
            return products.size() == 1 + scores && activation < 0 && !hasExperts;
        }

        boolean isWholeFeedForward() {
            return hasExperts || (products.size() >= 2 && activation >= 0);
        }
    }
}
