package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.brickprofiler.graph.GraphShape.Order;

/** Random forests of nodes with ordering edges across all levels. */
final class GraphShapes {

    private static final int LONGEST_NS = 9;

    private GraphShapes() {}

    /** A graph with a longest path. */
    static GraphShape acyclic(int nodes, int orders, Random random) {
        GraphShape forest = forest(nodes, random);
        List<Integer> rank = permutation(nodes, random);
        GraphShape shape = forest;
        for (int i = 0; i < orders; i++) {
            int one = random.nextInt(nodes);
            int other = random.nextInt(nodes);
            if (!forest.contains(one, other) && !forest.contains(other, one)) {
                shape = shape.plus(inTime(forest, rank, one, other));
            }
        }
        return shape;
    }

    /** Orders two nodes as the siblings that hold them are ranked, which no other such order can contradict. */
    private static Order inTime(GraphShape forest, List<Integer> rank, int one, int other) {
        int top = one;
        while (!isSiblingOfAncestor(forest, top, other)) {
            top = forest.parents().get(top);
        }
        int otherTop = other;
        while (!forest.parents().get(otherTop).equals(forest.parents().get(top))) {
            otherTop = forest.parents().get(otherTop);
        }
        return rank.get(top) < rank.get(otherTop) ? new Order(one, other) : new Order(other, one);
    }

    private static boolean isSiblingOfAncestor(GraphShape forest, int node, int other) {
        int parent = forest.parents().get(node);
        return parent < 0 || forest.contains(parent, other);
    }

    /** A small graph whose orders contradict each other more often than not. */
    static GraphShape anyOrders(int nodes, int orders, Random random) {
        GraphShape shape = forest(nodes, random);
        for (int i = 0; i < orders; i++) {
            int from = random.nextInt(nodes);
            int to = random.nextInt(nodes);
            shape = from == to ? shape : shape.plus(new Order(from, to));
        }
        return shape;
    }

    private static GraphShape forest(int nodes, Random random) {
        List<Long> ownNs = new ArrayList<>();
        List<Integer> parents = new ArrayList<>();
        for (int v = 0; v < nodes; v++) {
            ownNs.add(random.nextInt(3) == 0 ? -1L : random.nextInt(LONGEST_NS + 1));
            parents.add(random.nextInt(v + 2) < 2 ? -1 : random.nextInt(v));
        }
        return new GraphShape(ownNs, parents, List.of()).renumbered(permutation(nodes, random));
    }

    private static List<Integer> permutation(int nodes, Random random) {
        List<Integer> ids = new ArrayList<>(IntStream.range(0, nodes).boxed().toList());
        Collections.shuffle(ids, random);
        return ids;
    }
}
