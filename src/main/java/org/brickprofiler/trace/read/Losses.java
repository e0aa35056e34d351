package org.brickprofiler.trace.read;

import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/** Counts what a timeline has no place for. One thread. */
final class Losses {

    /** Arguments of more names are counted together. */
    private static final int MOST_ARGUMENTS = 256;

    private final Map<Loss, Long> counts = new EnumMap<>(Loss.class);
    private final Map<String, Long> arguments = new HashMap<>();

    void add(Loss loss) {
        add(loss, 1);
    }

    void add(Loss loss, long count) {
        if (count > 0) {
            counts.merge(loss, count, Long::sum);
        }
    }

    void argument(String key) {
        add(Loss.ARGUMENT);
        boolean apart = arguments.containsKey(key) || arguments.size() < MOST_ARGUMENTS;
        arguments.merge(apart ? key : TimelineReading.OTHER_ARGUMENTS, 1L, Long::sum);
    }

    Map<Loss, Long> counts() {
        return counts;
    }

    /** The most frequent first. */
    Map<String, Long> arguments() {
        Map<String, Long> sorted = new LinkedHashMap<>();
        arguments.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .forEach(entry -> sorted.put(entry.getKey(), entry.getValue()));
        return sorted;
    }
}
