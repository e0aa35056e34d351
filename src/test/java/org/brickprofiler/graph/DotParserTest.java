package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.jgrapht.graph.DefaultEdge;
import org.jgrapht.graph.DirectedPseudograph;
import org.jgrapht.nio.dot.DOTImporter;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** JGraphT, which knows the grammar of DOT, reads the text on every machine. */
class DotParserTest extends DotContract {

    private static final Pattern ESCAPE = Pattern.compile("\\\\(.)");

    /** The content of the text. */
    private record Picture(
            DirectedPseudograph<String, DefaultEdge> graph,
            Map<String, String> labels,
            Map<DefaultEdge, Map<String, String>> edges) {

        static Picture of(String dot) {
            DirectedPseudograph<String, DefaultEdge> graph = new DirectedPseudograph<>(DefaultEdge.class);
            Map<String, String> labels = new HashMap<>();
            Map<DefaultEdge, Map<String, String>> edges = new HashMap<>();
            DOTImporter<String, DefaultEdge> importer = new DOTImporter<>();
            importer.setVertexFactory(name -> name);
            importer.addVertexAttributeConsumer((attribute, value) -> {
                if (attribute.getSecond().equals("label")) {
                    labels.put(attribute.getFirst(), value.getValue());
                }
            });
            importer.addEdgeAttributeConsumer(
                    (attribute, value) -> edges.computeIfAbsent(attribute.getFirst(), edge -> new HashMap<>())
                            .put(attribute.getSecond(), value.getValue()));
            importer.importGraph(graph, new StringReader(dot));
            return new Picture(graph, labels, edges);
        }
    }

    @Override
    Map<String, List<String>> read(String dot) {
        Map<String, List<String>> nodes = new HashMap<>();
        Picture picture = Picture.of(dot);
        picture.graph()
                .vertexSet()
                .forEach(node -> nodes.put(node, shown(picture.labels().get(node))));
        return nodes;
    }

    /** Graphviz's interpretation of a label: first its own escapes, then those of XML. */
    private static List<String> shown(@Nullable String label) {
        assertThat(label).as("a node without a label").isNotNull();
        String text = ESCAPE.matcher(label).replaceAll(escape -> switch (escape.group(1)) {
            case "n" -> "\n";
            case "\\" -> Matcher.quoteReplacement("\\");
            default -> throw new AssertionError("an escape that nobody wrote: " + escape.group());
        });
        assertThat(text.replaceAll("&(amp|lt|gt|quot);", "")).doesNotContain("&");
        return text.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&")
                .lines()
                .toList();
    }

    /** The edges that are drawn: boxes show containment. */
    @Test
    void everyEdgeIsThere() {
        ExecutionGraph graph = SampleGraphs.everyKind();
        Picture picture = Picture.of(GraphExport.toDot(graph));

        List<String> drawn = new ArrayList<>();
        picture.edges().forEach((edge, attributes) -> {
            if (!"invis".equals(attributes.get("style"))) {
                drawn.add(picture.graph().getEdgeSource(edge) + " -> "
                        + picture.graph().getEdgeTarget(edge) + " " + attributes.get("label"));
            }
        });
        List<String> expected = new ArrayList<>();
        for (int id = 0; id < graph.nodeCount(); id++) {
            graph.outgoing(id).stream()
                    .filter(edge -> edge.type() != EdgeType.CONTAINS)
                    .map(edge -> "n" + edge.from() + " -> n" + edge.to() + label(edge))
                    .forEach(expected::add);
        }
        assertThat(drawn).containsExactlyInAnyOrderElementsOf(expected);
    }

    private static String label(Edge edge) {
        if (edge.type() != EdgeType.TRANSFER) {
            return " null";
        }
        return edge.weight() == 0.5 ? " 0.5 bytes" : " 4,096 bytes";
    }
}
