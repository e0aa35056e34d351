package org.brickprofiler.fleet;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.fleet.PackProblem.Kind;
import org.brickprofiler.fleet.ProfileWindow.Head;
import org.brickprofiler.fleet.ProfileWindow.Unreadable;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * Finds windows that belong together and windows that contradict the others, by the heads of their files. The majority
 * decides: a file that disagrees with more than half of the others is left out, and if no more than half agree, all are
 * left out. One thread.
 */
final class PackPlan {

    /** Clocks of one cluster are seconds apart at most; a wrong time zone is an hour. */
    static final long CLOCK_TOLERANCE_MS = 3_600_000L;

    /** Sorts by rank and window, so that neighbours in a file are similar. */
    private static final Comparator<Head> ORDER =
            Comparator.comparingInt(Head::rank).thenComparingLong(Head::window);

    private final List<PackProblem> problems = new ArrayList<>();
    private final SortedMap<String, List<Head>> runs = new TreeMap<>();
    private long identical;

    /**
     * Selects the files to pack.
     *
     * @param heads the heads of all files
     * @param model the model to take; null for that of most files
     * @throws IOException when two files for one window cannot be compared
     * @throws IllegalArgumentException when no model is that of most files
     */
    PackPlan(Collection<Head> heads, @Nullable String model) throws IOException {
        for (Head head : ofOneModel(heads, model)) {
            runs.computeIfAbsent(head.runId(), none -> new ArrayList<>()).add(head);
        }
        for (Map.Entry<String, List<Head>> run : runs.entrySet()) {
            List<Head> files = run.getValue();
            files.sort(ORDER.thenComparing(Head::file));
            // First, so that a file that the others contradict takes no window from a file that they agree with.
            files = ofOneSize(files);
            files = withoutWholes(files);
            files = withoutTwins(files);
            files = withoutOverlaps(files);
            run.setValue(ofOneClock(files));
        }
    }

    /** Returns the files to take, by run, each in order of rank and window. */
    SortedMap<String, List<Head>> runs() {
        return runs;
    }

    /** Returns the number of files that are copies of others. */
    long identical() {
        return identical;
    }

    /** Returns the files that were left out, with the reasons. */
    List<PackProblem> problems() {
        return problems;
    }

    private void leaveOut(Kind kind, Head head, String reason) {
        problems.add(problem(kind, head, reason));
    }

    static PackProblem problem(Kind kind, Head head, String reason) {
        return new PackProblem(
                kind, head.runId(), head.rank(), head.window(), head.file().toString(), reason, 1);
    }

    private List<Head> ofOneModel(Collection<Head> heads, @Nullable String asked) {
        Map<String, Long> models = heads.stream()
                .filter(head -> head.model() != null)
                .collect(Collectors.groupingBy(
                        head -> Objects.requireNonNull(head.model()), TreeMap::new, Collectors.counting()));
        if (models.isEmpty() || (asked == null && models.size() == 1)) {
            return List.copyOf(heads);
        }
        @Nullable String model = asked == null ? ofMost(models) : asked;
        if (model == null || !models.containsKey(model)) {
            String all = models.entrySet().stream()
                    .map(each -> each.getKey() + " (" + Plural.of(each.getValue(), "file") + ")")
                    .collect(Collectors.joining(", "));
            throw new IllegalArgumentException(
                    (model == null ? "no model is that of most files" : "no file is of the model " + model)
                            + "; --model selects one: " + all);
        }
        List<Head> taken = new ArrayList<>();
        for (Head head : heads) {
            if (head.model() == null || head.model().equals(model)) {
                taken.add(head);
            } else {
                leaveOut(Kind.OTHER_MODEL, head, "its model is " + head.model() + ", and the others' " + model);
            }
        }
        return taken;
    }

    /** Returns the value that more than half have; null if there is none. */
    private static <T> @Nullable T ofMost(Map<T, Long> counts) {
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        for (Map.Entry<T, Long> each : counts.entrySet()) {
            if (2 * each.getValue() > all) {
                return each.getKey();
            }
        }
        return null;
    }

    /** Returns one file for each window: copies count once, and of files with different values none is taken. */
    private List<Head> withoutTwins(List<Head> sorted) throws IOException {
        List<Head> taken = new ArrayList<>();
        for (int from = 0; from < sorted.size(); ) {
            int to = from + 1;
            while (to < sorted.size() && ORDER.compare(sorted.get(from), sorted.get(to)) == 0) {
                to++;
            }
            List<Head> different = differentBytes(sorted.subList(from, to));
            if (different.size() > 1) {
                different = differentValues(different);
            }
            if (different.size() == 1) {
                taken.add(different.get(0));
            } else {
                for (Head each : different) {
                    Head other = different.get(each.equals(different.get(0)) ? 1 : 0);
                    leaveOut(
                            Kind.DUPLICATE, each, "it holds the same window as " + other.file() + ", and other values");
                }
            }
            from = to;
        }
        return taken;
    }

    /**
     * Returns the files without the profiles that are no windows, of ranks that have windows: the profile of the whole
     * run has the samples of the windows, too.
     */
    private List<Head> withoutWholes(List<Head> files) {
        Map<Integer, Head> windows = new HashMap<>();
        files.stream().filter(Head::isWindow).forEach(head -> windows.putIfAbsent(head.rank(), head));
        List<Head> taken = new ArrayList<>();
        for (Head head : files) {
            @Nullable Head window = windows.get(head.rank());
            if (head.isWindow() || window == null) {
                taken.add(head);
            } else {
                leaveOut(
                        Kind.DUPLICATE,
                        head,
                        "it is not a window, and its samples may be in the windows of the rank, such as "
                                + window.file());
            }
        }
        return taken;
    }

    /** Returns the files without those of a rank that hold the same steps at the same time as another one. */
    private List<Head> withoutOverlaps(List<Head> files) {
        Map<Head, Head> overlapping = new LinkedHashMap<>();
        files.stream().collect(Collectors.groupingBy(Head::rank)).values().forEach(rank -> {
            List<Head> inTime = new ArrayList<>(rank);
            inTime.sort(Comparator.comparingLong(Head::startMs).thenComparing(Head::file));
            @Nullable Head longest = null;
            for (Head head : inTime) {
                if (longest != null && longest.overlaps(head)) {
                    overlapping.putIfAbsent(longest, head);
                    overlapping.put(head, longest);
                }
                longest = longest == null || head.endMs() > longest.endMs() ? head : longest;
            }
        });
        overlapping.forEach((head, other) ->
                leaveOut(Kind.DUPLICATE, head, "it holds the same steps at the same time as " + other.file()));
        return files.stream().filter(head -> !overlapping.containsKey(head)).toList();
    }

    private List<Head> differentBytes(List<Head> twins) throws IOException {
        List<Head> different = new ArrayList<>();
        for (Head twin : twins) {
            boolean known = false;
            for (int i = 0; i < different.size() && !known; i++) {
                known = Files.mismatch(different.get(i).file(), twin.file()) < 0;
            }
            if (known) {
                identical++;
            } else {
                different.add(twin);
            }
        }
        return different;
    }

    /**
     * Returns the files with different values. A file that is cut off may have a complete head, so all files are read;
     * a file that cannot be read takes no window from another. Files with the same rows for the tables are copies, too,
     * for example if another version wrote one of them. Of such copies, the file with the most known values in its head
     * is taken.
     */
    private List<Head> differentValues(List<Head> twins) throws IOException {
        ProfileWindow reader = new ProfileWindow();
        Map<List<String>, List<Head>> byValues = new LinkedHashMap<>();
        for (Head twin : twins) {
            try {
                reader.read(Files.readAllBytes(twin.file()));
                byValues.computeIfAbsent(reader.values(), none -> new ArrayList<>())
                        .add(twin);
            } catch (Unreadable unreadable) {
                leaveOut(unreadable.kind, twin, String.valueOf(unreadable.getMessage()));
            }
        }
        List<Head> different = new ArrayList<>();
        for (List<Head> alike : byValues.values()) {
            Head most = alike.stream().max(Comparator.comparingInt(Head::known)).orElseThrow();
            for (Head each : alike) {
                if (each.equals(most) || !each.agreesWith(most)) {
                    different.add(each);
                } else {
                    identical++;
                }
            }
        }
        return different;
    }

    private List<Head> ofOneSize(List<Head> files) {
        record Size(int rank, long window, Integer size) {}
        Map<Integer, Long> sizes = files.stream()
                .filter(head -> head.worldSize() != null)
                .map(head -> new Size(head.rank(), head.window(), Objects.requireNonNull(head.worldSize())))
                .distinct()
                .collect(Collectors.groupingBy(Size::size, Collectors.counting()));
        if (sizes.size() < 2) {
            return files;
        }
        @Nullable Integer size = ofMost(sizes);
        List<Head> taken = new ArrayList<>();
        for (Head head : files) {
            if (head.worldSize() == null || head.worldSize().equals(size)) {
                taken.add(head);
            } else {
                leaveOut(
                        Kind.OTHER_WORLD_SIZE,
                        head,
                        "its world_size is " + head.worldSize()
                                + (size == null
                                        ? ", and no other is that of most files"
                                        : ", and the others' " + size));
            }
        }
        return taken;
    }

    /** The time of a rank: its first and its last {@link Head#clockMs}. */
    private static final class TimeRange {
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;

        boolean isNear(long from, long to) {
            return first <= to + CLOCK_TOLERANCE_MS && last >= from - CLOCK_TOLERANCE_MS;
        }
    }

    /**
     * Leaves out the ranks whose clock cannot agree with the others: a rank that ran at another time than most ranks,
     * or that had a window at another time than most of them.
     */
    private List<Head> ofOneClock(List<Head> files) {
        Map<Integer, TimeRange> spans = new HashMap<>();
        for (Head head : files) {
            TimeRange span = spans.computeIfAbsent(head.rank(), none -> new TimeRange());
            span.first = Math.min(span.first, head.clockMs());
            span.last = Math.max(span.last, head.clockMs());
        }
        long from = median(spans.values().stream().map(span -> span.first).toList());
        long to = Math.max(
                from, median(spans.values().stream().map(span -> span.last).toList()));
        SortedMap<Long, List<Head>> windows =
                files.stream().collect(Collectors.groupingBy(Head::window, TreeMap::new, Collectors.toList()));
        Map<Integer, String> apart = new HashMap<>();
        boolean most = 2
                        * spans.values().stream()
                                .filter(span -> span.isNear(from, to))
                                .count()
                > spans.size();
        spans.forEach((rank, span) -> {
            if (!most || !span.isNear(from, to)) {
                apart.put(
                        rank,
                        most
                                ? "its clock is " + hours(aheadMs(rank, span, windows.values(), from, to))
                                        + " those of most ranks"
                                : "the clocks of the ranks are hours apart, and no time is that of most");
            }
        });
        windows.forEach((number, window) -> {
            List<Head> others = without(apart.keySet(), window);
            long usual = median(others.stream().map(Head::clockMs).toList());
            if (isOfMost(others, usual)) {
                others.stream()
                        .filter(head -> !isNear(head, usual))
                        .forEach(head -> apart.put(
                                head.rank(),
                                "its clock is " + hours(head.clockMs() - usual) + " those of most ranks in window "
                                        + number));
            }
        });
        // In a window without a majority, no rank is more credible than another.
        windows.forEach((number, window) -> {
            List<Head> others = without(apart.keySet(), window);
            if (!isOfMost(others, median(others.stream().map(Head::clockMs).toList()))) {
                others.forEach(head -> apart.put(
                        head.rank(),
                        "the clocks of the ranks are hours apart in window " + number
                                + ", and no time is that of most"));
            }
        });
        List<Head> taken = new ArrayList<>();
        for (Head head : files) {
            @Nullable String reason = apart.get(head.rank());
            if (reason == null) {
                taken.add(head);
            } else {
                leaveOut(Kind.CLOCK_APART, head, reason);
            }
        }
        return taken;
    }

    private static List<Head> without(Set<Integer> ranks, List<Head> window) {
        return window.stream().filter(head -> !ranks.contains(head.rank())).toList();
    }

    /** Returns whether a time is that of more than half of some files; true if there are no files. */
    private static boolean isOfMost(List<Head> some, long ms) {
        return some.isEmpty()
                || 2 * some.stream().filter(head -> isNear(head, ms)).count() > some.size();
    }

    private static boolean isNear(Head head, long ms) {
        return Math.abs(head.clockMs() - ms) <= CLOCK_TOLERANCE_MS;
    }

    /**
     * Returns how far a rank's clock is ahead, ms: the median of its distances from the other ranks, over the windows
     * that it shares with them. If the rank shares no window, the result is the smaller of the distances of its first
     * and its last window from those of the others, as the rank may have begun or ended at another time.
     */
    private static long aheadMs(int rank, TimeRange span, Collection<List<Head>> windows, long from, long to) {
        List<Long> shared = new ArrayList<>();
        for (List<Head> window : windows) {
            List<Long> others = window.stream()
                    .filter(head -> head.rank() != rank)
                    .map(Head::clockMs)
                    .toList();
            if (!others.isEmpty()) {
                window.stream()
                        .filter(head -> head.rank() == rank)
                        .forEach(head -> shared.add(head.clockMs() - median(others)));
            }
        }
        if (!shared.isEmpty()) {
            return median(shared);
        }
        return Math.abs(span.first - from) <= Math.abs(span.last - to) ? span.first - from : span.last - to;
    }

    private static String hours(long ms) {
        return Math.round(Math.abs(ms) / 360_000.0) / 10.0 + (ms < 0 ? " h behind" : " h ahead of");
    }

    /** Returns the median, the lower one of two; 0 without values. */
    private static long median(List<Long> values) {
        return values.isEmpty()
                ? 0
                : values.stream()
                        .sorted()
                        .skip((values.size() - 1) / 2)
                        .findFirst()
                        .orElseThrow();
    }

    /**
     * Returns the problem that the ranks from {@code from} to {@code to}, exclusive, are missing; empty if there are
     * none.
     *
     * @param size the number of ranks of the run; null if no file states it, so that only gaps are known
     */
    private static Optional<PackProblem> missingRanks(String runId, int from, int to, @Nullable Integer size) {
        if (from >= to) {
            return Optional.empty();
        }
        String which = to == from + 1 ? "rank " + from + " is" : "the ranks " + from + " to " + (to - 1) + " are";
        return Optional.of(new PackProblem(
                Kind.MISSING_RANK,
                runId,
                from,
                null,
                null,
                which + " missing" + (size == null ? "; no file states the world_size" : " of " + size),
                0));
    }

    /**
     * Returns the missing ranks of a run, and the ranks with missing windows. No data are left out because of them.
     *
     * @param run the accepted files
     * @return the missing parts
     */
    static List<PackProblem> missing(List<Head> run) {
        if (run.isEmpty()) {
            return List.of();
        }
        List<PackProblem> missing = new ArrayList<>();
        String runId = run.get(0).runId();
        SortedMap<Integer, List<Head>> ranks =
                run.stream().collect(Collectors.groupingBy(Head::rank, TreeMap::new, Collectors.toList()));
        @Nullable
        Integer size = run.stream()
                .map(Head::worldSize)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
        int next = 0;
        for (int rank : ranks.keySet()) {
            missingRanks(runId, next, rank, size).ifPresent(missing::add);
            next = rank + 1;
        }
        missingRanks(runId, next, size == null ? next : size, size).ifPresent(missing::add);
        List<Long> all = run.stream().map(Head::window).distinct().sorted().toList();
        ranks.forEach((rank, own) -> {
            if (own.size() < all.size()) {
                HashSet<Long> there =
                        new HashSet<>(own.stream().map(Head::window).toList());
                long first = all.stream()
                        .filter(window -> !there.contains(window))
                        .findFirst()
                        .orElseThrow();
                missing.add(new PackProblem(
                        Kind.MISSING_WINDOWS,
                        runId,
                        rank,
                        null,
                        null,
                        "rank " + rank + " lacks " + (all.size() - own.size()) + " of " + all.size()
                                + " windows, the first is " + first,
                        0));
            }
        });
        return missing;
    }
}
