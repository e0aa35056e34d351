package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.ToIntFunction;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.WorkModel;
import org.brickprofiler.WorkModel.LlamaConfig;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.agent.WeaveRule.ModelNumber;
import org.brickprofiler.agent.WeaveRule.Product;
import org.brickprofiler.internal.record.TimerToken;
import org.jspecify.annotations.Nullable;

/**
 * Records the work of woven bricks. The work of a product is recorded with each sample; the work of the known bricks of
 * a model at the end of each pass. A pass is a step or a part of one. If the work of one sample of a brick is not
 * known, the brick's work is unknown as a whole, because a rate over all samples would be too low.
 *
 * <p><b>A model</b> gives the work of a whole pass. A norm or a residual is credited with the share of its elements,
 * another brick of a layer with the share of the layers in which it had a sample, and any other brick with its whole
 * work, once. Samples on other threads count for the step that is under way, if it is the only one. Samples before the
 * first step have no work and no phase, and the work of their bricks is known in each phase.
 *
 * <p><b>Working sets.</b> A step uses the weights of each of its products once, so the working set of each product is
 * the weights of all products of the step.
 *
 * <p>Any thread. A product allocates nothing; a pass of a model allocates some kilobytes.
 */
final class WovenWork {

    /** A number that could not be read. */
    static final long UNREAD = Long.MIN_VALUE;

    /** Two operations, a multiplication and an addition, per weight and vector. */
    private static final long FLOPS = 2;

    /** The bytes of the largest number. */
    private static final int LARGEST = Long.BYTES;

    /** Above this, sums would overflow: the numbers are wrong. */
    private static final double MOST = 1L << 62;

    private static final String SWITCHED_OFF = "recording was switched off within a step or sample";

    private static final ModelNumber[] NUMBERS = ModelNumber.values();

    /** The bricks that occur once in a pass of the model. */
    private static final Set<BrickId> ONCE = EnumSet.of(BrickId.EMBEDDING, BrickId.LM_HEAD, BrickId.SAMPLING);

    /** The bricks of {@link #ONCE} whose work the model states for one token of a pass. */
    private static final Set<BrickId> OF_ONE_TOKEN = EnumSet.of(BrickId.LM_HEAD, BrickId.SAMPLING);

    /** The bricks that occur several times in a layer; they are counted by the elements of their samples. */
    private static final List<BrickId> REPEATED = List.of(BrickId.RMS_NORM, BrickId.RESIDUAL_ADD);

    /** The bricks that occur once in a layer. */
    private static final Set<BrickId> PER_LAYER = EnumSet.of(
            BrickId.QKV_PROJECTION,
            BrickId.ROPE_EMBEDDING,
            BrickId.KV_CACHE_UPDATE,
            BrickId.ATTENTION_SCORE,
            BrickId.ATTENTION_SOFTMAX,
            BrickId.ATTENTION_OUTPUT,
            BrickId.FUSED_ATTENTION,
            BrickId.OUTPUT_PROJECTION,
            BrickId.GATE_PROJECTION,
            BrickId.UP_PROJECTION,
            BrickId.ACTIVATION,
            BrickId.DOWN_PROJECTION,
            BrickId.MOE_ROUTER,
            BrickId.MOE_EXPERT);

    private final BrickProfiler profiler;
    private final AgentLosses losses;

    private final ToIntFunction<WeaveRule> keyOf;

    /**
     * The rules with a product, by the number of the product; below, their products and the keys of their bricks.
     * Products of later rules have higher numbers: methods that began before a change of rules use the earlier ones.
     */
    private WeaveRule[] rules = {};

    private Product[] products = {};
    private int[] keys = {};

    /** The keys of the bricks for which rules state products. */
    private Set<Integer> stated = Set.of();

    private boolean hasModel;

    /** The bricks that a model knows, by key; below, groups of them as bits by key. */
    private final @Nullable BrickId[] known = new BrickId[Long.SIZE];

    private final long once;
    private final long ofOneToken;
    private final long repeated;
    private final long sampling;

    /** By key, the names of bricks with an annotation, which states no work, although rules for the brick do. */
    private final Map<Integer, String> missing = new ConcurrentHashMap<>();

    /** By key, the names of bricks whose work was not known for a sample. */
    private final Map<Integer, String> unknown = new ConcurrentHashMap<>();

    /** The bricks of woven rules whose work the model gives, as bits by key. Guarded by this. */
    private long ofModel;

    /**
     * The bricks of {@link #ofModel} that have not become unknown since the latest {@link #woven} or {@link #discard}.
     */
    private volatile long modelled;

    /** The steps under way. Guarded by this. */
    private final List<PassWork> underWay = new ArrayList<>();

    /** Whether a step has begun. */
    private volatile boolean hasSteps;

    /** The only step under way; null if there is none, or several. */
    private volatile @Nullable PassWork only;

    private final ThreadLocal<Place> places;

    /** The current work of a thread. Used by that thread only. */
    private static final class Place {
        final PassWork pass;
        final BitSet products = new BitSet();
        boolean inStep;

        /** The bytes of the weights that the step has used. */
        long streamedBytes;

        /** The latest model and its numbers. */
        final long[] numbers = new long[NUMBERS.length];

        boolean isFused;

        @Nullable
        WorkModel model;

        /** The work of the latest model to sample one token. */
        @Nullable
        Work sampling;

        /** By key, the share of a brick's work in a whole pass that the ending pass has done. */
        final double[] shares = new double[Long.SIZE];

        Place(long once) {
            pass = new PassWork(once);
        }
    }

    /** The bricks of one pass; other threads may record some of them. */
    private static final class PassWork {
        final long[] numbers = new long[NUMBERS.length];
        boolean hasNumbers;
        long tokens;
        long kvLength;

        /**
         * As bits by key, the bricks that had a sample in the current layer or outside of layers. Written under the
         * lock of this.
         */
        volatile long seen;

        // Guarded by this.
        private final long once;
        private final int[] times = new int[Long.SIZE];
        private long again;
        private boolean inLayer;
        private int layers;

        final AtomicLongArray elements = new AtomicLongArray(REPEATED.size());

        PassWork(long once) {
            this.once = once;
        }

        void begin(long ofTokens, long atLength) {
            tokens = ofTokens;
            kvLength = atLength;
            clear();
            hasNumbers = false;
        }

        synchronized void clear() {
            Arrays.fill(times, 0);
            again = 0;
            layers = 0;
            for (int i = 0; i < REPEATED.size(); i++) {
                elements.set(i, 0);
            }
            seen = 0;
        }

        synchronized void layer(boolean begins) {
            inLayer = begins;
            layers += begins ? 1 : 0;
            seen &= once;
        }

        /**
         * Counts the first sample of a brick in a layer or in the pass; returns false if a brick of a layer ran outside
         * of layers.
         */
        synchronized boolean see(int key, long bit) {
            if ((seen & bit) == 0) {
                seen |= bit;
                times[key]++;
            }
            return inLayer || (bit & once) != 0;
        }

        /** Notes that a brick that occurs once in a pass had another sample. */
        synchronized void seeAgain(long bit) {
            again |= bit;
        }

        synchronized boolean isSeenAgain(int key) {
            return (again & (1L << key)) != 0;
        }

        synchronized int times(int key) {
            return times[key];
        }

        synchronized int layers() {
            return layers;
        }
    }

    /**
     * Creates a recorder of the work that rules state.
     *
     * @param rules the rules
     * @param keys returns the key of a rule's brick
     * @param profiler the profiler
     * @param losses counts work that is not known
     */
    WovenWork(List<WeaveRule> rules, ToIntFunction<WeaveRule> keys, BrickProfiler profiler, AgentLosses losses) {
        this.profiler = profiler;
        this.losses = losses;
        keyOf = keys;
        state(rules);
        once = bits(ONCE);
        ofOneToken = bits(OF_ONE_TOKEN);
        repeated = bits(REPEATED);
        sampling = bits(Set.of(BrickId.SAMPLING));
        bits(PER_LAYER);
        places = ThreadLocal.withInitial(() -> new Place(once));
    }

    private void state(List<WeaveRule> ofFile) {
        // Not by a stream, whose toList() would have the virtual machine generate a class at the start.
        List<WeaveRule> stating = new ArrayList<>(ofFile);
        stating.removeIf(rule -> rule.product().isEmpty());
        int size = Math.max(nextProduct(), 1 + lastNumber(stating));
        WeaveRule[] moreRules = Arrays.copyOf(rules, size);
        Product[] moreProducts = Arrays.copyOf(products, size);
        int[] moreKeys = Arrays.copyOf(keys, size);
        Set<Integer> keysOfStating = new HashSet<>();
        for (WeaveRule rule : stating) {
            Product product = rule.product().orElseThrow();
            keysOfStating.add(keyOf.applyAsInt(rule));
            moreRules[product.number()] = rule;
            moreProducts[product.number()] = product;
            moreKeys[product.number()] = keyOf.applyAsInt(rule);
        }
        rules = moreRules;
        products = moreProducts;
        keys = moreKeys;
        stated = Set.copyOf(keysOfStating);
        hasModel = ofFile.stream().anyMatch(rule -> rule.kind() == Kind.MODEL);
    }

    private static int lastNumber(List<WeaveRule> stating) {
        int last = -1;
        for (WeaveRule rule : stating) {
            last = Math.max(last, rule.product().orElseThrow().number());
        }
        return last;
    }

    /** Returns the number from which other rules count their products. */
    int nextProduct() {
        return rules.length;
    }

    /**
     * Records the work that other rules state. They must be woven after this call, which lets all threads see it, and
     * their products must have numbers from {@link #nextProduct()} on.
     */
    synchronized void change(List<WeaveRule> ofFile) {
        state(ofFile);
        ofModel = 0;
        modelled = 0;
        missing.clear();
        unknown.clear();
        underWay.clear();
        only = null;
        hasSteps = false;
    }

    private long bits(Collection<BrickId> bricks) {
        long bits = 0;
        for (BrickId brick : bricks) {
            int key = profiler.brickKey(brick.displayName());
            known[key] = brick;
            bits |= 1L << key;
        }
        return bits;
    }

    /**
     * Notes that a rule for a brick was woven.
     *
     * @param key the key of the brick
     */
    synchronized void woven(WeaveRule rule, int key) {
        boolean isStated = stated.contains(key);
        if (isStated && rule.product().isEmpty()) {
            // Only an annotation can lack what other rules of its brick state.
            if (missing.put(key, nameOf(rule)) == null) {
                sayMissing(nameOf(rule));
            }
        } else if (hasModel && !isStated && key >= 0 && key < Long.SIZE && known[key] != null) {
            ofModel |= 1L << key;
            modelled = ofModel;
        }
    }

    /** Marks the work of some bricks of the model as unknown from now on. */
    private void setUnknown(long ofBricks, String reason) {
        List<String> names = new ArrayList<>();
        synchronized (this) {
            modelled &= ~ofBricks;
            for (long rest = ofBricks; rest != 0; rest &= rest - 1) {
                int key = Long.numberOfTrailingZeros(rest);
                String name = known(key).displayName();
                unknown.put(key, name);
                names.add(name);
            }
        }
        losses.unknownWork("the work of " + String.join(", ", names) + " is unknown: " + reason);
    }

    private BrickId known(int key) {
        return Objects.requireNonNull(known[key], "brick");
    }

    /** Returns the name of a rule's brick in the profile. */
    static String nameOf(WeaveRule rule) {
        return BrickId.parse(rule.brick()).map(BrickId::displayName).orElse(rule.brick());
    }

    // ---- products ----

    /**
     * Records the work of a sample that begins, of a brick that multiplies a matrix by vectors.
     *
     * @param number the product's number
     * @param rows rows of the matrix
     * @param columns columns of the matrix
     * @param vectors the number of vectors
     * @param weight bytes of a block of weights
     */
    void product(int number, long rows, long columns, long vectors, long weight) {
        Product product = products[number];
        int key = keys[number];
        double size = (double) product.times() * rows * columns;
        double inAndOut = (double) product.times() * vectors * ((double) rows + columns);
        double most = Math.max(FLOPS * size * vectors, Math.max(size, inAndOut) * LARGEST);
        if (rows < 0 || columns < 0 || vectors < 0 || weight < 0 || most > MOST) {
            refuse(number, rows, columns, vectors, weight);
            return;
        }
        long weights = product.times() * rows * columns;
        long weightBytes = bytes(weights, weight);
        long bytes = weightBytes + bytes(vectors * product.times() * (rows + columns), product.activation());
        profiler.recordWork(key, FLOPS * weights * vectors, bytes);
        Place place = places.get();
        if (place.inStep) {
            place.streamedBytes += weightBytes;
            place.products.set(number);
        }
    }

    private static long bytes(long numbers, long size) {
        return numbers / WeightTypes.BLOCK * size + numbers % WeightTypes.BLOCK * size / WeightTypes.BLOCK;
    }

    private void refuse(int number, long rows, long columns, long vectors, long weight) {
        String name = nameOf(rules[number]);
        unknown.put(keys[number], name);
        boolean isUnread = rows == UNREAD || columns == UNREAD || vectors == UNREAD || weight == UNREAD;
        String reason = products[number].shape().isEmpty()
                ? "its rule states none"
                : isUnread
                        ? "a number could not be read"
                        : "a matrix of " + rows + " x " + columns + " and " + vectors + " vectors";
        losses.unknownWork("the work of " + name + " is unknown: " + reason + ", line " + rules[number].line());
    }

    // ---- steps and layers ----

    /**
     * Notes that a step of the calling thread begins.
     *
     * @param tokens tokens that it processes; if negative, the work that a model gives is unknown
     * @param kvLength positions that its key-value cache holds; if negative, the work that a model gives is unknown
     */
    void stepBegins(long tokens, long kvLength) {
        Place place = places.get();
        place.inStep = true;
        place.streamedBytes = 0;
        place.products.clear();
        if (hasModel) {
            if (!hasSteps) {
                hasSteps = true;
            }
            place.pass.begin(tokens, kvLength);
            synchronized (this) {
                underWay.remove(place.pass);
                underWay.add(place.pass);
                only = underWay.size() == 1 ? place.pass : null;
            }
        }
    }

    /** Ends the step of the calling thread; the profiler's step must still be under way. */
    void stepEnds() {
        Place place = places.get();
        if (!place.inStep) {
            return;
        }
        place.inStep = false;
        if (hasModel && !profiler.isEnabled()) {
            long lost = shares(place);
            if (lost != 0) {
                setUnknown(lost, SWITCHED_OFF);
            }
        }
        for (int i = place.products.nextSetBit(0); i >= 0; i = place.products.nextSetBit(i + 1)) {
            profiler.recordWork(keys[i], new Work(0, 0, place.streamedBytes));
        }
        if (hasModel) {
            record(place);
            synchronized (this) {
                underWay.remove(place.pass);
                only = underWay.size() == 1 ? underWay.get(0) : null;
            }
        }
    }

    void layerBegins() {
        layer(true);
    }

    void layerEnds() {
        layer(false);
    }

    private void layer(boolean begins) {
        if (hasModel) {
            Place place = places.get();
            if (place.inStep) {
                place.pass.layer(begins);
            }
        }
    }

    /**
     * Discards the samples so far, for example those of the warm-up; samples of steps under way count from now on. Call
     * this method after {@link AgentLosses#discard}, because it counts annotations without work as losses again.
     */
    synchronized void discard() {
        underWay.forEach(PassWork::clear);
        unknown.clear();
        modelled = ofModel;
        missing.values().forEach(this::sayMissing);
    }

    private void sayMissing(String brick) {
        losses.unknownWork("the work of " + brick + " is unknown: an annotation states none");
    }

    // ---- models ----

    /**
     * Sets a number of the model of the calling thread's pass. The first number begins a new pass, except in a step
     * that has no numbers yet.
     */
    void model(int number, long value) {
        Place place = places.get();
        if (!place.inStep) {
            return;
        }
        PassWork pass = place.pass;
        if (number == 0 && pass.hasNumbers) {
            record(place);
            pass.clear();
        }
        pass.hasNumbers = true;
        if (number == ModelNumber.TOKENS.index()) {
            pass.tokens = value == ModelNumber.TOKENS.unlessGiven ? pass.tokens : value;
        } else if (number == ModelNumber.KV.index()) {
            pass.kvLength = value == ModelNumber.KV.unlessGiven ? pass.kvLength : value;
        } else {
            pass.numbers[number] = value;
        }
    }

    /**
     * Counts a sample of a brick that has stopped.
     *
     * @param timer its timer, which may be void
     * @param elements its elements
     */
    void stopped(long timer, long elements) {
        int key = TimerToken.key(timer);
        if (timer != TimerToken.VOID && !profiler.isEnabled()) {
            lost(key);
        } else {
            sample(key, elements);
        }
    }

    private void sample(int key, long elements) {
        long bit = key >= 0 && key < Long.SIZE ? modelled & (1L << key) : 0;
        if (bit == 0) {
            return;
        }
        Place place = places.get();
        Work between = place.sampling;
        if (!place.inStep && (bit & sampling) != 0 && between != null) {
            // The thread samples the token that its step has output.
            profiler.recordWork(key, between);
            return;
        }
        PassWork pass = place.inStep ? place.pass : only;
        if (pass == null && !hasSteps) {
            // The agent may have started within a step. These samples have no phase, and work is known by phase.
            return;
        }
        if (pass == null) {
            setUnknown(bit, "it ran outside of steps, or on another thread while several steps were under way");
        } else if ((bit & repeated) != 0) {
            pass.elements.addAndGet(REPEATED.indexOf(known[key]), elements);
        } else if ((pass.seen & bit) != 0) {
            if ((bit & ofOneToken) != 0) {
                pass.seeAgain(bit);
            }
        } else if (!pass.see(key, bit)) {
            setUnknown(bit, "it ran outside of layers");
        }
    }

    /** Marks a brick's work as unknown: a sample was not recorded, since recording was switched off meanwhile. */
    private void lost(int key) {
        if (stated.contains(key)) {
            for (int i = 0; i < products.length; i++) {
                if (products[i] != null && keys[i] == key) {
                    unknown.put(key, nameOf(rules[i]));
                    losses.unknownWork("the work of " + nameOf(rules[i]) + " is unknown: " + SWITCHED_OFF);
                    return;
                }
            }
        } else if (key >= 0 && key < Long.SIZE && (modelled & (1L << key)) != 0) {
            setUnknown(1L << key, SWITCHED_OFF);
        }
    }

    /** Records the work of the pass that ends. */
    private void record(Place place) {
        long bricks = shares(place);
        if (bricks == 0) {
            return;
        }
        Map<BrickId, Work> works;
        try {
            works = works(place);
        } catch (IllegalArgumentException impossible) {
            setUnknown(bricks, String.valueOf(impossible.getMessage()));
            return;
        }
        for (long rest = bricks; rest != 0; rest &= rest - 1) {
            int key = Long.numberOfTrailingZeros(rest);
            record(place, key, works.get(known(key)));
        }
    }

    /** Records the work of a brick in the pass that ends. */
    private void record(Place place, int key, @Nullable Work whole) {
        if (whole == null) {
            setUnknown(1L << key, "the model has no such brick");
        } else if (place.pass.tokens > 1 && place.pass.isSeenAgain(key)) {
            setUnknown(
                    1L << key,
                    "it had several samples in a pass of several tokens, and the model knows it for one token:"
                            + " state its work:");
        } else {
            double share = place.shares[key];
            long flops = Math.round(whole.flops() * share);
            long bytes = Math.round(whole.bytes() * share);
            profiler.recordWork(key, new Work(flops, bytes, whole.workingSetBytes()));
        }
    }

    /**
     * Computes for each brick the share of a whole pass's work that the pass has done; returns the bricks with a share
     * above 0, as bits by key.
     */
    private long shares(Place place) {
        double layers = Math.max(1, place.pass.numbers[ModelNumber.LAYERS.index()]);
        double tokens = Math.max(1, place.pass.tokens);
        long bricks = 0;
        for (long rest = modelled; rest != 0; rest &= rest - 1) {
            int key = Long.numberOfTrailingZeros(rest);
            double share = share(place.pass, key, layers, tokens);
            place.shares[key] = share;
            bricks |= share > 0 ? 1L << key : 0;
        }
        return bricks;
    }

    private double share(PassWork pass, int key, double layers, double tokens) {
        long bit = 1L << key;
        if ((bit & repeated) != 0) {
            // Two in each layer, and a norm at the end.
            int index = REPEATED.indexOf(known[key]);
            return pass.elements.get(index) / tokens / (2 * layers + (index == 0 ? 1 : 0));
        }
        int times = pass.times(key);
        return (bit & once) != 0 ? Math.min(1, times) : times / layers;
    }

    /**
     * Returns the work of a whole pass.
     *
     * @throws IllegalArgumentException when the numbers of the model are not known, or impossible
     */
    private Map<BrickId, Work> works(Place place) {
        PassWork pass = place.pass;
        if (!pass.hasNumbers) {
            throw new IllegalArgumentException("no rule under model: was read in a step");
        }
        WorkModel model = model(place);
        long layers = pass.numbers[ModelNumber.LAYERS.index()];
        if (pass.layers() > layers) {
            throw new IllegalArgumentException("a pass had " + pass.layers() + " layers, and its model has " + layers);
        }
        int tokens = number(ModelNumber.TOKENS, pass.tokens);
        return model.prefill(1, Math.max(1, tokens), number(ModelNumber.KV, pass.kvLength));
    }

    private WorkModel model(Place place) {
        boolean isFused = (modelled & (1L << profiler.brickKey(BrickId.FUSED_ATTENTION.displayName()))) != 0;
        WorkModel latest = place.model;
        if (latest == null || isFused != place.isFused || !Arrays.equals(place.numbers, place.pass.numbers)) {
            long[] numbers = place.pass.numbers;
            LlamaConfig config = LlamaConfig.dense(
                            number(numbers, ModelNumber.LAYERS),
                            number(numbers, ModelNumber.DIM),
                            number(numbers, ModelNumber.HEADS),
                            number(numbers, ModelNumber.KV_HEADS),
                            number(numbers, ModelNumber.FFN_DIM),
                            number(numbers, ModelNumber.VOCAB))
                    .withBits(
                            bits(numbers, ModelNumber.WEIGHT),
                            bits(numbers, ModelNumber.CACHE),
                            bits(numbers, ModelNumber.ACTIVATION));
            int headDim = number(numbers, ModelNumber.HEAD_DIM);
            if (headDim > 0) {
                config = config.withHeadDim(headDim);
            }
            if (number(numbers, ModelNumber.EXPERTS) > 0) {
                config = config.withExperts(
                        number(numbers, ModelNumber.EXPERTS), number(numbers, ModelNumber.EXPERTS_PER_TOKEN));
            }
            latest = WorkModel.llama(isFused ? config.withFusedAttention() : config);
            place.model = latest;
            place.sampling = latest.decode(1, 1).get(BrickId.SAMPLING);
            place.isFused = isFused;
            System.arraycopy(numbers, 0, place.numbers, 0, numbers.length);
        }
        return latest;
    }

    private static int number(long[] numbers, ModelNumber which) {
        return number(which, numbers[which.index()]);
    }

    private static int number(ModelNumber which, long number) {
        if (number == UNREAD) {
            throw new IllegalArgumentException("model: " + which.key + ": could not be read");
        }
        if (number < 0 || number > Integer.MAX_VALUE) {
            throw new IllegalArgumentException("model: " + which.key + ": " + number + " is impossible");
        }
        return (int) number;
    }

    private static double bits(long[] numbers, ModelNumber which) {
        return number(numbers, which) * (double) Byte.SIZE / WeightTypes.BLOCK;
    }

    // ---- the profile ----

    /** Returns a profile without the work of the bricks whose work is not known for all samples. */
    ProfileSnapshot withoutUnknown(ProfileSnapshot snapshot) {
        Set<String> names = new HashSet<>(unknown.values());
        names.addAll(missing.values());
        if (names.isEmpty()) {
            return snapshot;
        }
        Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
        snapshot.phases().forEach((phase, bricks) -> phases.put(phase, withoutWork(bricks, names)));
        return snapshot.toBuilder()
                .bricks(withoutWork(snapshot.bricks(), names))
                .phases(phases)
                .build();
    }

    private static List<BrickStats> withoutWork(List<BrickStats> bricks, Set<String> names) {
        return bricks.stream()
                .map(each -> names.contains(each.name())
                        ? each.toBuilder().work(Work.NONE).build()
                        : each)
                .toList();
    }
}
