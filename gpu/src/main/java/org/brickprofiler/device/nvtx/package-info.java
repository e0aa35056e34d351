/**
 * Ranges of NVTX, which tools such as Nsight Systems show. NVTX 3 has no library of its own: the program finds the
 * tool's library by an environment variable and hands it tables of functions, which the tool fills. Not for
 * applications: {@link org.brickprofiler.BrickProfilerBuilder#nvtx} switches the ranges on.
 */
@NullMarked
package org.brickprofiler.device.nvtx;

import org.jspecify.annotations.NullMarked;
