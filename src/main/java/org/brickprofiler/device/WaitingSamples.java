package org.brickprofiler.device;

import java.util.Arrays;

/**
 * Samples of one stream that wait for their time, in the order in which they came: a growing table of primitives. One
 * thread at a time; allocates nothing once it has seen the most that wait at once.
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

    /**
     * Adds a sample at the end.
     *
     * @param key the brick
     * @param start the mark at its start; the same as {@code end} for a sample without one
     * @param end the mark at its end
     * @param elementCount elements it processed
     */
    void add(int key, int start, int end, long elementCount) {
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
        int reached = 0;
        for (int i = 0; i < size; i++) {
            long turn = marks.turn(ends[i]);
            if (turn < unreached && stream.isReached(ends[i])) {
                swap(reached++, i);
            } else {
                unreached = Math.min(unreached, turn);
            }
        }
        return reached;
    }

    private int newestEnd(MarkStates marks) {
        int newest = ends[0];
        for (int i = 1; i < size; i++) {
            newest = marks.turn(ends[i]) > marks.turn(newest) ? ends[i] : newest;
        }
        return newest;
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

    /** Forgets the first samples. */
    void drop(int count) {
        size -= count;
        System.arraycopy(keys, count, keys, 0, size);
        System.arraycopy(starts, count, starts, 0, size);
        System.arraycopy(ends, count, ends, 0, size);
        System.arraycopy(elements, count, elements, 0, size);
    }
}
