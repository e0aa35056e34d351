package org.brickprofiler.demo;

/** Runs every brick of a pass: the one place that each brick and its output goes through. */
interface PassRunner {

    /** Runs them and nothing else. */
    PassRunner PLAIN = pass -> {
        pass.opening().forEach(step -> step.operation().run());
        pass.layers().forEach(layer -> layer.forEach(step -> step.operation().run()));
        pass.closing().forEach(step -> step.operation().run());
    };

    /** Runs all steps of a pass, one after the other, on the calling thread. */
    void run(Pass pass);
}
