package org.brickprofiler.agent;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Finds the existing names that are closest to an unknown name. Stateless; any thread. */
final class ClosestNames {

    private static final int MOST = 3;

    private ClosestNames() {}

    /**
     * Returns the part of a message that suggests names.
     *
     * @param name the unknown name
     * @param existing the existing names
     * @return the closest existing names, after a semicolon; empty if there are no names at all
     */
    static String hint(String name, Stream<String> existing) {
        List<String> closest = existing.distinct()
                .sorted(Comparator.<String>comparingInt(each -> distance(name, each))
                        .thenComparing(Comparator.naturalOrder()))
                .limit(MOST)
                .toList();
        return closest.isEmpty() ? "" : "; the closest that exist: " + String.join(", ", closest);
    }

    /** Returns the Levenshtein distance, ignoring case. */
    private static int distance(String one, String other) {
        String a = one.toLowerCase(Locale.ROOT);
        String b = other.toLowerCase(Locale.ROOT);
        int[] row = new int[b.length() + 1];
        for (int j = 0; j <= b.length(); j++) {
            row[j] = j;
        }
        for (int i = 1; i <= a.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.length(); j++) {
                int replaced = diagonal + (a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(replaced, 1 + Math.min(row[j], row[j - 1]));
            }
        }
        return row[b.length()];
    }
}
