package org.brickprofiler.demo;

import java.util.Map;

/**
 * A module that a {@link PtxInterpreter} has read.
 *
 * @param kernels the kernels by their names
 */
public record PtxModule(Map<String, PtxKernel> kernels) {

    public PtxModule {
        kernels = Map.copyOf(kernels);
    }

    /** Returns the kernel with a name; throws if there is none. */
    public PtxKernel kernel(String name) {
        PtxKernel kernel = kernels.get(name);
        if (kernel == null) {
            throw new IllegalArgumentException("no kernel " + name + " in " + kernels.keySet());
        }
        return kernel;
    }
}
