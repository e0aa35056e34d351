package org.brickprofiler.graph;

import org.brickprofiler.internal.record.LayerToken;

/**
 * A node as it was recorded, and its place. Written by the thread that recorded it; read by any, see {@link Recording}.
 */
final class RecordedNode extends Adoptable {

    private final ExecutionNode node;
    private final long token;
    private final long beganNs;
    private final long endedNs;

    /** True if the node is a scope that was not closed. */
    private volatile boolean openScope;

    /**
     * The thread and the parent of a node when it was recorded.
     *
     * @param thread the number of the thread
     * @param threadName its name
     * @param parent the id of the open scope around it, or of a layer that ended while the node ran; or
     *     {@link GraphRecorder#NONE}
     * @param layer the token of another thread's layer that the thread worked for, if the node has no parent; otherwise
     *     {@link LayerToken#VOID}
     */
    record Place(int thread, String threadName, int parent, long layer) {}

    /**
     * Creates a node that is not adopted.
     *
     * @param node the node
     * @param place its thread and parent
     * @param token the token of a layer that has one, otherwise {@link LayerToken#VOID}
     * @param beganNs the clock at its beginning
     * @param endedNs the clock at its end; if the end is unknown, the clock at its beginning
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

    /** Returns whether this node ended at the time at which another one began. */
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
