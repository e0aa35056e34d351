/**
 * Puts spans that an application opens through OpenTelemetry on the timeline. Needs OpenTelemetry's tracing SDK on the
 * class path.
 */
@NullMarked
package org.brickprofiler.trace.otel;

import org.jspecify.annotations.NullMarked;
