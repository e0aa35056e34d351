package org.brickprofiler;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.JJJJ_Result;

/**
 * A sample has the phase of its thread's step, or of the layer that the thread works for, also if tables grow or are
 * replaced while steps of several phases are under way. The result is the number of samples in the phases PREFILL,
 * DECODE and MIXED, and of all samples.
 */
public final class PhaseStress {

    private PhaseStress() {}

    /** A profiler whose dynamic bricks have no rows before their first sample. */
    abstract static class Steps {
        final BrickProfiler profiler = BrickProfiler.enabled();
        private final int first = profiler.brickKey("first");
        private final long[] counts = new long[4];

        /** Records three samples, of which the second one lets the thread's table grow. */
        final void grow() {
            time(BrickId.RMS_NORM.index());
            time(first);
            time(first);
        }

        final void time(int key) {
            profiler.stopBrick(profiler.startBrick(key), 1);
        }

        /** Records three samples of which the second one, of a new brick, lets the thread's table grow again. */
        final void growAgain(int key) {
            time(key);
            time(profiler.brickKey("second"));
            time(key);
        }

        final void begin(StepInfo.Phase phase) {
            profiler.beginStep(new StepInfo(phase, 1, 0, 0, 0, 0));
        }

        final void step(StepInfo.Phase phase, Runnable body) {
            begin(phase);
            body.run();
            profiler.endPass();
        }

        /** A table that grows in a step of one phase, and receives samples in a step of another one. */
        final void twoPhases() {
            step(StepInfo.Phase.PREFILL, this::grow);
            step(StepInfo.Phase.DECODE, () -> growAgain(first));
        }

        final void add(ProfileSnapshot part) {
            for (StepInfo.Phase phase : StepInfo.Phase.values()) {
                part.bricks(phase).forEach(brick -> counts[phase.index()] += brick.count());
            }
            part.bricks().forEach(brick -> counts[3] += brick.count());
        }

        final void show(JJJJ_Result r) {
            add(profiler.snapshot());
            r.r1 = counts[StepInfo.Phase.PREFILL.index()];
            r.r2 = counts[StepInfo.Phase.DECODE.index()];
            r.r3 = counts[StepInfo.Phase.MIXED.index()];
            r.r4 = counts[3];
        }
    }

    /** Two threads with steps of their own. Either may be the one that recorded first, which needs no lookup. */
    @JCStressTest
    @Outcome(id = "3, 3, 3, 9", expect = ACCEPTABLE, desc = "each sample in the phase of its step")
    @Outcome(expect = FORBIDDEN, desc = "a sample in another phase, or lost")
    @State
    public static class Engines extends Steps {
        @Actor
        public void twoSteps() {
            twoPhases();
        }

        @Actor
        public void oneStep() {
            step(StepInfo.Phase.MIXED, this::grow);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            show(r);
        }
    }

    /** A thread works for layers of two phases while another thread has a step of a third. */
    @JCStressTest
    @Outcome(id = "3, 3, 3, 9", expect = ACCEPTABLE, desc = "each sample in the phase of its step")
    @Outcome(expect = FORBIDDEN, desc = "a sample in another phase, or lost")
    @State
    public static class Workers extends Steps {
        private final long prefill = layerOf(StepInfo.Phase.PREFILL);
        private final long decode = layerOf(StepInfo.Phase.DECODE);

        private long layerOf(StepInfo.Phase phase) {
            begin(phase);
            profiler.startLayer();
            long token = profiler.layerToken();
            profiler.endPass();
            return token;
        }

        @Actor
        public void worker() {
            profiler.workFor(prefill);
            grow();
            profiler.workFor(decode);
            growAgain(BrickId.RMS_NORM.index());
            profiler.workFor(0);
        }

        @Actor
        public void engine() {
            step(StepInfo.Phase.MIXED, this::grow);
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            show(r);
        }
    }

    /** Tables grow while a reset replaces them. */
    @JCStressTest
    @Outcome(id = "3, 3, 0, 6", expect = ACCEPTABLE, desc = "each sample in the phase of its step, in one part")
    @Outcome(expect = FORBIDDEN, desc = "a sample in another phase, lost, or counted twice")
    @State
    public static class Resets extends Steps {
        @Actor
        public void engine() {
            twoPhases();
        }

        @Actor
        public void resetter() {
            add(profiler.snapshotAndReset());
            add(profiler.snapshotAndReset());
        }

        @Arbiter
        public void arbiter(JJJJ_Result r) {
            show(r);
        }
    }
}
