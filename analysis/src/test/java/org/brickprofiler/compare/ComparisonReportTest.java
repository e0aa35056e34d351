package org.brickprofiler.compare;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.compare.RunComparison.Change;
import org.brickprofiler.compare.RunComparison.Kind;
import org.brickprofiler.compare.RunComparison.Line;
import org.brickprofiler.compare.RunComparison.MethodsOfBrick;
import org.brickprofiler.compare.RunComparison.Options;
import org.brickprofiler.compare.RunComparison.Side;
import org.brickprofiler.compare.RunComparison.Statistic;
import org.brickprofiler.compare.RunComparison.Verdict;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

public class ComparisonReportTest {

    static final String HOSTILE = "a|b `c` <script>@all</script> *x* \u202e\n# h";

    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"comparison\">(.*?)</script>", Pattern.DOTALL);

    private static Line line(
            Kind kind,
            String name,
            double before,
            double after,
            Change change,
            @Nullable Change beside,
            Verdict verdict) {
        Statistic statistic =
                switch (kind) {
                    case TOKENS_PER_SEC -> Statistic.RATE;
                    case BRICK -> Statistic.MIDDLE_HALF;
                    case BRICK_P90 -> Statistic.P90;
                    case BRICK_P99 -> Statistic.P99;
                    default -> Statistic.MEAN;
                };
        return Line.builder(kind, name, statistic, 40)
                .sides(Optional.of(new Side(before, 1.25, 3)), Optional.of(new Side(after, 0.75, 2)))
                .change(Optional.of(change), Optional.ofNullable(beside))
                .verdict(verdict, "")
                .smallestPercent(OptionalDouble.of(2.25))
                .probability(OptionalDouble.of(0.0125))
                .build();
    }

    private static Line oneSide(String name, boolean before) {
        Optional<Side> side = Optional.of(new Side(71_234, 0, 3));
        return Line.builder(Kind.BRICK, name, Statistic.MEAN, 3)
                .sides(before ? side : Optional.empty(), before ? Optional.empty() : side)
                .verdict(Verdict.NOT_COMPARABLE, before ? "only before" : "only after")
                .build();
    }

    /** A comparison with every kind of line but {@link Kind#STEP}, and every verdict. */
    public static RunComparison full() {
        Change common = new Change(-0.5, -1.5, 0.5);
        Line noted = Line.builder(Kind.BRICK, HOSTILE, Statistic.MEAN, 1)
                .sides(Optional.of(new Side(1_500, 4, 3)), Optional.of(new Side(3_000, 5, 2)))
                .change(Optional.of(new Change(100, 90.04, 110.06)), Optional.empty())
                .verdict(Verdict.NOT_COMPARABLE, "different number of elements in a sample: 1 before, 2 after")
                .build();
        return new RunComparison(
                List.of(
                        Run.of("before/1.json", Profiles.plain()),
                        Run.of("before/2.json", Profiles.plain()),
                        new Run("before/3.json", Profiles.plain(), OptionalDouble.of(61.5), List.of("steal 7 %"))),
                List.of(Run.of("after/1.json", Profiles.plain()), Run.of("after/2.json", Profiles.plain())),
                Options.defaults().withBaseline(List.of("RmsNorm", "LmHead")),
                Optional.of("LmHead"),
                List.of(
                        "Brick times and tokens per second disagree: believe the tokens.",
                        "1 of 5 runs were disturbed."),
                List.of(
                        line(
                                Kind.TOTAL,
                                "brick time of a step",
                                15_800_000,
                                15_010_000,
                                new Change(-5, -6, -4),
                                null,
                                Verdict.FASTER),
                        line(
                                Kind.TOKENS_PER_SEC,
                                "tokens/s, profiled",
                                61.5,
                                58.2,
                                new Change(-5.4, -6.5, -4.25),
                                null,
                                Verdict.SLOWER),
                        Line.builder(Kind.COMMON, "all bricks alike", Statistic.COMMON_PART, 100)
                                .change(Optional.of(common), Optional.empty())
                                .verdict(Verdict.NO_DIFFERENCE, "")
                                .smallestPercent(OptionalDouble.of(3))
                                .probability(OptionalDouble.of(0.9))
                                .build(),
                        line(
                                Kind.CATEGORY,
                                "FFN",
                                9_000_000,
                                8_900_000,
                                new Change(-1.1, -2, -0.2),
                                common,
                                Verdict.NO_DIFFERENCE),
                        line(
                                Kind.BRICK,
                                "DownProjection",
                                185_600,
                                200_448,
                                new Change(8, 7, 9),
                                new Change(8.5, 8, 9),
                                Verdict.SLOWER),
                        line(
                                Kind.BRICK,
                                "RmsNorm",
                                2_000,
                                2_000,
                                new Change(0, Double.NaN, Double.NaN),
                                null,
                                Verdict.TOO_FEW_RUNS),
                        line(
                                Kind.BRICK_P90,
                                "DownProjection, p90",
                                190_000,
                                209_000,
                                new Change(10, 9, 11),
                                new Change(10.5, 9.5, 11.5),
                                Verdict.SLOWER),
                        line(
                                Kind.BRICK_P99,
                                "DownProjection, p99",
                                250_000,
                                251_000,
                                new Change(0.4, -3, 4),
                                new Change(0.9, -2.5, 4.5),
                                Verdict.NO_DIFFERENCE),
                        oneSide("Sampling", true),
                        oneSide("my fused kernel", false),
                        noted,
                        line(
                                Kind.TILE,
                                "macro",
                                1_000_000,
                                999_000,
                                new Change(-0.1, -1, 1),
                                common,
                                Verdict.NO_DIFFERENCE)),
                List.of(
                        new MethodsOfBrick(
                                "DownProjection",
                                List.of(
                                        line(
                                                Kind.METHOD,
                                                "a.B.<init>",
                                                90_000,
                                                91_000,
                                                new Change(1.1, -1, 3.25),
                                                null,
                                                Verdict.NO_DIFFERENCE),
                                        line(
                                                Kind.METHOD,
                                                "a.VectorMath.dot",
                                                80_000,
                                                100_000,
                                                new Change(25, 24, 26),
                                                null,
                                                Verdict.SLOWER)),
                                ""),
                        new MethodsOfBrick("RmsNorm", List.of(), "its methods are unknown")));
    }

    public static RunComparison empty() {
        Run run = Run.of("a.json", Profiles.empty());
        return new RunComparison(
                List.of(run), List.of(run), Options.defaults(), Optional.empty(), List.of(), List.of(), List.of());
    }

    @Test
    void showsEverythingAsText() throws IOException {
        Golden.assertSame(ComparisonReport.toBriefText(full()), getClass(), "comparison-brief.txt");
        Golden.assertSame(ComparisonReport.toText(full()), getClass(), "comparison.txt");
    }

    @Test
    void showsChangesInMarkdownAndFoldsTheRest() throws IOException {
        String markdown = ComparisonReport.toMarkdown(full());

        Golden.assertSame(markdown, getClass(), "comparison.md");
        // A name changes no table and no page, and mentions no user.
        assertThat(markdown).doesNotContain("<script", "@all", "`c`", "\u202e").contains("a&#124;b");
        assertThat(markdown.lines().filter(line -> line.startsWith("| ") && !line.startsWith("| |")))
                .hasSize(12)
                .allMatch(line -> line.chars().filter(c -> c == '|').count() == 11);
    }

    @Test
    void writesJsonThatAnotherParserReads() throws IOException {
        String json = ComparisonReport.toJson(full());
        Golden.assertSame(json, getClass(), "comparison.json");

        JsonNode read = new ObjectMapper().readTree(json);
        assertThat(read.path("kind").asText()).isEqualTo("brick-comparison");
        assertThat(read.path("before").path(2).path("tokens_per_sec").asDouble())
                .isEqualTo(61.5);
        JsonNode lines = read.path("lines");
        assertThat(lines).hasSize(12);
        assertThat(lines.path(6).path("name").asText()).isEqualTo(HOSTILE);
        assertThat(lines.path(4).path("beside_others").path("pct").asDouble()).isEqualTo(8.5);
        assertThat(lines.path(5).path("change").has("low_pct")).isFalse();
        assertThat(lines.path(7).has("after")).isFalse();
        assertThat(lines.path(9).path("kind").asText()).isEqualTo("brick_p90");
        assertThat(read.path("methods").path(0).path("text").asText())
                .isEqualTo("a.VectorMath.dot +25 % (+24 to +26 %)");
        JsonNode method = read.path("methods").path(0).path("lines").path(0);
        assertThat(method.path("kind").asText()).isEqualTo("method");
        assertThat(method.path("change").path("high_pct").asDouble()).isEqualTo(26);
        assertThat(read.path("trimmed_runs").asInt(-1)).isZero();
        assertThat(read.path("baseline").path(0).asText()).isEqualTo("RmsNorm");
    }

    @Spec("8.5")
    @Test
    void writesAPageThatHoldsTheJson() throws IOException {
        String page = ComparisonReport.toHtml(full());

        Matcher data = DATA.matcher(page);
        assertThat(data.find()).isTrue();
        assertThat(new ObjectMapper().readTree(data.group(1)))
                .isEqualTo(new ObjectMapper().readTree(ComparisonReport.toJson(full())));
        assertThat(page).doesNotContain("<script>@all").contains("<noscript><pre>3 runs before, 2 after");
        assertThat(page.getBytes(StandardCharsets.UTF_8)).hasSizeLessThan(60_000);
    }

    @Test
    void saysThatThereIsNothing() {
        assertThat(ComparisonReport.toText(empty())).startsWith("1 run before, 1 after: no brick was recorded\n");
        assertThat(ComparisonReport.toMarkdown(empty())).contains("no brick was recorded");
    }

    @Test
    void listsRegressions() {
        RunComparison comparison = full();
        assertThat(comparison.regressions(8))
                .extracting(Line::name)
                .containsExactly("DownProjection", "DownProjection, p90");
        assertThat(comparison.regressions(5))
                .extracting(Line::name)
                .containsExactly("tokens/s, profiled", "DownProjection", "DownProjection, p90");
        assertThat(comparison.regressions(11)).isEmpty();
        assertThat(ComparisonReport.regressions(comparison.regressions(5))).isEqualTo("""
                        tokens/s, profiled: -5.4 % [-6.5, -4.3]
                        DownProjection: +8.5 % [+8.0, +9.0]
                        DownProjection, p90: +10.5 % [+9.5, +11.5]
                        """);
        assertThat(ComparisonReport.regressions(List.of(
                        line(Kind.BRICK, "Sampling", 1, 2, new Change(100, -99.5, 3.8e15), null, Verdict.SLOWER))))
                .isEqualTo("Sampling: +100.0 % [-99.5, > +1,000]\n");
    }

    @Test
    void isTheSameInEveryLocale() {
        Locale usual = Locale.getDefault();
        String expected = ComparisonReport.toText(full());
        try {
            Locale.setDefault(Locale.GERMANY);
            assertThat(ComparisonReport.toText(full())).isEqualTo(expected);
        } finally {
            Locale.setDefault(usual);
        }
    }
}
