package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

final class AncestorsProperties {

    @Property
    void findsTheSiblingsThatHoldTwoNodes(
            @ForAll @IntRange(min = 2, max = 60) int nodes,
            @ForAll @IntRange(min = 1, max = 60) int reach,
            @ForAll long seed) {
        // A short reach makes deep trees.
        Random random = new Random(seed);
        int[] parents = new int[nodes];
        for (int v = 0; v < nodes; v++) {
            parents[v] = Math.max(EventGraph.NO_PARENT, v - 1 - random.nextInt(reach));
        }
        EventGraph forest = new EventGraph(new long[nodes], parents, new int[0], new int[0]);
        GraphShape shape = new GraphShape(
                IntStream.range(0, nodes).mapToObj(v -> 0L).toList(),
                IntStream.of(parents).boxed().toList(),
                List.of());
        Ancestors ancestors = new Ancestors(forest);

        for (int v = 0; v < nodes; v++) {
            for (int w = 0; w < nodes; w++) {
                if (!shape.contains(v, w) && !shape.contains(w, v)) {
                    int above = ancestors.siblingAbove(v, w);
                    int other = ancestors.siblingAbove(w, v);
                    assertThat(above).isNotEqualTo(other);
                    assertThat(parents[above]).isEqualTo(parents[other]);
                    assertThat(shape.contains(above, v)).isTrue();
                    assertThat(shape.contains(other, w)).isTrue();
                }
            }
        }
    }
}
