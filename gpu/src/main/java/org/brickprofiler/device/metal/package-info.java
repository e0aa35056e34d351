/**
 * Metal: its command queues as device streams, and the times of its command buffers and dispatches. Needs macOS, JNA,
 * and the library that {@code native/metal-shim} builds; {@link org.brickprofiler.device.metal.MetalSupport} reports
 * whether all of that is there. Start at {@link org.brickprofiler.device.metal.MetalStream}.
 *
 * <p>Metal has no timed event between command buffers. A mark is a position in the order of the watched buffers, so
 * work inside one buffer cannot be divided. Kernel times within a buffer need the device's counters, which not every
 * device samples at every boundary.
 */
@NullMarked
package org.brickprofiler.device.metal;

import org.jspecify.annotations.NullMarked;
