package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Function;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.junit.jupiter.api.Test;

final class SequenceRunsTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    @Test
    void siblingsInSequenceAreARun() {
        int layer = graph.pushScope(new Layer(3));
        int gate = brick("gate", 40);
        int up = brick("up", 50);
        int down = brick("down", 10);

        assertThat(runs())
                .containsExactly(new SequenceRun(
                        layer, "Layer 3", List.of(gate, up, down), List.of("gate", "up", "down"), 1, 100, 50));
    }

    @Test
    void aDependencyEndsARun() {
        graph.pushScope(new Layer(0));
        int first = brick("first", 10);
        int second = brick("second", 20);
        int third = brick("third", 30);
        int fourth = brick("fourth", 40);
        graph.addDependency(second, third);

        assertThat(runs())
                .extracting(SequenceRun::nodes)
                .containsExactly(List.of(third, fourth), List.of(first, second));
    }

    @Test
    void aTransferOverSeveralSiblingsEndsARunToo() {
        graph.pushScope(new Layer(0));
        int first = brick("first", 10);
        int second = brick("second", 20);
        int third = brick("third", 30);
        int fourth = brick("fourth", 40);
        graph.addEdge(first, third, EdgeType.TRANSFER, 64);

        assertThat(runs())
                .extracting(SequenceRun::nodes)
                .containsExactly(List.of(third, fourth), List.of(first, second));
    }

    @Test
    void whatWasNeededBeforeARunBeganDoesNotEndIt() {
        graph.pushScope(new Layer(0));
        int first = brick("first", 10);
        int second = brick("second", 20);
        int third = brick("third", 30);
        graph.addDependency(first, second);
        graph.addDependency(first, third);

        assertThat(runs()).extracting(SequenceRun::nodes).containsExactly(List.of(second, third));
    }

    @Test
    void aDependencyBetweenWhatIsInSiblingsCounts() {
        graph.pushScope(new Layer(0));
        graph.pushScope(new Brick("first", 10, 1));
        graph.pushScope(new Brick("deeper", 9, 1));
        int inFirst = brick("kernel", 8);
        graph.popScope();
        graph.popScope();
        graph.pushScope(new Brick("second", 20, 1));
        int inSecond = brick("kernel", 8);
        graph.popScope();
        assertThat(runs()).hasSize(1);

        graph.addDependency(inFirst, inSecond);

        assertThat(runs()).isEmpty();
    }

    @Test
    void whatAnotherChainOfTheSameParentNeedsDoesNotEndARun() {
        int layer = graph.addNode(new Layer(0));
        int[] ids = new int[4];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = graph.addNode(new Brick("b" + i, 10, 1));
            graph.addEdge(layer, ids[i], EdgeType.CONTAINS);
        }
        graph.addEdge(ids[0], ids[1], EdgeType.SEQUENCE);
        graph.addEdge(ids[2], ids[3], EdgeType.SEQUENCE);
        graph.addDependency(ids[0], ids[3]);

        assertThat(runs())
                .extracting(SequenceRun::nodes)
                .containsExactly(List.of(ids[0], ids[1]), List.of(ids[2], ids[3]));
    }

    @Test
    void onlySequenceEdgesMakeARun() {
        int layer = graph.addNode(new Layer(0));
        int[] ids = new int[3];
        for (int i = 0; i < ids.length; i++) {
            ids[i] = graph.addNode(new Brick("b" + i, 10, 1));
            graph.addEdge(layer, ids[i], EdgeType.CONTAINS);
        }
        graph.addDependency(ids[0], ids[2]);
        graph.addEdge(ids[0], ids[1], EdgeType.SEQUENCE);

        assertThat(runs()).extracting(SequenceRun::nodes).containsExactly(List.of(ids[0], ids[1]));
    }

    @Test
    void topLevelNodesAndSingleOnesAreNoRun() {
        brick("pass", 10);
        brick("pass", 10);
        graph.pushScope(new Layer(0));
        brick("only", 5);

        assertThat(runs()).isEmpty();
    }

    @Test
    void siblingsWithoutASequenceEdgeAlreadyRunSideBySide() {
        int layer = graph.addNode(new Layer(0));
        graph.addEdge(layer, graph.addNode(new Brick("one", 10, 1)), EdgeType.CONTAINS);
        graph.addEdge(layer, graph.addNode(new Brick("other", 10, 1)), EdgeType.CONTAINS);

        assertThat(runs()).isEmpty();
    }

    @Test
    void aSequenceOfOthersChildrenIsNoRun() {
        graph.pushScope(new Layer(0));
        int one = brick("one", 10);
        graph.popScope();
        graph.pushScope(new Layer(1));
        int other = brick("other", 10);
        graph.addEdge(one, other, EdgeType.SEQUENCE);

        assertThat(runs()).isEmpty();
    }

    @Test
    void nothingToGainIsNoRun() {
        graph.pushScope(new Layer(0));
        brick("idle", 0);
        brick("busy", 10);

        assertThat(runs()).isEmpty();
    }

    @Test
    void runsOfTheSameNamesAreOne() {
        int first = graph.pushScope(new Layer(0));
        brick("gate", 40);
        brick("up", 50);
        graph.popScope();
        graph.pushScope(new Layer(1));
        brick("gate", 60);
        brick("up", 50);
        graph.popScope();
        graph.pushScope(new Layer(2));
        brick("up", 500);
        brick("gate", 600);
        graph.popScope();

        List<SequenceRun> runs = runs();
        assertThat(runs).extracting(SequenceRun::names).containsExactly(List.of("up", "gate"), List.of("gate", "up"));
        assertThat(runs.get(1)).satisfies(run -> {
            assertThat(run.parent()).isEqualTo(first);
            assertThat(run.places()).isEqualTo(2);
            assertThat(run.sumNs()).isEqualTo(200);
            assertThat(run.potentialNs()).isEqualTo(90);
        });
    }

    @Test
    void aSiblingsTimeIsThatOfAllInIt() {
        graph.pushScope(new Layer(0));
        graph.pushScope(new Function("block"));
        brick("one", 30);
        graph.popScope();
        brick("other", 10);

        assertThat(runs()).extracting(SequenceRun::sumNs).containsExactly(40L);
    }

    /** Each layer reads what the one before it wrote, the first one the embedding, and the head the last one. */
    @Test
    void layersAreInNoRunAndEndThoseAroundThem() {
        graph.pushScope(new Function("forward"));
        brick("embedding", 10);
        for (int i = 0; i < 4; i++) {
            graph.pushScope(new Layer(i));
            brick("gate", 50);
            graph.popScope();
        }
        int norm = brick("norm", 20);
        int head = brick("head", 30);

        assertThat(runs()).extracting(SequenceRun::nodes).containsExactly(List.of(norm, head));
    }

    @Test
    void aPathByWayOfNodesElsewhereEndsARun() {
        int stream = graph.addNode(new Function("stream"));
        int kernel = graph.addNode(new Brick("kernel", 5, 1));
        graph.addEdge(stream, kernel, EdgeType.CONTAINS);
        int copy = graph.addNode(new Brick("copy", 5, 1));
        graph.pushScope(new Layer(0));
        int first = brick("first", 10);
        int second = brick("second", 20);
        int third = brick("third", 30);
        graph.addDependency(first, stream);
        graph.addDependency(kernel, copy);
        assertThat(runs()).extracting(SequenceRun::nodes).containsExactly(List.of(first, second, third));

        graph.addEdge(copy, third, EdgeType.TRANSFER, 64);

        assertThat(runs())
                .extracting(SequenceRun::nodes)
                .as("third waits for the kernel in what waits for first")
                .containsExactly(List.of(first, second));
    }

    @Test
    void aPathIntoWhatASiblingIsMadeOfCountsAndOneAroundTheParentDoesNot() {
        int before = brick("before", 10);
        int elsewhere = graph.addNode(new Brick("elsewhere", 5, 1));
        int layer = graph.pushScope(new Layer(0));
        int first = graph.pushScope(new Brick("first", 10, 1));
        int inFirst = brick("part", 8);
        graph.popScope();
        int second = graph.pushScope(new Brick("second", 20, 1));
        int inSecond = brick("part", 8);
        graph.popScope();
        graph.addDependency(before, layer);
        graph.addDependency(before, inFirst);
        graph.addDependency(before, elsewhere);
        assertThat(runs()).extracting(SequenceRun::nodes).containsExactly(List.of(first, second));

        graph.addDependency(inFirst, elsewhere);
        graph.addDependency(elsewhere, inSecond);

        assertThat(runs()).isEmpty();
    }

    private List<SequenceRun> runs() {
        return SequenceRuns.of(graph, EventGraph.of(graph), 10);
    }

    private int brick(String name, long elapsedNs) {
        return graph.addNodeInScope(new Brick(name, elapsedNs, 1));
    }
}
