package org.brickprofiler.fleet;

import static org.brickprofiler.report.internal.HumanUnits.count;

import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.fleet.FleetQuestion.Row;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.internal.base.Sums;

/**
 * The ranks whose figures are incomplete, as their bricks lack measurements without a known time, and those whose times
 * are estimates. Made of the answer to {@link FleetQuestion#LOSSES}. Immutable; any thread.
 */
final class IncompleteRanks {

    /** The most ranks that a sentence lists. */
    private static final int MOST_NAMED = 8;

    /** The share of pending measurements that is usual, %: the next window would contain them. */
    private static final int USUAL_PENDING_PERCENT = 1;

    /**
     * The measurements that the bricks of a rank lack.
     *
     * @param samples the samples that they have
     * @param unresolved measurements of which the device gave no time
     * @param dropped measurements that found their queue full
     * @param pending measurements whose end was not known when the last window of the rank ended
     * @param windows the windows of the rank
     * @param untested the windows that lack too much for a test
     * @param estimated the windows whose times are estimates
     */
    record Rank(
            String run,
            long number,
            long samples,
            long unresolved,
            long dropped,
            long pending,
            long windows,
            long untested,
            long estimated) {

        static Rank of(Row row) {
            return new Rank(
                    row.text("run_id"),
                    row.number("rank"),
                    row.number("samples"),
                    row.ifNumber("unresolved").orElse(0),
                    row.ifNumber("dropped").orElse(0),
                    row.ifNumber("pending").orElse(0),
                    row.number("windows"),
                    row.number("untested"),
                    row.number("estimated"));
        }

        /** Returns the number of measurements that are missing from its figures. */
        long missing() {
            long lost = Sums.limited(unresolved, dropped);
            return isPendingUsual() ? lost : Sums.limited(lost, pending);
        }

        private boolean isPendingUsual() {
            return (100.0 - USUAL_PENDING_PERCENT) * pending <= (double) USUAL_PENDING_PERCENT * samples;
        }

        /** Returns the share of its measurements that are missing, %. */
        double missingPercent() {
            return 100.0 * missing() / ((double) samples + missing());
        }
    }

    private final List<Rank> ranks;
    private final List<Rank> estimated;
    private final Set<List<Object>> incompleteNames = new HashSet<>();
    private final Set<List<Object>> estimatedNames = new HashSet<>();

    /**
     * Selects the ranks that lack measurements.
     *
     * @param rows a row for each rank of the fleet
     */
    IncompleteRanks(List<Row> rows) {
        List<Rank> all = rows.stream().map(Rank::of).toList();
        ranks = all.stream()
                .filter(rank -> rank.missing() > 0)
                .sorted(Comparator.comparingDouble(Rank::missingPercent)
                        .reversed()
                        .thenComparing(Rank::run)
                        .thenComparing(Rank::number))
                .toList();
        estimated = all.stream().filter(rank -> rank.estimated() > 0).toList();
        ranks.forEach(rank -> incompleteNames.add(List.of(rank.run(), rank.number())));
        estimated.forEach(rank -> estimatedNames.add(List.of(rank.run(), rank.number())));
    }

    /** Returns the ranks that lack measurements, the one with the largest share first. */
    List<Rank> ranks() {
        return ranks;
    }

    /** Returns whether a rank lacks measurements. */
    boolean isIncomplete(String run, long rank) {
        return incompleteNames.contains(List.of(run, rank));
    }

    /** Returns whether times of a rank are estimates. */
    boolean isEstimated(String run, long rank) {
        return estimatedNames.contains(List.of(run, rank));
    }

    /** Returns whether times of any rank are estimates. */
    boolean hasEstimates() {
        return !estimated.isEmpty();
    }

    /**
     * Returns the reasons to doubt the figures of the ranks, one sentence each.
     *
     * @param name the name of a rank in the tables of the report
     * @param withoutPercentiles the number of bricks whose percentiles would be estimates
     */
    List<String> remarks(Function<Rank, String> name, long withoutPercentiles) {
        return Stream.of(
                        named(
                                        ranks,
                                        rank -> name.apply(rank) + " lacks " + count(rank.missing()) + " of "
                                                + count(Sums.limited(rank.samples(), rank.missing())) + " ("
                                                + String.format(Locale.ROOT, "%.1f", rank.missingPercent()) + " %)")
                                .map(list -> "Measurements without a known time are missing from the counts, times and"
                                        + " shares of the ranks that ! marks: " + list + "."),
                        named(
                                        ranks.stream()
                                                .filter(rank -> rank.untested() > 0)
                                                .toList(),
                                        rank -> name.apply(rank) + " has " + count(rank.untested()) + " of "
                                                + count(rank.windows()))
                                .map(list ->
                                        "Windows in which more than 1 % of a brick's measurements are unresolved, or"
                                                + " one was dropped, are not tested for stragglers: " + list + "."),
                        named(
                                        estimated,
                                        rank -> name.apply(rank) + " has " + count(rank.estimated()) + " of "
                                                + count(rank.windows()))
                                .map(list -> "Windows of deviceSampling have estimated times, which ~ precedes. They"
                                        + " are not tested for stragglers, and "
                                        + Plural.of(withoutPercentiles, "brick has", "bricks have")
                                        + " no percentiles: " + list + "."))
                .flatMap(Function.identity())
                .toList();
    }

    private static Stream<String> named(List<Rank> some, Function<Rank, String> words) {
        return some.isEmpty()
                ? Stream.empty()
                : Stream.of(some.stream().limit(MOST_NAMED).map(words).collect(Collectors.joining(", "))
                        + (some.size() > MOST_NAMED
                                ? ", and " + Plural.of(some.size() - MOST_NAMED, "more rank")
                                : ""));
    }
}
