/**
 * Reads traces as profiles and timelines: this library's own traces; traces of other programs in Chrome's format, as
 * PyTorch's Kineto writes it, or in Perfetto's; flight recordings; exports of Nsight Systems; profiles of XLA and of
 * AMD's tools; and the output of TornadoVM's profiler. {@link org.brickprofiler.trace.read.TraceReader} reads them into
 * a {@link org.brickprofiler.trace.read.TraceProfile} or a {@link org.brickprofiler.trace.read.TraceTimeline};
 * {@link org.brickprofiler.trace.read.TraceRules} map kernels to bricks; and each
 * {@link org.brickprofiler.trace.read.Omission} names a part of the trace that is missing from the result or changed in
 * it. Databases need a JDBC driver for SQLite on the class path, and tables need commons-csv.
 *
 * <h2>Formats and their pitfalls</h2>
 *
 * <ul>
 *   <li>Many programs write traces as a bare array without an end. An array that ends after an event is read, and the
 *       missing end is reported. Any other truncation is refused, since half an event is not data, unless the caller
 *       asks for the events before the truncation.
 *   <li>The end of a slice may have another name than its begin. Chrome's own viewer matches by order and warns; the
 *       reader does the same and counts such ends.
 *   <li>Device time would be counted twice if wrappers ({@code aten::mm}, annotations) counted beside kernels. If a
 *       trace marks device events, nothing else counts. Idle time is computed from the union of intervals, never from
 *       sums.
 *   <li><b>TornadoVM's profiler</b> writes JSON objects between any output of the program, and durations only. The
 *       reader finds the next object itself, since no JSON parser does, and sums while it reads. The reader shows no
 *       idle time: idle time cannot be computed from sums.
 *   <li><b>Nsight Systems</b> exports a database, which the reader opens through {@code java.sql} with any available
 *       driver: the JDK's interface is the boundary, so the library needs neither an interface of its own nor a driver.
 *       Correlations are unique within one process only. Ranges are by far the most frequent rows, and come in no
 *       order. Instead of sorting them, the reader keeps a tree over the launches, and each range takes a number of
 *       steps that is logarithmic in the number of launches.
 *   <li><b>XLA's profiler</b> writes names after the events that use them, and the compiled programs, from which scopes
 *       come, in a plane of their own. The reader reads the file three times instead of holding it in memory. It rounds
 *       starts and ends from picoseconds to nanoseconds: with rounded durations, operations that follow one another
 *       would overlap. The scope is part of an event's name, because a timeline keeps names and not arguments; the
 *       profile of a converted file is therefore the same.
 *   <li><b>AMD's profilers</b> write one run as several tables, or as a database whose tables changed with every
 *       version. Records go through one path for all of them: first the correlations of the work, then the launches,
 *       the markers, and the work. The views of a database are its stable interface, but an inner join in a view
 *       silently drops rows; the reader compares the number of rows of the view and of the table below it.
 *   <li>Kernels of one queue may run at the same time, even one during another. Self time applies to nested calls, not
 *       to kernels: a kernel of a device counts in full, and the overlap is reported.
 *   <li>A trace can exceed the heap. Sums and bounded tables stay in memory; events beyond a bound go to a temporary
 *       file.
 *   <li>The name of a matrix product does not show its projection. The module around its launch shows the projection,
 *       and so does its place in a layer: one product after the attention, the products of the feed-forward block after
 *       the norm, and those of queries, keys and values after the next norm. A place is an inference, and the profile
 *       says so, with the share of products in layers that repeat. A product that fits no layer remains a matrix
 *       product. Each inference was compared with the modules of traces that have modules (docs/traces.md).
 * </ul>
 */
@NullMarked
package org.brickprofiler.trace.read;

import org.jspecify.annotations.NullMarked;
