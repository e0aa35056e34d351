/**
 * Timelines: which brick ran when, on which thread, device and stream. {@link org.brickprofiler.trace.Timeline} is what
 * the recording side offers and what the writers in {@code org.brickprofiler.trace.write} turn into files.
 */
@NullMarked
package org.brickprofiler.trace;

import org.jspecify.annotations.NullMarked;
