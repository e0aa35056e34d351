package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What ran, what it ran inside of, and what it had to wait for: nodes with dense ids from 0, and typed edges.
 *
 * <p>Ownership edges ({@link EdgeType#isOwnership()}) make a forest: a node has at most one parent and is never its own
 * ancestor. The other edges order nodes; nothing keeps them free of cycles.
 *
 * <p>Not thread-safe. A graph that no longer changes may be read by several threads.
 */
public final class ExecutionGraph {

    private static final int NONE = NodeColumns.NONE;

    private final NodeColumns nodes = new NodeColumns();
    private final EdgeColumns edges = new EdgeColumns();
    private final ScopeStack scopes = new ScopeStack();
    private final IntObjectHashMap<String> threads = new IntObjectHashMap<>();
    private long unmatchedPops;
    private RecordingLosses losses = RecordingLosses.NONE;

    /** Computed when asked for; null again after a change. */
    private @Nullable NodeTimes times;

    /** A graph without nodes. */
    public ExecutionGraph() {}

    // ---- building ----

    /**
     * Adds a node and no edge.
     *
     * @param node the node
     * @return its id
     */
    public int addNode(ExecutionNode node) {
        Objects.requireNonNull(node, "node");
        int id = nodes.add(node);
        edges.addNode();
        times = null;
        return id;
    }

    /**
     * Adds an edge of weight 1.
     *
     * @param from the id of the owner or of the earlier node
     * @param to the id of the owned or of the later node
     * @param type what the edge says
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
     * @param type what the edge says
     * @param weight a finite number, 0 or more; bytes for {@link EdgeType#TRANSFER}
     * @throws IllegalArgumentException when a node does not exist, both are the same, the weight is negative or not
     *     finite, or an ownership edge leads to a node that has a parent or is an ancestor of the other
     */
    public void addEdge(int from, int to, EdgeType type, double weight) {
        Objects.requireNonNull(type, "type");
        nodes.require(from);
        nodes.require(to);
        Edge.requireDistinct(from, to, type);
        Arguments.requireFinite("weight", weight);
        if (type.isOwnership()) {
            nodes.requireFree(to, from);
            own(from, to, type, weight);
        } else {
            edges.add(from, to, type, weight);
        }
    }

    /**
     * Says that one node ends before another starts.
     *
     * @param from the id of the node that ends
     * @param to the id of the node that starts
     * @throws IllegalArgumentException when a node does not exist or both are the same
     */
    public void addDependency(int from, int to) {
        addEdge(from, to, EdgeType.DEPENDS_ON);
    }

    /** Adds an ownership edge that is known to be the only one and to close no circle. */
    private void own(int parent, int child, EdgeType type, double weight) {
        edges.add(parent, child, type, weight);
        nodes.setParent(child, parent);
        times = null;
    }

    /** Makes a node the child of another that is known not to be below it. */
    void adopt(int parent, int child) {
        own(parent, child, EdgeType.ownershipOf(nodes.node(child)), Edge.DEFAULT_WEIGHT);
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
        scopes.push(id);
        return id;
    }

    /**
     * Ends the innermost scope. Where none is open, that is counted, see {@link #unmatchedPops()}.
     *
     * @return the id of the node that was the scope; empty where none was open
     */
    public OptionalInt popScope() {
        int id = scopes.pop();
        if (id == NONE) {
            unmatchedPops++;
        }
        return optional(id);
    }

    /**
     * The innermost open scope.
     *
     * @return the id of its node; empty where none is open
     */
    public OptionalInt currentScope() {
        return optional(scopes.current());
    }

    /**
     * Adds a node below the current scope, and a sequence edge from the node added in that scope before. The ownership
     * edge is {@link EdgeType#LAUNCHES} for a kernel, {@link EdgeType#CALLS} for a function, and
     * {@link EdgeType#CONTAINS} for everything else. Outside of all scopes the node has no parent, and follows the node
     * added there before.
     *
     * @param node the node
     * @return its id
     */
    public int addNodeInScope(ExecutionNode node) {
        int id = addNode(node);
        int scope = scopes.current();
        if (scope != NONE) {
            adopt(scope, id);
        }
        int before = scopes.swapLast(id);
        if (before != NONE) {
            edges.add(before, id, EdgeType.SEQUENCE, Edge.DEFAULT_WEIGHT);
        }
        return id;
    }

    /**
     * Whether every scope that was opened is closed, and none was closed that was not open.
     *
     * @return true where {@link #unbalancedScopes()} is empty and {@link #unmatchedPops()} is 0
     */
    public boolean isScopeBalanced() {
        return unbalancedScopes().isEmpty() && unmatchedPops() == 0;
    }

    /**
     * The names of the scopes that are open or were never closed.
     *
     * @return first those a recorder reported, then those still open, outermost first; a name once for each scope
     */
    public List<String> unbalancedScopes() {
        List<String> names = new ArrayList<>(losses.unbalancedScopes());
        scopes.open().forEach(id -> names.add(nodes.node(id).name()));
        return List.copyOf(names);
    }

    /**
     * How often a scope was to be closed where none was open.
     *
     * @return 0 or more
     */
    public long unmatchedPops() {
        return unmatchedPops + losses.unmatchedPops();
    }

    // ---- what a recorder could not keep ----

    /**
     * How many nodes a recorder could not take, because its budget was used up.
     *
     * @return 0 or more
     */
    public long droppedNodes() {
        return losses.droppedNodes();
    }

    /**
     * How many dependencies a recorder could not take, because its budget was used up.
     *
     * @return 0 or more
     */
    public long droppedDependencies() {
        return losses.droppedDependencies();
    }

    /** Notes what a recorder lost. */
    void setLosses(RecordingLosses recorded) {
        losses = recorded;
    }

    // ---- queries ----

    /**
     * How many nodes there are.
     *
     * @return ids run from 0 to one less
     */
    public int nodeCount() {
        return nodes.size();
    }

    /**
     * How many edges there are.
     *
     * @return 0 or more
     */
    public int edgeCount() {
        return edges.size();
    }

    /**
     * A node.
     *
     * @param id its id
     * @return the node
     * @throws IllegalArgumentException when no node has the id
     */
    public ExecutionNode node(int id) {
        nodes.require(id);
        return nodes.node(id);
    }

    /**
     * The nodes of a name.
     *
     * @param name a name
     * @return their ids, ascending; empty where there are none
     */
    public List<Integer> nodesByName(String name) {
        Objects.requireNonNull(name, "name");
        return boxed(nodes.named(name));
    }

    /**
     * The edges that leave a node.
     *
     * @param id a node
     * @return the edges in the order in which they were added
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Edge> outgoing(int id) {
        nodes.require(id);
        return edges.outgoing(id);
    }

    /**
     * The edges that enter a node.
     *
     * @param id a node
     * @return the edges in the order in which they were added
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Edge> incoming(int id) {
        nodes.require(id);
        return edges.incoming(id);
    }

    /** The columns of all edges, to be read by the algorithms of this package. */
    EdgeColumns edges() {
        return edges;
    }

    /**
     * The node that owns another.
     *
     * @param id a node
     * @return the id of its parent; empty for a root
     * @throws IllegalArgumentException when no node has the id
     */
    public OptionalInt parent(int id) {
        nodes.require(id);
        return optional(nodes.parent(id));
    }

    /**
     * The thread that recorded a node.
     *
     * @param id a node
     * @return its name; empty where the node was added to a graph by hand
     * @throws IllegalArgumentException when no node has the id
     */
    public Optional<String> threadName(int id) {
        nodes.require(id);
        return Optional.ofNullable(threads.get(id));
    }

    /** Notes which thread recorded a node. */
    void setThread(int id, String name) {
        threads.put(id, name);
    }

    /** The columns of all nodes, to be read by the algorithms of this package. */
    NodeColumns nodes() {
        return nodes;
    }

    /**
     * The nodes that a node owns.
     *
     * @param id a node
     * @return the ids of its children, in the order in which they came to it
     * @throws IllegalArgumentException when no node has the id
     */
    public List<Integer> children(int id) {
        nodes.require(id);
        return boxed(edges.owned(id));
    }

    /**
     * The kernels.
     *
     * @return the ids of all kernel nodes, ascending
     */
    public List<Integer> kernels() {
        return boxed(nodes.kernels());
    }

    /**
     * The kernel that took longest, by its own time or, where that is not known, by the time of the nearest brick above
     * it, which launched it.
     *
     * @return its id, the lowest among equals; empty where no kernel has a time
     */
    public OptionalInt slowestKernel() {
        return optional(times().slowest(nodes.kernels()));
    }

    /**
     * The part of a node's own time that its children do not explain: <i>max(0, t - c)</i>, where <i>t</i> is the
     * node's own time, 0 where it has none, and <i>c</i> the sum of its children's totals.
     *
     * @param id a node
     * @return ns, 0 or more
     * @throws IllegalArgumentException when no node has the id
     */
    public long selfNs(int id) {
        nodes.require(id);
        return times().selfNs(id);
    }

    /**
     * The time of a node and everything below it, each counted once: <i>max(t, c)</i>, where <i>t</i> is the node's own
     * time, 0 where it has none, and <i>c</i> the sum of its children's totals. Children that ran at the same time may
     * sum to more than the node's own time.
     *
     * <p>The first call after a change computes the times of all nodes.
     *
     * @param id a node
     * @return ns, 0 or more
     * @throws IllegalArgumentException when no node has the id
     */
    public long totalNs(int id) {
        nodes.require(id);
        return times().totalNs(id);
    }

    private NodeTimes times() {
        NodeTimes known = times;
        if (known == null) {
            known = NodeTimes.of(nodes);
            times = known;
        }
        return known;
    }

    /** Forgets all nodes, edges, scopes and counts. Ids start at 0 again. */
    public void clear() {
        nodes.clear();
        edges.clear();
        scopes.clear();
        threads.clear();
        unmatchedPops = 0;
        losses = RecordingLosses.NONE;
        times = null;
    }

    // ---- helpers ----

    private static OptionalInt optional(int id) {
        return id == NONE ? OptionalInt.empty() : OptionalInt.of(id);
    }

    private static List<Integer> boxed(IntArrayList ids) {
        return List.copyOf(ids.collect(Integer::valueOf));
    }
}
