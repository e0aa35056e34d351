package org.brickprofiler.graph;

import java.util.Arrays;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one thread that a later step may still adopt, and its open scopes. Only that thread.
 *
 * <p>Entries lie on a stack, each with the clock at its beginning; those of the innermost frame are on top. Within a
 * frame beginnings never fall: one that would is raised to that of the entry below. A step that ends therefore adopts
 * from the top down to the first entry that began before it did, and each entry is looked at about once in its life.
 *
 * <h2>Bricks across the boundary of a layer</h2>
 *
 * With {@code lap} a brick is under way nearly always, and so a boundary lies within one. Such a brick belongs to one
 * side of the boundary as a whole: to the layer, or the time outside of layers, in which it ran longest; of equals to
 * that in which it began. A layer that has ended is therefore remembered with what it adopted last: a brick that ends
 * later may become its child, and takes over what had begun inside the brick.
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

    /** Which side of a boundary a brick belongs to. */
    enum Side {
        /** There is no boundary within it, or one that no layer touches. */
        WITHIN,
        /** The layer that ended while it ran. */
        LAYER_BEFORE,
        /** The layer that began while it ran. */
        LAYER_NOW,
        /** Neither. */
        OUTSIDE
    }

    /** The entries of the calling thread, which has recorded nothing. */
    OpenEntries(@Nullable Thread owner) {
        super(owner);
        Thread caller = Thread.currentThread();
        threadName = caller.getName().isEmpty() ? "thread " + caller.getId() : caller.getName();
        frame = outermost();
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

        /** Whether there was a boundary inside the frame, or the end of a pass before it. */
        boolean hasBoundary;

        /** The clock at that boundary. */
        long layerBeganNs;

        /** Whether that boundary was one of a layer: then it is where the current layer begins. */
        boolean layerMarked;

        /** Whether that boundary was put at the end of a brick that lay across it. */
        boolean boundaryAfterBrick;

        /** Whether that layer's beginning was announced, and its end was not. */
        boolean layerOpen;

        /** The token of that layer, where it has one. */
        long layerToken;

        Frame(@Nullable Frame outer, RecordedNode.Place place, int depth, int foreignDepth, int base) {
            this.outer = outer;
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
        @Nullable Frame frame;
        int id;
        ExecutionNode.@Nullable Layer layer;
        long token;

        /** Whether it is known when it began: not, where it began with the pass and nothing was recorded in it. */
        boolean beganKnown;

        long beganNs;

        /** Whether it begins where a brick before it ended. */
        boolean beganAfterBrick;

        long endedNs;

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

        /** Gives what began at a time or later to a brick. */
        void adoptSince(long beganNs, int parent, Recording recording) {
            while (size > 0 && beginnings[size - 1] - beganNs >= 0) {
                recording.adopt(children[--size], parent);
            }
        }
    }

    private Frame outermost() {
        return new Frame(null, new RecordedNode.Place(thread, threadName, NONE, LayerToken.VOID), 0, 0, 0);
    }

    boolean isOf(Recording recording) {
        return generation == recording.generation();
    }

    /** Forgets all entries and begins anew in another recording. */
    void moveTo(Recording recording) {
        int open = forgottenScopes + frame.depth + droppedScopes;
        generation = recording.generation();
        thread = recording.newThread();
        clear();
        closed.frame = null;
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

    /** Adds an entry, for which there is room. */
    void add(int id, long beganNs) {
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
        boolean inClosed = beganInClosed(beganNs, endedNs);
        boolean beforeNow = beganBeforeLayer(beganNs);
        if (!inClosed && !beforeNow) {
            return Side.WITHIN;
        }
        long now = Math.max(0, beforeNow ? endedNs - frame.layerBeganNs : 0);
        long before = inClosed ? closed.endedNs - beganNs : 0;
        long outsideSinceNs = inClosed ? closed.endedNs : beganNs;
        long outside = Math.max(0, frame.layerBeganNs - outsideSinceNs);
        // After a pass there may be no layer yet.
        if (inClosed && before >= (frame.layerMarked ? Math.max(outside, now) : outside + now)) {
            return Side.LAYER_BEFORE;
        }
        boolean aroundClosed = !inClosed && hasClosed() && closed.beganKnown && beganNs - closed.beganNs <= 0;
        return now > outside && !aroundClosed ? Side.LAYER_NOW : Side.OUTSIDE;
    }

    private boolean hasClosed() {
        return closed.frame == frame;
    }

    private boolean beganInClosed(long beganNs, long endedNs) {
        if (!hasClosed() || beganNs - closed.endedNs >= 0) {
            return false;
        }
        long sinceNs = beganNs - closed.beganNs;
        // At the same reading a brick lies around the layer, unless there is nothing for it to lie around.
        boolean equal = sinceNs == 0
                && (closed.id == NONE || closed.beganAfterBrick || endedNs - closed.endedNs <= 0);
        return !closed.beganKnown || sinceNs > 0 || equal;
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
        if (hasClosed() && beganInClosed(beganNs, endedNs)) {
            closed.adoptSince(beganNs, id, recording);
        }
        switch (side) {
            case WITHIN, OUTSIDE -> {
                int from = adoptSince(beganNs, frame.base, id, recording);
                if (from < frame.layerBase || (from == frame.layerBase && beganBeforeLayer(beganNs))) {
                    // The layer began inside the parent: what follows the parent is the layer's, the parent is not.
                    frame.layerBase = from + 1;
                }
                if (side == Side.OUTSIDE) {
                    endClosed(beganNs);
                    beginAfter(endedNs);
                }
                forgetClosedAbove(from);
                add(id, beganNs);
            }
            case LAYER_NOW -> {
                int from = adoptSince(beganNs, frame.base, id, recording);
                frame.layerBase = Math.min(frame.layerBase, from);
                endClosed(beganNs);
                frame.layerBeganNs = earlier(frame.layerBeganNs, beganNs);
                forgetClosedAbove(from);
                add(id, beganNs);
            }
            case LAYER_BEFORE -> {
                int floor = Math.max(frame.base, closed.at + (closed.id == NONE ? 0 : 1));
                adoptSince(beganNs, Math.min(size, floor), id, recording);
                closed.endedNs = later(closed.endedNs, endedNs);
                beginAfter(endedNs);
                if (closed.id == NONE) {
                    add(id, beganNs);
                }
                frame.layerBase = size;
            }
        }
    }

    private void beginAfter(long endedNs) {
        if (endedNs - frame.layerBeganNs >= 0) {
            frame.layerBeganNs = endedNs;
            frame.boundaryAfterBrick = true;
        }
    }

    private void endClosed(long atNs) {
        if (hasClosed()) {
            closed.endedNs = earlier(closed.endedNs, atNs);
        }
    }

    private void forgetClosedAbove(int from) {
        if (hasClosed() && from <= closed.at && closed.id != NONE) {
            closed.frame = null;
        }
    }

    private static long earlier(long oneNs, long otherNs) {
        return oneNs - otherNs < 0 ? oneNs : otherNs;
    }

    private static long later(long oneNs, long otherNs) {
        return oneNs - otherNs > 0 ? oneNs : otherNs;
    }

    private boolean beganBeforeLayer(long beganNs) {
        return frame.hasBoundary && beganNs - frame.layerBeganNs < 0;
    }

    // ---- layers ----

    void startLayer(long nowNs, long token) {
        startNextLayer(nowNs);
        frame.layerOpen = true;
        frame.layerToken = token;
    }

    private void startNextLayer(long nowNs) {
        frame.layerBase = size;
        frame.layerBeganNs = nowNs;
        frame.hasBoundary = true;
        frame.boundaryAfterBrick = false;
        frame.layerMarked = true;
        frame.layerOpen = false;
        frame.layerToken = LayerToken.VOID;
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
        long first = beginnings[frame.layerBase];
        return frame.layerMarked ? earlier(first, frame.layerBeganNs) : first;
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
        add(id, beganNs);
    }

    /**
     * A layer has ended, recorded under an id or, where there was nothing in it or no room, {@link GraphRecorder#NONE}.
     */
    void endLayer(ExecutionNode.Layer layer, long token, int id, long beganNs, long nowNs) {
        closed.frame = frame;
        closed.id = id;
        closed.layer = layer;
        closed.token = token;
        closed.beganKnown = id != NONE || frame.layerMarked;
        closed.beganNs = id != NONE ? beganNs : frame.layerBeganNs;
        closed.beganAfterBrick = frame.boundaryAfterBrick && closed.beganNs == frame.layerBeganNs;
        closed.endedNs = nowNs;
        closed.at = id != NONE ? size - 1 : size;
        if (id == NONE) {
            closed.size = 0;
        }
        startNextLayer(nowNs);
    }

    /** The layer that ended without an entry, and of which a brick was just found to be. */
    ExecutionNode.@Nullable Layer emptyClosedLayer() {
        return closed.id == NONE ? closed.layer : null;
    }

    long closedToken() {
        return closed.token;
    }

    /** When it began: with the brick on top, where nothing else is known. */
    long closedBeganNs() {
        return closed.beganKnown ? closed.beganNs : beginnings[size - 1];
    }

    long closedEndedNs() {
        return closed.endedNs;
    }

    /** Puts the layer that had no entry in the place of its first one, which is the entry on top. */
    void fillClosedLayer(int id, Recording recording) {
        int from = size - 1;
        closed.beganNs = closedBeganNs();
        closed.beganKnown = true;
        closed.keep(ids, beginnings, from, size);
        adoptFrom(from, id, recording);
        add(id, closed.beganNs);
        closed.id = id;
        closed.at = from;
        frame.layerBase = size;
    }

    // ---- scopes, and work for others ----

    void pushScope(int id) {
        RecordedNode.Place around = frame.place;
        RecordedNode.Place inside = new RecordedNode.Place(around.thread(), around.threadName(), id, LayerToken.VOID);
        frame = new Frame(frame, inside, frame.depth + 1, frame.foreignDepth, size);
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
        frame = new Frame(frame, inside, frame.depth, frame.foreignDepth + 1, size);
    }

    private void leaveForeign(int depth) {
        while (frame.foreignDepth > depth) {
            popFrame();
        }
    }

    /** Ends the pass at a time: what runs then may still belong to the layer that ended last. */
    void endPass(long nowNs) {
        boolean carries = hasClosed() && frame.outer == null;
        clear();
        frame.hasBoundary = true;
        frame.layerBeganNs = nowNs;
        closed.frame = carries ? frame : null;
        closed.at = -1;
    }

    private void clear() {
        frame = outermost();
        size = 0;
        layerIndex = 0;
        droppedScopes = 0;
        forgottenScopes = 0;
    }
}
