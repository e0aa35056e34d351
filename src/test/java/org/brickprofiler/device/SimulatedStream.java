package org.brickprofiler.device;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.internal.io.CloseActions;
import org.brickprofiler.internal.io.MarkPool;
import org.brickprofiler.internal.record.FakeClock;
import org.brickprofiler.internal.record.SpanSink;
import org.jspecify.annotations.Nullable;

/**
 * A simulated device, for tests: work that is enqueued begins when the host's clock says so and the work before is
 * done, and lasts exactly as long as the test gives. Waiting moves the host's clock, or lasts as long where that runs
 * by itself. Can refuse marks, forget times, and be lost. Any thread.
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
    private boolean hasClock;
    private long clockOffNs;
    private long readingNs;

    /** A stream with 64 marks at first and 4,096 at most. */
    public SimulatedStream(String name, FakeClock clock) {
        this(name, clock, 4_096);
    }

    /** A stream with a bound of its marks. */
    public SimulatedStream(String name, FakeClock clock, int maxMarks) {
        this(new SpanSink.Place("CPU", 0, "simulated", name, 0), clock, maxMarks);
    }

    /** A stream of a device that says who it is. */
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

    /** While the stream is being captured it cannot be waited for or asked, and marks that are set mean nothing. */
    public synchronized void capture(boolean on) {
        capturing = on;
    }

    /** From now on nothing works. */
    public synchronized void lose() {
        lost = true;
    }

    /** What a thread does that waits for the stream, before it does. */
    public void beforeWait(Runnable action) {
        beforeWait = action;
    }

    /** Whether only threads that mark it or wait for it are to ask it. */
    public synchronized void answersElsewhere(boolean elsewhere) {
        answersElsewhere = elsewhere;
    }

    /**
     * Work fails at the end of the queue: what lies before and what lies behind it have their times, but none between
     * them.
     */
    public synchronized void breakOff() {
        brokenAtNs = Math.max(idleFromNs, clock.now());
    }

    /** Whether it is known that nothing was done between any two marks. */
    public synchronized void withoutWork(boolean nothing) {
        withoutWork = nothing;
    }

    /**
     * The device's clock can be read.
     *
     * @param takesNs how long each reading takes, half of it before the clock is read
     * @param offNs how far the reading is ahead of the truth
     */
    public synchronized void readsClock(long takesNs, long offNs) {
        hasClock = true;
        readingNs = takesNs;
        clockOffNs = offNs;
    }

    /** How often it was reported that a pass has ended. */
    public synchronized int passesEnded() {
        return passesEnded;
    }

    /** How often it was asked whether a mark is reached. */
    public synchronized int asked() {
        return asked;
    }

    /** How often the stream was waited for. */
    public synchronized int waits() {
        return waits;
    }

    /** How many marks were set. */
    public synchronized int marksSet() {
        return marksSet;
    }

    /** How many marks somebody holds. */
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

    /** Moves the host's clock to where all work is done. */
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
