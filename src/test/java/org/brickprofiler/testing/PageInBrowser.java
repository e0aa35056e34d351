package org.brickprofiler.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A page in a real browser. In every test, the console must stay empty, and the page must access no network. */
@OneJdk
public abstract class PageInBrowser {

    private static @Nullable Browser shared;

    @TempDir
    private static Path profile;

    @TempDir
    protected Path folder;

    protected Browser browser;

    /** Runs before each test, not once before all, so that each skipped test is counted. */
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
        // The page answers after everything that it did before, so all its complaints have arrived.
        browser.evaluate("1");
        assertThat(browser.complaints()).isEmpty();
        assertThat(browser.requests()).allMatch(address -> address.startsWith("file:") || address.startsWith("data:"));
    }

    protected void show(String page) throws Exception {
        browser.open(Files.writeString(folder.resolve("page.html"), page));
    }

    /** Shows a page at an address, such as {@code #brick=Norm}. */
    protected void showAt(String page, String fragment) throws Exception {
        browser.open(Files.writeString(folder.resolve("page.html"), page), fragment);
    }

    /** Returns the texts of a column in a section's table, as a person reads them. */
    protected List<String> column(String section, String label) throws Exception {
        List<String> labels = browser.texts("#section-" + section + " thead th");
        int at = labels.indexOf(label) + 1;
        assertThat(at).as("column '%s' of %s", label, labels).isPositive();
        return browser.texts("#section-" + section + " tbody tr:not(.detail) > :nth-child(" + at + ")").stream()
                .map(text -> text.replace('\u00a0', ' ').strip())
                .toList();
    }

    /** Returns a duration as a page writes it. */
    protected static String time(double ns) {
        return measured(ns, List.of("ns", "\u00b5s", "ms", "s"));
    }

    /** Returns a rate as a page writes it. */
    protected static String rate(double value) {
        return measured(value, List.of("", "k", "M", "G", "T", "P")).strip();
    }

    private static String measured(double value, List<String> units) {
        double figure = new BigDecimal(value).round(new MathContext(3)).doubleValue();
        boolean isWhole = figure == Math.rint(figure);
        int unit = 0;
        while (unit < units.size() - 1 && figure >= 1000) {
            figure /= 1000;
            unit++;
        }
        return (unit == 0 && isWhole ? String.format(Locale.ROOT, "%,.0f", figure) : number(figure)) + " "
                + units.get(unit);
    }

    /** Returns a number as a page writes it: with three significant digits. */
    protected static String number(double value) {
        BigDecimal figure = new BigDecimal(value).round(new MathContext(3));
        int decimals = value == 0 ? 0 : Math.max(0, 2 - (figure.precision() - figure.scale() - 1));
        return String.format(Locale.ROOT, "%,." + decimals + "f", figure);
    }

    /** Returns a name as a page writes it. */
    protected static String shortened(String name) {
        return name.length() <= 44 ? name : name.substring(0, 24) + "\u2026" + name.substring(name.length() - 19);
    }

    /** Sorts a table by the column with a label. If several tables have such a column, sorts the first. */
    protected void click(String label) throws Exception {
        browser.evaluate(
                "[...document.querySelectorAll('.sort')].find((b) => b.textContent === '" + label + "').click()");
    }

    /** Presses the Tab key until the element with a name has the focus. */
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
        throw new AssertionError("the Tab key does not reach " + name);
    }

    /** Returns the text that the page's button saves. */
    protected String savedJson() throws Exception {
        return browser.evaluate("new Promise((saved) => { URL.createObjectURL = (blob) => { blob.text().then(saved); "
                        + "return 'data:,'; }; document.querySelector('.action').click(); })")
                .asText();
    }

    /**
     * Checks a page with axe-core, with up to nine rows opened: by all rules in the light theme, and by the rule on
     * colour contrast in the dark theme.
     */
    protected void assertNoFaultOfAccessibility(String page) throws Exception {
        browser.prefer("light");
        show(page);
        browser.evaluate("document.querySelectorAll('.open').forEach((button, i) => i < 9 && button.click())");
        browser.evaluate(axe() + "; 0");
        assertNoViolation("light", "", 20);
        browser.prefer("dark");
        assertNoViolation("dark", ", runOnly: ['color-contrast']", 0);
    }

    private void assertNoViolation(String scheme, String rules, int fewest) throws Exception {
        // Finding a selector for each element that passes would take a tenth of the time.
        JsonNode found = browser.evaluate("axe.run({resultTypes: ['violations']" + rules
                + "}).then(({passes, violations}) => ({passes: passes.length, violations: "
                + "violations.map(({id, nodes}) => id + ': ' + nodes.map((node) => node.html).join(' '))}))");
        assertThat(found.get("violations")).as(scheme).isEmpty();
        assertThat(found.get("passes").asInt()).as("rules that applied").isGreaterThan(fewest);
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

    /** Saves pictures of a whole page, wide and narrow in both themes, and the page as it prints. */
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
