package org.brickprofiler.demo;

import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.GraphRecorder;

/**
 * Runs passes, and records one of them as a graph. The passes before it are recorded too and forgotten, so that the
 * recording itself is warm. One thread.
 */
final class GraphRunner implements PassRunner {

    private final PassRunner inner;
    private final GraphRecorder recorder;
    private final int graphedPass;

    private int passes;
    private long passNs;
    private ExecutionGraph graph = new ExecutionGraph();

    /**
     * A runner.
     *
     * @param inner runs the passes, and tells the recorder's profiler about its bricks
     * @param recorder records the graph
     * @param graphedPass the pass to record, from 0
     */
    GraphRunner(PassRunner inner, GraphRecorder recorder, int graphedPass) {
        this.inner = inner;
        this.recorder = recorder;
        this.graphedPass = graphedPass;
    }

    @Override
    public void run(Pass pass) {
        int number = passes++;
        if (number > graphedPass) {
            inner.run(pass);
            return;
        }
        recorder.reset();
        recorder.enable();
        long startNs = System.nanoTime();
        inner.run(pass);
        long elapsedNs = System.nanoTime() - startNs;
        recorder.disable();
        if (number == graphedPass) {
            passNs = elapsedNs;
            graph = recorder.graph();
        }
    }

    /** The graph of the recorded pass; empty before it. */
    ExecutionGraph graph() {
        return graph;
    }

    /** How long the recorded pass took, ns. */
    long passNs() {
        return passNs;
    }
}
