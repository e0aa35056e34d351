package org.brickprofiler.graph;

import java.util.Arrays;
import org.brickprofiler.internal.record.LayerBoundaries;
import org.brickprofiler.internal.record.LayerBoundaries.Side;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;

/**
 * The nodes and hand-offs of one thread that a later step may still adopt, and its open scopes. Only that thread.
 *
 * <p>Entries lie on a stack, each with the clock at its beginning; those of the innermost frame are on top. Within a
 * frame beginnings never fall: one that would is raised to that of the entry below. A step that ends therefore adopts
 * from the top down to the first entry that began before it did, and each entry is looked at about once in its life.
 *
 * <h2>Bricks across the boundary of a layer</h2>
 *
 * {@link LayerBoundaries} decides which side they belong to. A layer that has ended is remembered with what it adopted
 * last: a brick that ends later may become its child, and takes over what had begun inside the brick.
 */
final class OpenEntries extends PerThread.Owned {

    private static final int NONE = GraphRecorder.NONE;
    private static final int FIRST_LENGTH = 8;

    /** Frames of work for others that one thread nests; more are taken for ends that were forgotten. */
    private static final int MOST_FOREIGN = 64;

    private final String threadName;
    private long generation = -1;
    private int thread;
    private int[] ids = new int[FIRST_LENGTH];
    private long[] beginnings = new long[FIRST_LENGTH];
    private int size;
    private Frame frame;
    private int layerIndex;

    /** What the layer that ended last had adopted, and the frame that it ended in. */
    private final Closed closed = new Closed();

    /** Scopes open above the innermost frame that the budget had no room for. */
    private int droppedScopes;

    /** Scopes that were open when a reset forgot them, and whose end is still to come. */
    private int forgottenScopes;

    /** The entries of the calling thread, which has recorded nothing. */
    OpenEntries(@Nullable Thread owner) {
        super(owner);
        Thread caller = Thread.currentThread();
        threadName = caller.getName().isEmpty() ? "thread " + caller.getId() : caller.getName();
        frame = outermost(new LayerBoundaries());
    }

    /** A scope, work for the layer of another thread, or what is outside of all. */
    private static final class Frame {
        final @Nullable Frame outer;
        final RecordedNode.Place place;
        final int depth;
        final int foreignDepth;

        /** Where its entries begin. */
        final int base;

        /** Where the entries of its current layer begin. */
        int layerBase;

        /** The layers inside the frame; those of the outermost one go on from pass to pass. */
        final LayerBoundaries boundaries;

        /** Whether the beginning of its current layer was announced. */
        boolean layerOpen;

        /** The token of that layer, where it has one. */
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

    /** A layer that has ended, as long as a brick may be found to belong to it. */
    private static final class Closed {
        @Nullable
        Frame frame;

        int id;
        ExecutionNode.@Nullable Layer layer;
        long token;

        /** Where in the stack its entry lies, or would lie. */
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

        /** Remembers a brick that was found to belong to it, and has taken over what began inside it. */
        void add(int id, long beganNs) {
            if (size == children.length) {
                children = Arrays.copyOf(children, 2 * size);
                beginnings = Arrays.copyOf(beginnings, 2 * size);
            }
            children[size] = id;
            beginnings[size] = beganNs;
            size++;
        }

        /** Gives what began at a time or later to a brick. */
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

    /** Where a node belongs that is recorded now. */
    RecordedNode.Place place() {
        return frame.place;
    }

    // ---- entries ----

    /** Sees to it that {@link #add} need not allocate. */
    void makeRoom() {
        if (size == ids.length) {
            ids = Arrays.copyOf(ids, 2 * size);
            beginnings = Arrays.copyOf(beginnings, 2 * size);
        }
    }

    /** Adds the entry of something that was not under way before, for which there is room. */
    void add(int id, long beganNs) {
        frame.boundaries.add(beganNs);
        push(id, beganNs);
    }

    /** Adds the entry of a hand-off, for which there is room; it belongs to no layer by itself. */
    void addHandOff(int entry, long atNs) {
        push(entry, atNs);
    }

    private void push(int id, long beganNs) {
        boolean falls = size > frame.base && beganNs - beginnings[size - 1] < 0;
        ids[size] = id;
        beginnings[size] = falls ? beginnings[size - 1] : beganNs;
        size++;
    }

    /** Gives the entries of the current frame that began at a time or later to a parent. */
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

    /** Which side of a boundary a brick belongs to that ends now. */
    Side side(long beganNs, long endedNs) {
        return frame.boundaries.side(beganNs, endedNs);
    }

    /** What a brick of a side belongs to that is to be recorded. */
    RecordedNode.Place placeOf(Side side) {
        RecordedNode.Place around = frame.place;
        return side == Side.LAYER_BEFORE && closed.id != NONE
                ? new RecordedNode.Place(around.thread(), around.threadName(), closed.id, LayerToken.VOID)
                : around;
    }

    /** A brick ends: adopts what began inside it, and goes where its side is. There is room for an entry. */
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
                    // The layer began inside the parent: what follows the parent is the layer's, the parent is not.
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

    /** Whether something was recorded in the current frame since the layer began. */
    boolean hasLayer() {
        return size > frame.layerBase;
    }

    /** Whether a layer was announced outside of all scopes and not ended. */
    boolean isLayerOpen() {
        return frame.outer == null && frame.layerOpen;
    }

    /** The layer that ends, by its token or, where that is void, by its number in the pass. */
    ExecutionNode.Layer layer(long token) {
        int counted = layerIndex++;
        return new ExecutionNode.Layer(token == LayerToken.VOID ? counted : LayerToken.layer(token));
    }

    /** The token of the layer that was announced. */
    long layerToken() {
        return frame.layerToken;
    }

    /** When the layer began of which there are entries. */
    long layerBeganNs() {
        return frame.boundaries.beganNs();
    }

    /** Remembers what the layer has adopted by its end, and sees to it that {@link #closeLayer} need not allocate. */
    void keepLayer() {
        closed.keep(ids, beginnings, frame.layerBase, size);
    }

    /** Puts a layer in the place of its entries; there are some, and they are kept. */
    void closeLayer(int id, Recording recording) {
        int from = frame.layerBase;
        long beganNs = layerBeganNs();
        adoptFrom(from, id, recording);
        push(id, beganNs);
    }

    /**
     * A layer has ended, recorded under an id or, where there was nothing in it or no room, {@link GraphRecorder#NONE}.
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

    /** The layer that ended without an entry, and of which a brick was just found to be. */
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

    /** Puts the layer that had no entry in the place of its first one, which is the entry on top. */
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

    /** Closes the innermost scope that is no node, if it is the innermost of all. */
    boolean popDroppedScope() {
        if (droppedScopes == 0) {
            return false;
        }
        droppedScopes--;
        return true;
    }

    /** Closes the innermost scope that is a node, and returns it, or {@link GraphRecorder#NONE}. */
    int popScope() {
        if (!frame.isScope()) {
            return NONE;
        }
        int scope = frame.place.parent();
        popFrame();
        return scope;
    }

    /** Closes a scope that a reset forgot, if there is one. */
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
     * From now on the thread works for another layer: for one that it worked for before and was interrupted in, or for
     * a new one.
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

    /** Ends the pass at a time: what runs then may still belong to the layer that ended last. */
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
