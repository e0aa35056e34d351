package org.brickprofiler.trace;

import org.brickprofiler.record.SpanCopy;

/** One of the buffers that a line is made of. Immutable. */
final class LinePart {

    private final SpanCopy copy;
    private final int[] names;

    /**
     * A part.
     *
     * @param copy what the buffer held
     * @param names the index of each key; not to be changed
     */
    LinePart(SpanCopy copy, int[] names) {
        this.copy = copy;
        this.names = names;
    }

    SpanCopy copy() {
        return copy;
    }

    int name(int entry) {
        return names[copy.key(entry)];
    }
}
