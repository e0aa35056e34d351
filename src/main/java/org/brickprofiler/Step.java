package org.brickprofiler;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;
import static org.brickprofiler.internal.base.Sums.limited;

import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * One step that {@link Steps} keeps. Immutable.
 *
 * @param index its number, from 0, in the order in which the profiler's steps ended
 * @param startedAtUnixNs its beginning, ns since 1970
 * @param durationNs from its beginning to its end by the host's clock, ns
 * @param info its phase, batch and lengths
 * @param acceptedTokens drafted tokens that were accepted
 * @param categoryNs brick time by category, of all threads, ns; empty if it is unknown, because another step was under
 *     way at the same time or bricks were pending. The sum can exceed the duration, since bricks run on several threads
 *     or inside each other
 */
public record Step(
        long index,
        long startedAtUnixNs,
        long durationNs,
        StepInfo info,
        long acceptedTokens,
        Map<BrickCategory, Long> categoryNs) {

    /**
     * Copies the map, without categories that took no time.
     *
     * @throws IllegalArgumentException when a number is negative
     */
    public Step {
        Objects.requireNonNull(info, "info");
        Objects.requireNonNull(categoryNs, "categoryNs");
        requireNotNegative("index", index);
        requireNotNegative("durationNs", durationNs);
        requireNotNegative("acceptedTokens", acceptedTokens);
        categoryNs = positive(categoryNs);
    }

    /** Returns a sorted copy of the times that are not 0, which cannot be changed. */
    static Map<BrickCategory, Long> positive(Map<BrickCategory, Long> categoryNs) {
        Map<BrickCategory, Long> copy = new EnumMap<>(BrickCategory.class);
        categoryNs.forEach((category, ns) -> {
            requireNotNegative("time of " + category.displayName(), ns);
            if (ns > 0) {
                copy.put(category, ns);
            }
        });
        return Collections.unmodifiableMap(copy);
    }

    /**
     * Returns the tokens that it generated, including accepted drafted ones.
     *
     * @return 0 or more
     */
    public long outputTokens() {
        return limited(info.outputTokens(), acceptedTokens);
    }
}
