package org.brickprofiler.trace.read;

/** Names of bounded length that are still told apart. Stateless; any thread. */
final class Names {

    /** What an event without a name is called. */
    static final String NONE = "(no name)";

    /** The longest name that is kept whole; names of templates run to tens of thousands of characters. */
    static final int LONGEST = 2_000;

    private static final String CUT = "...#";
    private static final int HASH_DIGITS = 16;

    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private Names() {}

    /** A name, or the beginning of a long one with the hash of the whole. One that is such a beginning stays. */
    static String bounded(String name) {
        boolean isWhole = name.length() <= LONGEST;
        return isWhole || isCut(name) ? name : name.substring(0, LONGEST) + CUT + Long.toHexString(hash(name));
    }

    /** Whether a name looks like the beginning of a longer one. */
    private static boolean isCut(String name) {
        return name.startsWith(CUT, LONGEST) && name.length() <= LONGEST + CUT.length() + HASH_DIGITS;
    }

    /** FNV-1a over the characters. */
    static long hash(String name) {
        long hash = FNV_OFFSET;
        for (int i = 0; i < name.length(); i++) {
            hash = (hash ^ name.charAt(i)) * FNV_PRIME;
        }
        return hash;
    }
}
