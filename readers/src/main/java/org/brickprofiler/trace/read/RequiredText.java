package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/**
 * The substrings that a text must contain for a pattern to match somewhere in it: the literal parts of the pattern, and
 * for alternatives those of at least one alternative. A trace can have a million names, and most rules require a
 * substring that a name lacks; trying all patterns on all names would take far longer than reading the trace. The
 * comparison ignores case. If no such substring is known, any text may match. Immutable; any thread.
 */
final class RequiredText {

    /** The requirement that every text meets. */
    static final RequiredText NOTHING = new RequiredText(List.of());

    private static final int GRAM = 3;

    /** Letters that, after a backslash, denote a class, a boundary or one character, without further characters. */
    private static final String PLAIN_ESCAPES = "dDwWsShHvVbBAGzZRtnrfae";

    /** At least one of them must hold; if there are none, every text qualifies. */
    private final Sequence[] alternatives;

    private RequiredText(List<Sequence> alternatives) {
        boolean isOneFree = alternatives.stream().anyMatch(Sequence::isFree);
        this.alternatives = isOneFree ? new Sequence[0] : alternatives.toArray(Sequence[]::new);
    }

    /** Parts that must all occur. */
    private static final class Sequence {
        private final int[] grams;
        private final RequiredText[] groups;

        Sequence(int[] grams, RequiredText[] groups) {
            this.grams = grams;
            this.groups = groups;
        }

        boolean isFree() {
            return grams.length == 0 && groups.length == 0;
        }

        boolean mayBeIn(Grams text) {
            for (int gram : grams) {
                if (!text.holds(gram)) {
                    return false;
                }
            }
            for (RequiredText group : groups) {
                if (!group.mayBeIn(text)) {
                    return false;
                }
            }
            return true;
        }
    }

    /** The three-character substrings of a text, as a set that may report false positives. Immutable; any thread. */
    static final class Grams {
        private static final int BITS = 1 << 11;

        private final long[] set = new long[BITS / Long.SIZE];

        Grams(String text) {
            for (int end = GRAM; end <= text.length(); end++) {
                int gram = before(text, end);
                set[gram / Long.SIZE] |= 1L << gram;
            }
        }

        /** Returns a number below {@link #BITS} for the three characters that end at an index. */
        static int before(CharSequence text, int end) {
            int gram = 0;
            for (int i = end - GRAM; i < end; i++) {
                char c = text.charAt(i);
                gram = (gram << Byte.SIZE) | (c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : (c & 0xff));
            }
            return (gram * 0x9e37_79b1) >>> Integer.numberOfLeadingZeros(BITS - 1);
        }

        private boolean holds(int gram) {
            return (set[gram / Long.SIZE] & (1L << gram)) != 0;
        }
    }

    /** Returns whether the pattern may match in a text, judged by the text's substrings. */
    boolean mayBeIn(Grams text) {
        for (Sequence alternative : alternatives) {
            if (alternative.mayBeIn(text)) {
                return true;
            }
        }
        return alternatives.length == 0;
    }

    /** Returns the requirement of a pattern. */
    static RequiredText of(Pattern pattern) {
        boolean isPlain = (pattern.flags() & ~Pattern.CASE_INSENSITIVE) == 0;
        Reader reader = new Reader(pattern.pattern());
        RequiredText required = isPlain ? reader.alternatives() : NOTHING;
        return reader.isUnknown ? NOTHING : required;
    }

    /** Parses a valid pattern, and gives up at any construct that it does not know. One thread. */
    private static final class Reader {
        private final String regex;
        private int at;
        private boolean isUnknown;

        Reader(String regex) {
            this.regex = regex;
        }

        private boolean skips(String text) {
            boolean isHere = regex.startsWith(text, at);
            at += isHere ? text.length() : 0;
            return isHere;
        }

        /** Reads up to the end of a group, or of the whole pattern. */
        RequiredText alternatives() {
            List<Sequence> read = new ArrayList<>();
            do {
                read.add(sequence());
            } while (skips("|"));
            return new RequiredText(read);
        }

        private Sequence sequence() {
            IntArrayList grams = new IntArrayList();
            List<RequiredText> groups = new ArrayList<>();
            StringBuilder run = new StringBuilder();
            while (!isUnknown && at < regex.length() && "|)".indexOf(regex.charAt(at)) < 0) {
                char c = regex.charAt(at++);
                boolean isLiteral = ".^$([\\?*+{".indexOf(c) < 0 && c < Byte.MAX_VALUE;
                if (isLiteral && !isOptional()) {
                    run.append(c);
                } else {
                    endRun(run, grams);
                    other(c, groups);
                }
            }
            endRun(run, grams);
            return new Sequence(grams.toArray(), groups.toArray(RequiredText[]::new));
        }

        private static void endRun(StringBuilder run, IntArrayList grams) {
            for (int end = GRAM; end <= run.length(); end++) {
                grams.add(Grams.before(run, end));
            }
            run.setLength(0);
        }

        /** Returns whether the last element may be absent, by the quantifier after it. */
        private boolean isOptional() {
            return at < regex.length() && "?*{".indexOf(regex.charAt(at)) >= 0;
        }

        /** Skips a construct that begins with a special character. */
        private void other(char c, List<RequiredText> groups) {
            switch (c) {
                case '(' -> group(groups);
                case '[' -> {
                    int begin = regex.startsWith("^", at) ? at + 1 : at;
                    int end = regex.indexOf(']', begin);
                    isUnknown = end <= begin || regex.substring(begin, end).matches(".*[\\[\\\\].*");
                    at = end + 1;
                }
                case '{' -> at = regex.indexOf('}', at) + 1;
                case '\\' -> {
                    char escaped = regex.charAt(at++);
                    isUnknown = Character.isLetterOrDigit(escaped) && PLAIN_ESCAPES.indexOf(escaped) < 0;
                }
                default -> {
                    // A quantifier, an anchor, any character, or an element that may be absent.
                }
            }
        }

        private void group(List<RequiredText> groups) {
            boolean looksAround = skips("?=") || skips("?!") || skips("?<=") || skips("?<!");
            isUnknown = !looksAround && !skips("?:") && regex.startsWith("?", at);
            RequiredText group = alternatives();
            at++;
            if (!looksAround && !isOptional() && group.alternatives.length > 0) {
                groups.add(group);
            }
        }
    }
}
