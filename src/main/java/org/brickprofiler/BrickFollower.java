package org.brickprofiler;

/**
 * Who follows timed bricks and boundaries beside the sums. This one is nobody: as long as no graph was asked for in the
 * virtual machine, there is no other, and compiled code holds nothing of it. Any thread.
 */
class BrickFollower {

    static final BrickFollower NOBODY = new BrickFollower();

    /** A timed brick has ended on the calling thread. */
    void ended(int key, long startNs, long endNs, long elements) {}

    /** A layer begins on the calling thread: a {@link org.brickprofiler.record.LayerToken}. */
    void startLayer(long layer) {}

    /** A layer has ended on the calling thread. */
    void endLayer(long layer) {}

    /** The calling thread works for a layer from now on. */
    void workFor(long layer) {}

    /** A forward pass has ended on the calling thread. */
    void endPass() {}

    /** Everything is to be forgotten. */
    void reset() {}
}
