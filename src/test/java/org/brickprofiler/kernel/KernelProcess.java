package org.brickprofiler.kernel;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.brickprofiler.Backend;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;

/** Uses kernel timings in a separate virtual machine, since each virtual machine reads the switch once. */
final class KernelProcess {

    /** Below the minute of the test that starts it. */
    private static final Duration LONGEST = Duration.ofSeconds(50);

    private KernelProcess() {}

    /** The program of the process: uses every method, refused arguments among them, and prints the results. */
    public static void main(String[] args) {
        KernelTimings timings = KernelTimings.global();
        System.out.println("enabled at first: " + timings.isEnabled());
        timings.enable();
        timings.enable();
        new KernelTimings().enable();
        System.out.println("enabled: " + timings.isEnabled());
        timings.record("matmul", Backend.CPU, 2_000);
        timings.recordCommandBuffer("pass", Backend.METAL, 1, 2);
        timings.recordDispatch("pass", Backend.METAL, "op", 0, 1, 2);
        timings.logSnapshot();
        timings.logSnapshot(1);
        System.out.println("kernels: " + timings.snapshot().size());
        System.out.println("command buffers: " + timings.commandBuffers().size());
        timings.reset();
        timings.disable();
        System.out.println("kernels at the end: " + timings.snapshotAndReset().size());
    }

    /** Runs the program without the switch that the environment of the test may contain. */
    static ProcessResult run(List<String> jvmOptions, Map<String, String> environment) throws IOException {
        return ChildProcess.java(KernelProcess.class)
                .jvmOptions(jvmOptions)
                .without("BRICK_PROFILER_KERNELS")
                .environment(environment)
                .limit(LONGEST)
                .run();
    }
}
