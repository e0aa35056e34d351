package org.brickprofiler.graph;

/**
 * The moment at which a thread took a token of its layer, to give work to other threads. The innermost brick that is
 * open on that thread adopts the hand-off when the brick ends, as it adopts the nodes recorded inside it, and so owns
 * the work done for the token. A hand-off is no node: it has no id in the graph.
 */
final class HandOff extends Adoptable {

    private static final int FIRST_ENTRY = GraphRecorder.NONE - 1;

    private final long token;

    HandOff(RecordedNode.Place place, long token) {
        super(place);
        this.token = token;
    }

    /** Returns the {@link org.brickprofiler.internal.record.LayerToken} that other threads work for. */
    long token() {
        return token;
    }

    /** Returns the number, below {@link GraphRecorder#NONE}, that represents a hand-off among the ids of nodes. */
    static int entry(int index) {
        return FIRST_ENTRY - index;
    }

    /** Returns whether a number among the ids of nodes represents a hand-off. */
    static boolean isEntry(int id) {
        return id <= FIRST_ENTRY;
    }

    /** Returns the index of the hand-off that a number below {@link GraphRecorder#NONE} represents. */
    static int index(int entry) {
        return FIRST_ENTRY - entry;
    }
}
