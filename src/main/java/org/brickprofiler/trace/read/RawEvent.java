package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.TreeMap;

/** One event as it stands in the trace; the same object for all of them. One thread. */
final class RawEvent {

    /** The phase of an event without one. */
    static final char NO_PHASE = 0;

    /** The bytes of an event without any. */
    static final long NO_BYTES = -1;

    /** The elements of an event without any. */
    static final long NO_ELEMENTS = -1;

    /** The bytes of an event whose bytes are wrong. */
    static final long MALFORMED_BYTES = -2;

    final Map<String, String> args = new TreeMap<>();

    char phase;
    String name = "";
    String category = "";
    /** The category that this library gave it, where it wrote the trace. */
    String ownCategory = "";
    String process = "";
    String thread = "";
    long startNs;
    long elapsedNs;
    long bytes;
    long elements;
    /** Whether it is told to have run on a device, where this library wrote the trace. */
    boolean onDevice;
    long offset;
    int keys;
    boolean repeatedKey;

    /** Forgets the event before. */
    void clear(long atOffset) {
        args.clear();
        phase = NO_PHASE;
        name = "";
        category = "";
        ownCategory = "";
        process = "";
        thread = "";
        startNs = Microseconds.ABSENT;
        elapsedNs = Microseconds.ABSENT;
        bytes = NO_BYTES;
        elements = NO_ELEMENTS;
        onDevice = false;
        offset = atOffset;
        keys = 0;
        repeatedKey = false;
    }

    /** Notes that a key was read, by a bit of its own. */
    void sawKey(int bit) {
        repeatedKey |= (keys & bit) != 0;
        keys |= bit;
    }
}
