package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

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
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.io.TempDir;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

/** Graphviz itself draws the text, if it is installed. */
@OneJdk
class GraphvizIT extends DotContract {

    private static final Duration LONGEST = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @Override
    Map<String, List<String>> read(String text) throws Exception {
        Fixture.GRAPHVIZ.needProgram("dot");
        Path input = Files.writeString(folder.resolve("graph.dot"), text);
        Path output = folder.resolve("graph.svg");
        ProcessResult dot = ChildProcess.of("dot")
                .arguments(List.of("-Tsvg", "-o", output.toString(), input.toString()))
                .limit(LONGEST)
                .run();
        assertThat(dot.output()).as("what dot complained of").isEmpty();
        assertThat(dot.exitCode()).isZero();
        return nodes(Files.readString(output, StandardCharsets.UTF_8));
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
}
