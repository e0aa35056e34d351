package org.brickprofiler.device;

/** What is added up of a stream until a reset. One thread at a time. */
final class StreamCounts {

    private long samples;
    private long busyNs;
    private long idleNs;
    private long waits;
    private long clockErrorNs;

    /** The device told the time of a sample. */
    void timed() {
        samples++;
    }

    /** The stream was waited for. */
    void waited() {
        waits++;
    }

    /** Adds what a batch came to. */
    void add(MarkChain chain) {
        busyNs += chain.busyNs();
        idleNs += chain.idleNs();
        if (chain.isUnbroken() && chain.hostErrorNs() != MarkChain.NO_ERROR) {
            clockErrorNs = chain.hostErrorNs();
        }
    }

    StreamTotals totals(DeviceStream stream) {
        return new StreamTotals(
                stream.name(),
                stream.deviceName(),
                stream.deviceIndex(),
                samples,
                busyNs,
                idleNs,
                waits,
                clockErrorNs,
                stream.failure());
    }

    /** Begins anew. The error of the clock stays: it is the latest. */
    void reset() {
        samples = 0;
        busyNs = 0;
        idleNs = 0;
        waits = 0;
    }
}
