package org.brickprofiler.device.opencl;

import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.device.DeviceStream;
import org.jspecify.annotations.Nullable;

/**
 * A command-queue of the application, retained until it is closed, and the kind of mark that is set there. Any thread;
 * the thread that closes it makes sure that no other thread uses it.
 */
final class OpenClQueue {

    private static final int UUID_BYTES = 16;

    /** The beginning of a version, which the specification prescribes, before the driver's own text. */
    private static final Pattern VERSION = Pattern.compile("OpenCL (\\d+)\\.(\\d+)( .*)?");

    // The offsets of the times of one clock reading.
    private static final int DEVICE_NS = 0;
    private static final int HOST_NS = 8;
    private static final int HOST_NOW_NS = 16;
    private static final int TIMES_BYTES = 24;

    private final OpenCl driver;
    private final long handle;
    private final long device;
    private final MarkKind kind;

    /** The buffer that a mark of kind {@link MarkKind#FILL} fills; 0 with markers. */
    private final long buffer;

    private final NativeMemory pattern = new NativeMemory(Long.BYTES);

    /** Guarded by itself. */
    private final NativeMemory times = new NativeMemory(TIMES_BYTES);

    private final boolean hasClock;

    private OpenClQueue(OpenCl driver, long handle, long device, MarkKind kind, long buffer) {
        this.driver = driver;
        this.handle = handle;
        this.device = device;
        this.kind = kind;
        this.buffer = buffer;
        this.hasClock = isOfTimers(driver, device) && readClock() == OpenCl.SUCCESS;
    }

    /**
     * Returns whether the driver's table has the functions of the clock. A driver may still refuse them, as PoCL 3.1
     * does.
     */
    private static boolean isOfTimers(OpenCl driver, long device) {
        Matcher version = VERSION.matcher(
                OpenClSupport.text(driver, device, OpenCl.DEVICE_VERSION).orElse(""));
        if (!version.matches()) {
            return false;
        }
        int major = Integer.parseInt(version.group(1));
        return major > 2 || (major == 2 && Integer.parseInt(version.group(2)) >= 1);
    }

    /**
     * Retains a queue and chooses its kind of mark.
     *
     * @return null if a function failed, or no mark has the right time; the reason is reported
     * @throws IllegalArgumentException if the queue is no in-order queue with profiling
     */
    static @Nullable OpenClQueue open(OpenCl driver, MarkProbe probe, long handle, OpenClFailures failures) {
        NativeMemory memory = new NativeMemory(Long.BYTES);
        int code = driver.clGetCommandQueueInfo(handle, OpenCl.QUEUE_PROPERTIES, Long.BYTES, memory.address(0), 0);
        if (code == OpenCl.INVALID_COMMAND_QUEUE) {
            throw new IllegalArgumentException("0x" + Long.toHexString(handle)
                    + " is no command-queue: the driver returned " + OpenClFailures.describe(code));
        }
        if (code != OpenCl.SUCCESS) {
            failures.report("clGetCommandQueueInfo", code);
            return null;
        }
        check(handle, memory.getLong(0));
        code = driver.clRetainCommandQueue(handle);
        if (code != OpenCl.SUCCESS) {
            failures.report("clRetainCommandQueue", code);
            return null;
        }
        OpenClQueue queue = openRetained(driver, probe, handle, memory, failures);
        if (queue == null) {
            driver.clReleaseCommandQueue(handle);
        }
        return queue;
    }

    private static void check(long handle, long properties) {
        String found;
        if ((properties & (OpenCl.OUT_OF_ORDER | OpenCl.ON_DEVICE)) != 0) {
            found = "out-of-order queue";
        } else if ((properties & OpenCl.PROFILING) == 0) {
            found = "queue without CL_QUEUE_PROFILING_ENABLE";
        } else {
            return;
        }
        throw new IllegalArgumentException(found + " 0x" + Long.toHexString(handle)
                + ": bricks need an in-order queue with CL_QUEUE_PROFILING_ENABLE");
    }

    private static @Nullable OpenClQueue openRetained(
            OpenCl driver, MarkProbe probe, long handle, NativeMemory memory, OpenClFailures failures) {
        long context = ask(driver, handle, OpenCl.QUEUE_CONTEXT, memory, failures);
        long device = ask(driver, handle, OpenCl.QUEUE_DEVICE, memory, failures);
        if (context == 0 || device == 0) {
            return null;
        }
        Optional<MarkKind> kind = probe.kind(context, device, failures);
        if (kind.isEmpty()) {
            return null;
        }
        long buffer = 0;
        if (kind.get() == MarkKind.FILL) {
            buffer = driver.clCreateBuffer(context, 1, MarkKind.BYTES, 0, memory.address(0));
            if (buffer == 0) {
                failures.report("clCreateBuffer", memory.getInt(0));
                return null;
            }
        }
        return new OpenClQueue(driver, handle, device, kind.get(), buffer);
    }

    private static long ask(OpenCl driver, long handle, int what, NativeMemory memory, OpenClFailures failures) {
        int code = driver.clGetCommandQueueInfo(handle, what, Long.BYTES, memory.address(0), 0);
        if (code != OpenCl.SUCCESS) {
            failures.report("clGetCommandQueueInfo", code);
            return 0;
        }
        return memory.getLong(0);
    }

    /** Enqueues a mark, and writes its event to an address. Returns the driver's code. */
    int mark(long event) {
        return kind.enqueue(driver, handle, buffer, pattern.address(0), event);
    }

    /** Returns whether {@link #clockNs} can be called: the driver has clGetDeviceAndHostTimer. */
    boolean hasClock() {
        return hasClock;
    }

    /**
     * Reads the device's clock, which times the events. Call it only if the queue {@link #hasClock}.
     *
     * @return ns; {@link DeviceStream#UNRESOLVED} if that failed, which is reported
     */
    long clockNs(OpenClFailures failures) {
        int code;
        synchronized (times) {
            code = readClock();
            if (code == OpenCl.SUCCESS) {
                // The driver may have made the pair some time ago.
                return times.getLong(DEVICE_NS) + (times.getLong(HOST_NOW_NS) - times.getLong(HOST_NS));
            }
        }
        failures.report("clGetDeviceAndHostTimer and clGetHostTimer", code);
        return DeviceStream.UNRESOLVED;
    }

    private int readClock() {
        synchronized (times) {
            int code = driver.clGetDeviceAndHostTimer(device, times.address(DEVICE_NS), times.address(HOST_NS));
            return code == OpenCl.SUCCESS ? driver.clGetHostTimer(device, times.address(HOST_NOW_NS)) : code;
        }
    }

    OpenCl driver() {
        return driver;
    }

    long handle() {
        return handle;
    }

    long device() {
        return device;
    }

    MarkKind kind() {
        return kind;
    }

    /** Returns the UUID that the extension cl_khr_device_uuid reports. */
    Optional<String> deviceUuid() {
        NativeMemory bytes = new NativeMemory(UUID_BYTES);
        int code = driver.clGetDeviceInfo(device, OpenCl.DEVICE_UUID, UUID_BYTES, bytes.address(0), 0);
        if (code != OpenCl.SUCCESS) {
            return Optional.empty();
        }
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < UUID_BYTES; i++) {
            text.append(i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "")
                    .append(String.format(Locale.ROOT, "%02x", bytes.getByte(i)));
        }
        return Optional.of(text.toString());
    }

    /** Returns the address that the extension cl_khr_pci_bus_info reports: domain, bus, device and function. */
    Optional<String> pciAddress() {
        int size = 4 * Integer.BYTES;
        NativeMemory parts = new NativeMemory(size);
        int code = driver.clGetDeviceInfo(device, OpenCl.DEVICE_PCI_BUS, size, parts.address(0), 0);
        return code != OpenCl.SUCCESS
                ? Optional.empty()
                : Optional.of(String.format(
                        Locale.ROOT,
                        "%04x:%02x:%02x.%x",
                        parts.getInt(0),
                        parts.getInt(Integer.BYTES),
                        parts.getInt(2 * Integer.BYTES),
                        parts.getInt(3 * Integer.BYTES)));
    }

    /** Releases the objects that {@link #open} retained and made. */
    void close(OpenClFailures failures) {
        int code = buffer == 0 ? OpenCl.SUCCESS : driver.clReleaseMemObject(buffer);
        if (code != OpenCl.SUCCESS) {
            failures.report("clReleaseMemObject", code);
        }
        code = driver.clReleaseCommandQueue(handle);
        if (code != OpenCl.SUCCESS) {
            failures.report("clReleaseCommandQueue", code);
        }
    }
}
