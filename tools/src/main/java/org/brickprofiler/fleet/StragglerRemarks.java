package org.brickprofiler.fleet;

import static org.brickprofiler.fleet.Stragglers.FEWEST_DRIFT_WINDOWS;
import static org.brickprofiler.fleet.Stragglers.FEWEST_PEERS;
import static org.brickprofiler.fleet.Stragglers.FEWEST_WINDOWS;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.fleet.StragglerSearch.Peers;
import org.brickprofiler.fleet.StragglerSearch.Rank;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.HumanUnits;

/** Writes the remarks on a search for stragglers: the ranks that were not tested, and the reason. One thread. */
final class StragglerRemarks {

    /** The most ranks that a remark lists. */
    private static final int MOST_NAMED = 8;

    private final List<String> remarks = new ArrayList<>();

    /** Returns the sentences in the order in which they were added. */
    List<String> all() {
        return remarks;
    }

    /**
     * Remarks on the ranks of each run, before any test.
     *
     * @param peers the ranks with enough windows for a test
     * @param brief the ranks with too few windows
     */
    void add(Map<Peers, List<Rank>> peers, Map<Peers, List<Rank>> brief) {
        Map<String, List<Peers>> runs = Stream.concat(peers.keySet().stream(), brief.keySet().stream())
                .distinct()
                .sorted(Peers.ORDER)
                .collect(Collectors.groupingBy(Peers::run, TreeMap::new, Collectors.toList()));
        List<String> alone = runs.entrySet().stream()
                .filter(entry -> entry.getValue().stream()
                                .mapToInt(group -> ranks(peers, group) + ranks(brief, group))
                                .sum()
                        == 1)
                .map(Map.Entry::getKey)
                .toList();
        if (alone.size() > 1) {
            remarks.add(Plural.of(alone.size(), "run") + " have one rank each, so these ranks have no peers. If they"
                    + " belong to one run, give all of them the same BRICK_PROFILER_RUN_ID.");
            runs.keySet().removeAll(alone);
        }
        runs.forEach((run, groups) -> {
            List<Map.Entry<Peers, List<Rank>>> computing = peers.entrySet().stream()
                    .filter(entry -> entry.getKey().run().equals(run))
                    .toList();
            if (computing.size() > 1) {
                remarks.add(devices(run, computing));
            }
            groups.forEach(group ->
                    remark(named(group), peers.getOrDefault(group, List.of()), brief.getOrDefault(group, List.of())));
        });
    }

    private static int ranks(Map<Peers, List<Rank>> some, Peers group) {
        return some.getOrDefault(group, List.of()).size();
    }

    private static String devices(String run, List<Map.Entry<Peers, List<Rank>>> groups) {
        String each = groups.stream()
                .map(group -> String.format(
                        Locale.ROOT,
                        "%s of %s, which %s for %s a step",
                        Plural.of(group.getValue().size(), "rank"),
                        deviceName(group.getKey().device()),
                        group.getValue().size() == 1 ? "computes" : "compute",
                        HumanUnits.duration(RobustStatistics.median(group.getValue().stream()
                                .mapToDouble(Rank::computeNs)
                                .toArray()))))
                .collect(Collectors.joining(", and "));
        return "Run " + run + " has several kinds of device: " + each
                + ". That is no straggler; each rank is compared with " + "those of its kind.";
    }

    private static String deviceName(String device) {
        return device.isEmpty() ? "a device that is not known" : device;
    }

    private void remark(String which, List<Rank> lasting, List<Rank> others) {
        List<Rank> group = Stream.concat(lasting.stream(), others.stream()).toList();
        int most = group.stream().mapToInt(Rank::windows).max().orElse(0);
        if (group.size() < FEWEST_PEERS) {
            remarks.add(which + ": " + Plural.of(group.size(), "rank") + " cannot show an outlier; the test needs "
                    + FEWEST_PEERS + ".");
        } else if (most < FEWEST_WINDOWS) {
            remarks.add(which + ": " + Plural.of(most, "window") + " cannot show a lasting difference; the test needs "
                    + FEWEST_WINDOWS + ".");
        } else if (!others.isEmpty()) {
            remarks.add(which + ": " + Plural.of(others.size(), "rank") + " with fewer than " + FEWEST_WINDOWS
                    + " windows in which it computed cannot be tested: " + windowsOf(others) + "."
                    + (StragglerSearch.isTested(lasting)
                            ? ""
                            : " The other " + Plural.of(lasting.size(), "rank")
                                    + " cannot show an outlier; the test needs " + FEWEST_PEERS + "."));
        }
        if (StragglerSearch.isTested(lasting) && most < FEWEST_DRIFT_WINDOWS) {
            remarks.add(which + ": " + Plural.of(most, "window") + " cannot show a drift; the test needs "
                    + FEWEST_DRIFT_WINDOWS + ".");
        }
        long without = group.stream().filter(rank -> rank.windows() == 0).count();
        if (without > 0) {
            remarks.add(which + ": " + Plural.of(without, "rank")
                    + " computed in no window, has windows without steps although other ranks of the run have steps, or"
                    + " lacks measurements or has estimated times in all windows.");
        }
        List<Rank> lacking = group.stream()
                .filter(rank -> rank.windows() > 0 && rank.windows() < most)
                .toList();
        if (!lacking.isEmpty()) {
            Rank least =
                    lacking.stream().min(Comparator.comparingInt(Rank::windows)).orElseThrow();
            remarks.add(which + ": " + Plural.of(lacking.size(), "rank") + (lacking.size() == 1 ? " has" : " have")
                    + " fewer windows that can be tested, the fewest of them rank " + least.number() + " with "
                    + least.windows() + " of " + most + ".");
        }
        if (!lasting.isEmpty()
                && lasting.stream().allMatch(rank -> rank.lateNs().isEmpty())) {
            remarks.add(which + ": no collectives were recorded, so the cost of a straggler is unknown.");
        }
    }

    /** Lists the first ranks, each with its number of windows. */
    private static String windowsOf(List<Rank> some) {
        return some.stream()
                        .sorted(Comparator.comparingInt(Rank::number))
                        .limit(MOST_NAMED)
                        .map(rank -> "rank " + rank.number() + " has " + rank.windows())
                        .collect(Collectors.joining(", "))
                + (some.size() > MOST_NAMED ? ", …" : "");
    }

    /**
     * Remarks that peers were not tested, because their windows are disturbed.
     *
     * @param bricks the number of bricks in which a quarter or more of the windows are disturbed
     */
    void addDisturbed(Peers key, int bricks) {
        remarks.add(named(key) + ": a quarter or more of the windows of its ranks are disturbed in "
                + Plural.of(bricks, "brick")
                + ", so that the test for stragglers does not apply: none was looked for.");
    }

    private static String named(Peers key) {
        return "Run " + key.run() + (key.device().isEmpty() ? "" : ", " + key.device());
    }
}
