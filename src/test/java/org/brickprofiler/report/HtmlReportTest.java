package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text of the page; HtmlReportIT shows it in a browser. */
class HtmlReportTest {

    private static final Pattern SCRIPT = Pattern.compile("<script>(.*?)</script>", Pattern.DOTALL);
    private static final Pattern STYLE = Pattern.compile("<style>(.*?)</style>", Pattern.DOTALL);
    private static final Pattern DATA =
            Pattern.compile("<script type=\"application/json\" id=\"profile\">(.*?)</script>", Pattern.DOTALL);

    @TempDir
    Path folder;

    /** What stands between the tags of the only element of its kind. */
    private static String only(Pattern element, String page) {
        Matcher found = element.matcher(page);
        assertThat(found.find()).as(element.pattern()).isTrue();
        String content = found.group(1);
        assertThat(found.find()).as("a second %s", element.pattern()).isFalse();
        return content;
    }

    /** A parser takes the escape in strings for what it stands for. */
    @Spec("8.5")
    @Property(tries = 200)
    @Domain(Snapshots.class)
    void holdsTheJsonWhateverTheNames(@ForAll ProfileSnapshot snapshot) throws IOException {
        String json = only(DATA, HtmlReport.render(snapshot));

        assertThat(json).doesNotContain("<");
        assertThat(JsonReport.fromJson(json)).isEqualTo(snapshot);
    }

    @Test
    void holdsTheTextForWhereScriptsAreOff() {
        String page = HtmlReport.render(Samples.of(Samples.brick(
                "a </pre></noscript><b>&amp;", BrickCategory.OTHER, 1, 10, 10, 10, 1)));

        assertThat(page).contains("<noscript><pre>Brick profile\n").contains("a &lt;/pre>&lt;/noscript>&lt;b>&amp;amp;");
        assertThat(page.split("</noscript>", -1)).hasSize(2);
    }

    @Spec("8.5")
    @Test
    void loadsNothingAndAllowsItsOwnScriptOnly() throws Exception {
        String page = HtmlReport.render(Samples.full());

        assertThat(page)
                .contains("default-src 'none'; style-src '" + hash(only(STYLE, page)) + "'; script-src '"
                        + hash(only(SCRIPT, page)) + "'");
        // The one address is a name that every browser knows, and asks nobody for.
        String drawn = page.replace("\"http://www.w3.org/2000/svg\"", "");
        assertThat(List.of(
                        "http:", "https:", "@import", "url(", " src=", "<link", "import(", "fetch(", "innerHTML",
                        "outerHTML", "document.write", "insertAdjacentHTML", "eval("))
                .filteredOn(drawn::contains)
                .isEmpty();
    }

    private static String hash(String text) throws Exception {
        return "sha256-"
                + Base64.getEncoder()
                        .encodeToString(MessageDigest.getInstance("SHA-256").digest(text.getBytes(UTF_8)));
    }

    @Spec("8.5")
    @Test
    void staysSmall() {
        assertThat(HtmlReport.render(Samples.full()).getBytes(UTF_8)).hasSizeLessThan(80_000);
        assertThat(HtmlReport.render(Samples.many(500)).getBytes(UTF_8)).hasSizeLessThan(2_000_000);
    }

    @Test
    void isTheSameInEveryLocale() {
        Locale usual = Locale.getDefault();
        List<String> pages = new ArrayList<>();
        try {
            for (String tag : List.of("en-US", "tr-TR-u-nu-arab")) {
                Locale.setDefault(Locale.forLanguageTag(tag));
                pages.add(HtmlReport.render(Samples.full()));
            }
        } finally {
            Locale.setDefault(usual);
        }
        assertThat(pages.get(1)).isEqualTo(pages.get(0));
    }

    @Spec("8.3")
    @Test
    void writesTheFileWholeOrNotAtAll() throws IOException {
        Path file = folder.resolve("report.html");
        HtmlReport.write(Samples.plain(), file);

        assertThat(Files.readString(file)).isEqualTo(HtmlReport.render(Samples.plain()));
        Path nowhere = folder.resolve("missing").resolve("report.html");
        assertThatThrownBy(() -> HtmlReport.write(Samples.plain(), nowhere))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(nowhere.toString());
    }
}
