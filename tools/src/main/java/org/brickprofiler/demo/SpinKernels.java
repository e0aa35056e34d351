package org.brickprofiler.demo;

import jcuda.Pointer;
import jcuda.driver.CUfunction;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.demo.DevicePass.Work;

/** Kernels on a CUDA device that last a given time or end with an error, for checks of the device. One thread. */
public final class SpinKernels {

    /** The length of the array of floats in which {@link #spin} leaves its two readings. */
    public static final int STAMP_FLOATS = 2 * Long.BYTES / Float.BYTES;

    private static final String SPIN = "spin_ns_stamped";

    private final Gpu gpu;
    private final CUstream stream;

    /**
     * Creates kernels that are launched in the stream of a device.
     *
     * @param gpu the device
     */
    public SpinKernels(Gpu gpu) {
        this(gpu, gpu.handle());
    }

    /**
     * Creates kernels that are launched in another stream of a device.
     *
     * @param gpu the device
     * @param stream the stream
     */
    public SpinKernels(Gpu gpu, CUstream stream) {
        this.gpu = gpu;
        this.stream = stream;
    }

    /**
     * Returns a kernel that lasts a given time by the device's clock.
     *
     * @param ns how long, ns
     * @param stamps receives its two readings of the clock, as 64 bits each: {@link #STAMP_FLOATS} floats
     * @return the launch
     */
    public Work spin(long ns, Floats stamps) {
        return spin(ns, 1, stamps);
    }

    /**
     * Returns a kernel of several blocks, each of which lasts a given time by the device's clock.
     *
     * @param ns how long, ns
     * @param blocks number of blocks
     * @param stamps as for {@link #spin(long, Floats)}; those of any block
     * @return the launch
     */
    public Work spin(long ns, int blocks, Floats stamps) {
        stamps.requireLength(STAMP_FLOATS);
        CUfunction function = gpu.function(SPIN);
        Pointer arguments = Pointer.to(Gpu.argument(HostNumber.of(ns)), Gpu.argument(stamps));
        return () -> Gpu.require("cuLaunchKernel", launch(function, blocks, 1, arguments));
    }

    /**
     * Tries to launch a kernel that ends immediately, in a shape that may be refused.
     *
     * @param stamps as for {@link #spin}
     * @param blocks number of blocks
     * @param threads number of threads of a block
     * @return the driver's code
     */
    public int trySpin(Floats stamps, int blocks, int threads) {
        Pointer arguments = Pointer.to(Gpu.argument(HostNumber.of(0L)), Gpu.argument(stamps));
        return launch(gpu.function(SPIN), blocks, threads, arguments);
    }

    /**
     * Returns a kernel that ends with an error of the device, after which its context is unusable.
     *
     * @return the launch
     */
    public Work trap() {
        CUfunction function = gpu.function("trap_now");
        return () -> Gpu.require("cuLaunchKernel", launch(function, 1, 1, new Pointer()));
    }

    private int launch(CUfunction function, int blocks, int threads, Pointer arguments) {
        return JCudaDriver.cuLaunchKernel(function, blocks, 1, 1, threads, 1, 1, 0, stream, arguments, null);
    }
}
