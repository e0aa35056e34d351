package org.brickprofiler.graph;

/**
 * The moment at which a thread took a token of its layer, to give work to other threads. The brick that was open on
 * that thread then adopts the hand-off when it ends, as it adopts the nodes recorded inside it, and so owns the work
 * done for the token. A hand-off is no node: it has no id in the graph.
 */
final class HandOff extends Adoptable {

    private static final int FIRST_ENTRY = GraphRecorder.NONE - 1;

    private final long token;

    HandOff(RecordedNode.Place place, long token) {
        super(place);
        this.token = token;
    }

    /** The {@link org.brickprofiler.internal.record.LayerToken} that other threads work for. */
    long token() {
        return token;
    }

    /** The number that stands for a hand-off among the ids of nodes: below {@link GraphRecorder#NONE}. */
    static int entry(int index) {
        return FIRST_ENTRY - index;
    }

    /** Whether a number among the ids of nodes stands for a hand-off. */
    static boolean isEntry(int id) {
        return id <= FIRST_ENTRY;
    }

    /** The index of the hand-off that such a number stands for. */
    static int index(int entry) {
        return FIRST_ENTRY - entry;
    }
}
