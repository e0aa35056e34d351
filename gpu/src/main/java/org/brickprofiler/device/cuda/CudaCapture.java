package org.brickprofiler.device.cuda;

import jcuda.driver.CUgraphExec;
import org.brickprofiler.internal.mark.GraphMarks;
import org.jspecify.annotations.Nullable;

/**
 * The capture of a {@link CudaStream} into a graph whose bricks are timed in each launch. The scope, which
 * {@link CudaStream#capture()} opens and {@link #close()} closes, encloses the application's own capture; bricks are
 * started and stopped within the scope as always. Any thread.
 *
 * <pre>{@code
 * CudaCapture step = stream.capture();
 * try (step) {
 *     cuStreamBeginCapture(handle, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
 *     decode(profiler);                          // startBrick, lap, stopBrick
 *     cuStreamEndCapture(handle, graph);
 * }
 * cuGraphInstantiate(exec, graph, 0);
 * while (generating) {
 *     cuGraphLaunch(exec, handle);
 *     step.launched(exec);
 *     profiler.endPass();
 * }
 * cuGraphExecDestroy(exec);
 * step.release();
 * }</pre>
 *
 * <p>The bricks of the capture are no samples: nothing has run. Each launch that is announced by {@link #launched} is
 * one sample of each of them, with the device's own times of that launch. The samples belong to the thread that
 * announces the launch, and to its pass and step; the next boundary resolves them, in each mode. They belong to no
 * layer: the layers of the capture have no place in the time of a launch. Launches that are not announced are not
 * counted. In {@link org.brickprofiler.SyncMode#NONE}, or while the profiler is off, a capture has no bricks and a
 * launch no samples.
 *
 * <p>Only the marks of a brick that was started and stopped within one capture are part of its graph. A brick across
 * the beginning or end of a capture is unresolved, and so is a deferred measurement with an end in a capture.
 *
 * <h2>When a launch is unresolved</h2>
 *
 * Each launch records the same events again. If the next launch is announced before this one is resolved, the bricks of
 * this one are unresolved. So end the pass before the next launch, or, in a loop that launches ahead of the device,
 * capture the work twice, in two scopes, and launch the two graphs in turn. The times are checked before they are used:
 * if they are not those of this launch, all of its bricks are unresolved. They are not, for example, if the graph was
 * launched in another stream or launched again meanwhile, if another graph was announced than was launched, or if a
 * part of the graph was skipped by a condition. Unresolved bricks are counted, and the first reason of each kind is
 * logged.
 *
 * <h2>With deviceSampling</h2>
 *
 * {@link org.brickprofiler.BrickProfilerBuilder#deviceSampling} does not apply to captured graphs, which the log says
 * once: marks are nodes of a graph, so each launch sets all of them, and its bricks are exact. A second graph without
 * marks cannot be announced in place of the marked one: all bricks of a launch would be marked or none, and the errors
 * of their sums are not known to be those of bricks that are drawn one by one.
 *
 * <h2>Graphs and their captures</h2>
 *
 * A capture belongs to the graph that it made and to every executable graph of it, which all record the same events.
 * Two of these must not run at the same time, in two streams: an event has the time of the launch that recorded it
 * last, whichever that is. If {@code cuGraphExecUpdate} gives an executable graph the nodes of another graph, its
 * launches belong to that graph's capture from then on, and the former capture is released if nothing else was made of
 * its graph.
 *
 * <p>The events stay as long as the graph may be launched, until {@link #release()}: call it when all executable graphs
 * of the capture are destroyed or updated, or if the capture has failed. Until then they count as marks of the stream,
 * so the maximum number of marks also limits captures. If the stream is closed first, these events are not destroyed;
 * they stay in the context, and their number is logged.
 */
public final class CudaCapture implements AutoCloseable {

    /** A separate class, so that other bindings need no class of JCuda. */
    private static final class Handles {
        static final CUgraphExec NONE = new CUgraphExec();
    }

    /** Null for a stream that is not usable. */
    private final @Nullable CudaGraphMarks graphs;

    private final int capture;

    private volatile boolean released;

    CudaCapture(@Nullable CudaGraphMarks graphs, int capture) {
        this.graphs = graphs;
        this.capture = capture;
    }

    /**
     * Announces that a graph of this capture was launched in the captured stream. Call it after each
     * {@code cuGraphLaunch} and before anything else is put into the stream. It sets one mark behind the launch and
     * waits for nothing.
     *
     * @param exec the graph that was launched
     * @throws IllegalArgumentException if it is null or was never instantiated
     */
    public void launched(CUgraphExec exec) {
        if (exec == null || exec.equals(Handles.NONE)) {
            throw new IllegalArgumentException("exec " + exec + ": no graph was instantiated");
        }
        announce();
    }

    /**
     * Announces a launch, as {@link #launched} does, for applications without JCuda.
     *
     * @param exec the address of the graph that was launched, a {@code CUgraphExec}
     * @throws IllegalArgumentException if it is 0
     */
    public void launchedAddress(long exec) {
        if (exec == 0) {
            throw new IllegalArgumentException("exec 0: no graph was instantiated");
        }
        announce();
    }

    private void announce() {
        if (graphs == null) {
            return;
        }
        if (released) {
            graphs.report(
                    GraphMarks.Loss.NOT_SET,
                    "a launch of captured graph " + capture + " was announced after its release: it has no samples");
        } else {
            graphs.launched(capture);
        }
    }

    /** Closes the scope: marks that are set from now on are part of no graph of it. A second call does nothing. */
    @Override
    public void close() {
        if (graphs != null) {
            graphs.close(capture);
        }
    }

    /**
     * Gives the marks of the capture back to the stream. Call it only if no graph of the capture will be launched any
     * more, and if every launch that still runs was announced. Also closes the scope. A second call does nothing.
     */
    public void release() {
        released = true;
        if (graphs != null) {
            graphs.release(capture);
        }
    }
}
