package org.brickprofiler.demo;

import org.brickprofiler.trace.TraceCounter;
import org.brickprofiler.trace.TraceRecorder;

/**
 * Follows decoding with counters on a timeline: tokens per second, and the heap in use. The timeline forgets the
 * warm-up. One thread.
 */
final class CountedProgress implements DecodeProgress {

    private final DecodeProgress inner;
    private final TraceRecorder trace;
    private final TraceCounter tokensPerSecond;
    private final TraceCounter heapBytes;

    private long lastNs = System.nanoTime();

    CountedProgress(DecodeProgress inner, TraceRecorder trace) {
        this.inner = inner;
        this.trace = trace;
        tokensPerSecond = trace.counter("tokens/s", "tokens/s");
        heapBytes = trace.counter("heap in use", "bytes");
    }

    @Override
    public void step() {
        long now = System.nanoTime();
        tokensPerSecond.set(1e9 / Math.max(1, now - lastNs));
        lastNs = now;
        Runtime runtime = Runtime.getRuntime();
        heapBytes.set((double) runtime.totalMemory() - runtime.freeMemory());
        inner.step();
    }

    @Override
    public void warmedUp() {
        trace.clear();
        inner.warmedUp();
    }

    @Override
    public void close() {
        inner.close();
    }
}
