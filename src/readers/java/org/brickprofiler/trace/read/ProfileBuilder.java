package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.read.Kernels.Kernel;
import org.brickprofiler.trace.read.LayerPlaces.Evidence;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceEvent.Kind;
import org.brickprofiler.trace.read.TraceProfile.Placement;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;
import org.eclipse.collections.impl.map.mutable.primitive.IntLongHashMap;
import org.eclipse.collections.impl.map.mutable.primitive.LongLongHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.IntHashSet;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * Builds the profile of a trace. While the trace is read, slices that may count go into an {@link EventStore}: every
 * slice until the first one that is marked as the device's, and from then on only the device's slices. A first pass
 * over the store then finds warm-up, and a second pass sums the slices. One thread.
 */
final class ProfileBuilder extends EventCollector {

    private static final int NOT_COUNTED = -2;
    private static final int NAMED = 1 << 30;
    private static final int MOST_STEPS = 100_000;
    private static final int MOST_PHASES = 1_000_000;
    private static final Pattern STEP = Pattern.compile("ProfilerStep#(\\d{1,18})");

    /**
     * The detail of a host slice without a correlation; the detail of a device slice is its correlation, or
     * {@link TraceEvent#NONE}.
     */
    private static final long OF_HOST = TraceEvent.NONE - 1;

    /** The detail of a compilation in a trace without times. It counts as warm-up. */
    private static final long COMPILATION = OF_HOST - 1;

    /** The detail of an operation of a compiled program on the host. */
    private static final long OPERATION = OF_HOST - 2;

    /**
     * The detail of a host slice with correlation 0; that of a slice with correlation n is this value minus n. Such a
     * slice is work of a device if the name of its row, which may follow the slice, is a device's.
     */
    private static final long CORRELATED = OF_HOST - 3;

    private static final Map<String, BrickCategory> CATEGORIES = Arrays.stream(BrickCategory.values())
            .collect(Collectors.toUnmodifiableMap(BrickCategory::displayName, Function.identity()));

    private final ReadOptions options;
    private final Set<String> argKeys;
    private final LongLongHashMap stepStartsNs = new LongLongHashMap();
    private final IntLongHashMap nextStepByRow = new IntLongHashMap();

    /** Maps a time to whether a warm-up begins or ends there. */
    private final NavigableMap<Long, Boolean> phases = new TreeMap<>();

    /**
     * Used in place of the number of a launch site's kind for a slice that is a run; the correlation is then the rows
     * of the run.
     */
    private static final int RUN_SITE = 1 << 16;

    /** Used in the same way for a slice that loads a model, plus the number of the slice's name. */
    private static final int LOADING_SITE = RUN_SITE + 1;

    private static final int MOST_LOADINGS = 64;

    private final OperatorWork works = new OperatorWork();
    private final Runs runs = new Runs();
    private final Map<String, Integer> loadings = new LinkedHashMap<>();
    private final long[] loadingEvents = new long[MOST_LOADINGS];
    private final long[] loadingNs = new long[MOST_LOADINGS];

    private final LaunchSites sites;
    private EventStore slices = new EventStore(EventStore.Order.BY_TIME);
    private Kernels kernels;

    /**
     * The kernels of slices whose rows were already known by name to be a device's; the numbers of such kernels have
     * the bit {@link #NAMED}.
     */
    private Kernels namedKernels;

    private long ignoredByRule;
    /** The number of end events, which another format of the same trace does not have. */
    private long ends;

    private final NamedSums ranges = new NamedSums();
    private final NamedSums providers = new NamedSums();
    private final RowNames names;
    private boolean deviceSeen;

    /** Whether a trace of this library has a step with a phase. */
    private boolean announcedStepSeen;

    /** Whether categories mark the work of devices; such work does not contain other work. */
    private boolean isWorkMarked;

    private boolean operationSeen;
    private boolean areOperations;

    /** Sums executions without times in the order of the file; null if the trace has times. */
    private @Nullable CountingPass untimed;

    /**
     * Creates an empty builder.
     *
     * @param source the name of the trace in messages
     * @param options the options for reading
     */
    ProfileBuilder(String source, ReadOptions options) {
        super(new TraceHead(source), options.limits());
        this.options = options;
        this.names = new RowNames(rows, source);
        this.argKeys = options.rules().argKeys();
        this.sites = new LaunchSites(options.rules());
        this.kernels = new Kernels(options.rules(), options.limits().distinctNames());
        this.namedKernels = new Kernels(options.rules(), options.limits().distinctNames());
    }

    /** Returns the category of a brick in a trace of this library; null if the event has no brick's category. */
    static @Nullable BrickCategory brickCategory(TraceEvent event) {
        return CATEGORIES.get(event.ownCategory);
    }

    // ---- collecting ----

    /** Returns whether some rule tests the argument. */
    @Override
    boolean needs(String argument) {
        return argKeys.contains(argument);
    }

    @Override
    boolean needsKeys() {
        return false;
    }

    @Override
    void keepArgument(TraceEvent event, String key, String value, @Nullable String listed) {
        if (argKeys.contains(key)) {
            event.ruleArgs.put(key, value);
        }
    }

    @Override
    @Nullable
    Reason ignores(TraceEvent event) throws IOException {
        Reason reason = head.isOwn() ? ignoresOwn(event) : event.kind().ignoredAs();
        if (reason == Reason.ANNOTATION && Microseconds.isTime(event.startNs)) {
            addStep(event);
            if (head.isOwn() && event.phase == 'X' && Microseconds.isTime(event.elapsedNs)) {
                head.disturbances.count(
                        "step: " + event.name, row(event).number, event.startNs, event.startNs + event.elapsedNs);
            }
        }
        return reason;
    }

    /** Returns the reason for which a slice of this library's trace is ignored; null for a sample of a brick. */
    private @Nullable Reason ignoresOwn(TraceEvent event) {
        if (event.isStep()) {
            announcedStepSeen |= ownPhase(event) != Span.Phase.NONE;
            return Reason.ANNOTATION;
        }
        if (event.onDevice && !event.isDeviceSample) {
            return Reason.DEVICE;
        }
        return event.isSample() ? null : Reason.NO_BRICK;
    }

    @Override
    @Nullable
    Site site(TraceEvent event) throws TraceFormatException {
        Kind kind = event.kind();
        if (head.isOwn() || kind.isDevice()) {
            return null;
        }
        if (kind == Kind.RUN) {
            return new Site(0, event.startNs, event.offset, RUN_SITE, event.elements);
        }
        if (kind == Kind.LOADING) {
            String loading = loadings.size() < MOST_LOADINGS - 1 || loadings.containsKey(event.name)
                    ? event.name
                    : TraceNames.OTHERS;
            int name = loadings.computeIfAbsent(loading, added -> loadings.size());
            return new Site(0, event.startNs, event.offset, LOADING_SITE + name, TraceEvent.NONE);
        }
        int site = kind == Kind.ANNOTATION ? sites.siteOfAnnotation(event.name) : sites.siteOf(event);
        return site == LaunchSites.NOTHING
                ? null
                : new Site(mainRow(event), event.startNs, event.offset, site, event.correlation);
    }

    @Override
    void addSite(Site site, long endNs) throws IOException {
        if (site.kind() == RUN_SITE) {
            if (!runs.add(site.startNs(), endNs, site.correlation())) {
                throw error(site.offset(), "there are too many runs");
            }
        } else if (site.kind() >= LOADING_SITE) {
            loadingEvents[site.kind() - LOADING_SITE]++;
            loadingNs[site.kind() - LOADING_SITE] += endNs - site.startNs();
        } else {
            sites.add(site, endNs);
        }
    }

    /** Returns the number of an event's row; for a lane, the number of the row beside which it is drawn. */
    private int mainRow(TraceEvent event) throws TraceFormatException {
        return names.mainRow(row(event).number);
    }

    @Override
    @Nullable
    Slice beginSlice(TraceEvent event) throws IOException {
        BrickCategory brick = head.isOwn() ? brickCategory(event) : null;
        if (brick != null) {
            int kernel = kernels.brick(event.name, brick);
            long phase = Execution.marksOf(event.spanPhase.number());
            return new Slice(event, row(event).number, kernel, Math.max(0, event.elements), phase, OF_HOST);
        }
        if (untimed != null) {
            boolean isCopy = event.bytes != TraceEvent.NONE;
            noteBytes(event);
            long detail = event.category.equals(TornadoParser.COMPILE) ? COMPILATION : OF_HOST;
            return new Slice(event, 0, kernels.number(event, isCopy), bytesOf(event), 0, detail);
        }
        Kind kind = event.kind();
        if ((kind.isDevice() || head.marksAllWork) && !deviceSeen) {
            keepDeviceOnly();
        }
        noteBytes(event);
        if (event.phase == 'X' && kind.isDevice() != deviceSeen) {
            omissions.add(Reason.HOST);
            return null;
        }
        if (event.range != null) {
            ranges.note(event.offset, event.range);
        }
        if (!event.provider.isEmpty()) {
            providers.note(event.offset, TraceProfile.Provider.key(event.provider, event.operator));
        }
        if (kind.isDevice() != deviceSeen) {
            return new Slice(event, 0, NOT_COUNTED, 0, 0, OF_HOST);
        }
        boolean isNamed = !deviceSeen && names.isOnDevice(row(event));
        boolean isWork = kind == Kind.DEVICE_WORK || isNamed;
        boolean isCopy = kind == Kind.COPY || (isWork && Kind.isCopy(event.name));
        Kernels all = isNamed ? namedKernels : kernels;
        int kernel = all.number(event, isCopy);
        boolean isOpen = event.phase == 'B' && !argKeys.isEmpty();
        int row = kernel >= 0 || isOpen ? mainRow(event) : 0;
        String elements = kernel >= 0 && !kind.isDevice() && !isNamed
                ? all.get(kernel).target().elements()
                : "";
        long amount = elements.isEmpty()
                ? bytesOf(event)
                : Math.max(0, TraceEvent.wholeNumberOf(event.ruleArgs.getOrDefault(elements, "")));
        int number = kernel >= 0 && isNamed ? kernel | NAMED : kernel;
        operationSeen |= kind == Kind.OPERATION;
        boolean mayHaveWork = kernel >= 0 && !kind.isDevice() && !isNamed;
        long host = kind == Kind.OPERATION ? OPERATION : ofHost(event.correlation);
        Slice slice = new Slice(
                event,
                row,
                number,
                amount,
                mayHaveWork ? works.of(event) : OperatorWork.UNKNOWN,
                kind.isDevice() ? event.correlation : host);
        slice.begin = isOpen ? new Begin(all.key(event, isCopy), isNamed) : null;
        return slice;
    }

    private static boolean isOfHost(long detail) {
        return detail == OF_HOST || detail <= OPERATION;
    }

    private static long ofHost(long correlation) {
        return correlation >= 0 ? CORRELATED - correlation : OF_HOST;
    }

    /** The inputs of the decision at the begin of a slice, kept until its end. */
    record Begin(Kernels.CacheKey key, boolean isNamed) {}

    /** Decides again which brick a slice counts as, if its end has further arguments that rules test. */
    private void decideAgain(Slice slice, Begin begin, TraceEvent end) {
        Map<String, String> args = new HashMap<>(end.ruleArgs);
        if (args.isEmpty()) {
            return;
        }
        begin.key().key().args().forEach(args::putIfAbsent);
        Kernels all = begin.isNamed() ? namedKernels : kernels;
        int kernel = all.number(begin.key().with(args));
        slice.name = kernel >= 0 && begin.isNamed() ? kernel | NAMED : kernel;
        String elements = kernel >= 0 && isOfHost(slice.detail) && !begin.isNamed()
                ? all.get(kernel).target().elements()
                : "";
        if (!elements.isEmpty()) {
            slice.amount = Math.max(0, TraceEvent.wholeNumberOf(args.getOrDefault(elements, "")));
        }
    }

    /** Returns the bytes of an event; {@link TraceEvent#NONE} if it states none, 0 if they are malformed. */
    private static long bytesOf(TraceEvent event) {
        return event.bytes == TraceEvent.MALFORMED_BYTES ? 0 : event.bytes;
    }

    private void noteBytes(TraceEvent event) {
        if (event.bytes == TraceEvent.MALFORMED_BYTES) {
            omissions.fault(Reason.MALFORMED_BYTES, event.offset);
        }
    }

    private void keepDeviceOnly() throws IOException {
        deviceSeen = true;
        isWorkMarked = true;
        omissions.add(Reason.HOST, slices.size() + ignoredByRule);
        ignoredByRule = 0;
        slices.close();
        slices = new EventStore(EventStore.Order.BY_TIME);
        kernels = new Kernels(options.rules(), options.limits().distinctNames());
        namedKernels = new Kernels(options.rules(), options.limits().distinctNames());
    }

    /**
     * Keeps only the finest slices of the devices that are recognised by name, if no event is marked as a device's. A
     * name may follow the events of its row.
     */
    private void keepNamedDevices() throws IOException {
        IntHashSet used = new IntHashSet();
        EventStore.Cursor all = slices.inOrder();
        for (EventStore.Event event = all.next(); event != null; event = all.next()) {
            used.add(event.row());
        }
        IntHashSet finest = names.finest(used);
        if (finest.isEmpty()) {
            return;
        }
        deviceSeen = true;
        Kernels hosts = kernels;
        EventStore kept = new EventStore(EventStore.Order.BY_TIME);
        try (EventStore before = slices) {
            slices = kept;
            kernels = namedKernels;
            EventStore.Cursor events = before.inOrder();
            for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                if (finest.contains(event.row())) {
                    boolean isNamed = (event.name() & NAMED) != 0;
                    int kernel = isNamed ? event.name() & ~NAMED : kernels.take(hosts.get(event.name()));
                    kept.add(
                            event.row(),
                            event.startNs(),
                            event.endNs(),
                            event.offset(),
                            kernel,
                            event.amount(),
                            0,
                            event.detail() <= CORRELATED ? CORRELATED - event.detail() : TraceEvent.NONE);
                } else {
                    omissions.add(names.isOnDevice(rows.get(event.row())) ? Reason.ANNOTATION : Reason.HOST);
                }
            }
        }
    }

    /** Keeps the operations of compiled programs alone, in a trace without work of a device. */
    private void keepOperations() throws IOException {
        areOperations = true;
        EventStore kept = new EventStore(EventStore.Order.BY_TIME);
        try (EventStore before = slices) {
            slices = kept;
            EventStore.Cursor events = before.inOrder();
            for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                if (event.detail() == OPERATION) {
                    kept.add(
                            event.row(),
                            event.startNs(),
                            event.endNs(),
                            event.offset(),
                            event.name(),
                            event.amount(),
                            0,
                            OPERATION);
                } else {
                    omissions.add(Reason.HOST);
                }
            }
        }
    }

    @Override
    void endSlice(Slice slice, TraceEvent event) {
        omissions.add(Reason.END);
        ends++;
        Begin begin = slice.begin;
        if (begin != null && isOfHost(slice.detail) != deviceSeen) {
            decideAgain(slice, begin, event);
        }
        boolean isWork = !isOfHost(slice.detail) && slice.detail != COMPILATION;
        if (isWork && !head.isOwn() && !slice.isDropped() && slice.ignoredAs == null) {
            noteBytes(event);
            slice.amount = event.bytes >= 0 ? event.bytes : slice.amount;
            slice.detail = event.correlation >= 0 ? event.correlation : slice.detail;
        } else if (slice.detail == OF_HOST) {
            slice.detail = ofHost(event.correlation);
        }
    }

    @Override
    void addSlice(Slice slice, long endNs) throws IOException {
        if (slice.name == Kernels.IGNORED && untimed != null) {
            ignoredByRule += slice.sum().executions();
        } else if (untimed != null) {
            boolean isWarmup = slice.detail == COMPILATION && !options.keepWarmup();
            boolean isSkipped = stepStartsNs.size() <= options.skipSteps() && options.skipSteps() > 0;
            Reason reason = isSkipped ? Reason.SKIPPED_STEP : isWarmup ? Reason.WARM_UP : null;
            untimed.take(new Execution(slice, endNs), endNs - slice.startNs, slice.sum(), reason);
        } else if (isOfHost(slice.detail) == deviceSeen) {
            omissions.add(Reason.HOST);
        } else if (slice.name == Kernels.IGNORED) {
            ignoredByRule++;
        } else {
            slices.add(
                    slice.row,
                    slice.startNs,
                    endNs,
                    slice.offset,
                    slice.name,
                    slice.amount,
                    slice.deviceNs,
                    slice.detail);
        }
    }

    @Override
    void addOther(TraceEvent event) throws TraceFormatException {
        if (event.phase == 'M' && !head.isOwn()) {
            names.metadata(event);
        }
        omissions.add(
                switch (event.phase) {
                    case 'M' -> Reason.METADATA;
                    case 'C' -> Reason.COUNTER;
                    case 's', 't', 'f' -> Reason.FLOW;
                    default -> Reason.INSTANT;
                });
        boolean isPhase = "iIR".indexOf(event.phase) >= 0 && event.ownCategory.equals(SpanName.PHASE);
        if (isPhase && head.isOwn() && Microseconds.isTime(event.startNs)) {
            if (phases.size() == MOST_PHASES) {
                throw error(event.offset, "there are more than " + MOST_PHASES + " phases");
            }
            phases.put(event.startNs, event.name.equals(SpanName.WARMUP));
        }
    }

    @Override
    void addEmpty() {
        omissions.add(Reason.EMPTY);
    }

    @Override
    void addTrack(TrackDescription track) throws TraceFormatException {
        names.track(track);
    }

    @Override
    void addWithoutTimes(String writer) {
        untimed = new CountingPass(Long.MIN_VALUE, new LongHashSet(), null);
    }

    @Override
    void addSkipped(long fields) {
        // A profile contains only events; skipped fields outside events do not matter.
    }

    // ---- steps and phases ----

    /**
     * Adds an annotation if it is a step. A step that several threads mark begins with the first mark. In a trace of
     * this library the name need not contain a number: the steps of a row are counted from 0.
     */
    private void addStep(TraceEvent event) throws TraceFormatException {
        Matcher step = STEP.matcher(event.name);
        long number;
        if (event.kind() == Kind.RUN) {
            return;
        }
        if (step.matches()) {
            number = Long.parseLong(step.group(1));
        } else if (event.step >= 0) {
            number = event.step;
        } else if (head.isOwn()) {
            number = nextStepByRow.addToValue(row(event).number, 1) - 1;
        } else {
            return;
        }
        long knownNs = stepStartsNs.getIfAbsent(number, event.startNs);
        stepStartsNs.put(number, Math.min(knownNs, event.startNs));
        if (stepStartsNs.size() > MOST_STEPS) {
            throw error(event.offset, "there are more than " + MOST_STEPS + " steps");
        }
    }

    /** Returns the begin of the first step that is kept; {@link Long#MIN_VALUE} if all are kept. */
    private long firstKeptNs() throws TraceFormatException {
        int skipped = options.skipSteps();
        if (skipped == 0) {
            return Long.MIN_VALUE;
        }
        if (skipped >= steps()) {
            throw error(0, "cannot skip " + TraceFigures.count(skipped, "step") + ": the trace marks " + steps());
        }
        return runs.isAny() ? runs.startNs(skipped) : stepStartsNs.values().toSortedArray()[skipped];
    }

    /** Returns the number of steps that the trace marks; if it marks runs of a model, these are the steps. */
    private int steps() {
        return runs.isAny() ? runs.size() : stepStartsNs.size();
    }

    /**
     * Returns whether a slice belongs to a warm-up that the trace marks. A slice belongs to the phase in which it
     * ended, as in the profiler, which discards everything recorded until a warm-up is over; a slice of length 0 at a
     * mark belongs to the phase that begins there.
     */
    private boolean isInWarmup(Execution event) {
        if (options.keepWarmup() || phases.isEmpty()) {
            return false;
        }
        boolean isMoment = event.startNs() == event.endNs();
        Map.Entry<Long, Boolean> phase = isMoment ? phases.floorEntry(event.endNs()) : phases.lowerEntry(event.endNs());
        return phase != null && phase.getValue();
    }

    // ---- summing ----

    /**
     * Returns the profile; call it after the last event.
     *
     * @throws TraceFormatException when a limit is reached, or a sum is too large
     * @throws IOException when the temporary file cannot be written or read
     */
    TraceProfile profile() throws IOException {
        long firstKeptNs = firstKeptNs();
        if (untimed != null) {
            omissions.add(Reason.RULE, ignoredByRule);
            return untimed.profile();
        }
        if (!deviceSeen && !head.isOwn() && names.anyDevice()) {
            keepNamedDevices();
        }
        if (!deviceSeen && operationSeen) {
            keepOperations();
        } else if (!deviceSeen && head.isXla && isDamaged()) {
            throw error(0, "no XLA operations or device work before the damage");
        }
        boolean mayBePlaced = !head.isOwn() && (sites.isAny() || LayerPlaces.mayKnow(kernels));
        boolean needsLaunches = mayBePlaced || sites.engineSteps().isAny() || kernels.anyDependsOnLaunch();
        if (deviceSeen && (needsLaunches || firstKeptNs > Long.MIN_VALUE)) {
            findLaunches(firstKeptNs);
        }
        Warmup warmup = new Warmup();
        if (!options.keepWarmup() && !head.isOwn() && !runs.isAny()) {
            pass(slices, new WarmupPass(firstKeptNs, warmup));
        }
        omissions.add(Reason.RULE, ignoredByRule);
        if (!mayBePlaced || !(deviceSeen || sites.isAny() || runs.isAny())) {
            CountingPass counting = new CountingPass(firstKeptNs, warmup.offsets(), null);
            pass(slices, counting);
            return counting.profile();
        }
        try (LayerPlaces places = places()) {
            CountingPass counting = new CountingPass(firstKeptNs, warmup.offsets(), places);
            pass(places.events(), counting);
            return counting.profile();
        }
    }

    /**
     * Finds the launch of each event of the device.
     *
     * @param firstKeptNs the begin of the first step that is kept
     * @throws IOException when a temporary file cannot be written or read
     */
    void findLaunches(long firstKeptNs) throws IOException {
        try (EventStore before = slices) {
            slices = sites.of(before, kernels, firstKeptNs, row -> names.isOnDevice(rows.get(row)));
            ignoredByRule += sites.ignoredByRule();
        }
    }

    /**
     * Returns the places of the events, by their modules and their order; the caller closes them. The launches of a
     * device's events must have been found before.
     *
     * @throws IOException when a temporary file cannot be written or read
     */
    LayerPlaces places() throws IOException {
        if (deviceSeen) {
            return LayerPlaces.of(kernels, slices, runs.isAny());
        }
        try (EventStore sited = sites.ofHost(slices)) {
            return LayerPlaces.of(kernels, sited, runs.isAny());
        }
    }

    /** Returns the kernel with a number. */
    Kernel kernel(int number) {
        return kernels.get(number);
    }

    private void pass(EventStore store, SelfTimes.Sink sink) throws IOException {
        EventStore.Cursor events = store.inOrder();
        if (head.isOwn()) {
            // Like the profiler, a trace of this library counts a brick with its whole duration, nested bricks
            // included.
            for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                Execution brick = new Execution(event);
                sink.ends(brick, brick.elapsedNs(), sink.begins(brick));
            }
        } else {
            SelfTimes.of(events, source, options.limits().openSlices(), !isWorkMarked, sink);
        }
    }

    private final class WarmupPass implements SelfTimes.Sink {
        private final long firstKeptNs;
        private final Warmup warmup;

        WarmupPass(long firstKeptNs, Warmup warmup) {
            this.firstKeptNs = firstKeptNs;
            this.warmup = warmup;
        }

        @Override
        public boolean begins(Execution event) {
            return event.isIn(firstKeptNs);
        }

        @Override
        public void ends(Execution event, long selfNs, boolean counts) {
            if (counts && kernels.get(event.kernel()).canWarmUp()) {
                warmup.add(event, selfNs);
            }
        }
    }

    /** The key of one line of the placements. */
    private record Placed(TraceRule.Target brick, Source source) {
        Placement placement(long[] sums) {
            return new Placement(brick.name(), brick.category(), source, sums[0], sums[1], sums[2]);
        }
    }

    /** Returns the loading of models, most time first. */
    private List<TraceProfile.Loading> loading() {
        return loadings.entrySet().stream()
                .map(each -> new TraceProfile.Loading(
                        each.getKey(), loadingEvents[each.getValue()], loadingNs[each.getValue()]))
                .sorted(Comparator.comparingLong(TraceProfile.Loading::elapsedNs)
                        .reversed())
                .toList();
    }

    private final class CountingPass implements SelfTimes.Sink {
        private final long firstKeptNs;
        private final LongHashSet warmup;
        /** The end of the warm-up; see {@link Runs#warmupUntilNs}. */
        private final long warmupUntilNs = options.keepWarmup() ? Long.MIN_VALUE : runs.warmupUntilNs();

        private final BusyTime busy = new BusyTime();
        /** The union of the runs that count, and of the events in them. */
        private final BusyTime inRuns = new BusyTime();

        private int nextRun;
        private final BrickSums bricks = new BrickSums();
        private final Map<StepInfo.Phase, BrickSums> ofPhases = new EnumMap<>(StepInfo.Phase.class);
        private final IntHashSet rows = new IntHashSet();
        private final IntHashSet unmatchedKernels = new IntHashSet();
        private long counted;
        private long unmatched;
        private long unmatchedNs;
        private long leftOutNs;
        private long withoutKnownPhase;
        /** The source of the events; null if the rules alone decide. */
        private final @Nullable LayerPlaces places;

        private final Map<Placed, long[]> placements = new HashMap<>();

        CountingPass(long firstKeptNs, LongHashSet warmup, @Nullable LayerPlaces places) {
            this.firstKeptNs = firstKeptNs;
            this.warmup = warmup;
            this.places = places;
        }

        @Override
        public boolean begins(Execution event) {
            boolean counts = event.isIn(firstKeptNs)
                    && event.startNs() >= warmupUntilNs
                    && !warmup.contains(event.offset())
                    && !isInWarmup(event)
                    && isInRun(event.startNs());
            busy.add(event, counts);
            addRunsUntil(event.startNs());
            if (counts && isByRuns()) {
                inRuns.add(event.startNs(), event.endNs(), true);
            }
            return counts;
        }

        @Override
        public boolean encloses(Execution event) {
            return kernels.get(event.kernel()).isContainer();
        }

        /** Returns whether the nodes of runs count, rather than the work of a device. */
        private boolean isByRuns() {
            return runs.isAny() && !deviceSeen;
        }

        private boolean isInRun(long timeNs) {
            return !isByRuns() || runs.isIn(timeNs);
        }

        /** Adds the runs that count and begin no later than a moment. */
        private void addRunsUntil(long timeNs) {
            while (isByRuns() && nextRun < runs.size() && runs.startNs(nextRun) <= timeNs) {
                boolean counts = runs.startNs(nextRun) >= Math.max(firstKeptNs, warmupUntilNs);
                if (counts) {
                    inRuns.add(runs.startNs(nextRun), runs.endNs(nextRun), true);
                }
                nextRun++;
            }
        }

        private Reason reasonOfLeavingOut(Execution event) {
            if (!event.isIn(firstKeptNs)) {
                return Reason.SKIPPED_STEP;
            }
            boolean isWarmup = event.startNs() < warmupUntilNs || isInRun(event.startNs());
            return isWarmup ? Reason.WARM_UP : Reason.NO_RUN;
        }

        @Override
        public void overlaps(Execution event) {
            if (deviceSeen) {
                omissions.add(Reason.CONCURRENT);
            } else {
                omissions.fault(Reason.OVERLAP, event.offset());
            }
        }

        @Override
        public void ends(Execution event, long selfNs, boolean counts) throws TraceFormatException {
            take(event, selfNs, TraceEvent.Sum.ONE, counts ? null : reasonOfLeavingOut(event));
        }

        /**
         * Counts an event, or leaves it out.
         *
         * @param sum the executions that it stands for
         * @param leftOutAs the reason for which it is left out; null if it counts
         * @throws TraceFormatException when a sum is too large
         */
        void take(Execution event, long selfNs, TraceEvent.Sum sum, @Nullable Reason leftOutAs)
                throws TraceFormatException {
            try {
                if (leftOutAs == null) {
                    count(event, selfNs, sum);
                } else {
                    leftOutNs = Math.addExact(leftOutNs, selfNs);
                    omissions.addTimed(leftOutAs, kernels.get(event.kernel()).name(), sum.executions(), selfNs);
                }
            } catch (ArithmeticException tooLarge) {
                throw new TraceFormatException(
                        source, event.offset(), "the sum of the times, elements or bytes exceeds 2^63 - 1", tooLarge);
            }
        }

        private void count(Execution event, long selfNs, TraceEvent.Sum sum) {
            Kernel kernel = kernels.get(event.kernel());
            boolean isElements = head.isOwn() || (!kernel.target().elements().isEmpty() && isOfHost(event.detail()));
            long elements = isElements ? Math.max(0, event.amount()) : 0;
            long bytes = isElements ? TraceEvent.NONE : event.amount();
            Work work = works.get(event.work());
            if (sum.executions() == 1) {
                bricks.add(kernel.target(), event, selfNs, elements, bytes, work);
                phaseOf(event).ifPresent(phase -> ofPhases.computeIfAbsent(phase, added -> new BrickSums())
                        .add(kernel.target(), event, selfNs, elements, bytes, work));
            } else {
                bricks.add(kernel.target(), sum, selfNs, elements, bytes);
            }
            head.disturbances.count(kernel.target().name(), event.row(), event.startNs(), event.endNs());
            addPlacement(kernel.target(), places == null ? Evidence.BY_RULE : event.detail(), sum.executions(), selfNs);
            ranges.count(event.offset(), selfNs);
            providers.count(event.offset(), selfNs);
            rows.add(event.row());
            counted += sum.executions();
            if (deviceSeen && firstKeptNs > Long.MIN_VALUE && !event.hasLaunch()) {
                omissions.add(Reason.NO_LAUNCH);
            }
            if (!kernel.matched()) {
                unmatchedKernels.add(event.kernel());
                unmatched += sum.executions();
                unmatchedNs += selfNs;
            }
        }

        /** Returns the phase of an event, and counts the event in its step. */
        private Optional<StepInfo.Phase> phaseOf(Execution event) {
            if (event.step() == 0) {
                return Optional.empty();
            }
            if (head.isOwn()) {
                Span.Phase phase = Span.Phase.of(event.step());
                withoutKnownPhase += phase == Span.Phase.UNKNOWN ? 1 : 0;
                return phase.ofStep();
            }
            sites.engineSteps().count(event.step(), event.startNs(), event.endNs());
            return Optional.of(sites.engineSteps().phase(event.step()));
        }

        private void addPlacement(TraceRule.Target brick, long evidence, long events, long selfNs) {
            if (evidence == Evidence.BY_RULE && brick.category() != BrickCategory.MATRIX_PRODUCT) {
                return;
            }
            Source from = evidence == Evidence.BY_RULE
                    ? Source.NOT_KNOWN
                    : Evidence.isPlace(evidence) ? Source.PLACE : Source.MODULE;
            long[] sums = placements.computeIfAbsent(new Placed(brick, from), added -> new long[3]);
            sums[0] += events;
            sums[1] += selfNs;
            sums[2] += from == Source.PLACE && places != null && !places.repeats(evidence) ? 0 : events;
        }

        private List<Placement> placements() {
            return placements.entrySet().stream()
                    .map(entry -> entry.getKey().placement(entry.getValue()))
                    .sorted(Comparator.comparingLong(Placement::elapsedNs)
                            .reversed()
                            .thenComparing(Placement::brick)
                            .thenComparing(Placement::source))
                    .toList();
        }

        /** Returns the sums of the events, and the sums of methods for which the trace has no individual calls. */
        private List<BrickStats> bricks(TraceHead.Clock clock) {
            List<BrickStats> all = new ArrayList<>(bricks.stats(clock));
            TraceEvent event = new TraceEvent();
            for (TraceHead.Timing timing : head.timings()) {
                event.clear(0);
                event.name = timing.method();
                event.category = TraceHead.Timing.CATEGORY;
                int kernel = kernels.number(event, false);
                if (kernel >= 0) {
                    TraceRule.Target target = kernels.get(kernel).target();
                    all.add(BrickStats.builder(target.name(), target.category())
                            .samples(timing.count(), timing.totalNs(), timing.minNs(), timing.maxNs())
                            .last(timing.totalNs() / timing.count(), 0)
                            .build());
                }
            }
            return all;
        }

        private Map<StepInfo.Phase, List<BrickStats>> phases(TraceHead.Clock clock) {
            Map<StepInfo.Phase, List<BrickStats>> phases = new EnumMap<>(StepInfo.Phase.class);
            ofPhases.forEach((phase, sums) -> phases.put(phase, sums.stats(clock)));
            return phases;
        }

        TraceProfile profile() throws TraceFormatException {
            addRunsUntil(Long.MAX_VALUE);
            Optional<SlowSteps> slowSteps = head.slowSteps();
            long wallNs = untimed != null ? head.wholeNs() : isByRuns() ? inRuns.busyNs() : busy.wallNs();
            // The time between chosen steps belongs to none of them.
            wallNs = slowSteps.isPresent() ? busy.busyNs() : wallNs;
            long events = eventsRead() - ends;
            if (runs.isAny() && events >= OnnxRuntime.MOST_EVENTS) {
                omissions.fault(Reason.EVENT_LIMIT, events, 0);
            }
            if (announcedStepSeen) {
                omissions.add(Reason.NO_KNOWN_PHASE, withoutKnownPhase);
            }
            if (head.isXla && slicesRead() >= XlaName.MOST_SLICES) {
                omissions.fault(Reason.VIEWER_LIMIT, slicesRead(), 0);
            }
            TraceHead.Clock clock = head.clock(busy.firstNs());
            List<Environment> devices = head.deviceNames.stream()
                    .map(device -> new Environment("", "", "", "", device, 0, 0))
                    .toList();
            ProfileSnapshot snapshot = ProfileSnapshot.builder(
                            clock.instant(busy.firstNs()), clock.instant(busy.lastNs()), wallNs)
                    .environments(devices)
                    .bricks(bricks(clock))
                    .phases(phases(clock))
                    .build();
            TraceProfile.Counting counting = head.isOwn()
                    ? TraceProfile.Counting.BRICKS
                    : untimed != null
                            ? head.hasTaskGraphs ? TraceProfile.Counting.TASK_GRAPHS : TraceProfile.Counting.SUMS
                            : deviceSeen
                                    ? TraceProfile.Counting.DEVICE_EVENTS
                                    : runs.isAny()
                                            ? TraceProfile.Counting.NODES
                                            : areOperations
                                                    ? TraceProfile.Counting.OPERATIONS
                                                    : TraceProfile.Counting.ALL_SLICES;
            return TraceProfile.builder(
                            snapshot,
                            counting,
                            new TraceProfile.Unmatched(unmatchedKernels.size(), unmatched, unmatchedNs),
                            new TraceProfile.VirtualMachine(
                                    head.clockAnchors(), head.anchorErrorNs(), head.disturbances.list()))
                    .times(wallNs, busy.busyNs())
                    .rows(rows.size())
                    .steps(ProfileBuilder.this.steps())
                    .events(eventsRead(), counted)
                    .placements(placements())
                    .ranges(ranges.list().stream()
                            .map(sum -> new TraceProfile.Range(sum.name(), sum.events(), sum.elapsedNs()))
                            .toList())
                    .providers(TraceProfile.Provider.of(providers.list()))
                    .loading(loading())
                    .annotatedSteps(sites.engineSteps().list())
                    .slowSteps(slowSteps)
                    .runs(Optional.ofNullable(head.runs))
                    .omissions(listOmissions())
                    .build();
        }
    }

    /**
     * Computes unions of intervals, which come in order of their starts: the union of the intervals that count, and the
     * union of all intervals, which shows when only omitted events ran. One thread.
     */
    static final class BusyTime {

        private boolean begun;
        private long firstNs;
        private long countedUntilNs;
        private long countedNs;
        private long allUntilNs = Long.MIN_VALUE;
        private long allNs;

        /** Adds an interval. */
        void add(Execution event, boolean counts) {
            add(event.startNs(), event.endNs(), counts);
        }

        /** Adds an interval. */
        void add(long startNs, long endNs, boolean counts) {
            if (counts && !begun) {
                begin(startNs);
            }
            if (begun) {
                allNs += Math.max(0, endNs - Math.max(startNs, allUntilNs));
            }
            allUntilNs = Math.max(allUntilNs, endNs);
            if (counts) {
                countedNs += Math.max(0, endNs - Math.max(startNs, countedUntilNs));
                countedUntilNs = Math.max(countedUntilNs, endNs);
            }
        }

        private void begin(long nowNs) {
            begun = true;
            firstNs = nowNs;
            countedUntilNs = nowNs;
            // An event that was left out may still be running.
            allUntilNs = Math.max(allUntilNs, nowNs);
            allNs = allUntilNs - nowNs;
        }

        /** Returns the begin of the first event that counts, on the trace's clock; 0 without one. */
        long firstNs() {
            return firstNs;
        }

        /** Returns the end of the last event that counts, on the trace's clock; 0 without one. */
        long lastNs() {
            return countedUntilNs;
        }

        /** Returns the union of the events that count, ns. */
        long busyNs() {
            return countedNs;
        }

        /**
         * Returns the time from the start of the first event that counts to the end of the last one, without times at
         * which only omitted events ran, ns.
         */
        long wallNs() {
            // Any event that runs on after the last one that counts began before the end of that one, so there is no
            // gap between the two.
            long afterNs = begun ? Math.max(0, allUntilNs - countedUntilNs) : 0;
            long leftOutOnlyNs = allNs - afterNs - countedNs;
            return countedUntilNs - firstNs - leftOutOnlyNs;
        }
    }

    /** Discards the slices and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        slices.close();
        sites.close();
    }
}
