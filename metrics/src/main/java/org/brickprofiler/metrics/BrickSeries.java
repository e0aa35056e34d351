package org.brickprofiler.metrics;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.CategoryStats;
import org.brickprofiler.ProfileSnapshot;

/**
 * Sums by brick for metrics systems that keep a time series for each combination of labels, and therefore need a
 * limited number of combinations. A brick that has received a series keeps it. When the limit is reached, all further
 * bricks of a category share the series {@value BrickProfiler#OTHER_NAMES}, so that the sums by category stay exact.
 * Any thread; readers wait for each other.
 */
public final class BrickSeries {

    /** The default limit of the number of bricks with a series of their own. */
    public static final int DEFAULT_MOST = 256;

    /** The phase of samples outside of steps, or whose step is not known. */
    public static final String NO_PHASE = "none";

    private final int most;
    private final Set<Labels> own = new HashSet<>();

    /**
     * The labels that distinguish a series. Immutable.
     *
     * @param brick the brick's name
     * @param category its category
     */
    public record Labels(String brick, BrickCategory category) {}

    /**
     * Creates an object in which no brick has a series yet.
     *
     * @param most the largest number of bricks with a series of their own, 0 or more
     * @throws IllegalArgumentException when the number is negative
     */
    public BrickSeries(int most) {
        if (most < 0) {
            throw new IllegalArgumentException("at most " + most + " bricks with a series of their own: 0 or more");
        }
        this.most = most;
    }

    /**
     * Returns the sums of each series. New bricks with the most time get the remaining series.
     *
     * @param snapshot a snapshot, always of the same profiler
     * @return the sums by series, for the bricks of the snapshot; a new map, which the caller may change
     */
    public synchronized Map<Labels, CategoryStats> sums(ProfileSnapshot snapshot) {
        Map<Labels, CategoryStats> sums = new LinkedHashMap<>();
        for (BrickStats brick : snapshot.bricks()) {
            sums.merge(labels(brick), CategoryStats.of(brick), CategoryStats::plus);
        }
        return sums;
    }

    /**
     * Returns the sums of each series by the phase of the steps. A brick has the same series in each phase.
     *
     * @param snapshot a snapshot, always of the same profiler
     * @return the sums by phase in lower case, and those of samples outside of steps, or whose step is not known, by
     *     {@value #NO_PHASE}; of all phases together, the sums of {@link #sums}
     */
    public synchronized Map<String, Map<Labels, CategoryStats>> sumsByPhase(ProfileSnapshot snapshot) {
        Map<Labels, CategoryStats> rest = sums(snapshot);
        Map<String, Map<Labels, CategoryStats>> all = new LinkedHashMap<>();
        snapshot.phases().forEach((phase, bricks) -> {
            Map<Labels, CategoryStats> sums = new LinkedHashMap<>();
            for (BrickStats brick : bricks) {
                CategoryStats part = CategoryStats.of(brick);
                Labels labels = labels(brick);
                sums.merge(labels, part, CategoryStats::plus);
                rest.merge(labels, part, BrickSeries::minus);
            }
            all.put(phase.displayName(), sums);
        });
        rest.values().removeIf(sum -> sum.count() == 0 && sum.totalNs() == 0);
        if (!rest.isEmpty()) {
            all.put(NO_PHASE, rest);
        }
        return all;
    }

    private static CategoryStats minus(CategoryStats whole, CategoryStats part) {
        double wholeNs = whole.standardErrorNs();
        double partNs = part.standardErrorNs();
        return new CategoryStats(
                whole.totalNs() - part.totalNs(),
                whole.totalElements() - part.totalElements(),
                whole.count() - part.count(),
                whole.unmarked() - part.unmarked(),
                Math.sqrt(Math.max(0, wholeNs * wholeNs - partNs * partNs)),
                whole.degreesOfFreedom(),
                whole.netOrTotalNs() - part.netOrTotalNs());
    }

    private Labels labels(BrickStats brick) {
        Labels labels = new Labels(encodable(brick.name()), brick.category());
        boolean hasOwn = own.contains(labels) || (own.size() < most && own.add(labels));
        return hasOwn ? labels : new Labels(BrickProfiler.OTHER_NAMES, brick.category());
    }

    /**
     * Returns a name as UTF-8 can write it: half a surrogate pair becomes a question mark. Names that differ in nothing
     * else share a series; otherwise they would be one series with two values.
     */
    private static String encodable(String name) {
        for (int i = 0; i < name.length(); i++) {
            if (Character.isSurrogate(name.charAt(i))) {
                return new String(name.getBytes(UTF_8), UTF_8);
            }
        }
        return name;
    }
}
