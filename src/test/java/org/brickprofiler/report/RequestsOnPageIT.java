package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.report.internal.HumanUnits;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.RequestSamples;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The requests over time, in a real browser. */
class RequestsOnPageIT extends PageInBrowser {

    private static final String UNKNOWN = "are no longer known";

    private void press(String key) throws Exception {
        browser.evaluate("document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: '" + key
                + "', bubbles: true, cancelable: true}))");
    }

    private static List<RequestRecord> byArrival(ProfileSnapshot snapshot) {
        return snapshot.requestTimeline().requests().stream()
                .map(RequestTimeline.Request::record)
                .sorted(Comparator.comparingLong(RequestRecord::arrivedNs))
                .toList();
    }

    /** The rate while a step ran says little of a server that waits between steps. */
    @Spec("8.5")
    @Test
    void theFirstFigureOfAServerIsItsOutputWhileARequestWasLive() throws Exception {
        FakeClock clock = new FakeClock();
        BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
        profiler.enable();
        for (int i = 0; i < 4; i++) {
            long request = profiler.requests().arrived(1);
            clock.advance(400_000_000);
            profiler.beginStep(StepInfo.prefill(1));
            profiler.requests().inStep(request, 1);
            clock.advance(100_000_000);
            profiler.endPass();
            profiler.requests().finished(request, Outcome.COMPLETED);
        }

        show(HtmlReport.render(profiler.snapshot()));

        assertThat(browser.texts(".figures dt"))
                .startsWith("Output tokens per second", "Requests per second", "Time to first token");
        assertThat(browser.texts(".figures dd").stream().map(text -> text.replace('\u00a0', ' ')))
                .startsWith(
                        "2.00", "over the 2.00 s in which a request was live; 10.0 while a prefill step ran", "2.00");
    }

    @Spec("25.12")
    @Test
    void showsTheCausesOfTheChosenRequestByKeyboard() throws Exception {
        ProfileSnapshot snapshot = Profiles.served(20);
        show(HtmlReport.render(snapshot));

        browser.evaluate("document.querySelector('.over-time').focus()");
        press("Home");
        press("ArrowDown");
        RequestRecord second = byArrival(snapshot).get(1);
        assertThat(plain(browser.text(".chosen p")))
                .startsWith("Request 2 of 20: first token after " + time((double) second.timeToFirstTokenNs()))
                .contains(time((double) second.durationNs()) + " in all");
        for (Cause cause : Cause.values()) {
            if (second.causeNs(cause) > 0) {
                assertThat(browser.texts(".chosen .causes li").stream().map(RequestsOnPageIT::plain))
                        .contains(cause.displayName() + time((double) second.causeNs(cause)) + ", "
                                + HumanUnits.percent(100.0 * second.causeNs(cause) / second.durationNs()) + " %");
            }
        }
        assertThat(browser.texts(".requests .strong")).containsExactly("2");
        press("+");
        press("ArrowRight");
        assertThat(browser.text(".controls")).contains("requests in", ", from");
        press("0");
        assertThat(browser.text(".controls")).contains("20 requests in").doesNotContain(", from");
    }

    /** The distance of the colours to the paper, 0 to 765, by cause. */
    @Test
    void waitingIsPalerThanWorkAndStalls() throws Exception {
        show(HtmlReport.render(Profiles.served(200)));
        JsonNode distances =
                browser.evaluate("Object.fromEntries([...document.querySelectorAll('#section-requests .beside td, "
                        + "#section-requests .beside th')].filter((cell) => cell.querySelector('.swatch')).map((cell) => { "
                        + "const context = document.createElement('canvas').getContext('2d'); "
                        + "context.fillStyle = getComputedStyle(cell.querySelector('.swatch')).backgroundColor; "
                        + "context.fillRect(0, 0, 1, 1); const [r, g, b] = context.getImageData(0, 0, 1, 1).data; "
                        + "return [cell.textContent, 765 - r - g - b]; }))");
        List<Integer> pale = new ArrayList<>();
        List<Integer> strong = new ArrayList<>();
        for (Map.Entry<String, JsonNode> cause : distances.properties()) {
            (cause.getKey().matches("(queued|delivery).*") ? pale : strong)
                    .add(cause.getValue().asInt());
        }

        assertThat(pale).isNotEmpty().allMatch(distance -> distance > 0);
        assertThat(strong).isNotEmpty();
        assertThat(Collections.max(pale)).isLessThan(Collections.min(strong));
    }

    private static String plain(String text) {
        return text.replace('\u00a0', ' ');
    }

    @Spec("25.12")
    @Test
    void showsTheCausesOfTheRequestUnderThePointer() throws Exception {
        show(HtmlReport.render(Profiles.served(20)));

        browser.evaluate("const rows = document.querySelector('.requests'), edges = rows.getBoundingClientRect();"
                + "rows.dispatchEvent(new MouseEvent('click', {clientX: edges.left + 100, clientY: edges.top + 4}))");
        assertThat(browser.text(".chosen p")).startsWith("Request 1 of 20: ");
    }

    @Spec("25.10")
    @Test
    void showsTheLatenciesOfRequestsAndNotThoseOfSteps() throws Exception {
        ProfileSnapshot snapshot = Profiles.served(20);
        show(HtmlReport.render(snapshot));

        assertThat(plain(browser.text(".figures")))
                .contains("p50 of 20; p99 "
                        + time((double) snapshot.timeToFirstToken().percentileNs(99)));
        assertThat(browser.text("#section-steps")).doesNotContain("what a user waits for");
    }

    /** The script compares the segments that it finds with the causes of each request. */
    @Spec("25.11")
    @Test
    void segmentsOfTheScriptAgreeWithTheCauses() throws Exception {
        String page = HtmlReport.render(Profiles.served(1_024));
        show(page);
        assertThat(browser.text("#section-requests")).doesNotContain(UNKNOWN);

        show(page.replaceFirst("(\"works\": \\[ \\[ 0, \\d+, \\d+, \\d+, \\d+, )1", "$10"));
        assertThat(browser.text("#section-requests")).contains("the steps of 1 " + UNKNOWN);
    }

    @Spec({"25.18", "25.19"})
    @Test
    void drawsOwnWorkAndStatesFromWhichMomentRequestsCount() throws Exception {
        String page = HtmlReport.render(Profiles.withOwnWork());
        show(page);
        assertThat(browser.text("#section-requests"))
                .doesNotContain(UNKNOWN)
                .contains(
                        "own work between steps", "Requests count from the call of Server.complete; queues before it");
        assertThat(browser.texts(".legend span")).anyMatch(each -> each.contains("own work between steps"));

        show(page.replaceFirst("(\"own_works\": \\[ \\[ 0, \\d+, )\\d+", "$17"));
        assertThat(browser.text("#section-requests")).contains("the steps of 1 " + UNKNOWN);
    }

    /** An id is text, whatever it contains. */
    @Spec("25.21")
    @Test
    void findsARequestByItsId() throws Exception {
        show(HtmlReport.render(Profiles.withOwnWork()));
        String id = PlainText.oneLine(RequestSamples.HOSTILE_ID).replace("\\r\\n", "\\u000d\\u000a");
        assertThat(browser.evaluate("document.querySelectorAll('img').length").asInt())
                .isZero();
        assertThat(browser.evaluate("[...document.querySelectorAll('#section-requests bdi')].map((each) => each.title"
                                + " || each.textContent).sort()")
                        .toString())
                .isEqualTo(new ObjectMapper().writeValueAsString(List.of(id, "chat-2")));

        find("CHAT");
        assertThat(browser.text(".chosen p"))
                .matches("Request 3 of 3, chat-2, arrived at 03:04:05\\.\\d{3} UTC: first token after .*");
        assertThat(browser.text(".controls .filter")).startsWith("1 request");
        find("script");
        assertThat(browser.text(".chosen p")).startsWith("Request 2 of 3, " + id + ", arrived at 03:04:05.");
        find("none of them");
        assertThat(browser.text(".controls .filter")).startsWith("0 requests");

        browser.evaluate("const field = document.querySelector('#section-requests .filter input'); "
                + "field.value = 'chat'; field.dispatchEvent(new Event('input'))");
        assertThat(browser.evaluate("[...document.querySelectorAll('#section-requests tbody tr')]"
                                + ".filter((row) => row.querySelector('bdi') && !row.hidden).length")
                        .asInt())
                .isOne();
    }

    private void find(String text) throws Exception {
        browser.evaluate("(() => { const field = document.querySelector('.controls input'); field.value = '" + text
                + "'; field.dispatchEvent(new Event('input')); })()");
    }

    @Spec("25.21")
    @Test
    void listsLiveRequests() throws Exception {
        show(HtmlReport.render(Profiles.requests()));
        assertThat(browser.text("#section-requests")).contains("live requests").contains("waiting");
        assertThat(browser.evaluate("document.querySelectorAll('.controls').length")
                        .asInt())
                .isZero();
    }

    @Spec("25.12")
    @Test
    void keepsToTheWindowWithAThousandRequests() throws Exception {
        assertKeepsToTheWindow(HtmlReport.render(Profiles.served(1_024)));
    }
}
