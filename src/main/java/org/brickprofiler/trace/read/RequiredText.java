package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What a text must hold for a pattern to be found in it: of each alternative of the pattern, its longest part that is
 * no more than characters. A trace can have a million names, and most rules ask for something that a name plainly lacks;
 * trying all their patterns would take far longer than reading the trace. Upper and lower case count as the same. Where
 * nothing is known of a pattern, any text may hold it. Immutable; any thread.
 */
final class RequiredText {

    /** What a text may hold of which nothing is known. */
    static final RequiredText ANYTHING = new RequiredText(List.of());

    private static final int GRAM = 3;

    /** Those after a backslash that stand for a class, a boundary or one character, and take nothing that follows. */
    private static final String PLAIN_ESCAPES = "dDwWsShHvVbBAGzZRtnrfae";

    private final List<int[]> alternatives;

    private RequiredText(List<int[]> alternatives) {
        this.alternatives = alternatives;
    }

    /** The three-letter parts of a text, as a set that may hold more. Immutable; any thread. */
    static final class Grams {
        private static final int BITS = 1 << 12;

        private final long[] set = new long[BITS / Long.SIZE];

        Grams(String text) {
            for (int hash : hashes(text)) {
                set[hash / Long.SIZE] |= 1L << hash;
            }
        }

        /** A number below {@link #BITS} for each three characters in a row. */
        static int[] hashes(CharSequence text) {
            int[] hashes = new int[Math.max(0, text.length() - GRAM + 1)];
            int last = 0;
            for (int i = 0; i < text.length(); i++) {
                char c = text.charAt(i);
                int lower = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
                last = (last << Byte.SIZE | lower & 0xff) & 0xff_ffff;
                if (i >= GRAM - 1) {
                    hashes[i - GRAM + 1] = last * 0x9e37_79b1 >>> Integer.SIZE - Integer.numberOfTrailingZeros(BITS);
                }
            }
            return hashes;
        }

        private boolean holds(int[] hashes) {
            for (int hash : hashes) {
                if ((set[hash / Long.SIZE] & 1L << hash) == 0) {
                    return false;
                }
            }
            return true;
        }
    }

    /** Whether the pattern may be found in a text, going by its parts. */
    boolean mayBeIn(Grams text) {
        if (alternatives.isEmpty()) {
            return true;
        }
        for (int i = 0; i < alternatives.size(); i++) {
            if (text.holds(alternatives.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** What a pattern requires. */
    static RequiredText of(Pattern pattern) {
        boolean isPlain = (pattern.flags() & ~Pattern.CASE_INSENSITIVE) == 0;
        return isPlain ? new Reader(pattern.pattern()).read() : ANYTHING;
    }

    /** Goes through the text of a pattern, and gives up at whatever it does not know. */
    private static final class Reader {
        private final String regex;
        private final List<int[]> alternatives = new ArrayList<>();
        private final StringBuilder run = new StringBuilder();
        private String longest = "";
        private int depth;

        Reader(String regex) {
            this.regex = regex;
        }

        RequiredText read() {
            int at = 0;
            while (at < regex.length()) {
                at = step(at);
                if (at < 0) {
                    return ANYTHING;
                }
            }
            return endAlternative() ? new RequiredText(List.copyOf(alternatives)) : ANYTHING;
        }

        /** Takes what stands at a place; returns what is behind it, or -1 where that is not known. */
        private int step(int at) {
            char c = regex.charAt(at);
            switch (c) {
                case '?', '*', '{' -> {
                    run.setLength(Math.max(0, run.length() - 1));
                    endRun();
                    return c == '{' ? regex.indexOf('}', at) + 1 : at + 1;
                }
                case '(' -> {
                    depth++;
                    boolean isSpecial = regex.startsWith("?", at + 1) && !regex.startsWith("?:", at + 1);
                    endRun();
                    return isSpecial ? -1 : regex.startsWith("?:", at + 1) ? at + 3 : at + 1;
                }
                case '|' -> {
                    return depth > 0 || endAlternative() ? at + 1 : -1;
                }
                case '[' -> {
                    endRun();
                    return behindClass(at);
                }
                case '\\' -> {
                    endRun();
                    char escaped = regex.charAt(at + 1);
                    boolean isPlain = !Character.isLetterOrDigit(escaped) || PLAIN_ESCAPES.indexOf(escaped) >= 0;
                    return isPlain ? at + 2 : -1;
                }
                case ')' -> {
                    depth--;
                    endRun();
                }
                case '.', '^', '$', '+' -> endRun();
                default -> {
                    if (depth == 0 && c < Byte.MAX_VALUE) {
                        run.append(c);
                    } else {
                        endRun();
                    }
                }
            }
            return at + 1;
        }

        /** Behind a class of characters; -1 where it holds more than characters and ranges. */
        private int behindClass(int at) {
            int begin = regex.startsWith("^", at + 1) ? at + 2 : at + 1;
            int end = regex.indexOf(']', begin);
            String inside = regex.substring(begin, Math.max(begin, end));
            boolean isPlain = !inside.isEmpty() && inside.indexOf('[') < 0 && inside.indexOf('\\') < 0;
            return isPlain ? end + 1 : -1;
        }

        private void endRun() {
            longest = run.length() > longest.length() ? run.toString() : longest;
            run.setLength(0);
        }

        private boolean endAlternative() {
            endRun();
            boolean isKnown = longest.length() >= GRAM;
            alternatives.add(Grams.hashes(longest));
            longest = "";
            return isKnown;
        }
    }
}
