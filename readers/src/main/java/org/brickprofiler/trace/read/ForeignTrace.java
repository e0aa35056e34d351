package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.StepInfo;
import org.brickprofiler.trace.read.EventCollector.Site;
import org.brickprofiler.trace.read.EventCollector.Slice;
import org.brickprofiler.trace.read.LaunchSites.HostSlice;
import org.brickprofiler.trace.read.LayerPlaces.Evidence;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceEvent.Kind;
import org.brickprofiler.trace.read.TraceProfile.Counting;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * A trace of another program. Its slices that may count are {@link HostSlices} until one is marked as a device's, and
 * from then on {@link DeviceSlices}. After the last event a first pass over the slices finds warm-up, and a second pass
 * sums them. One thread.
 */
final class ForeignTrace extends TraceKind {

    private static final int MOST_LOADINGS = 64;

    final OperatorWork works = new OperatorWork();

    private final Runs runs = new Runs();
    private final Map<String, Loading> loadings = new LinkedHashMap<>();
    private final LaunchSites sites;
    private final NamedSums ranges = new NamedSums();
    private final NamedSums providers = new NamedSums();
    private ForeignSlices slices = new HostSlices(this);

    /** The slices that the clock of the trace timed, if another clock timed others. */
    private @Nullable EventStore ofClock;

    /** The loading of models of one name. */
    private static final class Loading {
        private long events;
        private long elapsedNs;

        void add(long addedNs) {
            events++;
            elapsedNs += addedNs;
        }
    }

    ForeignTrace(ProfileBuilder builder) {
        super(builder);
        sites = new LaunchSites(options.rules());
    }

    // ---- collecting ----

    @Override
    @Nullable
    Reason ignores(TraceEvent event) throws TraceFormatException {
        Kind kind = event.kind();
        Reason reason = kind.ignoredAs();
        if (reason == Reason.ANNOTATION && kind != Kind.RUN && Microseconds.isTime(event.startNs)) {
            builder.steps.add(event);
        }
        return reason;
    }

    @Override
    @Nullable
    Site site(TraceEvent event) throws TraceFormatException {
        long startNs = event.startNs;
        long offset = event.offset;
        Kind kind = event.kind();
        if (kind.isDevice()) {
            return null;
        }
        if (kind == Kind.RUN) {
            long rowsOfRun = event.elements;
            return (endNs, correlation) -> addRun(startNs, endNs, rowsOfRun, offset);
        }
        if (kind == Kind.LOADING) {
            Loading loading = loading(event.name);
            return (endNs, correlation) -> loading.add(endNs - startNs);
        }
        HostSlice slice = kind == Kind.ANNOTATION ? sites.annotation(event.name) : sites.slice(event);
        if (slice == null) {
            return null;
        }
        int row = mainRow(event);
        long ofBegin = event.correlation;
        return (endNs, correlation) ->
                sites.add(row, startNs, endNs, offset, slice, correlation < 0 ? ofBegin : correlation);
    }

    private void addRun(long startNs, long endNs, long rowsOfRun, long offset) throws TraceFormatException {
        if (!runs.add(startNs, endNs, rowsOfRun)) {
            throw builder.error(offset, "there are too many runs");
        }
    }

    private Loading loading(String name) {
        boolean hasRoom = loadings.size() < MOST_LOADINGS - 1 || loadings.containsKey(name);
        return loadings.computeIfAbsent(hasRoom ? name : TraceNames.OTHERS, added -> new Loading());
    }

    /** Returns the number of an event's row; for a lane, the number of the row beside which it is drawn. */
    int mainRow(TraceEvent event) throws TraceFormatException {
        return builder.names.mainRow(builder.row(event).number);
    }

    @Override
    @Nullable
    Slice beginSlice(TraceEvent event) throws IOException {
        if (event.kind().isDevice() || head.marksAllWork) {
            slices = slices.ofDevice();
        }
        noteBytes(event);
        return slices.begin(event);
    }

    /** Records the range and the execution provider of a slice, which are summed if the slice counts. */
    void noteNames(TraceEvent event) {
        if (event.range != null) {
            ranges.note(event.offset, event.range);
        }
        if (!event.provider.isEmpty()) {
            providers.note(event.offset, TraceProfile.Provider.key(event.provider, event.operator));
        }
    }

    @Override
    void addOther(TraceEvent event) throws TraceFormatException {
        if (event.phase == 'M') {
            builder.names.metadata(event);
        }
    }

    // ---- choosing ----

    /**
     * The slices that count, unless they are left out.
     *
     * @param counting the reason for which they count
     * @param events the slices by time; the detail of a device's slice is its correlation
     * @param kernels their kernels
     * @param nest whether a slice contains those that run during it; otherwise each counts in full
     */
    record Chosen(Counting counting, EventStore events, Kernels kernels, boolean nest) {

        boolean isOfDevice() {
            return counting == Counting.DEVICE_EVENTS;
        }

        Chosen with(EventStore others) {
            return new Chosen(counting, others, kernels, nest);
        }
    }

    /**
     * Returns the slices that count; call it once, after the last event. They belong to this object.
     *
     * @throws TraceFormatException when nothing may count, because the trace is damaged
     * @throws IOException when a temporary file cannot be written or read
     */
    Chosen choose() throws IOException {
        slices = slices.finest();
        Chosen chosen = slices.chosen(runs.isAny());
        ClockSpan times = new ClockSpan();
        EventStore.Cursor events = chosen.events().inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            times.add(event.startNs());
        }
        return times.decide(Long.MAX_VALUE) ? ofClock(chosen, times) : chosen;
    }

    /** Returns the slices that the clock of the trace timed, and counts the others as faults. */
    private Chosen ofClock(Chosen chosen, ClockSpan times) throws IOException {
        EventStore kept = new EventStore(EventStore.Order.BY_TIME);
        ofClock = kept;
        EventStore.Cursor events = chosen.events().inOrder();
        for (EventStore.Event event = events.next(); event != null; event = events.next()) {
            if (times.contains(event.startNs())) {
                kept.add(event);
            } else {
                String kernel = chosen.kernels().get(event.name()).name();
                omissions.faultNamed(Reason.OTHER_CLOCK, kernel, event.offset());
            }
        }
        return chosen.with(kept);
    }

    /**
     * Returns the places of slices, by their modules and their order; the caller closes them.
     *
     * @param chosen the slices; the launches of a device's slices were found before
     * @throws IOException when a temporary file cannot be written or read
     */
    LayerPlaces places(Chosen chosen) throws IOException {
        if (chosen.isOfDevice()) {
            return LayerPlaces.of(chosen.kernels(), chosen.events(), runs.isAny());
        }
        try (EventStore sited = sites.ofHost(chosen.events())) {
            return LayerPlaces.of(chosen.kernels(), sited, runs.isAny());
        }
    }

    /**
     * Returns a device's slices with their launches, and closes those without; the caller closes the returned events.
     *
     * @param firstKeptNs the begin of the first step that is kept
     * @throws IOException when a temporary file cannot be written or read
     */
    Chosen withLaunches(Chosen chosen, long firstKeptNs) throws IOException {
        try (EventStore events = chosen.events()) {
            return chosen.with(sites.of(
                    events,
                    chosen.kernels(),
                    firstKeptNs,
                    builder.rows,
                    row -> builder.names.isOnDevice(builder.rows.get(row))));
        }
    }

    // ---- summing ----

    @Override
    TraceProfile profile() throws IOException {
        long firstKeptNs = firstKeptNs();
        Chosen chosen = choose();
        boolean mayBePlaced = sites.isAny() || LayerPlaces.mayKnow(chosen.kernels());
        boolean needsLaunches = mayBePlaced
                || sites.anyCall()
                || sites.engineSteps().isAny()
                || chosen.kernels().anyDependsOnLaunch()
                || firstKeptNs > Long.MIN_VALUE;
        if (!chosen.isOfDevice() || !needsLaunches) {
            return profile(chosen, firstKeptNs, mayBePlaced);
        }
        Chosen launched = withLaunches(chosen, firstKeptNs);
        omissions.add(Reason.AMBIGUOUS_LAUNCH, sites.ambiguous());
        try (EventStore events = launched.events()) {
            return profile(launched.with(events), firstKeptNs, mayBePlaced);
        }
    }

    private TraceProfile profile(Chosen chosen, long firstKeptNs, boolean mayBePlaced) throws IOException {
        Warmup warmup = new Warmup();
        if (!options.keepWarmup() && !runs.isAny()) {
            measure(chosen, new WarmupPass(chosen.kernels(), firstKeptNs, warmup));
        }
        omissions.add(Reason.RULE, slices.ignoredByRule() + sites.ignoredByRule());
        omissions.add(Reason.FURTHER_STEP, sites.engineSteps().further());
        if (!mayBePlaced || !(chosen.isOfDevice() || sites.isAny() || runs.isAny())) {
            CountingPass pass = pass(chosen, firstKeptNs, warmup.offsets(), null);
            measure(chosen, pass);
            return pass.profile();
        }
        try (LayerPlaces places = places(chosen)) {
            CountingPass pass = pass(chosen, firstKeptNs, warmup.offsets(), places);
            measure(chosen.with(places.events()), pass);
            return pass.profile();
        }
    }

    private void measure(Chosen chosen, SelfTimes.Sink sink) throws IOException {
        SelfTimes.of(chosen.events().inOrder(), builder.source, options.limits().openSlices(), chosen.nest(), sink);
    }

    /** Returns the begin of the first step that is kept; {@link Long#MIN_VALUE} if all are kept. */
    private long firstKeptNs() throws TraceFormatException {
        int skipped = options.skipSteps();
        if (!runs.isAny()) {
            return builder.steps.firstKeptNs(skipped);
        }
        MarkedSteps.checkSkip(builder.source, skipped, runs.size());
        return skipped == 0 ? Long.MIN_VALUE : runs.startNs(skipped);
    }

    /** Collects the executions in which a warm-up is looked for. */
    private record WarmupPass(Kernels kernels, long firstKeptNs, Warmup warmup) implements SelfTimes.Sink {

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

    private CountingPass pass(Chosen chosen, long firstKeptNs, LongHashSet warmup, @Nullable LayerPlaces places) {
        return switch (chosen.counting()) {
            case DEVICE_EVENTS -> new DevicePass(chosen, firstKeptNs, warmup, places);
            case NODES -> new NodesPass(chosen, firstKeptNs, warmup, places);
            default -> new CountingPass(chosen, firstKeptNs, warmup, places);
        };
    }

    /** Sums the slices that count. */
    private class CountingPass implements SelfTimes.Sink {
        final ProfileSums sums;
        final BusyTime busy = new BusyTime();
        final long firstKeptNs;

        /** The end of the warm-up; see {@link Runs#warmupUntilNs}. */
        final long warmupUntilNs = options.keepWarmup() ? Long.MIN_VALUE : runs.warmupUntilNs();

        private final Chosen chosen;
        private final LongHashSet warmup;
        private final @Nullable LayerPlaces places;

        CountingPass(Chosen chosen, long firstKeptNs, LongHashSet warmup, @Nullable LayerPlaces places) {
            this.sums = new ProfileSums(builder, chosen.kernels(), places);
            this.chosen = chosen;
            this.firstKeptNs = firstKeptNs;
            this.warmup = warmup;
            this.places = places;
        }

        @Override
        public boolean begins(Execution event) {
            boolean counts = event.isIn(firstKeptNs)
                    && event.startNs() >= warmupUntilNs
                    && !warmup.contains(event.offset())
                    && !isOutside(event);
            busy.add(event, counts);
            return counts;
        }

        /** Returns whether a slice is outside of everything that the trace measures. */
        boolean isOutside(Execution event) {
            return false;
        }

        @Override
        public boolean encloses(Execution event) {
            return chosen.kernels().get(event.kernel()).isContainer();
        }

        @Override
        public void overlaps(Execution event) {
            omissions.fault(Reason.OVERLAP, event.offset());
        }

        @Override
        public void ends(Execution event, long selfNs, boolean counts) throws IOException {
            if (counts) {
                count(event, selfNs);
                if (builder.counted != null) {
                    builder.counted.add(event, chosen.kernels().get(event.kernel()), evidenceOf(event));
                }
            } else {
                sums.leaveOut(event, selfNs, TraceEvent.Sum.ONE, reasonOfLeavingOut(event));
            }
        }

        private Reason reasonOfLeavingOut(Execution event) {
            if (!event.isIn(firstKeptNs)) {
                return Reason.SKIPPED_STEP;
            }
            return event.startNs() < warmupUntilNs || !isOutside(event) ? Reason.WARM_UP : Reason.NO_RUN;
        }

        void count(Execution event, long selfNs) throws TraceFormatException {
            sums.count(event, selfNs, works.get(event.work()), phaseOf(event), evidenceOf(event));
            ranges.count(event.offset(), selfNs);
            providers.count(event.offset(), selfNs);
        }

        private long evidenceOf(Execution event) {
            return places == null ? Evidence.BY_RULE : event.detail();
        }

        /** Returns the phase of an event, and counts the event in its step. */
        private Optional<StepInfo.Phase> phaseOf(Execution event) {
            if (event.step() == 0) {
                return Optional.empty();
            }
            sites.engineSteps().count(event.step(), event.startNs(), event.endNs());
            return Optional.of(sites.engineSteps().phase(event.step()));
        }

        /** Returns the wall time, ns. */
        long wallNs() {
            return busy.wallNs();
        }

        final TraceProfile profile() throws IOException {
            long wallNs = wallNs();
            if (runs.isAny() && builder.executionsRead() >= OnnxRuntime.MOST_EVENTS) {
                omissions.fault(Reason.EVENT_LIMIT, builder.executionsRead(), 0);
            }
            if (head.isXla && builder.slicesRead() >= XlaName.MOST_SLICES) {
                omissions.fault(Reason.VIEWER_LIMIT, builder.slicesRead(), 0);
            }
            int steps = runs.isAny() ? runs.size() : builder.steps.count();
            return sums.profile(chosen.counting(), wallNs, busy, steps)
                    .ranges(ranges.list().stream()
                            .map(sum -> new TraceProfile.Range(sum.name(), sum.events(), sum.elapsedNs()))
                            .toList())
                    .providers(TraceProfile.Provider.of(providers.list()))
                    .loading(loadedModels())
                    .annotatedSteps(sites.engineSteps().list())
                    .omissions(builder.listOmissions())
                    .build();
        }
    }

    /** Sums the work of a device, of which several streams may run at once. */
    private final class DevicePass extends CountingPass {

        DevicePass(Chosen chosen, long firstKeptNs, LongHashSet warmup, @Nullable LayerPlaces places) {
            super(chosen, firstKeptNs, warmup, places);
        }

        @Override
        public void overlaps(Execution event) {
            omissions.add(Reason.CONCURRENT);
        }

        @Override
        void count(Execution event, long selfNs) throws TraceFormatException {
            super.count(event, selfNs);
            if (firstKeptNs > Long.MIN_VALUE && !event.hasLaunch()) {
                omissions.add(Reason.NO_LAUNCH);
            }
        }
    }

    /** Sums the nodes of a graph in the runs of its model. The wall time is the union of these runs. */
    private final class NodesPass extends CountingPass {

        /** The union of the runs that count, and of the nodes in them. */
        private final BusyTime inRuns = new BusyTime();

        private int nextRun;

        NodesPass(Chosen chosen, long firstKeptNs, LongHashSet warmup, @Nullable LayerPlaces places) {
            super(chosen, firstKeptNs, warmup, places);
        }

        @Override
        boolean isOutside(Execution event) {
            return !runs.isIn(event.startNs());
        }

        @Override
        public boolean begins(Execution event) {
            boolean counts = super.begins(event);
            addRunsUntil(event.startNs());
            if (counts) {
                inRuns.add(event, true);
            }
            return counts;
        }

        /** Adds the runs that count and begin no later than a moment. */
        private void addRunsUntil(long timeNs) {
            while (nextRun < runs.size() && runs.startNs(nextRun) <= timeNs) {
                if (runs.startNs(nextRun) >= Math.max(firstKeptNs, warmupUntilNs)) {
                    inRuns.add(runs.startNs(nextRun), runs.endNs(nextRun), true);
                }
                nextRun++;
            }
        }

        @Override
        long wallNs() {
            addRunsUntil(Long.MAX_VALUE);
            return inRuns.busyNs();
        }
    }

    /** Returns the loading of models, most time first. */
    private List<TraceProfile.Loading> loadedModels() {
        return loadings.entrySet().stream()
                .map(each -> new TraceProfile.Loading(each.getKey(), each.getValue().events, each.getValue().elapsedNs))
                .sorted(Comparator.comparingLong(TraceProfile.Loading::elapsedNs)
                        .reversed())
                .toList();
    }

    @Override
    public void close() throws IOException {
        if (ofClock != null) {
            ofClock.close();
        }
        slices.close();
        sites.close();
    }
}
