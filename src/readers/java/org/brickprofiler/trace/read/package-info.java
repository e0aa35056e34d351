/**
 * Traces as profiles and as timelines: this library's own ones, and those of other programs in Chrome's format, as
 * PyTorch's Kineto writes it, or Perfetto's; flight recordings, exports of Nsight Systems, and what TornadoVM's
 * profiler writes. {@link org.brickprofiler.trace.read.TraceReader} reads them, a
 * {@link org.brickprofiler.trace.read.TraceProfile} or a {@link org.brickprofiler.trace.read.TraceTimeline};
 * {@link org.brickprofiler.trace.read.TraceRules} decide which kernels are which bricks, and each
 * {@link org.brickprofiler.trace.read.Omission} names something that is not in the result. Exports of Nsight Systems
 * need a JDBC driver for SQLite on the class path.
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
