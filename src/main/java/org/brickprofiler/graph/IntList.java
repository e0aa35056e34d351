package org.brickprofiler.graph;

import java.util.Arrays;
import java.util.stream.IntStream;

/**
 * A growing list of ints that boxes none of them. Not thread-safe. An index outside the list is a fault of this package
 * and is not checked.
 */
final class IntList {

    private static final int FIRST_LENGTH = 8;

    private int[] values;
    private int size;

    /** Creates an empty list that allocates when the first value is added. */
    IntList() {
        this(0);
    }

    /**
     * Creates an empty list with room.
     *
     * @param room the number of values that can be added before the list allocates again
     */
    IntList(int room) {
        values = new int[room];
    }

    void add(int value) {
        if (size == values.length) {
            values = Arrays.copyOf(values, Math.max(FIRST_LENGTH, size + (size >> 1)));
        }
        values[size++] = value;
    }

    void addAll(IntList others) {
        int count = others.size;
        for (int i = 0; i < count; i++) {
            add(others.values[i]);
        }
    }

    int size() {
        return size;
    }

    boolean isEmpty() {
        return size == 0;
    }

    int get(int index) {
        return values[index];
    }

    void set(int index, int value) {
        values[index] = value;
    }

    /** Returns the last value; the list is not empty. */
    int last() {
        return values[size - 1];
    }

    /** Removes and returns the last value; the list is not empty. */
    int removeLast() {
        return values[--size];
    }

    void clear() {
        size = 0;
    }

    int[] toArray() {
        return Arrays.copyOf(values, size);
    }

    IntStream stream() {
        return Arrays.stream(values, 0, size);
    }
}
