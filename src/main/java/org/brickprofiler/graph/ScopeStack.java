package org.brickprofiler.graph;

import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/** The open scopes of a graph, and the last node added in each of them and outside of all. Not thread-safe. */
final class ScopeStack {

    /** No node. */
    static final int NONE = -1;

    /** Ids of the open scopes, outermost first. */
    private final IntArrayList scopes = new IntArrayList();

    /** The last node of each level; the first one is outside of all scopes, so there is one more than scopes. */
    private final IntArrayList lastNodes = IntArrayList.newListWith(NONE);

    ScopeStack() {}

    /** The innermost open scope, or {@link #NONE}. */
    int current() {
        return scopes.isEmpty() ? NONE : scopes.getLast();
    }

    /** Notes the newest node of the current level, and answers the one before it, or {@link #NONE}. */
    int swapLast(int node) {
        return lastNodes.set(lastNodes.size() - 1, node);
    }

    void push(int node) {
        scopes.add(node);
        lastNodes.add(NONE);
    }

    /** Closes the innermost scope and answers it, or {@link #NONE} where none is open. */
    int pop() {
        if (scopes.isEmpty()) {
            return NONE;
        }
        lastNodes.removeAtIndex(lastNodes.size() - 1);
        return scopes.removeAtIndex(scopes.size() - 1);
    }

    /** The open scopes, outermost first; not to be changed. */
    IntArrayList open() {
        return scopes;
    }

    void clear() {
        scopes.clear();
        lastNodes.clear();
        lastNodes.add(NONE);
    }
}
