package org.brickprofiler.device.opencl;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The availability of OpenCL in this process, with the reason if it is not available, which is no error. OpenCL
 * requires JNA on the class path, and an installed OpenCL library with a device. Immutable.
 *
 * <p>The library is the ICD loader of the system ({@code libOpenCL.so.1}, {@code OpenCL.dll}), or the one that the
 * system property {@code brick.profiler.opencl.library} names. It must be the library that the application uses.
 */
public final class OpenClSupport {

    private static final String PROPERTY = "brick.profiler.opencl.library";
    private static final int NAME_BYTES = 256;
    private static final int MOST_PLATFORMS = 64;
    private static final int MOST_DEVICES = 256;

    private static @Nullable OpenClSupport found;

    /**
     * A device.
     *
     * @param version the version that the driver reports
     */
    private record Device(long handle, String name, String version) {}

    private final @Nullable OpenCl driver;
    private final @Nullable MarkProbe probe;
    private final Optional<String> reason;
    private final List<Device> devices;

    private OpenClSupport(@Nullable OpenCl driver, @Nullable String reason, List<Device> devices) {
        this.driver = driver;
        this.probe = driver == null ? null : new MarkProbe(driver);
        this.reason = Optional.ofNullable(reason);
        this.devices = List.copyOf(devices);
    }

    /**
     * Looks for JNA, the library and its devices, once in a process. The first call loads the drivers, which may take a
     * second. If they replace the virtual machine's signal handlers, as PoCL does, it sets these again. Any thread.
     * Throws nothing.
     *
     * @return always the same object
     */
    public static synchronized OpenClSupport probe() {
        OpenClSupport result = found;
        if (result == null) {
            String named = Settings.value(Settings.PROPERTIES, PROPERTY);
            result = look(named == null ? List.of("OpenCL", "libOpenCL.so.1") : List.of(named));
            found = result;
        }
        return result;
    }

    /** Looks again at each call, unlike {@link #probe()}. */
    static OpenClSupport look(List<String> libraries) {
        try {
            SignalHandlers handlers = SignalHandlers.save();
            try {
                return of(NativeOpenCl.load(libraries));
            } finally {
                handlers.restore();
            }
        } catch (UnsatisfiedLinkError e) {
            return missing("the OpenCL library cannot be used: " + e.getMessage());
        } catch (LinkageError e) {
            return missing("JNA is not on the class path (net.java.dev.jna:jna), or does not work: " + e);
        }
    }

    private static OpenClSupport missing(String reason) {
        return new OpenClSupport(null, reason, List.of());
    }

    /** Looks for the devices of a driver, which tests replace. */
    static OpenClSupport of(OpenCl driver) {
        List<Device> devices = new ArrayList<>();
        NativeMemory platforms = new NativeMemory(Long.BYTES * MOST_PLATFORMS);
        NativeMemory count = new NativeMemory(Long.BYTES);
        int code = driver.clGetPlatformIDs(MOST_PLATFORMS, platforms.address(0), count.address(0));
        if (code != OpenCl.SUCCESS && code != OpenCl.PLATFORM_NOT_FOUND) {
            return missing("clGetPlatformIDs returned " + OpenClFailures.describe(code));
        }
        int platformCount = code == OpenCl.SUCCESS ? Math.min(MOST_PLATFORMS, count.getInt(0)) : 0;
        List<String> refusals = new ArrayList<>();
        for (int platform = 0; platform < platformCount; platform++) {
            NativeMemory handles = new NativeMemory(Long.BYTES * MOST_DEVICES);
            code = driver.clGetDeviceIDs(
                    platforms.getLong(Long.BYTES * platform),
                    OpenCl.ALL_DEVICES,
                    MOST_DEVICES,
                    handles.address(0),
                    count.address(0));
            if (code == OpenCl.SUCCESS) {
                for (int number = 0; number < Math.min(MOST_DEVICES, count.getInt(0)); number++) {
                    devices.add(device(driver, handles.getLong(Long.BYTES * number)));
                }
            } else if (code != OpenCl.DEVICE_NOT_FOUND) {
                refusals.add("clGetDeviceIDs of platform " + platform + " returned " + OpenClFailures.describe(code));
            }
        }
        String reason = null;
        if (platformCount == 0) {
            reason = "the OpenCL library knows no platform: no driver (ICD) is installed";
        } else if (devices.isEmpty()) {
            reason = refusals.isEmpty()
                    ? "none of " + platformCount + " platforms has a device"
                    : String.join("; ", refusals);
        }
        return new OpenClSupport(driver, reason, devices);
    }

    private static Device device(OpenCl driver, long handle) {
        return new Device(
                handle,
                text(driver, handle, OpenCl.DEVICE_NAME).orElse("OpenCL device"),
                text(driver, handle, OpenCl.DEVICE_VERSION).orElse("OpenCL of an unknown version"));
    }

    static Optional<String> text(OpenCl driver, long device, int what) {
        NativeMemory bytes = new NativeMemory(NAME_BYTES);
        // The driver returns an error if the text is longer.
        if (driver.clGetDeviceInfo(device, what, NAME_BYTES, bytes.address(0), 0) != OpenCl.SUCCESS) {
            return Optional.empty();
        }
        byte[] text = new byte[NAME_BYTES];
        int length = 0;
        while (length < NAME_BYTES && bytes.getByte(length) != 0) {
            text[length] = bytes.getByte(length);
            length++;
        }
        return Optional.of(new String(text, 0, length, StandardCharsets.UTF_8).strip());
    }

    /**
     * Returns whether streams can be opened.
     *
     * @return false if there is a {@link #reason()}
     */
    public boolean isAvailable() {
        return reason.isEmpty();
    }

    /**
     * Returns the reason why no device can be timed.
     *
     * @return a sentence without a full stop; empty if devices can be timed
     */
    public Optional<String> reason() {
        return reason;
    }

    /**
     * Returns the names of the devices of all platforms, in the driver's order.
     *
     * @return empty if none can be timed
     */
    public List<String> deviceNames() {
        return devices.stream().map(Device::name).toList();
    }

    /**
     * Probes which command marks a device: a marker, or a small fill if the driver stamps markers when they enter the
     * queue. Takes some 10 ms for each device, once.
     *
     * @param device its place in {@link #deviceNames()}
     * @return a description of the time of a mark, such as "the end of a marker"; or the reason why bricks cannot be
     *     timed
     */
    public String markOf(int device) {
        long handle = devices.get(device).handle();
        OpenCl calls = Objects.requireNonNull(driver, "driver");
        OpenClFailures failures = new OpenClFailures("probe of device " + device);
        NativeMemory memory = new NativeMemory(2 * Long.BYTES);
        memory.putLong(0, handle);
        long context = calls.clCreateContext(0, 1, memory.address(0), 0, 0, memory.address(Long.BYTES));
        if (context == 0) {
            return "none: clCreateContext returned " + OpenClFailures.describe(memory.getInt(Long.BYTES));
        }
        try {
            return Objects.requireNonNull(probe, "probe")
                    .kind(context, handle, failures)
                    .map(MarkKind::text)
                    .orElseGet(() -> "none: " + failures.latest().orElse("for an unknown reason"));
        } finally {
            calls.clReleaseContext(context);
        }
    }

    /** Returns the functions of the library; null without one. */
    @Nullable
    OpenCl driver() {
        return driver;
    }

    /** Returns the probe of the devices' marks; null without a library. */
    @Nullable
    MarkProbe marks() {
        return probe;
    }

    /** Returns the number of a device, or of the device that a sub-device is a part of; -1 if the device is unknown. */
    int indexOf(long device) {
        long handle = device;
        while (handle != 0 && driver != null) {
            for (int number = 0; number < devices.size(); number++) {
                if (devices.get(number).handle() == handle) {
                    return number;
                }
            }
            NativeMemory parent = new NativeMemory(Long.BYTES);
            int code = driver.clGetDeviceInfo(handle, OpenCl.DEVICE_PARENT, Long.BYTES, parent.address(0), 0);
            handle = code == OpenCl.SUCCESS ? parent.getLong(0) : 0;
        }
        return -1;
    }

    /**
     * Describes the devices, or the reason why there are none.
     *
     * @return one line of text
     */
    @Override
    public String toString() {
        return reason.map(why -> "OpenCL is not available: " + why)
                .orElseGet(() -> "OpenCL: "
                        + String.join(
                                ", ",
                                devices.stream()
                                        .map(device -> device.name() + " (" + device.version() + ")")
                                        .toList()));
    }
}
