package org.brickprofiler.internal.device;

import java.util.Arrays;
import java.util.function.IntToLongFunction;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.spi.NanoClock;

/**
 * The marks of a batch of samples of one stream, put in the order in which the device reached them, and the distance of
 * each from the first. A distance is the sum of the times from one mark to the next, because a device reports short
 * times more exactly than long ones: CUDA reports a {@code float}. One thread at a time; allocates nothing once it has
 * seen its largest batch.
 *
 * <h2>The stream's own timeline</h2>
 *
 * A batch continues the timeline of the previous batch if both have a mark in common. The time of a mark on the
 * timeline, in ns, is the time of the common mark plus the distance from it, over any number of batches.
 * {@link #continueFrom} gives the batch its place. A batch has no place if two successive marks have times but the time
 * between them is not known.
 *
 * <h2>Marks of captured graphs</h2>
 *
 * The device sets such a mark during a launch, and may set it again. Its time was read earlier, and is given as its
 * distance from the mark behind the launch, which is an ordinary mark. For turn and pass, the mark behind the launch
 * stands for the mark of the graph.
 *
 * <h2>Device time in host time</h2>
 *
 * Let <i>b</i> be the host's time of the first mark. No mark is reached before it is set, so <i>b</i> is at least
 * <i>set - offset</i> for every mark. The last mark was reached when the host looked, so <i>b</i> is at most <i>looked
 * - offset</i> of the last mark. If the host had to wait for the mark, it looked as soon as it could, and <i>b</i> is
 * the later bound; otherwise, <i>b</i> is the middle of the bounds. The error is the distance to the farther bound. If
 * a pass begins on an idle device, its first mark is reached as it is set, and both bounds are close together.
 *
 * <p>If the stream reads the device's clock, the host's clock before and after that reading gives two further bounds,
 * which do not depend on how busy the device was. If they contradict the others, they are not used: marks are set and
 * looked at in this process, but only the driver knows how its readings are made. If the host read its clock for no
 * mark of a batch, the reading cannot be compared. It is then used unless the last reading that was compared
 * contradicted the marks; if none was ever compared, its error is not known.
 */
final class MarkChain {

    /** The value of an error that is not known, because no mark of the batch has a time of the host. */
    static final long NO_ERROR = -1;

    private static final int NO_POSITION = -1;

    /**
     * Marks that lie farther back than this, in ns or in turns, are put in any order: 2^43 ns are two and a half hours.
     */
    private static final long OLDEST = (1L << 43) - 1;

    private static final int MARK_BITS = 20;
    private static final int MARK_MASK = (1 << MARK_BITS) - 1;

    private final DeviceStream stream;
    private final Marks known;
    private final NanoClock clock;

    // By mark; valid if batchOf contains the number of the current batch.
    private int[] batchOf = {};
    private int[] positions = {};
    private long[] offsetsNs = {};

    /** For a mark that a graph sets, the mark behind the launch; for any other mark, the mark itself. */
    private int[] behind = {};

    /** How many samples begin at a mark, less those that end there. */
    private int[] opened = {};

    /** The same for the samples among them that have no time. */
    private int[] untimed = {};

    /** Whether a mark begins or ends a sample. Other marks delimit neither busy nor idle time. */
    private boolean[] delimits = {};

    /** How many samples began before the batch at a start that is a time. */
    private int openedBefore;

    /** The same for the samples among them that have no time. */
    private int untimedBefore;

    // Made once, so that sorting allocates nothing.
    private final IntToLongFunction turns;
    private final IntToLongFunction offsets = this::offsetNs;

    private int batch;

    /**
     * The number of marks. Until they are measured, marks of launches are not included, and follow them in the array.
     */
    private int size;

    private int launchedSize;
    private int[] marks = new int[256];
    private long[] order = new long[256];

    /** The time from the mark before, by position. */
    private long[] stepsNs = new long[256];

    private boolean unbroken;
    private boolean early;

    /** Whether the distance between any two marks with times is known. */
    private boolean connected;

    /** The time of the first mark on the stream's timeline. */
    private long originNs;

    private int last = DeviceStream.NO_MARK;
    private long baseNs;
    private long baseErrorNs;

    /** Whether the latest reading of the device's clock that was compared with marks agreed with them. */
    private Agreement agreement = Agreement.NOT_COMPARED;

    private enum Agreement {
        NOT_COMPARED,
        AGREED,
        CONTRADICTED
    }

    /** Whether a reading was used in this batch, and none was ever compared. */
    private boolean unchecked;

    private int lastCounted = DeviceStream.NO_MARK;
    private long busyNs;
    private long idleNs;
    private int gaps;
    private long shortestGapNs;

    /**
     * Creates a chain over the marks of a stream.
     *
     * @param stream reports the times between marks
     * @param known the state of the marks
     * @param clock the host's clock
     */
    MarkChain(DeviceStream stream, Marks known, NanoClock clock) {
        this.stream = stream;
        this.known = known;
        this.clock = clock;
        this.turns = known::turn;
    }

    private void makeRoom() {
        int room = known.room();
        batchOf = Arrays.copyOf(batchOf, room);
        positions = Arrays.copyOf(positions, room);
        offsetsNs = Arrays.copyOf(offsetsNs, room);
        behind = Arrays.copyOf(behind, room);
        opened = Arrays.copyOf(opened, room);
        untimed = Arrays.copyOf(untimed, room);
        delimits = Arrays.copyOf(delimits, room);
    }

    /** Begins a batch without marks. */
    void begin() {
        batch++;
        size = 0;
        launchedSize = 0;
        openedBefore = 0;
        untimedBefore = 0;
    }

    /** Adds a mark, unless the batch has it. */
    void add(int mark) {
        if (isNew(mark)) {
            behind[mark] = mark;
            makeRoomForOne();
            // The marks of launches follow the others: the first of them makes room.
            marks[size + launchedSize] = marks[size];
            marks[size++] = mark;
        }
    }

    /**
     * Adds a mark that a graph has set in a launch, unless the batch has it.
     *
     * @param end the mark behind the launch, which belongs to the batch and delimits busy and idle time
     * @param offsetNs the time from {@code end} to the mark, ns, 0 or less
     */
    void addLaunched(int mark, int end, long offsetNs) {
        if (isNew(mark)) {
            behind[mark] = end;
            offsetsNs[mark] = offsetNs;
            makeRoomForOne();
            marks[size + launchedSize++] = mark;
        }
    }

    private boolean isNew(int mark) {
        if (mark >= batchOf.length) {
            makeRoom();
        }
        if (batchOf[mark] == batch) {
            return false;
        }
        batchOf[mark] = batch;
        opened[mark] = 0;
        untimed[mark] = 0;
        delimits[mark] = false;
        return true;
    }

    private void makeRoomForOne() {
        int all = size + launchedSize;
        if (all == marks.length) {
            marks = Arrays.copyOf(marks, 2 * all);
            order = new long[2 * all];
            stepsNs = new long[2 * all];
        }
    }

    /** Lets a mark of the batch delimit busy and idle time. */
    void delimit(int mark) {
        delimits[mark] = true;
    }

    /** Adds a sample from one mark to another. */
    void addSample(int from, int to) {
        add(from);
        add(to);
        opened[from]++;
        opened[to]--;
        delimits[from] = true;
        delimits[to] = true;
    }

    /** Adds a sample from a start that is a time, before the batch, to a mark. */
    void addSampleSince(int to) {
        add(to);
        openedBefore++;
        opened[to]--;
        delimits[to] = true;
    }

    /** Returns whether the batch has a mark. */
    boolean has(int mark) {
        return mark < batchOf.length && batchOf[mark] == batch;
    }

    /**
     * Puts the marks in order and queries the times between them.
     *
     * @param lookedNs the host's clock after the last mark was reached
     * @param awaited the mark that the host waited for right before; or {@link DeviceStream#NO_MARK}
     */
    void measure(long lookedNs, int awaited) {
        sort(turns);
        stream.elapsedNs(marks, size, stepsNs);
        unbroken = true;
        early = false;
        connected = true;
        int latest = NO_POSITION;
        boolean inOrder = true;
        for (int i = 0; i < size; i++) {
            int mark = marks[i];
            positions[mark] = latest == NO_POSITION ? startAt(i) : follow(latest, i);
            if (positions[mark] != NO_POSITION) {
                inOrder &= latest == NO_POSITION || offsetsNs[mark] >= offsetsNs[marks[latest]];
                latest = i;
            }
        }
        if (unbroken && !inOrder) {
            sort(offsets);
            latest = putInPlace();
        }
        if (latest != NO_POSITION && (size == 1 || !unbroken) && !hasTime(marks[latest])) {
            // No query of a time to or from this mark has shown so far whether the mark has a time.
            positions[marks[latest]] = NO_POSITION;
            latest = NO_POSITION;
            unbroken = false;
        }
        last = latest == NO_POSITION ? DeviceStream.NO_MARK : marks[latest];
        correlate(lookedNs, awaited != DeviceStream.NO_MARK && last == awaited);
        if (launchedSize > 0) {
            insertLaunched();
        }
    }

    /** Gives the marks, which are in the order of their times, their positions. Returns the last position. */
    private int putInPlace() {
        for (int i = 0; i < size; i++) {
            positions[marks[i]] = i;
        }
        return size - 1;
    }

    /** Gives the marks of launches their places: by their times or, in a broken chain, before those behind launches. */
    private void insertLaunched() {
        int all = size + launchedSize;
        for (int i = size; i < all; i++) {
            int end = behind[marks[i]];
            offsetsNs[marks[i]] += positions[end] == NO_POSITION ? 0 : offsetsNs[end];
            positions[marks[i]] = positions[end];
        }
        if (!unbroken) {
            putBeforeEnds(all);
        }
        size = all;
        launchedSize = 0;
        if (unbroken) {
            sort(offsets);
            putInPlace();
        }
    }

    private void putBeforeEnds(int all) {
        int[] ordered = new int[all];
        int at = 0;
        for (int i = 0; i < size; i++) {
            for (int j = size; j < all; j++) {
                if (behind[marks[j]] == marks[i]) {
                    ordered[at++] = marks[j];
                }
            }
            ordered[at++] = marks[i];
        }
        for (int i = 0; i < all; i++) {
            marks[i] = ordered[i];
            positions[marks[i]] = positions[marks[i]] == NO_POSITION ? NO_POSITION : i;
        }
    }

    private long offsetNs(int mark) {
        return offsetsNs[mark];
    }

    /** Sorts the marks by a value of each. Threads may have set marks at the same time, or in another order. */
    private void sort(IntToLongFunction valueOf) {
        long newest = Long.MIN_VALUE;
        boolean isSorted = true;
        for (int i = 0; i < size; i++) {
            long value = valueOf.applyAsLong(marks[i]);
            isSorted &= value >= newest;
            newest = Math.max(newest, value);
        }
        if (isSorted) {
            return;
        }
        for (int i = 0; i < size; i++) {
            long age = Math.min(OLDEST, newest - valueOf.applyAsLong(marks[i]));
            order[i] = ((OLDEST - age) << MARK_BITS) | marks[i];
        }
        Arrays.sort(order, 0, size);
        for (int i = 0; i < size; i++) {
            marks[i] = (int) order[i] & MARK_MASK;
        }
    }

    private int startAt(int position) {
        offsetsNs[marks[position]] = 0;
        return position;
    }

    private int follow(int last, int position) {
        int before = marks[last];
        int mark = marks[position];
        long ns = last == position - 1 ? stepsNs[position] : stream.elapsedNs(before, mark);
        if (isTime(ns)) {
            offsetsNs[mark] = offsetsNs[before] + ns;
            return position;
        }
        unbroken = false;
        early |= ns == DeviceStream.NOT_REACHED;
        if (!hasTime(mark)) {
            return NO_POSITION;
        }
        if (hasTime(before)) {
            connected = false;
        } else {
            positions[before] = NO_POSITION;
        }
        // The time between them is not known, and counts as 0.
        offsetsNs[mark] = offsetsNs[before];
        return position;
    }

    private void correlate(long lookedNs, boolean waited) {
        if (!unbroken || size == 0) {
            return;
        }
        unchecked = false;
        long earliestNs = Long.MIN_VALUE;
        long latestNs = lookedNs - offsetsNs[last];
        for (int i = 0; i < size; i++) {
            long setNs = known.setNs(marks[i]);
            if (setNs != Marks.NOT_READ) {
                earliestNs = Math.max(earliestNs, setNs - offsetsNs[marks[i]]);
            }
        }
        if (correlateByReading(earliestNs, latestNs)) {
            return;
        }
        if (earliestNs == Long.MIN_VALUE) {
            baseNs = latestNs;
            baseErrorNs = NO_ERROR;
            return;
        }
        // If the clocks drift apart, the bounds may be in the wrong order.
        long betweenNs = Math.max(0, latestNs - earliestNs);
        baseErrorNs = waited ? betweenNs : (betweenNs + 1) / 2;
        baseNs = latestNs - (waited ? 0 : baseErrorNs);
    }

    /** Returns whether the device's clock could be read and the reading agrees with the bounds that the marks give. */
    private boolean correlateByReading(long earliestNs, long latestNs) {
        // Most streams have no clock. If there is one, the first reading warms up the code that reads it.
        if (!isTime(stream.sinceNs(last))) {
            return false;
        }
        long beforeNs = clock.nanoTime();
        long sinceNs = stream.sinceNs(last);
        long afterNs = clock.nanoTime();
        if (!isTime(sinceNs)) {
            return false;
        }
        long sinceFirstNs = sinceNs + offsetsNs[last];
        long lowerNs = Math.max(earliestNs, beforeNs - sinceFirstNs);
        long upperNs = Math.min(latestNs, afterNs - sinceFirstNs);
        if (lowerNs > upperNs) {
            agreement = Agreement.CONTRADICTED;
            return false;
        }
        if (earliestNs != Long.MIN_VALUE) {
            agreement = Agreement.AGREED;
        }
        if (agreement == Agreement.CONTRADICTED) {
            return false;
        }
        unchecked = agreement == Agreement.NOT_COMPARED;
        long errorNs = (upperNs - lowerNs + 1) / 2;
        baseNs = upperNs - errorNs;
        baseErrorNs = unchecked ? NO_ERROR : errorNs;
        return true;
    }

    /** Returns whether the host's times of the batch follow from readings that nothing confirms. */
    boolean isUnchecked() {
        return unchecked;
    }

    /**
     * Gives the batch its place on the stream's timeline.
     *
     * @param anchor a mark of the batch; or {@link DeviceStream#NO_MARK} to begin a timeline
     * @param anchorNs its time
     * @return false if the batch, or a part of it, has no place there
     */
    boolean continueFrom(int anchor, long anchorNs) {
        boolean isAnchored = anchor == DeviceStream.NO_MARK || isKnown(anchor);
        originNs = anchor == DeviceStream.NO_MARK || !isAnchored ? 0 : anchorNs - offsetsNs[anchor];
        return isAnchored && connected;
    }

    /** Returns whether the time of a mark of the batch is known. */
    boolean isKnown(int mark) {
        return positions[mark] != NO_POSITION;
    }

    /**
     * Returns the time of a mark on the stream's timeline, ns. Call it only if the mark {@link #isKnown} and the batch
     * has its place there.
     */
    long deviceNs(int mark) {
        return originNs + offsetsNs[mark];
    }

    /**
     * Returns the duration of a sample whose start is a time.
     *
     * @param startNs its start on the stream's timeline, on which the batch has its place
     * @param to the mark at its end
     * @return ns, or negative if it is not known
     */
    long elapsedSinceNs(long startNs, int to) {
        return isKnown(to) ? Math.max(0, deviceNs(to) - startNs) : DeviceStream.UNRESOLVED;
    }

    /**
     * Returns the duration of a sample.
     *
     * @return ns, or negative if it is not known
     */
    long elapsedNs(int from, int to) {
        if (positions[from] == NO_POSITION || positions[to] == NO_POSITION) {
            return DeviceStream.UNRESOLVED;
        }
        boolean isOfLaunch = behind[from] != from && behind[from] == behind[to];
        return unbroken || isOfLaunch ? offsetsNs[to] - offsetsNs[from] : stream.elapsedNs(from, to);
    }

    /**
     * Notes that a sample of the batch has no time: it does not count as busy, and the time within it does not count as
     * idle.
     */
    void leaveOut(int from, int to) {
        opened[from]--;
        opened[to]++;
        untimed[from]++;
        untimed[to]--;
    }

    /** Notes the same for a sample from a start that is a time. */
    void leaveOutSince(int to) {
        openedBefore--;
        opened[to]++;
        untimedBefore++;
        untimed[to]--;
    }

    /**
     * Adds up the busy time, which is the union of the samples, and the idle time, which is the gaps between them
     * within a pass. A gap in which a sample without a time may lie is neither.
     *
     * @param counted the mark up to which time was added up before, or {@link DeviceStream#NO_MARK}
     * @param anchor a mark before which the samples without a mark at their start began, or
     *     {@link DeviceStream#NO_MARK}; they count from there on
     * @param countedTurn the turn of the latest mark up to which time was ever added up: time behind a mark of an
     *     earlier turn may have been counted, and is neither busy nor idle
     */
    void addUp(int counted, int anchor, long countedTurn) {
        busyNs = 0;
        idleNs = 0;
        gaps = 0;
        shortestGapNs = Long.MAX_VALUE;
        lastCounted = DeviceStream.NO_MARK;
        int first = counted == DeviceStream.NO_MARK ? NO_POSITION : positions[counted];
        int open = 0;
        int unknown = untimedBefore;
        boolean timed = true;
        for (int i = 0; i < size; i++) {
            int mark = marks[i];
            boolean opens = mark == anchor && openedBefore > 0;
            boolean isCounted = delimits[mark] || opens || mark == counted;
            if (positions[mark] == NO_POSITION) {
                timed &= !isCounted;
            } else if (isCounted) {
                boolean isNew = lastCounted == counted
                        || (lastCounted == anchor && openedBefore > 0)
                        || (lastCounted != DeviceStream.NO_MARK && known.turn(behind[lastCounted]) > countedTurn);
                if (lastCounted != DeviceStream.NO_MARK && isNew && i > first) {
                    addUpBetween(lastCounted, mark, open > 0, timed && unknown == 0);
                }
                // The marks of a broken chain are not in the order of their times.
                boolean isLater = lastCounted == DeviceStream.NO_MARK || offsetsNs[mark] >= offsetsNs[lastCounted];
                lastCounted = isLater ? mark : lastCounted;
                timed = true;
            } else {
                timed &= !known.followsGap(behind[mark]);
            }
            open += opened[mark] + (opens ? openedBefore : 0);
            unknown += untimed[mark];
        }
    }

    private void addUpBetween(int before, int mark, boolean runs, boolean timed) {
        long ns = Math.max(0, offsetsNs[mark] - offsetsNs[before]);
        if (runs) {
            busyNs += ns;
        } else if (timed && !known.followsGap(behind[mark]) && known.areOfOnePass(behind[mark], behind[before])) {
            idleNs += ns;
            gaps++;
            shortestGapNs = Math.min(shortestGapNs, ns);
        }
    }

    private boolean hasTime(int mark) {
        long ns = stream.elapsedNs(mark, mark);
        early |= ns == DeviceStream.NOT_REACHED;
        return isTime(ns);
    }

    private static boolean isTime(long ns) {
        return ns != DeviceStream.UNRESOLVED && ns != DeviceStream.NOT_REACHED;
    }

    /** Returns the mark with a time that was reached last; {@link DeviceStream#NO_MARK} if there is none. */
    int last() {
        return last;
    }

    /**
     * Returns the latest mark up to which {@link #addUp} added up time; {@link DeviceStream#NO_MARK} if there is none.
     */
    int lastCounted() {
        return lastCounted == DeviceStream.NO_MARK ? lastCounted : behind[lastCounted];
    }

    /**
     * Returns whether some mark was not reached yet, although an earlier query said so: measure the whole batch again
     * later.
     */
    boolean isEarly() {
        return early;
    }

    /**
     * Returns whether the time from each mark to the next is known; otherwise the batch has no place in the host's
     * time.
     */
    boolean isUnbroken() {
        return unbroken;
    }

    /** Returns the host's clock when a mark was reached, ns, give or take {@link #hostErrorNs()}. */
    long hostNs(int mark) {
        return baseNs + offsetsNs[mark];
    }

    /** Returns how far {@link #hostNs} may be off, ns, or {@link #NO_ERROR}. */
    long hostErrorNs() {
        return baseErrorNs;
    }

    /** Returns the time in which at least one sample was running, ns. */
    long busyNs() {
        return busyNs;
    }

    /** Returns the time in the gaps between samples, ns. */
    long idleNs() {
        return idleNs;
    }

    /** Returns the number of these gaps. */
    int gaps() {
        return gaps;
    }

    /** Returns the shortest of these gaps, ns; {@link Long#MAX_VALUE} if there is none. */
    long shortestGapNs() {
        return shortestGapNs;
    }
}
