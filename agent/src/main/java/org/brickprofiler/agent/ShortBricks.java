package org.brickprofiler.agent;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.brickprofiler.BrickStats;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * Finds the bricks with many samples that last less than a bound on average, since timing them would cost too much.
 * Each look considers only the samples since the previous look, because a method's first calls run before it is
 * compiled. Each brick is dropped once: a method that began before goes on recording it until it returns. One thread
 * looks; any thread may read the names.
 */
final class ShortBricks {

    /** The number of samples between two looks below which the cost of timing them is ignored. */
    private static final long FEWEST = 1_000;

    private static final String SETTING = "shortest_ns";

    private final long shortestNs;
    private final Supplier<List<BrickStats>> bricks;
    private final Consumer<Set<String>> drop;
    private final Consumer<String> goesOn;
    private final Set<String> dropped = ConcurrentHashMap.newKeySet();
    private final Map<String, BrickStats> before = new HashMap<>();

    /**
     * Creates a watch over bricks.
     *
     * @param shortestNs the bound, ns
     * @param bricks returns the stats of all bricks
     * @param drop drops the bricks with the given names, which are too short; must also discard the samples so far
     * @param goesOn receives the name of a dropped brick at each look at which it still has short samples
     */
    ShortBricks(
            long shortestNs, Supplier<List<BrickStats>> bricks, Consumer<Set<String>> drop, Consumer<String> goesOn) {
        this.shortestNs = shortestNs;
        this.bricks = bricks;
        this.drop = drop;
        this.goesOn = goesOn;
    }

    /**
     * Returns the bound that {@code brick.profiler.shortest_ns} sets.
     *
     * @param text the setting; null if it is not set
     * @return ns; 0 for none
     * @throws IllegalArgumentException when it is not a number
     */
    static long bound(@Nullable String text) {
        if (text == null) {
            return 0;
        }
        if (!text.strip().matches("\\d{1,9}")) {
            throw new IllegalArgumentException(
                    "brick.profiler." + SETTING + ": '" + text + "' is not a number of nanoseconds");
        }
        return Long.parseLong(text.strip());
    }

    /** Returns the setting; null if it is not set. */
    static @Nullable String setting() {
        return Settings.ofProfiler(SETTING);
    }

    /** Returns whether a brick was dropped, by its name. */
    boolean hasDropped(String brick) {
        return dropped.contains(brick);
    }

    /** Drops the bricks that are too short now. */
    void look() {
        Set<String> tooShort = new LinkedHashSet<>();
        for (BrickStats now : bricks.get()) {
            BrickStats last = before.get(now.name());
            long count = now.count() - (last == null ? 0 : last.count());
            long ns = now.totalNs() - (last == null ? 0 : last.totalNs());
            before.put(now.name(), now);
            if (count >= FEWEST && ns < shortestNs * count) {
                if (dropped.add(now.name())) {
                    tooShort.add(now.name());
                } else {
                    goesOn.accept(now.name());
                }
            }
        }
        if (!tooShort.isEmpty()) {
            drop.accept(tooShort);
            before.clear();
        }
    }
}
