/**
 * Times on NVIDIA devices, by events of the CUDA driver. The driver is bound through JCuda or, if JCuda has no native
 * library, through JNA. Both are optional dependencies, and no other package uses JCuda.
 * {@link org.brickprofiler.device.cuda.CudaSupport} reports whether one of them and a driver are available.
 *
 * <p>JCuda unpacks its native library into the temporary folder, to the same file for all processes: virtual machines
 * that start together may load a partly written file and crash. Unpack it once, and name its folder in
 * {@code java.library.path}. The command line's jar contains the library and unpacks it safely.
 *
 * <h2>Pitfalls of the driver</h2>
 *
 * A mark in a capture becomes part of the graph and has no time. Drivers respond differently to a query of this time,
 * so the library tries one with a capture of its own. A mark in the default stream invalidates the capture of any
 * stream that waits for the default stream. Events may be destroyed only while their context exists, so a stream of an
 * application's context that is forgotten leaves its events there. JCuda can be configured to throw exceptions, so the
 * library handles its exceptions like its error codes. A virtual thread that blocks may continue on another carrier, so
 * the library neither blocks nor logs while a context is pushed.
 *
 * <h2>Two bindings</h2>
 *
 * JCuda has native libraries for x86-64 only; JNA has them for aarch64, too. Both bindings implement {@code CudaCalls}.
 * Its handles are the binding's own objects: subclasses of JCuda's types, so that a mark needs no look-up, or an
 * address. JNA's direct mapping takes numbers and arrays and allocates nothing, but each call costs more, so JCuda is
 * the first choice. JCuda cannot make its objects from addresses, so a stream that is given by addresses uses JNA. Both
 * bindings call the same library and can be used side by side.
 */
@NullMarked
package org.brickprofiler.device.cuda;

import org.jspecify.annotations.NullMarked;
