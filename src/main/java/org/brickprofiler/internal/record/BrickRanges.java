package org.brickprofiler.internal.record;

/**
 * Shows the bricks, layers and steps of a profiler to a tool while they run, each as a range of the calling thread. A
 * profiler has such ranges from its beginning or never, so no timer began before them. Any thread; nothing here throws
 * into the code that is timed.
 */
public interface BrickRanges {

    /**
     * Begins the range of a brick, before its timer reads the clock.
     *
     * @param key the brick
     */
    void begin(int key);

    /**
     * Gives the range that the calling thread has just begun its timer.
     *
     * @param timer the timer, not void
     */
    void began(long timer);

    /**
     * Ends the range of a brick, after its timer has read the clock.
     *
     * @param timer the timer; void, or one that is stopped again, has no range
     * @param key the brick
     */
    void end(long timer, int key);

    /**
     * Begins the range of a layer.
     *
     * @param number the number of the layer
     */
    void beginLayer(int number);

    /** Ends the range of the layer of the calling thread, and all ranges in it. */
    void endLayer();

    /**
     * Begins the range of a step. The range of an earlier step that has not ended ends.
     *
     * @param phase the name of its phase
     */
    void beginStep(String phase);

    /**
     * Ends the range of the layer of the calling thread, and all ranges in it.
     *
     * @param endsStep whether the range of its step ends, too
     */
    void endPass(boolean endsStep);
}
