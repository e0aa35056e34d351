package org.brickprofiler.testing;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.mark.MarkPool;
import org.brickprofiler.internal.record.SpanSink;
import org.jspecify.annotations.Nullable;

/**
 * The stream of a simulated device, for tests. Work begins when it is enqueued, by the host's clock, or when the work
 * before it is done, and takes exactly as long as the test specifies. Waiting advances the host's clock, or takes as
 * long if that clock runs by itself. The stream can refuse marks, set marks without times, and be lost. Any thread.
 */
public final class SimulatedStream implements DeviceStream {

    private final String name;
    private final SpanSink.Place place;
    private final FakeClock clock;
    private final MarkPool pool;
    private final long[] reachedNs;
    private final Set<Integer> taken = new HashSet<>();
    private final Set<Integer> bad = new HashSet<>();

    private final CloseActions beforeClose = new CloseActions();

    private volatile @Nullable Runnable beforeWait;

    private long idleFromNs;
    private int asked;
    private int waits;
    private int marksSet;
    private boolean capturing;
    private boolean lost;
    private boolean answersElsewhere;
    private boolean withoutWork;
    private long brokenAtNs = Long.MIN_VALUE;
    private int passesEnded;
    private long measuringNs;
    private boolean hasMeasured;
    private boolean hasClock;
    private long clockOffNs;
    private long readingNs;
    private MarkCost markCost = MarkCost.unknown("it is not simulated");

    /** Makes a stream with 64 marks at first and 4,096 at most. */
    public SimulatedStream(String name, FakeClock clock) {
        this(name, clock, 4_096);
    }

    /** Makes a stream with at most {@code maxMarks} marks. */
    public SimulatedStream(String name, FakeClock clock, int maxMarks) {
        this(new SpanSink.Place("CPU", 0, "simulated", name, 0), clock, maxMarks);
    }

    /** Makes a stream of the given device and name. */
    public SimulatedStream(SpanSink.Place place, FakeClock clock, int maxMarks) {
        this.name = place.name();
        this.place = place;
        this.clock = clock;
        this.pool = new MarkPool(Math.min(64, maxMarks), maxMarks, (from, to) -> to);
        this.reachedNs = new long[maxMarks];
    }

    /** Enqueues work. */
    public synchronized void work(long ns) {
        idleFromNs = Math.max(idleFromNs, clock.now()) + ns;
    }

    /**
     * Sets whether the stream is being captured. Meanwhile it can be neither waited for nor queried, and marks that are
     * set have no time.
     */
    public synchronized void capture(boolean on) {
        capturing = on;
    }

    /** Loses the device: from now on no mark can be set, and none has a time. */
    public synchronized void lose() {
        lost = true;
    }

    /** Sets an action that each thread runs before it waits for the stream. */
    public void beforeWait(Runnable action) {
        beforeWait = action;
    }

    /** Sets whether only threads that mark or wait on this stream should query it. */
    public synchronized void answersElsewhere(boolean elsewhere) {
        answersElsewhere = elsewhere;
    }

    /**
     * Lets work at the end of the queue fail. Marks before it have times among themselves, and so have marks behind it,
     * but there is no time across it.
     */
    public synchronized void breakOff() {
        brokenAtNs = Math.max(idleFromNs, clock.now());
    }

    /** Sets what marks add to times; a test adds it to its work. */
    public synchronized void markCost(MarkCost cost) {
        markCost = cost;
    }

    @Override
    public synchronized MarkCost markCost() {
        return markCost;
    }

    /** Sets whether the stream reports that no work lies between any two marks. */
    public synchronized void withoutWork(boolean nothing) {
        withoutWork = nothing;
    }

    /**
     * Makes the device's clock readable.
     *
     * @param takesNs how long each reading takes, half of it before the clock is read
     * @param offNs how far the reading is ahead of the truth
     */
    public synchronized void readsClock(long takesNs, long offNs) {
        hasClock = true;
        readingNs = takesNs;
        clockOffNs = offNs;
    }

    /** Returns how often the end of a pass was reported. */
    public synchronized int passesEnded() {
        return passesEnded;
    }

    /** Makes each measurement of what marks add, which has no result here, take some time of the host. */
    public synchronized void measuringTakes(long ns) {
        measuringNs = ns;
    }

    /** Returns whether the profiler has let it measure what marks add. */
    public synchronized boolean hasMeasured() {
        return hasMeasured;
    }

    /** Returns how often it was queried whether a mark is reached. */
    public synchronized int asked() {
        return asked;
    }

    /** Returns how often a thread waited for the stream. */
    public synchronized int waits() {
        return waits;
    }

    /** Returns how many marks were set. */
    public synchronized int marksSet() {
        return marksSet;
    }

    /** Returns how many marks are set and not released. */
    public synchronized int marksHeld() {
        return taken.size();
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String deviceName() {
        return place.deviceName();
    }

    @Override
    public int deviceIndex() {
        return place.deviceIndex();
    }

    @Override
    public String backend() {
        return place.backend();
    }

    @Override
    public synchronized int mark() {
        int mark = lost ? NO_MARK : pool.take();
        if (mark != NO_MARK) {
            if (!taken.add(mark)) {
                throw new IllegalStateException("mark " + mark + " was given out twice");
            }
            marksSet++;
            reachedNs[mark] = Math.max(idleFromNs, clock.now());
            if (capturing) {
                bad.add(mark);
            }
        }
        return mark;
    }

    @Override
    public synchronized boolean hasWorkBetween(int from, int to) {
        return !withoutWork;
    }

    @Override
    public synchronized boolean answersHere() {
        return !answersElsewhere;
    }

    @Override
    public synchronized void passEnded() {
        passesEnded++;
    }

    @Override
    public synchronized void measureMarks() {
        hasMeasured = true;
        clock.advance(measuringNs);
    }

    @Override
    public synchronized boolean isReached(int mark) {
        requireTaken(mark);
        asked++;
        return lost || (!capturing && isPast(mark));
    }

    private boolean isPast(int mark) {
        return bad.contains(mark) || reachedNs[mark] <= clock.now();
    }

    @Override
    public synchronized long elapsedNs(int from, int to) {
        requireTaken(from);
        requireTaken(to);
        if (!lost && capturing) {
            return NOT_REACHED;
        }
        if (lost || bad.contains(from) || bad.contains(to) || isBrokenBetween(from, to)) {
            return UNRESOLVED;
        }
        return isPast(from) && isPast(to) ? reachedNs[to] - reachedNs[from] : NOT_REACHED;
    }

    @Override
    public synchronized long sinceNs(int mark) {
        requireTaken(mark);
        if (!hasClock || lost || bad.contains(mark)) {
            return UNRESOLVED;
        }
        if (!isPast(mark)) {
            return NOT_REACHED;
        }
        clock.advance(readingNs / 2);
        long sinceNs = clock.now() - reachedNs[mark] + clockOffNs;
        clock.advance(readingNs - readingNs / 2);
        return sinceNs;
    }

    /** Advances the host's clock until all work is done. */
    public void finish() {
        long untilNs;
        synchronized (this) {
            untilNs = idleFromNs;
        }
        clock.waitUntil(untilNs);
    }

    private boolean isBrokenBetween(int from, int to) {
        return (reachedNs[from] < brokenAtNs) != (reachedNs[to] < brokenAtNs);
    }

    @Override
    public boolean waitFor(int mark) {
        Runnable before = beforeWait;
        if (before != null) {
            before.run();
        }
        long untilNs;
        synchronized (this) {
            requireTaken(mark);
            if (lost || capturing) {
                return false;
            }
            waits++;
            untilNs = reachedNs[mark];
        }
        clock.waitUntil(untilNs);
        return true;
    }

    @Override
    public synchronized void release(int mark) {
        requireTaken(mark);
        taken.remove(mark);
        bad.remove(mark);
        pool.give(mark);
    }

    private void requireTaken(int mark) {
        if (!taken.contains(mark)) {
            throw new IllegalStateException("mark " + mark + " belongs to nobody");
        }
    }

    @Override
    public int maxMarks() {
        return reachedNs.length;
    }

    @Override
    public synchronized boolean isUsable() {
        return !lost;
    }

    @Override
    public synchronized Optional<String> failure() {
        return lost ? Optional.of("the device was lost") : Optional.empty();
    }

    @Override
    public void beforeClose(Runnable action) {
        beforeClose.add(action);
    }

    @Override
    public void close() {
        beforeClose.run();
        lose();
    }
}
