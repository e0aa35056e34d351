package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongUnaryOperator;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.PhaseKey;
import org.brickprofiler.internal.record.SpanContents;
import org.brickprofiler.internal.record.SpanCopy;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.jspecify.annotations.Nullable;

/**
 * Reads the bricks of profilers from the buffers of their threads, and gives them to a {@link LineJoin}. Platform
 * threads have a buffer each. Virtual threads share buffers, and one may write to several of these, so their bricks are
 * put in order first; their processor time is unknown. Not thread-safe.
 */
final class LineBricks {

    /** The most virtual threads of a profiler that are remembered from one reading to the next. */
    static final int MOST_VIRTUAL = 1 << 14;

    /** Entries of a shared buffer may come about this many places later than those that ended after them. */
    private static final int LATE_ENTRIES = 64;

    /** For so long, the share of a thread in a processor since samples began says something of its first bricks. */
    private static final long LONGEST_BEGINNING_NS = 5_000_000_000L;

    private final LineJoin join;
    private final LongUnaryOperator processorNsOf;
    private final long fromNs;

    /** The buffers of platform threads by their identity. */
    private final Map<Object, Buffer> buffers = new HashMap<>();

    private final Map<SpanContents, OfProfiler> profilers = new HashMap<>();

    /** The processor time of the threads that noted when samples began, by their ids. */
    private final Map<Long, ProcessorTime> begun;

    /** The moment before which bricks of virtual threads were overwritten. */
    private long lostVirtualNs = Long.MIN_VALUE;

    /**
     * How long processors had run a thread.
     *
     * @param ranNs the time, ns
     * @param atNs when it was read, ns on the recorder's clock
     */
    record ProcessorTime(long ranNs, long atNs) {}

    /**
     * The bricks that a profiler records.
     *
     * @param contents the buffers of its threads
     * @param names the names of its bricks
     */
    record Source(SpanContents contents, SpanSink.Names names) {}

    /**
     * Makes a reader of the bricks that end from a moment on.
     *
     * @param join receives the bricks
     * @param processorNsOf returns how long processors have run a thread of this id, ns; negative if that is unknown
     * @param begun the processor time of threads when samples began, by their ids; those that are used are removed
     * @param fromNs the moment, ns on the recorder's clock
     */
    LineBricks(LineJoin join, LongUnaryOperator processorNsOf, Map<Long, ProcessorTime> begun, long fromNs) {
        this.join = join;
        this.processorNsOf = processorNsOf;
        this.begun = begun;
        this.fromNs = fromNs;
    }

    /**
     * Finds the bricks that have ended since the last call, their threads, and how long processors ran these.
     *
     * @param sources the bricks of all profilers
     * @param untilNs the moment until which bricks are read next
     * @param nowNs the time now
     */
    void find(List<Source> sources, long untilNs, long nowNs) {
        profilers.forEach((contents, profiler) -> profiler.isThere = false);
        buffers.values().forEach(buffer -> buffer.copy = null);
        for (Source source : sources) {
            OfProfiler profiler = profilers.computeIfAbsent(source.contents(), first -> new OfProfiler());
            profiler.isThere = true;
            profiler.names = source.names();
            for (SpanCopy copy : source.contents().copiesAfter(profiler::readNs)) {
                if (copy.size() > 0 && copy.threadId() >= 0) {
                    buffers.computeIfAbsent(copy.buffer(), first -> new Buffer(copy, profiler))
                            .found(copy);
                } else if (copy.size() == 0 && copy.threadId() < 0) {
                    // It has no room: all of its bricks are lost.
                    profiler.lost(nowNs);
                } else if (copy.size() > 0 && copy.writer(0) >= 0) {
                    profiler.found(copy);
                }
            }
        }
        profilers.values().forEach(profiler -> profiler.findWorkers(untilNs));
        buffers.values().forEach(buffer -> buffer.readProcessorTime(nowNs));
    }

    /**
     * Returns for which steps the thread of a sample worked, by the layers that profilers had given it.
     *
     * @return empty if it held none; a step is unknown if the entries of its beginning are lost
     */
    List<StepWorkers.Work> work(LineSample sample) {
        List<StepWorkers.Work> work = new ArrayList<>();
        for (OfProfiler profiler : profilers.values()) {
            profiler.workers.at(sample.threadId(), sample.atNs()).ifPresent(work::add);
        }
        return work;
    }

    /** Gives the join the bricks that have ended until a moment. */
    void read(long untilNs) {
        buffers.values().forEach(buffer -> buffer.read(untilNs));
        profilers.values().forEach(profiler -> profiler.read(untilNs));
        profilers.values().forEach(profiler -> profiler.workers.forgetBefore(untilNs));
    }

    /**
     * Settles the samples before a moment whose bricks have not come, and forgets the threads whose bricks no longer
     * come.
     */
    void giveUp(long beforeNs) {
        for (Iterator<Buffer> each = buffers.values().iterator(); each.hasNext(); ) {
            Buffer buffer = each.next();
            LineSeries series = buffer.series;
            if (series != null) {
                series.giveUp(beforeNs);
            }
            if (buffer.copy == null) {
                if (series != null) {
                    join.remove(buffer.threadId, series);
                }
                each.remove();
            }
        }
        for (Iterator<OfProfiler> each = profilers.values().iterator(); each.hasNext(); ) {
            OfProfiler profiler = each.next();
            profiler.giveUp(beforeNs);
            if (!profiler.isThere) {
                each.remove();
            }
        }
    }

    /** Returns whether a brick of a virtual thread may be lost in which a sample was taken. */
    boolean isVirtualLost(long atNs) {
        return atNs < lostVirtualNs;
    }

    /** The bricks of a platform thread. */
    private final class Buffer {
        private final OfProfiler profiler;
        private final long threadId;

        /** Its bricks; null before the first one of a thread that only works for others. */
        private @Nullable LineSeries series;

        /** The number of the first entry that has not been found. */
        private long nextFound;

        /** The number of the first entry that has not been read. */
        private long next;

        /** The end of the last brick that has been read, from which on the next ones are copied. */
        private long readNs = fromNs;

        /** The latest reading of its processor time; null before the first one. */
        private @Nullable ProcessorTime read;

        /** The share of the latest time in which a processor ran the thread; NaN before it is known. */
        private double processorShare = Double.NaN;

        /** The latest entries; null if the buffer is gone. */
        private @Nullable SpanCopy copy;

        private boolean runsSteps;

        Buffer(SpanCopy copy, OfProfiler profiler) {
            this.profiler = profiler;
            threadId = copy.threadId();
            next = firstToRead(copy);
            nextFound = next;
        }

        /** Notes new entries, of which some may end later than those that are read now. */
        void found(SpanCopy latest) {
            copy = latest;
            int entry = firstUnread(latest, nextFound);
            if (isBehindLoss(latest, entry, nextFound)) {
                // A brick may be lost, too.
                ownSeries();
                profiler.workers.lost(threadId);
            }
            for (; entry < latest.size(); entry++) {
                found(latest, entry);
            }
            nextFound = latest.number(0) + latest.size();
        }

        private void found(SpanCopy latest, int entry) {
            SpanKind kind = latest.kind(entry);
            if (isOfOwnWork(kind)) {
                LineSeries own = ownSeries();
                if (isOfStep(kind) && !runsSteps) {
                    runsSteps = true;
                    join.runsSteps(own);
                }
            }
            if (isChange(kind) || kind == SpanKind.LAYER_CHANGE) {
                profiler.change(Change.of(latest, entry, false), series);
            }
        }

        private LineSeries ownSeries() {
            LineSeries own = series;
            if (own == null) {
                own = join.newSeries(threadId);
                series = own;
            }
            return own;
        }

        /** Reads how long processors ran the thread since the last call. */
        void readProcessorTime(long nowNs) {
            long ns = processorNsOf.applyAsLong(threadId);
            if (ns < 0) {
                // The thread has ended, or its time is unknown.
                return;
            }
            ProcessorTime first = begun.remove(threadId);
            if (read == null && first != null && nowNs - first.atNs() <= LONGEST_BEGINNING_NS) {
                read = first;
            }
            // The first reading is of the whole life of a thread, which may have begun long before its bricks.
            processorShare = read == null ? 1 : Math.min(1, (double) (ns - read.ranNs()) / (nowNs - read.atNs()));
            read = new ProcessorTime(ns, nowNs);
        }

        /** Reads the bricks that have ended until a moment. */
        void read(long untilNs) {
            SpanCopy latest = copy;
            if (latest == null) {
                return;
            }
            int entry = firstUnread(latest, next);
            if (series != null && isBehindLoss(latest, entry, next)) {
                series.lostBefore(latest.endNs(entry));
            }
            for (; entry < latest.size() && latest.endNs(entry) <= untilNs; entry++) {
                next = latest.number(entry) + 1;
                if (latest.kind(entry) != SpanKind.DEFERRED) {
                    readNs = Math.max(readNs, latest.endNs(entry));
                }
                if (series != null && latest.endNs(entry) >= fromNs) {
                    read(latest, entry, series);
                }
            }
        }

        private void read(SpanCopy latest, int entry, LineSeries own) {
            switch (latest.kind(entry)) {
                case SPAN ->
                    own.brick(
                            profiler.row(latest.phase(entry), latest.key(entry)),
                            latest.startNs(entry),
                            latest.endNs(entry),
                            processorShare);
                case PASS_END -> own.passEnded(latest.startNs(entry));
                default -> {
                    // It says nothing of the time of bricks.
                }
            }
        }
    }

    /** The bricks of a profiler. */
    private final class OfProfiler {

        private final @Nullable LineRow[] rows = new LineRow[PhaseKey.PHASES << PhaseKey.KEY_BITS];

        /** The buffers that virtual threads share, by their identity. */
        private final Map<Object, Shared> shared = new HashMap<>();

        /** The virtual threads by their ids; those without new bricks first. */
        private final Map<Long, VirtualThread> threads = new LinkedHashMap<>(16, 0.75f, true);

        /** The bricks of virtual threads that have not been read. */
        private final List<Entry> unread = new ArrayList<>();

        private final StepWorkers workers = new StepWorkers();

        /** The changes of virtual threads that are not applied. */
        private final List<Change> changes = new ArrayList<>();

        private SpanSink.@Nullable Names names;
        private boolean isThere;

        /** Whether entries of virtual threads were lost since the last reading. */
        private boolean hasLost;

        /** Returns the moment from which on a buffer is copied. */
        long readNs(Object identity) {
            Buffer own = buffers.get(identity);
            Shared ofVirtual = shared.get(identity);
            return own != null ? own.readNs : ofVirtual != null ? ofVirtual.readNs : fromNs;
        }

        LineRow row(int phase, int key) {
            int packed = PhaseKey.of(phase, key);
            LineRow row = rows[packed];
            if (row == null) {
                row = join.row(
                        Objects.requireNonNull(names).name(key),
                        Span.StatedPhase.of(phase).ofStep());
                rows[packed] = row;
            }
            return row;
        }

        /** Takes the new entries of virtual threads. */
        void found(SpanCopy copy) {
            Shared buffer = shared.computeIfAbsent(copy.buffer(), first -> new Shared(firstToRead(copy)));
            int entry = firstUnread(copy, buffer.next);
            if (isBehindLoss(copy, entry, buffer.next)) {
                for (int late = entry; late < Math.min(copy.size(), entry + LATE_ENTRIES); late++) {
                    lost(copy.endNs(late));
                }
                workers.lostOfVirtualThreads();
            }
            for (; entry < copy.size(); entry++) {
                buffer.next = copy.number(entry) + 1;
                buffer.readNs = Math.max(buffer.readNs, copy.endNs(entry));
                if (copy.endNs(entry) >= fromNs) {
                    found(copy, entry);
                }
            }
        }

        /** Notes that bricks of virtual threads before a moment may be lost. */
        void lost(long beforeNs) {
            hasLost = true;
            lostVirtualNs = Math.max(lostVirtualNs, beforeNs);
        }

        private void found(SpanCopy copy, int entry) {
            SpanKind kind = copy.kind(entry);
            if (isOfOwnWork(kind)) {
                VirtualThread thread = thread(copy.writer(entry));
                thread.latestNs = Math.max(thread.latestNs, copy.endNs(entry));
                if (isOfStep(kind) && !thread.runsSteps) {
                    thread.runsSteps = true;
                    join.runsSteps(thread.series);
                }
            }
            if (kind == SpanKind.SPAN || kind == SpanKind.PASS_END) {
                LineRow row = kind == SpanKind.SPAN ? row(copy.phase(entry), copy.key(entry)) : null;
                unread.add(new Entry(copy.writer(entry), row, copy.startNs(entry), copy.endNs(entry)));
            } else if (isChange(kind)) {
                changes.add(Change.of(copy, entry, true));
            }
        }

        /** Notes for which steps virtual threads worked until a moment. */
        void findWorkers(long untilNs) {
            changes.sort(Comparator.comparingLong(Change::atNs));
            int applied = 0;
            for (; applied < changes.size() && changes.get(applied).atNs() <= untilNs; applied++) {
                Change change = changes.get(applied);
                change(change, change.kind() == SpanKind.LAYER_START ? thread(change.threadId()).series : null);
            }
            changes.subList(0, applied).clear();
        }

        /** Notes the layer for which a thread works from a moment on. */
        void change(Change change, @Nullable LineSeries series) {
            switch (change.kind()) {
                case LAYER_START -> {
                    workers.began(LayerToken.passOf(change.value()), Objects.requireNonNull(series));
                    workers.worksFor(change, LayerToken.NO_PASS);
                }
                case LAYER_END -> workers.worksFor(change, LayerToken.NO_PASS);
                case LAYER_CHANGE, WORK_FOR -> workers.worksFor(change, LayerToken.passAfter(change.value()));
                default -> {
                    // The layer stays.
                }
            }
        }

        private VirtualThread thread(long threadId) {
            return threads.computeIfAbsent(threadId, first -> new VirtualThread(join.newSeries(threadId)));
        }

        /** Reads the bricks of virtual threads that have ended until a moment. */
        void read(long untilNs) {
            if (hasLost) {
                hasLost = false;
                threads.values().forEach(thread -> thread.series.lostBefore(lostVirtualNs));
                join.loseEarlyOfVirtualThreads(lostVirtualNs);
            }
            unread.sort(Entry.IN_ORDER);
            int read = 0;
            for (; read < unread.size() && unread.get(read).endNs() <= untilNs; read++) {
                Entry entry = unread.get(read);
                entry.addTo(thread(entry.threadId()).series);
            }
            unread.subList(0, read).clear();
        }

        void giveUp(long beforeNs) {
            for (Iterator<Map.Entry<Long, VirtualThread>> each =
                            threads.entrySet().iterator();
                    each.hasNext(); ) {
                Map.Entry<Long, VirtualThread> entry = each.next();
                VirtualThread thread = entry.getValue();
                thread.series.giveUp(beforeNs);
                boolean isIdle = thread.latestNs < beforeNs && !thread.series.isAwaited();
                if (!isThere || isIdle || threads.size() > MOST_VIRTUAL) {
                    join.remove(entry.getKey(), thread.series);
                    each.remove();
                }
            }
        }
    }

    /** A buffer that virtual threads share. */
    private final class Shared {
        /** The number of the first entry that has not been taken. */
        private long next;

        /** The latest end of the entries that have been taken. */
        private long readNs = fromNs;

        Shared(long next) {
            this.next = next;
        }
    }

    /** A virtual thread with bricks. */
    private static final class VirtualThread {
        private final LineSeries series;
        private boolean runsSteps;

        /** The end of its latest brick, step or pass. */
        private long latestNs = Long.MIN_VALUE;

        VirtualThread(LineSeries series) {
            this.series = series;
        }
    }

    /**
     * A brick or the end of a pass.
     *
     * @param threadId the thread that wrote it
     * @param row the brick; null for the end of a pass
     * @param startNs its beginning
     * @param endNs its end
     */
    private record Entry(long threadId, @Nullable LineRow row, long startNs, long endNs) {

        /** A pass ends after its bricks, and a brick after those inside it; the order of writing decides otherwise. */
        static final Comparator<Entry> IN_ORDER = Comparator.comparingLong(Entry::endNs)
                .thenComparing(entry -> entry.row() == null)
                .thenComparing(Comparator.comparingLong(Entry::startNs).reversed());

        void addTo(LineSeries series) {
            if (row == null) {
                series.passEnded(endNs);
            } else {
                series.brick(row, startNs, endNs, Double.NaN);
            }
        }
    }

    /** An entry that may change the layer for which its thread works. */
    record Change(long threadId, boolean isOfVirtualThread, long atNs, SpanKind kind, long value) {
        static Change of(SpanCopy copy, int entry, boolean isOfVirtualThread) {
            return new Change(
                    copy.writer(entry), isOfVirtualThread, copy.startNs(entry), copy.kind(entry), copy.value(entry));
        }
    }

    /** Returns whether an entry shows that its thread runs bricks or layers. */
    private static boolean isOfOwnWork(SpanKind kind) {
        return kind == SpanKind.SPAN || kind == SpanKind.LAYER_START || isOfStep(kind);
    }

    /** Returns whether its thread works for another layer after an entry, in any buffer. */
    private static boolean isChange(SpanKind kind) {
        return kind == SpanKind.LAYER_START || kind == SpanKind.LAYER_END || kind == SpanKind.WORK_FOR;
    }

    private static boolean isOfStep(SpanKind kind) {
        return kind == SpanKind.PASS_END || kind == SpanKind.STEP_START;
    }

    /** Returns the number from which on a new buffer is read: one that was lost, if entries were overwritten. */
    private static long firstToRead(SpanCopy copy) {
        return copy.dropped() > 0 ? copy.number(0) - 1 : copy.number(0);
    }

    private static int firstUnread(SpanCopy copy, long next) {
        return (int) Math.max(0, next - copy.number(0));
    }

    private static boolean isBehindLoss(SpanCopy copy, int entry, long next) {
        return entry < copy.size() && copy.number(entry) > next;
    }
}
