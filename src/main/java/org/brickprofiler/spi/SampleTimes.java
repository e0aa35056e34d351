package org.brickprofiler.spi;

/**
 * Gives the times of the calling thread's samples. It is implemented by a profiler, which hands it to the log of
 * checksums that it makes. There is nothing to call here and nothing to implement: how times get there is the library's
 * own.
 */
public interface SampleTimes {}
