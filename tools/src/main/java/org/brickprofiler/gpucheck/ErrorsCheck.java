package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntSupplier;
import jcuda.driver.CUevent;
import jcuda.driver.CUfunction;
import jcuda.driver.CUgraph;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.Floats;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;

/**
 * Checks calls that a driver refuses: their error codes, and whether marking continues correctly. {@link LossCheck}
 * covers faults that cost the device itself.
 */
final class ErrorsCheck extends Check.OnDevice {

    private static final int TOO_MANY_THREADS = 4_096;

    private final BrickProfiler profiler;
    private final SpinKernels kernels;
    private final Floats stamps;
    private final Samples samples;

    ErrorsCheck(Gpu gpu) {
        super("errors", gpu);
        profiler = profiler();
        kernels = new SpinKernels(gpu);
        stamps = gpu.allocate(SpinKernels.STAMP_FLOATS);
        samples = new Samples(profiler, "after a refusal");
    }

    @Override
    List<Outcome> run() {
        Map<String, IntSupplier> calls = new LinkedHashMap<>();
        calls.put("a launch of no blocks", () -> kernels.trySpin(stamps, 0, 1));
        calls.put(
                "a launch of " + TOO_MANY_THREADS + " threads a block",
                () -> kernels.trySpin(stamps, 1, TOO_MANY_THREADS));
        calls.put("a kernel that is not there", () -> gpu.tryFunction(new CUfunction(), "absent_kernel"));
        CUevent event = new CUevent();
        Gpu.require("cuEventCreate", JCudaDriver.cuEventCreate(event, 0));
        try {
            calls.put(
                    "the time of an event never recorded",
                    () -> JCudaDriver.cuEventElapsedTime(new float[1], event, event));
            calls.put("waiting for an event of a capture", () -> {
                recordInCapture(event);
                return JCudaDriver.cuEventSynchronize(event);
            });
            calls.put("asking for an event of a capture", () -> JCudaDriver.cuEventQuery(event));
            calls.put(
                    "the time of an event of a capture",
                    () -> JCudaDriver.cuEventElapsedTime(new float[1], event, event));
            return List.of(check(calls));
        } finally {
            JCudaDriver.cuEventDestroy(event);
        }
    }

    /** Records the event outside of the capture first, so that it has a time that could be mistaken for another one. */
    private void recordInCapture(CUevent event) {
        Gpu.require("cuEventRecord", JCudaDriver.cuEventRecord(event, gpu.handle()));
        gpu.synchronize();
        int[] recorded = new int[1];
        CUgraph graph =
                capture("cuStreamEndCapture", () -> recorded[0] = JCudaDriver.cuEventRecord(event, gpu.handle()));
        JCudaDriver.cuGraphDestroy(graph);
        Gpu.require("cuEventRecord in a capture", recorded[0]);
    }

    private Outcome check(Map<String, IntSupplier> calls) {
        Map<String, Object> answers = new LinkedHashMap<>();
        List<String> texts = new ArrayList<>();
        List<String> wrong = new ArrayList<>();
        calls.forEach((what, call) -> {
            int code = call.getAsInt();
            answers.put(what, code);
            texts.add(what + ": " + code);
            if (code == CUresult.CUDA_SUCCESS) {
                wrong.add("not refused: " + what);
            }
            if (!isTimedStill()) {
                wrong.add("no brick is timed any more after " + what + ": " + reason());
            }
        });
        return Outcome.of(
                name,
                wrong.isEmpty(),
                "what the driver refuses is refused, and bricks are timed as before",
                wrong.isEmpty() ? String.join(", ", texts) : String.join("; ", wrong) + "; " + String.join(", ", texts),
                Map.of("answers", answers));
    }

    private boolean isTimedStill() {
        if (!gpu.stream().isUsable()) {
            return false;
        }
        long timer = profiler.startBrick("after a refusal");
        kernels.spin(1_000, stamps).enqueue();
        profiler.stopBrick(timer, 1);
        profiler.endPass();
        return samples.nextNs() > 0;
    }
}
