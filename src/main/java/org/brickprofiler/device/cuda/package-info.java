/**
 * Time on NVIDIA devices, by events of the CUDA driver that JCuda binds. The only package that knows JCuda, which is an
 * optional dependency; {@link org.brickprofiler.device.cuda.CudaSupport} says whether it and a driver are there.
 *
 * <p>JCuda unpacks its native library into the temporary folder, under one name for all: virtual machines that start
 * together may load a part of it and crash. Unpack it once, and give its folder as {@code java.library.path}. The
 * command line's jar brings the library and unpacks it safely.
 */
@NullMarked
package org.brickprofiler.device.cuda;

import org.jspecify.annotations.NullMarked;
