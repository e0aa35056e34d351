/**
 * Traces as profiles and timelines: {@link org.brickprofiler.trace.read.TraceReader} reads this library's own ones, and those of
 * other programs in Chrome's format, as PyTorch's Kineto writes it, or Perfetto's;
 * {@link org.brickprofiler.trace.read.TimelineReader} makes timelines of the same;
 * {@link org.brickprofiler.trace.read.TraceRules} says which kernels are which bricks, and
 * {@link org.brickprofiler.trace.read.TraceText} prints what was counted and what was not. Needs jackson-core on the
 * class path.
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
