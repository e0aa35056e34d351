package org.brickprofiler.graph;

/**
 * A node as it was recorded, and where it belongs. Written by the thread that recorded it; read by any, see
 * {@link Recording}.
 */
final class RecordedNode {

    private static final int NONE = GraphRecorder.NONE;

    private final ExecutionNode node;
    private final int thread;
    private final int scope;

    /** Set once at most, and plainly: the parent is published afterwards, and a reader looks at parents first. */
    private int parent = NONE;

    /** Whether the node is a scope that was not closed. */
    private volatile boolean openScope;

    /**
     * A node without a parent of its own.
     *
     * @param node the node
     * @param thread the number of the thread that recorded it
     * @param scope the id of the innermost scope that was open, or {@link GraphRecorder#NONE}
     */
    RecordedNode(ExecutionNode node, int thread, int scope) {
        this.node = node;
        this.thread = thread;
        this.scope = scope;
    }

    ExecutionNode node() {
        return node;
    }

    int thread() {
        return thread;
    }

    void setParent(int id) {
        parent = id;
    }

    /**
     * Who owns the node among the nodes below a limit.
     *
     * @param limit only ids below it count: what came later has not happened for this reader
     * @return the step that adopted it, or else the scope it was recorded in, or {@link GraphRecorder#NONE}
     */
    int parentBelow(int limit) {
        int adopter = parent;
        return adopter != NONE && adopter < limit ? adopter : scope;
    }

    void setOpenScope(boolean open) {
        openScope = open;
    }

    boolean isOpenScope() {
        return openScope;
    }
}
