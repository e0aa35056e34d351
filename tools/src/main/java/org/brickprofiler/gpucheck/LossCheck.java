package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import jcuda.driver.CUresult;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;
import org.brickprofiler.device.DeviceStream;

/**
 * Checks the loss of the device's context after a kernel that fails: marking ends with one reason, nothing is thrown,
 * and no brick has an impossible time. This check is the last one, since nothing works in this process afterwards.
 */
final class LossCheck extends Check.OnDevice {

    private static final int BRICKS = 5;

    LossCheck(Gpu gpu) {
        super("loss", gpu);
    }

    @Override
    List<Outcome> run() {
        BrickProfiler profiler = profiler();
        SpinKernels kernels = new SpinKernels(gpu);
        Work spin = kernels.spin(1_000, gpu.allocate(SpinKernels.STAMP_FLOATS));
        Work trap = kernels.trap();
        brick(profiler, "before", spin);
        profiler.endPass();
        profiler.snapshot();
        brick(profiler, "lost", trap);
        int code = JCudaDriver.cuStreamSynchronize(gpu.handle());
        profiler.endPass();
        for (int i = 1; i < BRICKS; i++) {
            profiler.stopBrick(profiler.startBrick("lost"), 1);
        }
        profiler.endPass();
        return List.of(outcome(profiler, code));
    }

    private Outcome outcome(BrickProfiler profiler, int code) {
        DeviceStream stream = gpu.stream();
        List<String> wrong = new ArrayList<>();
        if (code == CUresult.CUDA_SUCCESS) {
            wrong.add("the kernel did not fail");
        }
        if (stream.isUsable()) {
            wrong.add("the stream counts as usable");
        }
        String reason = stream.failure().orElse("no reason is given");
        if (!reason.contains("lost")) {
            wrong.add("the reason does not say so: " + reason);
        }
        long unresolved = profiler.snapshot().unresolved();
        if (profiler.stats("lost").map(stats -> stats.count()).orElse(0L) != 0 || unresolved != BRICKS) {
            wrong.add(unresolved + " of " + BRICKS + " bricks are unresolved");
        }
        if (profiler.stats("before").map(stats -> stats.count()).orElse(0L) != 1) {
            wrong.add("the brick before is not there any more");
        }
        return Outcome.of(
                name,
                wrong.isEmpty(),
                "after a kernel that fails marking ends, with one reason, and bricks are unresolved",
                wrong.isEmpty() ? reason : String.join("; ", wrong),
                Map.of("code", code, "unresolved", unresolved, "reason", reason));
    }
}
