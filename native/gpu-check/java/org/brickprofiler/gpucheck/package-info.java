/**
 * The checks for a machine with a GPU: what only a device can show. {@link org.brickprofiler.gpucheck.GpuCheck} makes
 * them all, over the kernels and the decoder of the demonstration; {@code native/gpu-check/run.sh} starts it.
 */
@NullMarked
package org.brickprofiler.gpucheck;

import org.jspecify.annotations.NullMarked;
