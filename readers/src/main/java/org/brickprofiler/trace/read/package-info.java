/**
 * Reads traces as profiles and timelines: this library's own traces; traces of other programs in Chrome's format, as
 * PyTorch's Kineto writes it, or in Perfetto's; flight recordings; exports of Nsight Systems; profiles of XLA and of
 * AMD's tools; and the output of TornadoVM's profiler. {@link org.brickprofiler.trace.read.TraceReader} reads them into
 * a {@link org.brickprofiler.trace.read.TraceProfile} or a {@link org.brickprofiler.trace.read.TraceTimeline};
 * {@link org.brickprofiler.trace.read.TraceRules} map kernels to bricks; and each
 * {@link org.brickprofiler.trace.read.Omission} names a part of the trace that is missing from the result or changed in
 * it. Databases need a JDBC driver for SQLite on the class path, and tables need commons-csv.
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
