package org.brickprofiler;

/** The kind of device that a kernel runs on. */
public enum Backend {
    /** The host's processors. */
    CPU,
    /** An NVIDIA GPU. */
    CUDA,
    /** An Apple GPU. */
    METAL,
    /** A device of OpenCL. */
    OPENCL
}
