package org.brickprofiler.demo.device;

import java.util.function.IntSupplier;
import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/** A kernel with its arguments, ready to be enqueued any number of times. One thread. */
final class Launch implements DeviceStep.Work {

    private final CUfunction function;
    private final CUstream stream;
    private final IntSupplier gridX;
    private final int gridY;
    private final int block;
    private final Pointer arguments;

    /** A launch; the grid is asked for its width each time. */
    Launch(CUfunction function, CUstream stream, IntSupplier gridX, int gridY, int block, Pointer arguments) {
        this.function = function;
        this.stream = stream;
        this.gridX = gridX;
        this.gridY = gridY;
        this.block = block;
        this.arguments = arguments;
    }

    @Override
    public void enqueue() {
        DriverAnswer.require(
                "cuLaunchKernel",
                JCudaDriver.cuLaunchKernel(
                        function, gridX.getAsInt(), gridY, 1, block, 1, 1, 0, stream, arguments, null));
    }
}
