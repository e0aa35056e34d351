/**
 * Kernel timings for code that gets a kernel's time from its own driver calls: sums by kernel and backend, command
 * buffers with their dispatches. Start at {@link org.brickprofiler.kernel.KernelTimings}.
 */
@NullMarked
package org.brickprofiler.kernel;

import org.jspecify.annotations.NullMarked;
