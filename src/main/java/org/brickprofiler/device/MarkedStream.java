package org.brickprofiler.device;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import org.brickprofiler.record.NanoClock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A stream with what is known of each of its marks, and the samples that wait for them. Marks are set by any thread,
 * without a lock; the rest happens on one thread at a time, which {@link DeviceRecorder} sees to.
 *
 * <h2>Who may touch what is known of a mark</h2>
 *
 * A mark belongs to the thread that set it, until the token or the sample that names it is handed on. Its generation is
 * written last, with release, and read first, with acquire: a thread that finds the generation of a token also finds the
 * rest as it was written with it. A sample reaches the resolving thread through a queue that orders in the same way.
 *
 * <p>Nobody wants spans of this one: as long as no {@link TracedStream} was made, compiled code holds nothing of them.
 */
class MarkedStream {

    private static final Logger LOG = LoggerFactory.getLogger(MarkedStream.class);

    private static final VarHandle GENERATION = MethodHandles.arrayElementVarHandle(int[].class);
    private static final int FIRST_SAMPLES = 256;

    /** Instead of the host's clock when a mark was set: it was not read. */
    private static final long NOT_READ = DeviceRecorder.NO_TIME;

    final NanoClock clock;
    final MarkChain chain;

    private final DeviceStream stream;
    private final int index;

    // By mark.
    private final long[] setNs;
    private final long[] turns;
    private final int[] generations;
    private final int[] passes;

    /** How many hold a mark: the timer that runs or the sample that waits, the next one after a lap, and the chain. */
    private final int[] holders;

    /** When the host began a sample that has a mark at its end only. */
    private final long[] sinceNs;

    /** Marks that are set now belong to this pass. */
    private volatile int pass;

    // Written by any thread without order: what gets lost puts a mark out of turn, or draws a number twice.
    private long lastTurn;
    private int random = 1;
    private boolean readsNext = true;

    /** The host's side of one brick in so many is timed. */
    private int launchesEvery;

    // The samples that wait; the first ones only to be told.
    private int size;
    private int settled;
    private long settledAtNs;
    private boolean settledByWaiting;
    private int[] keys = new int[FIRST_SAMPLES];
    private int[] starts = new int[FIRST_SAMPLES];
    private int[] ends = new int[FIRST_SAMPLES];
    private long[] elements = new long[FIRST_SAMPLES];

    private int counted = DeviceStream.NO_MARK;
    private int reclaimedInPass = -1;
    private boolean exhaustionTold;

    private long samples;
    private long busyNs;
    private long idleNs;
    private long waits;
    private long clockErrorNs;

    /** Takes what became of a sample. */
    interface Results {
        /**
         * A sample has its time.
         *
         * @param key the brick
         * @param elapsedNs its duration on the device, ns
         * @param launchNs how long the host took between its marks, ns; {@link DeviceRecorder#NO_TIME} where that was not
         *     timed
         * @param atNs the host's clock when it ended, as far as that is known
         * @param elements elements it processed
         */
        void resolved(int key, long elapsedNs, long launchNs, long atNs, long elements);

        /**
         * A sample will never have one.
         *
         * @param key the brick
         */
        void unresolved(int key);
    }

    MarkedStream(DeviceStream stream, NanoClock clock, int index, int launchesEvery) {
        this.stream = stream;
        this.clock = clock;
        this.index = index;
        this.launchesEvery = launchesEvery;
        int marks = stream.maxMarks();
        setNs = new long[marks];
        turns = new long[marks];
        generations = new int[marks];
        passes = new int[marks];
        holders = new int[marks];
        sinceNs = new long[marks];
        chain = new MarkChain(stream, setNs, turns, passes);
    }

    final DeviceStream stream() {
        return stream;
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
            setNs[mark] = nowNs;
            turns[mark] = ++lastTurn;
            passes[mark] = pass;
            holders[mark] = holderCount;
            GENERATION.setRelease(generations, mark, MarkToken.next(generations[mark]));
        }
        return mark;
    }

    /**
     * Whether the host's side of a brick that begins now is timed: of the first after a boundary, so that the device's
     * time has a place in the host's, and of others by chance, since whatever is periodic in a pass would meet a period.
     */
    final boolean draws() {
        if (launchesEvery == 1 || readsNext) {
            readsNext = false;
            return true;
        }
        // Marsaglia's xorshift, 32 bits.
        int drawn = random;
        drawn ^= drawn << 13;
        drawn ^= drawn >>> 17;
        drawn ^= drawn << 5;
        random = drawn;
        return (Integer.toUnsignedLong(drawn) * launchesEvery) >>> Integer.SIZE == 0;
    }

    /** Whether the host's side of a running timer is timed. */
    final boolean isRead(long timer) {
        return setNs[MarkToken.mark(timer)] != NOT_READ;
    }

    /** From now on the host's side of every brick is timed. */
    final void timeEveryLaunch() {
        launchesEvery = 1;
    }

    /** The timer of a brick that begins at a mark, which the calling thread has just set. */
    final long token(int key, int mark) {
        return mark == DeviceStream.NO_MARK
                ? MarkToken.device(key, index, 0, MarkToken.NO_GENERATION)
                : MarkToken.device(key, index, mark, generations[mark]);
    }

    /** Whether a token's mark is still the one that it was made for. */
    final boolean isCurrent(long token) {
        return MarkToken.generation(token) == (int) GENERATION.getAcquire(generations, MarkToken.mark(token));
    }

    /** Gives a mark back that the calling thread has just set and nobody will ask for. */
    final void giveUp(int mark) {
        holders[mark] = 0;
        free(mark);
    }

    /** The host's clock when a mark was set, or {@link DeviceRecorder#NO_TIME}. */
    final long setNs(int mark) {
        return setNs[mark];
    }

    /** Notes when the host began the sample that ends at a mark and has no other. */
    final void since(int mark, long startNs) {
        sinceNs[mark] = startNs;
    }

    // ---- one thread at a time ----

    /**
     * Takes a sample that has ended, unless its first mark is somebody else's by now.
     *
     * @param key the brick
     * @param start the mark at its start; the same as {@code end} for a sample without one
     * @param generation the lower bits of that mark's generation
     * @param end the mark at its end
     * @param elementCount elements it processed
     * @return whether it was taken
     */
    final boolean addIfCurrent(int key, int start, int generation, int end, long elementCount) {
        if (!isCurrent(start, generation)) {
            letGo(end);
            return false;
        }
        if (size == keys.length) {
            int more = 2 * size;
            keys = Arrays.copyOf(keys, more);
            starts = Arrays.copyOf(starts, more);
            ends = Arrays.copyOf(ends, more);
            elements = Arrays.copyOf(elements, more);
        }
        keys[size] = key;
        starts[size] = start;
        ends[size] = end;
        elements[size] = elementCount;
        size++;
        return true;
    }

    /**
     * Lets go of the mark of a sample that will have no end, unless it is somebody else's by now.
     *
     * @return false: there is no sample
     */
    final boolean letGoIfCurrent(int start, int generation) {
        if (isCurrent(start, generation)) {
            letGo(start);
        }
        return false;
    }

    private boolean isCurrent(int mark, int generation) {
        return (generations[mark] & DeviceRecorder.GENERATION_MASK) == generation;
    }

    /** How many samples the device may not have done. */
    final int pendingCount() {
        return size - settled;
    }

    /**
     * Waits until every sample has its time. They are told later, at {@link #tellSettled} or at the next wait: asking for
     * their times takes the host's, which is better spent while the device has work again.
     */
    final void await(Results results) {
        if (size == settled) {
            return;
        }
        tellSettled(results);
        boolean late = stream.isReached(ends[size - 1]);
        if (stream.synchronize()) {
            waits++;
            settled = size;
            settledAtNs = clock.nanoTime();
            settledByWaiting = !late;
        } else {
            poll(results);
        }
    }

    /** Tells the samples that were waited for. */
    final void tellSettled(Results results) {
        resolve(settled, settledAtNs, settledByWaiting, results);
        settled = 0;
    }

    /** Tells the samples that have their time, without waiting. */
    final void poll(Results results) {
        tellSettled(results);
        int reached = stream.isUsable() ? moveReachedToFront() : size;
        resolve(reached, clock.nanoTime(), false, results);
    }

    /** Marks are reached in the order in which they were set: after one that is not, no later one needs be asked for. */
    private int moveReachedToFront() {
        long unreached = Long.MAX_VALUE;
        int reached = 0;
        for (int i = 0; i < size; i++) {
            long turn = turns[ends[i]];
            if (turn < unreached && stream.isReached(ends[i])) {
                swap(reached++, i);
            } else {
                unreached = Math.min(unreached, turn);
            }
        }
        return reached;
    }

    private void swap(int a, int b) {
        swap(keys, a, b);
        swap(starts, a, b);
        swap(ends, a, b);
        long count = elements[a];
        elements[a] = elements[b];
        elements[b] = count;
    }

    private static void swap(int[] values, int a, int b) {
        int value = values[a];
        values[a] = values[b];
        values[b] = value;
    }

    private void resolve(int count, long lookedNs, boolean waited, Results results) {
        readsNext = true;
        if (count == 0) {
            return;
        }
        chain.begin();
        if (counted != DeviceStream.NO_MARK) {
            chain.add(counted);
        }
        for (int i = 0; i < count; i++) {
            if (starts[i] == ends[i]) {
                chain.add(ends[i]);
            } else {
                chain.addSample(starts[i], ends[i]);
            }
        }
        chain.measure(lookedNs, waited);
        for (int i = 0; i < count; i++) {
            tell(i, lookedNs, results);
        }
        addUp();
        for (int i = 0; i < count; i++) {
            if (starts[i] != ends[i]) {
                letGo(starts[i]);
            }
            letGo(ends[i]);
        }
        drop(count);
    }

    private void tell(int i, long lookedNs, Results results) {
        int start = starts[i];
        int end = ends[i];
        boolean marked = start != end;
        long elapsedNs = marked ? chain.elapsedNs(start, end) : chain.elapsedSinceNs(sinceNs[end], end);
        if (elapsedNs < 0) {
            results.unresolved(keys[i]);
            return;
        }
        samples++;
        long launchedNs = marked ? setNs[start] : sinceNs[end];
        boolean read = launchedNs != NOT_READ && setNs[end] != NOT_READ;
        long launchNs = read ? Math.max(0, setNs[end] - launchedNs) : NOT_READ;
        long atNs = chain.isUnbroken() ? chain.hostNs(end) : lookedNs;
        results.resolved(keys[i], elapsedNs, launchNs, atNs, elements[i]);
        timed(keys[i], launchedNs, end, elapsedNs, elements[i]);
    }

    private void addUp() {
        chain.addUp(counted);
        busyNs += chain.busyNs();
        idleNs += chain.idleNs();
        if (chain.isUnbroken() && chain.hostErrorNs() != MarkChain.NO_ERROR) {
            clockErrorNs = chain.hostErrorNs();
        }
        int last = chain.last();
        // Of a pass that is over nothing more will be counted.
        boolean goesOn = last != DeviceStream.NO_MARK && passes[last] == pass;
        if (goesOn) {
            holders[last]++;
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

    /** Not for less than nobody: a timer that was stopped twice made two samples over one hold of its mark. */
    private void letGo(int mark) {
        if (holders[mark] > 0 && --holders[mark] == 0) {
            free(mark);
        }
    }

    /** Whatever names the mark from now on names another. */
    private void free(int mark) {
        GENERATION.setRelease(generations, mark, MarkToken.next(generations[mark]));
        stream.release(mark);
    }

    private void drop(int count) {
        size -= count;
        System.arraycopy(keys, count, keys, 0, size);
        System.arraycopy(starts, count, starts, 0, size);
        System.arraycopy(ends, count, ends, 0, size);
        System.arraycopy(elements, count, elements, 0, size);
    }

    /** A pass ends: the time until the next one is nobody's. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // one thread at a time
    final void endPass() {
        if (size == 0) {
            forgetCounted();
        }
        pass++;
    }

    /** Forgets the samples that wait. */
    final void discard() {
        for (int i = 0; i < size; i++) {
            if (starts[i] != ends[i]) {
                letGo(starts[i]);
            }
            letGo(ends[i]);
        }
        size = 0;
        settled = 0;
        forgetCounted();
    }

    /**
     * Takes marks back from timers that were never stopped, where no mark is left: from those that were started two
     * passes ago or earlier. Where one of them is stopped after all, its sample is unresolved.
     */
    final void reclaim() {
        int now = pass;
        if (reclaimedInPass == now) {
            return;
        }
        reclaimedInPass = now;
        boolean[] waiting = new boolean[holders.length];
        for (int i = 0; i < size; i++) {
            waiting[starts[i]] = true;
            waiting[ends[i]] = true;
        }
        for (int mark = 0; mark < holders.length; mark++) {
            if (holders[mark] > 0 && !waiting[mark] && mark != counted && now - passes[mark] >= 2) {
                holders[mark] = 0;
                free(mark);
            }
        }
    }

    /** Says once that no mark could be set, unless the stream has said why. */
    void tellExhaustion() {
        if (!exhaustionTold && stream.failure().isEmpty()) {
            exhaustionTold = true;
            LOG.warn(
                    "all {} marks of stream '{}' wait for their bricks: until one is free, bricks are unresolved. End"
                            + " passes more often, or give the stream more marks",
                    stream.maxMarks(),
                    stream.name());
        }
    }

    // ---- totals ----

    final StreamTotals totals() {
        return new StreamTotals(
                stream.name(),
                stream.deviceName(),
                stream.deviceIndex(),
                samples,
                busyNs,
                idleNs,
                waits,
                clockErrorNs,
                stream.failure());
    }

    final void resetTotals() {
        samples = 0;
        busyNs = 0;
        idleNs = 0;
        waits = 0;
    }
}
