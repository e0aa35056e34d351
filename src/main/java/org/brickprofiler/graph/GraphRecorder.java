package org.brickprofiler.graph;

import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.graph.ExecutionGraph.Edge;
import org.brickprofiler.graph.ExecutionNode.Brick;
import org.brickprofiler.graph.ExecutionNode.Kernel;
import org.brickprofiler.graph.ExecutionNode.Layer;
import org.brickprofiler.graph.ExecutionNode.Transfer;
import org.brickprofiler.internal.record.LayerBoundaries.Side;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.setting.SwitchSetting;
import org.brickprofiler.spi.NanoClock;
import org.jspecify.annotations.Nullable;

/**
 * Records an {@link ExecutionGraph} while a program runs, from any number of threads. Off until enabled; while it is
 * off, every recording method reads one field and returns; of its arguments, it checks at most that they are not null.
 *
 * <p><b>Ownership.</b> Every thread has its own scopes, layers and passes. A node recorded inside an open scope is a
 * child of that scope. A brick is recorded when it ends, and then becomes the parent of the nodes that its thread
 * recorded in the same scope since the brick began; a layer does the same when it ends. A node that is not adopted
 * stays at the top level. {@link EdgeType#SEQUENCE} edges link the nodes that one thread recorded below one parent, or
 * at the top level, in the order of their ends; scopes are linked in the order of their beginnings.
 *
 * <p><b>Work for other threads.</b> A token of {@link #handOff} carries the brick that is open on the thread that calls
 * {@code handOff}. A node that another thread records for the token is a child of that brick, or of the token's layer
 * if no brick of the layer was open; until the brick and the layer have ended, the node is at the top level. It does
 * not matter whether the node is recorded before or after they end.
 *
 * <p>A node that began at the same reading of the clock as a brick counts as begun inside it. If a thread has recorded
 * a node that began inside a brick, the nodes that it records after this node belong to the brick as well, even if
 * their reported beginnings are earlier.
 *
 * <p><b>Budget.</b> When the number of recorded nodes reaches the budget, further nodes are counted and dropped, and
 * their id is {@link #NONE}. Dependencies are limited to four times the budget, and tokens that carry a brick to the
 * budget; a token beyond that limit carries its layer alone and is counted as a dropped dependency.
 *
 * <p><b>Threads.</b> Every method may be called from any thread, virtual ones included. Recording threads wait neither
 * for each other nor for a reader. A reader waits for nodes that are being recorded at that moment. The state of a
 * thread stays with it when a pool clears its thread-locals. The nodes of an ended thread are kept; its other state is
 * freed at the next {@link #graph()}, or when the number of threads has doubled.
 *
 * <p><b>Allocation.</b> A recorded node allocates itself and one small object, a scope one more; the first node of a
 * thread allocates the thread's stack, which grows with the nodes that may still be adopted; every 2,048th node of all
 * threads allocates a chunk; a dependency, and a token that carries a brick, allocate one object each. Nothing is
 * allocated while the recorder is off, or for bricks beyond the budget.
 */
public final class GraphRecorder {

    /** The id of a node that was not recorded: the recorder was off, or its budget was used up. */
    public static final int NONE = -1;

    /** The default budget: the largest number of nodes that a recorder keeps. */
    public static final int DEFAULT_NODE_BUDGET = 100_000;

    /**
     * The largest number of times that {@link #handOff} reads the clock until the clock advances: about 20 us, enough
     * for a clock with a resolution of 100 ns.
     */
    private static final int MOST_READINGS = 1_000;

    private final NanoClock clock;
    private final int nodeBudget;
    private final AtomicLong generations = new AtomicLong();
    private final AtomicInteger handOffs = new AtomicInteger();

    /** Holds no reference to a recording, so that a thread does not keep a recording alive after a reset. */
    private final PerThread<OpenEntries, @Nullable Void> entries = new PerThread<>(OpenEntries::new, null, false);

    private volatile Recording recording;
    private volatile boolean enabled;

    /**
     * Creates a recorder with the default budget, switched off.
     *
     * @param clock the clock that the readings given to {@link #brick} come from
     */
    public GraphRecorder(NanoClock clock) {
        this(clock, DEFAULT_NODE_BUDGET);
    }

    /**
     * Creates a recorder, switched off.
     *
     * @param clock the clock that the readings given to {@link #brick} come from
     * @param nodeBudget the most nodes it keeps, 1 or more
     * @throws IllegalArgumentException when the budget is below 1
     */
    public GraphRecorder(NanoClock clock, int nodeBudget) {
        if (nodeBudget < 1) {
            throw new IllegalArgumentException("node budget " + nodeBudget + " is below 1");
        }
        this.clock = Objects.requireNonNull(clock, "clock");
        this.nodeBudget = nodeBudget;
        this.recording = new Recording(generations.get(), nodeBudget);
    }

    // ---- switch ----

    /** Switches recording on, unless {@code BRICK_PROFILER=off} or its property switches off the whole profiler. */
    public void enable() {
        enabled = SwitchSetting.ofProfiler().on();
    }

    /**
     * Switches recording off and keeps all recorded nodes. A scope that is closed while the recorder is off stays open
     * in the graph.
     */
    public void disable() {
        enabled = false;
    }

    /**
     * Returns whether recording is on.
     *
     * @return true between {@link #enable} and {@link #disable}
     */
    public boolean isEnabled() {
        return enabled;
    }

    // ---- nodes ----

    /**
     * Records a brick that has ended, and makes it the parent of the nodes that the calling thread recorded in its
     * current scope since the brick began. A brick belongs to the thread on which it ends.
     *
     * @param name the brick
     * @param startNs the recorder's clock when it began
     * @param endNs the recorder's clock when it ended; if that is before {@code startNs}, the brick took 0 ns
     * @param elements elements it processed
     * @return its id, or {@link #NONE}
     * @throws IllegalArgumentException when the name is null or empty or the elements are negative
     */
    public int brick(String name, long startNs, long endNs, long elements) {
        Recording current = recordingWithRoom();
        if (current == null) {
            return NONE;
        }
        long elapsedNs = Math.max(0, endNs - startNs);
        long endedNs = startNs + elapsedNs;
        Brick brick = new Brick(name, elapsedNs, elements);
        OpenEntries mine = entriesIn(current);
        Side side = mine.side(startNs, endedNs);
        RecordedNode recorded = new RecordedNode(brick, mine.placeOf(side), LayerToken.VOID, startNs, endedNs);
        mine.makeRoom();
        int id = current.reserve();
        if (id == NONE) {
            return NONE;
        }
        mine.end(id, startNs, endedNs, side, current);
        current.publish(id, recorded);
        if (side == Side.LAYER_BEFORE) {
            fillLayer(mine, current);
        }
        return id;
    }

    /**
     * Returns the current recording, or null if the recorder is off or its budget is used up. If the budget is used up,
     * counts a dropped node.
     */
    private @Nullable Recording recordingWithRoom() {
        if (!enabled) {
            return null;
        }
        Recording current = recording;
        return current.hasRoom() ? current : null;
    }

    /** Records the node of a layer that ended without one, now that a brick belongs to it. */
    private static void fillLayer(OpenEntries mine, Recording current) {
        Layer layer = mine.emptyClosedLayer();
        if (layer != null && current.hasRoom()) {
            RecordedNode recorded = new RecordedNode(
                    layer, mine.place(), mine.closedToken(), mine.closedBeganNs(), mine.closedEndedNs());
            int id = current.reserve();
            if (id != NONE) {
                mine.fillClosedLayer(id, current);
                current.publish(id, recorded);
            }
        }
    }

    /**
     * Records a brick that was timed elsewhere and ended now. It adopts nothing.
     *
     * @param name the brick
     * @param elapsedNs how long it took, ns
     * @param elements elements it processed
     * @return its id, or {@link #NONE}
     * @throws IllegalArgumentException when the name is null or empty or a number is negative
     */
    public int recordBrick(String name, long elapsedNs, long elements) {
        Recording current = recordingWithRoom();
        if (current == null) {
            return NONE;
        }
        Brick brick = new Brick(name, elapsedNs, elements);
        long nowNs = clock.nanoTime();
        return append(brick, nowNs - elapsedNs, nowNs, current);
    }

    /**
     * Records the launch of a kernel without measured times and rates.
     *
     * @param name the kernel
     * @param hash the hash of its PTX text or binary
     * @param grid the grid, in blocks
     * @param block the block, in threads
     * @param sharedMemoryBytes dynamic shared memory of a block, bytes
     * @return its id, or {@link #NONE}
     * @throws IllegalArgumentException when the name is null or empty or the size is negative
     */
    public int recordKernel(String name, long hash, Dim3 grid, Dim3 block, int sharedMemoryBytes) {
        return enabled ? recordNode(new Kernel(name, hash, grid, block, sharedMemoryBytes)) : NONE;
    }

    /**
     * Records the launch of a kernel, as begun now.
     *
     * @param kernel the kernel
     * @return its id, or {@link #NONE}
     */
    public int recordKernel(Kernel kernel) {
        Objects.requireNonNull(kernel, "kernel");
        return recordNode(kernel);
    }

    /**
     * Records a copy of unknown duration.
     *
     * @param source the buffer or memory from which it reads
     * @param destination the buffer or memory to which it writes
     * @param bytes its size, bytes
     * @param direction the kinds of memory
     * @return its id, or {@link #NONE}
     * @throws IllegalArgumentException when an end is null or empty or the bytes are negative
     */
    public int recordTransfer(String source, String destination, long bytes, TransferDirection direction) {
        return enabled ? recordNode(new Transfer(source, destination, bytes, direction)) : NONE;
    }

    /**
     * Records a copy, as begun now.
     *
     * @param transfer the copy
     * @return its id, or {@link #NONE}
     */
    public int recordTransfer(Transfer transfer) {
        Objects.requireNonNull(transfer, "transfer");
        return recordNode(transfer);
    }

    /**
     * Records any node, as begun now; it adopts nothing.
     *
     * @param node the node
     * @return its id, or {@link #NONE}
     */
    public int recordNode(ExecutionNode node) {
        Recording current = recordingWithRoom();
        if (current == null) {
            return NONE;
        }
        long nowNs = clock.nanoTime();
        return append(node, nowNs, nowNs, current);
    }

    private int append(ExecutionNode node, long beganNs, long endedNs, Recording current) {
        Objects.requireNonNull(node, "node");
        OpenEntries mine = entriesIn(current);
        return append(new RecordedNode(node, mine.place(), LayerToken.VOID, beganNs, endedNs), beganNs, mine, current);
    }

    private static int append(RecordedNode recorded, long beganNs, OpenEntries mine, Recording current) {
        mine.makeRoom();
        int id = current.reserve();
        if (id != NONE) {
            mine.add(id, beganNs);
            current.publish(id, recorded);
        }
        return id;
    }

    /**
     * Records a dependency: one node ends before another starts. Does nothing if an id is {@link #NONE}.
     *
     * @param from the id of the node that ends
     * @param to the id of the node that starts; both ids must be from this recorder, since its last {@link #reset}
     * @throws IllegalArgumentException when both are the same node or an id was never returned
     */
    public void addDependency(int from, int to) {
        if (enabled && from != NONE && to != NONE) {
            recording.addDependency(new Edge(from, to, EdgeType.DEPENDS_ON, Edge.DEFAULT_WEIGHT));
        }
    }

    // ---- scopes ----

    /**
     * Records a node that begins now, and makes it the parent of the nodes that the calling thread records until the
     * matching {@link #popScope}.
     *
     * @param node the node
     * @return its id, or {@link #NONE}; pop the scope even if the budget had no room for it
     */
    public int pushScope(ExecutionNode node) {
        if (!enabled) {
            return NONE;
        }
        Recording current = recording;
        OpenEntries mine = entriesIn(current);
        int id = current.hasRoom() ? appendScope(node, mine, current) : NONE;
        if (id == NONE) {
            mine.pushDroppedScope();
        }
        return id;
    }

    private int appendScope(ExecutionNode node, OpenEntries mine, Recording current) {
        Objects.requireNonNull(node, "node");
        long nowNs = clock.nanoTime();
        RecordedNode recorded = new RecordedNode(node, mine.place(), LayerToken.VOID, nowNs, nowNs);
        recorded.setOpenScope(true);
        int id = append(recorded, nowNs, mine, current);
        if (id != NONE) {
            mine.pushScope(id);
        }
        return id;
    }

    /**
     * Closes the scope that the calling thread opened last. If none is open, the call is counted in
     * {@link ExecutionGraph#unmatchedPops()}.
     *
     * @return the id of the scope's node; empty if none was open or it was not recorded
     */
    public OptionalInt popScope() {
        if (!enabled) {
            return OptionalInt.empty();
        }
        Recording current = recording;
        OpenEntries mine = entriesIn(current);
        if (mine.popDroppedScope()) {
            return OptionalInt.empty();
        }
        int id = mine.popScope();
        if (id != NONE) {
            current.closeScope(id);
            return OptionalInt.of(id);
        }
        if (!mine.popForgottenScope()) {
            current.countUnmatchedPop();
        }
        return OptionalInt.empty();
    }

    // ---- layers and passes ----

    /** Begins a layer on the calling thread. Without this call a layer begins when the layer before it ends. */
    public void startLayer() {
        startLayer(LayerToken.VOID);
    }

    /**
     * Begins a layer on the calling thread that other threads may work for, see {@link #workFor}. Its number is the
     * token's.
     *
     * @param layer the layer's {@link LayerToken}
     */
    public void startLayer(long layer) {
        if (enabled) {
            entriesIn(recording).startLayer(clock.nanoTime(), layer);
        }
    }

    /**
     * Ends a layer: a {@link Layer} becomes the parent of the nodes that the calling thread recorded in its current
     * scope since the layer began. If there are none, no node is added, but the layer is counted.
     *
     * <p>A brick that began in the layer and ends later belongs to the layer if most of its time lies in it, otherwise
     * to the next layer, or to none.
     *
     * @return the id of the layer's node, or {@link #NONE}
     */
    public int endLayer() {
        return endLayer(LayerToken.VOID);
    }

    /**
     * Ends a layer, as {@link #endLayer()} does.
     *
     * @param layer the layer's {@link LayerToken}, whose number the layer gets; {@link LayerToken#VOID} if
     *     {@link #startLayer(long)} named the layer, or to number it by counting
     * @return the id of the layer's node, or {@link #NONE}
     */
    public int endLayer(long layer) {
        if (!enabled) {
            return NONE;
        }
        Recording current = recording;
        return endLayer(layer, entriesIn(current), current);
    }

    private int endLayer(long given, OpenEntries mine, Recording current) {
        long token = given == LayerToken.VOID ? mine.layerToken() : given;
        Layer layer = mine.layer(token);
        long nowNs = clock.nanoTime();
        boolean hasNodes = mine.hasLayer();
        long beganNs = hasNodes ? mine.layerBeganNs() : nowNs;
        int id = NONE;
        if (hasNodes && current.hasRoom()) {
            RecordedNode recorded = new RecordedNode(layer, mine.place(), token, beganNs, nowNs);
            mine.keepLayer();
            id = current.reserve();
            if (id != NONE) {
                mine.closeLayer(id, current);
                current.publish(id, recorded);
            }
        }
        mine.endLayer(layer, token, id, nowNs);
        return id;
    }

    /**
     * Returns a token of a layer that also carries the innermost brick that is open on the calling thread, in its
     * current scope: nodes that other threads record for the token become children of that brick. A brick is open from
     * its beginning until {@link #brick} reports it. A token never carries a brick that ends on another thread.
     *
     * <p>The call returns only after the clock has advanced, to distinguish open bricks from the brick that begins
     * next. If the clock does not advance in 1,000 readings, a brick that begins at that reading counts as open.
     *
     * @param layer the {@link LayerToken} of the layer that the calling thread works for
     * @return the token, for {@link #workFor} on another thread; {@code layer} itself while the recorder is off, for
     *     {@link LayerToken#VOID}, and beyond the budget
     */
    public long handOff(long layer) {
        if (!enabled || layer == LayerToken.VOID) {
            return layer;
        }
        Recording current = recording;
        OpenEntries mine = entriesIn(current);
        mine.makeRoom();
        // Never from 0 again: a token from before a reset must not match a hand-off after it.
        long token = LayerToken.withHandOff(layer, handOffs.getAndIncrement() & Integer.MAX_VALUE);
        int index = current.handOff(mine.place(), token);
        if (index == NONE) {
            return layer;
        }
        long nowNs = clock.nanoTime();
        mine.addHandOff(HandOff.entry(index), nowNs);
        for (int reading = 0; reading < MOST_READINGS && clock.nanoTime() - nowNs <= 0; reading++) {
            Thread.onSpinWait();
        }
        return token;
    }

    /**
     * Sets the layer that the calling thread works for until the next call. Nodes that it records then belong to the
     * brick that the token carries, otherwise to the token's layer; they have no parent until both have ended. When the
     * thread returns to its own work or to an earlier token, it continues the work that it had begun there.
     *
     * @param layer a token of {@link #handOff}, the {@link LayerToken} of a layer, {@link LayerToken#VOID} for none, or
     *     {@link LayerToken#OWN} for the thread's own work
     */
    public void workFor(long layer) {
        if (enabled) {
            entriesIn(recording).workFor(layer);
        }
    }

    /**
     * Ends a pass on the calling thread. Nodes recorded so far are no longer adopted, and layers are counted from 0
     * again. An open layer ends; open scopes are closed and reported by {@link ExecutionGraph#unbalancedScopes()}.
     */
    public void endPass() {
        if (!enabled) {
            return;
        }
        Recording current = recording;
        OpenEntries mine = entriesIn(current);
        if (mine.isLayerOpen()) {
            endLayer(LayerToken.VOID, mine, current);
        }
        mine.endPass(clock.nanoTime());
    }

    // ---- results ----

    /**
     * Returns the graph recorded so far, with the ids that the recording methods returned. The call closes nothing: an
     * open scope is in the graph and is listed among its unbalanced scopes.
     *
     * @return a new graph, the caller's own
     */
    public ExecutionGraph graph() {
        entries.sweep();
        return recording.toGraph();
    }

    /** Forgets all nodes, open scopes, layers and counts of all threads. Ids start at 0 again. */
    public void reset() {
        recording = new Recording(generations.incrementAndGet(), nodeBudget);
    }

    private OpenEntries entriesIn(Recording current) {
        OpenEntries mine = entries.mine();
        if (!mine.isOf(current)) {
            mine.moveTo(current);
        }
        return mine;
    }
}
