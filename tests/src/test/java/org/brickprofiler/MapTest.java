package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.Test;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Draws the picture of the map from the projects' own dependencies. */
@OneJdk
final class MapTest {

    /** The place in which the code of each project runs. */
    private static final Map<String, Place> PLACES = Map.of(
            "brick-profiler", Place.LOOP,
            "brick-profiler-gpu", Place.EDGE,
            "brick-profiler-timeline", Place.EDGE,
            "brick-profiler-metrics", Place.EDGE,
            "brick-profiler-spring-boot-starter", Place.EDGE,
            "brick-profiler-agent", Place.EDGE,
            "brick-profiler-analysis", Place.AFTER,
            "brick-profiler-readers", Place.AFTER,
            "brick-profiler-cli", Place.AFTER);

    private static final Pattern EXPORTS = Pattern.compile("(?m)^    exports ([\\w.]+);");

    private static final int WIDTH = 960;
    private static final int BOX_WIDTH = 216;
    private static final int BOX_HEIGHT = 92;
    private static final int ROW_HEIGHT = 148;
    private static final int TOP = 56;

    private enum Place {
        LOOP("in the loop", "#cfe8d5"),
        EDGE("at the edge of the process", "#fde7bf"),
        AFTER("after the run", "#d4e2f7");

        private final String words;
        private final String colour;

        Place(String words, String colour) {
            this.words = words;
            this.colour = colour;
        }
    }

    /**
     * A project.
     *
     * @param folder its folder from the top
     * @param uses the artifacts of other projects that it is compiled with
     * @param libraries the libraries of others that it is compiled with
     */
    private record Project(String folder, String artifact, Set<String> uses, List<String> libraries) {}

    private static Map<String, Project> projects() throws Exception {
        Map<String, Project> projects = new LinkedHashMap<>();
        for (Path folder : SourceTree.projects()) {
            Element pom = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(folder.resolve("pom.xml").toFile())
                    .getDocumentElement();
            String artifact = child(pom, "artifactId");
            if (!PLACES.containsKey(artifact)) {
                continue;
            }
            Set<String> uses = new TreeSet<>();
            List<String> libraries = new ArrayList<>();
            for (Element dependency : children(children(pom, "dependencies").get(0), "dependency")) {
                if (child(dependency, "scope").isEmpty()) {
                    (child(dependency, "groupId").equals("org.brickprofiler") ? uses : libraries)
                            .add(child(dependency, "artifactId"));
                }
            }
            String name = SourceTree.path("").relativize(folder).toString();
            projects.put(artifact, new Project(name.isEmpty() ? "./" : name + "/", artifact, uses, libraries));
        }
        return projects;
    }

    private static List<Element> children(Element parent, String tag) {
        List<Element> found = new ArrayList<>();
        NodeList nodes = parent.getChildNodes();
        for (int i = 0; i < nodes.getLength(); i++) {
            if (nodes.item(i) instanceof Element element && element.getTagName().equals(tag)) {
                found.add(element);
            }
        }
        return found;
    }

    private static String child(Element parent, String tag) {
        return children(parent, tag).stream()
                .map(Element::getTextContent)
                .findFirst()
                .orElse("");
    }

    /** Returns the projects that another one uses, without those that it also reaches through these. */
    private static Set<String> nearest(Project project, Map<String, Project> all) {
        Set<String> nearest = new TreeSet<>(project.uses());
        project.uses().forEach(used -> nearest.removeAll(reached(named(used, all), all)));
        return nearest;
    }

    private static Set<String> reached(Project project, Map<String, Project> all) {
        Set<String> reached = new TreeSet<>(project.uses());
        project.uses().forEach(used -> reached.addAll(reached(named(used, all), all)));
        return reached;
    }

    private static <T> T named(String artifact, Map<String, T> all) {
        return Objects.requireNonNull(all.get(artifact), artifact);
    }

    private static int level(Project project, Map<String, Project> all) {
        return project.uses().stream()
                .mapToInt(used -> 1 + level(named(used, all), all))
                .max()
                .orElse(0);
    }

    private static String picture(Map<String, Project> all) {
        int highest = all.values().stream()
                .mapToInt(project -> level(project, all))
                .max()
                .orElseThrow();
        Map<String, int[]> corners = new LinkedHashMap<>();
        for (int level = highest; level >= 0; level--) {
            int here = level;
            List<Project> row = all.values().stream()
                    .filter(project -> level(project, all) == here)
                    .toList();
            int gap = (WIDTH - row.size() * BOX_WIDTH) / (row.size() + 1);
            for (int i = 0; i < row.size(); i++) {
                corners.put(
                        row.get(i).artifact(),
                        new int[] {gap + i * (BOX_WIDTH + gap), TOP + (highest - level) * ROW_HEIGHT});
            }
        }
        int height = TOP + highest * ROW_HEIGHT + BOX_HEIGHT + 16;
        StringBuilder svg = new StringBuilder("""
                <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %1$d %2$d" font-family="sans-serif" font-size="13">
                <defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" orient="auto">\
                <path d="M0 0 8 4 0 8z" fill="#555"/></marker></defs>
                <rect width="%1$d" height="%2$d" fill="#fff"/>
                """.formatted(WIDTH, height));
        legend(svg);
        all.values().forEach(project -> nearest(project, all)
                .forEach(used -> arrow(svg, named(project.artifact(), corners), named(used, corners))));
        all.values().forEach(project -> box(svg, project, named(project.artifact(), corners)));
        return svg.append("</svg>\n").toString();
    }

    private static void legend(StringBuilder svg) {
        int x = 16;
        for (Place place : Place.values()) {
            svg.append("<rect x=\"%d\" y=\"14\" width=\"18\" height=\"18\" rx=\"3\" fill=\"%s\" stroke=\"#888\"/>\n"
                    .formatted(x, place.colour));
            svg.append("<text x=\"%d\" y=\"28\">runs %s</text>\n".formatted(x + 26, place.words));
            x += 90 + 7 * place.words.length();
        }
        svg.append("<text x=\"%d\" y=\"28\">an arrow: is compiled with</text>\n".formatted(x));
    }

    private static void arrow(StringBuilder svg, int[] from, int[] to) {
        svg.append("<path d=\"M%d %d L%d %d\" stroke=\"#555\" fill=\"none\" marker-end=\"url(#tip)\"/>\n"
                .formatted(from[0] + BOX_WIDTH / 2, from[1] + BOX_HEIGHT, to[0] + BOX_WIDTH / 2, to[1]));
    }

    private static void box(StringBuilder svg, Project project, int[] at) {
        String colour = named(project.artifact(), PLACES).colour;
        svg.append("<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" stroke=\"#888\"/>\n"
                .formatted(at[0], at[1], BOX_WIDTH, BOX_HEIGHT, colour));
        svg.append("<text x=\"%d\" y=\"%d\" font-weight=\"bold\">%s</text>\n"
                .formatted(at[0] + 10, at[1] + 20, project.artifact()));
        svg.append("<text x=\"%d\" y=\"%d\" fill=\"#333\">%s</text>\n"
                .formatted(at[0] + 10, at[1] + 38, project.folder()));
        int line = 0;
        for (String text : lines(project.libraries())) {
            svg.append("<text x=\"%d\" y=\"%d\" fill=\"#555\" font-size=\"10\">%s</text>\n"
                    .formatted(at[0] + 10, at[1] + 54 + 13 * line++, text));
        }
    }

    /** Returns the names of libraries in at most three lines: families of one first word by that word alone. */
    private static List<String> lines(List<String> libraries) {
        Collection<String> families = libraries.stream()
                .map(name -> name.replaceFirst(
                        "^(eclipse-collections|commons|opentelemetry|micrometer|prometheus|spring|asm|jline)\\b.*",
                        "$1"))
                .collect(Collectors.toCollection(TreeSet::new));
        List<String> lines = new ArrayList<>(List.of(""));
        for (String family : families) {
            int last = lines.size() - 1;
            String longer = lines.get(last).isEmpty() ? family : lines.get(last) + ", " + family;
            if (longer.length() <= 40) {
                lines.set(last, longer);
            } else {
                lines.add(family);
            }
        }
        return lines.subList(0, Math.min(3, lines.size()));
    }

    @Test
    void thePictureIsThatOfTheProjects() throws Exception {
        Golden.assertSame(picture(projects()), SourceTree.path("docs", "architecture.svg"));
    }

    @Test
    void everyProjectIsInThePictureOrHasOnlyTests() throws Exception {
        assertThat(projects().keySet())
                .isEqualTo(PLACES.keySet())
                .isEqualTo(SourceTree.published().stream()
                        .map(SourceTree::artifact)
                        .collect(Collectors.toSet()));
    }

    /** Returns the public types of each exported package, as a page. */
    private static String artifacts(Map<String, Project> all) throws IOException {
        StringBuilder page = new StringBuilder("""
                # The artifact of each public class

                The group of all artifacts is `org.brickprofiler`. For GraalVM's native images, each jar lists in
                `META-INF/native-image` what it reads by name. **No native image was tried**; the agent, and fleets with DuckDB, need a
                virtual machine.

                | package | artifact | public classes |
                |---|---|---|
                """);
        for (Project project : all.values()) {
            Path folder = SourceTree.path(project.folder());
            Path module = folder.resolve(Path.of("src", "main", "module", "module-info.java"));
            if (!Files.exists(module)) {
                continue;
            }
            Matcher exports = EXPORTS.matcher(Files.readString(module));
            while (exports.find()) {
                page.append("| `%s` | `%s` | %s |\n"
                        .formatted(exports.group(1), project.artifact(), publicTypes(folder, exports.group(1))));
            }
        }
        return page.toString();
    }

    private static String publicTypes(Path project, String name) throws IOException {
        try (Stream<Path> files = Files.list(project.resolve("src/main/java/" + name.replace('.', '/')))) {
            List<String> types = new ArrayList<>();
            for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
                String type = file.getFileName().toString().replace(".java", "");
                if (Files.readString(file)
                        .matches("(?s).*\\npublic [a-z @-]*(class|interface|record|enum) " + type + "\\b.*")) {
                    types.add("`" + type + "`");
                }
            }
            return String.join(", ", types);
        }
    }

    @Test
    void theArtifactOfEachPublicClassIsListed() throws Exception {
        Golden.assertSameDocument(artifacts(projects()), "ARTIFACTS.md");
    }

    @Test
    void theMapListsEveryArtifact() throws IOException {
        String map = Files.readString(SourceTree.path("docs", "ARCHITECTURE.md"));
        assertThat(PLACES.keySet()).allSatisfy(artifact -> assertThat(map).contains("`" + artifact + "`"));
    }
}
