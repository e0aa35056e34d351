/**
 * Time on devices: queues that can be marked, what lies between two marks, and timers for a single piece of work. Knows
 * no device by name; {@code device.cuda}, {@code device.metal} and {@code device.opencl} bind them.
 */
@NullMarked
package org.brickprofiler.device;

import org.jspecify.annotations.NullMarked;
