package org.brickprofiler.trace.read;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import jdk.jfr.consumer.RecordedThread;
import org.jspecify.annotations.Nullable;

/** The names of the threads of a flight recording, each of one thread only. One thread. */
final class RecordedThreads {

    private final Map<Long, String> names = new HashMap<>();
    private final Set<String> taken = new HashSet<>();

    /** The thread that was asked for last, and its name; empty before the first one. */
    private long latest;

    private String latestName = "";

    /** Returns the name of a thread; empty if the recording does not state the thread. */
    String name(@Nullable RecordedThread thread) {
        return thread == null
                ? ""
                : name(thread.getId(), thread.getJavaName() == null ? thread.getOSName() : thread.getJavaName());
    }

    /**
     * Returns the name of a thread; a second thread of the same name gets its number appended.
     *
     * @param id the number of the thread
     * @param stated the name that the recording states; null or empty if it states none
     */
    String name(long id, @Nullable String stated) {
        if (id != latest || latestName.isEmpty()) {
            latest = id;
            latestName = names.computeIfAbsent(id, first -> {
                String name = stated == null || stated.isEmpty() ? "thread " + id : stated;
                return taken.add(name) ? name : name + " #" + id;
            });
        }
        return latestName;
    }
}
