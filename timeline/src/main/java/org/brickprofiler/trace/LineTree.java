package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.trace.CallTree.Precision;

/**
 * A {@link CallTree} that grows by samples, up to a bound that it shares with other trees. Beyond it, a sample stands
 * in {@link Frame#OTHER_PATHS} below the last frame that the tree has of its stack. Not thread-safe.
 */
final class LineTree {

    private final Room room;
    private final Map<Place, Integer> places = new HashMap<>();
    private final List<Place> nodes = new ArrayList<>();
    private final List<Long> selfs = new ArrayList<>();
    private long samples;

    /** The sums of the second and the fourth powers of the sizes of batches. */
    private double squares;

    private double fourths;

    /** The nodes that trees may still add. Not thread-safe. */
    static final class Room {
        private int left;

        /**
         * Makes room.
         *
         * @param nodes the most nodes of all trees, without those of {@link Frame#OTHER_PATHS}
         */
        Room(int nodes) {
            left = nodes;
        }
    }

    private record Place(int parent, Frame frame) {}

    LineTree(Room room) {
        this.room = room;
    }

    /**
     * Adds a batch of samples that depend on each other: all of one stack, as those of one wait.
     *
     * @param stack the frames, the called one before its caller
     * @param count the number of samples
     */
    void add(List<Frame> stack, long count) {
        int node = CallTree.NO_PARENT;
        for (int i = stack.size() - 1; i >= 0; i--) {
            Place place = new Place(node, stack.get(i));
            Integer known = places.get(place);
            if (known == null && room.left == 0) {
                node = nodeOf(new Place(node, Frame.OTHER_PATHS));
                break;
            }
            if (known == null) {
                room.left--;
            }
            node = known == null ? nodeOf(place) : known;
        }
        selfs.set(node, selfs.get(node) + count);
        samples += count;
        double square = (double) count * count;
        squares += square;
        fourths += square * square;
    }

    private int nodeOf(Place place) {
        return places.computeIfAbsent(place, added -> {
            nodes.add(added);
            selfs.add(0L);
            return nodes.size() - 1;
        });
    }

    /**
     * The samples of a tree up to a moment.
     *
     * @param selfs the samples of each node; later nodes follow these
     * @param samples their sum
     * @param squares the sum of the second powers of the sizes of batches
     * @param fourths the sum of the fourth powers
     */
    record Counts(List<Long> selfs, long samples, double squares, double fourths) {
        static final Counts NONE = new Counts(List.of(), 0, 0, 0);

        Counts {
            selfs = List.copyOf(selfs);
        }
    }

    Counts counts() {
        return new Counts(selfs, samples, squares, fourths);
    }

    /**
     * Returns the tree of the samples since some counts.
     *
     * @param earlier the {@link #counts} of an earlier moment
     */
    CallTree toTree(Counts earlier) {
        List<CallTree.Node> all = new ArrayList<>(nodes.size());
        for (int i = 0; i < nodes.size(); i++) {
            long before = i < earlier.selfs.size() ? earlier.selfs.get(i) : 0;
            all.add(new CallTree.Node(nodes.get(i).parent(), nodes.get(i).frame(), selfs.get(i) - before));
        }
        return new CallTree(
                all,
                Precision.ofBatches(samples - earlier.samples, squares - earlier.squares, fourths - earlier.fourths));
    }
}
