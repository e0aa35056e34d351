package org.brickprofiler.graph;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.internal.record.LayerToken;

/**
 * Finds the owner of each recorded node. A node that a thread recorded for a token of another thread belongs to the
 * brick that was open when the token was taken, otherwise to the token's layer. Clock readings are not used. Each
 * instance is used once, by one thread. Time is linear, except for chains of tokens that were taken while working for
 * other tokens.
 */
final class ParentFinder {

    private static final int NONE = GraphRecorder.NONE;

    private final List<RecordedNode> recorded;
    private final List<HandOff> handOffs;
    private final int[] parents;

    private ParentFinder(List<RecordedNode> recorded, List<HandOff> handOffs) {
        this.recorded = recorded;
        this.handOffs = handOffs;
        this.parents = new int[recorded.size()];
    }

    /**
     * Returns the parent of each node among these nodes.
     *
     * @param recorded the nodes by id
     * @param handOffs the hand-offs by index, at least those that the nodes were recorded for
     * @return an id or {@link GraphRecorder#NONE} for each
     */
    static int[] parents(List<RecordedNode> recorded, List<HandOff> handOffs) {
        ParentFinder finder = new ParentFinder(recorded, handOffs);
        if (finder.findOwn()) {
            finder.findOfOthers();
        }
        return finder.parents;
    }

    /** Finds the parents that the threads themselves recorded; returns whether some worked for others. */
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

    private void findOfOthers() {
        Map<Long, Integer> layers = new HashMap<>();
        for (int id = 0; id < parents.length; id++) {
            long token = recorded.get(id).token();
            if (token != LayerToken.VOID) {
                addTo(layers, token, id);
            }
        }
        Map<Long, Integer> taken = new HashMap<>();
        for (int index = 0; index < handOffs.size(); index++) {
            addTo(taken, handOffs.get(index).token(), index);
        }
        BitSet ofOthers = new BitSet(parents.length);
        for (int id = 0; id < parents.length; id++) {
            if (isForOther(id)) {
                parents[id] = owner(recorded.get(id).place().layer(), layers, taken);
                ofOthers.set(id, parents[id] != NONE);
            }
        }
        cutCircles(ofOthers);
    }

    /**
     * Removes the parents of layers in a cycle. If two threads end their layers while each works for the other's layer,
     * each layer would be the other's parent.
     */
    private void cutCircles(BitSet ofOthers) {
        int[] walks = new int[parents.length];
        for (int id = ofOthers.nextSetBit(0); id >= 0; id = ofOthers.nextSetBit(id + 1)) {
            int walk = id + 1;
            int at = id;
            while (at != NONE && walks[at] == 0) {
                walks[at] = walk;
                at = parents[at];
            }
            int first = at;
            while (at != NONE && walks[at] == walk) {
                int next = parents[at];
                if (ofOthers.get(at)) {
                    parents[at] = NONE;
                }
                at = next == first ? NONE : next;
            }
        }
    }

    /** Maps a token to a number. A token that occurs twice maps to {@link #NONE}. */
    private static void addTo(Map<Long, Integer> byToken, long token, int number) {
        byToken.merge(token, number, (before, now) -> NONE);
    }

    /** Returns the node that owns the work done for a token. */
    private int owner(long token, Map<Long, Integer> layers, Map<Long, Integer> taken) {
        int before = handOffs.size();
        int index = taken.getOrDefault(token, NONE);
        // If a token was taken while its thread worked for another token, continue with that other, earlier token.
        while (index != NONE && index < before) {
            HandOff handOff = handOffs.get(index);
            int parent = handOff.parentBelow(parents.length);
            if (parent != NONE) {
                return parent;
            }
            before = index;
            index = taken.getOrDefault(handOff.place().layer(), NONE);
        }
        return layers.getOrDefault(LayerToken.layerOf(token), NONE);
    }
}
