package org.brickprofiler.trace;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The times that this process can learn without a recording: the pauses of garbage collections from the beans of the
 * JDK, to the millisecond; the time that a thread has run, from {@link ThreadMXBean}; and the time that it has waited
 * for a processor, from the second number of {@code /proc/thread-self/schedstat} on Linux. Any thread.
 */
final class HostTimes implements SystemTimes {

    private static final String SCHEDSTAT = "/proc/thread-self/schedstat";
    private static final long MILLISECOND_NS = 1_000_000;

    /** The end of the name of beans that report whole cycles, most of which run beside the application. */
    private static final String CYCLES = "Cycles";

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();

    /** The beans that report pauses. */
    private final GarbageCollectorMXBean[] collectors;

    HostTimes() {
        collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(collector -> !collector.getName().endsWith(CYCLES))
                .toArray(GarbageCollectorMXBean[]::new);
    }

    @Override
    public OfThread ofThisThread() {
        // A virtual thread has no times of its own, and its carrier changes.
        return PerThread.isVirtual(Thread.currentThread()) ? OfThread.NONE : new HostThread(threads, collectors);
    }

    /** The times of a platform thread. The file is the thread's own even if another thread reads it. */
    private static final class HostThread implements OfThread {
        private final ThreadMXBean threads;
        private final GarbageCollectorMXBean[] collectors;
        private final boolean knowsRun;
        private final byte[] text = new byte[128];
        private @Nullable RandomAccessFile schedstat;

        HostThread(ThreadMXBean threads, GarbageCollectorMXBean[] collectors) {
            this.threads = threads;
            this.collectors = collectors;
            this.knowsRun = threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
            try {
                schedstat = new RandomAccessFile(SCHEDSTAT, "r");
            } catch (IOException notLinux) {
                LoggerFactory.getLogger(HostTimes.class)
                        .debug("the time without a processor is unknown: {}", notLinux.getMessage());
            }
        }

        @Override
        public long ranNs() {
            return knowsRun ? threads.getCurrentThreadCpuTime() : UNKNOWN;
        }

        @Override
        public long collectedNs() {
            long ms = collectors.length == 0 ? UNKNOWN : 0;
            for (GarbageCollectorMXBean collector : collectors) {
                ms += Math.max(0, collector.getCollectionTime());
            }
            return ms < 0 ? UNKNOWN : ms * MILLISECOND_NS;
        }

        @Override
        public long waitedNs() {
            RandomAccessFile file = schedstat;
            if (file == null) {
                return UNKNOWN;
            }
            try {
                file.seek(0);
                return secondNumber(text, file.read(text));
            } catch (IOException gone) {
                schedstat = null;
                return UNKNOWN;
            }
        }
    }

    /**
     * Returns the second number of a line of them.
     *
     * @return {@link #UNKNOWN} if there is none, or the first one is 0: then the kernel does not count
     */
    static long secondNumber(byte[] text, int length) {
        int at = 0;
        boolean counts = false;
        while (at < length && text[at] >= '0' && text[at] <= '9') {
            counts |= text[at++] != '0';
        }
        int first = ++at;
        long number = 0;
        while (at < length && text[at] >= '0' && text[at] <= '9') {
            number = 10 * number + text[at++] - '0';
        }
        return counts && at > first ? number : UNKNOWN;
    }
}
