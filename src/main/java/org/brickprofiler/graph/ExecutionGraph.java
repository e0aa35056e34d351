package org.brickprofiler.graph;

import static org.brickprofiler.internal.base.Checks.requireNotNegative;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import org.brickprofiler.internal.base.Checks;
import org.brickprofiler.internal.base.Plural;
import org.jspecify.annotations.Nullable;

/**
 * The execution of a program, with its nesting and its dependencies: nodes with dense ids from 0, and typed edges.
 *
 * <p>Ownership edges ({@link EdgeType#isOwnership()}) make a forest: a node has at most one parent and is never its own
 * ancestor. The other edges order nodes; nothing keeps them free of cycles.
 *
 * <p>Not thread-safe. A graph that no longer changes may be read by several threads.
 */
public final class ExecutionGraph {

    /** No node. */
    static final int NONE = -1;

    /**
     * An edge of an {@link ExecutionGraph}. Immutable.
     *
     * @param from the id of the owner or of the earlier node
     * @param to the id of the owned or of the later node
     * @param type the relation
     * @param weight a finite number, 0 or more: bytes for {@link EdgeType#TRANSFER}, otherwise chosen by the caller; 1
     *     by default
     */
    public record Edge(int from, int to, EdgeType type, double weight) {

        /** The weight of an edge added without one. */
        public static final double DEFAULT_WEIGHT = 1.0;

        /**
         * Checks the parts that can be checked without a graph.
         *
         * @throws IllegalArgumentException when an id is negative, both are the same, or the weight is negative or not
         *     finite
         */
        public Edge {
            Objects.requireNonNull(type, "type");
            if (from < 0 || to < 0) {
                throw new IllegalArgumentException("edge from node " + from + " to node " + to + ": ids start at 0");
            }
            requireDistinct(from, to, type);
            Checks.requireFinite("weight", weight);
        }

        static void requireDistinct(int from, int to, EdgeType type) {
            if (from == to) {
                throw new IllegalArgumentException(type + " edge from node " + from + " to itself");
            }
        }
    }

    private final List<ExecutionNode> nodes = new ArrayList<>();
    private final Map<String, IntList> idsByName = new HashMap<>();
    private final IntList kernels = new IntList();
    private final IntList parents = new IntList();
    private final IntList childCounts = new IntList();
    private final EdgeColumns edges = new EdgeColumns();
    private final List<@Nullable String> threads = new ArrayList<>();
    private final BitSet lapped = new BitSet();

    /** The open scopes, outermost first. */
    private final IntList scopes = new IntList();

    /** The node added last outside of all scopes, then the node added last in each open scope. */
    private final IntList lastNodes = new IntList();

    private long unmatchedPops;
    private Losses losses = Losses.NONE;

    /** Computed when first needed; null again after a change. */
    private @Nullable NodeTimes times;

    /** Creates a graph without nodes. */
    public ExecutionGraph() {
        lastNodes.add(NONE);
    }

    // ---- building ----

    /**
     * Adds a node and no edge.
     *
     * @param node the node
     * @return its id
     */
    public int addNode(ExecutionNode node) {
        Objects.requireNonNull(node, "node");
        int id = nodes.size();
        nodes.add(node);
        idsByName.computeIfAbsent(node.name(), name -> new IntList(1)).add(id);
        if (node instanceof ExecutionNode.Kernel) {
            kernels.add(id);
        }
        parents.add(NONE);
        threads.add(null);
        childCounts.add(0);
        edges.addNode();
        times = null;
        return id;
    }

    /**
     * Adds an edge of weight 1.
     *
     * @param from the id of the owner or of the earlier node
     * @param to the id of the owned or of the later node
     * @param type the relation
     * @throws IllegalArgumentException when a node does not exist, both are the same, or an ownership edge leads to a
     *     node that has a parent or is an ancestor of the other
     */
    public void addEdge(int from, int to, EdgeType type) {
        Objects.requireNonNull(type, "type");
        addEdge(from, to, type, Edge.DEFAULT_WEIGHT);
    }

    /**
     * Adds an edge.
     *
     * @param from the id of the owner or of the earlier node
     * @param to the id of the owned or of the later node
     * @param type the relation
     * @param weight a finite number, 0 or more; bytes for {@link EdgeType#TRANSFER}
     * @throws IllegalArgumentException when a node does not exist, both are the same, the weight is negative or not
     *     finite, or an ownership edge leads to a node that has a parent or is an ancestor of the other
     */
    public void addEdge(int from, int to, EdgeType type, double weight) {
        Objects.requireNonNull(type, "type");
        require(from);
        require(to);
        Edge.requireDistinct(from, to, type);
        Checks.requireFinite("weight", weight);
        if (type.isOwnership()) {
            requireFree(to, from);
            own(from, to, type, weight);
        } else {
            edges.add(from, to, type, weight);
        }
    }

    /**
     * Adds a dependency: one node ends before another starts.
     *
     * @param from the id of the node that ends
     * @param to the id of the node that starts
     * @throws IllegalArgumentException when a node does not exist or both are the same
     */
    public void addDependency(int from, int to) {
        addEdge(from, to, EdgeType.DEPENDS_ON);
    }

    /** Adds an ownership edge. The caller has checked that the child has no parent and is no ancestor of the parent. */
    private void own(int parent, int child, EdgeType type, double weight) {
        edges.add(parent, child, type, weight);
        parents.set(child, parent);
        childCounts.set(parent, childCounts.get(parent) + 1);
        times = null;
    }

    /** Makes a node the child of another. The caller has checked that the parent is not below the child. */
    void adopt(int parent, int child) {
        own(parent, child, EdgeType.ownershipOf(nodes.get(child)), Edge.DEFAULT_WEIGHT);
    }

    // ---- scopes ----

    /**
     * Adds a node as {@link #addNodeInScope} does, and makes it the scope of the nodes added in scope from now on.
     *
     * @param node the node
     * @return its id
     */
    public int pushScope(ExecutionNode node) {
        int id = addNodeInScope(node);
        scopes.add(id);
        lastNodes.add(NONE);
        return id;
    }

    /**
     * Ends the innermost scope. If none is open, the call is counted in {@link #unmatchedPops()}.
     *
     * @return the id of the scope's node; empty if none was open
     */
    public OptionalInt popScope() {
        if (scopes.isEmpty()) {
            unmatchedPops++;
            return OptionalInt.empty();
        }
        lastNodes.removeLast();
        return OptionalInt.of(scopes.removeLast());
    }

    /**
     * Returns the innermost open scope.
     *
     * @return the id of its node; empty if none is open
     */
    public OptionalInt currentScope() {
        return scopes.isEmpty() ? OptionalInt.empty() : OptionalInt.of(scopes.last());
    }

    /**
     * Adds a node below the current scope, and a sequence edge from the node that was added last in that scope. The
     * ownership edge is {@link EdgeType#LAUNCHES} for a kernel, {@link EdgeType#CALLS} for a function, and
     * {@link EdgeType#CONTAINS} for everything else. Outside of all scopes the node has no parent, and a sequence edge
     * leads to it from the last node added outside of all scopes.
     *
     * @param node the node
     * @return its id
     */
    public int addNodeInScope(ExecutionNode node) {
        int id = addNode(node);
        if (!scopes.isEmpty()) {
            adopt(scopes.last(), id);
        }
        int before = lastNodes.removeLast();
        lastNodes.add(id);
        if (before != NONE) {
            edges.add(before, id, EdgeType.SEQUENCE, Edge.DEFAULT_WEIGHT);
        }
        return id;
    }

    /**
     * Returns whether each scope that was opened was closed exactly once.
     *
     * @return true if {@link #unbalancedScopes()} is empty and {@link #unmatchedPops()} is 0
     */
    public boolean isScopeBalanced() {
        return unbalancedScopes().isEmpty() && unmatchedPops() == 0;
    }

    /**
     * Returns the names of the scopes that are open or were never closed.
     *
     * @return first the scopes that a recorder reported, then those still open, outermost first; one name per scope
     */
    public List<String> unbalancedScopes() {
        List<String> names = new ArrayList<>(losses.unbalancedScopes());
        scopes.stream().forEach(id -> names.add(nodes.get(id).name()));
        return List.copyOf(names);
    }

    /**
     * Returns how often {@link #popScope} found no open scope.
     *
     * @return 0 or more
     */
    public long unmatchedPops() {
        return unmatchedPops + losses.unmatchedPops();
    }

    // ---- losses of a recorder ----

    /**
     * Returns the number of nodes that the recorder dropped because its budget was used up.
     *
     * @return 0 or more
     */
    public long droppedNodes() {
        return losses.droppedNodes();
    }

    /**
     * Returns the number of dependencies that the recorder dropped because its budget was used up.
     *
     * @return 0 or more
     */
    public long droppedDependencies() {
        return losses.droppedDependencies();
    }

    /** Sets the losses of a recorder. */
    void setLosses(Losses recorded) {
        losses = recorded;
    }

    /**
     * The losses and errors that a recorder counted. Immutable.
     *
     * @param unbalancedScopes the names of scopes that were opened and not closed
     * @param unmatchedPops how often a scope end found no open scope
     * @param droppedNodes nodes past the budget
     * @param droppedDependencies dependencies past the budget
     */
    record Losses(List<String> unbalancedScopes, long unmatchedPops, long droppedNodes, long droppedDependencies) {

        static final Losses NONE = new Losses(List.of(), 0, 0, 0);

        Losses {
            unbalancedScopes = List.copyOf(unbalancedScopes);
        }
    }

    // ---- queries ----

    /**
     * Returns the number of nodes.
     *
     * @return ids run from 0 to one less
     */
    public int nodeCount() {
        return nodes.size();
    }

    /**
     * Returns the number of edges.
     *
     * @return 0 or more
     */
    public int edgeCount() {
        return edges.size();
    }

    /**
     * Returns a node.
     *
     * @param id its id
     * @return the node
     * @throws IllegalArgumentException when no node has the id
     */
    public ExecutionNode node(int id) {
        require(id);
        return nodes.get(id);
    }

    /**
     * Returns the nodes with a name.
     *
     * @param name a name
     * @return their ids, ascending; empty if there are none
     */
    public List<Integer> nodesByName(String name) {
        Objects.requireNonNull(name, "name");
        IntList ids = idsByName.get(name);
        return ids == null ? List.of() : boxed(ids);
    }

    /**
     * Returns the edges that leave a node.
     *
     * @param id a node
     * @return the edges in the order in which they were added
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Edge> outgoing(int id) {
        require(id);
        return edges.outgoing(id);
    }

    /**
     * Returns the edges that enter a node.
     *
     * @param id a node
     * @return the edges in the order in which they were added
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Edge> incoming(int id) {
        require(id);
        return edges.incoming(id);
    }

    /** Returns the columns of all edges, for the algorithms of this package. */
    EdgeColumns edges() {
        return edges;
    }

    /**
     * Returns the node that owns another.
     *
     * @param id a node
     * @return the id of its parent; empty for a root
     * @throws IllegalArgumentException when no node has the id
     */
    public OptionalInt parent(int id) {
        require(id);
        return optional(parents.get(id));
    }

    /**
     * Returns the thread that recorded a node.
     *
     * @param id a node
     * @return its name; empty if no recorder recorded the node
     * @throws IllegalArgumentException when no node has the id
     */
    public Optional<String> threadName(int id) {
        require(id);
        return Optional.ofNullable(threads.get(id));
    }

    /** Sets the thread that recorded a node. */
    void setThread(int id, String name) {
        threads.set(id, name);
    }

    /** Marks a node as begun by the clock reading that ended the node before it. */
    void setLapped(int id) {
        lapped.set(id);
    }

    /**
     * The nesting of the bricks of one name. The numbers of several graphs add up.
     *
     * @param samples the number of bricks of the name
     * @param lapped the number of bricks that began at the clock reading that ended the brick before, as {@code lap}
     *     records them
     * @param within the number of bricks inside these bricks, at any depth
     * @param lappedWithin the number of bricks in {@code within} that began in the same way
     */
    public record Nesting(long samples, long lapped, long within, long lappedWithin) {
        /**
         * Checks the values.
         *
         * @throws IllegalArgumentException when a number is negative, or a part larger than its whole
         */
        public Nesting {
            requireNotNegative("samples", samples);
            requireNotNegative("lapped", lapped);
            requireNotNegative("within", within);
            requireNotNegative("lappedWithin", lappedWithin);
            if (lapped > samples || lappedWithin > within) {
                throw new IllegalArgumentException("lapped " + lapped + " of " + samples + " samples, and "
                        + lappedWithin + " of " + within + " within them");
            }
        }

        /**
         * Returns the sums of this and another nesting.
         *
         * @param other the nesting of bricks of the same name
         * @return the sums
         */
        public Nesting plus(Nesting other) {
            return new Nesting(
                    samples + other.samples,
                    lapped + other.lapped,
                    within + other.within,
                    lappedWithin + other.lappedWithin);
        }
    }

    /**
     * Returns the nesting of the bricks by name.
     *
     * @return a new map, sorted by the name of the brick; the caller may change it
     */
    public Map<String, Nesting> nesting() {
        Map<String, Nesting> nesting = new TreeMap<>();
        for (int id = 0; id < nodes.size(); id++) {
            if (nodes.get(id) instanceof ExecutionNode.Brick brick) {
                int own = lapped.get(id) ? 1 : 0;
                nesting.merge(brick.name(), new Nesting(1, own, 0, 0), Nesting::plus);
                for (int above = parents.get(id); above != NONE; above = parents.get(above)) {
                    if (nodes.get(above) instanceof ExecutionNode.Brick holder) {
                        nesting.merge(holder.name(), new Nesting(0, 0, 1, own), Nesting::plus);
                    }
                }
            }
        }
        return nesting;
    }

    /** Returns the parent of an existing node, or {@link #NONE}. */
    int parentOrNone(int id) {
        return parents.get(id);
    }

    /** Returns the number of children of an existing node. */
    int childCount(int id) {
        return childCounts.get(id);
    }

    /**
     * Returns the nodes that a node owns.
     *
     * @param id a node
     * @return the ids of its children, in the order in which their ownership edges were added
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Integer> children(int id) {
        require(id);
        return boxed(edges.owned(id));
    }

    /**
     * Returns the kernels.
     *
     * @return the ids of all kernel nodes, ascending
     */
    public List<Integer> kernels() {
        return boxed(kernels);
    }

    /**
     * Returns the kernel that took longest, by its own time or, if that time is unknown, by the time of the nearest
     * brick above it, which launched the kernel.
     *
     * @return its id, the lowest among equals; empty if no kernel has a time
     */
    public OptionalInt slowestKernel() {
        return optional(times().slowest(kernels));
    }

    /**
     * Returns the part of a node's own time that its children do not explain: <i>max(0, t - c)</i>; <i>t</i> is the
     * node's own time, 0 if it has none, and <i>c</i> is the sum of its children's totals.
     *
     * @param id a node
     * @return ns, 0 or more
     * @throws IllegalArgumentException when no node has the id
     */
    public long selfNs(int id) {
        require(id);
        return times().selfNs(id);
    }

    /**
     * Returns the time of a node and everything below it, each counted once: <i>max(t, c)</i>; <i>t</i> is the node's
     * own time, 0 if it has none, and <i>c</i> is the sum of its children's totals. Children that ran at the same time
     * may sum to more than the node's own time.
     *
     * <p>The first call after a change computes the times of all nodes.
     *
     * @param id a node
     * @return ns, 0 or more
     * @throws IllegalArgumentException when no node has the id
     */
    public long totalNs(int id) {
        require(id);
        return times().totalNs(id);
    }

    private NodeTimes times() {
        NodeTimes known = times;
        if (known == null) {
            known = NodeTimes.of(this);
            times = known;
        }
        return known;
    }

    /** Forgets all nodes, edges, scopes and counts. Ids start at 0 again. */
    public void clear() {
        nodes.clear();
        idsByName.clear();
        kernels.clear();
        parents.clear();
        childCounts.clear();
        edges.clear();
        scopes.clear();
        lastNodes.clear();
        lastNodes.add(NONE);
        threads.clear();
        lapped.clear();
        unmatchedPops = 0;
        losses = Losses.NONE;
        times = null;
    }

    // ---- helpers ----

    /** Refuses an id that no node has. */
    private void require(int id) {
        if (id < 0 || id >= nodes.size()) {
            throw new IllegalArgumentException(
                    "node " + id + " does not exist, in a graph of " + Plural.of(nodes.size(), "node"));
        }
    }

    /** Refuses a child that has a parent already, or is above its new parent. */
    private void requireFree(int child, int newParent) {
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

    private static OptionalInt optional(int id) {
        return id == NONE ? OptionalInt.empty() : OptionalInt.of(id);
    }

    private static List<Integer> boxed(IntList ids) {
        return ids.stream().boxed().toList();
    }
}
