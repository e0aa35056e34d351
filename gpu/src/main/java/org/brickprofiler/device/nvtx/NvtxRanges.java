package org.brickprofiler.device.nvtx;

import com.sun.jna.Memory;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.record.BrickRanges;
import org.brickprofiler.internal.record.PerThread;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.TimerToken;

/**
 * The ranges of one profiler, in a domain of its own. In NVTX the ranges of a thread are a stack, so this class keeps
 * the same stack for each thread. The end of a brick also ends the ranges that began within it and were never stopped.
 *
 * <p>A brick that does not nest cannot be recognised before it ends. Its range then ends with the range around it, and
 * the brick is left out from its next start on. Allocates for the first range of a brick and of a thread.
 */
final class NvtxRanges implements BrickRanges {

    private static final Log LOG = Log.of(NvtxRanges.class);

    private static final int BRICKS = TimerToken.MAX_KEY + 1;

    /** Layers from this number on share a name. */
    private static final int LAYERS = 1024;

    // In place of the key of a brick.
    private static final int LAYER = -1;
    private static final int STEP = -2;

    private final NvtxTool tool;
    private final SpanSink.Names names;
    private final long domain;
    private final long popParameters;

    // The parameters of the first call for each name; 0 before the name is registered.
    private final AtomicLongArray bricks = new AtomicLongArray(BRICKS);
    private final AtomicLongArray layers = new AtomicLongArray(LAYERS);
    private final Map<String, Long> steps = new ConcurrentHashMap<>();

    /**
     * The bricks that do not nest. Written while holding {@code this}; a thread that sees a change late is harmless.
     */
    private final boolean[] leftOut = new boolean[BRICKS];

    private final LongAdder withoutRange;

    /** Written while holding {@code this}. */
    private volatile boolean isVirtualLogged;

    @SuppressWarnings("ThreadLocalUsage") // a thread may run bricks of several profilers
    private final ThreadLocal<Open> open = ThreadLocal.withInitial(Open::new);

    /** The ranges that a thread has begun and not ended. Only that thread uses it. */
    private static final class Open {
        /** Beyond this depth, bricks are started and never stopped. */
        private static final int MOST = 256;

        private final boolean isVirtual = PerThread.isVirtual(Thread.currentThread());
        private final Memory resultMemory = new Memory(Long.BYTES);
        private final long result = NvtxTool.addressOf(resultMemory);
        private long[] timers = new long[16];
        private int[] keys = new int[16];
        private int depth;

        /** Whether the range on top was begun for a brick that has no timer yet. */
        private boolean awaitsTimer;

        void add(int key) {
            if (depth == keys.length) {
                timers = Arrays.copyOf(timers, 2 * depth);
                keys = Arrays.copyOf(keys, 2 * depth);
            }
            timers[depth] = TimerToken.VOID;
            keys[depth++] = key;
        }

        /** Returns the index of the innermost range with a timer, or -1. */
        int find(long timer) {
            int at = depth - 1;
            while (at >= 0 && timers[at] != timer) {
                at--;
            }
            return at;
        }

        /** Returns whether a layer or a step began after a range and has not ended. */
        boolean hasBoundaryAbove(int at) {
            for (int i = at + 1; i < depth; i++) {
                if (keys[i] < 0) {
                    return true;
                }
            }
            return false;
        }

        /** Returns the index of the outermost layer or step, or the depth if there is none. */
        int outermost(boolean stepsCount) {
            int at = 0;
            while (at < depth && !(keys[at] == LAYER || (stepsCount && keys[at] == STEP))) {
                at++;
            }
            return at;
        }
    }

    /**
     * Creates the ranges of a profiler.
     *
     * @param tool the tool that sees them
     * @param domain the name of the domain
     * @param names the names of the profiler's keys
     * @param withoutRange counts the bricks that are started or stopped without a range
     */
    NvtxRanges(NvtxTool tool, String domain, SpanSink.Names names, LongAdder withoutRange) {
        this.tool = tool;
        this.names = names;
        this.withoutRange = withoutRange;
        this.domain = tool.createDomain(domain);
        this.popParameters = NvtxTool.parametersOfPop(this.domain);
    }

    @Override
    public void begin(int key) {
        Open mine = open.get();
        mine.awaitsTimer = false;
        endLeftOut(mine);
        if (mine.isVirtual) {
            withoutRange.increment();
            if (!isVirtualLogged) {
                logVirtual();
            }
        } else if (leftOut[key]) {
            withoutRange.increment();
        } else {
            long parameters = bricks.get(key);
            push(mine, key, parameters == 0 ? registerBrick(key) : parameters);
            mine.awaitsTimer = true;
        }
    }

    @Override
    public void began(long timer) {
        Open mine = open.get();
        if (mine.awaitsTimer) {
            mine.timers[mine.depth - 1] = timer;
            mine.awaitsTimer = false;
        }
    }

    @Override
    public void end(long timer, int key) {
        Open mine = open.get();
        if (mine.isVirtual || key < 0 || key >= BRICKS) {
            return;
        }
        int at = mine.find(timer);
        if (at >= 0 && !mine.hasBoundaryAbove(at)) {
            popTo(mine, at);
        } else if (!leftOut[key]) {
            leaveOut(key);
        }
        endLeftOut(mine);
    }

    @Override
    public void beginLayer(int number) {
        Open mine = open.get();
        if (!mine.isVirtual) {
            int index = Math.min(number, LAYERS - 1);
            long parameters = layers.get(index);
            push(mine, LAYER, parameters == 0 ? registerLayer(index) : parameters);
        }
    }

    @Override
    public void endLayer() {
        endPass(false);
    }

    @Override
    public void beginStep(String phase) {
        Open mine = open.get();
        if (!mine.isVirtual) {
            popTo(mine, mine.outermost(true));
            push(mine, STEP, steps.computeIfAbsent(phase, this::registerStep));
        }
    }

    @Override
    public void endPass(boolean endsStep) {
        Open mine = open.get();
        popTo(mine, mine.outermost(endsStep));
        endLeftOut(mine);
    }

    // ---- the stack ----

    private void push(Open mine, int key, long parameters) {
        if (mine.depth == Open.MOST) {
            withoutRange.add(mine.depth);
            popTo(mine, 0);
        }
        tool.push(parameters, mine.result);
        mine.add(key);
    }

    /** Ends all ranges from an index on. */
    private void popTo(Open mine, int depth) {
        while (mine.depth > depth) {
            mine.depth--;
            tool.pop(popParameters, mine.result);
        }
    }

    /** Ends the innermost ranges if their bricks are left out. */
    private void endLeftOut(Open mine) {
        while (mine.depth > 0 && mine.keys[mine.depth - 1] >= 0 && leftOut[mine.keys[mine.depth - 1]]) {
            popTo(mine, mine.depth - 1);
        }
    }

    // ---- names ----

    private synchronized long registerBrick(int key) {
        return register(bricks, key, names.name(key));
    }

    private synchronized long registerLayer(int index) {
        return register(layers, index, "layer " + index + (index == LAYERS - 1 ? " or later" : ""));
    }

    private long register(AtomicLongArray all, int index, String name) {
        long parameters = all.get(index);
        if (parameters == 0) {
            parameters = tool.parametersOfPush(domain, name);
            all.set(index, parameters);
        }
        return parameters;
    }

    private long registerStep(String phase) {
        return tool.parametersOfPush(domain, phase + " step");
    }

    // ---- bricks without ranges ----

    private synchronized void leaveOut(int key) {
        withoutRange.increment();
        if (!leftOut[key]) {
            leftOut[key] = true;
            LOG.warn(
                    "brick '{}' has no ranges of NVTX from now on: it ended on another thread, twice, or after the"
                            + " brick, layer or step around it",
                    names.name(key));
        }
    }

    private synchronized void logVirtual() {
        if (!isVirtualLogged) {
            isVirtualLogged = true;
            LOG.warn("bricks on virtual threads have no ranges of NVTX, which belong to threads of the system");
        }
    }
}
