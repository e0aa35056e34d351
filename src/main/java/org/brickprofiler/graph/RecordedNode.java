package org.brickprofiler.graph;

import org.brickprofiler.internal.record.LayerToken;

/**
 * A node as it was recorded, and where it belongs. Written by the thread that recorded it; read by any, see
 * {@link Recording}.
 */
final class RecordedNode {

    private static final int NONE = GraphRecorder.NONE;

    private final ExecutionNode node;
    private final Place place;
    private final long token;
    private final long beganNs;
    private final long endedNs;

    /** The step that adopted it last: published afterwards, and a reader looks at parents first. */
    private volatile int parent = NONE;

    /** The step that had adopted it before, which turned out to lie around that one. Written before the parent. */
    private int formerParent = NONE;

    /** Whether the node is a scope that was not closed. */
    private volatile boolean openScope;

    /**
     * Where a node was recorded.
     *
     * @param thread the number of the thread
     * @param threadName its name
     * @param parent the id of what is around it: a scope that is open, or a layer that ended while the node ran; or
     *     {@link GraphRecorder#NONE}
     * @param layer the token of the layer of another thread that it was done for, where nothing else is around it; or
     *     {@link LayerToken#VOID}
     */
    record Place(int thread, String threadName, int parent, long layer) {}

    /**
     * A node that nobody has adopted.
     *
     * @param node the node
     * @param place where it was recorded
     * @param token of a layer that has one its token, else {@link LayerToken#VOID}
     * @param beganNs the clock when it began
     * @param endedNs the clock when it had ended; when it began, where that is not known
     */
    RecordedNode(ExecutionNode node, Place place, long token, long beganNs, long endedNs) {
        this.node = node;
        this.place = place;
        this.token = token;
        this.beganNs = beganNs;
        this.endedNs = endedNs;
    }

    ExecutionNode node() {
        return node;
    }

    Place place() {
        return place;
    }

    long token() {
        return token;
    }

    /** Whether it ran while another one, of whichever thread, did. */
    boolean isWithin(RecordedNode other) {
        return beganNs - other.beganNs >= 0 && other.endedNs - endedNs >= 0;
    }

    /** Whether it ended later than another one. */
    boolean endsAfter(RecordedNode other) {
        return endedNs - other.endedNs > 0;
    }

    /** Whether it ended at the very time at which another one began. */
    boolean endsWhere(RecordedNode other) {
        return endedNs == other.beganNs;
    }

    void setParent(int id) {
        formerParent = parent;
        parent = id;
    }

    /**
     * Who owns the node among the nodes below a limit.
     *
     * @param limit only ids below it count: what came later has not happened for this reader
     * @return the step that adopted it, or else what was around it when it was recorded, or {@link GraphRecorder#NONE}
     */
    int parentBelow(int limit) {
        int adopter = parent;
        if (adopter != NONE && adopter < limit) {
            return adopter;
        }
        int former = formerParent;
        return former != NONE && former < limit ? former : place.parent();
    }

    void setOpenScope(boolean open) {
        openScope = open;
    }

    boolean isOpenScope() {
        return openScope;
    }
}
