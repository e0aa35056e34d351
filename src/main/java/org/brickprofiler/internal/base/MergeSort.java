package org.brickprofiler.internal.base;

/**
 * Sorts numbers by a comparison, without objects: stable, without recursion, and fast if most numbers are already in
 * order, as the events of a trace are. Sorting temporarily needs the same amount of memory again. Stateless; any
 * thread.
 *
 * <p>{@code IntArrayList.sortThis} of Eclipse Collections is not suitable: it is not stable, and if a list is in
 * reverse order it recurses once for each number, so that a million numbers overflow the stack.
 */
public final class MergeSort {

    private MergeSort() {}

    /** Decides which of two numbers comes first. */
    @FunctionalInterface
    public interface Order {
        /**
         * Compares two numbers.
         *
         * @param a one
         * @param b another
         * @return negative if the first comes first, positive if the second comes first, 0 if their order is unchanged
         */
        int compare(int a, int b);
    }

    /**
     * Sorts an array.
     *
     * @param values the numbers
     * @param order decides which of two numbers comes first
     */
    public static void sort(int[] values, Order order) {
        if (isSorted(values, order)) {
            return;
        }
        int[] from = values;
        int[] to = new int[values.length];
        for (long width = 1; width < values.length; width *= 2) {
            for (long low = 0; low < values.length; low += 2 * width) {
                int middle = (int) Math.min(low + width, values.length);
                merge(from, to, (int) low, middle, (int) Math.min(low + 2 * width, values.length), order);
            }
            int[] merged = to;
            to = from;
            from = merged;
        }
        if (from != values) {
            System.arraycopy(from, 0, values, 0, values.length);
        }
    }

    private static boolean isSorted(int[] values, Order order) {
        for (int place = 1; place < values.length; place++) {
            if (order.compare(values[place - 1], values[place]) > 0) {
                return false;
            }
        }
        return true;
    }

    private static void merge(int[] from, int[] to, int low, int middle, int high, Order order) {
        if (middle >= high || order.compare(from[middle - 1], from[middle]) <= 0) {
            System.arraycopy(from, low, to, low, high - low);
            return;
        }
        int left = low;
        int right = middle;
        for (int place = low; place < high; place++) {
            boolean takeLeft = right >= high || (left < middle && order.compare(from[left], from[right]) <= 0);
            to[place] = takeLeft ? from[left++] : from[right++];
        }
    }
}
