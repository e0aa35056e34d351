package org.brickprofiler.spi;

/**
 * Receives every sample, layer and pass of a profiler as a span on a timeline, in addition to the sums:
 * {@code org.brickprofiler.trace.TraceRecorder}. The interface has no public methods, and applications must not
 * implement it.
 */
public interface Tracing {}
