/**
 * Times on NVIDIA devices, by events of the CUDA driver. The driver is bound through JCuda or, if JCuda has no native
 * library, through JNA. Both are optional dependencies, and no other package uses JCuda.
 * {@link org.brickprofiler.device.cuda.CudaSupport} reports whether one of them and a driver are available.
 *
 * <p>JCuda unpacks its native library into the temporary folder, to the same file for all processes: virtual machines
 * that start together may load a partly written file and crash. Unpack it once, and name its folder in
 * {@code java.library.path}. The command line's jar contains the library and unpacks it safely.
 */
@NullMarked
package org.brickprofiler.device.cuda;

import org.jspecify.annotations.NullMarked;
