package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.cli.TopPage.Order;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.SampleLines;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TopPageTest {

    private static final long BEGIN_MS = Instant.parse("2026-01-01T00:00:00Z").toEpochMilli();
    private static final String TITLE = "brick top: process 4711, engine, 12:00:00";
    private static final TopReading.Requests NO_REQUESTS =
            new TopReading.Requests(0, 0, 0, 0, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of());

    /** The sums of bricks that take the same time each second, but for one that gets slower and one that pauses. */
    private static final class Engine {
        private final TopWindow window = new TopWindow();
        private final long[] totalNs = new long[40];
        private final boolean hasPercentiles;

        Engine(int seconds, boolean hasPercentiles, Optional<LineProfile> lines) {
            this.hasPercentiles = hasPercentiles;
            for (int second = 0; second <= seconds; second++) {
                for (int i = 0; i < totalNs.length; i++) {
                    totalNs[i] += second == 0 ? 0 : ns(i, second);
                }
                window.add(reading(second).withLines(lines));
            }
        }

        private static long ns(int brick, int second) {
            return switch (brick) {
                case 0 -> 1_000_000L * second;
                case 1 -> second % 4 == 0 ? 0 : 9_000_000;
                default -> 20_000_000 / brick;
            };
        }

        private TopReading reading(int second) {
            List<TopReading.Brick> bricks = new ArrayList<>();
            for (int i = 0; i < totalNs.length; i++) {
                Optional<LatencyDistribution> latency = hasPercentiles
                        ? Optional.of(
                                LatencyDistribution.ofCounts(300 + 10 * i, new long[] {99L * second, 3L * second}))
                        : Optional.empty();
                bricks.add(new TopReading.Brick(
                        "layer." + i, "FFN", 102L * second, totalNs[i], latency, TopReading.OfDevice.NONE));
            }
            return TopReading.of(
                    BEGIN_MS,
                    BEGIN_MS + second * 1_000L,
                    second * 1_000_000_000L,
                    bricks,
                    Map.of("decode", new TopReading.Phase(20L * second, 500_000_000L * second, 0, 80L * second)),
                    new TopReading.Requests(
                            2L * second,
                            second,
                            3,
                            4,
                            LatencyDistribution.ofCounts(500, new long[] {second}),
                            LatencyDistribution.ofCounts(300, new long[] {second}),
                            List.of("the call of Llama.generate")));
        }
    }

    private static TopPage.Size size(int rows, int columns) {
        return new TopPage.Size(rows, columns, true, false, true);
    }

    private static String text(TopPage page, TopPage.Size size) {
        return String.join("\n", page.lines(size)) + "\n";
    }

    private static TopPage page(int seconds, boolean hasPercentiles) {
        return page(seconds, hasPercentiles, Optional.empty());
    }

    private static TopPage page(int seconds, boolean hasPercentiles, Optional<LineProfile> lines) {
        return new TopPage(TITLE, new Engine(seconds, hasPercentiles, lines).window, Order.TOTAL, false);
    }

    private static LineProfile linesOf(String... bricks) {
        LineProfile some = SampleLines.some();
        return new LineProfile(
                some.samples(),
                some.periodNs(),
                some.clockErrorNs(),
                some.missing(),
                Stream.of(bricks)
                        .map(brick -> new OfBrick(
                                brick,
                                Optional.empty(),
                                0,
                                OptionalDouble.empty(),
                                some.bricks().get(0).java(),
                                CallTree.EMPTY))
                        .toList());
    }

    @Spec("25.20")
    @Test
    void linesOfBricksHaveTheRowsThatAreLeftAndHalfOfThoseOfTheBricks() {
        TopPage page = page(30, true, Optional.of(linesOf("layer.2", "layer.0")));
        String wide = text(page, size(50, 130));
        assertThat(wide).contains("""
                  layer.0, 500 samples
                      64 % (60 to 68)    org.example.VectorMath.dot line 88, interpreted
                      20 % (17 to 24)    org.example.VectorMath.exp line 12, inlined
                      12 % (9.4 to 15)   org.example.VectorMath.dot line 90
                  layer.2, 500 samples
                """);
        assertThat(wide.indexOf("\nLines of bricks since the last reset\n  layer.0, "))
                .isGreaterThan(wide.indexOf("All bricks: "));
        assertThat(bricks(page, 50)).isEqualTo(20);
        // Only the first lines of the first brick.
        assertThat(text(page, size(30, 100))).contains("layer.0, 500 samples\n").doesNotContain("layer.2, 500");
        assertThat(text(page, size(24, 100))).doesNotContain("Lines of bricks");
        LineProfile none = LineProfile.without("Java has no flight recorder here");
        assertThat(text(page(30, true, Optional.of(none)), size(60, 100)))
                .contains("reset\n  No lines: Java has no flight recorder here.\n");
    }

    @Spec("25.20")
    @Test
    void fillsAWideScreen() throws Exception {
        Golden.assertSame(text(page(30, true), size(40, 130)), TopPageTest.class, "top-wide.txt");
    }

    @Spec("25.20")
    @Test
    void keepsTheImportantColumnsAndBricksOnASmallScreen() throws Exception {
        TopPage.Size small = new TopPage.Size(24, 80, false, false, true);
        Golden.assertSame(text(page(30, true).withOrder(Order.CHANGE), small), TopPageTest.class, "top-small.txt");
    }

    /** A line that the terminal breaks, or one too many, would move the rest of the page. */
    @Spec("25.20")
    @ParameterizedTest
    @CsvSource({"1, 20", "2, 40", "5, 30", "10, 60", "16, 79", "24, 80", "25, 99", "50, 100", "60, 122", "90, 300"})
    void noPageIsLargerThanTheScreen(int rows, int columns) {
        for (int seconds : new int[] {0, 1, 9, 30}) {
            assertThat(page(seconds, true, Optional.of(linesOf("layer.0", "layer.1", "layer.2")))
                            .lines(size(rows, columns)))
                    .hasSizeLessThanOrEqualTo(rows)
                    .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(columns));
        }
    }

    @Spec("25.20")
    @Test
    void aHigherScreenHasMoreBricksAndTheRestIsCounted() {
        TopPage page = page(30, true);
        assertThat(bricks(page, 24)).isEqualTo(8);
        assertThat(bricks(page, 30)).isEqualTo(10);
        assertThat(bricks(page, 80)).isEqualTo(40);
        assertThat(text(page, size(30, 100))).contains("30 more bricks: ");
        assertThat(text(page, size(80, 100))).doesNotContain("more brick");
    }

    private static long bricks(TopPage page, int rows) {
        return page.lines(size(rows, 100)).stream()
                .filter(line -> line.startsWith("layer."))
                .count();
    }

    @Spec("25.20")
    @Test
    void ordersByTotalPercentileOrChange() {
        TopPage page = page(30, true);
        assertThat(first(page)).isEqualTo("layer.0");
        assertThat(first(page.withOrder(Order.P99))).isEqualTo("layer.39");
        assertThat(first(page.withOrder(Order.CHANGE))).isEqualTo("layer.0");
        assertThat(text(page.withOrder(Order.CHANGE), size(40, 100))).contains("Bricks by change.");
        assertThat(Order.TOTAL.next().next().next()).isEqualTo(Order.TOTAL);
    }

    private static String first(TopPage page) {
        return page.lines(size(40, 100)).stream()
                .filter(line -> line.startsWith("layer."))
                .map(line -> line.substring(0, line.indexOf(' ')))
                .findFirst()
                .orElseThrow();
    }

    @Spec("25.20")
    @Test
    void whatIsUnknownIsADash() {
        TopPage.Size wide = size(60, 100);
        String first = line(page(5, false), wide, "layer.2 ");
        assertThat(first).matches("layer\\.2 +50\\.00 ms +13\\.3 +- +- +- +\u2588{5}");
        assertThat(line(page(5, true), wide, "layer.2 ")).matches(".* 1\\.032 us +1\\.048 us +- +\u2588{5}");
        assertThat(line(page(20, true), wide, "layer.2 ")).matches(".* us +\\+0 ns +\u2588{20}");
    }

    private static String line(TopPage page, TopPage.Size size, String beginning) {
        return page.lines(size).stream()
                .filter(line -> line.startsWith(beginning))
                .findFirst()
                .orElseThrow();
    }

    @Spec("25.20")
    @Test
    void saysWhyThereAreNoFigures() {
        TopWindow window = new TopWindow();
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS, 5, List.of(), Map.of(), NO_REQUESTS));
        TopPage page = new TopPage(TITLE, window, Order.TOTAL, false);
        assertThat(text(page, size(24, 80))).contains("The window begins now");
        window.add(TopReading.of(BEGIN_MS, BEGIN_MS + 1_000, 5, List.of(), Map.of(), NO_REQUESTS));
        assertThat(text(page, size(24, 80)))
                .contains(
                        "Window: the last 1.000 s, in which the profiler was off.",
                        "Requests: the engine announces none.",
                        "Bricks: none were recorded.");
    }

    @Spec("25.20")
    @Test
    void namesTheKeysInTheLastLineOnlyIfThereAreKeys() {
        TopPage page = page(30, true);
        assertThat(page.lines(size(24, 80)))
                .last()
                .asString()
                .startsWith("Keys: q ends, s changes the order")
                .endsWith("p pauses");
        assertThat(page.withPause(true).lines(size(24, 80)))
                .satisfies(lines -> assertThat(lines.get(0)).endsWith(", paused"))
                .last()
                .asString()
                .endsWith("p continues");
        assertThat(text(page, new TopPage.Size(24, 80, true, false, false))).doesNotContain("Keys:");
    }

    @Test
    void escapesWhatWouldChangeTheTerminal() {
        TopPage page = new TopPage("process \u001b[2J", new TopWindow(), Order.TOTAL, false);
        assertThat(page.lines(size(24, 80))).first().isEqualTo("process \\u001b[2J");
    }

    @Test
    void showsWhatIsUnderWayWithoutTheControlCharactersOfThreadNames() {
        TopWindow window = new TopWindow();
        List<String> lines = List.of("Stalled: no step for 8.2 s.", "server\u001b[2J waits.");
        window.add(TopWindowTest.at(0));
        window.add(TopWindowTest.at(1).withProgress(lines, List.of()));
        assertThat(window.render()).contains("\n\nStalled: no step for 8.2 s.\nserver\\u001b[2J waits.\n\nRequests: ");
        assertThat(new TopPage("process", window, Order.TOTAL, false).lines(size(40, 80)))
                .containsSequence("Stalled: no step for 8.2 s.", "server\\u001b[2J waits.");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void hasWeightOnlyWithColour(boolean isColoured) {
        List<String> lines = page(30, true).lines(new TopPage.Size(40, 100, true, isColoured, true));
        assertThat(IntStream.range(0, lines.size())
                        .filter(i -> lines.get(i).contains("\u001b[1mbrick"))
                        .count())
                .isEqualTo(isColoured ? 1 : 0);
    }
}
