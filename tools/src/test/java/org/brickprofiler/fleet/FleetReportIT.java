package org.brickprofiler.fleet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.brickprofiler.BrickId;
import org.brickprofiler.fleet.SimulatedFleet.Fault;
import org.brickprofiler.fleet.SimulatedFleet.Injected;
import org.brickprofiler.fleet.SimulatedFleet.Shape;
import org.brickprofiler.testing.PageInBrowser;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The page of a fleet in a real browser. */
final class FleetReportIT extends PageInBrowser {

    private static final Injected SLOW = new Injected(Fault.BRICK, 17, BrickId.LM_HEAD, 0.2, 0, 20);

    @TempDir
    private static Path tables;

    private static FleetReport small;

    @BeforeAll
    static void simulate() throws Exception {
        small = FleetReportTest.simulated(new Shape("one", 64, 20, 11), List.of(SLOW), tables);
    }

    @Test
    void showsTheNumbersOfTheReport() throws Exception {
        show(small.toHtml());

        JsonNode json = new ObjectMapper().readTree(small.toJson());
        assertThat(browser.texts("main h2"))
                .containsExactly(
                        "Before you read on",
                        "Findings",
                        "Stragglers",
                        "Shown from",
                        "Ranks by bricks",
                        "Spread over ranks",
                        "Shares by rank",
                        "Drift",
                        "Bricks",
                        "Steps",
                        "Runs",
                        "Problems of the data");
        assertThat(browser.text("header p")).startsWith("64 ranks in 1 run, 20 windows: 1 straggler; from 2026-01-01");
        assertThat(column("stragglers", "who")).containsExactly("rank 17 (node-0002)");
        assertThat(column("stragglers", "kind")).containsExactly("slow in some bricks");
        assertThat(column("stragglers", "bricks")).containsExactly("LmHead");
        assertThat(column("stragglers", "windows")).containsExactly("20");
        assertThat(column("stragglers", "which windows")).containsExactly("all");
        assertThat(column("shown-from", "ranks")).containsExactly("64");
        assertThat(column("shown-from", "throughout %"))
                .containsExactly(String.format(
                        Locale.ROOT, "%.1f", json.at("/shown/0/throughout_pct").asDouble()));
        assertThat(column("stragglers", "costs each step"))
                .containsExactly(time(json.at("/stragglers/0/cost_ns").asDouble()));
        assertThat(column("bricks", "total")).isEqualTo(times(json.get("bricks"), "total_ns"));
        assertThat(column("bricks", "p99")).isEqualTo(times(json.get("bricks"), "p99_ns"));
        assertThat(column("shares-by-rank", "rank")).hasSize(25);
        assertThat(column("spread-over-ranks", "slowest"))
                .containsExactlyInAnyOrderElementsOf(times(json.get("spread"), "max_ns"));
        assertThat(browser.texts("#section-spread-over-ranks tbody tr:not(.detail)"))
                .filteredOn(row -> row.startsWith("LmHead"))
                .singleElement()
                .asString()
                .contains("rank 17 (node-0002)");
        assertThat(savedJson()).isEqualTo(small.toJson());
    }

    /** How many windows are concerned is one column, and their numbers are another one. */
    @Test
    void aCountOfWindowsIsNoNumberOfAWindow() throws Exception {
        List<Injected> faults = List.of(
                new Injected(Fault.SOME_WINDOWS, 5, BrickId.RMS_NORM, 0.2, 7, 14),
                new Injected(Fault.BRICK_IN_WINDOWS, 25, BrickId.LM_HEAD, 0.4, 8, 20));
        show(FleetReportTest.simulated(new Shape("some", 64, 20, 11), faults, tables)
                .toHtml());

        assertThat(column("stragglers", "kind"))
                .containsOnly("slow in some windows")
                .hasSize(2);
        assertThat(column("stragglers", "windows")).containsExactlyInAnyOrder("7", "12");
        assertThat(column("stragglers", "which windows")).containsExactlyInAnyOrder("7\u201313", "\u2013");
    }

    private static List<String> times(JsonNode rows, String key) {
        List<String> times = new ArrayList<>();
        rows.forEach(row -> times.add(time(row.get(key).asDouble())));
        return times;
    }

    /** The cell of the rank and brick with the fault is the darkest, and it is named in words. */
    @Test
    void drawsRanksByBricks() throws Exception {
        show(small.toHtml());

        assertThat(browser.text("#section-ranks-by-bricks > p"))
                .startsWith("Farthest from their medians: LmHead, rank 17 (node-0002): ");
        int row = browser.evaluate(
                        "[...document.querySelectorAll('.heat text.strong')].findIndex((text) => text.textContent === 'LmHead')")
                .asInt();
        JsonNode darkest = browser.evaluate("[...document.querySelectorAll('.heat .cell:not(.below)')]"
                + ".filter((cell) => cell.getAttribute('fill-opacity') === '1').map((cell) => cell.getAttribute('d'))");
        assertThat(darkest).singleElement().satisfies(path -> assertThat(path.asText())
                .matches("M\\d+ " + 18 * row + "h.*z"));
        assertThat(browser.evaluate("document.querySelectorAll('.heat .cell').length")
                        .asInt())
                .isGreaterThan(64);
    }

    @Test
    void showsHostileNamesAsText() throws Exception {
        FleetReport hostile = FleetReportTest.hostile();
        show(hostile.toHtml());

        assertThat(browser.evaluate("document.title").asText()).isEqualTo("Brick fleet");
        assertThat(browser.evaluate("document.images.length + document.scripts.length")
                        .asInt())
                .isEqualTo(2);
        assertThat(browser.text("#section-bricks")).contains("</script><img src=x>");
        assertThat(savedJson()).isEqualTo(hostile.toJson());
    }

    @Test
    void hasNoFaultOfAccessibility() throws Exception {
        assertNoFaultOfAccessibility(small.toHtml());
        assertNoFaultOfAccessibility(FleetReportTest.hostile().toHtml());
    }

    @Test
    void sortsFiltersAndOpensByKeyboard() throws Exception {
        show(small.toHtml());

        tabTo("Filter by brick or category");
        browser.type("communication");
        assertThat(browser.texts("#section-spread-over-ranks tbody tr:not([hidden]) td:nth-child(2)"))
                .isNotEmpty()
                .containsOnly("Communication");
        browser.evaluate("document.querySelector('#section-stragglers .open').focus()");
        browser.press("Enter");
        assertThat(browser.text(".detail")).contains("slow in LmHead by ");
    }

    @Test
    void keepsToTheWindowAndPrints() throws Exception {
        String page = small.toHtml();

        assertKeepsToTheWindow(page);
        show(page);
        assertThat(new String(browser.pdf(), ISO_8859_1)).startsWith("%PDF-");
    }

    @Test
    void ofAThousandRanksStaysLight() throws Exception {
        FleetReport large = FleetReportTest.simulated(new Shape("large", 1_000, 6, 12), List.of(SLOW), tables);
        String page = large.toHtml();

        assertThat(page.length()).isLessThan(2_000_000);
        show(page);
        assertThat(browser.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd")
                        .asDouble())
                .as("ms until it is drawn")
                .isLessThan(5_000);
        assertThat(column("shares-by-rank", "rank")).hasSize(25);
    }

    /** Pictures for inspection, if a folder is named for them. */
    @Test
    void drawsPicturesOnRequest() throws Exception {
        String wanted = System.getProperty("html.pictures", "");
        if (!wanted.isEmpty()) {
            Path pictures = Files.createDirectories(Path.of(wanted));
            Shape shape = new Shape("large", 1_000, 30, 3);
            FleetReport large = FleetReportTest.simulated(shape, SimulatedFleet.studyFaults(shape), tables);
            Files.writeString(pictures.resolve("fleet.html"), large.toHtml());
            picture(large.toHtml(), pictures.resolve("fleet"));
            picture(FleetReportTest.hostile().toHtml(), pictures.resolve("fleet-hostile"));
        }
        show(small.toHtml());
        assertThat(browser.picture()).startsWith(0x89, 'P', 'N', 'G');
    }
}
