/**
 * Timelines of bricks on threads, devices and streams. {@link org.brickprofiler.trace.TraceRecorder} records a
 * {@link org.brickprofiler.trace.Timeline}; {@code org.brickprofiler.trace.write} writes it to files.
 */
@NullMarked
package org.brickprofiler.trace;

import org.jspecify.annotations.NullMarked;
