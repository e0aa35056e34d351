package org.brickprofiler.internal.record;

/** What the keys of recorded spans mean. Every method may be called from any thread. */
public interface SpanNames {

    /**
     * How many keys are in use: 0 to {@code size() - 1}.
     *
     * @return the number of keys
     */
    int size();

    /**
     * The name of a key.
     *
     * @param key 0 to {@code size() - 1}
     * @return a name
     */
    String name(int key);

    /**
     * The category of a key.
     *
     * @param key 0 to {@code size() - 1}
     * @return a display name
     */
    String category(int key);
}
