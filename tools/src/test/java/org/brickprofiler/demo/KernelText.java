package org.brickprofiler.demo;

/** The text that the driver gets. */
public final class KernelText {

    /** The text of all kernels. */
    public static final String PTX = Gpu.kernelText();

    private KernelText() {}
}
