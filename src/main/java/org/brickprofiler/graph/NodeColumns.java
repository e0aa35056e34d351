package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;

/** The nodes of a graph, who owns whom, and the look-ups by name and kind. Not thread-safe. */
final class NodeColumns {

    /** No node. */
    static final int NONE = -1;

    private static final IntArrayList NO_IDS = new IntArrayList(0);

    private final List<ExecutionNode> nodes = new ArrayList<>();
    private final Map<String, IntArrayList> idsByName = new HashMap<>();
    private final IntArrayList kernels = new IntArrayList();
    private final IntArrayList parents = new IntArrayList();
    private final IntArrayList childCounts = new IntArrayList();

    NodeColumns() {}

    int add(ExecutionNode node) {
        int id = nodes.size();
        nodes.add(node);
        idsByName.computeIfAbsent(node.name(), name -> new IntArrayList(1)).add(id);
        if (node instanceof Kernel) {
            kernels.add(id);
        }
        parents.add(NONE);
        childCounts.add(0);
        return id;
    }

    /** Makes a node the child of another; both exist, and {@link #requireFree} holds. */
    void setParent(int child, int parent) {
        parents.set(child, parent);
        childCounts.set(parent, childCounts.get(parent) + 1);
    }

    int size() {
        return nodes.size();
    }

    ExecutionNode node(int id) {
        return nodes.get(id);
    }

    /** The parent of a node, or {@link #NONE}. */
    int parent(int id) {
        return parents.get(id);
    }

    int childCount(int id) {
        return childCounts.get(id);
    }

    /** The ids of a name, ascending; not to be changed. */
    IntArrayList named(String name) {
        return idsByName.getOrDefault(name, NO_IDS);
    }

    /** The ids of all kernels, ascending; not to be changed. */
    IntArrayList kernels() {
        return kernels;
    }

    /** Refuses an id that no node has. */
    void require(int id) {
        if (id < 0 || id >= nodes.size()) {
            throw new IllegalArgumentException("node " + id + " does not exist: there are " + nodes.size() + " nodes");
        }
    }

    /** Refuses a child that has a parent already, or is above its new parent. */
    void requireFree(int child, int newParent) {
        int parent = parents.get(child);
        if (parent != NONE) {
            throw new IllegalArgumentException("%s has the parent %s and cannot have %s too"
                    .formatted(text(child), text(parent), text(newParent)));
        }
        // Without this test a chain that is built from its top down would cost the square of its length.
        if (childCounts.get(child) > 0 && isAbove(child, newParent)) {
            throw new IllegalArgumentException(
                    "%s is above %s and cannot be below it".formatted(text(child), text(newParent)));
        }
    }

    private boolean isAbove(int node, int other) {
        int above = other;
        while (above != NONE && above != node) {
            above = parents.get(above);
        }
        return above == node;
    }

    private String text(int id) {
        return "node " + id + " '" + nodes.get(id).name() + "'";
    }

    void clear() {
        nodes.clear();
        idsByName.clear();
        kernels.clear();
        parents.clear();
        childCounts.clear();
    }
}
