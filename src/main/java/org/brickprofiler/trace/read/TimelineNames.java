package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.trace.SpanName;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;

/** The names of a timeline that is read, each once, in the order in which they came. One thread. */
final class TimelineNames {

    /** What all of them together may take, in characters. */
    static final long MOST_CHARACTERS = 1L << 27;

    /** What a name takes beside its characters. */
    private static final int ENTRY = 64;

    private final String source;
    private final List<SpanName> names = new ArrayList<>();
    private final ObjectIntHashMap<SpanName> places = new ObjectIntHashMap<>();
    private long characters;

    TimelineNames(String source) {
        this.source = source;
    }

    /**
     * The place of a name.
     *
     * @throws TraceFormatException when there is no room for a new one
     */
    int of(String name, String category, long offset) throws TraceFormatException {
        SpanName spanName = new SpanName(name, category);
        int known = places.getIfAbsent(spanName, -1);
        if (known >= 0) {
            return known;
        }
        characters += ENTRY + name.length() + category.length();
        if (characters > MOST_CHARACTERS) {
            throw new TraceFormatException(
                    source, offset, "the names of its events take more than " + MOST_CHARACTERS + " characters");
        }
        names.add(spanName);
        places.put(spanName, names.size() - 1);
        return names.size() - 1;
    }

    /** How many were too long to be kept whole. */
    long cut() {
        return names.stream().filter(name -> name.name().length() > Names.LONGEST).count();
    }

    List<SpanName> all() {
        return List.copyOf(names);
    }
}
