package org.brickprofiler.spi;

/**
 * Provides the times of the calling thread's samples. A profiler passes an implementation to the log of checksums that
 * it creates. The interface has no public methods, and applications must not implement it.
 */
public interface SampleTimes {}
