package org.brickprofiler.graph;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.regex.Pattern;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.graph.GraphShape.Order;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;

/** Random containment forests with ordering edges across all levels, against two ways to find their longest paths. */
@OneJdk
final class CriticalPathProperties {

    @Spec("9.7")
    @Property
    void everyFigureIsThatOfTryingAllChains(
            @ForAll @IntRange(min = 1, max = 9) int nodes, @ForAll @IntRange(max = 12) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        ChainOracle oracle = new ChainOracle(shape);
        CriticalPath path = CriticalPath.of(shape.graph());

        assertThat(path.totalNs()).isEqualTo(oracle.lengthNs());
        for (int v = 0; v < nodes; v++) {
            assertThat(path.earliestStartNs(v)).as("earliest start of %s", v).isEqualTo(oracle.earliestStartNs(v));
            assertThat(path.slackNs(v)).as("slack of %s", v).isEqualTo(oracle.slackNs(v));
            assertThat(path.latestStartNs(v)).isEqualTo(path.earliestStartNs(v) + path.slackNs(v));
        }
    }

    @Spec("9.8")
    @Property
    void slackIsZeroExactlyOnLongestPaths(
            @ForAll @IntRange(min = 1, max = 9) int nodes, @ForAll @IntRange(max = 12) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        ChainOracle oracle = new ChainOracle(shape);
        CriticalPath path = CriticalPath.of(shape.graph());

        for (int v = 0; v < nodes; v++) {
            boolean holdsLongest = oracle.holdsLongest(v);
            assertThat(path.isCritical(v)).as("node %s", v).isEqualTo(holdsLongest);
            assertThat(path.slackNs(v) == 0).isEqualTo(holdsLongest);
        }
    }

    @Property(tries = 300)
    void agreesWithAnotherLibraryOnLargerGraphs(
            @ForAll @IntRange(min = 1, max = 60) int nodes,
            @ForAll @IntRange(max = 120) int orders,
            @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        EventOracle oracle = new EventOracle(shape);
        CriticalPath path = CriticalPath.of(shape.graph());

        assertThat(path.totalNs()).isEqualTo(oracle.lengthNs());
        long[] earliestNs = oracle.earliestStartNs();
        long[] afterNs = oracle.afterNs();
        for (int v = 0; v < nodes; v++) {
            assertThat(path.earliestStartNs(v)).isEqualTo(earliestNs[v]);
            if (shape.isLeaf(v)) {
                assertThat(path.latestStartNs(v)).isEqualTo(oracle.lengthNs() - afterNs[v] - shape.timeNs(v));
            }
        }
    }

    @Property
    void thePathIsAChainOfActivitiesThatMakesUpTheTotal(
            @ForAll @IntRange(min = 1, max = 9) int nodes, @ForAll @IntRange(max = 12) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        CriticalPath path = CriticalPath.of(shape.graph());

        assertThat(path.nodes()).isNotEmpty().allMatch(shape::isActivity).allMatch(path::isCritical);
        assertThat(path.nodes().stream().mapToLong(shape::timeNs).sum()).isEqualTo(path.totalNs());
        long atNs = 0;
        for (int node : path.nodes()) {
            assertThat(path.earliestStartNs(node)).isEqualTo(atNs);
            atNs += shape.timeNs(node);
        }
        for (int i = 1; i < path.nodes().size(); i++) {
            int before = path.nodes().get(i - 1);
            int after = path.nodes().get(i);
            assertThat(shape.orders())
                    .as("%s before %s", before, after)
                    .anyMatch(order -> shape.contains(order.from(), before) && shape.contains(order.to(), after));
        }
    }

    @Property
    void aParentAndItsChildrenAreNeverAddedTogether(
            @ForAll @IntRange(min = 1, max = 30) int nodes, @ForAll @IntRange(max = 60) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        List<Integer> path = CriticalPath.of(shape.graph()).nodes();

        for (int one : path) {
            assertThat(path).filteredOn(other -> shape.contains(one, other)).containsExactly(one);
        }
    }

    @Property
    void theOrderOfEdgesDoesNotChangeThePath(
            @ForAll @IntRange(min = 1, max = 20) int nodes, @ForAll @IntRange(max = 40) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.acyclic(nodes, orders, new Random(seed));
        List<Order> backwards = new ArrayList<>(shape.orders());
        Collections.reverse(backwards);
        GraphShape same = new GraphShape(shape.ownNs(), shape.parents(), backwards);

        assertThat(CriticalPath.of(same.graph()).nodes())
                .isEqualTo(CriticalPath.of(shape.graph()).nodes());
    }

    @Spec("9.8")
    @Property
    void aCycleIsRefusedAndNothingElseIs(
            @ForAll @IntRange(min = 2, max = 8) int nodes, @ForAll @IntRange(max = 5) int orders, @ForAll long seed) {
        GraphShape shape = GraphShapes.anyOrders(nodes, orders, new Random(seed));
        boolean cyclic = new EventOracle(shape).isCyclic();

        assertThat(new ChainOracle(shape).isCyclic()).isEqualTo(cyclic);
        if (cyclic) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> CriticalPath.of(shape.graph()))
                    .withMessageStartingWith("the graph has a cycle: 'n");
        } else {
            assertThat(CriticalPath.of(shape.graph()).totalNs()).isEqualTo(new EventOracle(shape).lengthNs());
        }
    }

    @Property
    void theMessageNamesACycle(
            @ForAll @IntRange(min = 2, max = 6) int nodes,
            @ForAll @IntRange(min = 1, max = 8) int orders,
            @ForAll long seed) {
        GraphShape shape = GraphShapes.anyOrders(nodes, orders, new Random(seed));
        if (!new EventOracle(shape).isCyclic()) {
            return;
        }
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CriticalPath.of(shape.graph()))
                .satisfies(refusal -> assertIsCycle(shape, namedNodes(String.valueOf(refusal.getMessage()))));
    }

    private static List<Integer> namedNodes(String message) {
        return Pattern.compile("'n(\\d+)' \\(node (\\d+)\\)")
                .matcher(message)
                .results()
                .peek(match -> assertThat(match.group(1)).isEqualTo(match.group(2)))
                .map(match -> Integer.valueOf(match.group(1)))
                .toList();
    }

    /** Each node waits for the one before it: by an order, or because one is the parent of the other. */
    private static void assertIsCycle(GraphShape shape, List<Integer> cycle) {
        assertThat(cycle.get(cycle.size() - 1)).isEqualTo(cycle.get(0));
        assertThat(cycle.subList(1, cycle.size())).doesNotHaveDuplicates();
        for (int i = 1; i < cycle.size(); i++) {
            int before = cycle.get(i - 1);
            int after = cycle.get(i);
            assertThat(shape.orders().contains(new Order(before, after))
                            || shape.parents().get(after) == before
                            || shape.parents().get(before) == after)
                    .as("%s before %s", before, after)
                    .isTrue();
        }
    }
}
