package org.brickprofiler.device;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.brickprofiler.record.NanoClock;

/**
 * A stream with what is known of each of its marks, and the samples that wait for them. Marks are set by any thread,
 * without a lock; the rest happens on one thread at a time, which {@link DeviceRecorder} sees to.
 *
 * <p>Nobody wants spans of this one: as long as no {@link TracedStream} was made, compiled code holds nothing of them.
 */
class MarkedStream {

    private static final long NOT_READ = MarkStates.NOT_READ;
    private static final AtomicIntegerFieldUpdater<MarkedStream> PASS =
            AtomicIntegerFieldUpdater.newUpdater(MarkedStream.class, "pass");
    private static final int GAP = 1 << 31;

    final NanoClock clock;
    final MarkChain chain;

    private final DeviceStream stream;
    private final int index;

    private final MarkStates marks;

    /** When the host began a sample that has a mark at its end only, by that mark. */
    private final long[] sinceNs;

    /** The pass that marks belong to now; the uppermost bit is set where a brick had no marks since the last one. */
    private volatile int pass;

    /** Which bricks have their host's side timed. */
    private final LaunchDraws draws;

    /** Whether samples end here that have no mark at their start. */
    private boolean hasEndsOnly;

    private final WaitingSamples waiting = new WaitingSamples();

    // Made once, so that resolving allocates nothing.
    private final WaitingSamples.Reached reached;

    // The first samples, which are only to be told.
    private int settled;
    private long settledAtNs;
    private boolean settledByWaiting;

    /** Up to which mark time was added up. */
    private int counted = DeviceStream.NO_MARK;

    /** Set behind all samples, see {@link MarkChain}. */
    private int fence = DeviceStream.NO_MARK;

    private int reclaimedInPass = -1;
    private final ExhaustionNotice exhaustion = new ExhaustionNotice();

    private final StreamCounts counts = new StreamCounts();

    MarkedStream(DeviceStream stream, NanoClock clock, int index, int launchesEvery) {
        this.stream = stream;
        this.clock = clock;
        this.index = index;
        this.reached = stream::isReached;
        this.draws = new LaunchDraws(launchesEvery);
        this.marks = new MarkStates(stream.maxMarks());
        this.sinceNs = new long[marks.count()];
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
            int now = pass;
            marks.set(mark, holderCount, now, now < 0, nowNs);
            if (now < 0) {
                PASS.updateAndGet(this, of -> of & ~GAP);
            }
        }
        return mark;
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
        sinceNs[mark] = startNs;
        hasEndsOnly = true;
    }

    // ---- one thread at a time ----

    /**
     * Takes a sample, unless it has no end, or its first mark is somebody else's by now.
     *
     * @param key the brick
     * @param queued its marks: see {@link QueuedSample}
     * @param elementCount elements it processed
     * @return whether it was taken
     */
    final boolean take(int key, long queued, long elementCount) {
        int start = QueuedSample.start(queued);
        int end = QueuedSample.end(queued);
        boolean ended = end != QueuedSample.NO_END;
        if (!QueuedSample.isOf(queued, marks.generation(start))) {
            if (ended) {
                letGo(end);
            }
            return false;
        }
        boolean first = marks.claim(start);
        if (ended) {
            if (!first) {
                marks.hold(start);
            }
            waiting.add(key, start, end, elementCount);
        } else if (first) {
            letGo(start);
        }
        return ended;
    }

    /** How many samples the device may not have done. */
    final int pendingCount() {
        return waiting.size() - settled;
    }

    /**
     * Waits until every sample has its time. They are told later, at {@link #tellSettled} or at the next wait: asking for
     * their times takes the host's, which is better spent while the device has work again.
     */
    final void await(DeviceSums sums) {
        if (pendingCount() == 0) {
            return;
        }
        tellSettled(sums);
        setFence();
        boolean late = stream.isReached(fence == DeviceStream.NO_MARK ? waiting.end(waiting.size() - 1) : fence);
        if (stream.synchronize()) {
            counts.waited();
            settled = waiting.size();
            settledAtNs = clock.nanoTime();
            settledByWaiting = !late;
            draws.drawNext();
        } else {
            dropFence();
            poll(sums);
        }
    }

    /**
     * Tells the samples that were waited for. Where the device does not answer now, as while its stream is captured, they
     * wait on.
     */
    final void tellSettled(DeviceSums sums) {
        int count = settled;
        settled = 0;
        if (count > 0) {
            resolve(count, settledAtNs, settledByWaiting, sums);
        }
    }

    /** Tells the samples that have their time, without waiting. */
    final void poll(DeviceSums sums) {
        tellSettled(sums);
        draws.drawNext();
        setFence();
        if (fence != DeviceStream.NO_MARK && !stream.isReached(fence)) {
            dropFence();
        }
        int done = stream.isUsable() ? waiting.moveReachedToFront(marks, reached) : waiting.size();
        if (done > 0) {
            resolve(done, clock.nanoTime(), false, sums);
        }
        dropFence();
    }

    /** Where samples have no mark at their start, the host's time must have an exact place in the device's. */
    private void setFence() {
        if (hasEndsOnly && fence == DeviceStream.NO_MARK && waiting.size() > 0) {
            fence = mark(1, true);
        }
    }

    private void dropFence() {
        if (fence != DeviceStream.NO_MARK) {
            letGo(fence);
            fence = DeviceStream.NO_MARK;
        }
    }

    private void resolve(int count, long lookedNs, boolean waited, DeviceSums sums) {
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
        chain.measure(lookedNs, waited, fence);
        dropFence();
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
        long elapsedNs = marked ? elapsedNs(start, end) : chain.elapsedSinceNs(sinceNs[end], end);
        if (elapsedNs < 0) {
            sums.unresolved(key);
            if (marked) {
                chain.leaveOut(start, end);
            }
            return;
        }
        counts.timed();
        long launchedNs = marked ? marks.setNs(start) : sinceNs[end];
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
                        || marks.passesSince(last, pass) == 0
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

    private void letGo(int mark) {
        if (marks.letGo(mark)) {
            free(mark);
        }
    }

    private void free(int mark) {
        marks.retire(mark);
        stream.release(mark);
    }

    /** Any thread: a pass ends. The time until the next one is nobody's. */
    final void nextPass() {
        PASS.updateAndGet(this, of -> ((of + 1) & ~GAP) | (of & GAP));
    }

    /** Of a pass that has ended nothing is remembered that nobody will ask for. */
    final void forgetPass() {
        if (waiting.size() == 0 && !hasEndsOnly) {
            forgetCounted();
        }
    }

    /** Forgets the samples that wait. */
    final void discard() {
        drop(waiting.size());
        settled = 0;
        dropFence();
        forgetCounted();
    }

    /**
     * Takes marks back from timers that were never stopped, where no mark is left: from those that were started two
     * passes ago or earlier. Where one of them is stopped after all, its sample is unresolved.
     */
    final void reclaim() {
        int now = pass & ~GAP;
        if (reclaimedInPass == now) {
            return;
        }
        reclaimedInPass = now;
        boolean[] used = new boolean[marks.count()];
        for (int i = 0; i < waiting.size(); i++) {
            used[waiting.start(i)] = true;
            used[waiting.end(i)] = true;
        }
        for (int mark = 0; mark < used.length; mark++) {
            if (marks.isHeld(mark) && !used[mark] && mark != counted && marks.passesSince(mark, now) >= 2) {
                free(mark);
            }
        }
    }

    final StreamTotals totals() {
        return counts.totals(stream);
    }

    final void resetTotals() {
        counts.reset();
    }
}
