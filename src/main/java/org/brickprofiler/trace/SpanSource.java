package org.brickprofiler.trace;

import org.brickprofiler.record.SpanNames;
import org.brickprofiler.record.SpanStore;

/**
 * Spans, and what their keys mean.
 *
 * @param store where they are
 * @param names what their keys mean
 */
record SpanSource(SpanStore store, SpanNames names) {}
