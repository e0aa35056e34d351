package org.brickprofiler.trace;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.brickprofiler.internal.record.HostThreadTimes;
import org.brickprofiler.internal.record.ThreadTimes;

/**
 * The times that this process can learn without a recording: the pauses of garbage collections from the beans of the
 * JDK, to the millisecond, and the times of threads of {@link HostThreadTimes}. Any thread.
 */
final class HostTimes implements SystemTimes {

    private static final long MILLISECOND_NS = 1_000_000;

    /**
     * The suffix of the names of beans that report whole collection cycles, most of which run concurrently with the
     * application.
     */
    private static final String CYCLES = "Cycles";

    /** The beans that report pauses. */
    private final GarbageCollectorMXBean[] collectors;

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    HostTimes() {
        collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> !collector.getName().endsWith(CYCLES))
                .toArray(GarbageCollectorMXBean[]::new);
    }

    @Override
    public ThreadTimes ofThisThread() {
        return HostThreadTimes.ofThisThread();
    }

    @Override
    public long ranNs(long threadId) {
        try {
            return threads.getThreadCpuTime(threadId);
        } catch (UnsupportedOperationException unknown) {
            return ThreadTimes.UNKNOWN;
        }
    }

    @Override
    public long collectedNs() {
        long ms = collectors.length == 0 ? ThreadTimes.UNKNOWN : 0;
        for (GarbageCollectorMXBean collector : collectors) {
            ms += Math.max(0, collector.getCollectionTime());
        }
        return ms < 0 ? ThreadTimes.UNKNOWN : ms * MILLISECOND_NS;
    }
}
