package org.brickprofiler.trace.jfr;

import com.sun.management.GarbageCollectionNotificationInfo;
import com.sun.management.GcInfo;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import javax.management.ListenerNotFoundException;
import javax.management.Notification;
import javax.management.NotificationEmitter;
import javax.management.NotificationListener;
import javax.management.openmbean.CompositeData;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.request.Wait;
import org.brickprofiler.request.WaitSource;
import org.brickprofiler.trace.internal.RequestWaits;
import org.brickprofiler.trace.internal.StopLog;

/**
 * Splits the waits of requests where no flight recording does: the pauses of garbage collections, as the collectors'
 * beans state them in whole milliseconds, are {@link Wait#GC}, and all other waits are {@link Wait#UNKNOWN}. A request
 * counts up to two seconds after its finish. Any thread.
 */
public final class CollectionWaits implements AutoCloseable {

    private static final String SOURCE = "the collectors' beans, in whole ms";

    /** The suffix of the names of beans that report whole cycles, most of which run beside the application. */
    private static final String CYCLES = "Cycles";

    /** The time in which the notification of a collection arrives, and between two splits. */
    private static final long EVERY_MS = 1_000;

    private final RequestRecorder requests;
    private final StopLog pauses = new StopLog();
    private final WaitSource waits = new RequestWaits(SOURCE, pauses, RequestWaits.Processors.UNKNOWN);
    private final NotificationListener listener = (notification, unused) -> collected(notification);
    private final List<NotificationEmitter> collectors;
    private final Thread splitting = new Thread(this::split, "brick-collections");

    private CollectionWaits(RequestRecorder requests) {
        this.requests = requests;
        collectors = ManagementFactory.getGarbageCollectorMXBeans().stream()
                .filter(CollectionWaits::reportsPauses)
                .map(NotificationEmitter.class::cast)
                .toList();
    }

    private static boolean reportsPauses(GarbageCollectorMXBean collector) {
        return collector instanceof NotificationEmitter && !collector.getName().endsWith(CYCLES);
    }

    /**
     * Begins to split the waits of the requests that finish from now on.
     *
     * @param requests the requests; their clock must be {@link System#nanoTime()}
     * @return the handle whose {@link #close} ends this
     * @throws NoClassDefFoundError when the runtime image has no module {@code jdk.management}
     */
    public static CollectionWaits of(RequestRecorder requests) {
        CollectionWaits begun = new CollectionWaits(Objects.requireNonNull(requests, "requests"));
        begun.collectors.forEach(each -> each.addNotificationListener(begun.listener, null, null));
        requests.setWaitSource(begun.waits);
        begun.splitting.setDaemon(true);
        begun.splitting.start();
        return begun;
    }

    private void collected(Notification notification) {
        if (notification.getType().equals(GarbageCollectionNotificationInfo.GARBAGE_COLLECTION_NOTIFICATION)) {
            GcInfo pause = GarbageCollectionNotificationInfo.from((CompositeData) notification.getUserData())
                    .getGcInfo();
            // The beans count from a moment of their own; the time of the notification is the end of the collection.
            long agoMs = Math.max(0, System.currentTimeMillis() - notification.getTimeStamp());
            long endNs = System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(agoMs);
            pauses.add(new StopLog.Pause(endNs - TimeUnit.MILLISECONDS.toNanos(pause.getDuration()), endNs));
        }
    }

    private void split() {
        try {
            while (true) {
                long nowNs = System.nanoTime();
                Thread.sleep(EVERY_MS);
                requests.splitWaits(nowNs);
            }
        } catch (InterruptedException over) {
            Thread.currentThread().interrupt();
        }
    }

    /** Splits the waits of the requests that have finished, and ends this. A further call does nothing. */
    @Override
    public void close() {
        splitting.interrupt();
        try {
            splitting.join();
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
        }
        requests.splitWaits(System.nanoTime());
        requests.removeWaitSource(waits);
        for (NotificationEmitter collector : collectors) {
            try {
                collector.removeNotificationListener(listener);
            } catch (ListenerNotFoundException closedBefore) {
                // This is a further call.
            }
        }
    }
}
