/**
 * Time on NVIDIA devices, by events of the CUDA driver that JCuda binds. The only package that knows JCuda, which is an
 * optional dependency; {@link org.brickprofiler.device.cuda.CudaSupport} says whether it and a driver are there.
 */
@NullMarked
package org.brickprofiler.device.cuda;

import org.jspecify.annotations.NullMarked;
