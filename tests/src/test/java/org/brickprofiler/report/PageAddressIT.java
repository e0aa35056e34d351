package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.roofline.BrickRoofline;
import org.brickprofiler.roofline.RooflineReport;
import org.brickprofiler.roofline.RooflineReportTest;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SampleTimelines;
import org.brickprofiler.trace.TimelineDigest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The state of the page of a profile in its address, and the links to the rows of bricks. */
class PageAddressIT extends PageInBrowser {

    private static final String PHASE =
            "document.querySelector('#section-bricks select').selectedOptions[0].textContent";
    private static final String FIELD = "document.querySelector('#section-bricks input')";
    private static final String OPENED =
            "[...document.querySelectorAll('[aria-expanded=true]')].map((b) => b.textContent).join()";

    /** The opened row is between the bar of sections and the end of the window. */
    private static final String IS_IN_VIEW =
            "(() => { const row = document.querySelector('[aria-expanded=true]').getBoundingClientRect();"
                    + " return row.top >= document.querySelector('.sections').getBoundingClientRect().bottom && row.bottom <= innerHeight; })()";

    @AfterEach
    void restoreTheSize() throws Exception {
        browser.resize(1280, 1400);
    }

    /** Three bricks in steps of two phases, with a timeline of 12 layers. */
    private static String phases() {
        return HtmlReport.of(Profiles.decoded(3))
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 30, 20, 500, 40}, 12)))
                .render();
    }

    private String hash() throws Exception {
        return browser.evaluate("location.hash").asText();
    }

    /** Goes to an address of the same page, and waits until the page has noticed. */
    private void go(String hash) throws Exception {
        browser.evaluate(
                "new Promise((heard) => { addEventListener('hashchange', () => setTimeout(heard), {once: true}); "
                        + "location.hash = '" + hash + "'; })");
    }

    /** Clicks an element as a link, and waits until the page has noticed. */
    private void follow(String element) throws Exception {
        browser.evaluate(
                "new Promise((heard) => { addEventListener('hashchange', () => setTimeout(heard), {once: true}); "
                        + element + ".dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true})); })");
    }

    /** Waits until the page has been laid out and drawn. */
    private void draw() throws Exception {
        browser.evaluate(
                "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn))))");
    }

    @Spec("8.5")
    @Test
    void opensTheRowThatTheAddressNames() throws Exception {
        browser.resize(1280, 600);
        showAt(phases(), "#brick=DownProjection&phase=decode");
        draw();

        assertThat(browser.evaluate(OPENED).asText()).isEqualTo("DownProjection");
        assertThat(browser.evaluate(PHASE).asText()).startsWith("decode steps");
        assertThat(browser.evaluate(IS_IN_VIEW).asBoolean()).isTrue();
        go("#brick=RmsNorm&phase=prefill");
        assertThat(browser.evaluate(OPENED).asText()).isEqualTo("RmsNorm");
        assertThat(browser.evaluate(PHASE).asText()).startsWith("prefill steps");
        go("#filter=norm");
        assertThat(browser.evaluate(FIELD + ".value").asText()).isEqualTo("norm");
        assertThat(browser.evaluate(PHASE).asText()).startsWith("all steps");
        assertThat(browser.text("#section-bricks [role=status]:not(.unseen)")).isEqualTo("1 of 3 bricks");
        go("#brick=Embedding&filter=norm");
        assertThat(browser.evaluate(FIELD + ".value").asText())
                .as("a filter that hides the brick is dropped")
                .isEmpty();
        assertThat(browser.evaluate(OPENED).asText()).isEqualTo("Embedding");
    }

    @Test
    void opensOneOfManyBricksThatAreNotShownAtFirst() throws Exception {
        ProfileSnapshot many = Profiles.many(300);
        String last = many.bricks().get(299).name();
        showAt(HtmlReport.render(many), "#brick=" + last);
        draw();

        assertThat(browser.evaluate(OPENED).asText()).isEqualTo(last);
        assertThat(browser.evaluate(IS_IN_VIEW).asBoolean()).isTrue();
    }

    @Test
    void writesTheStateIntoTheAddressWithoutHistory() throws Exception {
        showAt(phases(), "");
        int entries = browser.evaluate("history.length").asInt();

        browser.evaluate("document.querySelector('#section-bricks .open').click()");
        assertThat(hash()).isEqualTo("#brick=DownProjection");
        browser.evaluate("{ const choice = document.querySelector('#section-bricks select'); choice.value = '2'; "
                + "choice.dispatchEvent(new Event('change')); }");
        assertThat(hash()).isEqualTo("#brick=DownProjection&phase=decode");
        assertThat(browser.evaluate(OPENED).asText()).isEqualTo("DownProjection");
        browser.evaluate(FIELD + ".focus()");
        browser.type("a & b");
        assertThat(hash()).isEqualTo("#brick=DownProjection&phase=decode&filter=a+%26+b");
        browser.evaluate("document.querySelector('#section-bricks .open').click()");
        assertThat(hash()).isEqualTo("#phase=decode&filter=a+%26+b");
        assertThat(browser.evaluate("history.length").asInt()).isEqualTo(entries);
        follow("document.querySelector('.sections a[href=\"#categories\"]')");
        assertThat(hash()).isEqualTo("#categories");
        assertThat(browser.evaluate(FIELD + ".value").asText()).isEqualTo("a & b");
        assertThat(browser.evaluate("scrollY > 0").asBoolean()).isTrue();
    }

    @Test
    void ignoresNamesThatItDoesNotKnow() throws Exception {
        for (String fragment :
                new String[] {"#brick=nope&phase=nope", "#brick=%", "#nope", "#brick", "#=", "#phase=%ff&x=y"}) {
            showAt(phases(), fragment);
            draw();
            assertThat(browser.evaluate(OPENED).asText()).as(fragment).isEmpty();
            assertThat(browser.evaluate(PHASE).asText()).as(fragment).startsWith("all steps");
            assertThat(browser.evaluate("scrollY").asInt()).as(fragment).isZero();
        }
        showAt(HtmlReport.render(Profiles.empty()), "#brick=nope");
        assertThat(browser.text(".notices")).contains("No bricks were recorded");
    }

    @Test
    void findingsCategoriesLayersAndStepsLeadToRows() throws Exception {
        showAt(phases(), "");

        follow("[...document.querySelectorAll('.findings a')].find((a) => a.textContent === 'Show DownProjection')");
        assertThat(hash()).isEqualTo("#brick=DownProjection");
        follow("document.querySelector('#section-categories tbody a')");
        assertThat(hash()).isEqualTo("#filter=FFN");
        assertThat(browser.evaluate(
                                "document.querySelectorAll('#section-bricks .wide > tbody > tr:not([hidden], .detail)').length")
                        .asInt())
                .isEqualTo(1);
        follow("document.querySelector('#section-layers svg a')");
        assertThat(hash()).isEqualTo("#brick=RmsNorm");
        // A cell of the second row of the heat map.
        browser.evaluate(
                "new Promise((heard) => { addEventListener('hashchange', () => setTimeout(heard), {once: true}); "
                        + "const map = document.querySelector('.heat'); map.scrollIntoView(); const at = map.getBoundingClientRect(); "
                        + "const [, x] = map.querySelector('.cell').getAttribute('d').match(/M(\\d+)/); map.dispatchEvent(new MouseEvent("
                        + "'click', {bubbles: true, clientX: at.left + Number(x) + 2, clientY: at.top + 20})); })");
        assertThat(hash()).isEqualTo("#brick=DownProjection");
        follow("document.querySelector('#section-steps g .leads')");
        assertThat(hash()).isEqualTo("#phase=prefill&filter=FFN");
        follow("document.querySelector('#section-steps .span.leads')");
        assertThat(hash()).isEqualTo("#brick=Embedding");
    }

    /** A second click on a link to the address that is there moves to the row again. */
    @Test
    void followsALinkToTheSameAddressAgain() throws Exception {
        showAt(phases(), "");
        String link =
                "[...document.querySelectorAll('.findings a')].find((a) => a.textContent === 'Show DownProjection')";
        follow(link);
        browser.evaluate("scrollTo(0, 0)");

        browser.evaluate(link + ".click()");
        assertThat(browser.evaluate(IS_IN_VIEW).asBoolean()).isTrue();
    }

    /** The section of the roofline has another name than its findings. */
    @Test
    void aFindingBelowTheRoofLeadsToItsSection() throws Exception {
        Finding below = new Finding(
                Finding.Kind.BELOW_ROOF, "QkvProjection", 0.5, "QkvProjection runs at 50 % of its roof.", "");
        BrickRoofline roofline = BrickRoofline.of(RooflineReportTest.PROFILE, RooflineReportTest.MACHINE, 8);
        showAt(
                HtmlReport.of(RooflineReportTest.PROFILE)
                        .with(RooflineReport.part(roofline))
                        .withFurther(Map.of("findings", Findings.values(List.of(below))))
                        .render(),
                "");

        assertThat(browser.texts(".findings a")).containsExactly("Show QkvProjection", "Show Distance to the roof");
    }

    /** A step that makes a page is none on this page; the link to its section stays. */
    @Test
    void aPageDoesNotProposeToMakeIt() throws Exception {
        Finding between = new Finding(
                Finding.Kind.BETWEEN_BRICKS,
                "",
                0.5,
                "Bricks cover 50 % of the time in steps.",
                "brick report FILE --html OUT shows the median and the slowest step");
        Finding queue = new Finding(
                Finding.Kind.REQUESTS_QUEUE, "", 0.5, "Requests wait for 50 % of their time.", "have more slots");
        showAt(
                HtmlReport.of(Profiles.steps())
                        .withFurther(Map.of("findings", Findings.values(List.of(queue, between))))
                        .render(),
                "");

        assertThat(browser.texts(".findings li"))
                .containsExactly(
                        "Requests wait for 50 % of their time. Next: have more slots.",
                        "Bricks cover 50 % of the time in steps. Show Steps");
    }
}
