package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.brickprofiler.BrickId;
import org.brickprofiler.demo.DevicePass;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;

/** A pass of many kernels of equal length: 32 layers of 12, as in a model of a few billion weights. */
final class ShortKernels {

    static final int LAYERS = 32;

    private static final List<BrickId> LAYER = List.of(
            BrickId.RMS_NORM,
            BrickId.QKV_PROJECTION,
            BrickId.ROPE_EMBEDDING,
            BrickId.KV_CACHE_UPDATE,
            BrickId.FUSED_ATTENTION,
            BrickId.OUTPUT_PROJECTION,
            BrickId.RESIDUAL_ADD,
            BrickId.LAYER_NORM,
            BrickId.GATE_PROJECTION,
            BrickId.UP_PROJECTION,
            BrickId.ACTIVATION,
            BrickId.DOWN_PROJECTION);

    /** The number of kernels in the pass. */
    static final int KERNELS = LAYERS * LAYER.size();

    private ShortKernels() {}

    /** Returns the pass. */
    static DevicePass pass(Gpu gpu, long kernelNs) {
        return pass(gpu, kernelNs, work -> work, work -> work);
    }

    /**
     * Returns the pass with additional work at its ends.
     *
     * @param first derives the work of the first brick from its original work
     * @param last the same for the last brick
     */
    static DevicePass pass(Gpu gpu, long kernelNs, UnaryOperator<Work> first, UnaryOperator<Work> last) {
        Work spin = new SpinKernels(gpu).spin(kernelNs, gpu.allocate(SpinKernels.STAMP_FLOATS));
        List<List<DevicePass.Step>> layers = new ArrayList<>();
        for (int layer = 0; layer < LAYERS; layer++) {
            List<DevicePass.Step> steps = new ArrayList<>();
            for (BrickId brick : LAYER) {
                Work work = spin;
                if (layer == 0 && steps.isEmpty()) {
                    work = first.apply(work);
                }
                if (layer == LAYERS - 1 && steps.size() == LAYER.size() - 1) {
                    work = last.apply(work);
                }
                steps.add(new DevicePass.Step(brick, work));
            }
            layers.add(steps);
        }
        return new DevicePass(List.of(), layers, List.of());
    }
}
