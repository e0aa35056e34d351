package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.testing.PageInBrowser;
import org.brickprofiler.testing.Profiles;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Whether everybody can read the page: by a screen reader, in either theme, in a narrow window, and on paper. */
class PageAccessibilityIT extends PageInBrowser {

    @ParameterizedTest
    @MethodSource("org.brickprofiler.report.HtmlReportIT#pages")
    void hasNoFaultOfAccessibility(HtmlReport page) throws Exception {
        assertNoFaultOfAccessibility(page.render());
    }

    @Test
    void wouldFindAFaultOfAccessibility() throws Exception {
        show(HtmlReport.render(Profiles.full()));
        browser.evaluate(axe() + "; document.querySelector('input').removeAttribute('aria-label'); "
                + "document.querySelector('input').placeholder = ''; "
                + "document.documentElement.style.setProperty('--quiet', 'var(--rule)')");
        assertThat(browser.evaluate(
                                "axe.run({runOnly: ['color-contrast', 'label']}).then(({violations}) => violations.map(({id}) => id).sort().join())")
                        .asText())
                .isEqualTo("color-contrast,label");
    }

    @Test
    void followsTheSystemsSetting() throws Exception {
        show(HtmlReport.render(Profiles.full()));
        List<String> papers = new ArrayList<>();
        for (String scheme : List.of("light", "dark")) {
            browser.prefer(scheme);
            papers.add(browser.evaluate("getComputedStyle(document.body).backgroundColor")
                    .asText());
        }
        assertThat(papers).containsExactly("rgb(255, 255, 255)", "rgb(20, 23, 26)");
    }

    @Test
    void keepsToTheWindowHoweverNarrow() throws Exception {
        assertKeepsToTheWindow(HtmlReport.render(Profiles.full()));
    }

    @Test
    void prints() throws Exception {
        show(HtmlReport.render(Profiles.many(200)));
        String pdf = new String(browser.pdf(), ISO_8859_1);

        assertThat(pdf).startsWith("%PDF-");
        assertThat(pdf.split("/Type /Page\\b", -1).length - 1).as("pages").isBetween(4, 20);
    }
}
