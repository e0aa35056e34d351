package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Graphviz itself reads what is written for it. */
class GraphvizIT {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** What a node of the picture shows, line by line. */
    private Map<String, List<String>> render(ExecutionGraph graph) throws Exception {
        Path input = Files.writeString(folder.resolve("graph.dot"), GraphExport.toDot(graph));
        Path output = folder.resolve("graph.svg");
        ProcessResult dot = run(ChildProcess.of("dot")
                .arguments(List.of("-Tsvg", "-o", output.toString(), input.toString()))
                .limit(LONGEST));
        assertThat(dot.output()).as("what dot complained of").isEmpty();
        assertThat(dot.exitCode()).isZero();
        return nodes(Files.readString(output, StandardCharsets.UTF_8));
    }

    private static ProcessResult run(ChildProcess dot) {
        try {
            return dot.run();
        } catch (IOException missing) {
            throw new AssertionError("this test needs the program 'dot': install the package graphviz", missing);
        }
    }

    private static Map<String, List<String>> nodes(String svg) throws Exception {
        DocumentBuilderFactory factory = DocumentBuilderFactory.newInstance();
        factory.setFeature("http://apache.org/xml/features/nonvalidating/load-external-dtd", false);
        Document document = factory.newDocumentBuilder().parse(new InputSource(new StringReader(svg)));
        Map<String, List<String>> nodes = new HashMap<>();
        NodeList groups = document.getElementsByTagName("g");
        for (int i = 0; i < groups.getLength(); i++) {
            Element group = (Element) groups.item(i);
            if (group.getAttribute("class").equals("node")) {
                List<String> lines = texts(group, "text");
                assertThat(nodes.put(texts(group, "title").get(0), lines)).isNull();
            }
        }
        return nodes;
    }

    private static List<String> texts(Element parent, String tag) {
        List<String> texts = new ArrayList<>();
        NodeList found = parent.getElementsByTagName(tag);
        for (int i = 0; i < found.getLength(); i++) {
            texts.add(found.item(i).getTextContent().replace('\u00a0', ' '));
        }
        return texts;
    }

    @Test
    void everyKindOfNodeIsDrawn() throws Exception {
        ExecutionGraph graph = SampleGraphs.everyKind();
        Map<String, List<String>> drawn = render(graph);

        assertThat(drawn).hasSize(graph.nodeCount());
        assertThat(drawn.get("n0")).containsExactly("load \"weights\"", "task", "3 polls", "1 yield", "1.500 ms");
        assertThat(drawn.get("n5"))
                .containsExactly(
                        "gemm<float>", "kernel", "grid 32x8x2", "block 256x1x1", "4,096 bytes shared", "9.999 us");
    }

    @Test
    void namesAreShownAsTheyAre() throws Exception {
        Map<String, List<String>> drawn = render(SampleGraphs.nastyNames());

        assertThat(drawn).hasSize(SampleGraphs.NASTY_NAMES.size() + 1);
        for (int i = 0; i < SampleGraphs.NASTY_NAMES.size(); i++) {
            List<String> expected = new ArrayList<>(
                    visible(SampleGraphs.NASTY_NAMES.get(i)).lines().toList());
            expected.add("function");
            assertThat(drawn.get("n" + (i + 1))).isEqualTo(expected);
        }
    }

    /** A name with what cannot be drawn in the notation of Java source. */
    private static String visible(String name) {
        return name.replace("\r", "\\r")
                .replace("\t", "\\t")
                .replace("\u0007", "\\u0007")
                .replace("\u0000", "\\u0000")
                .replace("\u0085", "\\u0085")
                .replace("half \ud83e", "half \\ud83e")
                .replace("half \udd1e", "half \\udd1e")
                .replace("\uffff", "\\uffff");
    }

    @Test
    void aForwardPassIsDrawnWhole() throws Exception {
        ExecutionGraph graph = SampleGraphs.forwardPass();
        Map<String, List<String>> drawn = render(graph);

        assertThat(drawn).hasSize(graph.nodeCount());
        for (int id = 0; id < graph.nodeCount(); id++) {
            assertThat(drawn.get("n" + id)).first().isEqualTo(graph.node(id).name());
        }
    }
}
