package org.brickprofiler.graph;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.brickprofiler.graph.ExecutionGraph.Edge;

/**
 * Everything recorded from one reset to the next. Any thread; only readers wait.
 *
 * <h2>Consistency of a graph:</h2>
 *
 * A step that adopts others first reserves its id, then sets their parent, then is published. A reader takes the number
 * of reserved ids as its limit and waits until all nodes below the limit are published. Only then does it read parents,
 * and it ignores parents at or above the limit. It therefore sees every adoption by a node below the limit and none by
 * another: the state at the moment when it read the limit.
 */
final class Recording {

    private static final int NONE = GraphRecorder.NONE;

    /** The budget of explicit dependencies, as a multiple of the budget of nodes. */
    private static final int DEPENDENCIES_PER_NODE = 4;

    private final long generation;
    private final AppendLog<RecordedNode> nodes;
    private final AppendLog<HandOff> handOffs;
    private final AppendLog<Edge> dependencies;
    private final AtomicInteger threads = new AtomicInteger();
    private final LongAdder droppedNodes = new LongAdder();
    private final LongAdder droppedDependencies = new LongAdder();
    private final LongAdder unmatchedPops = new LongAdder();

    Recording(long generation, int nodeBudget) {
        this.generation = generation;
        this.nodes = new AppendLog<>(nodeBudget);
        this.handOffs = new AppendLog<>(nodeBudget);
        long dependencyBudget = Math.min(Integer.MAX_VALUE, (long) DEPENDENCIES_PER_NODE * nodeBudget);
        this.dependencies = new AppendLog<>((int) dependencyBudget);
    }

    /** Returns the number of this recording in its recorder. */
    long generation() {
        return generation;
    }

    /** Returns the number of a thread that begins to record here. */
    int newThread() {
        return threads.getAndIncrement();
    }

    // ---- nodes ----

    /** Returns whether there is room for a node. If not, counts a dropped node. */
    boolean hasRoom() {
        if (nodes.isFull()) {
            droppedNodes.increment();
            return false;
        }
        return true;
    }

    /**
     * Reserves an id, which the caller must publish at once. If none is left, counts a dropped node and returns
     * {@link GraphRecorder#NONE}.
     */
    int reserve() {
        int id = nodes.reserve();
        if (id == AppendLog.FULL) {
            droppedNodes.increment();
            return NONE;
        }
        return id;
    }

    void publish(int id, RecordedNode node) {
        nodes.publish(id, node);
    }

    /**
     * Sets the parent of a node or hand-off of the calling thread. The id of the parent is reserved, and the parent is
     * not yet published.
     */
    void adopt(int child, int parent) {
        Adoptable adopted = HandOff.isEntry(child) ? handOffs.get(HandOff.index(child)) : nodes.get(child);
        adopted.setParent(parent);
    }

    // ---- hand-offs ----

    /**
     * Records that a thread gives work to others.
     *
     * @param place the thread and parent of the hand-off
     * @param token the token that the others work for
     * @return the index of the hand-off; {@link GraphRecorder#NONE} if the budget is used up, which is counted
     */
    int handOff(RecordedNode.Place place, long token) {
        HandOff handOff = new HandOff(place, token);
        int index = handOffs.reserve();
        if (index == AppendLog.FULL) {
            droppedDependencies.increment();
            return NONE;
        }
        handOffs.publish(index, handOff);
        return index;
    }

    void closeScope(int scope) {
        nodes.get(scope).setOpenScope(false);
    }

    void countUnmatchedPop() {
        unmatchedPops.increment();
    }

    // ---- dependencies ----

    void addDependency(Edge dependency) {
        int index = dependencies.reserve();
        if (index == AppendLog.FULL) {
            droppedDependencies.increment();
        } else {
            dependencies.publish(index, dependency);
        }
    }

    // ---- reading ----

    /** Returns the graph recorded so far, with the ids that the recording methods returned. */
    ExecutionGraph toGraph() {
        // Count the dependencies first: the ids of their nodes were reserved before, and so are below the limit.
        int dependencyCount = dependencies.size();
        List<RecordedNode> recorded = published(nodes);
        ExecutionGraph graph = new ExecutionGraph();
        recorded.forEach(each -> graph.addNode(each.node()));
        // Read the hand-offs last: a token is taken before a node is recorded for it, so no hand-off is missing.
        link(graph, recorded, ParentFinder.parents(recorded, published(handOffs)));
        for (int i = 0; i < dependencyCount; i++) {
            addTo(graph, dependencies.get(i));
        }
        graph.setLosses(losses(recorded));
        return graph;
    }

    private static <T> List<T> published(AppendLog<T> log) {
        int limit = log.size();
        List<T> elements = new ArrayList<>(limit);
        for (int index = 0; index < limit; index++) {
            elements.add(log.get(index));
        }
        return elements;
    }

    /**
     * Adds the edges from parents, and sequence edges between the nodes that one thread recorded below one parent, in
     * ascending order of id.
     */
    private static void link(ExecutionGraph graph, List<RecordedNode> recorded, int[] parents) {
        Map<Long, Integer> last = new HashMap<>();
        for (int id = 0; id < parents.length; id++) {
            RecordedNode.Place place = recorded.get(id).place();
            graph.setThread(id, place.threadName());
            if (parents[id] != NONE) {
                graph.adopt(parents[id], id);
            }
            long chain = ((long) parents[id] << Integer.SIZE) | Integer.toUnsignedLong(place.thread());
            Integer before = last.put(chain, id);
            if (before != null) {
                graph.addEdge(before, id, EdgeType.SEQUENCE);
                if (recorded.get(before).endsWhere(recorded.get(id))) {
                    graph.setLapped(id);
                }
            }
        }
    }

    private static void addTo(ExecutionGraph graph, Edge dependency) {
        // An id from before a reset may not belong to any node here.
        if (Math.max(dependency.from(), dependency.to()) < graph.nodeCount()) {
            graph.addDependency(dependency.from(), dependency.to());
        }
    }

    private ExecutionGraph.Losses losses(List<RecordedNode> recorded) {
        List<String> open = recorded.stream()
                .filter(RecordedNode::isOpenScope)
                .map(each -> each.node().name())
                .toList();
        return new ExecutionGraph.Losses(open, unmatchedPops.sum(), droppedNodes.sum(), droppedDependencies.sum());
    }
}
