package org.brickprofiler.device;

import java.util.Arrays;

/**
 * The marks of a batch of samples of one stream, put in the order in which the device reached them, and how far each lies
 * from the first. Distances are added up from one mark to the next: a device tells a short time exactly and a long one
 * not, for CUDA's is a {@code float}. One thread at a time; allocates nothing once it has seen its largest batch.
 *
 * <h2>Device time in host time</h2>
 *
 * Let <i>b</i> be the host's time of the first mark. No mark is reached before it is set, so <i>b</i> is at least <i>set
 * - offset</i> for every mark. The last mark was reached when the host looked, so <i>b</i> is at most <i>looked -
 * offset</i> of that one. Where the host had to wait for it, it looked as soon as it could, and the later bound is taken;
 * otherwise the middle. The error is the distance to the farther bound. A pass that begins on an idle device has its
 * first mark reached as it is set, and both bounds are then close together.
 */
final class MarkChain {

    /** Instead of an error: no mark of the batch has a time of the host. */
    static final long NO_ERROR = -1;

    private static final int NO_POSITION = -1;

    /** Marks that lie farther back than this, in ns or in turns, are put in any order: 2^43 ns are two and a half hours. */
    private static final long OLDEST = (1L << 43) - 1;

    private static final int MARK_BITS = 20;
    private static final int MARK_MASK = (1 << MARK_BITS) - 1;

    private final DeviceStream stream;
    private final MarkStates states;

    // By mark; of the current batch where batchOf says so.
    private final int[] batchOf;
    private final int[] positions;
    private final long[] offsetsNs;

    /** How many samples begin at a mark, less those that end there. */
    private final int[] opened;

    /** The same of the samples among them that have no time. */
    private final int[] untimed;

    /** How long before a mark a sample began that has no mark at its start, 0 for none; less where that is not known. */
    private final long[] coveredNs;

    private int batch;
    private int size;
    private int[] marks = new int[256];
    private long[] order = new long[256];

    /** From the mark before, by position. */
    private long[] stepsNs = new long[256];

    private boolean unbroken;
    private int last = DeviceStream.NO_MARK;
    private long baseNs;
    private long baseErrorNs;
    private long busyNs;
    private long idleNs;

    /**
     * A chain over the marks of a stream.
     *
     * @param stream tells the times between marks
     * @param states what is known of them
     */
    MarkChain(DeviceStream stream, MarkStates states) {
        this.stream = stream;
        this.states = states;
        int count = states.count();
        this.batchOf = new int[count];
        this.positions = new int[count];
        this.offsetsNs = new long[count];
        this.opened = new int[count];
        this.untimed = new int[count];
        this.coveredNs = new long[count];
    }

    /** Begins a batch without marks. */
    void begin() {
        batch++;
        size = 0;
    }

    /** Adds a mark, unless the batch has it. */
    void add(int mark) {
        if (batchOf[mark] == batch) {
            return;
        }
        batchOf[mark] = batch;
        opened[mark] = 0;
        untimed[mark] = 0;
        coveredNs[mark] = 0;
        if (size == marks.length) {
            marks = Arrays.copyOf(marks, 2 * size);
            order = new long[2 * size];
            stepsNs = new long[2 * size];
        }
        marks[size++] = mark;
    }

    /** Adds a sample from one mark to another. */
    void addSample(int from, int to) {
        add(from);
        add(to);
        opened[from]++;
        opened[to]--;
    }

    /**
     * Puts the marks in order and asks for the times between them.
     *
     * @param lookedNs the host's clock after the last mark was reached
     * @param waited whether the host waited for that
     */
    void measure(long lookedNs, boolean waited) {
        sort(states.turns());
        stream.elapsedNs(marks, size, stepsNs);
        unbroken = true;
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
            sort(offsetsNs);
            for (int i = 0; i < size; i++) {
                positions[marks[i]] = i;
            }
            latest = size - 1;
        }
        if (latest != NO_POSITION && (size == 1 || !unbroken) && !hasTime(marks[latest])) {
            // No time to or from it was told, which would have said so.
            positions[marks[latest]] = NO_POSITION;
            latest = NO_POSITION;
            unbroken = false;
        }
        last = latest == NO_POSITION ? DeviceStream.NO_MARK : marks[latest];
        correlate(lookedNs, waited);
    }

    /** Sorts the marks by what each has. Threads may have set theirs at the same time, or in another order. */
    private void sort(long[] values) {
        long newest = Long.MIN_VALUE;
        for (int i = 0; i < size; i++) {
            newest = Math.max(newest, values[marks[i]]);
        }
        for (int i = 0; i < size; i++) {
            long age = Math.min(OLDEST, newest - values[marks[i]]);
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
        if (!hasTime(mark)) {
            return NO_POSITION;
        }
        if (!hasTime(before)) {
            positions[before] = NO_POSITION;
        }
        // What lies between is not known, and counts as nothing.
        offsetsNs[mark] = offsetsNs[before];
        return position;
    }

    private void correlate(long lookedNs, boolean waited) {
        if (!unbroken || size == 0) {
            return;
        }
        long earliestNs = Long.MIN_VALUE;
        for (int i = 0; i < size; i++) {
            long readNs = states.setNs(marks[i]);
            if (readNs != MarkStates.NOT_READ) {
                earliestNs = Math.max(earliestNs, readNs - offsetsNs[marks[i]]);
            }
        }
        long latestNs = lookedNs - offsetsNs[marks[size - 1]];
        if (earliestNs == Long.MIN_VALUE) {
            baseNs = latestNs;
            baseErrorNs = NO_ERROR;
            return;
        }
        // Clocks that drift apart may turn the two round.
        long betweenNs = Math.max(0, latestNs - earliestNs);
        baseErrorNs = waited ? betweenNs : (betweenNs + 1) / 2;
        baseNs = latestNs - (waited ? 0 : baseErrorNs);
    }

    /**
     * How long a sample took.
     *
     * @return ns, or negative where it is not known
     */
    long elapsedNs(int from, int to) {
        if (positions[from] == NO_POSITION || positions[to] == NO_POSITION) {
            return DeviceStream.UNRESOLVED;
        }
        return unbroken && positions[to] == positions[from] + 1
                ? offsetsNs[to] - offsetsNs[from]
                : stream.elapsedNs(from, to);
    }

    /**
     * How long a sample took that has a mark at its end only: from when the host began with it or, where the device was
     * still busy with what came before, from the mark before.
     *
     * @param sinceNs the host's clock when it began
     * @param to the mark at its end
     * @return ns, or negative where it is not known
     */
    long elapsedSinceNs(long sinceNs, int to) {
        if (!unbroken) {
            coveredNs[to] = -1;
            return DeviceStream.UNRESOLVED;
        }
        long startNs = sinceNs - baseNs;
        int position = positions[to];
        if (position > 0) {
            startNs = Math.max(startNs, offsetsNs[marks[position - 1]]);
        }
        long ns = Math.max(0, offsetsNs[to] - startNs);
        coveredNs[to] = ns;
        return ns;
    }

    /** A sample of the batch has no time: it is not counted as busy, and what lies within it not as idle. */
    void leaveOut(int from, int to) {
        opened[from]--;
        opened[to]++;
        untimed[from]++;
        untimed[to]--;
    }

    /**
     * Adds up when the device was busy with samples and when it was not: the union of the samples, and the gaps between
     * them within a pass. A gap in which a sample without a time may lie is neither.
     *
     * @param counted the mark up to which time was added up before, or {@link DeviceStream#NO_MARK}
     */
    void addUp(int counted) {
        busyNs = 0;
        idleNs = 0;
        int first = counted == DeviceStream.NO_MARK ? NO_POSITION : positions[counted];
        int before = DeviceStream.NO_MARK;
        int open = 0;
        int unknown = 0;
        boolean told = true;
        for (int i = 0; i < size; i++) {
            int mark = marks[i];
            if (positions[mark] == NO_POSITION) {
                told = false;
            } else {
                if (before == DeviceStream.NO_MARK) {
                    busyNs = first == NO_POSITION ? Math.max(0, coveredNs[mark]) : 0;
                } else if (i > first) {
                    addUpBetween(before, mark, open > 0, told && unknown == 0);
                }
                // A broken chain is not in the order of its times.
                before = before == DeviceStream.NO_MARK || offsetsNs[mark] >= offsetsNs[before] ? mark : before;
                told = true;
            }
            open += opened[mark];
            unknown += untimed[mark];
        }
    }

    private void addUpBetween(int before, int mark, boolean runs, boolean told) {
        long ns = Math.max(0, offsetsNs[mark] - offsetsNs[before]);
        long busy = runs ? ns : Math.max(0, Math.min(ns, coveredNs[mark]));
        busyNs += busy;
        idleNs += told && coveredNs[mark] >= 0 && states.pass(mark) == states.pass(before) ? ns - busy : 0;
    }

    private boolean hasTime(int mark) {
        return isTime(stream.elapsedNs(mark, mark));
    }

    private static boolean isTime(long ns) {
        return ns != DeviceStream.UNRESOLVED && ns != DeviceStream.NOT_REACHED;
    }

    /** The mark with a time that was reached last; {@link DeviceStream#NO_MARK} where there is none. */
    int last() {
        return last;
    }

    /** Whether the time from each mark to the next is known; no place in the host's time is where one is not. */
    boolean isUnbroken() {
        return unbroken;
    }

    /** The host's clock when a mark was reached, ns, give or take {@link #hostErrorNs()}. */
    long hostNs(int mark) {
        return baseNs + offsetsNs[mark];
    }

    /** How far {@link #hostNs} may be off, ns, or {@link #NO_ERROR}. */
    long hostErrorNs() {
        return baseErrorNs;
    }

    /** Time with a sample, ns. */
    long busyNs() {
        return busyNs;
    }

    /** Time between samples, ns. */
    long idleNs() {
        return idleNs;
    }
}
