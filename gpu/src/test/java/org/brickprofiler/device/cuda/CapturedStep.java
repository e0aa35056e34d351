package org.brickprofiler.device.cuda;

import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;

/**
 * A captured graph that can be launched.
 *
 * @param engine where it is launched
 * @param capture the scope of its capture
 * @param exec the graph
 */
record CapturedStep(CudaEngine engine, CudaCapture capture, CUgraphExec exec) {

    /** Captures work of an engine within a scope of its stream. */
    static CapturedStep of(CudaEngine engine, CudaStream stream, Runnable work) {
        CudaCapture capture = stream.capture();
        CUgraph graph;
        try (capture) {
            graph = engine.capture(work);
        }
        return new CapturedStep(engine, capture, engine.instantiate(graph));
    }

    /** Launches the graph, and announces the launch. */
    void launch() {
        engine.launch(exec);
        capture.launched(exec);
    }
}
