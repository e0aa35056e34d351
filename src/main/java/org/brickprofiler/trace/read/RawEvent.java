package org.brickprofiler.trace.read;

import java.util.Map;
import java.util.TreeMap;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;

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

    /** More than any event has; further ones are only counted. */
    private static final int MOST_ARGS = 1_024;

    final Map<String, String> args = new TreeMap<>();
    /** The flows that leave it, and those that end in it, where the format tells with the event. */
    final LongArrayList flowsOut = new LongArrayList();

    final LongArrayList flowsIn = new LongArrayList();

    char phase;
    String name = "";
    String category = "";
    /** The category that this library gave it, where it wrote the trace. */
    String ownCategory = "";
    String process = "";
    String thread = "";
    /** What ties events of several rows together; empty where there is none. */
    String id = "";
    /** Whether a flow ends in the slice around this moment rather than in the next one. */
    boolean bindsEnclosing;
    /** Of a counter the value, where the format tells it apart from the arguments. */
    double value;

    long startNs;
    long elapsedNs;
    long bytes;
    long elements;
    /** Whether it is told to have run on a device, where this library wrote the trace. */
    boolean onDevice;
    /** Whether what ran there is told to be the sample of a brick. */
    boolean isDeviceSample;
    long offset;
    int keys;
    boolean repeatedKey;
    /** What else was said of it, and passed over. */
    int skipped;

    /** Forgets the event before. */
    void clear(long atOffset) {
        args.clear();
        flowsOut.clear();
        flowsIn.clear();
        phase = NO_PHASE;
        name = "";
        category = "";
        ownCategory = "";
        process = "";
        thread = "";
        id = "";
        bindsEnclosing = false;
        value = Double.NaN;
        startNs = Microseconds.ABSENT;
        elapsedNs = Microseconds.ABSENT;
        bytes = NO_BYTES;
        elements = NO_ELEMENTS;
        onDevice = false;
        isDeviceSample = false;
        offset = atOffset;
        keys = 0;
        repeatedKey = false;
        skipped = 0;
    }

    /** Keeps an argument. */
    void keep(String key, String text) {
        if (args.size() < MOST_ARGS) {
            args.put(key, text);
        } else {
            skipped++;
        }
    }

    /** Notes that a key was read, by a bit of its own. */
    void sawKey(int bit) {
        repeatedKey |= (keys & bit) != 0;
        keys |= bit;
    }
}
