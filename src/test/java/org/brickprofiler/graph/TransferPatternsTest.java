package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.graph.TransferPatterns.PingPong;
import org.junit.jupiter.api.Test;

class TransferPatternsTest {

    private final ExecutionGraph graph = new ExecutionGraph();

    private void copy(String source, String destination, long bytes) {
        graph.addNode(new Transfer(source, destination, bytes, TransferDirection.D2D));
    }

    @Test
    void thereAndBackIsAPair() {
        copy("a", "b", 8);
        graph.addNode(new Brick("between", 1, 1));
        copy("b", "a", 8);

        assertThat(TransferPatterns.pingPongs(graph)).containsExactly(new PingPong(0, 2, 8));
    }

    @Test
    void anotherSizeAnotherBufferOrTheSameDirectionIsNone() {
        copy("a", "b", 8);
        copy("b", "a", 9);
        copy("b", "c", 8);
        copy("c", "a", 8);
        copy("a", "b", 8);

        assertThat(TransferPatterns.pingPongs(graph)).isEmpty();
    }

    @Test
    void aTransferIsInOnePairOnlyAndTheNearestWayThereIsTaken() {
        copy("a", "b", 8);
        copy("a", "b", 8);
        copy("b", "a", 8);
        copy("b", "a", 8);
        copy("b", "a", 8);
        copy("a", "b", 8);

        assertThat(TransferPatterns.pingPongs(graph))
                .containsExactly(new PingPong(1, 2, 8), new PingPong(0, 3, 8), new PingPong(4, 5, 8));
    }

    @Test
    void aCopyOntoItselfAndACopyOfNothingAreNone() {
        copy("a", "a", 8);
        copy("a", "a", 8);
        copy("a", "b", 0);
        copy("b", "a", 0);

        assertThat(TransferPatterns.pingPongs(graph)).isEmpty();
    }
}
