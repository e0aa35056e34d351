package org.brickprofiler.demo.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import org.brickprofiler.BrickId;

/** A pass of many kernels that last equally long: 32 layers of 12, as in a model of a few billion weights. */
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

    /** How many kernels the pass has. */
    static final int KERNELS = LAYERS * LAYER.size();

    private ShortKernels() {}

    /** The pass. */
    static DevicePass pass(Gpu gpu, long kernelNs) {
        return pass(gpu, kernelNs, work -> work, work -> work);
    }

    /**
     * The pass with something added at its ends.
     *
     * @param first makes the work of the first brick from what it is
     * @param last likewise of the last
     */
    static DevicePass pass(
            Gpu gpu,
            long kernelNs,
            UnaryOperator<DeviceStep.Work> first,
            UnaryOperator<DeviceStep.Work> last) {
        Launch spin = new Kernels(gpu).spin(kernelNs, gpu.allocate(2 * Long.BYTES / Float.BYTES));
        List<List<DeviceStep>> layers = new ArrayList<>();
        for (int layer = 0; layer < LAYERS; layer++) {
            List<DeviceStep> steps = new ArrayList<>();
            for (BrickId brick : LAYER) {
                DeviceStep.Work work = spin;
                if (layer == 0 && steps.isEmpty()) {
                    work = first.apply(work);
                }
                if (layer == LAYERS - 1 && steps.size() == LAYER.size() - 1) {
                    work = last.apply(work);
                }
                steps.add(new DeviceStep(brick, work));
            }
            layers.add(steps);
        }
        return new DevicePass(List.of(), layers, List.of());
    }
}
