package org.brickprofiler.device.opencl;

import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A command-queue of the application, retained until it is closed, and the kind of mark that is set there. Any thread;
 * whoever closes it sees to it that nobody uses it.
 */
final class OpenClQueue {

    private static final int UUID_BYTES = 16;

    private final OpenCl driver;
    private final long handle;
    private final long device;
    private final MarkKind kind;

    /** What a mark of kind {@link MarkKind#FILL} fills; 0 with markers. */
    private final long buffer;

    private final NativeMemory pattern = new NativeMemory(Long.BYTES);

    private OpenClQueue(OpenCl driver, long handle, long device, MarkKind kind, long buffer) {
        this.driver = driver;
        this.handle = handle;
        this.device = device;
        this.kind = kind;
        this.buffer = buffer;
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

    /** Enqueues a mark, whose event goes to an address. Returns the driver's code. */
    int mark(long event) {
        return kind.enqueue(driver, handle, buffer, pattern.address(0), event);
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

    /** By the extension cl_khr_device_uuid. */
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

    /** By the extension cl_khr_pci_bus_info: domain, bus, device and function. */
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

    /** Releases what {@link #open} retained and made. */
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
