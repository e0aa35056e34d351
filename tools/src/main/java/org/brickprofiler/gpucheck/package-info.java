/**
 * The checks for a machine with a GPU, of claims that only a device can prove.
 * {@link org.brickprofiler.gpucheck.GpuCheck} performs them all, with the kernels and the decoder of the demonstration;
 * {@code native/gpu-check/run.sh} starts it.
 */
@NullMarked
package org.brickprofiler.gpucheck;

import org.jspecify.annotations.NullMarked;
