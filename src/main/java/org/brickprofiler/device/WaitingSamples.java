package org.brickprofiler.device;

import java.util.Arrays;

/**
 * Samples of one stream that wait for their time, those of a thread in the order in which it ended them: a growing table
 * of primitives. One thread at a time; allocates nothing once it has seen the most that wait at once.
 */
final class WaitingSamples {

    private static final int FIRST_CAPACITY = 256;

    /** Whether a mark is reached. */
    @FunctionalInterface
    interface Reached {
        boolean isReached(int mark);
    }

    private int size;
    private int[] keys = new int[FIRST_CAPACITY];
    private int[] starts = new int[FIRST_CAPACITY];
    private int[] ends = new int[FIRST_CAPACITY];
    private long[] elements = new long[FIRST_CAPACITY];
    private long[] owners = new long[FIRST_CAPACITY];

    /** Where samples go that are to come after others; as long as the rest. */
    private long[] behind = {};

    /**
     * Adds a sample at the end.
     *
     * @param key the brick
     * @param start the mark at its start; the same as {@code end} for a sample without one
     * @param end the mark at its end
     * @param elementCount elements it processed
     * @param owner which thread ended it
     */
    void add(int key, int start, int end, long elementCount, long owner) {
        if (size == keys.length) {
            int more = 2 * size;
            keys = Arrays.copyOf(keys, more);
            starts = Arrays.copyOf(starts, more);
            ends = Arrays.copyOf(ends, more);
            elements = Arrays.copyOf(elements, more);
            owners = Arrays.copyOf(owners, more);
        }
        keys[size] = key;
        starts[size] = start;
        ends[size] = end;
        elements[size] = elementCount;
        owners[size] = owner;
        size++;
    }

    int size() {
        return size;
    }

    int key(int i) {
        return keys[i];
    }

    int start(int i) {
        return starts[i];
    }

    int end(int i) {
        return ends[i];
    }

    long elements(int i) {
        return elements[i];
    }

    /** Whether a sample has a mark at its start, too. */
    boolean hasStart(int i) {
        return starts[i] != ends[i];
    }

    private boolean isOf(int i, long owner) {
        return owner == DeviceRecorder.EVERYBODY || owners[i] == owner;
    }

    /** How many samples a thread has, or everybody. */
    int count(long owner) {
        int count = 0;
        for (int i = 0; i < size; i++) {
            count += isOf(i, owner) ? 1 : 0;
        }
        return count;
    }

    /** The mark at the end of the last sample that a thread ended, or {@link DeviceStream#NO_MARK}. */
    int lastEnd(long owner) {
        int last = size - 1;
        while (last >= 0 && !isOf(last, owner)) {
            last--;
        }
        return last < 0 ? DeviceStream.NO_MARK : ends[last];
    }

    /** The mark at the end of the last sample of a thread that is not reached, or {@link DeviceStream#NO_MARK}. */
    int lastUnreachedEnd(long owner, Reached stream) {
        int last = size - 1;
        while (last >= 0 && (!isOf(last, owner) || stream.isReached(ends[last]))) {
            last--;
        }
        return last < 0 ? DeviceStream.NO_MARK : ends[last];
    }

    /** The mark that was set last of those at the ends of samples, as far as that is known; or none. */
    int newestEnd(MarkStates marks) {
        int newest = DeviceStream.NO_MARK;
        for (int i = 0; i < size; i++) {
            if (newest == DeviceStream.NO_MARK || marks.turn(ends[i]) > marks.turn(newest)) {
                newest = ends[i];
            }
        }
        return newest;
    }

    /**
     * Moves the samples that the device has done to the front. Marks are reached in the order in which they were set: where
     * the newest is, no other needs be asked for, and after one that is not, no later one.
     *
     * @param marks tells in which order they were set
     * @param stream tells whether a mark is reached
     * @return how many are done
     */
    int moveReachedToFront(MarkStates marks, Reached stream) {
        if (size == 0 || stream.isReached(newestEnd(marks))) {
            return size;
        }
        long unreached = Long.MAX_VALUE;
        int front = 0;
        for (int i = 0; i < size; i++) {
            long turn = marks.turn(ends[i]);
            if (turn < unreached && stream.isReached(ends[i])) {
                move(i, front++);
            } else {
                unreached = Math.min(unreached, turn);
                putBehind(i, i - front);
            }
        }
        return fetchBehind(front);
    }

    /** Moves the samples of a thread to the front, and returns how many there are. */
    int moveToFront(long owner) {
        int front = 0;
        for (int i = 0; i < size; i++) {
            if (isOf(i, owner)) {
                move(i, front++);
            } else {
                putBehind(i, i - front);
            }
        }
        return fetchBehind(front);
    }

    private void move(int from, int to) {
        keys[to] = keys[from];
        starts[to] = starts[from];
        ends[to] = ends[from];
        elements[to] = elements[from];
        owners[to] = owners[from];
    }

    // Five columns, one after the other.

    private void putBehind(int from, int at) {
        int capacity = keys.length;
        if (behind.length < 5 * capacity) {
            behind = new long[5 * capacity];
        }
        behind[at] = keys[from];
        behind[at + capacity] = starts[from];
        behind[at + 2 * capacity] = ends[from];
        behind[at + 3 * capacity] = elements[from];
        behind[at + 4 * capacity] = owners[from];
    }

    private int fetchBehind(int front) {
        int capacity = keys.length;
        for (int to = front; to < size; to++) {
            int at = to - front;
            keys[to] = (int) behind[at];
            starts[to] = (int) behind[at + capacity];
            ends[to] = (int) behind[at + 2 * capacity];
            elements[to] = behind[at + 3 * capacity];
            owners[to] = behind[at + 4 * capacity];
        }
        return front;
    }

    /** Forgets the first samples. */
    void drop(int count) {
        size -= count;
        System.arraycopy(keys, count, keys, 0, size);
        System.arraycopy(starts, count, starts, 0, size);
        System.arraycopy(ends, count, ends, 0, size);
        System.arraycopy(elements, count, elements, 0, size);
        System.arraycopy(owners, count, owners, 0, size);
    }
}
