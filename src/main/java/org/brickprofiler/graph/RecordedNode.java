package org.brickprofiler.graph;

import org.brickprofiler.internal.record.LayerToken;

/**
 * A node as it was recorded, and where it belongs. Written by the thread that recorded it; read by any, see
 * {@link Recording}.
 */
final class RecordedNode extends Adoptable {

    private final ExecutionNode node;
    private final long token;
    private final long beganNs;
    private final long endedNs;

    /** Whether the node is a scope that was not closed. */
    private volatile boolean openScope;

    /**
     * Where a node was recorded.
     *
     * @param thread the number of the thread
     * @param threadName its name
     * @param parent the id of what is around it: a scope that is open, or a layer that ended while the node ran; or
     *     {@link GraphRecorder#NONE}
     * @param layer the token that the thread worked for, of a layer of another thread, if nothing else is around the
     *     node; else {@link LayerToken#VOID}
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
        super(place);
        this.node = node;
        this.token = token;
        this.beganNs = beganNs;
        this.endedNs = endedNs;
    }

    ExecutionNode node() {
        return node;
    }

    long token() {
        return token;
    }

    /** Whether it ended at the very time at which another one began. */
    boolean endsWhere(RecordedNode other) {
        return endedNs == other.beganNs;
    }

    void setOpenScope(boolean open) {
        openScope = open;
    }

    boolean isOpenScope() {
        return openScope;
    }
}
