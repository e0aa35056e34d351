/**
 * OpenCL: its in-order command-queues as device streams. Needs JNA and an OpenCL library (an ICD loader and a driver);
 * {@link org.brickprofiler.device.opencl.OpenClSupport} reports whether they are there. Start at
 * {@link org.brickprofiler.device.opencl.OpenClStream}.
 */
@NullMarked
package org.brickprofiler.device.opencl;

import org.jspecify.annotations.NullMarked;
