package org.brickprofiler.trace.read;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.base.Fnv1a;
import org.jspecify.annotations.Nullable;

/**
 * Interns the names of a trace. Names are of bounded length and stay distinct if the whole names were distinct; a name
 * is usually one object, however often it occurs in the text. One thread.
 */
final class TraceNames {

    /** The name of an event without one. */
    static final String NONE = "(no name)";

    /** The name that stands for all names beyond a limit. */
    static final String OTHERS = BrickProfiler.OTHER_NAMES;

    /** The longest name that is kept whole; names of templates run to tens of thousands of characters. */
    static final int LONGEST = 2_000;

    private static final String CUT = "...#";
    private static final int HASH_DIGITS = 16;

    private static final int PLACES = 1 << 12;

    /** Longer names share fewer cache slots, so that all cached names together take a few MB. */
    private static final int LONGEST_SHORT = 256;

    private static final int PLACES_OF_LONG = 1 << 9;
    private static final int SAMPLED = 32;

    /** The latest name of each cache slot, and its characters. */
    private final @Nullable String[] met = new String[PLACES];

    private final char[][] texts = new char[PLACES][];

    /**
     * Returns a name; a long name is cut, and the hash of the whole name is appended. A name that was cut before is
     * returned unchanged.
     */
    static String bounded(String name) {
        boolean isWhole = name.length() <= LONGEST;
        return isWhole || isCut(name) ? name : name.substring(0, LONGEST) + CUT + Long.toHexString(hash(name));
    }

    /** Returns whether a name has the form of a cut one. */
    private static boolean isCut(String name) {
        return name.startsWith(CUT, LONGEST) && name.length() <= LONGEST + CUT.length() + HASH_DIGITS;
    }

    /** Returns a hash that distinguishes names. */
    static long hash(String name) {
        return Fnv1a.of(name.getBytes(StandardCharsets.UTF_8));
    }

    /** Returns the bounded name of some characters, without creating an object if the name is cached. */
    String of(char[] text, int from, int length) {
        if (length > LONGEST) {
            return bounded(new String(text, from, length));
        }
        // A few dozen characters are enough for the hash: names in the same slot are compared in full.
        int step = 1 + length / SAMPLED;
        int hash = length;
        for (int i = from; i < from + length; i += step) {
            hash = 31 * hash + text[i];
        }
        int place = (hash ^ hash >>> 15) & (length > LONGEST_SHORT ? PLACES_OF_LONG : PLACES) - 1;
        String known = met[place];
        if (known == null || !Arrays.equals(texts[place], 0, known.length(), text, from, from + length)) {
            known = new String(text, from, length);
            met[place] = known;
            if (texts[place] == null || texts[place].length < length) {
                texts[place] = new char[length];
            }
            System.arraycopy(text, from, texts[place], 0, length);
        }
        return known;
    }
}
