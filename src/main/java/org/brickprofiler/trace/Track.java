package org.brickprofiler.trace;

import java.util.Objects;

/**
 * A row of events. Immutable.
 *
 * @param kind what it stands for
 * @param name as people read it
 * @param parent the index of the track it belongs to, or {@link #PROCESS}: a stream's is its device
 * @param id of a thread its identifier in the operating system or the virtual machine, of a device its index, of a
 *     stream its number on the device, of a counter any number
 * @param unit of a counter the unit of its values; else empty
 */
public record Track(Kind kind, String name, int parent, long id, String unit) {

    /** The parent of a track that belongs to the process itself. */
    public static final int PROCESS = -1;

    /** What a track stands for. */
    public enum Kind {
        /** A thread of the process. */
        HOST_THREAD,
        /** A device: the parent of its streams, or a row of its own where streams are not known. */
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
     * A track without a unit.
     *
     * @param kind what it stands for
     * @param name as people read it
     * @param parent the index of the track it belongs to, or {@link #PROCESS}
     * @param id see the component of that name
     */
    public Track(Kind kind, String name, int parent, long id) {
        this(kind, name, parent, id, "");
    }
}
