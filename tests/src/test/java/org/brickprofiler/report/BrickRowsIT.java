package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.Work;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SampleTimelines;
import org.brickprofiler.trace.TimelineDigest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The table of bricks on the page of a profile: its columns, its names, and its opened rows. */
class BrickRowsIT extends PageInBrowser {

    private static final String HEADS = "[...document.querySelectorAll('#section-bricks thead th')]"
            + ".filter((th) => th.checkVisibility()).map((th) => th.innerText.trim()).join('|')";

    /** The width of an A4 page in landscape format without its margins, in pixels of CSS. */
    private static final int PAPER = 1_031;

    private static final String ADD =
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>";
    private static final String FILL =
            "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, std::array<char*, 3ul>>";

    @AfterEach
    void restoreTheWindow() throws Exception {
        browser.layOutFor("");
        browser.resize(1280, 1400);
    }

    private void show(BrickStats... bricks) throws Exception {
        show(HtmlReport.render(Profiles.of(bricks)));
    }

    private void open(int row) throws Exception {
        browser.evaluate("document.querySelectorAll('#section-bricks .open')[" + row + "].click()");
    }

    private List<String> facts() throws Exception {
        return browser.texts("#section-bricks .detail dl div").stream()
                .map(text -> text.replace('\u00a0', ' '))
                .toList();
    }

    private static BrickStats[] bricks(int withBytes) {
        List<BrickStats> all = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            BrickStats brick = Profiles.brick("brick " + i, BrickCategory.FFN, 10, 100_000 - i, 1_000, 20_000, 10);
            all.add(i < withBytes ? brick.toBuilder().bytes(1_000_000, 0).build() : brick);
        }
        all.set(0, Profiles.working(all.get(0), new Work(5_000_000, 250_000, 4_096)));
        return all.toArray(BrickStats[]::new);
    }

    @Spec("8.5")
    @Test
    void leavesOutColumnsThatAreMostlyEmpty() throws Exception {
        show(bricks(2));
        assertThat(browser.texts("#section-bricks thead th"))
                .contains("elements/s", "GFLOP/s", "work GB/s")
                .doesNotContain("GB/s", "cycles/element", "limit");
        assertThat(column("bricks", "GFLOP/s")).startsWith("50.0", "\u2013");
        assertThat(column("bricks", "work GB/s")).startsWith("2.50", "\u2013");
        open(0);
        assertThat(facts())
                .contains("GB/s10.0", "GFLOP/s50.0", "Work GB/s2.50")
                .noneMatch(fact -> fact.startsWith("Cycles/"));
        show(bricks(3));
        assertThat(column("bricks", "GB/s")).startsWith("10.0", "10.0", "10.0", "\u2013");
    }

    /** The work of one of ten samples is known, so their rate is not. */
    @Test
    void showsNoRateOfWorkThatIsPartlyUnknown() throws Exception {
        BrickStats brick = Profiles.brick("partly", BrickCategory.FFN, 10, 100_000, 1_000, 20_000, 10);
        show(brick.toBuilder().work(new Work(5_000_000, 250_000, 4_096), 1).build());

        assertThat(browser.texts("#section-bricks thead th")).doesNotContain("GFLOP/s", "work GB/s");
    }

    @Test
    void cutsThePartThatNamesHaveInCommon() throws Exception {
        show(
                Profiles.brick(ADD, BrickCategory.OTHER, 1, 30, 10, 10, 1),
                Profiles.brick(FILL, BrickCategory.OTHER, 1, 20, 10, 10, 1),
                Profiles.brick("x".repeat(60) + "1", BrickCategory.OTHER, 1, 10, 10, 10, 1),
                Profiles.brick("x".repeat(60) + "2", BrickCategory.OTHER, 1, 9, 9, 9, 1),
                Profiles.brick("RmsNorm", BrickCategory.NORM, 1, 8, 8, 8, 1));

        assertThat(browser.texts("#section-bricks tbody bdi"))
                .startsWith("\u2026CUDAFunctor_add\u2026", "\u2026FillFunctor<float>, std::array<char*, 3ul>>")
                .endsWith("RmsNorm")
                .doesNotHaveDuplicates()
                .allMatch(name -> name.length() <= 50);
        browser.evaluate(
                "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }");
        open(1);
        assertThat(browser.text(".full-name bdi")).isEqualTo(FILL);
        browser.evaluate("document.querySelector('.full-name button').click()");
        assertThat(browser.evaluate("window.copied").asText()).isEqualTo(FILL);
        assertThat(browser.text(".full-name button")).isEqualTo("Copied");
        browser.evaluate("navigator.clipboard.writeText = () => Promise.reject(new Error('refused')); "
                + "document.querySelector('.full-name button').click()");
        assertThat(browser.evaluate("String(getSelection())").asText()).isEqualTo(FILL);
    }

    /** Without a similar name beside it, a function keeps its own name and its first template arguments. */
    @Test
    void aFunctionKeepsItsOwnName() throws Exception {
        List<String> names = List.of(
                "void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float> >(int, float*)",
                "std::enable_if<!(false), void>::type internal::gemvx::kernel<int, int, __nv_bfloat16, float, true>(int)",
                "(anonymous namespace)::a_function_without_template_arguments(int, float, char const*)",
                "nvjet_tst_128x64_64x8_2x1_v_bz_TNT_and_more_that_follows_it");
        show(names.stream()
                .map(name -> Profiles.brick(name, BrickCategory.OTHER, 1, 90L - names.indexOf(name), 9, 9, 1))
                .toArray(BrickStats[]::new));

        assertThat(browser.texts("#section-bricks tbody bdi"))
                .containsExactly(
                        "vectorized_elementwise_kernel<4, BinaryFunc\u2026",
                        "kernel<int, int, __nv_bfloat16, float, true>",
                        "a_function_without_template_arguments",
                        "nvjet_tst_128x64_64x8_2x\u2026ore_that_follows_it");
    }

    /** Counts are exact; shares have one decimal. */
    @Test
    void hasThreeSignificantDigits() throws Exception {
        show(HtmlReport.render(Profiles.many(30)));
        List<String> figures = new ArrayList<>();
        for (String column : List.of("total", "avg", "min", "p50", "p99", "max", "elements/s")) {
            figures.addAll(column("bricks", column));
        }

        assertThat(figures)
                .hasSize(210)
                .allMatch(
                        figure -> figure.matches("(\\d\\.\\d\\d|\\d\\d\\.\\d|\\d{3}|\\d{1,3}(?= ns)) ?[\\w\\u00b5]*"));
    }

    @Test
    void aNarrowWindowHasFourColumnsAndPaperHasAll() throws Exception {
        ProfileSnapshot profile = Profiles.many(30);
        browser.resize(800, 900);
        show(HtmlReport.render(profile));
        assertThat(browser.evaluate(HEADS).asText()).isEqualTo("brick|total|% of brick time|p99");
        open(0);
        assertThat(facts()).anyMatch(fact -> fact.startsWith("p50")).anyMatch(fact -> fact.startsWith("Elements/s"));
        open(0);
        browser.resize(390, 900);
        String scroll = "document.querySelector('#section-bricks .scroll')";
        assertThat(browser.evaluate(scroll + ".scrollWidth").asInt())
                .as("the four columns fit a telephone")
                .isLessThanOrEqualTo(browser.evaluate(scroll + ".clientWidth").asInt());
        browser.resize(PAPER, 900);
        browser.layOutFor("print");
        assertThat(browser.evaluate(HEADS).asText().split("\\|")).hasSize(12);
        assertThat(browser.evaluate("document.querySelector('#section-bricks table').offsetWidth")
                        .asInt())
                .isLessThanOrEqualTo(PAPER);
    }

    @Test
    void anEdgeThatCanBeScrolledHasAShadow() throws Exception {
        browser.resize(390, 900);
        show(HtmlReport.render(Profiles.full()));
        browser.evaluate("document.querySelector('#section-tiles').scrollIntoView()");
        int right = browser.evaluate(
                        "Math.floor(document.querySelector('#section-tiles .scroll').getBoundingClientRect().right) - 1")
                .asInt();
        int y = browser.evaluate(
                        "Math.floor(document.querySelector('#section-tiles tbody tr').getBoundingClientRect().top) + 3")
                .asInt();

        assertThat(brightness(right, y)).isLessThan(230);
        browser.evaluate("document.querySelector('#section-tiles .scroll').scrollLeft = 10_000");
        assertThat(brightness(right, y)).as("at the end").isEqualTo(255);
    }

    @Spec("8.7")
    @Test
    void anOpenedBrickIsSplitByPhaseAndLayer() throws Exception {
        ProfileSnapshot profile = Profiles.decoded(3);
        show(HtmlReport.of(profile)
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 30, 20, 500, 40}, 12)))
                .render());
        open(0);

        List<String> expected = profile.phases().keySet().stream()
                .map(phase -> {
                    BrickStats part = profile.bricks(phase).get(0);
                    double share =
                            100.0 * part.totalNs() / profile.bricks().get(0).totalNs();
                    return phase.name().toLowerCase(Locale.ROOT)
                            + HumanUnits.count(part.count())
                            + time((double) part.totalNs())
                            + HumanUnits.percent(share)
                            + time((double) part.totalNs() / part.count())
                            + time((double) part.percentileNs(50))
                            + time((double) part.percentileNs(99));
                })
                .toList();
        assertThat(expected).hasSize(2);
        assertThat(browser.texts(".split tbody tr").stream().map(text -> text.replace('\u00a0', ' ')))
                .containsExactlyElementsOf(expected);
        assertThat(browser.texts(".split h3").stream().map(text -> text.replace('\u00a0', ' ')))
                .containsExactly(
                        "By phase",
                        "By layer, each brick\u2019s mean time in each layer: median 120 \u00b5s, most in layer 0, 120 \u00b5s");
        assertThat(browser.evaluate("document.querySelector('.split svg path').getAttribute('d').split('z').length")
                        .asInt())
                .isEqualTo(13);
        show(HtmlReport.render(Profiles.plain()));
        open(0);
        assertThat(browser.texts(".split")).isEmpty();
    }

    private int brightness(int x, int y) throws Exception {
        browser.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(browser.picture()));
        return picture.getRGB(x, y) & 0xff;
    }
}
