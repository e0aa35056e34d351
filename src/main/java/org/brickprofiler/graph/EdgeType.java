package org.brickprofiler.graph;

import java.util.List;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Kernel;

/**
 * The meaning of an edge. Every edge points from owner to owned or from earlier to later.
 *
 * <p>A type either owns ({@link #CALLS}, {@link #CONTAINS}, {@link #LAUNCHES}) or orders (the others), never both.
 */
public enum EdgeType {
    /** A parent calls a function. */
    CALLS(true),
    /** A parent contains a step. */
    CONTAINS(true),
    /** A parent launches a kernel. */
    LAUNCHES(true),
    /** One sibling was recorded after the other on one thread: the first ends before the second starts. */
    SEQUENCE(false),
    /** The second node needs the first: the first ends before the second starts. */
    DEPENDS_ON(false),
    /** Data goes from the first node to the second, which waits for it; the weight is the number of bytes. */
    TRANSFER(false);

    private static final List<EdgeType> ALL = List.of(values());

    private final boolean ownership;

    EdgeType(boolean ownership) {
        this.ownership = ownership;
    }

    /**
     * Returns whether edges of this type point from a parent to its child.
     *
     * @return true for calls, contains and launches
     */
    public boolean isOwnership() {
        return ownership;
    }

    /**
     * Returns whether edges of this type mean that one node ends before another starts.
     *
     * @return true for sequence, depends-on and transfer
     */
    public boolean isOrder() {
        return !ownership;
    }

    /** Returns the type of the ownership edge that leads to a child. */
    static EdgeType ownershipOf(ExecutionNode child) {
        if (child instanceof Kernel) {
            return LAUNCHES;
        }
        return child instanceof Function ? CALLS : CONTAINS;
    }

    /** Returns the number of this type in a column; this method alone reads the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
    byte index() {
        return (byte) ordinal();
    }

    /** Returns the type that {@link #index} numbers. */
    static EdgeType at(byte index) {
        return ALL.get(index);
    }
}
