package org.brickprofiler.device;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.brickprofiler.record.NanoClock;

/**
 * A stream with what is known of each of its marks, and the samples that wait for them. Marks are set and waited for by
 * any thread, without a lock; the rest happens on one thread at a time, which {@link DeviceRecorder} sees to.
 *
 * <p>Nobody wants spans of this one: as long as no {@link TracedStream} was made, compiled code holds nothing of them.
 */
class MarkedStream {

    private static final long NOT_READ = MarkStates.NOT_READ;
    private static final AtomicIntegerFieldUpdater<MarkedStream> PASS =
            AtomicIntegerFieldUpdater.newUpdater(MarkedStream.class, "pass");
    private static final AtomicLongFieldUpdater<MarkedStream> READING =
            AtomicLongFieldUpdater.newUpdater(MarkedStream.class, "reading");
    private static final int GAP = 1 << 31;

    /** More threads than this that mark and end no pass: of the others it is forgotten that they did. */
    private static final int MOST_MARKERS = 256;

    final NanoClock clock;
    final MarkChain chain;

    private final DeviceStream stream;
    private final int index;

    private final MarkStates marks;

    /** The marks at which deferred measurements may begin. */
    private final StartMarks starts;

    /** The latest reading of the host's clock that a mark is found by. */
    private volatile long reading = Long.MIN_VALUE;

    /** The pass that marks belong to now; the uppermost bit is set where a brick had no marks since the last one. */
    private volatile int pass;

    /** Which bricks have their host's side timed. */
    private final LaunchDraws draws;

    /** Whether samples end here that have no mark at their start. */
    private boolean hasEndsOnly;

    private final WaitingSamples waiting = new WaitingSamples();

    // Made once, so that resolving allocates nothing.
    private final WaitingSamples.Reached reached;

    // The threads that ended samples here since they last ended a pass.
    private long[] markers = {};
    private int markerCount;
    private int nextForgotten;

    /** Up to which mark time was added up. */
    private int counted = DeviceStream.NO_MARK;

    /** Set behind all samples that may be resolved, see {@link MarkChain}. */
    private int fence = DeviceStream.NO_MARK;

    // The last marks before the latest boundary, the one before it, and the one before marks were taken back.
    private long boundaryTurn;
    private long boundaryTurnBefore;
    private boolean reclaimed;

    private final ExhaustionNotice exhaustion = new ExhaustionNotice();

    private final StreamCounts counts = new StreamCounts();

    MarkedStream(DeviceStream stream, NanoClock clock, int index, int launchesEvery) {
        this.stream = stream;
        this.clock = clock;
        this.index = index;
        this.reached = stream::isReached;
        this.draws = new LaunchDraws(launchesEvery);
        this.marks = new MarkStates(stream.maxMarks());
        this.starts = new StartMarks(marks, stream);
        this.chain = new MarkChain(stream, marks);
    }

    final DeviceStream stream() {
        return stream;
    }

    /** Its number among the streams of its recorder. */
    final int index() {
        return index;
    }

    // ---- spans ----

    /** The calling thread has stopped a timer at a mark, or {@link DeviceStream#NO_MARK}, and not queued the sample. */
    void stopped(long timer, int end) {}

    /** The calling thread has ended a sample without a mark at its start, in the same way. */
    void endedSince(int key, long sinceNs, int end) {}

    /** A sample has its time; the chain says where it lies. */
    void timed(int key, long launchNs, int end, long elapsedNs, long elementCount) {}

    // ---- any thread ----

    /**
     * Sets a mark, and says who holds it.
     *
     * @param holderCount how many do
     * @param reads whether to read the host's clock, which takes about as long as the rest of it
     * @return the mark, or {@link DeviceStream#NO_MARK}
     */
    final int mark(int holderCount, boolean reads) {
        long nowNs = reads ? clock.nanoTime() : NOT_READ;
        int mark = stream.mark();
        if (mark != DeviceStream.NO_MARK) {
            set(mark, holderCount, nowNs);
        }
        return mark;
    }

    private void set(int mark, int holderCount, long nowNs) {
        int now = pass;
        marks.set(mark, holderCount, now, now < 0, nowNs);
        if (now < 0) {
            PASS.updateAndGet(this, of -> of & ~GAP);
        }
    }

    /**
     * A reading of the host's clock that no other call has got: later by as little as it takes, where the clock stands
     * still between two.
     */
    final long reading(long nowNs) {
        while (true) {
            long before = reading;
            long next = Math.max(nowNs, before + 1);
            if (READING.compareAndSet(this, before, next)) {
                return next;
            }
        }
    }

    /**
     * Sets a mark at which deferred measurements may begin.
     *
     * @param nowNs the host's clock
     * @param value the reading to find it by
     * @return whether one was set
     */
    final boolean markStart(long nowNs, long value) {
        int mark = stream.mark();
        if (mark == DeviceStream.NO_MARK) {
            return false;
        }
        marks.setValue(mark, value);
        set(mark, 1, nowNs);
        starts.put(value, mark);
        return true;
    }

    /** The marks at which deferred measurements may begin. */
    final StartMarks starts() {
        return starts;
    }

    /** A brick has no mark: what lies between the marks around is not known to be idle. */
    final void missed() {
        exhaustion.tell(stream);
        PASS.updateAndGet(this, of -> of | GAP);
    }

    /** Which bricks have their host's side timed. */
    final LaunchDraws draws() {
        return draws;
    }

    /** The timer of a brick that begins at a mark, which the calling thread has just set. */
    final long token(int key, int mark, boolean timed) {
        return mark == DeviceStream.NO_MARK
                ? MarkToken.device(key, index, 0, MarkToken.NO_GENERATION, false)
                : MarkToken.device(key, index, mark, marks.generation(mark), timed);
    }

    /** Whether a token's mark is still the one that it was made for. */
    final boolean isCurrent(long token) {
        return marks.isCurrent(token);
    }

    /** Gives a mark back that the calling thread has just set and nobody will ask for. */
    final void giveUp(int mark) {
        free(mark);
    }

    /** The host's clock when a mark was set, or {@link DeviceRecorder#NO_TIME}. */
    final long setNs(int mark) {
        return marks.setNs(mark);
    }

    /** Notes when the host began the sample that ends at a mark and has no other. */
    final void since(int mark, long startNs) {
        marks.setValue(mark, startNs);
    }

    // ---- one thread at a time ----

    /**
     * Takes a sample, unless it has no end, or its first mark is somebody else's by now.
     *
     * @param row the brick, and whether the sample holds the mark at its start: see {@link QueuedSample}
     * @param queued its marks
     * @param elementCount elements it processed
     * @param owner which thread ended it
     * @return whether it was taken
     */
    final boolean take(int row, long queued, long elementCount, long owner) {
        int start = QueuedSample.start(queued);
        int end = QueuedSample.end(queued);
        boolean ended = end != QueuedSample.NO_END;
        noteMarker(owner);
        if (!QueuedSample.isOf(queued, marks.generation(start))) {
            if (ended) {
                letGo(end);
            }
            return false;
        }
        boolean holds = QueuedSample.holdsStart(row) || marks.claim(start);
        if (ended) {
            if (!holds) {
                marks.hold(start);
            }
            waiting.add(QueuedSample.key(row), start, end, elementCount, owner);
            hasEndsOnly |= start == end;
        } else if (holds) {
            letGo(start);
        }
        return ended;
    }

    private void noteMarker(long owner) {
        if (hasMarked(owner)) {
            return;
        }
        if (markerCount == markers.length && markerCount < MOST_MARKERS) {
            markers = Arrays.copyOf(markers, Math.max(4, 2 * markerCount));
        }
        if (markerCount < markers.length) {
            markers[markerCount++] = owner;
        } else {
            markers[nextForgotten] = owner;
            nextForgotten = (nextForgotten + 1) % MOST_MARKERS;
        }
    }

    /** Whether a thread ended samples here since it last ended a pass. */
    final boolean hasMarked(long owner) {
        return placeOf(owner) < markerCount;
    }

    private int placeOf(long owner) {
        int place = 0;
        while (place < markerCount && markers[place] != owner) {
            place++;
        }
        return place;
    }

    /** How many samples wait for their time. */
    final int pendingCount() {
        return waiting.size();
    }

    /**
     * The mark that a thread has to wait for: at the end of its last sample or, of everybody's, the one that was set last.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @return the mark, held until {@link #letGo} is called; {@link DeviceStream#NO_MARK} where nothing of it waits
     */
    final int holdLastEnd(long owner) {
        return hold(owner == DeviceRecorder.EVERYBODY ? waiting.newestEnd(marks) : waiting.lastEnd(owner));
    }

    /**
     * The mark that a thread has to wait for next, after it waited. There is one where its last mark never tells, being of a
     * capture, or where a virtual thread's samples came in another order than it ended them.
     *
     * @return the mark, held; {@link DeviceStream#NO_MARK} where nothing of it waits that is not reached
     */
    final int holdUnreached(long owner) {
        return hold(waiting.lastUnreachedEnd(owner, reached));
    }

    private int hold(int mark) {
        if (mark != DeviceStream.NO_MARK) {
            marks.hold(mark);
        }
        return mark;
    }

    /**
     * Resolves the samples of a thread, whose last one is reached, and those of others that are.
     *
     * @param owner the thread, or {@link DeviceRecorder#EVERYBODY}
     * @param awaited the mark that the calling thread waited for; {@link DeviceStream#NO_MARK} where it was reached before
     * @param lookedNs the host's clock after that
     */
    final void resolveReached(long owner, int awaited, long lookedNs, DeviceSums sums) {
        draws.drawNext();
        if (awaited == DeviceStream.NO_MARK) {
            setFence();
        } else {
            counts.waited();
        }
        int done = moveDoneToFront(owner);
        if (done > 0) {
            resolve(done, lookedNs, awaited, sums);
        }
        dropFence();
    }

    private int moveDoneToFront(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            return waiting.moveReachedToFront(marks, reached);
        }
        // One question at most: what others have done besides, a later boundary finds.
        boolean all = waiting.count(owner) == waiting.size()
                || stream.isReached(waiting.newestEnd(marks));
        return all ? waiting.size() : waiting.moveToFront(owner);
    }

    /** Resolves the samples that have their time, without waiting. */
    final void poll(DeviceSums sums) {
        draws.drawNext();
        setFence();
        int done = stream.isUsable() ? waiting.moveReachedToFront(marks, reached) : waiting.size();
        if (done > 0) {
            resolve(done, clock.nanoTime(), DeviceStream.NO_MARK, sums);
        }
        dropFence();
    }

    /** Uses a mark as fence that the caller holds, and gives the hold away. */
    final void fenceAt(int mark) {
        dropFence();
        fence = mark;
    }

    /** Where samples have no mark at their start, the host's time must have an exact place in the device's. */
    private void setFence() {
        if (hasEndsOnly && fence == DeviceStream.NO_MARK && waiting.size() > 0) {
            fence = mark(1, true);
        }
        if (fence != DeviceStream.NO_MARK && !(hasEndsOnly && stream.isReached(fence))) {
            dropFence();
        }
    }

    private void dropFence() {
        if (fence != DeviceStream.NO_MARK) {
            letGo(fence);
            fence = DeviceStream.NO_MARK;
        }
    }

    private void resolve(int count, long lookedNs, int awaited, DeviceSums sums) {
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
        chain.measure(lookedNs, awaited, fence);
        if (chain.isEarly() && stream.isUsable()) {
            return;
        }
        for (int i = 0; i < count; i++) {
            tell(i, lookedNs, sums);
        }
        addUp(count);
        drop(count);
    }

    private void drop(int count) {
        for (int i = 0; i < count; i++) {
            if (waiting.hasStart(i)) {
                letGo(waiting.start(i));
            }
            letGo(waiting.end(i));
        }
        waiting.drop(count);
    }

    private void tell(int i, long lookedNs, DeviceSums sums) {
        int key = waiting.key(i);
        int start = waiting.start(i);
        int end = waiting.end(i);
        boolean marked = waiting.hasStart(i);
        long elapsedNs = marked ? elapsedNs(start, end) : chain.elapsedSinceNs(marks.value(end), end);
        if (elapsedNs < 0) {
            sums.unresolved(key);
            if (marked) {
                chain.leaveOut(start, end);
            }
            return;
        }
        counts.timed();
        long launchedNs = marked ? marks.setNs(start) : marks.value(end);
        long endedNs = marks.setNs(end);
        boolean read = launchedNs != NOT_READ && endedNs != NOT_READ;
        long launchNs = read ? Math.max(0, endedNs - launchedNs) : NOT_READ;
        long atNs = chain.isUnbroken() ? chain.hostNs(end) : lookedNs;
        sums.resolved(key, elapsedNs, launchNs, atNs, waiting.elements(i));
        timed(key, launchedNs, end, elapsedNs, waiting.elements(i));
    }

    private long elapsedNs(int start, int end) {
        long ns = chain.elapsedNs(start, end);
        return ns < 0 || stream.hasWorkBetween(start, end) ? ns : DeviceStream.UNRESOLVED;
    }

    private void addUp(int told) {
        chain.addUp(counted);
        counts.add(chain);
        int last = chain.last();
        // Of a pass that is over nothing more will be counted, unless some of it still waits.
        boolean goesOn = last != DeviceStream.NO_MARK
                && (hasEndsOnly
                        || marks.isOfPass(last, pass)
                        || (waiting.size() > told && marks.areOfOnePass(last, waiting.end(told))));
        if (goesOn) {
            marks.hold(last);
        }
        forgetCounted();
        counted = goesOn ? last : DeviceStream.NO_MARK;
    }

    private void forgetCounted() {
        if (counted != DeviceStream.NO_MARK) {
            letGo(counted);
            counted = DeviceStream.NO_MARK;
        }
    }

    /** Lets go of a mark that is held. */
    final void letGo(int mark) {
        if (marks.letGo(mark)) {
            free(mark);
        }
    }

    private void free(int mark) {
        marks.retire(mark);
        stream.release(mark);
    }

    /** A pass of a thread ends, or of everybody: the time until the next one is nobody's. */
    final void endPass(long owner) {
        if (owner == DeviceRecorder.EVERYBODY) {
            markerCount = 0;
        } else if (hasMarked(owner)) {
            markers[placeOf(owner)] = markers[--markerCount];
        } else {
            return;
        }
        PASS.updateAndGet(this, of -> ((of + 1) & ~GAP) | (of & GAP));
        // Of a pass that has ended nothing is remembered that nobody will ask for.
        if (waiting.size() == 0 && !hasEndsOnly) {
            forgetCounted();
        }
    }

    /** Forgets the samples that wait. */
    final void discard() {
        drop(waiting.size());
        dropFence();
        forgetCounted();
    }

    /**
     * Makes room where no mark is left: gives up the older ones that no deferred measurement began at so far, and takes
     * marks back from timers that were started two boundaries ago or earlier and never stopped. Where one of them is stopped
     * after all, its sample is unresolved.
     */
    final void reclaim() {
        starts.giveUpOlder();
        if (reclaimed) {
            return;
        }
        reclaimed = true;
        boolean[] used = new boolean[marks.room()];
        for (int i = 0; i < waiting.size(); i++) {
            used[waiting.start(i)] = true;
            used[waiting.end(i)] = true;
        }
        for (int mark = 0; mark < used.length; mark++) {
            if (!used[mark] && mark != counted && marks.turn(mark) <= boundaryTurnBefore && marks.takeBack(mark)) {
                stream.release(mark);
            }
        }
    }

    /** A thread has ended a pass here or elsewhere, or finalized what is pending. */
    final void reachBoundary() {
        boundaryTurnBefore = boundaryTurn;
        boundaryTurn = marks.lastTurn();
        reclaimed = false;
    }

    final StreamTotals totals() {
        return counts.totals(stream);
    }

    final void resetTotals() {
        counts.reset();
    }
}
