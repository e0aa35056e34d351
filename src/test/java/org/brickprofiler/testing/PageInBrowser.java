package org.brickprofiler.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import org.brickprofiler.report.internal.HumanUnits;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A page in a real browser. In every test, the console must stay empty, and the page must access no network. */
@OtherProgram
public abstract class PageInBrowser {

    private static @Nullable Browser shared;

    @TempDir
    private static Path profile;

    @TempDir
    protected Path folder;

    protected Browser browser;

    /** Not once before all: a test that is skipped counts by itself. */
    @BeforeEach
    void startBrowser() throws Exception {
        if (shared == null) {
            shared = Browser.start(profile);
        }
        browser = shared;
    }

    @AfterAll
    static void closeBrowser() throws IOException {
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }

    @AfterEach
    void nothingWentWrong() throws Exception {
        // An answer of the page comes after all that it did before.
        browser.evaluate("1");
        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.requests()).allMatch(address -> address.startsWith("file:") || address.startsWith("data:"));
    }

    protected void show(String page) throws Exception {
        browser.open(Files.writeString(folder.resolve("page.html"), page));
    }

    /** The text of a column of a section's table, as a person reads it. */
    protected List<String> column(String section, String label) throws Exception {
        List<String> labels = browser.texts("#section-" + section + " thead th");
        int at = labels.indexOf(label) + 1;
        assertThat(at).as("column '%s' of %s", label, labels).isPositive();
        return browser.texts("#section-" + section + " tbody tr:not(.detail) > :nth-child(" + at + ")").stream()
                .map(text -> text.replace('\u00a0', ' ').strip())
                .toList();
    }

    /** A duration as a page writes it. */
    protected static String time(double ns) {
        return HumanUnits.duration(ns).replace("us", "\u00b5s");
    }

    /** A name as a page writes it. */
    protected static String shortened(String name) {
        return name.length() <= 44 ? name : name.substring(0, 24) + "\u2026" + name.substring(name.length() - 19);
    }

    /** Sorts by a column; of several tables that have one, the first. */
    protected void click(String label) throws Exception {
        browser.evaluate(
                "[...document.querySelectorAll('.sort')].find((b) => b.textContent === '" + label + "').click()");
    }

    /** Presses the tabulator key until the focus is on the element of a name. */
    protected void tabTo(String name) throws Exception {
        for (int i = 0; i < 40; i++) {
            browser.press("Tab");
            String focused = browser.evaluate(
                            "document.activeElement.getAttribute('aria-label') || document.activeElement.textContent")
                    .asText();
            if (focused.equals(name)) {
                return;
            }
        }
        throw new AssertionError("the tabulator key does not lead to " + name);
    }

    /** Returns the text that the button saves. */
    protected String savedJson() throws Exception {
        return browser.evaluate("new Promise((saved) => { URL.createObjectURL = (blob) => { blob.text().then(saved); "
                        + "return 'data:,'; }; document.querySelector('.action').click(); })")
                .asText();
    }

    /** Asks axe-core about a page, nine rows of it opened; about its colours in both themes. */
    protected void assertNoFaultOfAccessibility(String page) throws Exception {
        for (String scheme : List.of("light", "dark")) {
            boolean isFirst = scheme.equals("light");
            browser.prefer(scheme);
            show(page);
            browser.evaluate("document.querySelectorAll('.open').forEach((button, i) => i < 9 && button.click())");
            browser.evaluate(axe() + "; 0");
            JsonNode found = browser.evaluate("axe.run(" + (isFirst ? "" : "{runOnly: ['color-contrast']}")
                    + ").then(({passes, violations}) => ({passes: passes.length, violations: "
                    + "violations.map(({id, nodes}) => id + ': ' + nodes.map((node) => node.html).join(' '))}))");
            assertThat(found.get("violations")).as(scheme).isEmpty();
            assertThat(found.get("passes").asInt()).as("rules that applied").isGreaterThan(isFirst ? 20 : 0);
        }
    }

    protected static String axe() throws IOException {
        try (InputStream in = PageInBrowser.class.getResourceAsStream("/axe.min.js")) {
            return new String(Objects.requireNonNull(in, "axe.min.js").readAllBytes(), UTF_8);
        }
    }

    protected void assertKeepsToTheWindow(String page) throws Exception {
        try {
            for (int width : List.of(360, 400, 800, 1600)) {
                browser.resize(width, 900);
                show(page);
                assertThat(browser.evaluate("document.documentElement.scrollWidth")
                                .asInt())
                        .as("at %s pixels", width)
                        .isLessThanOrEqualTo(width);
            }
        } finally {
            browser.resize(1280, 1400);
        }
    }

    /** Pictures of a whole page: wide in both themes, narrow, and as it prints. */
    protected void picture(String page, Path name) throws Exception {
        try {
            for (int width : List.of(1280, 420)) {
                browser.resize(width, 900);
                show(page);
                browser.resize(
                        width,
                        browser.evaluate("document.documentElement.scrollHeight")
                                .asInt());
                for (String scheme : List.of("light", "dark")) {
                    browser.prefer(scheme);
                    Files.write(Path.of(name + "-" + width + "-" + scheme + ".png"), browser.picture());
                }
            }
            Files.write(Path.of(name + ".pdf"), browser.pdf());
        } finally {
            browser.resize(1280, 1400);
        }
    }
}
