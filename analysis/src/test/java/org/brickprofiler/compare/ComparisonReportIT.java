package org.brickprofiler.compare;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Random;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.StepInfo;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Side;
import org.brickprofiler.compare.RunComparison.Statistic;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The page of a comparison in a real browser. */
public class ComparisonReportIT extends PageInBrowser {

    public static List<RunComparison> comparisons() {
        return List.of(ComparisonReportTest.full(), ComparisonReportTest.empty(), many(40), every());
    }

    /** A comparison of {@code bricks} bricks with changes of every size, of which the large ones have a verdict. */
    private static RunComparison many(int bricks) {
        Random random = new Random(7);
        List<Line> lines = new ArrayList<>();
        for (int i = 0; i < bricks; i++) {
            double pct = 12 * random.nextGaussian();
            double halfPct = 1 + 3 * random.nextDouble();
            Verdict verdict =
                    Math.abs(pct) < halfPct + 2 ? Verdict.NO_DIFFERENCE : pct < 0 ? Verdict.FASTER : Verdict.SLOWER;
            Change change = new Change(pct, pct - halfPct, pct + halfPct);
            lines.add(Line.builder(Kind.BRICK, "model.layers." + i + ".block", Statistic.MEAN, 100.0 / bricks)
                    .sides(Optional.of(new Side(20_000, 1, 10)), Optional.of(new Side(20_000 * (1 + pct / 100), 1, 10)))
                    .change(Optional.of(change), Optional.of(change))
                    .verdict(verdict, "")
                    .smallestPercent(OptionalDouble.of(halfPct + 2))
                    .probability(OptionalDouble.of(0.01))
                    .build());
        }
        Run run = Run.of("a.json", Profiles.plain());
        return new RunComparison(
                List.of(run), List.of(run), Options.defaults(), Optional.of("LmHead"), List.of(), lines, List.of());
    }

    /** A comparison with a line for each category, as of an engine with devices, and bricks with long names. */
    private static RunComparison every() {
        RunComparison many = many(12);
        List<Line> lines = new ArrayList<>(many.lines());
        for (BrickCategory category : BrickCategory.values()) {
            lines.add(Line.builder(Kind.CATEGORY, category.displayName(), Statistic.MEAN, 9)
                    .sides(Optional.of(new Side(9_000_000, 1, 10)), Optional.of(new Side(9_900_000, 1, 10)))
                    .change(Optional.of(new Change(10, 8, 12)), Optional.empty())
                    .verdict(Verdict.SLOWER, "")
                    .smallestPercent(OptionalDouble.of(2))
                    .probability(OptionalDouble.of(0.01))
                    .build());
        }
        lines.add(Line.builder(Kind.BRICK, "QkvProjection, prefill", Statistic.MEAN, 1)
                .phase(Optional.of(StepInfo.Phase.PREFILL))
                .verdict(Verdict.NOT_COMPARABLE, "only before")
                .build());
        return new RunComparison(
                many.before(), many.after(), many.options(), many.stepBrick(), many.remarks(), lines, List.of());
    }

    /** The change is seen without scrolling on a telephone. */
    @Test
    void showsTheChangeOnANarrowScreen() throws Exception {
        try {
            browser.resize(400, 900);
            show(ComparisonReport.toHtml(every()));
            assertThat(browser.evaluate(
                                    "Math.max(...[...document.querySelectorAll('#section-bricks tbody tr > :nth-child(2)')]"
                                            + ".map((cell) => cell.getBoundingClientRect().right))")
                            .asDouble())
                    .isLessThan(400);
            assertThat(browser.texts("#section-bricks thead th").get(1)).isEqualTo("change %");
        } finally {
            browser.resize(1280, 1400);
        }
    }

    @Test
    void showsTheNumbersOfTheComparison() throws Exception {
        RunComparison comparison = ComparisonReportTest.full();
        show(ComparisonReport.toHtml(comparison));

        assertThat(browser.text("header p"))
                .isEqualTo(
                        "1 of 1 brick is slower: DownProjection +8.5 % beside the others. (3 runs before, 2 after: of the bricks 1 slower, 1 of"
                                + " too few runs for a verdict, 3 not comparable; of their percentiles 1 slower)");
        assertThat(browser.text("main > .next"))
                .isEqualTo(
                        "Next: compare the row of DownProjection in brick report FILE --html OUT of a run of each side.");
        assertThat(browser.texts("main h2"))
                .containsExactly(
                        "Before you read on",
                        "The whole",
                        "Bricks",
                        "Methods of bricks that became slower",
                        "Percentiles of bricks",
                        "Categories",
                        "Tiles",
                        "Runs",
                        "How to read it");
        assertThat(browser.texts(".notices li")).isEqualTo(comparison.remarks());
        // The lines with a verdict come first, then the rest by size, then lines that cannot be compared.
        assertThat(browser.texts("#section-bricks tbody bdi"))
                .startsWith("DownProjection", "RmsNorm", "a|b `c` <script>@all</sc\u2026*x* \\u202e\\u000a# h");
        assertThat(column("bricks", "before"))
                .containsExactly(time(185_600), time(2_000), time(1_500), time(71_234), "\u2013");
        assertThat(column("bricks", "after"))
                .containsExactly(time(200_448), time(2_000), time(3_000), "\u2013", time(71_234));
        assertThat(column("bricks", "speed-up")).containsExactly("0.926", "1.000", "0.500", "\u2013", "\u2013");
        assertThat(column("bricks", "change %")).containsExactly("+8.0", "0.0", "+100.0", "\u2013", "\u2013");
        assertThat(column("bricks", "beside others %")).containsExactly("+8.5", "\u2013", "\u2013", "\u2013", "\u2013");
        assertThat(column("bricks", "shown from %")).containsExactly("2.3", "2.3", "\u2013", "\u2013", "\u2013");
        assertThat(column("bricks", "verdict"))
                .containsExactly(
                        "slower",
                        "too few runs",
                        "not comparable: different number of elements in a sample: 1 before, 2 after",
                        "not comparable: only before",
                        "not comparable: only after");
        assertThat(column("methods-of-bricks-that-became-slower", "method, of a sample"))
                .containsExactly("a.VectorMath.dot", "a.B.<init>");
        assertThat(browser.texts("#section-methods-of-bricks-that-became-slower p bdi"))
                .containsExactly("a.VectorMath.dot +25 % (+24 to +26 %)", "its methods are unknown");
        assertThat(browser.texts("#section-percentiles-of-bricks tbody bdi"))
                .containsExactly("DownProjection, p90", "DownProjection, p99");
        assertThat(column("percentiles-of-bricks", "verdict")).containsExactly("slower", "no difference shown");
        assertThat(column("the-whole", "before")).containsExactly(time(15_800_000), "61.5", "\u2013");
        assertThat(browser.texts(".figures dd").stream().map(text -> text.replace('\u00a0', ' ')))
                .contains("\u22125.0 %", "15.8 ms to 15.0 ms; faster, interval [\u22126.0, \u22124.0] %");
        assertThat(column("runs", "disturbed by")).containsExactly("\u2013", "\u2013", "steal 7 %", "\u2013", "\u2013");
    }

    /** The ends of the interval and of the band lie on the same asinh scale. */
    @Spec("8.5")
    @Test
    void drawsIntervalsAroundZeroAndTheFloorAsABand() throws Exception {
        show(ComparisonReport.toHtml(ComparisonReportTest.full()));

        assertThat(browser.evaluate(
                                "document.querySelector('#section-bricks td svg[role=img]').getAttribute('aria-label')")
                        .asText())
                .isEqualTo("slower, +8.5 %, interval [+8.0, +9.0] %");
        double zero = 105;
        double bandEnd = number("#section-bricks .floor", "x") + number("#section-bricks .floor", "width");
        assertThat(bandEnd).isGreaterThan(zero + 10).isLessThan(210);
        assertThat(number("#section-bricks .floor", "x")).isEqualTo(2 * zero - bandEnd, offset(0.2));
        // asinh of the change over the floor, which is 2 %.
        double unit = (bandEnd - zero) / asinh(1);
        List<Double> ends = ends("#section-bricks .range");
        assertThat(ends.get(0)).isEqualTo(zero + unit * asinh(4), offset(0.3));
        assertThat(ends.get(1)).isEqualTo(zero + unit * asinh(4.5), offset(0.3));
        assertThat(browser.evaluate(
                                "[...document.querySelectorAll('#section-bricks td .verdict path')]"
                                        + ".map((path) => path.getAttribute('d')).filter((d, i, all) => all.indexOf(d) === i).length")
                        .asInt())
                .as("shapes of three verdicts")
                .isEqualTo(3);
    }

    private static double asinh(double x) {
        return Math.log(x + Math.sqrt(x * x + 1));
    }

    private double number(String selector, String attribute) throws Exception {
        return browser.evaluate("Number(document.querySelector('" + selector + "').getAttribute('" + attribute + "'))")
                .asDouble();
    }

    private List<Double> ends(String selector) throws Exception {
        List<Double> ends = new ArrayList<>();
        browser.evaluate("document.querySelector('" + selector
                        + "').getAttribute('d').match(/M([\\d.]+).*H([\\d.]+)/).slice(1)")
                .forEach(end -> ends.add(end.asDouble()));
        return ends;
    }

    @Test
    void sortsFiltersAndOpensByKeyboard() throws Exception {
        show(ComparisonReport.toHtml(many(40)));

        List<String> first = column("bricks", "verdict");
        assertThat(first.subList(0, first.lastIndexOf("slower"))).doesNotContain("no difference shown");
        tabTo("Filter by name or verdict");
        browser.type("faster");
        assertThat(browser.texts("#section-bricks tbody tr:not([hidden]) b"))
                .containsOnly("faster")
                .isNotEmpty();
        tabTo("change %");
        browser.press("Enter");
        List<Double> changes = column("bricks", "change %").stream()
                .map(text -> Double.valueOf(text.replace('\u2212', '-')))
                .toList();
        assertThat(changes).hasSize(40).isSortedAccordingTo((a, b) -> Double.compare(b, a));
        browser.evaluate("document.querySelector('#section-bricks tr:not([hidden]) .open').focus()");
        browser.press("Enter");
        assertThat(browser.text(".detail").replace('\u00a0', ' ')).contains("10 runs, mean 20.0 \u00b5s", "1.00 %");
    }

    @Spec("8.5")
    @Test
    void showsHostileNamesAsText() throws Exception {
        RunComparison comparison = ComparisonReportTest.full();
        show(ComparisonReport.toHtml(comparison));

        assertThat(browser.evaluate("document.title").asText()).isEqualTo("Brick comparison");
        assertThat(browser.evaluate("document.images.length + document.scripts.length")
                        .asInt())
                .isEqualTo(2);
        assertThat(savedJson()).isEqualTo(ComparisonReport.toJson(comparison));
    }

    @ParameterizedTest
    @MethodSource("comparisons")
    void hasNoFaultOfAccessibility(RunComparison comparison) throws Exception {
        assertNoFaultOfAccessibility(ComparisonReport.toHtml(comparison));
    }

    @Test
    void keepsToTheWindowAndPrints() throws Exception {
        String page = ComparisonReport.toHtml(ComparisonReportTest.full());
        assertKeepsToTheWindow(page);
        assertKeepsToTheWindow(ComparisonReport.toHtml(every()));
        assertThat(new String(browser.pdf(), ISO_8859_1)).startsWith("%PDF-");
        assertThat(ComparisonReport.toHtml(many(500)).getBytes(ISO_8859_1)).hasSizeLessThan(1_000_000);
    }

    /** Pictures for inspection, if a folder is named for them. */
    @Test
    void drawsPicturesOnRequest() throws Exception {
        String wanted = System.getProperty("html.pictures", "");
        if (!wanted.isEmpty()) {
            Path pictures = Files.createDirectories(Path.of(wanted));
            int n = 0;
            for (RunComparison comparison : comparisons()) {
                picture(ComparisonReport.toHtml(comparison), pictures.resolve("comparison-" + n++));
            }
        }
        show(ComparisonReport.toHtml(many(3)));
        assertThat(browser.picture()).startsWith(0x89, 'P', 'N', 'G');
    }
}
