/**
 * Spans that an application opens through OpenTelemetry, on the timeline beside the bricks. It needs OpenTelemetry's
 * tracing SDK on the class path.
 */
@NullMarked
package org.brickprofiler.trace.otel;

import org.jspecify.annotations.NullMarked;
