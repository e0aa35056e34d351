package org.brickprofiler.device.opencl;

import java.lang.ref.Reference;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.MarkCost;
import org.brickprofiler.device.polling.Polling;
import org.brickprofiler.internal.base.Abandonment;
import org.brickprofiler.internal.base.CloseActions;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.internal.mark.MarkPool;
import org.jspecify.annotations.Nullable;

/**
 * An in-order command-queue of OpenCL as a device stream. The queue is the application's; it is retained until the
 * stream is closed. Any thread.
 *
 * <h2>Marks</h2>
 *
 * A mark is a marker command, and its time is the marker's {@code CL_PROFILING_COMMAND_END}. Some drivers stamp markers
 * when these enter the queue; with such a driver, a mark is a fill of a buffer of 4 bytes. The first stream of a device
 * finds out which kind to use, by marks around a command in a queue of its own, in some 10 ms. On an idle device, the
 * time between a mark and the beginning of the next command includes the host's time to enqueue that command, as with
 * events of other devices.
 *
 * <p>Setting a mark is one call of the driver, allocates nothing unless the pool of marks grows, and does not flush the
 * queue; polling a mark or waiting for it does.
 *
 * <h2>Queues that are refused</h2>
 *
 * In an out-of-order queue a command may begin before a marker that was enqueued earlier, so times between marks would
 * be wrong without an error. Without {@code CL_QUEUE_PROFILING_ENABLE} marks have no times. Such queues are refused by
 * {@link Builder#open()}.
 *
 * <h2>Failures</h2>
 *
 * Nothing is thrown because of the driver. If a function fails, the first failure of this function is logged, and
 * {@link #failure()} has the latest reason. A mark whose command ended with an error has no time ({@link #UNRESOLVED}).
 * A kernel that fails does not end the queue: if the driver continues, the time of a brick around the kernel is the
 * time until the kernel failed. After {@code CL_DEVICE_NOT_AVAILABLE}, {@code CL_INVALID_CONTEXT},
 * {@code CL_INVALID_COMMAND_QUEUE}, or an illegal access by a kernel on NVIDIA's driver (-9999) the stream is not
 * usable any more.
 *
 * <h2>Closing</h2>
 *
 * The stream may be closed at any time, from any thread. {@link #close()} waits for functions that other threads have
 * called, and never for the device. The garbage collector closes a forgotten stream, with a warning.
 */
public final class OpenClStream implements DeviceStream {

    private static final Log LOG = Log.of(OpenClStream.class);

    private static final AtomicInteger LAST_NUMBER = new AtomicInteger();

    private final String name;
    private final int maxMarks;
    private final OpenClFailures failures;

    /** Null if the queue cannot be marked. */
    private final @Nullable OpenClMarks marks;

    private final String deviceName;
    private final int deviceIndex;
    private final Optional<String> deviceUuid;
    private final Optional<String> pciAddress;
    private final CloseActions beforeClose = new CloseActions();
    private final AtomicBoolean closing = new AtomicBoolean();

    private OpenClStream(Builder builder, OpenClSupport support) {
        name = builder.name;
        maxMarks = builder.maxMarks;
        failures = new OpenClFailures(name);
        OpenClQueue queue = open(builder.commandQueue, support, failures);
        marks = queue == null
                ? null
                : new OpenClMarks(queue, builder.firstMarks, builder.maxMarks, builder.waitTimeoutNs, failures);
        int index = queue == null ? -1 : support.indexOf(queue.device());
        deviceIndex = Math.max(0, index);
        deviceName = index < 0 ? "OpenCL device" : support.deviceNames().get(index);
        deviceUuid = queue == null ? Optional.empty() : queue.deviceUuid();
        pciAddress = queue == null ? Optional.empty() : queue.pciAddress();
    }

    private static @Nullable OpenClQueue open(long commandQueue, OpenClSupport support, OpenClFailures failures) {
        OpenCl driver = support.driver();
        MarkProbe probe = support.marks();
        if (!support.isAvailable() || driver == null || probe == null) {
            failures.report("open", support.toString());
            return null;
        }
        return OpenClQueue.open(driver, probe, commandQueue, failures);
    }

    /**
     * Returns the builder of a stream that marks a command-queue of the application.
     *
     * @param commandQueue the address of a {@code cl_command_queue}: in-order, with {@code CL_QUEUE_PROFILING_ENABLE};
     *     a number that is no such address may end the virtual machine
     * @return the builder
     * @throws IllegalArgumentException if the address is 0
     */
    public static Builder on(long commandQueue) {
        if (commandQueue == 0) {
            throw new IllegalArgumentException(
                    "command-queue 0: bricks need an in-order queue with CL_QUEUE_PROFILING_ENABLE");
        }
        return new Builder(commandQueue);
    }

    @Override
    public int mark() {
        return marks == null || failures.isLost() ? NO_MARK : marks.set();
    }

    @Override
    public boolean isReached(int mark) {
        return marks == null || marks.isReached(mark);
    }

    @Override
    public long elapsedNs(int from, int to) {
        return marks == null ? UNRESOLVED : marks.elapsedNs(from, to);
    }

    @Override
    public void elapsedNs(int[] numbers, int count, long[] ns) {
        Objects.requireNonNull(numbers, "numbers");
        Objects.requireNonNull(ns, "ns");
        if (marks == null) {
            Arrays.fill(ns, 0, count, UNRESOLVED);
        } else {
            marks.elapsedNs(numbers, count, ns);
        }
    }

    /** Returns a time only if the driver has {@code clGetDeviceAndHostTimer}, a function of OpenCL 2.1. */
    @Override
    public long sinceNs(int mark) {
        return marks == null ? UNRESOLVED : marks.sinceNs(mark);
    }

    /** Flushes the queue, then polls, with pauses in which a virtual thread releases its carrier. */
    @Override
    public boolean waitFor(int mark) {
        try {
            return marks != null && marks.waitFor(mark);
        } finally {
            // Keeps the stream reachable: it would be closed during the wait otherwise.
            Reference.reachabilityFence(this);
        }
    }

    @Override
    public boolean isStalled() {
        return marks != null && marks.isStalled();
    }

    @Override
    public void release(int mark) {
        if (marks != null) {
            marks.release(mark);
        }
    }

    @Override
    public int maxMarks() {
        return maxMarks;
    }

    @Override
    public boolean isUsable() {
        return marks != null && !failures.isLost() && !marks.isClosed();
    }

    @Override
    public Optional<String> failure() {
        return failures.latest().or(() -> isUsable() ? Optional.empty() : Optional.of("the stream is closed"));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String backend() {
        return "OPENCL";
    }

    @Override
    public MarkCost markCost() {
        return MarkCost.unknown("on OpenCL, a measured cost is 3 to 10 us off, with a spread of 17 to 46 us");
    }

    @Override
    public String deviceName() {
        return deviceName;
    }

    /** Returns the number among the devices of all platforms, in the order of {@link OpenClSupport#deviceNames()}. */
    @Override
    public int deviceIndex() {
        return deviceIndex;
    }

    /** Returns the UUID that {@code cl_khr_device_uuid} reports. */
    @Override
    public Optional<String> deviceUuid() {
        return deviceUuid;
    }

    /** Returns the address that {@code cl_khr_pci_bus_info} reports. */
    @Override
    public Optional<String> pciAddress() {
        return pciAddress;
    }

    @Override
    public void beforeClose(Runnable action) {
        Objects.requireNonNull(action, "action");
        beforeClose.add(action);
    }

    @Override
    public void close() {
        if (closing.compareAndSet(false, true)) {
            beforeClose.run();
            if (marks != null) {
                marks.close();
            }
        }
    }

    /**
     * Closes a garbage-collected stream that was never closed. It must not refer to the stream, which would then stay
     * reachable.
     */
    private record Abandoned(String name, OpenClMarks marks) implements Runnable {
        @Override
        public void run() {
            if (!marks.isClosed()) {
                LOG.warn(
                        "OpenCL stream '{}' was never closed and is unreachable: it is closed now. Close streams",
                        name);
                marks.close();
            }
        }
    }

    /** Settings of a stream that is to be opened. One thread. */
    public static final class Builder {

        private final long commandQueue;

        private String name = "queue " + LAST_NUMBER.incrementAndGet();
        private int firstMarks = 1_024;
        private int maxMarks = 1 << 16;
        private long waitTimeoutNs = Polling.timeoutNs(DEFAULT_WAIT_TIMEOUT);

        private Builder(long commandQueue) {
            this.commandQueue = commandQueue;
        }

        /**
         * Sets the name of the stream in reports.
         *
         * @param streamName a name, unique among the streams of its device; by default "queue" and a number
         * @return this
         */
        public Builder name(String streamName) {
            Objects.requireNonNull(streamName, "streamName");
            name = streamName;
            return this;
        }

        /**
         * Sets the number of marks.
         *
         * @param first the number for which there is room at once; by default 1,024
         * @param most the largest number, which is reached as needed; by default 65,536
         * @return this
         * @throws IllegalArgumentException if {@code most} is not in 1 to {@value MarkPool#MAX_BOUND}, or {@code first}
         *     not in 1 to {@code most}
         */
        public Builder marks(int first, int most) {
            MarkPool.requireNumbers(first, most);
            firstMarks = first;
            maxMarks = most;
            return this;
        }

        /**
         * Sets the timeout of a wait for the device. After it, the device seems to hang: the waiting samples are
         * unresolved, which is logged once, and the stream {@link #isStalled()}. Set a longer timeout if the work
         * between two boundaries takes longer.
         *
         * @param timeout more than zero; by default {@link DeviceStream#DEFAULT_WAIT_TIMEOUT}
         * @return this
         * @throws IllegalArgumentException if the timeout is zero or negative
         */
        public Builder waitTimeout(Duration timeout) {
            waitTimeoutNs = Polling.timeoutNs(Objects.requireNonNull(timeout, "timeout"));
            return this;
        }

        /**
         * Opens the stream. Loads the library if it is not loaded yet, and probes the device's marks.
         *
         * @return a stream; if OpenCL is not available or a function fails, one that is not usable and gives the reason
         * @throws IllegalArgumentException if the driver knows no such queue, or the queue is out-of-order or has no
         *     {@code CL_QUEUE_PROFILING_ENABLE}
         */
        public OpenClStream open() {
            return open(OpenClSupport.probe());
        }

        /** Opens the stream over given functions, for tests. */
        OpenClStream open(OpenClSupport support) {
            OpenClStream opened = new OpenClStream(this, support);
            if (opened.marks != null) {
                Abandonment.whenUnreachable(new Abandoned(name, opened.marks), opened);
            }
            return opened;
        }
    }
}
