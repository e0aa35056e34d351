package org.brickprofiler.spi;

/**
 * Receives every sample, layer and pass of a profiler as a span on a timeline, beside the sums:
 * {@code org.brickprofiler.trace.TraceRecorder}. There is nothing to call here and nothing to implement: how spans get
 * there is the library's own.
 */
public interface Tracing {}
