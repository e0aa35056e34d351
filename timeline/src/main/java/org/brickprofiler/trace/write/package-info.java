/**
 * Timelines as files for other programs: Perfetto's {@code .pftrace}, and Chrome trace JSON as PyTorch's Kineto writes
 * it. A writer holds a bounded buffer and the open spans, however long the timeline is.
 */
@NullMarked
package org.brickprofiler.trace.write;

import org.jspecify.annotations.NullMarked;
