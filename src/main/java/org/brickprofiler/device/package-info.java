/**
 * Times on devices: queues in which marks are set, the times between marks, and timers for a single piece of work. This
 * package depends on no particular device; {@code device.cuda}, {@code device.metal} and {@code device.opencl} bind the
 * drivers.
 */
@NullMarked
package org.brickprofiler.device;

import org.jspecify.annotations.NullMarked;
