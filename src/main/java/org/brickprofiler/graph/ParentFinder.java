package org.brickprofiler.graph;

import java.util.List;
import org.brickprofiler.internal.record.LayerToken;
import org.eclipse.collections.impl.map.mutable.primitive.LongIntHashMap;

/**
 * Finds out who owns each recorded node. What a thread did for the layer of another one belongs to that layer, and
 * there to the innermost step of the layer's own thread that ran all the while: which step handed the work out is not
 * recorded, but one that was not running cannot have. One thread, once; linear but for a logarithm, where threads
 * worked for others.
 */
final class ParentFinder {

    private static final int NONE = GraphRecorder.NONE;

    private final List<RecordedNode> recorded;
    private final int[] parents;

    private ParentFinder(List<RecordedNode> recorded) {
        this.recorded = recorded;
        this.parents = new int[recorded.size()];
    }

    /**
     * The parent of each node among these nodes.
     *
     * @param recorded the nodes by id
     * @return an id or {@link GraphRecorder#NONE} for each
     */
    static int[] parents(List<RecordedNode> recorded) {
        ParentFinder finder = new ParentFinder(recorded);
        if (finder.findOwn()) {
            finder.findLayers();
        }
        return finder.parents;
    }

    /** The parents that the threads themselves recorded; returns whether some worked for others. */
    private boolean findOwn() {
        boolean others = false;
        for (int id = 0; id < parents.length; id++) {
            parents[id] = recorded.get(id).parentBelow(parents.length);
            others |= isForOther(id);
        }
        return others;
    }

    private boolean isForOther(int id) {
        return parents[id] == NONE && recorded.get(id).place().layer() != LayerToken.VOID;
    }

    private void findLayers() {
        LongIntHashMap layers = new LongIntHashMap();
        for (int id = 0; id < parents.length; id++) {
            long token = recorded.get(id).token();
            if (token != LayerToken.VOID) {
                layers.put(token, id);
            }
        }
        Adjacency children = new Adjacency(parents.length, parents);
        for (int id = 0; id < parents.length; id++) {
            if (isForOther(id)) {
                int layer = layers.getIfAbsent(recorded.get(id).place().layer(), NONE);
                parents[id] = layer == NONE ? NONE : innermost(layer, id, children);
            }
        }
    }

    private int innermost(int layer, int id, Adjacency children) {
        int around = layer;
        for (int inner = layer; inner != NONE; inner = childAround(around, id, children)) {
            around = inner;
        }
        return around;
    }

    /** The child of a node around another one. Children end one after the other, since one thread did them. */
    private int childAround(int parent, int id, Adjacency children) {
        RecordedNode node = recorded.get(id);
        int low = 0;
        int high = children.degree(parent);
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (node.endsAfter(recorded.get(children.place(parent, middle)))) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        if (low == children.degree(parent)) {
            return NONE;
        }
        int child = children.place(parent, low);
        return node.isWithin(recorded.get(child)) ? child : NONE;
    }
}
