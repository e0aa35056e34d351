package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.number;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.percentileCell;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.TextTable;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.trace.LineProfile;

/**
 * The readings of {@code brick top}, and their text for a file or a pipe: the activity of the last {@value #LONGEST_MS}
 * ms, as the difference between two readings. After a reset of the profiler, a new window begins. Not thread-safe.
 */
final class TopWindow {

    /** The length of the window once enough time has passed, ms. */
    static final long LONGEST_MS = 10_000;

    static final String BEGINS = "The window begins now: there is no earlier reading, or the profiler was reset.\n";

    private static final int BRICKS = 5;
    private static final int OLDEST = 3;

    /** The number of bricks whose hottest line is shown of each of several replicas. */
    private static final int BRICKS_WITH_LINES = 3;

    private static final double MS_PER_S = 1e3;
    private static final double NS_PER_MS = 1e6;

    /** The readings of the window and of the one before it, the oldest first. */
    private final List<TopReading> readings;

    private record Latency(String name, LatencyDistribution times) {}

    /**
     * The activity of a window. Immutable.
     *
     * @param sums the sums of the window
     * @param before the sums of the window before it; empty until there was a whole one
     * @param parts the sums between two readings, of both windows, the oldest first
     * @param latest the latest reading
     */
    record Activity(TopReading sums, Optional<TopReading> before, List<TopReading> parts, TopReading latest) {

        Activity {
            parts = List.copyOf(parts);
        }

        /** Returns the length of the window, s. */
        double seconds() {
            return seconds(sums);
        }

        /** Returns the length of a window, s. */
        static double seconds(TopReading window) {
            return (window.endedMs() - window.startedMs()) / MS_PER_S;
        }

        /** Returns the time of all bricks, ns. */
        long allNs() {
            return sums.bricks().values().stream()
                    .mapToLong(TopReading.Brick::ns)
                    .sum();
        }

        /** Returns the bricks that recorded in the window, the largest first. */
        List<TopReading.Brick> bricks() {
            return sums.bricks().values().stream()
                    .filter(brick -> brick.count() > 0)
                    .sorted(Comparator.comparingLong(TopReading.Brick::ns)
                            .reversed()
                            .thenComparing(TopReading.Brick::name))
                    .toList();
        }

        /** Returns the words on the length of the window. */
        String lengthText() {
            return "last " + number(seconds()) + " s" + (sums.wallNs() == 0 ? ", in which the profiler was off" : "");
        }

        /**
         * Returns the requests.
         *
         * @param columns the width that no line of the table exceeds
         */
        String requestsText(int columns) {
            TopReading.Requests requests = sums.requests();
            if (!latest.requests().areAnnounced()) {
                return "Requests: the engine announces none.\n";
            }
            return "Requests: " + requests.running() + " running, " + requests.waiting() + " waiting; "
                    + number(requests.arrived() / seconds()) + " arrived and "
                    + number(requests.finished() / seconds()) + " finished per second.\n"
                    + RequestFields.countedFromText(requests.countedFrom()) + "\n"
                    + new TextTable<Latency>()
                            .left("latency", Latency::name, "")
                            .right("p50", each -> percentileCell(each.times(), 50), "")
                            .right("p90", each -> percentileCell(each.times(), 90), "")
                            .right("p99", each -> percentileCell(each.times(), 99), "")
                            .right("max within 1 %", each -> percentileCell(each.times(), 100), "")
                            .right("of", each -> count(each.times().count()), "")
                            .render(
                                    List.of(
                                            new Latency("time to first token", requests.firstToken()),
                                            new Latency("time per output token", requests.perToken())),
                                    columns,
                                    List.of("p99", "p50", "of", "p90", "max within 1 %"))
                    + slowestText(requests.slowest())
                    + oldestText(requests.oldest());
        }

        private static String slowestText(List<TopReading.Request> slowest) {
            return slowest.isEmpty()
                    ? ""
                    : "Slowest first token since the last reset: "
                            + slowest.get(0).text("") + ".\n";
        }

        private static String oldestText(List<TopReading.Request> oldest) {
            return oldest.isEmpty()
                    ? ""
                    : oldest.stream()
                            .limit(OLDEST)
                            .map(each -> each.text(each.isRunning() ? ", running" : ", waiting"))
                            .collect(Collectors.joining("; ", "Oldest live requests, time since arrival: ", ".\n"));
        }

        /**
         * Returns the steps by phase.
         *
         * @param columns the width that no line exceeds
         */
        String phasesText(int columns) {
            List<Map.Entry<String, TopReading.Phase>> shown = sums.phases().entrySet().stream()
                    .filter(each -> each.getValue().count() > 0)
                    .toList();
            double seconds = seconds();
            return shown.isEmpty()
                    ? "Steps: none ended.\n"
                    : new TextTable<Map.Entry<String, TopReading.Phase>>()
                            .left("phase", Map.Entry::getKey, "")
                            .right("steps/s", each -> rateCell(each.getValue().count() / seconds), "")
                            .right(
                                    "prompt tokens/s",
                                    each -> rateCell(each.getValue().promptTokens() / seconds),
                                    "")
                            .right(
                                    "output tokens/s",
                                    each -> rateCell(each.getValue().outputTokens() / seconds),
                                    "")
                            .right(
                                    "% of time",
                                    each -> percent(each.getValue().wallNs() / NS_PER_MS / MS_PER_S / seconds * 100),
                                    "")
                            .render(
                                    shown,
                                    columns,
                                    List.of("output tokens/s", "prompt tokens/s", "steps/s", "% of time"));
        }

        /** Returns what is under way; empty if nothing is. */
        String progressText() {
            return TopWindow.progressText(latest);
        }

        /**
         * Returns the hottest lines of bricks since the last reset; of several replicas, the hottest line of each.
         *
         * @param bricks the bricks
         * @return empty if no lines are kept
         */
        String linesText(List<TopReading.Brick> bricks) {
            List<String> names =
                    bricks.stream().map(TopReading.Brick::name).distinct().toList();
            StringBuilder text = new StringBuilder();
            latest.lines()
                    .forEach((replica, lines) -> text.append(
                            replica.equals(TopReading.ONLY_ONE)
                                    ? lines.text(names)
                                    : linesOfReplica(replica, lines, names)));
            return text.isEmpty() ? "" : PlainText.visible("Lines of bricks since the last reset\n" + text);
        }

        private static String linesOfReplica(String replica, LineProfile lines, List<String> names) {
            return Stream.of(
                            lines.missing().map(reason -> "samples are missing: " + reason).stream(),
                            lines.doubt().map(reason -> "methods and lines may be wrong: " + reason).stream(),
                            names.stream()
                                    .limit(BRICKS_WITH_LINES)
                                    .flatMap(brick ->
                                            lines.hottestLine(brick).map(line -> brick + ": " + line).stream()))
                    .flatMap(sentences -> sentences)
                    .map(sentence -> "  " + replica + ", " + sentence + ".\n")
                    .collect(Collectors.joining());
        }

        /** Returns the lines on all bricks. */
        String allText() {
            List<TopReading.OfDevice> devices = sums.bricks().values().stream()
                    .filter(brick -> brick.count() > 0)
                    .map(TopReading.Brick::device)
                    .toList();
            long untimed = devices.stream().filter(device -> !device.isTimed()).count();
            boolean isNet = devices.stream().anyMatch(device -> device.marksNs().isPresent());
            return "All bricks: " + duration(allNs() / seconds()) + " a second, over all threads.\n"
                    + (isNet
                            ? "Totals, shares and means are net where it is known what the marks of devices add.\n"
                            : "")
                    + (untimed == 0
                            ? ""
                            : "?: no time is known of " + Plural.of(untimed, "brick") + ", and none is in the sum,"
                                    + " since no new sample had marks, or one corrected an estimate.\n");
        }
    }

    TopWindow() {
        this(new ArrayList<>());
    }

    private TopWindow(List<TopReading> readings) {
        this.readings = readings;
    }

    /** Returns a window with the same readings, to which later ones are not added. */
    TopWindow copy() {
        return new TopWindow(new ArrayList<>(readings));
    }

    /**
     * Adds a reading.
     *
     * @return whether it continues the readings before it; false for the first one, and after a reset
     */
    boolean add(TopReading reading) {
        boolean continues = !readings.isEmpty() && reading.continues(readings.get(readings.size() - 1));
        if (!continues) {
            readings.clear();
        }
        readings.add(reading);
        readings.subList(0, beginOf(beginOf(readings.size() - 1))).clear();
        return continues;
    }

    /**
     * Returns the reading at which a window begins: the latest one that is as old as a window is long, else the oldest
     * one.
     *
     * @param end the reading at its end
     */
    private int beginOf(int end) {
        int begin = Math.max(0, end - 1);
        while (begin > 0 && readings.get(end).endedMs() - readings.get(begin).endedMs() < LONGEST_MS) {
            begin--;
        }
        return begin;
    }

    /** Returns the activity of the window; empty before the second reading. */
    Optional<Activity> activity() {
        int last = readings.size() - 1;
        if (last < 1) {
            return Optional.empty();
        }
        TopReading latest = readings.get(last);
        TopReading begin = readings.get(beginOf(last));
        TopReading earliest = readings.get(0);
        List<TopReading> parts = new ArrayList<>();
        for (int i = 1; i <= last; i++) {
            parts.add(readings.get(i).since(readings.get(i - 1)));
        }
        boolean hasBefore = begin.endedMs() - earliest.endedMs() >= LONGEST_MS;
        return Optional.of(new Activity(
                latest.since(begin), hasBefore ? Optional.of(begin.since(earliest)) : Optional.empty(), parts, latest));
    }

    /** Returns the text. Empty lines separate its parts, and each line ends with {@code "\n"}. */
    String render() {
        return activity().map(TopWindow::render).orElseGet(this::beginsText);
    }

    /** Returns the text before the second reading, with what is under way at the first one. */
    String beginsText() {
        return BEGINS + (readings.isEmpty() ? "" : progressText(readings.get(readings.size() - 1)));
    }

    private static String progressText(TopReading reading) {
        return reading.progress().stream()
                .map(line -> PlainText.visible(line) + "\n")
                .collect(Collectors.joining());
    }

    private static String render(Activity now) {
        String progress = now.progressText();
        return "The " + now.lengthText() + "\n\n"
                + (progress.isEmpty() ? "" : progress + "\n")
                + now.requestsText(Integer.MAX_VALUE) + "\n"
                + now.phasesText(Integer.MAX_VALUE) + "\n"
                + bricks(now);
    }

    private static String bricks(Activity now) {
        List<TopReading.Brick> largest = now.bricks().stream().limit(BRICKS).toList();
        if (largest.isEmpty()) {
            return "Bricks: none were recorded.\n";
        }
        String lines = now.linesText(largest);
        return new TextTable<TopReading.Brick>()
                        .left("brick", TopReading.Brick::name, "")
                        .left("category", TopReading.Brick::category, "")
                        .right(
                                "% of brick time",
                                brick -> brick.cell(percent(100.0 * brick.ns() / Math.max(1, now.allNs()))), "")
                        .right("samples/s", brick -> rateCell(brick.count() / now.seconds()), "")
                        .right("avg", brick -> brick.cell(durationCell((double) brick.ns() / brick.count())), "")
                        .render(largest)
                + now.allText()
                + (lines.isEmpty() ? "" : "\n" + lines);
    }
}
