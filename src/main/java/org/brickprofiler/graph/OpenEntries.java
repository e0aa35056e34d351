package org.brickprofiler.graph;

import java.util.Arrays;
import org.brickprofiler.internal.record.LayerBoundaries;
import org.brickprofiler.internal.record.LayerBoundaries.Side;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;

/**
 * The nodes and hand-offs of one thread that a later step may still adopt, and the thread's open scopes. Used by that
 * thread only.
 *
 * <p>The entries form a stack, each with the clock reading at its beginning; those of the innermost frame are on top.
 * Within a frame, beginnings never decrease: an earlier beginning is raised to that of the entry below. A step that
 * ends therefore adopts entries from the top down to the first one that began before the step, and each entry is
 * examined about once.
 *
 * <h2>Bricks across the boundary of a layer.</h2>
 *
 * {@link LayerBoundaries} decides to which side a brick belongs. The last layer that ended is remembered with its
 * entries: a brick that ends later may become its child, and then adopts the entries that began inside the brick.
 */
final class OpenEntries extends PerThread.Owned {

    private static final int NONE = GraphRecorder.NONE;
    private static final int FIRST_LENGTH = 8;

    /** The largest number of nested frames of work for others. A larger number means that ends are missing. */
    private static final int MOST_FOREIGN = 64;

    private final String threadName;
    private long generation = -1;
    private int thread;
    private int[] ids = new int[FIRST_LENGTH];
    private long[] beginnings = new long[FIRST_LENGTH];
    private int size;
    private Frame frame;
    private int layerIndex;

    /** The layer that ended last, with the entries it adopted and its frame. */
    private final Closed closed = new Closed();

    /** The number of open scopes inside the innermost frame that were not recorded, because the budget was used up. */
    private int droppedScopes;

    /** The number of scopes that were open at a reset and whose end is still to come. */
    private int forgottenScopes;

    /** Creates the entries of the calling thread, which has recorded nothing yet. */
    OpenEntries(@Nullable Thread owner) {
        super(owner);
        Thread caller = Thread.currentThread();
        threadName = caller.getName().isEmpty() ? "thread " + caller.getId() : caller.getName();
        frame = outermost(new LayerBoundaries());
    }

    /** A scope, the work for another thread's layer, or the outermost frame. */
    private static final class Frame {
        final @Nullable Frame outer;
        final RecordedNode.Place place;
        final int depth;
        final int foreignDepth;

        /** The stack index of its first entry. */
        final int base;

        /** The stack index of the first entry of its current layer. */
        int layerBase;

        /** The layers inside the frame. Those of the outermost frame are kept from pass to pass. */
        final LayerBoundaries boundaries;

        /** True if the beginning of its current layer was announced. */
        boolean layerOpen;

        /** The token of the current layer, if it has one. */
        long layerToken;

        Frame(
                @Nullable Frame outer,
                RecordedNode.Place place,
                int depth,
                int foreignDepth,
                int base,
                LayerBoundaries boundaries) {
            this.outer = outer;
            this.boundaries = boundaries;
            this.place = place;
            this.depth = depth;
            this.foreignDepth = foreignDepth;
            this.base = base;
            this.layerBase = base;
        }

        boolean isScope() {
            return outer != null && depth > outer.depth;
        }
    }

    /** The layer that ended last, kept while a brick may still turn out to belong to it. */
    private static final class Closed {
        @Nullable
        Frame frame;

        int id;
        ExecutionNode.@Nullable Layer layer;
        long token;

        /** The stack index of its entry, or the index that it would have. */
        int at;

        int[] children = new int[FIRST_LENGTH];
        long[] beginnings = new long[FIRST_LENGTH];
        int size;

        void keep(int[] ids, long[] began, int from, int to) {
            size = to - from;
            if (size > children.length) {
                children = new int[Math.max(size, 2 * children.length)];
                beginnings = new long[children.length];
            }
            System.arraycopy(ids, from, children, 0, size);
            System.arraycopy(began, from, beginnings, 0, size);
        }

        /** Adds a brick that turned out to belong to the layer and has adopted the entries that began inside it. */
        void add(int id, long beganNs) {
            if (size == children.length) {
                children = Arrays.copyOf(children, 2 * size);
                beginnings = Arrays.copyOf(beginnings, 2 * size);
            }
            children[size] = id;
            beginnings[size] = beganNs;
            size++;
        }

        /** Makes a brick the parent of the entries that began at a time or later. */
        void adoptSince(long beganNs, int parent, Recording recording) {
            while (size > 0 && beginnings[size - 1] - beganNs >= 0) {
                recording.adopt(children[--size], parent);
            }
        }
    }

    private Frame outermost(LayerBoundaries boundaries) {
        return new Frame(null, new RecordedNode.Place(thread, threadName, NONE, LayerToken.VOID), 0, 0, 0, boundaries);
    }

    boolean isOf(Recording recording) {
        return generation == recording.generation();
    }

    /** Forgets all entries and begins anew in another recording. */
    void moveTo(Recording recording) {
        int open = forgottenScopes + frame.depth + droppedScopes;
        generation = recording.generation();
        thread = recording.newThread();
        clear(new LayerBoundaries());
        forgottenScopes = open;
    }

    /** Returns the place of a node that is recorded now. */
    RecordedNode.Place place() {
        return frame.place;
    }

    // ---- entries ----

    /** Reserves space for one entry, so that {@link #add} does not allocate. */
    void makeRoom() {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
            beginnings = Arrays.copyOf(beginnings, 2 * size);
        }
    }

    /** Adds an entry that begins now. The caller has made room for it. */
    void add(int id, long beganNs) {
        frame.boundaries.add(beganNs);
        push(id, beganNs);
    }

    /** Adds the entry of a hand-off; the entry does not make a layer non-empty. The caller has made room for it. */
    void addHandOff(int entry, long atNs) {
        push(entry, atNs);
    }

    private void push(int id, long beganNs) {
        boolean falls = size > frame.base && beganNs - beginnings[size - 1] < 0;
        ids[size] = id;
        beginnings[size] = falls ? beginnings[size - 1] : beganNs;
        size++;
    }

    /** Adopts the entries of the current frame that began at a time or later; returns the index of the first one. */
    private int adoptSince(long beganNs, int floor, int parent, Recording recording) {
        int from = size;
        while (from > floor && beginnings[from - 1] - beganNs >= 0) {
            from--;
        }
        adoptFrom(from, parent, recording);
        return from;
    }

    private void adoptFrom(int from, int parent, Recording recording) {
        for (int i = from; i < size; i++) {
            recording.adopt(ids[i], parent);
        }
        size = from;
    }

    // ---- bricks that end ----

    /** Returns the side of the layer boundary to which a brick that ends now belongs. */
    Side side(long beganNs, long endedNs) {
        return frame.boundaries.side(beganNs, endedNs);
    }

    /** Returns the place of a brick on a side of the boundary. */
    RecordedNode.Place placeOf(Side side) {
        RecordedNode.Place around = frame.place;
        return side == Side.LAYER_BEFORE && closed.id != NONE
                ? new RecordedNode.Place(around.thread(), around.threadName(), closed.id, LayerToken.VOID)
                : around;
    }

    /**
     * Ends a brick: it adopts the entries that began inside it and is added on its side of the boundary. The caller has
     * made room for an entry.
     */
    void end(int id, long beganNs, long endedNs, Side side, Recording recording) {
        LayerBoundaries boundaries = frame.boundaries;
        if (boundaries.isInClosed(beganNs, endedNs)) {
            closed.adoptSince(beganNs, id, recording);
        }
        boolean beforeLayer = boundaries.isBeforeBoundary(beganNs);
        boundaries.end(beganNs, endedNs, side);
        switch (side) {
            case WITHIN, OUTSIDE -> {
                int from = adoptSince(beganNs, beforeLayer ? frame.base : frame.layerBase, id, recording);
                if (from < frame.layerBase || (from == frame.layerBase && beforeLayer)) {
                    // The layer began inside the parent: the entries after the parent belong to the layer, the parent
                    // does not.
                    frame.layerBase = from + 1;
                }
                push(id, beganNs);
            }
            case LAYER_NOW -> {
                int from = adoptSince(beganNs, frame.base, id, recording);
                frame.layerBase = Math.min(frame.layerBase, from);
                push(id, beganNs);
            }
            case LAYER_BEFORE -> {
                int floor = Math.max(frame.base, closed.at + (closed.id == NONE ? 0 : 1));
                adoptSince(beganNs, Math.min(size, floor), id, recording);
                if (closed.id == NONE) {
                    push(id, beganNs);
                } else {
                    closed.add(id, beganNs);
                }
                frame.layerBase = size;
            }
        }
    }

    // ---- layers ----

    void startLayer(long nowNs, long token) {
        frame.boundaries.startLayer(nowNs);
        frame.layerBase = size;
        frame.layerOpen = true;
        frame.layerToken = token;
    }

    /** Returns whether something was recorded in the current frame since the layer began. */
    boolean hasLayer() {
        return size > frame.layerBase;
    }

    /** Returns whether a layer that was announced outside of all scopes has not ended. */
    boolean isLayerOpen() {
        return frame.outer == null && frame.layerOpen;
    }

    /** Returns the layer that ends. Its number is the token's or, if the token is void, its number in the pass. */
    ExecutionNode.Layer layer(long token) {
        int counted = layerIndex++;
        return new ExecutionNode.Layer(token == LayerToken.VOID ? counted : LayerToken.layer(token));
    }

    /** Returns the token of the layer that was announced. */
    long layerToken() {
        return frame.layerToken;
    }

    /** Returns the time at which the current layer began. */
    long layerBeganNs() {
        return frame.boundaries.beganNs();
    }

    /** Remembers the entries that the layer adopts, so that {@link #closeLayer} need not allocate. */
    void keepLayer() {
        closed.keep(ids, beginnings, frame.layerBase, size);
    }

    /** Replaces the entries of a layer, at least one, by the layer. {@link #keepLayer} was called before. */
    void closeLayer(int id, Recording recording) {
        int from = frame.layerBase;
        long beganNs = layerBeganNs();
        adoptFrom(from, id, recording);
        push(id, beganNs);
    }

    /**
     * Ends a layer that was recorded under an id, or under {@link GraphRecorder#NONE} if it was empty or there was no
     * room.
     */
    void endLayer(ExecutionNode.Layer layer, long token, int id, long nowNs) {
        if (closed.frame != null && closed.frame != frame) {
            closed.frame.boundaries.forgetClosed();
        }
        frame.boundaries.endLayer(nowNs);
        closed.frame = frame;
        closed.id = id;
        closed.layer = layer;
        closed.token = token;
        closed.at = id != NONE ? size - 1 : size;
        if (id == NONE) {
            closed.size = 0;
        }
        frame.layerBase = size;
        frame.layerOpen = false;
        frame.layerToken = LayerToken.VOID;
    }

    /**
     * Returns the last layer if it ended without an entry, otherwise null. Called when a brick has turned out to belong
     * to the last layer.
     */
    ExecutionNode.@Nullable Layer emptyClosedLayer() {
        return closed.id == NONE ? closed.layer : null;
    }

    long closedToken() {
        return closed.token;
    }

    long closedBeganNs() {
        return frame.boundaries.closedBeganNs();
    }

    long closedEndedNs() {
        return frame.boundaries.closedEndedNs();
    }

    /** Replaces the top entry, the first one of a layer that had none, by the layer. */
    void fillClosedLayer(int id, Recording recording) {
        int from = size - 1;
        closed.keep(ids, beginnings, from, size);
        adoptFrom(from, id, recording);
        push(id, closedBeganNs());
        closed.id = id;
        closed.at = from;
        frame.layerBase = size;
    }

    // ---- scopes, and work for others ----

    void pushScope(int id) {
        RecordedNode.Place around = frame.place;
        RecordedNode.Place inside = new RecordedNode.Place(around.thread(), around.threadName(), id, LayerToken.VOID);
        frame = new Frame(frame, inside, frame.depth + 1, frame.foreignDepth, size, new LayerBoundaries());
    }

    void pushDroppedScope() {
        droppedScopes++;
    }

    /** Closes the innermost dropped scope; returns whether there was one. */
    boolean popDroppedScope() {
        if (droppedScopes == 0) {
            return false;
        }
        droppedScopes--;
        return true;
    }

    /**
     * Closes the innermost scope and returns its node, or {@link GraphRecorder#NONE} if the innermost frame is no
     * scope.
     */
    int popScope() {
        if (!frame.isScope()) {
            return NONE;
        }
        int scope = frame.place.parent();
        popFrame();
        return scope;
    }

    /** Closes a scope that a reset forgot; returns whether there was one. */
    boolean popForgottenScope() {
        if (forgottenScopes == 0) {
            return false;
        }
        forgottenScopes--;
        return true;
    }

    private void popFrame() {
        Frame ended = frame;
        if (ended.outer != null) {
            size = ended.base;
            frame = ended.outer;
        }
    }

    /**
     * Makes the thread work for another layer. If the thread has a frame for that layer, it continues in that frame.
     */
    void workFor(long layer) {
        if (layer == LayerToken.OWN) {
            leaveForeign(0);
            return;
        }
        for (Frame around = frame; around != null && around.foreignDepth > 0; around = around.outer) {
            if (!around.isScope() && around.place.layer() == layer) {
                leaveForeign(around.foreignDepth);
                return;
            }
        }
        if (frame.foreignDepth == MOST_FOREIGN) {
            leaveForeign(0);
        }
        RecordedNode.Place around = frame.place;
        RecordedNode.Place inside = new RecordedNode.Place(around.thread(), around.threadName(), NONE, layer);
        frame = new Frame(frame, inside, frame.depth, frame.foreignDepth + 1, size, new LayerBoundaries());
    }

    private void leaveForeign(int depth) {
        while (frame.foreignDepth > depth) {
            popFrame();
        }
    }

    /** Ends the pass at a time. A brick that runs then may still belong to the layer that ended last. */
    void endPass(long nowNs) {
        LayerBoundaries boundaries = frame.outer == null ? frame.boundaries : new LayerBoundaries();
        boundaries.endPass(nowNs);
        clear(boundaries);
        closed.frame = boundaries.hasClosed() ? frame : null;
        closed.at = -1;
    }

    private void clear(LayerBoundaries boundaries) {
        frame = outermost(boundaries);
        closed.frame = null;
        size = 0;
        layerIndex = 0;
        droppedScopes = 0;
        forgottenScopes = 0;
    }
}
