package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

/**
 * The types and dimensions of the tensors that an operator reads or writes, in their order. Reused from event to event;
 * one thread.
 */
final class TensorShapes {

    /** The value of a product of dimensions that is unknown or too large. */
    static final long UNKNOWN = -1;

    /** More than operators have; further tensors make the work of the operator unknown. */
    private static final int MOST_TENSORS = 64;

    private static final int MOST_DIMENSIONS = 16;

    private final List<String> types = new ArrayList<>();
    /** The types, in a trace that lists types and dimensions separately. */
    private final List<String> listed = new ArrayList<>();

    private final LongArrayList dimensions = new LongArrayList();
    private final IntArrayList ends = new IntArrayList();
    private boolean isComplete = true;

    void clear() {
        if (isComplete && types.isEmpty() && listed.isEmpty()) {
            return;
        }
        types.clear();
        listed.clear();
        dimensions.clear();
        ends.clear();
        isComplete = true;
    }

    /** Adds a tensor without dimensions yet. */
    void begin(String type) {
        if (ends.size() < MOST_TENSORS) {
            types.add(type);
            ends.add(dimensions.size());
        } else {
            isComplete = false;
        }
    }

    /** Adds a dimension to the tensor that was added last. */
    void dimension(long size) {
        int last = ends.size() - 1;
        if (last < 0 || size < 0 || rank(last) == MOST_DIMENSIONS) {
            isComplete = false;
        } else {
            dimensions.add(size);
            ends.set(last, dimensions.size());
        }
    }

    /** Records that the dimensions of a tensor are unknown. */
    void incomplete() {
        isComplete = false;
    }

    /** Adds the type of the next tensor, in a trace that lists types and dimensions separately. */
    void nextType(String type) {
        if (listed.size() < MOST_TENSORS) {
            listed.add(type);
        }
    }

    /** Returns whether all tensors are known. */
    boolean isComplete() {
        return isComplete;
    }

    int tensors() {
        return ends.size();
    }

    String type(int tensor) {
        String type = types.get(tensor);
        return type.isEmpty() && tensor < listed.size() ? listed.get(tensor) : type;
    }

    int rank(int tensor) {
        return ends.get(tensor) - begin(tensor);
    }

    private int begin(int tensor) {
        return tensor == 0 ? 0 : ends.get(tensor - 1);
    }

    /** Returns a dimension, counted from the last one, which is number 0. */
    long fromLast(int tensor, int number) {
        return dimensions.get(ends.get(tensor) - 1 - number);
    }

    /** Returns the types in the order of the tensors, joined by plus signs; repetitions of a type count once. */
    String typeNames() {
        return String.join("+", types.stream().distinct().toList());
    }

    /** Returns the number of elements of a tensor; {@link #UNKNOWN} if it is too large. */
    long elements(int tensor) {
        return product(begin(tensor), ends.get(tensor));
    }

    /**
     * Returns the product of all dimensions of the first tensor except the last; {@link #UNKNOWN} if there is no
     * tensor, if it is a scalar, or if not all tensors are known.
     */
    long rowsOfFirst() {
        return isComplete && tensors() > 0 && rank(0) > 0 ? product(0, ends.get(0) - 1) : UNKNOWN;
    }

    private long product(int from, int to) {
        long product = 1;
        for (int i = from; i < to; i++) {
            long high = Math.multiplyHigh(product, dimensions.get(i));
            product *= dimensions.get(i);
            if (high != 0 || product < 0) {
                return UNKNOWN;
            }
        }
        return product;
    }
}
