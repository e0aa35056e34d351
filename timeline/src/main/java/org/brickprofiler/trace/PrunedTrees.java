package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.brickprofiler.trace.CallTree.Node;

/**
 * Cuts the rare parts of call trees, so that a report stays small. The samples of a cut part stand in
 * {@link Frame#OTHER_PATHS} below the frame that called it: none is lost, and no other frame has more of its own.
 * Stateless; any thread.
 */
final class PrunedTrees {

    private PrunedTrees() {}

    /**
     * Cuts the parts with the fewest samples of all trees.
     *
     * @param trees the trees
     * @param most the most nodes of all of them together; a tree with samples has at least one node
     * @return the trees in their order, unchanged if they have no more nodes. Their hottest places are those before
     */
    static List<CallTree> pruned(List<CallTree> trees, int most) {
        if (trees.stream().mapToLong(tree -> tree.nodes().size()).sum() <= most) {
            return trees;
        }
        TreeSet<Long> distinct = new TreeSet<>();
        for (CallTree tree : trees) {
            Arrays.stream(totals(tree)).forEach(total -> distinct.add(total + 1));
        }
        // The more samples a part needs, the fewer nodes are left.
        List<Long> needed = new ArrayList<>(distinct);
        int low = 0;
        int high = needed.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (size(trees, needed.get(middle)) <= most) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        long least = needed.get(low);
        return trees.stream().map(tree -> pruned(tree, least)).toList();
    }

    private static long size(List<CallTree> trees, long least) {
        return trees.stream()
                .mapToLong(tree -> pruned(tree, least).nodes().size())
                .sum();
    }

    /** Cuts the parts of a tree that have fewer samples. */
    private static CallTree pruned(CallTree tree, long least) {
        long[] totals = totals(tree);
        List<Node> kept = new ArrayList<>();
        // For each node its number in the new tree; for a cut one, that of the node that has its samples.
        int[] numbers = new int[totals.length];
        // The number of the other paths below each node of the new tree, and at 0 of those that nothing called.
        int[] others = new int[totals.length + 1];
        Arrays.fill(others, CallTree.NO_PARENT);
        boolean[] isCut = new boolean[totals.length];
        for (int i = 0; i < totals.length; i++) {
            Node node = tree.nodes().get(i);
            int parent = node.parent() == CallTree.NO_PARENT ? CallTree.NO_PARENT : numbers[node.parent()];
            isCut[i] = totals[i] < least;
            if (!isCut[i]) {
                numbers[i] = kept.size();
                kept.add(new Node(parent, node.frame(), node.self()));
            } else if (node.parent() != CallTree.NO_PARENT && isCut[node.parent()]) {
                numbers[i] = parent;
                add(kept, parent, node.self());
            } else {
                if (others[parent + 1] == CallTree.NO_PARENT) {
                    others[parent + 1] = kept.size();
                    kept.add(new Node(parent, Frame.OTHER_PATHS, 0));
                }
                numbers[i] = others[parent + 1];
                add(kept, numbers[i], node.self());
            }
        }
        return new CallTree(kept, tree.hottest(), tree.precision());
    }

    private static void add(List<Node> kept, int number, long self) {
        Node node = kept.get(number);
        kept.set(number, new Node(node.parent(), node.frame(), node.self() + self));
    }

    /** Returns for each node the samples that stood in it or in a frame below it. */
    private static long[] totals(CallTree tree) {
        long[] totals = tree.nodes().stream().mapToLong(Node::self).toArray();
        for (int i = totals.length - 1; i >= 0; i--) {
            int parent = tree.nodes().get(i).parent();
            if (parent != CallTree.NO_PARENT) {
                totals[parent] += totals[i];
            }
        }
        return totals;
    }
}
