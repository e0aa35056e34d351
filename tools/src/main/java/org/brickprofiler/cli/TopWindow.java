package org.brickprofiler.cli;

import static org.brickprofiler.report.internal.HumanUnits.count;
import static org.brickprofiler.report.internal.HumanUnits.duration;
import static org.brickprofiler.report.internal.HumanUnits.durationCell;
import static org.brickprofiler.report.internal.HumanUnits.number;
import static org.brickprofiler.report.internal.HumanUnits.percent;
import static org.brickprofiler.report.internal.HumanUnits.percentileCell;
import static org.brickprofiler.report.internal.HumanUnits.rateCell;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import org.brickprofiler.report.internal.RequestFields;
import org.brickprofiler.report.internal.TextTable;
import org.brickprofiler.stats.LatencyDistribution;

/**
 * Renders the text of {@code brick top}: the activity of the last {@value #LONGEST_MS} ms, as the difference between
 * two readings. After a reset of the profiler, a new window begins. Not thread-safe.
 */
final class TopWindow {

    /** The length of the window once enough time has passed, ms. */
    static final long LONGEST_MS = 10_000;

    private static final int BRICKS = 5;
    private static final double MS_PER_S = 1e3;
    private static final double NS_PER_MS = 1e6;

    /** The readings of the window, the oldest first; the first may be a little older than the window. */
    private final Deque<TopReading> readings = new ArrayDeque<>();

    private record Latency(String name, LatencyDistribution times) {}

    /**
     * Adds a reading.
     *
     * @return whether it continues the readings before it; false for the first one, and after a reset
     */
    boolean add(TopReading reading) {
        boolean continues = !readings.isEmpty() && reading.continues(readings.getLast());
        if (!continues) {
            readings.clear();
        }
        readings.add(reading);
        while (readings.size() > 2 && reading.endedMs() - second().endedMs() >= LONGEST_MS) {
            readings.remove();
        }
        return continues;
    }

    private TopReading second() {
        var all = readings.iterator();
        all.next();
        return all.next();
    }

    /** Returns the text. Empty lines separate its parts, and each line ends with {@code "\n"}. */
    String render() {
        if (readings.size() < 2) {
            return "The window begins now: there is no earlier reading, or the profiler was reset.\n";
        }
        TopReading now = readings.getLast().since(readings.getFirst());
        double seconds = (now.endedMs() - now.startedMs()) / MS_PER_S;
        StringBuilder text = new StringBuilder("The last ")
                .append(number(seconds))
                .append(" s")
                .append(now.wallNs() == 0 ? ", in which the profiler was off" : "")
                .append("\n\n");
        requests(text, now.requests(), seconds);
        phases(text, now.phases(), seconds);
        bricks(text, now, seconds);
        return text.toString();
    }

    private void requests(StringBuilder text, TopReading.Requests requests, double seconds) {
        if (!readings.getLast().requests().areAnnounced()) {
            text.append("Requests: the engine announces none.\n\n");
            return;
        }
        text.append("Requests: ")
                .append(requests.running())
                .append(" running, ")
                .append(requests.waiting())
                .append(" waiting; ")
                .append(number(requests.arrived() / seconds))
                .append(" arrived and ")
                .append(number(requests.finished() / seconds))
                .append(" finished per second.\n")
                .append(RequestFields.countedFromText(requests.countedFrom()))
                .append('\n');
        text.append(new TextTable<Latency>()
                        .left("latency", Latency::name, "")
                        .right("p50", each -> percentileCell(each.times(), 50), "")
                        .right("p90", each -> percentileCell(each.times(), 90), "")
                        .right("p99", each -> percentileCell(each.times(), 99), "")
                        .right("max within 1 %", each -> percentileCell(each.times(), 100), "")
                        .right("of", each -> count(each.times().count()), "")
                        .render(List.of(
                                new Latency("time to first token", requests.firstToken()),
                                new Latency("time per output token", requests.perToken()))))
                .append('\n');
    }

    private static void phases(StringBuilder text, Map<String, TopReading.Phase> phases, double seconds) {
        List<Map.Entry<String, TopReading.Phase>> shown = phases.entrySet().stream()
                .filter(each -> each.getValue().count() > 0)
                .toList();
        if (shown.isEmpty()) {
            text.append("Steps: none ended.\n\n");
            return;
        }
        text.append(new TextTable<Map.Entry<String, TopReading.Phase>>()
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
                                each -> percent(each.getValue().wallNs() / NS_PER_MS / MS_PER_S / seconds * 100), "")
                        .render(shown))
                .append('\n');
    }

    private static void bricks(StringBuilder text, TopReading now, double seconds) {
        long allNs = now.bricks().values().stream()
                .mapToLong(TopReading.Brick::totalNs)
                .sum();
        List<TopReading.Brick> largest = now.bricks().values().stream()
                .filter(brick -> brick.count() > 0)
                .sorted(Comparator.comparingLong(TopReading.Brick::totalNs)
                        .reversed()
                        .thenComparing(TopReading.Brick::name))
                .limit(BRICKS)
                .toList();
        if (largest.isEmpty()) {
            text.append("Bricks: none were recorded.\n");
            return;
        }
        text.append(new TextTable<TopReading.Brick>()
                .left("brick", TopReading.Brick::name, "")
                .left("category", TopReading.Brick::category, "")
                .right("% of brick time", brick -> percent(100.0 * brick.totalNs() / Math.max(1, allNs)), "")
                .right("samples/s", brick -> rateCell(brick.count() / seconds), "")
                .right("avg", brick -> durationCell((double) brick.totalNs() / brick.count()), "")
                .render(largest));
        text.append("All bricks: ").append(duration(allNs / seconds)).append(" a second, over all threads.\n");
    }
}
