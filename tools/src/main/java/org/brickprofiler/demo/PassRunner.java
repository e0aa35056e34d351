package org.brickprofiler.demo;

import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.demo.Pass.Step;
import org.brickprofiler.graph.ExecutionGraph;
import org.brickprofiler.graph.GraphRecorder;

/** Runs every brick of a pass: the one place that each brick and its output goes through. */
interface PassRunner {

    /** The elements of each brick: a pass decodes one token. */
    long TOKENS = 1;

    /** Runs passes without recording. */
    PassRunner PLAIN = (pass, position) -> {
        pass.opening().forEach(step -> step.operation().run());
        pass.layers().forEach(layer -> layer.forEach(step -> step.operation().run()));
        pass.closing().forEach(step -> step.operation().run());
    };

    /**
     * Runs all steps of a pass, one after the other, on the calling thread.
     *
     * @param pass the pass
     * @param position how many tokens were decoded before
     */
    void run(Pass pass, int position);

    /**
     * Runs a pass and times its bricks. They follow each other without a gap, so that one clock read ends a brick and
     * begins the next. The caller begins and ends the step, which may have several passes.
     */
    class InStep implements PassRunner {

        private final BrickProfiler profiler;

        InStep(BrickProfiler profiler) {
            this.profiler = profiler;
        }

        @Override
        public void run(Pass pass, int position) {
            time(pass.opening());
            for (int layer = 0; layer < pass.layers().size(); layer++) {
                profiler.startLayer(layer);
                time(pass.layers().get(layer));
                profiler.endLayer();
            }
            time(pass.closing());
        }

        private void time(List<Step> steps) {
            Step step = steps.get(0);
            long timer = profiler.startBrick(step.brick());
            step.operation().run();
            for (int i = 1; i < steps.size(); i++) {
                step = steps.get(i);
                timer = profiler.lap(timer, TOKENS, step.brick());
                step.operation().run();
            }
            profiler.stopBrick(timer, TOKENS);
        }
    }

    /**
     * Runs a pass as a step of its own, times its bricks, and records their work within the step, so that the work has
     * the step's phase.
     */
    final class Profiled extends InStep {

        private final BrickProfiler profiler;

        Profiled(BrickProfiler profiler) {
            super(profiler);
            this.profiler = profiler;
        }

        @Override
        public void run(Pass pass, int position) {
            Map<BrickId, Work> work = pass.work().apply(position);
            profiler.beginStep(StepInfo.decode(position));
            super.run(pass, position);
            work.forEach(profiler::recordWork);
            profiler.endPass();
        }
    }

    /**
     * Runs a pass, times its bricks, and writes a checksum of each output to the profiler's log. The time of a brick
     * does not include that of its checksum.
     */
    final class Checksummed implements PassRunner {

        /** The layer of bricks that belong to none. */
        private static final int NO_LAYER = -1;

        private final BrickProfiler profiler;

        Checksummed(BrickProfiler profiler) {
            this.profiler = profiler;
        }

        @Override
        public void run(Pass pass, int position) {
            Map<BrickId, Work> work = pass.work().apply(position);
            profiler.beginStep(StepInfo.decode(position));
            run(pass.opening(), NO_LAYER, position);
            for (int layer = 0; layer < pass.layers().size(); layer++) {
                profiler.startLayer();
                run(pass.layers().get(layer), layer, position);
                profiler.endLayer();
            }
            run(pass.closing(), NO_LAYER, position);
            work.forEach(profiler::recordWork);
            profiler.endPass();
        }

        private void run(List<Step> steps, int layer, int position) {
            for (Step step : steps) {
                long timer = profiler.startBrick(step.brick());
                float[] output = step.operation().run();
                profiler.stopBrick(timer, TOKENS);
                profiler.checksums().record(step.brick().displayName(), layer, position, output);
            }
        }
    }

    /**
     * Runs passes, and records one of them as a graph. The passes before it are also recorded and discarded, so that
     * the recording itself is warm. One thread.
     */
    final class Graphed implements PassRunner {

        private final PassRunner inner;
        private final GraphRecorder recorder;
        private final int graphedPass;

        private int passes;
        private long passNs;
        private ExecutionGraph graph = new ExecutionGraph();

        /**
         * Creates a runner.
         *
         * @param inner runs the passes, and reports its bricks to the recorder's profiler
         * @param recorder records the graph
         * @param graphedPass the pass to record, from 0
         */
        Graphed(PassRunner inner, GraphRecorder recorder, int graphedPass) {
            this.inner = inner;
            this.recorder = recorder;
            this.graphedPass = graphedPass;
        }

        @Override
        public void run(Pass pass, int position) {
            int number = passes++;
            if (number > graphedPass) {
                inner.run(pass, position);
                return;
            }
            recorder.reset();
            recorder.enable();
            long startNs = System.nanoTime();
            inner.run(pass, position);
            long elapsedNs = System.nanoTime() - startNs;
            recorder.disable();
            if (number == graphedPass) {
                passNs = elapsedNs;
                graph = recorder.graph();
            }
        }

        /** Returns the graph of the recorded pass; empty before it. */
        ExecutionGraph graph() {
            return graph;
        }

        /** Returns how long the recorded pass took, ns. */
        long passNs() {
            return passNs;
        }
    }
}
