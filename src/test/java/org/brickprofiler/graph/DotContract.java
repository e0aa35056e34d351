package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The content of pictures of graphs according to an independent reader of DOT. */
abstract class DotContract {

    /**
     * Reads a picture.
     *
     * @param dot the text that was written
     * @return for each node, by its name in the text, its label, line by line
     */
    abstract Map<String, List<String>> read(String dot) throws Exception;

    private Map<String, List<String>> read(ExecutionGraph graph) throws Exception {
        return read(GraphExport.toDot(graph));
    }

    @Test
    void everyKindOfNodeIsDrawn() throws Exception {
        ExecutionGraph graph = SampleGraphs.everyKind();
        Map<String, List<String>> drawn = read(graph);

        assertThat(drawn).hasSize(graph.nodeCount());
        assertThat(drawn.get("n0")).containsExactly("load \"weights\"", "task", "3 polls", "1 yield", "1.500 ms");
        assertThat(drawn.get("n5"))
                .containsExactly(
                        "gemm<float>", "kernel", "grid 32x8x2", "block 256x1x1", "4,096 bytes shared", "9.999 us");
    }

    @Spec("9.11")
    @Test
    void namesAreShownAsTheyAre() throws Exception {
        Map<String, List<String>> drawn = read(SampleGraphs.nastyNames());

        assertThat(drawn).hasSize(SampleGraphs.NASTY_NAMES.size() + 1);
        for (int i = 0; i < SampleGraphs.NASTY_NAMES.size(); i++) {
            List<String> expected = new ArrayList<>(
                    visible(SampleGraphs.NASTY_NAMES.get(i)).lines().toList());
            expected.add("function");
            assertThat(drawn.get("n" + (i + 1))).isEqualTo(expected);
        }
    }

    /** Returns a name as it is drawn: characters that cannot be shown are escaped as in Java source. */
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
        Map<String, List<String>> drawn = read(graph);

        assertThat(drawn).hasSize(graph.nodeCount());
        for (int id = 0; id < graph.nodeCount(); id++) {
            assertThat(drawn.get("n" + id)).first().isEqualTo(graph.node(id).name());
        }
    }
}
