package org.brickprofiler.graph;

/**
 * Something that a step of its own thread may adopt: a node, or a hand-off of work. Written by the thread that recorded
 * it; read by any, see {@link Recording}.
 */
abstract class Adoptable {

    private static final int NONE = GraphRecorder.NONE;

    private final RecordedNode.Place place;

    /**
     * The step that adopted it last. The step is published after this write; a reader checks that it is below the
     * reader's limit.
     */
    private volatile int parent = NONE;

    /** The step that adopted it before, which encloses {@link #parent}. Written before the parent. */
    private int formerParent = NONE;

    Adoptable(RecordedNode.Place place) {
        this.place = place;
    }

    final RecordedNode.Place place() {
        return place;
    }

    final void setParent(int id) {
        formerParent = parent;
        parent = id;
    }

    /**
     * Returns the owner among the nodes below a limit.
     *
     * @param limit only ids below it count: later nodes have not happened for this reader
     * @return the step that adopted it, otherwise the scope or layer that enclosed it when it was recorded, or
     *     {@link GraphRecorder#NONE}
     */
    final int parentBelow(int limit) {
        int adopter = parent;
        if (adopter != NONE && adopter < limit) {
            return adopter;
        }
        int former = formerParent;
        return former != NONE && former < limit ? former : place.parent();
    }
}
