/**
 * Time on NVIDIA devices, by events of the CUDA driver, which JCuda binds, or JNA where JCuda has no native library.
 * The only package that knows JCuda. Both are optional dependencies; {@link org.brickprofiler.device.cuda.CudaSupport}
 * says whether one of them and a driver are there.
 *
 * <p>JCuda unpacks its native library into the temporary folder, under one name for all: virtual machines that start
 * together may load a part of it and crash. Unpack it once, and give its folder as {@code java.library.path}. The
 * command line's jar brings the library and unpacks it safely.
 */
@NullMarked
package org.brickprofiler.device.cuda;

import org.jspecify.annotations.NullMarked;
