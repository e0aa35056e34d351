package org.brickprofiler.internal.record;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Maps spellings to keys, ignoring case and underscores. Finding a key allocates nothing. Add all spellings before
 * other threads see the table; from then on any thread may search it.
 */
public final class SpellingTable {

    private static final int PLACES_BITS = 11;

    /** A power of two, so large that most look-ups of other names end at the first place. */
    private static final int PLACES = 1 << PLACES_BITS;

    private final @Nullable String[] names = new @Nullable String[PLACES];
    private final int[] keys = new int[PLACES];

    /** Creates an empty table, which has room for fewer than 2,048 spellings. */
    public SpellingTable() {
        Arrays.fill(keys, NameTable.NONE);
    }

    /**
     * Adds a spelling.
     *
     * @param name the spelling
     * @param key its key, 0 or more
     * @throws IllegalArgumentException when the spelling has another key
     */
    public void add(String name, int key) {
        int place = place(name);
        int there = keys[place];
        if (there != NameTable.NONE && there != key) {
            throw new IllegalArgumentException("'" + name + "' has the key " + there + " and cannot have " + key);
        }
        names[place] = name;
        keys[place] = key;
    }

    /**
     * Returns the key of a name in any spelling.
     *
     * @param name any name
     * @return its key, or {@link NameTable#NONE}
     */
    public int find(String name) {
        return keys[place(name)];
    }

    /** Returns the place of a name, or the free place that it would take. */
    private int place(String name) {
        int place = hash(name) & (PLACES - 1);
        for (String there = names[place];
                there != null && !there.equals(name) && !isSame(there, name);
                there = names[place]) {
            place = (place + 1) & (PLACES - 1);
        }
        return place;
    }

    /**
     * Returns a hash of the lowest five bits of all characters but underscores: a letter has the same ones in either
     * case. Calls little, since the first profiler adds all spellings before anything is compiled.
     */
    private static int hash(String name) {
        int hash = 0;
        for (int i = 0; i < name.length(); i++) {
            char at = name.charAt(i);
            hash = at == '_' ? hash : 31 * hash + (at & 0x1f);
        }
        return hash ^ hash >>> PLACES_BITS;
    }

    private static boolean isSame(String one, String two) {
        int i = 0;
        int k = 0;
        while (true) {
            i = afterUnderscores(one, i);
            k = afterUnderscores(two, k);
            if (i == one.length() || k == two.length()) {
                return i == one.length() && k == two.length();
            }
            if (lower(one.charAt(i++)) != lower(two.charAt(k++))) {
                return false;
            }
        }
    }

    private static int afterUnderscores(String name, int from) {
        int at = from;
        while (at < name.length() && name.charAt(at) == '_') {
            at++;
        }
        return at;
    }

    /** Converts ASCII only: these names have no other letters, so the result does not depend on the locale. */
    private static char lower(char letter) {
        return letter >= 'A' && letter <= 'Z' ? (char) (letter + ('a' - 'A')) : letter;
    }
}
