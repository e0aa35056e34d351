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
 * The control of {@link PhaseStress}: a thread that begins a step without deselecting the phase in its table. It must
 * record samples in the phase of its previous step, unless the other thread's step changes the state in between.
 */
@JCStressTest
@Outcome(id = "3, 3, 3, 9", expect = ACCEPTABLE, desc = "each sample in the phase of its step")
@Outcome(expect = FORBIDDEN, desc = "a sample in another phase, as is to be expected here")
@State
public class KeptPhaseControl extends PhaseStress.Steps {

    @Actor
    public void twoSteps() {
        profiler.layers.beginStep(StepInfo.Phase.PREFILL.number());
        grow();
        profiler.layers.beginStep(StepInfo.Phase.DECODE.number());
        time(BrickId.RMS_NORM.index());
        time(BrickId.RMS_NORM.index());
        time(BrickId.RMS_NORM.index());
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
