package org.brickprofiler.internal.record;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import org.jspecify.annotations.Nullable;

/**
 * The times of a platform thread: the CPU time from {@link ThreadMXBean} and, on Linux, the time that the thread was
 * runnable without a processor, from the second number of {@code /proc/thread-self/schedstat}. The file is opened by
 * the first call of {@link #waitedNs}, and stays open. Only that thread may use this object.
 */
public final class HostThreadTimes implements ThreadTimes {

    private static final String SCHEDSTAT = "/proc/thread-self/schedstat";

    private final ThreadMXBean threads;
    private final boolean knowsRun;
    private final byte[] text = new byte[128];
    private boolean isOpened;
    private @Nullable RandomAccessFile schedstat;

    private HostThreadTimes(ThreadMXBean threads) {
        this.threads = threads;
        knowsRun = threads.isCurrentThreadCpuTimeSupported() && threads.isThreadCpuTimeEnabled();
    }

    /**
     * Returns the reader of the calling thread's times. The times of a virtual thread are unknown, because its carrier
     * changes, as are those of all threads in a runtime image without the module {@code java.management}.
     *
     * @return the reader; {@link #NONE} if the times are unknown
     */
    public static ThreadTimes ofThisThread() {
        if (PerThread.isVirtual(Thread.currentThread())) {
            return NONE;
        }
        try {
            return new HostThreadTimes(ManagementFactory.getThreadMXBean());
        } catch (NoClassDefFoundError noBeans) {
            return NONE;
        }
    }

    @Override
    public long ranNs() {
        return knowsRun ? threads.getCurrentThreadCpuTime() : UNKNOWN;
    }

    @Override
    public long waitedNs() {
        RandomAccessFile file = schedstat();
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

    private @Nullable RandomAccessFile schedstat() {
        if (!isOpened) {
            isOpened = true;
            try {
                schedstat = new RandomAccessFile(SCHEDSTAT, "r");
            } catch (IOException notLinux) {
                return null;
            }
        }
        return schedstat;
    }

    /**
     * Returns the second number of a line of numbers.
     *
     * @param text the line
     * @param length the number of its bytes
     * @return the number; {@link #UNKNOWN} if there is none, or if the first number is 0, which means that the kernel
     *     does not record these times
     */
    public static long secondNumber(byte[] text, int length) {
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
