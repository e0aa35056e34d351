package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.graph.TransferPatterns.PingPong;
import org.brickprofiler.testing.Spec;

class TransferPatternsProperties {

    @Provide
    Arbitrary<List<Transfer>> transfers() {
        Arbitrary<String> buffers = Arbitraries.of("a", "b", "c");
        Arbitrary<Long> sizes = Arbitraries.of(0L, 1L, 2L);
        return Combinators.combine(buffers, buffers, sizes)
                .as((from, to, bytes) -> new Transfer(from, to, bytes, TransferDirection.D2D))
                .list()
                .ofMaxSize(60);
    }

    @Spec("9.10")
    @Property
    void pairsAreThoseOfTheDefinition(@ForAll("transfers") List<Transfer> transfers) {
        ExecutionGraph graph = new ExecutionGraph();
        transfers.forEach(graph::addNode);

        assertThat(TransferPatterns.pingPongs(graph)).isEqualTo(bruteForce(transfers));
    }

    /** The definition word by word: for each transfer the latest earlier one that fits and is free. */
    private static List<PingPong> bruteForce(List<Transfer> transfers) {
        boolean[] taken = new boolean[transfers.size()];
        List<PingPong> pairs = new ArrayList<>();
        for (int back = 0; back < transfers.size(); back++) {
            for (int there = back - 1; there >= 0 && !taken[back]; there--) {
                if (!taken[there] && isThereAndBack(transfers.get(there), transfers.get(back))) {
                    taken[there] = true;
                    taken[back] = true;
                    pairs.add(new PingPong(there, back, transfers.get(there).bytes()));
                }
            }
        }
        return pairs;
    }

    private static boolean isThereAndBack(Transfer there, Transfer back) {
        return there.source().equals(back.destination())
                && there.destination().equals(back.source())
                && !there.source().equals(there.destination())
                && there.bytes() == back.bytes()
                && there.bytes() > 0;
    }
}
