/** Bricks as metrics of OpenTelemetry. It needs OpenTelemetry's metrics SDK, 1.44 or later, on the class path. */
@NullMarked
package org.brickprofiler.metrics.otel;

import org.jspecify.annotations.NullMarked;
