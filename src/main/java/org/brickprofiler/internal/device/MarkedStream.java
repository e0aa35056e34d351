package org.brickprofiler.internal.device;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.spi.NanoClock;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One stream of a recorder: sets marks where bricks begin and end, and resolves the samples between them. What is known of
 * the marks is in {@link Marks}, the samples are in {@link WaitingSamples}, and a {@link MarkChain} puts marks in the
 * device's order and finds their times; this brings the three together.
 *
 * <p>Bricks are started and stopped by any thread, without a lock; the rest happens on one thread at a time, which {@link
 * DeviceRecorder} sees to.
 */
final class MarkedStream {

    private static final Logger LOG = LoggerFactory.getLogger(MarkedStream.class);

    private static final long NO_TIME = DeviceRecorder.NO_TIME;
    private static final long NO_ELEMENTS = -1;

    /** More threads than this that mark and end no pass: of the others it is forgotten that they did. */
    private static final int MOST_MARKERS = 256;

    private final DeviceStream stream;
    private final NanoClock clock;
    private final int index;

    private final Marks marks;

    /** The marks at which deferred measurements may begin. */
    private final StartMarks starts;

    private final LaunchDraws draws;
    private final SampleQueue queue;
    private final DeviceFigures.Sums sums;

    /** Makes room where no mark is left; false where that could not be done. */
    private final Predicate<MarkedStream> roomMaker;

    /** Whether it was logged that no mark was left. */
    private final AtomicBoolean exhausted = new AtomicBoolean();

    /** Null where nobody wants spans. */
    private final SpanSink.@Nullable Stream spans;

    /** Has the timelines of the threads. */
    private final TableRegistry lines;

    // All that follows is touched by one thread at a time.

    private final WaitingSamples waiting;
    private final MarkChain chain;

    /** Whether samples end here that have no mark at their start. */
    private boolean hasEndsOnly;

    /** The threads that ended samples here since they last ended a pass. */
    private final LongArrayList markers = new LongArrayList();

    /** Up to which mark time was added up; it is held. */
    private int counted = DeviceStream.NO_MARK;

    /** Set behind all samples that may be resolved, see {@link MarkChain}; it is held. */
    private long fence = Marks.NONE;

    // What is added up until a reset.
    private long samples;
    private long busyNs;
    private long idleNs;
    private long waits;

    /** The latest; a reset leaves it. */
    private long clockErrorNs;

    /**
     * A stream that was not marked so far.
     *
     * @param stream the queue of the device
     * @param index its number among the streams of its recorder
     * @param clock the host's clock
     * @param launchesEvery the host's side is timed of one brick in so many
     * @param queue takes the samples that threads end
     * @param sums takes those that have their time, or never will
     * @param roomMaker makes room where no mark is left, and reports whether it could
     * @param lines has the timelines of the threads, for launches
     * @param spans takes the device's work; null where nobody wants spans
     */
    MarkedStream(
            DeviceStream stream,
            int index,
            NanoClock clock,
            int launchesEvery,
            SampleQueue queue,
            DeviceFigures.Sums sums,
            Predicate<MarkedStream> roomMaker,
            TableRegistry lines,
            SpanSink.@Nullable Stream spans) {
        this.stream = stream;
        this.index = index;
        this.clock = clock;
        this.draws = new LaunchDraws(spans == null ? launchesEvery : 1);
        this.queue = queue;
        this.sums = sums;
        this.roomMaker = roomMaker;
        this.lines = lines;
        this.spans = spans;
        this.marks = new Marks(stream);
        this.starts = new StartMarks(marks);
        this.waiting = new WaitingSamples(stream, marks);
        this.chain = new MarkChain(stream, marks);
    }

    DeviceStream stream() {
        return stream;
    }

    int index() {
        return index;
    }

    // ---- any thread ----

    /** See {@link DeviceRecorder#start}. */
    long start(int key) {
        boolean timed = draws.next();
        long start = set(1, timed);
        return MarkToken.device(key, index, start, timed);
    }

    /** See {@link DeviceRecorder#stop}. */
    long stop(long timer, long elements) {
        int key = MarkToken.key(timer);
        long start = MarkToken.handle(timer);
        if (!marks.isCurrent(start)) {
            sums.unresolved(key);
            return NO_TIME;
        }
        boolean timed = MarkToken.isTimed(timer);
        long end = set(1, timed);
        return end(key, start, end, elements) && timed ? marks.setNs(Marks.mark(end)) : NO_TIME;
    }

    /** See {@link DeviceRecorder#lap}. */
    long lap(long timer, long elements, int nextKey) {
        int key = MarkToken.key(timer);
        long start = MarkToken.handle(timer);
        boolean running = marks.isCurrent(start);
        boolean timed = draws.next();
        long mark = set(running ? 2 : 1, timed || (running && MarkToken.isTimed(timer)));
        if (running) {
            end(key, start, mark, elements);
        } else {
            sums.unresolved(key);
        }
        return MarkToken.device(nextKey, index, mark, timed);
    }

    /** Ends the sample of a timer at a mark, or without one. False where its time will not be known. */
    private boolean end(int key, long start, long end, long elements) {
        // Where marks ran out, that of the start may have been given to another brick.
        if (spans != null && marks.isCurrent(start)) {
            launched(key, marks.setNs(Marks.mark(start)), end);
        }
        boolean isMarked = end != Marks.NONE;
        if (!queue.offer(index, key, false, start, isMarked ? Marks.mark(end) : SampleQueue.NO_END, elements)) {
            sums.unresolved(key);
            letGo(end);
            return false;
        }
        return isMarked;
    }

    /** See {@link DeviceRecorder#startedNs}. */
    long startedNs(long timer) {
        long start = MarkToken.handle(timer);
        return marks.isCurrent(start) ? marks.setNs(Marks.mark(start)) : NO_TIME;
    }

    /** See {@link DeviceRecorder#markStart}. */
    long markStart() {
        long nowNs = clock.nanoTime();
        long reading = starts.reading(nowNs);
        if (!setStart(nowNs, reading) && !(roomMaker.test(this) && setStart(nowNs, reading))) {
            miss();
        }
        return reading;
    }

    private boolean setStart(long nowNs, long reading) {
        int mark = stream.mark();
        if (mark == DeviceStream.NO_MARK) {
            return false;
        }
        marks.setReading(mark, reading);
        starts.put(reading, marks.set(mark, 1, nowNs));
        return true;
    }

    /** See {@link DeviceRecorder#endSince}. */
    void endSince(int key, long sinceNs, long elements) {
        long start = starts.find(sinceNs);
        long end = set(1, true);
        if (spans != null) {
            launched(key, sinceNs, end);
        }
        int mark = end == Marks.NONE ? SampleQueue.NO_END : Marks.mark(end);
        boolean queued;
        if (start != Marks.NONE) {
            queued = queue.offer(index, key, true, start, mark, elements);
        } else if (end != Marks.NONE) {
            marks.setReading(mark, sinceNs);
            queued = queue.offer(index, key, false, end, mark, elements);
        } else {
            queued = false;
        }
        if (!queued) {
            sums.unresolved(key);
            letGo(start);
            letGo(end);
        }
    }

    /** Lets go of a mark that the caller holds, if it does. */
    void letGo(long handle) {
        if (handle != Marks.NONE) {
            marks.letGo(handle);
        }
    }

    /** Sets a mark, with so many holders; reading the host's clock takes about as long as the rest of it. */
    private long set(int holders, boolean reads) {
        long mark = trySet(holders, reads);
        return mark != Marks.NONE ? mark : setAfterMakingRoom(holders, reads);
    }

    private long trySet(int holders, boolean reads) {
        long nowNs = reads ? clock.nanoTime() : Marks.NOT_READ;
        int mark = stream.mark();
        return mark == DeviceStream.NO_MARK ? Marks.NONE : marks.set(mark, holders, nowNs);
    }

    private long setAfterMakingRoom(int holders, boolean reads) {
        long mark = roomMaker.test(this) ? trySet(holders, reads) : Marks.NONE;
        if (mark == Marks.NONE) {
            miss();
        }
        return mark;
    }

    /** A brick has no mark. Logged once, unless the stream has a reason of its own. */
    private void miss() {
        if (!exhausted.get() && stream.failure().isEmpty() && exhausted.compareAndSet(false, true)) {
            LOG.warn(
                    "all {} marks of stream '{}' wait for their bricks: until one is free, bricks are unresolved. End"
                            + " passes more often, or give the stream more marks",
                    stream.maxMarks(),
                    stream.name());
        }
        marks.miss();
    }

    /** Puts the launch of a sample onto the line of the calling thread, which has just ended it. */
    private void launched(int key, long sinceNs, long end) {
        boolean isMarked = end != Marks.NONE;
        long endNs = isMarked ? marks.setNs(Marks.mark(end)) : clock.nanoTime();
        long line = lines.mark(SpanKind.ENQUEUED, key, sinceNs, Math.max(0, endNs - sinceNs), NO_ELEMENTS);
        if (isMarked) {
            marks.setLine(Marks.mark(end), line);
        }
    }

    /** From now on the host's side of every brick is timed. */
    void timeEveryLaunch() {
        draws.drawAll();
    }

    // ---- one thread at a time: what waits ----

    /** Takes a sample from the queue, unless it has no end or its first mark is another brick's by now: then it is unresolved. */
    void take(long owner, int key, boolean holdsStart, long start, int end, long elements) {
        int startMark = Marks.mark(start);
        boolean isMarked = end != SampleQueue.NO_END;
        noteMarker(owner);
        if (!marks.isCurrent(start)) {
            sums.unresolved(key);
            if (isMarked) {
                marks.letGo(end);
            }
            return;
        }
        boolean holds = holdsStart || marks.claim(startMark);
        if (isMarked) {
            if (!holds) {
                marks.hold(startMark);
            }
            waiting.add(key, startMark, end, elements, owner);
            hasEndsOnly |= startMark == end;
        } else {
            sums.unresolved(key);
            if (holds) {
                marks.letGo(startMark);
            }
        }
    }

    private void noteMarker(long owner) {
        if (!markers.contains(owner)) {
            if (markers.size() == MOST_MARKERS) {
                markers.removeAtIndex(0);
            }
            markers.add(owner);
        }
    }

    /** Whether a thread ended samples here since it last ended a pass. */
    boolean hasMarked(long owner) {
        return markers.contains(owner);
    }

    /** How many samples wait for their time. */
    int pendingCount() {
        return waiting.size();
    }

    /** The mark that a thread has to wait for, or everybody; held until {@link #letGo}. {@link Marks#NONE} without one. */
    long holdEndToAwait(long owner) {
        return hold(waiting.endToAwait(owner));
    }

    private long hold(int mark) {
        if (mark == DeviceStream.NO_MARK) {
            return Marks.NONE;
        }
        marks.hold(mark);
        return marks.handle(mark);
    }

    // ---- one thread at a time: resolving ----

    /**
     * Resolves the samples of a thread that has waited, whose last one is reached, and those of others that are.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @param awaited the mark that it waited for, as {@link #holdEndToAwait} returned it; let go here
     * @param wasReached whether that was reached before, so that nothing was waited for
     * @param lookedNs the host's clock after that
     * @return the mark that it has to wait for next, held; {@link Marks#NONE} for none. There is one where its last mark is
     *     never reached, being of a capture, or where a virtual thread's samples came in another order than it ended them
     */
    long resolve(long owner, long awaited, boolean wasReached, long lookedNs) {
        draws.drawNext();
        if (wasReached) {
            setFence();
        } else {
            waits++;
        }
        int done = waiting.moveDoneToFront(owner);
        if (done > 0) {
            resolve(done, lookedNs, wasReached ? DeviceStream.NO_MARK : Marks.mark(awaited));
        }
        dropFence();
        marks.letGo(awaited);
        return hold(waiting.lastUnreachedEnd(owner));
    }

    /** Resolves the samples that have their time, without waiting. */
    void poll() {
        draws.drawNext();
        setFence();
        int done = stream.isUsable() ? waiting.moveReachedToFront() : waiting.size();
        if (done > 0) {
            resolve(done, clock.nanoTime(), DeviceStream.NO_MARK);
        }
        dropFence();
    }

    /** After the timeout of a wait: the samples of a thread that the device has not done are unresolved. */
    void giveUp(long owner) {
        waits++;
        int count = waiting.moveOwnToFront(owner);
        for (int i = 0; i < count; i++) {
            sums.unresolved(waiting.key(i));
        }
        if (count > 0) {
            // Until the next mark the device may have been busy with them.
            marks.miss();
        }
        waiting.drop(count);
    }

    /** Uses the mark as fence that was set at a reading of {@link #markStart}, for the next {@link #poll}. False where there is none. */
    boolean fenceAt(long readingNs) {
        fence = starts.find(readingNs);
        return fence != Marks.NONE;
    }

    /** Where samples have no mark at their start, the host's time must have an exact place in the device's. */
    private void setFence() {
        if (hasEndsOnly && fence == Marks.NONE && waiting.size() > 0) {
            fence = trySet(1, true);
        }
        if (fence != Marks.NONE && !(hasEndsOnly && stream.isReached(Marks.mark(fence)))) {
            dropFence();
        }
    }

    private void dropFence() {
        letGo(fence);
        fence = Marks.NONE;
    }

    private void resolve(int count, long lookedNs, int awaited) {
        chain.begin();
        if (counted != DeviceStream.NO_MARK) {
            chain.add(counted);
        }
        for (int i = 0; i < count; i++) {
            if (waiting.hasStart(i)) {
                chain.addSample(waiting.start(i), waiting.end(i));
            } else {
                chain.add(waiting.end(i));
            }
        }
        chain.measure(lookedNs, awaited, fence == Marks.NONE ? DeviceStream.NO_MARK : Marks.mark(fence));
        if (chain.isEarly() && stream.isUsable()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            resolve(i, lookedNs);
        }
        addUp(count);
        waiting.drop(count);
    }

    private void resolve(int i, long lookedNs) {
        int key = waiting.key(i);
        int start = waiting.start(i);
        int end = waiting.end(i);
        boolean hasStart = waiting.hasStart(i);
        long elapsedNs = hasStart ? elapsedNs(start, end) : chain.elapsedSinceNs(marks.reading(end), end);
        if (elapsedNs < 0) {
            sums.unresolved(key);
            if (hasStart) {
                chain.leaveOut(start, end);
            }
            return;
        }
        samples++;
        long launchedNs = hasStart ? marks.setNs(start) : marks.reading(end);
        long endedNs = marks.setNs(end);
        boolean isTimed = launchedNs != Marks.NOT_READ && endedNs != Marks.NOT_READ;
        sums.resolved(
                key,
                elapsedNs,
                isTimed ? Math.max(0, endedNs - launchedNs) : NO_TIME,
                chain.isUnbroken() ? chain.hostNs(end) : lookedNs,
                waiting.elements(i));
        if (spans == null) {
            return;
        }
        if (chain.isUnbroken()) {
            spans.clockErrorNs(chain.hostErrorNs());
            spans.sample(
                    key, chain.hostNs(end) - elapsedNs, elapsedNs, waiting.elements(i), marks.line(end), launchedNs);
        } else {
            spans.sampleWithoutPlace();
        }
    }

    private long elapsedNs(int start, int end) {
        long ns = chain.elapsedNs(start, end);
        return ns < 0 || stream.hasWorkBetween(start, end) ? ns : DeviceStream.UNRESOLVED;
    }

    private void addUp(int resolved) {
        chain.addUp(counted);
        busyNs += chain.busyNs();
        idleNs += chain.idleNs();
        if (chain.isUnbroken() && chain.hostErrorNs() != MarkChain.NO_ERROR) {
            clockErrorNs = chain.hostErrorNs();
        }
        int last = chain.last();
        // Of a pass that is over nothing more will be counted, unless some of it still waits.
        boolean goesOn = last != DeviceStream.NO_MARK
                && (hasEndsOnly
                        || marks.isOfPassNow(last)
                        || (waiting.size() > resolved && marks.areOfOnePass(last, waiting.end(resolved))));
        if (goesOn) {
            marks.hold(last);
        }
        forgetCounted();
        counted = goesOn ? last : DeviceStream.NO_MARK;
    }

    private void forgetCounted() {
        if (counted != DeviceStream.NO_MARK) {
            marks.letGo(counted);
            counted = DeviceStream.NO_MARK;
        }
    }

    // ---- one thread at a time: boundaries ----

    /** A pass of a thread ends, or of everybody: the time until the next one is nobody's. */
    void endPass(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            markers.clear();
        } else if (!markers.remove(owner)) {
            return;
        }
        marks.endPass();
        // Of a pass that has ended nothing is remembered that nobody will ask for.
        if (waiting.size() == 0 && !hasEndsOnly) {
            forgetCounted();
        }
    }

    /** A thread has ended a pass here or elsewhere, or finalized what is pending. */
    void reachBoundary() {
        marks.reachBoundary();
    }

    /** Forgets the samples that wait. */
    void discard() {
        waiting.drop(waiting.size());
        dropFence();
        forgetCounted();
    }

    /**
     * Makes room where no mark is left: gives up the older ones that no deferred measurement began at so far, and takes
     * marks back from timers that were started two boundaries ago or earlier and never stopped. Where one of them is stopped
     * after all, its sample is unresolved.
     */
    void reclaim() {
        starts.giveUpOlder();
        if (!marks.mayHaveAbandoned()) {
            return;
        }
        boolean[] kept = new boolean[marks.room()];
        for (int i = 0; i < waiting.size(); i++) {
            kept[waiting.start(i)] = true;
            kept[waiting.end(i)] = true;
        }
        if (counted != DeviceStream.NO_MARK) {
            kept[counted] = true;
        }
        marks.takeBackAbandoned(kept);
    }

    // ---- one thread at a time: figures ----

    /** What the stream did since the last reset. */
    StreamTotals totals() {
        return new StreamTotals(
                stream.name(),
                stream.deviceName(),
                stream.deviceIndex(),
                stream.deviceUuid(),
                stream.pciAddress(),
                samples,
                busyNs,
                idleNs,
                waits,
                clockErrorNs,
                stream.failure());
    }

    void resetTotals() {
        samples = 0;
        busyNs = 0;
        idleNs = 0;
        waits = 0;
    }

    /**
     * Of which bricks the host's side is timed: of the first after a boundary, so that the device's time has a place in the
     * host's, and of others by chance, since whatever is periodic in a pass would meet a period. Any thread, without order:
     * what gets lost draws a number twice. Allocates nothing.
     */
    static final class LaunchDraws {

        private static final int MOST_BETWEEN = 1 << 30;

        private int every;
        private int random = 1;

        /** So many bricks until one is drawn, that one with them; less than 0 where a boundary draws the next one besides. */
        private int left;

        /** One in so many is drawn. */
        LaunchDraws(int every) {
            this.every = Math.min(every, MOST_BETWEEN);
        }

        /** Whether the host's side of a brick that begins now is timed. */
        boolean next() {
            int until = left;
            if (until > 1) {
                left = until - 1;
                return false;
            }
            left = until < 0 ? -until : nextDistance();
            return true;
        }

        /** From 1 to twice the mean less one, all as likely. */
        private int nextDistance() {
            // Marsaglia's xorshift, 32 bits.
            int drawn = random;
            drawn ^= drawn << 13;
            drawn ^= drawn >>> 17;
            drawn ^= drawn << 5;
            random = drawn;
            return 1 + (int) ((Integer.toUnsignedLong(drawn) * (2L * every - 1)) >>> Integer.SIZE);
        }

        /** The next brick is drawn, besides the others. */
        void drawNext() {
            left = -Math.abs(left);
        }

        /** From now on every brick is drawn. */
        void drawAll() {
            every = 1;
            left = 0;
        }
    }
}
