package org.brickprofiler.internal.record;

/**
 * The boundaries between the layers of one thread, and the side of a boundary to which a brick belongs. The graph and
 * the timeline of a run both use this class, so that they agree. One thread.
 *
 * <p>With {@code lap} a brick is nearly always open, so a boundary falls within a brick. Such a brick belongs as a
 * whole to one side: the layer, or the time outside of layers, in which it ran longest. If two sides are equal, it
 * belongs to the one in which it began. A brick that contains a whole layer belongs to no layer. The boundary moves to
 * the brick's beginning or end.
 *
 * <p>A layer that was not announced begins at the end of the previous one. The beginning of a layer that follows the
 * end of a pass is unknown: the layer begins with its first brick, or never.
 *
 * <p>Times are nanoseconds of one clock, compared by their difference.
 */
public final class LayerBoundaries {

    // The open layer and brick.

    /** Whether there was a boundary at all. */
    private boolean hasBoundary;

    /** The last boundary. */
    private long boundaryNs;

    /** Whether the last boundary is one of a layer and not of a pass: the layer under way then begins at it. */
    private boolean ofLayer;

    /** Whether the last boundary was moved to the end of a brick that spanned it. */
    private boolean afterBrick;

    /** Whether any brick or entry belongs to the layer under way, and when the first of them began. */
    private boolean filled;

    private long firstNs;

    /** The layer that ended last, as long as further bricks may belong to it. */
    private final Closed closed = new Closed();

    private static final class Closed {
        boolean exists;

        /** Whether any brick or entry belongs to the layer. */
        boolean filled;

        /**
         * Whether the beginning is known. It is unknown if the layer began with the pass and no brick belongs to it.
         */
        boolean beganKnown;

        long beganNs;

        /** Whether the layer begins at the end of a brick. */
        boolean afterBrick;

        long endedNs;
    }

    /** The side of a boundary that a brick belongs to. */
    public enum Side {
        /** The brick spans no boundary: it belongs to the layer, or the time outside of layers, that is under way. */
        WITHIN,
        /** The brick belongs to the layer that ended while it ran. */
        LAYER_BEFORE,
        /** The brick belongs to the layer that began while it ran. */
        LAYER_NOW,
        /** The brick belongs to neither layer. */
        OUTSIDE
    }

    /** Creates the boundaries of a thread, or of a scope, in which nothing has happened yet. */
    public LayerBoundaries() {}

    // ---- bricks ----

    /**
     * Returns the side of a brick that ends now.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @return its side, to be passed to {@link #end}
     */
    public Side side(long beganNs, long endedNs) {
        boolean inClosed = isInClosed(beganNs, endedNs);
        boolean beforeNow = isBeforeBoundary(beganNs);
        if (!inClosed && !beforeNow) {
            return Side.WITHIN;
        }
        long now = Math.max(0, beforeNow ? endedNs - boundaryNs : 0);
        long before = inClosed ? closed.endedNs - beganNs : 0;
        long outsideSinceNs = inClosed ? closed.endedNs : beganNs;
        long outside = Math.max(0, boundaryNs - outsideSinceNs);
        // After the end of a pass, no layer may have begun yet.
        if (inClosed && before >= (ofLayer ? Math.max(outside, now) : outside + now)) {
            return Side.LAYER_BEFORE;
        }
        // The brick may also surround a layer that was forgotten because a layer in a scope ended after it.
        boolean aroundClosed = !inClosed && closed.beganKnown && beganNs - closed.beganNs <= 0;
        return now > outside && !aroundClosed ? Side.LAYER_NOW : Side.OUTSIDE;
    }

    /**
     * Returns whether a brick began in the layer that ended last.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @return true if the layer was open when the brick began; false if the brick surrounds it
     */
    public boolean isInClosed(long beganNs, long endedNs) {
        if (!closed.exists || beganNs - closed.endedNs >= 0) {
            return false;
        }
        long sinceNs = beganNs - closed.beganNs;
        // If both began at the same reading, the brick surrounds the layer, unless the layer is empty.
        boolean equal = sinceNs == 0 && (!closed.filled || closed.afterBrick || endedNs - closed.endedNs <= 0);
        return !closed.beganKnown || sinceNs > 0 || equal;
    }

    /**
     * Returns whether a time is before the last boundary.
     *
     * @param beganNs when it began
     * @return true if there is a boundary after that time
     */
    public boolean isBeforeBoundary(long beganNs) {
        return hasBoundary && beganNs - boundaryNs < 0;
    }

    /**
     * Ends a brick, and moves the boundaries that it spans.
     *
     * @param beganNs when it began
     * @param endedNs when it ended
     * @param side the result of {@link #side}
     */
    public void end(long beganNs, long endedNs, Side side) {
        switch (side) {
            case WITHIN -> add(beganNs);
            case LAYER_NOW -> {
                endClosed(beganNs);
                boundaryNs = earlier(boundaryNs, beganNs);
                add(beganNs);
            }
            case OUTSIDE -> {
                endClosed(beganNs);
                beginAfter(endedNs);
                filled = false;
            }
            case LAYER_BEFORE -> {
                closed.endedNs = later(closed.endedNs, endedNs);
                if (!closed.beganKnown) {
                    closed.beganNs = beganNs;
                    closed.beganKnown = true;
                }
                closed.filled = true;
                beginAfter(endedNs);
                filled = false;
            }
        }
        if (side != Side.LAYER_BEFORE && closed.filled && beganNs - closed.beganNs <= 0) {
            closed.exists = false;
        }
    }

    private void endClosed(long atNs) {
        closed.endedNs = earlier(closed.endedNs, atNs);
    }

    private void beginAfter(long endedNs) {
        if (endedNs - boundaryNs >= 0) {
            boundaryNs = endedNs;
            afterBrick = true;
        }
    }

    /**
     * Adds a brick or entry to the layer under way.
     *
     * @param beganNs when it began
     */
    public void add(long beganNs) {
        firstNs = filled ? earlier(firstNs, beganNs) : beganNs;
        filled = true;
    }

    // ---- layers and passes ----

    /**
     * Begins an announced layer.
     *
     * @param nowNs when it begins
     */
    public void startLayer(long nowNs) {
        hasBoundary = true;
        boundaryNs = nowNs;
        ofLayer = true;
        afterBrick = false;
        filled = false;
    }

    /**
     * Ends the layer under way, whether or not it was announced.
     *
     * @param nowNs when it ends
     */
    public void endLayer(long nowNs) {
        closed.exists = true;
        closed.filled = filled;
        closed.beganKnown = filled || ofLayer;
        closed.beganNs = filled ? beganNs() : boundaryNs;
        closed.afterBrick = afterBrick && closed.beganNs == boundaryNs;
        closed.endedNs = nowNs;
        startLayer(nowNs);
    }

    /**
     * Returns when the layer under way began: at its boundary, as long as it is empty.
     *
     * @return its beginning
     */
    public long beganNs() {
        if (!filled) {
            return boundaryNs;
        }
        return ofLayer ? earlier(firstNs, boundaryNs) : firstNs;
    }

    /**
     * Ends a pass. A brick that runs at that time may still belong to the layer that ended last.
     *
     * @param nowNs when it ends
     */
    public void endPass(long nowNs) {
        hasBoundary = true;
        boundaryNs = nowNs;
        ofLayer = false;
        afterBrick = false;
        filled = false;
    }

    // ---- the layer that ended last ----

    /**
     * Returns whether further bricks may belong to the layer that ended last.
     *
     * @return false if no layer has ended, or the last one was forgotten
     */
    public boolean hasClosed() {
        return closed.exists;
    }

    /** Forgets the layer that ended last: no further brick belongs to it. */
    public void forgetClosed() {
        closed.exists = false;
    }

    /**
     * Returns when the layer that ended last began.
     *
     * @return its beginning; undefined as long as the layer is empty and its beginning is not known otherwise
     */
    public long closedBeganNs() {
        return closed.beganNs;
    }

    /**
     * Returns when the layer that ended last ended.
     *
     * @return its end, as moved by the bricks that span it
     */
    public long closedEndedNs() {
        return closed.endedNs;
    }

    private static long earlier(long oneNs, long otherNs) {
        return oneNs - otherNs < 0 ? oneNs : otherNs;
    }

    private static long later(long oneNs, long otherNs) {
        return oneNs - otherNs > 0 ? oneNs : otherNs;
    }
}
