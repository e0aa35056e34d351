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
import org.brickprofiler.internal.base.StudentT;

/**
 * The stacks of samples as a tree: each node is a frame that its parent called, and the samples that stood in it.
 * Immutable.
 *
 * @param nodes the nodes, each after its parent
 * @param hottest where most samples stood. If the rare parts of the tree were cut for a report, this was computed
 *     before
 * @param precision how precisely the samples state shares
 */
public record CallTree(List<Node> nodes, Hottest hottest, Precision precision) {

    /** The most methods and the most lines that a tree names as its hottest. */
    public static final int MOST_PLACES = 10;

    /** The most call paths that a tree names as its hottest. */
    public static final int MOST_PATHS = 5;

    /** The most methods of a call path that is named as one of the hottest. */
    public static final int LONGEST_PATH = 8;

    /** The parent of a node that nothing called. */
    public static final int NO_PARENT = -1;

    /** A tree without samples. */
    public static final CallTree EMPTY = new CallTree(List.of());

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
     * How precisely samples state shares. The samples of one wait depend on each other, since all of them are in the
     * same stack: they are a batch. Immutable.
     *
     * @param samples the number of samples
     * @param independent the number of independent samples that state shares as precisely, at most the number of
     *     samples: the effective sample size of Kish (1965), {@code (Σw)² / Σw²} over batches of {@code w} samples
     * @param degrees the degrees of freedom of that precision, at most the number of independent samples: those of
     *     Satterthwaite (1946), {@code (Σw²)² / Σw⁴}. They are few if a few batches have most samples
     */
    public record Precision(long samples, double independent, double degrees) {

        /** That of no samples. */
        public static final Precision NONE = new Precision(0, 0, 0);

        /**
         * Checks the numbers.
         *
         * @throws IllegalArgumentException when a number is negative or larger than the one before it, or 0 though
         *     there are samples
         */
        public Precision {
            requireNotNegative("samples", samples);
            boolean isPossible = samples == 0
                    ? independent == 0 && degrees == 0
                    : degrees > 0 && degrees <= independent && independent <= samples;
            if (!isPossible) {
                throw new IllegalArgumentException(independent + " independent samples of " + samples + " with "
                        + degrees + " degrees of freedom");
            }
        }

        /**
         * Returns that of independent samples.
         *
         * @param samples their number
         * @return the precision
         * @throws IllegalArgumentException when the number is negative
         */
        public static Precision ofIndependent(long samples) {
            return new Precision(samples, samples, samples);
        }

        /** Returns that of batches, by the sums of the second and the fourth powers of their sizes. */
        static Precision ofBatches(long samples, double squares, double fourths) {
            if (samples == 0) {
                return NONE;
            }
            double independent = atMost((double) samples, (double) samples * samples / squares);
            return new Precision(samples, independent, atMost(independent, squares * squares / fourths));
        }

        /** Returns a number of samples, 1 or more, despite the rounding of sums. */
        private static double atMost(double most, double number) {
            return number >= 1 ? Math.min(most, number) : 1;
        }

        /**
         * Returns that of these and other samples.
         *
         * @param other the precision of samples that do not depend on these
         * @return the precision of all
         */
        public Precision plus(Precision other) {
            Objects.requireNonNull(other, "other");
            return ofBatches(samples + other.samples, squares() + other.squares(), fourths() + other.fourths());
        }

        private double squares() {
            return samples == 0 ? 0 : (double) samples * samples / independent;
        }

        private double fourths() {
            return samples == 0 ? 0 : squares() * squares() / degrees;
        }

        /**
         * Returns the number of samples in the formula of an interval (Korn and Graubard, 1998): the independent ones,
         * fewer the less sure their number is.
         */
        double inIntervals() {
            double factor = StudentT.quantile975((double) samples) / StudentT.quantile975(degrees);
            return independent * factor * factor;
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

        /** Rejects null. */
        public Share {
            Objects.requireNonNull(place, "place");
        }

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
            return of(place, samples, Precision.ofIndependent(of));
        }

        /**
         * Returns the share of some samples of which some depend on each other, with the interval for the number of
         * independent samples in place of {@code n} (Korn and Graubard, 1998).
         *
         * @param place the place
         * @param samples the samples that stood there
         * @param of the precision of all samples, 1 or more
         * @param <P> the kind of place
         * @return the share
         * @throws IllegalArgumentException when there are more samples than all, or a number is out of range
         */
        public static <P> Share<P> of(P place, long samples, Precision of) {
            requireNotNegative("samples", samples);
            Objects.requireNonNull(of, "of");
            if (of.samples() < 1 || samples > of.samples()) {
                throw new IllegalArgumentException(samples + " samples of " + of.samples());
            }
            double share = (double) samples / of.samples();
            double n = of.inIntervals();
            double scale = 1 + Z * Z / n;
            double centre = (share + Z * Z / (2 * n)) / scale;
            double half = Z * Math.sqrt(share * (1 - share) / n + Z * Z / (4 * n * n)) / scale;
            return new Share<>(place, samples, share, Math.max(0, centre - half), Math.min(1, centre + half));
        }
    }

    /**
     * The places in which most samples of a tree stood.
     *
     * @param methods the methods in which samples stood, not those that called them; most samples first, then by name
     * @param lines the lines in which samples stood; most samples first, then by name. A line counts once, and its
     *     frame states how the virtual machine ran most of its samples
     * @param paths the call paths on which samples stood, most samples first. A path lists methods, the caller before
     *     the called one: the last {@value CallTree#LONGEST_PATH}, without the methods with which all paths begin,
     *     except for the last of these
     */
    public record Hottest(List<Share<String>> methods, List<Share<Frame>> lines, List<Share<List<String>>> paths) {

        /** Copies the lists. */
        public Hottest {
            methods = List.copyOf(Objects.requireNonNull(methods, "methods"));
            lines = List.copyOf(Objects.requireNonNull(lines, "lines"));
            paths = List.copyOf(Objects.requireNonNull(paths, "paths"));
        }

        /** Returns the hottest places of all nodes. */
        static Hottest of(List<Node> nodes, Precision precision) {
            Map<String, Long> methods = counts(nodes, node -> node.frame().method());
            return new Hottest(
                    most(methods, Comparator.naturalOrder(), MOST_PLACES, precision),
                    hottestLines(nodes, precision),
                    hottestPaths(nodes, precision));
        }

        /** Returns fewer of the places. */
        Hottest limited(int places) {
            return new Hottest(first(methods, places), first(lines, places), first(paths, places));
        }
    }

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException when a node comes before its parent, or the precision is of another number of
     *     samples
     */
    public CallTree {
        nodes = List.copyOf(requireOrdered(nodes));
        Objects.requireNonNull(hottest, "hottest");
        Objects.requireNonNull(precision, "precision");
        long samples = samples(nodes);
        if (precision.samples() != samples) {
            throw new IllegalArgumentException(
                    "a precision of " + precision.samples() + " samples for a tree of " + samples);
        }
    }

    /**
     * Makes a tree of independent samples, and finds its hottest places.
     *
     * @param nodes the nodes, each after its parent
     * @throws IllegalArgumentException when a node comes before its parent
     */
    public CallTree(List<Node> nodes) {
        this(nodes, Precision.ofIndependent(samples(requireOrdered(nodes))));
    }

    /**
     * Makes a tree, and finds its hottest places.
     *
     * @param nodes the nodes, each after its parent
     * @param precision how precisely the samples state shares
     * @throws IllegalArgumentException when a node comes before its parent, or the precision is of another number of
     *     samples
     */
    public CallTree(List<Node> nodes, Precision precision) {
        this(nodes, Hottest.of(requireOrdered(nodes), Objects.requireNonNull(precision, "precision")), precision);
    }

    private static List<Node> requireOrdered(List<Node> nodes) {
        Objects.requireNonNull(nodes, "nodes");
        for (int i = 0; i < nodes.size(); i++) {
            int parent = nodes.get(i).parent();
            if (parent < NO_PARENT || parent >= i) {
                throw new IllegalArgumentException("node " + i + " has the parent " + parent);
            }
        }
        return nodes;
    }

    /**
     * Returns the number of samples.
     *
     * @return 0 or more
     */
    public long samples() {
        return samples(nodes);
    }

    private static long samples(List<Node> nodes) {
        return nodes.stream().mapToLong(Node::self).sum();
    }

    /**
     * Returns the methods in which samples stood, not those that called them, with their shares.
     *
     * @param most the most methods that are returned, those with the most samples
     * @return most samples first, then by name; at most {@value #MOST_PLACES}
     */
    public List<Share<String>> methods(int most) {
        return first(hottest.methods(), most);
    }

    /**
     * Returns the lines in which samples stood, with their shares. A line counts once; its frame states how the virtual
     * machine ran most of its samples.
     *
     * @param most the most lines that are returned, those with the most samples
     * @return most samples first, then by name; at most {@value #MOST_PLACES}
     */
    public List<Share<Frame>> lines(int most) {
        return first(hottest.lines(), most);
    }

    /**
     * Returns the call paths on which samples stood, with their shares.
     *
     * @param most the most paths that are returned, those with the most samples
     * @return most samples first, as in {@link Hottest#paths}; at most {@value #MOST_PATHS}
     */
    public List<Share<List<String>>> paths(int most) {
        return first(hottest.paths(), most);
    }

    private static <P> List<P> first(List<P> places, int most) {
        return places.subList(0, Math.min(most, places.size()));
    }

    private static List<Share<Frame>> hottestLines(List<Node> nodes, Precision precision) {
        Map<Frame, Long> ways = counts(nodes, Node::frame);
        Map<Place, Map.Entry<Frame, Long>> usual = new LinkedHashMap<>();
        Map<Place, Long> counts = new LinkedHashMap<>();
        ways.entrySet().forEach(way -> {
            Place place = new Place(way.getKey().method(), way.getKey().line());
            counts.merge(place, way.getValue(), Long::sum);
            usual.merge(place, way, CallTree::moreOften);
        });
        return most(counts, Comparator.comparing(Place::method).thenComparing(Place::line), MOST_PLACES, precision)
                .stream()
                .map(each -> new Share<>(
                        Objects.requireNonNull(usual.get(each.place())).getKey(),
                        each.samples(),
                        each.share(),
                        each.low(),
                        each.high()))
                .toList();
    }

    /** A line, in whatever way it ran. */
    private record Place(String method, int line) {}

    private static Map.Entry<Frame, Long> moreOften(Map.Entry<Frame, Long> one, Map.Entry<Frame, Long> other) {
        int more = Long.compare(one.getValue(), other.getValue());
        int byName = other.getKey().how().compareTo(one.getKey().how());
        return more > 0 || (more == 0 && byName > 0) ? one : other;
    }

    private static List<Share<List<String>>> hottestPaths(List<Node> nodes, Precision precision) {
        int[] depths = new int[nodes.size()];
        for (int i = 0; i < depths.length; i++) {
            int parent = nodes.get(i).parent();
            depths[i] = parent == NO_PARENT ? 0 : depths[parent] + 1;
        }
        int common = commonLength(nodes, depths);
        Map<List<String>, Long> counts = new LinkedHashMap<>();
        for (int i = 0; i < depths.length; i++) {
            if (nodes.get(i).self() > 0) {
                int length = Math.min(LONGEST_PATH, depths[i] + 1 - Math.max(0, common - 1));
                counts.merge(path(nodes, i, length), nodes.get(i).self(), Long::sum);
            }
        }
        return most(counts, CallTree::comparePaths, MOST_PATHS, precision);
    }

    /** Returns the number of methods with which the paths of all samples begin. */
    private static int commonLength(List<Node> nodes, int[] depths) {
        List<String> common = new ArrayList<>();
        int length = Integer.MAX_VALUE;
        for (int i = 0; i < depths.length; i++) {
            String method = nodes.get(i).frame().method();
            if (depths[i] == common.size()) {
                common.add(method);
            } else if (!common.get(depths[i]).equals(method)) {
                length = Math.min(length, depths[i]);
            }
            length = nodes.get(i).self() > 0 ? Math.min(length, depths[i] + 1) : length;
        }
        return Math.min(length, common.size());
    }

    /** Returns the last methods of a path, the caller before the called one. */
    private static List<String> path(List<Node> nodes, int last, int length) {
        List<String> path = new ArrayList<>(length);
        for (int node = last; path.size() < length; node = nodes.get(node).parent()) {
            path.add(nodes.get(node).frame().method());
        }
        Collections.reverse(path);
        return List.copyOf(path);
    }

    private static int comparePaths(List<String> one, List<String> other) {
        int order = Integer.compare(one.size(), other.size());
        for (int i = 0; order == 0 && i < one.size(); i++) {
            order = one.get(i).compareTo(other.get(i));
        }
        return order;
    }

    private static <P> Map<P, Long> counts(List<Node> nodes, Function<Node, P> place) {
        Map<P, Long> counts = new LinkedHashMap<>();
        for (Node node : nodes) {
            if (node.self() > 0) {
                counts.merge(place.apply(node), node.self(), Long::sum);
            }
        }
        return counts;
    }

    private static <P> List<Share<P>> most(
            Map<P, Long> counts, Comparator<? super P> order, int most, Precision precision) {
        return counts.entrySet().stream()
                .sorted(Map.Entry.<P, Long>comparingByValue(Collections.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey(order)))
                .limit(most)
                .map(each -> Share.of(each.getKey(), each.getValue(), precision))
                .toList();
    }
}
