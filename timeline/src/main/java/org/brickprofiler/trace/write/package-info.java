/**
 * Timelines as files for other programs: Perfetto's {@code .pftrace}, and Chrome trace JSON as PyTorch's Kineto writes
 * it. A writer holds a bounded buffer and the open spans, however long the timeline is.
 *
 * <h2>Formats</h2>
 *
 * <ul>
 *   <li><b>Perfetto</b> is a stream of packets whose names are interned per sequence; a reader that misses the
 *       beginning of a sequence cannot name the sequence's events. Neither Perfetto's tracks nor Chrome's rows allow
 *       slices that overlap without nesting, so such spans are drawn on further lanes. This library allows negative
 *       times and the format does not, so all times are shifted together.
 *   <li><b>Chrome JSON</b> has no schema. Readers understand Kineto's conventions: categories decide which events are
 *       the device's, {@code ProfilerStep#N} names a step, {@code ts} is in microseconds with decimals, and flows bind
 *       to the surrounding slice only with {@code bp: "e"}. A {@code double} cannot hold large values of {@code ts} to
 *       the nanosecond, so the reader parses {@code ts} exactly. Readers look for some items by name (a launch, an
 *       operator, a collective, a copy, a rank). The library writes these for them, marked as derived or with the
 *       brick's own name beside the derived one: use in another tool.
 *   <li>A span takes few bytes because values that are the same in most spans are omitted. The library's own files
 *       therefore name their producer and a version of the omitted values, and a reader refuses a version that it does
 *       not know.
 *   <li>A trace states the phase in which the profiler counted each sample. The places of steps do not show it:
 *       workers, devices and virtual threads have rows without steps, a thread may work for the layer of another one,
 *       and two profilers may share a recorder. In the memory of a recorder the phase takes two bits beside the key. In
 *       a Perfetto file it is written if it is not that of the slice around, or else of the sample before.
 *   <li>A Perfetto file is complete after any packet, so the library's own files end with a mark, and name their
 *       producer first.
 * </ul>
 */
@NullMarked
package org.brickprofiler.trace.write;

import org.jspecify.annotations.NullMarked;
