package org.brickprofiler.graph;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one thread that a later step may still adopt, and its open scopes. Only that thread.
 *
 * <p>Entries lie on a stack, each with the clock at its beginning; those of the innermost scope are on top. Within a
 * scope beginnings never fall: one that would is raised to that of the entry below. A step that ends therefore adopts
 * from the top down to the first entry that began before it did, and each entry is looked at about once in its life.
 */
final class OpenEntries {

    private static final int NONE = GraphRecorder.NONE;
    private static final int FIRST_LENGTH = 8;

    private long generation;
    private int thread;
    private int[] ids = new int[FIRST_LENGTH];
    private long[] beginnings = new long[FIRST_LENGTH];
    private int size;
    private Frame frame = Frame.outermost();
    private int layerIndex;

    /** Scopes open above the innermost frame that the budget had no room for. */
    private int droppedScopes;

    /** Scopes that were open when a reset forgot them, and whose end is still to come. */
    private int forgottenScopes;

    /** The entries of a thread that has recorded nothing. */
    OpenEntries(long generation, int thread) {
        this.generation = generation;
        this.thread = thread;
    }

    /** A scope, or what is outside of all. */
    private static final class Frame {
        final @Nullable Frame outer;
        final int scope;
        final int depth;

        /** Where its entries begin. */
        final int base;

        /** Where the entries of its current layer begin. */
        int layerBase;

        /** The clock when that layer began, where it began inside the scope. */
        long layerBeganNs;

        boolean layerMarked;

        Frame(@Nullable Frame outer, int scope, int depth, int base) {
            this.outer = outer;
            this.scope = scope;
            this.depth = depth;
            this.base = base;
            this.layerBase = base;
        }

        static Frame outermost() {
            return new Frame(null, NONE, 0, 0);
        }
    }

    boolean isOf(Recording recording) {
        return generation == recording.generation();
    }

    /** Forgets all entries and begins anew in another recording. */
    void moveTo(Recording recording) {
        int open = forgottenScopes + frame.depth + droppedScopes;
        endPass();
        forgottenScopes = open;
        generation = recording.generation();
        thread = recording.newThread();
    }

    int thread() {
        return thread;
    }

    // ---- entries ----

    /** Sees to it that {@link #add} need not allocate. */
    void makeRoom() {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
            beginnings = Arrays.copyOf(beginnings, 2 * size);
        }
    }

    /** Adds an entry, for which there is room. */
    void add(int id, long beganNs) {
        boolean falls = size > frame.base && beganNs - beginnings[size - 1] < 0;
        ids[size] = id;
        beginnings[size] = falls ? beginnings[size - 1] : beganNs;
        size++;
    }

    /** Gives the entries of the current scope that began at a time or later to a parent. */
    void adoptSince(long beganNs, int parent, Recording recording) {
        int from = size;
        while (from > frame.base && beginnings[from - 1] - beganNs >= 0) {
            from--;
        }
        adoptFrom(from, parent, recording);
        if (from < frame.layerBase || (from == frame.layerBase && beganBeforeLayer(beganNs))) {
            // The layer began inside the parent: what follows the parent is the layer's, the parent is not.
            frame.layerBase = from + 1;
        }
    }

    private boolean beganBeforeLayer(long beganNs) {
        return frame.layerMarked && beganNs - frame.layerBeganNs < 0;
    }

    private void adoptFrom(int from, int parent, Recording recording) {
        for (int i = from; i < size; i++) {
            recording.adopt(ids[i], parent);
        }
        size = from;
    }

    // ---- layers ----

    void startLayer(long nowNs) {
        frame.layerBase = size;
        frame.layerBeganNs = nowNs;
        frame.layerMarked = true;
    }

    /** Whether something was recorded in the current scope since the layer began. */
    boolean hasLayer() {
        return size > frame.layerBase;
    }

    /** The number of the layer that ends, counted within the pass. */
    int nextLayerIndex() {
        return layerIndex++;
    }

    /** Puts a layer in the place of its entries; there are some. */
    void closeLayer(int layer, Recording recording) {
        int from = frame.layerBase;
        long beganNs = beginnings[from];
        adoptFrom(from, layer, recording);
        add(layer, beganNs);
    }

    // ---- scopes ----

    /** The innermost scope, or {@link GraphRecorder#NONE}. */
    int scope() {
        return frame.scope;
    }

    void pushScope(int id) {
        frame = new Frame(frame, id, frame.depth + 1, size);
    }

    void pushDroppedScope() {
        droppedScopes++;
    }

    /** Closes the innermost scope that is no node, if it is the innermost of all. */
    boolean popDroppedScope() {
        if (droppedScopes == 0) {
            return false;
        }
        droppedScopes--;
        return true;
    }

    /** Closes the innermost scope that is a node, and answers it, or {@link GraphRecorder#NONE}. */
    int popScope() {
        Frame closed = frame;
        if (closed.outer == null) {
            return NONE;
        }
        size = closed.base;
        frame = closed.outer;
        return closed.scope;
    }

    /** Closes a scope that a reset forgot, if there is one. */
    boolean popForgottenScope() {
        if (forgottenScopes == 0) {
            return false;
        }
        forgottenScopes--;
        return true;
    }

    void endPass() {
        frame = Frame.outermost();
        size = 0;
        layerIndex = 0;
        droppedScopes = 0;
        forgottenScopes = 0;
    }
}
