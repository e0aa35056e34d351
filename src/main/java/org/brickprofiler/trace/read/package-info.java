/**
 * Traces as profiles and as timelines: this library's own ones, and those of other programs in Chrome's format, as
 * PyTorch's Kineto writes it, or Perfetto's. {@link org.brickprofiler.trace.read.TraceReader} adds them up;
 * {@link org.brickprofiler.trace.read.TraceRules} says which kernels are which bricks, and
 * {@link org.brickprofiler.trace.read.TraceText} prints what was counted and what was not.
 * {@link org.brickprofiler.trace.read.TimelineReader} keeps them as they are. Needs jackson-core on the class path.
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
