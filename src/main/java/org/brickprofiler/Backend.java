package org.brickprofiler;

/** Where a kernel runs. */
public enum Backend {
    /** The host's processors. */
    CPU,
    /** An NVIDIA GPU. */
    CUDA,
    /** An Apple GPU. */
    METAL
}
