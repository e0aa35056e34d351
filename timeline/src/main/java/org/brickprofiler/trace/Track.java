package org.brickprofiler.trace;

import java.util.Objects;

/**
 * A row of events. Immutable.
 *
 * @param kind its kind
 * @param name any text
 * @param parent the index of the parent track, or {@link #PROCESS}; the parent of a stream is its device
 * @param id a thread's identifier in the operating system or the virtual machine, a device's index, a stream's number
 *     on the device, or any number for a counter
 * @param unit the unit of a counter's values; empty for other tracks
 */
public record Track(Kind kind, String name, int parent, long id, String unit) {

    /** The parent of a track that belongs to the process itself. */
    public static final int PROCESS = -1;

    /** The kind of a track. */
    public enum Kind {
        /** A thread of the process. */
        HOST_THREAD,
        /** A device: the parent of its streams, or a row of its own if streams are not known. */
        DEVICE,
        /** An ordered queue of a device. */
        STREAM,
        /** A value that changes over time. */
        COUNTER
    }

    /**
     * Checks the components.
     *
     * @throws IllegalArgumentException for a parent below {@link #PROCESS}
     */
    public Track {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(unit, "unit");
        if (parent < PROCESS) {
            throw new IllegalArgumentException("the parent of a track is an index or -1, not " + parent);
        }
    }

    /**
     * Creates a track without a unit.
     *
     * @param kind its kind
     * @param name any text
     * @param parent the index of the parent track, or {@link #PROCESS}
     * @param id see {@link #id()}
     */
    public Track(Kind kind, String name, int parent, long id) {
        this(kind, name, parent, id, "");
    }
}
