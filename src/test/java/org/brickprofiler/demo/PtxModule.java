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

    /** A kernel of a name that there is. */
    public PtxKernel kernel(String name) {
        PtxKernel kernel = kernels.get(name);
        if (kernel == null) {
            throw new IllegalArgumentException("no kernel " + name + " in " + kernels.keySet());
        }
        return kernel;
    }
}
