package org.brickprofiler.demo;

/** What the driver gets. */
public final class KernelText {

    /** The text of all kernels. */
    public static final String PTX = Gpu.kernelText();

    private KernelText() {}
}
