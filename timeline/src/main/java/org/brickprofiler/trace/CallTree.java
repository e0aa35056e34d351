package org.brickprofiler.trace;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * The stacks of samples as a tree: each node is a frame that its parent called, and the samples that stood in it.
 * Immutable.
 *
 * @param nodes the nodes, each after its parent
 */
public record CallTree(List<Node> nodes) {

    /** The parent of a node that nothing called. */
    public static final int NO_PARENT = -1;

    /** In place of the frames of paths that a bounded tree has no room for. */
    public static final Frame OTHER_PATHS = new Frame("(other paths)", Frame.NO_LINE, "");

    /** In place of the callers that the virtual machine left out of a deep stack. */
    public static final Frame CUT = new Frame("(callers left out)", Frame.NO_LINE, "");

    /** A tree without samples. */
    public static final CallTree EMPTY = new CallTree(List.of());

    /** The most methods of a path. */
    public static final int LONGEST_PATH = 8;

    /** The quantile of the normal distribution of a 95 % interval. */
    private static final double Z = 1.959964;

    /**
     * A frame that another one called.
     *
     * @param parent the number of the calling node in the list, or {@link #NO_PARENT}
     * @param frame the frame
     * @param self the samples that stood in this frame, not in one that it called
     */
    public record Node(int parent, Frame frame, long self) {

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when the number of samples is negative
         */
        public Node {
            Objects.requireNonNull(frame, "frame");
            requireNotNegative("self", self);
        }
    }

    /**
     * The samples that stood in one place, as a share of all of the tree.
     *
     * @param place the place
     * @param samples the samples that stood there
     * @param share their share, 0 to 1
     * @param low the lower end of the 95 % interval of the share
     * @param high the upper end of that interval
     * @param <P> the kind of place
     */
    public record Share<P>(P place, long samples, double share, double low, double high) {

        /**
         * Returns the share of some samples, with the interval of Wilson (1927), which holds for few samples and for
         * shares near 0 and 1: the centre is {@code (p + z²/2n) / (1 + z²/n)} and the half width is {@code z √(p(1 -
         * p)/n + z²/4n²) / (1 + z²/n)}.
         *
         * @param place the place
         * @param samples the samples that stood there
         * @param of all samples, 1 or more
         * @param <P> the kind of place
         * @return the share
         * @throws IllegalArgumentException when there are more samples than all, or a number is out of range
         */
        public static <P> Share<P> of(P place, long samples, long of) {
            requireNotNegative("samples", samples);
            if (of < 1 || samples > of) {
                throw new IllegalArgumentException(samples + " samples of " + of);
            }
            double share = (double) samples / of;
            double scale = 1 + Z * Z / of;
            double centre = (share + Z * Z / (2 * of)) / scale;
            double half = Z * Math.sqrt(share * (1 - share) / of + Z * Z / (4.0 * of * of)) / scale;
            return new Share<>(place, samples, share, Math.max(0, centre - half), Math.min(1, centre + half));
        }
    }

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException when a node comes before its parent
     */
    public CallTree {
        nodes = List.copyOf(Objects.requireNonNull(nodes, "nodes"));
        for (int i = 0; i < nodes.size(); i++) {
            int parent = nodes.get(i).parent();
            if (parent < NO_PARENT || parent >= i) {
                throw new IllegalArgumentException("node " + i + " has the parent " + parent);
            }
        }
    }

    /**
     * Returns the number of samples.
     *
     * @return 0 or more
     */
    public long samples() {
        return nodes.stream().mapToLong(Node::self).sum();
    }

    /**
     * Returns the methods in which samples stood, not those that called them, with their shares.
     *
     * @param most the most methods that are returned, those with the most samples
     * @return most samples first, then by name
     */
    public List<Share<String>> methods(int most) {
        return shares(node -> node.frame().method(), Comparator.<String>naturalOrder(), most);
    }

    /**
     * Returns the lines in which samples stood, with their shares. The same line counts apart for each way in which the
     * virtual machine ran it.
     *
     * @param most the most lines that are returned, those with the most samples
     * @return most samples first, then by name
     */
    public List<Share<Frame>> lines(int most) {
        return shares(
                Node::frame,
                Comparator.comparing(Frame::method).thenComparing(Frame::line).thenComparing(Frame::how),
                most);
    }

    /**
     * Returns the call paths on which samples stood, with their shares.
     *
     * @param most the most paths that are returned, those with the most samples
     * @return most samples first; a path lists methods, the caller before the called one: the last
     *     {@value #LONGEST_PATH}, without the methods with which all paths begin, except for the last of these
     */
    public List<Share<List<String>>> paths(int most) {
        List<List<String>> all = new ArrayList<>();
        for (Node node : nodes) {
            List<String> path = new ArrayList<>(node.parent() == NO_PARENT ? List.of() : all.get(node.parent()));
            path.add(node.frame().method());
            all.add(path);
        }
        Map<List<String>, Long> counts = new LinkedHashMap<>();
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.get(i).self() > 0) {
                counts.merge(all.get(i), nodes.get(i).self(), Long::sum);
            }
        }
        int common = Math.max(0, commonLength(new ArrayList<>(counts.keySet())) - 1);
        Map<List<String>, Long> shorter = new LinkedHashMap<>();
        counts.forEach((path, samples) -> shorter.merge(
                path.subList(Math.max(common, path.size() - LONGEST_PATH), path.size()), samples, Long::sum));
        return most(shorter, Comparator.comparing(Object::toString), most);
    }

    /** Returns the number of elements with which all paths begin. */
    private static int commonLength(List<List<String>> paths) {
        int common = paths.isEmpty() ? 0 : paths.get(0).size();
        for (List<String> path : paths) {
            int same = 0;
            while (same < Math.min(common, path.size())
                    && path.get(same).equals(paths.get(0).get(same))) {
                same++;
            }
            common = same;
        }
        return common;
    }

    private <P> List<Share<P>> shares(Function<Node, P> place, Comparator<P> order, int most) {
        Map<P, Long> counts = new LinkedHashMap<>();
        for (Node node : nodes) {
            if (node.self() > 0) {
                counts.merge(place.apply(node), node.self(), Long::sum);
            }
        }
        return most(counts, order, most);
    }

    private static <P> List<Share<P>> most(Map<P, Long> counts, Comparator<? super P> order, int most) {
        long all = counts.values().stream().mapToLong(Long::longValue).sum();
        return counts.entrySet().stream()
                .sorted(Map.Entry.<P, Long>comparingByValue(Collections.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey(order)))
                .limit(most)
                .map(each -> Share.of(each.getKey(), each.getValue(), all))
                .toList();
    }
}
