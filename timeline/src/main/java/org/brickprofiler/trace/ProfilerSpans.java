package org.brickprofiler.trace;

import java.lang.ref.WeakReference;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.brickprofiler.Backend;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.internal.record.SpanBuffer;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.report.internal.EntriesAtEnd;
import org.jspecify.annotations.Nullable;

/**
 * Collects the spans that the profilers of a {@link TraceRecorder} record: bricks, tiles, and times on devices. It does
 * not keep profilers alive: only the entries of an unreachable profiler stay, and their names. Every method may be
 * called from any thread, but not while holding a lock that a profiler may acquire.
 */
final class ProfilerSpans implements SpanSink, EntriesAtEnd {

    private final TraceRecorder recorder;
    private final Supplier<SpanStore> stores;
    private final boolean withTiles;
    private final @Nullable SlowStepKeeper keeper;

    private final List<StoreSource> bricks = new CopyOnWriteArrayList<>();
    private final List<StoreSource> tiles = new CopyOnWriteArrayList<>();
    private final List<TimedStream> streams = new CopyOnWriteArrayList<>();

    /** The number of lost entries of sources that were removed. */
    private final AtomicLong lost = new AtomicLong();

    /**
     * Creates an empty collection.
     *
     * @param recorder the recorder of the spans
     * @param stores creates an empty store within the bounds of the recorder
     * @param withTiles whether tiles are recorded
     * @param keeper chooses steps; null if the spans of all are kept
     */
    ProfilerSpans(
            TraceRecorder recorder, Supplier<SpanStore> stores, boolean withTiles, @Nullable SlowStepKeeper keeper) {
        this.keeper = keeper;
        this.recorder = recorder;
        this.stores = stores;
        this.withTiles = withTiles;
    }

    // ---- profilers ----

    @Override
    public SpanStore bricks(SpanSink.Names names) {
        endForgotten();
        SpanStore store = addStore(bricks, names);
        if (keeper != null) {
            store.follow(keeper.follow(store.contents()));
        }
        return store;
    }

    @Override
    public @Nullable SpanStore tiles(SpanSink.Names names) {
        return withTiles ? addStore(tiles, names) : null;
    }

    @Override
    public SpanSink.Stream stream(SpanSink.Place place, SpanSink.Names names, Object owner, BooleanSupplier catchUp) {
        TimedStream stream = new TimedStream(place, names, owner, catchUp, stores.get(), keeper);
        streams.add(stream);
        return stream;
    }

    @Override
    public void discarded() {
        endForgotten();
        recorder.discardLines(bricks.size());
    }

    @Override
    public Map<String, Object> entriesAtEnd(ProfileSnapshot profile) {
        return recorder.linesAtEnd().map(lines -> lines.reportEntries(profile)).orElse(Map.of());
    }

    @Override
    public Optional<SpanSink.Windows> windows() {
        return recorder.lineLog().map(LineLog::windows);
    }

    private SpanStore addStore(List<StoreSource> sources, SpanSink.Names names) {
        SpanStore store = stores.get();
        sources.add(new StoreSource(store, names, keeper));
        return store;
    }

    // ---- the recorder ----

    TraceRecorder recorder() {
        return recorder;
    }

    /** Lets the profilers resolve the finished work of their devices, and removes unreachable profilers. */
    void catchUp() {
        streams.forEach(TimedStream::catchUp);
        endForgotten();
    }

    private void endForgotten() {
        for (List<? extends Source> sources : List.of(streams, bricks, tiles)) {
            for (Source source : sources) {
                if (source.isForgotten()) {
                    lost.addAndGet(source.end());
                }
            }
            sources.removeIf(Source::isSpent);
        }
    }

    /** Adds all buffers, for the choice of steps. */
    void addTo(List<StepWindow.Source> all) {
        bricks.forEach(
                source -> all.add(new StepWindow.Source(source.contents(), source.names(), StepWindow.Content.BRICKS)));
        streams.forEach(
                source -> all.add(new StepWindow.Source(source.contents(), source.names(), StepWindow.Content.DEVICE)));
        tiles.forEach(source ->
                all.add(new StepWindow.Source(source.contents(), source.names(), StepWindow.Content.FURTHER)));
    }

    /** Returns the buffers of the bricks that threads timed, for the lines of bricks. */
    List<LineBricks.Source> brickSources() {
        return bricks.stream()
                .map(source -> new LineBricks.Source(source.contents(), source.names()))
                .toList();
    }

    List<? extends Source> bricks() {
        return bricks;
    }

    List<? extends Source> tiles() {
        return tiles;
    }

    List<TimedStream> streams() {
        return streams;
    }

    /** Returns the number of lost entries of sources that were removed. */
    long lost() {
        return lost.get();
    }

    /** Returns the number of entries that are kept. */
    long entryCount() {
        long count = 0;
        for (List<? extends Source> sources : List.of(bricks, tiles, streams)) {
            for (Source source : sources) {
                count += source.contents().entryCount();
            }
        }
        return count;
    }

    /** Discards all recorded spans. */
    void clear() {
        lost.set(0);
        for (List<? extends Source> sources : List.of(bricks, tiles, streams)) {
            sources.forEach(Source::clear);
            sources.removeIf(Source::isSpent);
        }
    }

    /** Spans that a profiler writes, and the names of their keys. Any thread. */
    abstract static class Source {

        private final SpanContents contents;
        private volatile SpanSink.Names names;
        private volatile boolean hasEnded;

        /** Chooses steps; null if the spans of all are kept. */
        private final @Nullable SlowStepKeeper keeper;

        private Source(SpanContents contents, SpanSink.Names names, @Nullable SlowStepKeeper keeper) {
            this.keeper = keeper;
            this.contents = contents;
            this.names = names;
        }

        final SpanContents contents() {
            return contents;
        }

        /** Returns the names of the keys in every earlier copy. */
        final SpanSink.Names names() {
            return names;
        }

        final boolean hasEnded() {
            return hasEnded;
        }

        /** Returns whether the writer is unreachable and {@link #end} was not called yet. */
        abstract boolean isForgotten();

        /**
         * Reduces a forgotten source to its entries and their names; a further call does nothing.
         *
         * @return the number of lost entries that this source no longer counts
         */
        synchronized long end() {
            if (hasEnded) {
                return 0;
            }
            SlowStepKeeper chooser = keeper;
            List<SpanCopy> kept = chooser == null ? List.of() : chooser.settle(contents);
            long lost = contents.end();
            if (chooser != null) {
                contents.clear();
                lost = 0;
            }
            names = new UsedNames(chooser == null ? contents.copies() : kept, names);
            hasEnded = true;
            return lost;
        }

        /** Returns whether the source has no entries and will get none. */
        final boolean isSpent() {
            return hasEnded && contents.entryCount() == 0 && (keeper == null || !keeper.holds(contents));
        }

        /** Discards all written spans. */
        synchronized void clear() {
            contents.clear();
        }
    }

    /** The source of a store, which lives as long as the profiler that writes to it. */
    private static final class StoreSource extends Source {

        private final WeakReference<SpanStore> store;

        StoreSource(SpanStore store, SpanSink.Names names, @Nullable SlowStepKeeper keeper) {
            super(store.contents(), names, keeper);
            this.store = new WeakReference<>(store);
        }

        @Override
        boolean isForgotten() {
            return !hasEnded() && store.get() == null;
        }
    }

    /**
     * Collects the spans that a profiler timed on one stream of a device. Calls of the profiler exclude each other. The
     * stream keeps the profiler's timing until the profiler is unreachable and no sample is pending.
     */
    static final class TimedStream extends Source implements SpanSink.Stream {

        private final SpanSink.Place place;
        private final WeakReference<Object> owner;

        /** Resolves pending samples, and keeps the profiler's timing alive. Null once no more samples can come. */
        private volatile @Nullable BooleanSupplier catchUp;

        /** Null once no more samples can come. Guarded by this. */
        private @Nullable SpanBuffer spans;

        private long errorNs;
        private boolean isErrorKnown = true;
        private boolean isNetKnown;
        private long withoutPlace;

        private TimedStream(
                SpanSink.Place place,
                SpanSink.Names names,
                Object owner,
                BooleanSupplier catchUp,
                SpanStore store,
                @Nullable SlowStepKeeper keeper) {
            super(store.contents(), names, keeper);
            this.place = place;
            this.owner = new WeakReference<>(owner);
            this.catchUp = catchUp;
            this.spans = store.newSharedBuffer();
        }

        @Override
        public synchronized void sample(
                int row, long startNs, long elapsedNs, long elements, long launchLine, long launchNs) {
            SpanBuffer buffer = spans;
            if (buffer == null) {
                withoutPlace++;
                return;
            }
            if (buffer.add(SpanKind.DEVICE_SAMPLE, row, startNs, elapsedNs, elements)) {
                buffer.add(SpanKind.LAUNCH, 0, launchNs, 0, launchLine);
            }
        }

        @Override
        public synchronized void sampleWithoutPlace() {
            withoutPlace++;
        }

        @Override
        public synchronized void clockErrorNs(long ns) {
            isErrorKnown &= ns >= 0;
            errorNs = Math.max(errorNs, ns);
        }

        @Override
        public synchronized void hasNetTimes() {
            isNetKnown = true;
        }

        /**
         * Lets the profiler resolve the finished work of the device.
         *
         * @return whether samples are still pending
         */
        boolean catchUp() {
            BooleanSupplier source = catchUp;
            return source != null && source.getAsBoolean();
        }

        @Override
        boolean isForgotten() {
            return catchUp != null && owner.get() == null && !catchUp();
        }

        @Override
        synchronized long end() {
            spans = null;
            catchUp = null;
            long lost = super.end();
            if (contents().entryCount() == 0) {
                lost += withoutPlace;
                withoutPlace = 0;
            }
            return lost;
        }

        SpanSink.Place place() {
            return place;
        }

        /** Returns the backend of its device; an unknown one is treated like a processor. */
        Backend backend() {
            return Arrays.stream(Backend.values())
                    .filter(backend -> backend.name().equals(place.backend()))
                    .findFirst()
                    .orElse(Backend.CPU);
        }

        /** Returns copies of the recorded spans, none of which lacks its launch. */
        synchronized List<SpanCopy> copies(Function<SpanContents, List<SpanCopy>> all) {
            return all.apply(contents());
        }

        /** Returns the largest error of the place of a span, ns; empty if that of some span is unknown. */
        synchronized OptionalLong clockErrorNs() {
            return isErrorKnown ? OptionalLong.of(errorNs) : OptionalLong.empty();
        }

        /** Returns whether the profile has net times of the stream. */
        synchronized boolean isNetKnown() {
            return isNetKnown;
        }

        /** Returns the number of samples that are missing because their time is unknown. */
        synchronized long withoutPlace() {
            return withoutPlace;
        }

        @Override
        synchronized void clear() {
            super.clear();
            withoutPlace = 0;
        }
    }

    /**
     * The names of the keys in use, once no further entry can come. A profiler's own table of names is much larger and
     * keeps more alive. Immutable.
     */
    private static final class UsedNames implements SpanSink.Names {

        private final String[] names;
        private final String[] categories;

        UsedNames(List<SpanCopy> copies, SpanSink.Names all) {
            boolean[] used = new boolean[all.size()];
            int size = 0;
            for (SpanCopy copy : copies) {
                for (int entry = 0; entry < copy.size(); entry++) {
                    used[copy.key(entry)] = true;
                    size = Math.max(size, copy.key(entry) + 1);
                }
            }
            names = new String[size];
            categories = new String[size];
            int named = size - 1;
            for (int key = size - 1; key >= 0; key--) {
                // No entry has this key, but a timeline looks up each key's name: any existing name will do.
                named = used[key] ? key : named;
                names[key] = all.name(named);
                categories[key] = all.category(named);
            }
        }

        @Override
        public int size() {
            return names.length;
        }

        @Override
        public String name(int key) {
            return names[key];
        }

        @Override
        public String category(int key) {
            return categories[key];
        }
    }
}
