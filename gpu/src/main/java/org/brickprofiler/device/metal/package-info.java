/**
 * Metal: its command queues as device streams, and the times of its command buffers and dispatches. Needs macOS, JNA,
 * and the library that {@code native/metal-shim} builds; {@link org.brickprofiler.device.metal.MetalSupport} reports
 * whether all of that is there. Start at {@link org.brickprofiler.device.metal.MetalStream}.
 */
@NullMarked
package org.brickprofiler.device.metal;

import org.jspecify.annotations.NullMarked;
