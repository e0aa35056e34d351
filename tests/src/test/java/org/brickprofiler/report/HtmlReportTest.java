package org.brickprofiler.report;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.domains.Domain;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.graph.CriticalPath;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.ExecutionNode;
import org.brickprofiler.testing.Profiles;
import org.brickprofiler.testing.Snapshots;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SampleTimelines;
import org.brickprofiler.trace.TimelineDigest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The text of the page; HtmlReportIT shows it in a browser. */
class HtmlReportTest {

    private static final Pattern SCRIPT = Pattern.compile("<script type=\"module\">(.*?)</script>", Pattern.DOTALL);
    private static final Pattern STYLE = Pattern.compile("<style>(.*?)</style>", Pattern.DOTALL);
    private static final Pattern DATA = data("profile");
    private static final Pattern GRAPH = data("graph");

    @TempDir
    Path folder;

    private static Pattern data(String id) {
        return Pattern.compile("<script type=\"application/json\" id=\"" + id + "\">(.*?)</script>", Pattern.DOTALL);
    }

    /** The text between the tags of the only element of its kind. */
    private static String only(Pattern element, String page) {
        Matcher found = element.matcher(page);
        assertThat(found.find()).as(element.pattern()).isTrue();
        String content = found.group(1);
        assertThat(found.find()).as("a second %s", element.pattern()).isFalse();
        return content;
    }

    /** The page escapes {@code <} in strings; a JSON parser restores it. */
    @Spec("8.5")
    @Property(tries = 200)
    @Domain(Snapshots.class)
    void holdsTheJsonForAnyNames(@ForAll ProfileSnapshot snapshot) throws IOException {
        String json = only(DATA, HtmlReport.render(snapshot));

        assertThat(json).doesNotContain("<");
        assertThat(JsonReport.fromJson(json)).isEqualTo(snapshot);
    }

    @Test
    void holdsTheTextForBrowsersWithoutScripts() {
        String page = HtmlReport.render(
                Profiles.of(Profiles.brick("a </pre></noscript><b>&amp;", BrickCategory.OTHER, 1, 10, 10, 10, 1)));

        assertThat(page)
                .contains("<noscript><pre>Brick profile\n")
                .contains("a &lt;/pre>&lt;/noscript>&lt;b>&amp;amp;");
        assertThat(page.split("</noscript>", -1)).hasSize(2);
    }

    @Spec("8.5")
    @Test
    void loadsNothingAndAllowsItsOwnScriptOnly() throws Exception {
        String page = HtmlReport.render(Profiles.full());

        assertThat(page)
                .contains("default-src 'none'; style-src '" + hash(only(STYLE, page)) + "'; script-src '"
                        + hash(only(SCRIPT, page)) + "'");
        // The one address is a name that every browser knows without accessing it.
        String drawn = page.replace("\"http://www.w3.org/2000/svg\"", "");
        assertThat(List.of(
                        "http:",
                        "https:",
                        "@import",
                        "url(",
                        " src=",
                        "<link",
                        "import(",
                        "fetch(",
                        "innerHTML",
                        "outerHTML",
                        "document.write",
                        "insertAdjacentHTML",
                        "eval("))
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
        assertThat(HtmlReport.render(Profiles.full()).getBytes(UTF_8)).hasSizeLessThan(135_000);
        String large = HtmlReport.of(Profiles.many(500))
                .withGraph(Profiles.pass(200, 500))
                .with(TimelineDigest.of(SampleTimelines.ofSteps(new int[] {10, 20, 30}, 1_000)))
                .render();
        assertThat(large.getBytes(UTF_8)).hasSizeLessThan(2_030_000);
    }

    @Spec("8.5")
    @Test
    void holdsTheGraphOfAPassUpToABound() throws IOException {
        ExecutionGraph graph = Profiles.pass(4, 3);
        CriticalPath path = CriticalPath.of(graph);
        JsonNode json = graphOf(graph);

        assertThat(json.get("total_ns").asLong()).isEqualTo(path.totalNs()).isEqualTo(2_000 + 4 * 6_000 + 9_000);
        assertThat(json.get("left_out").asInt()).isZero();
        assertThat(json.get("name")).hasSize(graph.nodeCount());
        // The tree's order: a layer, its content, the next layer.
        assertThat(texts(json.get("name")).subList(0, 6).stream()
                        .map(place ->
                                json.get("names").get(Integer.parseInt(place)).asText()))
                .containsExactly("Embedding", "Layer 0", "RmsNorm", "DownProjection", "model.block.2", "Layer 1");
        assertThat(texts(json.get("parent")).subList(0, 6)).containsExactly("-1", "-1", "1", "1", "1", "-1");
        assertThat(texts(json.get("layer")).subList(0, 6)).containsExactly("-1", "0", "-1", "-1", "-1", "1");
        assertThat(json.get("slack_ns").get(graph.nodeCount() - 1).asLong()).isEqualTo(35_000 - 1_500);
        assertThat(json.get("start_ns").get(5).asLong()).isEqualTo(8_000);

        JsonNode large = graphOf(Profiles.pass(300, 50));
        assertThat(large.get("name")).hasSize(PageParts.MOST_NODES);
        assertThat(large.get("left_out").asInt()).isEqualTo(2 + 300 * 51 - PageParts.MOST_NODES);
        assertThat(large.get("parent"))
                .allSatisfy(parent -> assertThat(parent.asInt()).isLessThan(PageParts.MOST_NODES));
    }

    private static JsonNode graphOf(ExecutionGraph graph) throws IOException {
        String page = HtmlReport.of(Profiles.plain()).withGraph(graph).render();
        return new ObjectMapper().readTree(only(GRAPH, page));
    }

    private static List<String> texts(JsonNode array) {
        List<String> texts = new ArrayList<>();
        array.forEach(value -> texts.add(value.asText()));
        return texts;
    }

    @Test
    void addsToAPageWithoutChangingIt() {
        HtmlReport page = HtmlReport.of(Profiles.plain());
        String before = page.render();
        HtmlReport more = page.withGraph(Profiles.pass(2, 2));

        assertThat(page.render()).isEqualTo(before).isEqualTo(HtmlReport.render(Profiles.plain()));
        assertThat(more.withGraph(Profiles.pass(2, 2)).render())
                .isEqualTo(more.render())
                .isNotEqualTo(before);
    }

    @Test
    void refusesAGraphThatWaitsForItself() {
        ExecutionGraph graph = new ExecutionGraph();
        int one = graph.addNode(new ExecutionNode.Brick("one", 1, 1));
        int two = graph.addNode(new ExecutionNode.Brick("two", 1, 1));
        graph.addDependency(one, two);
        graph.addDependency(two, one);

        assertThatThrownBy(() -> HtmlReport.of(Profiles.plain()).withGraph(graph))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("one", "two");
    }

    @Test
    void refusesValuesThatItsJsonCannotHold() {
        HtmlReport page =
                HtmlReport.of(Profiles.plain()).withFurther(Map.of("one", 1)).withFurther(Map.of("two", 2));

        assertThat(page.render()).contains("\"one\": 1", "\"two\": 2");
        assertThatThrownBy(() -> page.withFurther(Map.of("bricks", List.of())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bricks");
    }

    @Test
    void refusesARoofThatIsNone() {
        assertThatThrownBy(() -> HtmlReport.of(Profiles.plain()).withKernelRoofline(new ExecutionGraph(), 1, 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("bandwidth of 0.0 GB/s");
    }

    @Test
    void isTheSameInEveryLocale() {
        Locale usual = Locale.getDefault();
        List<String> pages = new ArrayList<>();
        try {
            for (String tag : List.of("en-US", "tr-TR-u-nu-arab")) {
                Locale.setDefault(Locale.forLanguageTag(tag));
                pages.add(HtmlReport.render(Profiles.full()));
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
        HtmlReport.write(Profiles.plain(), file);

        assertThat(Files.readString(file)).isEqualTo(HtmlReport.render(Profiles.plain()));
        Path nowhere = folder.resolve("missing").resolve("report.html");
        assertThatThrownBy(() -> HtmlReport.write(Profiles.plain(), nowhere))
                .isInstanceOf(IOException.class)
                .hasMessageContaining(nowhere.toString());
    }
}
