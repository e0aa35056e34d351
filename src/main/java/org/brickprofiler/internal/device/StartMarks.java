package org.brickprofiler.internal.device;

import java.util.Arrays;
import org.brickprofiler.device.DeviceStream;

/**
 * The starts of deferred measurements on one stream, found by the reading of the host's clock that was handed out with
 * each. One thread at a time; allocates nothing once it has grown to its largest size.
 *
 * <p>A start is a mark until the device has reached it. From then on it is a number, its time on the stream's own
 * timeline (see {@link MarkChain#deviceNs}), and its mark goes back to the stream. So a measurement may go on for many
 * passes and takes no mark meanwhile.
 *
 * <h2>Known starts</h2>
 *
 * At most {@link #MOST_KNOWN} starts are known. A start at which no measurement has begun so far is kept as long as
 * there is room, because a measurement around a whole generation is one of few. Of the other starts, at least those
 * among the latest {@link #USED_KEPT} starts are kept, because several measurements may begin at one start. A
 * measurement from a start that is not known any more has no start; no other start takes its place.
 *
 * <h2>Holder of the mark of a start</h2>
 *
 * The start holds its mark until the first measurement that begins there takes over this hold. That measurement is
 * resolved together with its start, or later. Each further measurement adds a hold.
 */
final class StartMarks {

    /** The most starts that are known at once. */
    static final int MOST_KNOWN = 1 << 16;

    /** The number of latest starts that are kept even if a measurement has begun there. */
    static final int USED_KEPT = 1 << 12;

    /** Takes the place of a position if the start is not known. */
    static final int UNKNOWN = -1;

    private static final int FIRST_CAPACITY = 1 << 8;
    private static final long GOLDEN = 0x9E37_79B9_7F4A_7C15L;

    // Kinds of starts: the lowest bits of a place; above them is the mark or the time.
    private static final int GONE = 0;
    private static final int MARK = 1;
    private static final int LENT = 2;
    private static final int TIME = 3;
    private static final int USED_TIME = 4;
    private static final int KIND_BITS = 3;
    private static final int KIND_MASK = (1 << KIND_BITS) - 1;

    private final DeviceStream stream;
    private final Marks marks;

    // By position, in the order in which starts came.
    private long[] readings = new long[FIRST_CAPACITY];
    private long[] places = new long[FIRST_CAPACITY];
    private int size;

    /** The position before which no start is a mark. */
    private int firstMark;

    /** How many starts are times. */
    private int times;

    /** The position of the start that was found last; the next query is often for the next start. */
    private int found = UNKNOWN;

    /**
     * Positions plus one of the first starts, by the hash of the reading; made if a query is not for the next start.
     */
    private int[] index = {};

    private int indexed;

    /** Creates the state without starts. */
    StartMarks(DeviceStream stream, Marks marks) {
        this.stream = stream;
        this.marks = marks;
    }

    /** Adds a start that is a mark, and takes over a hold of it. */
    void put(long readingNs, int mark) {
        if (size == places.length) {
            makeRoom();
        }
        readings[size] = readingNs;
        places[size] = place(mark, MARK);
        size++;
    }

    /** Returns the position of a start, valid until the next {@link #put}; or {@link #UNKNOWN}. */
    int find(long readingNs) {
        int next = found + 1;
        int at = next < size && readings[next] == readingNs ? next : search(readingNs);
        if (at == UNKNOWN || kind(at) == GONE) {
            return UNKNOWN;
        }
        found = at;
        return at;
    }

    private int search(long readingNs) {
        indexAll();
        int mask = index.length - 1;
        for (int slot = slot(readingNs); index[slot] != 0; slot = (slot + 1) & mask) {
            int at = index[slot] - 1;
            if (readings[at] == readingNs) {
                return at;
            }
        }
        return UNKNOWN;
    }

    private void indexAll() {
        if (index.length < 2 * places.length) {
            index = new int[2 * places.length];
            indexed = 0;
        }
        int mask = index.length - 1;
        while (indexed < size) {
            int slot = slot(readings[indexed]);
            while (index[slot] != 0) {
                slot = (slot + 1) & mask;
            }
            index[slot] = ++indexed;
        }
    }

    private int slot(long readingNs) {
        return (int) ((readingNs * GOLDEN) >>> Integer.SIZE) & (index.length - 1);
    }

    private static long place(long value, int kind) {
        return (value << KIND_BITS) | kind;
    }

    private int kind(int at) {
        return (int) places[at] & KIND_MASK;
    }

    private int mark(int at) {
        return (int) (places[at] >>> KIND_BITS);
    }

    private boolean isMark(int at) {
        int kind = kind(at);
        return kind == MARK || kind == LENT;
    }

    /** Returns whether a start is a time rather than a mark. */
    boolean isTime(int at) {
        return kind(at) >= TIME;
    }

    /** Begins a measurement at a start that is a time. Returns the time, ns on the stream's timeline. */
    long useTime(int at) {
        long ns = places[at] >> KIND_BITS;
        places[at] = place(ns, USED_TIME);
        return ns;
    }

    /** Begins a measurement at a start that is a mark. Returns the mark, of which the measurement gets a hold. */
    int lend(int at) {
        int mark = mark(at);
        if (kind(at) == LENT) {
            marks.hold(mark);
        } else {
            places[at] = place(mark, LENT);
        }
        return mark;
    }

    /** Notes that a start was used: it is kept like one at which a measurement has begun. */
    void use(int at) {
        if (kind(at) == TIME) {
            useTime(at);
        }
    }

    /** Notes that a measurement from a start has no mark at its end: forgets the start, unless it is a time. */
    void withdraw(long readingNs) {
        int at = find(readingNs);
        if (at != UNKNOWN && kind(at) == MARK) {
            forget(at);
        }
    }

    /** Forgets a start. */
    private void forget(int at) {
        int kind = kind(at);
        if (kind == MARK) {
            marks.letGo(mark(at));
        } else if (kind >= TIME) {
            times--;
        }
        places[at] = GONE;
    }

    // ---- from marks to times ----

    /** Returns whether the first start at which no measurement has begun so far is reached. */
    boolean hasReached() {
        for (int at = firstMark; at < size; at++) {
            if (kind(at) == MARK) {
                return stream.isReached(mark(at));
            }
        }
        return false;
    }

    /**
     * Adds the marks of starts that are reached to a batch, up to the first that is not. Marks are reached in the order
     * in which they were set: if the newest is reached, no other needs to be queried.
     */
    void addReached(MarkChain chain) {
        int newest = newestMark();
        boolean all = newest != DeviceStream.NO_MARK && stream.isReached(newest);
        for (int at = firstMark; at < size; at++) {
            if (kind(at) == MARK) {
                if (!all && !stream.isReached(mark(at))) {
                    return;
                }
                chain.add(mark(at));
            }
        }
    }

    /** Returns the mark that was set last of those of starts at which no measurement has begun; or none. */
    private int newestMark() {
        int newest = DeviceStream.NO_MARK;
        for (int at = firstMark; at < size; at++) {
            if (kind(at) == MARK && (newest == DeviceStream.NO_MARK || marks.turn(mark(at)) > marks.turn(newest))) {
                newest = mark(at);
            }
        }
        return newest;
    }

    /**
     * Turns the starts of a batch into times and removes their holds; forgets starts without a time.
     *
     * @param chain the batch
     * @param hasTimeline whether the batch continues the timeline of the earlier times
     */
    void settle(MarkChain chain, boolean hasTimeline) {
        for (int at = firstMark; at < size; at++) {
            if (!isMark(at) || !chain.has(mark(at))) {
                continue;
            }
            int mark = mark(at);
            int kind = kind(at);
            if (kind == MARK && marks.followsGap(mark)) {
                // It delimits no sample: the gap lies before the next mark that does.
                marks.miss();
            }
            if (hasTimeline && chain.isKnown(mark)) {
                places[at] = place(chain.deviceNs(mark), kind == LENT ? USED_TIME : TIME);
                times++;
                if (kind == MARK) {
                    marks.letGo(mark);
                }
            } else {
                forget(at);
            }
        }
        skipToMarks();
    }

    private void skipToMarks() {
        while (firstMark < size && !isMark(firstMark)) {
            firstMark++;
        }
    }

    /** Returns whether some start is a time. */
    boolean hasTimes() {
        return times > 0;
    }

    /** Forgets the starts that are times, because the timeline has ended. */
    void forgetTimes() {
        for (int at = 0; times > 0 && at < size; at++) {
            if (isTime(at)) {
                forget(at);
            }
        }
    }

    /** Forgets the starts whose marks are held by samples that are dropped. */
    void forgetLent() {
        for (int at = firstMark; at < size; at++) {
            if (kind(at) == LENT) {
                forget(at);
            }
        }
    }

    /** Forgets all starts. */
    void clear() {
        for (int at = 0; at < size; at++) {
            forget(at);
        }
        size = 0;
        firstMark = 0;
        found = UNKNOWN;
        forgetIndex();
    }

    /** Sets a flag for each mark that a start holds. */
    void keep(boolean[] kept) {
        for (int at = firstMark; at < size; at++) {
            if (kind(at) == MARK) {
                kept[mark(at)] = true;
            }
        }
    }

    // ---- room ----

    private void makeRoom() {
        compact(size - USED_KEPT, 0);
        if (size <= places.length / 2) {
            return;
        }
        if (places.length < MOST_KNOWN) {
            readings = Arrays.copyOf(readings, 2 * places.length);
            places = Arrays.copyOf(places, 2 * places.length);
        } else {
            compact(0, size - places.length / 2);
        }
    }

    /**
     * Keeps some of the starts.
     *
     * @param unusedBefore before this position, starts are kept only if no measurement has begun there
     * @param noneBefore before this position, no starts are kept
     */
    private void compact(int unusedBefore, int noneBefore) {
        int to = 0;
        for (int at = 0; at < size; at++) {
            int kind = kind(at);
            if (at < noneBefore || (at < unusedBefore && (kind == LENT || kind == USED_TIME))) {
                forget(at);
            }
            if (places[at] != GONE) {
                readings[to] = readings[at];
                places[to] = places[at];
                to++;
            }
        }
        size = to;
        firstMark = 0;
        skipToMarks();
        found = size - 1;
        forgetIndex();
    }

    private void forgetIndex() {
        if (indexed > 0) {
            Arrays.fill(index, 0);
            indexed = 0;
        }
    }
}
