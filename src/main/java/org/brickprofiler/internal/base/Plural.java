package org.brickprofiler.internal.base;

/** Counts with their nouns, for texts. Stateless; any thread. */
public final class Plural {

    private static final int GROUP = 3;

    private Plural() {}

    /**
     * Returns a count and a noun.
     *
     * @param count the count
     * @param one the singular of a noun whose plural ends with {@code s}; adjectives may precede it
     * @return for example {@code "1 token"} or {@code "1,234 tokens"}
     */
    public static String of(long count, String one) {
        return of(count, one, one + "s");
    }

    /**
     * Returns a count and a noun.
     *
     * @param count the count
     * @param one the noun for a count of 1
     * @param many the noun for all other counts
     * @return for example {@code "1 entry"} or {@code "1,234 entries"}
     */
    public static String of(long count, String one, String many) {
        return grouped(count) + " " + (count == 1 ? one : many);
    }

    /** Returns a number as {@code %,d} formats it, without the classes of formats, which take long to load. */
    private static String grouped(long number) {
        StringBuilder text = new StringBuilder(Long.toString(number));
        for (int at = text.length() - GROUP; at > (number < 0 ? 1 : 0); at -= GROUP) {
            text.insert(at, ',');
        }
        return text.toString();
    }
}
