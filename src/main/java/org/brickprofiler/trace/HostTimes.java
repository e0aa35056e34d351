package org.brickprofiler.trace;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.RuntimeMXBean;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.openmbean.CompositeData;
import org.brickprofiler.internal.record.PerThread;
import org.jspecify.annotations.Nullable;
import org.slf4j.LoggerFactory;

/**
 * The times that this process can learn without a recording: garbage collections from the beans of the JDK, to the
 * millisecond; the time that a thread has run, from {@link ThreadMXBean}; and the time that it has waited for a
 * processor, from the second number of {@code /proc/thread-self/schedstat} on Linux. Stops other than collections are
 * known only if somebody {@linkplain #add adds} them. Any thread.
 */
final class HostTimes implements SystemTimes {

    /** The most stops that are kept, the newest. */
    static final int MOST_STOPS = 4_096;

    private static final String SCHEDSTAT = "/proc/thread-self/schedstat";
    private static final long MILLISECOND_NS = 1_000_000;

    /** Collectors of which the beans report whole cycles: most of a cycle runs beside the application. */
    private static final String CYCLES = "Cycles";

    /** Guarded by itself. */
    private final Deque<Stop> stops = new ArrayDeque<>();

    private final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    private final boolean knowsCollections;
    private volatile boolean knowsOtherStops;

    /** The clock when the virtual machine started, as its beans count, ns. */
    private final long startedNs;

    private HostTimes() {
        startedNs = startOfMachine();
        knowsCollections = listen();
    }

    /** Made once for the process when first asked for, since beans keep their listeners. */
    private static final class Shared {
        static final HostTimes TIMES = new HostTimes();
    }

    static HostTimes shared() {
        return Shared.TIMES;
    }

    /** The beans count whole milliseconds since the start: the moment at which the count changes ties both clocks. */
    private static long startOfMachine() {
        RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
        long before = runtime.getUptime();
        long nowNs = System.nanoTime();
        long giveUpNs = nowNs + 20 * MILLISECOND_NS;
        long uptime = before;
        while (uptime == before && nowNs < giveUpNs) {
            uptime = runtime.getUptime();
            nowNs = System.nanoTime();
        }
        return nowNs - uptime * MILLISECOND_NS;
    }

    private boolean listen() {
        boolean any = false;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            if (!collector.getName().endsWith(CYCLES) && collector instanceof NotificationEmitter emitter) {
                emitter.addNotificationListener(this::collected, null, null);
                any = true;
            }
        }
        return any;
    }

    private void collected(Notification notification, Object handback) {
        if (notification.getUserData() instanceof CompositeData data
                && data.containsKey("gcInfo")
                && data.get("gcInfo") instanceof CompositeData info
                && info.get("startTime") instanceof Long start
                && info.get("endTime") instanceof Long end) {
            add(new Stop(
                    SlowSteps.Kind.GARBAGE_COLLECTION,
                    startedNs + start * MILLISECOND_NS,
                    startedNs + end * MILLISECOND_NS));
        }
    }

    /** Other stops than collections are reported from now on, by {@link #add}. */
    void expectOtherStops() {
        knowsOtherStops = true;
    }

    void add(Stop stop) {
        synchronized (stops) {
            if (stops.size() == MOST_STOPS) {
                stops.removeFirst();
            }
            stops.add(stop);
        }
    }

    @Override
    public List<Stop> stops(long startNs, long endNs) {
        List<Stop> found = new ArrayList<>();
        synchronized (stops) {
            for (Stop stop : stops) {
                if (stop.endNs() > startNs && stop.startNs() < endNs) {
                    found.add(stop);
                }
            }
        }
        found.sort(Comparator.comparingLong(Stop::startNs));
        return found;
    }

    @Override
    public boolean knows(SlowSteps.Kind kind) {
        return kind == SlowSteps.Kind.GARBAGE_COLLECTION ? knowsCollections : knowsOtherStops;
    }

    @Override
    public OfThread ofThisThread() {
        // A virtual thread has no times of its own, and its carrier changes.
        return PerThread.isVirtual(Thread.currentThread()) ? OfThread.NONE : new HostThread(threads);
    }

    /** The times of a platform thread. The file is the thread's own even if another thread reads it. */
    private static final class HostThread implements OfThread {
        private final ThreadMXBean threads;
        private final boolean knowsRun;
        private final byte[] text = new byte[128];
        private @Nullable RandomAccessFile schedstat;

        HostThread(ThreadMXBean threads) {
            this.threads = threads;
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
