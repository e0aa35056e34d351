package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_SUCCESS;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A context for calls of the driver. It belongs to the application, or is the primary context of a device, retained
 * until it is released. Any thread.
 */
final class CudaContext {

    /** Characters for "domain:bus:device.function", with room for longer domains. */
    private static final int PCI_CHARACTERS = 32;

    /** The variable that selects the devices which a process sees. */
    private static final String VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES";

    private static final Pattern PART_OF_GPU = Pattern.compile("\\bMIG\\b");

    private final CudaCalls calls;
    private final CudaHandle context;
    private final CudaHandle device;
    private final boolean retained;
    private final int ordinal;

    private CudaContext(CudaCalls calls, CudaHandle context, CudaHandle device, boolean retained, int ordinal) {
        this.calls = calls;
        this.context = context;
        this.device = device;
        this.retained = retained;
        this.ordinal = ordinal;
    }

    /** Returns a context of the application. */
    static CudaContext of(CudaCalls calls, CudaHandle context, CudaFailures failures) throws CudaFailures.Refusal {
        CudaHandle device = calls.newDevice();
        CudaContext unknown = new CudaContext(calls, context, device, false, 0);
        if (!unknown.push(failures)) {
            throw new CudaFailures.Refusal();
        }
        try {
            failures.require(DriverCall.CTX_GET_DEVICE, calls.ctxGetDevice(device));
        } finally {
            unknown.pop(calls.newContext(), failures);
        }
        return new CudaContext(calls, context, device, false, ordinalOf(calls, device, failures));
    }

    /** Returns the number of a device's handle, by comparing it with the handles of all numbers. */
    private static int ordinalOf(CudaCalls calls, CudaHandle device, CudaFailures failures)
            throws CudaFailures.Refusal {
        int[] devices = new int[1];
        failures.require(DriverCall.DEVICE_GET_COUNT, calls.deviceGetCount(devices));
        CudaHandle each = calls.newDevice();
        for (int ordinal = 0; ordinal < devices[0]; ordinal++) {
            failures.require(DriverCall.DEVICE_GET, calls.deviceGet(each, ordinal));
            if (each.address() == device.address()) {
                return ordinal;
            }
        }
        return 0;
    }

    /** Returns the primary context of a device. */
    static CudaContext ofDevice(CudaCalls calls, int ordinal, CudaFailures failures) throws CudaFailures.Refusal {
        CudaHandle device = calls.newDevice();
        CudaHandle primary = calls.newContext();
        failures.require(DriverCall.DEVICE_GET, calls.deviceGet(device, ordinal));
        failures.require(DriverCall.PRIMARY_CTX_RETAIN, calls.primaryCtxRetain(primary, device));
        return new CudaContext(calls, primary, device, true, ordinal);
    }

    /**
     * Returns whether the thread's current context is a different one, or none.
     *
     * @param current receives the current context
     * @return false also if the call fails, which is reported
     */
    boolean isElsewhere(CudaHandle current, CudaFailures failures) {
        int code = calls.ctxGetCurrent(current);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_GET_CURRENT, code);
        }
        return code == CUDA_SUCCESS && context.address() != current.address();
    }

    /** Returns whether this is a primary context that was retained here, rather than a context of the application. */
    boolean isRetained() {
        return retained;
    }

    /**
     * Returns the handle for the application: the application's own object or, for a context that was retained here, a
     * separate object, which can be collected while the internal one is still needed.
     */
    CudaHandle copy(CudaFailures failures) throws CudaFailures.Refusal {
        if (!retained) {
            return context;
        }
        CudaHandle copy = calls.newSharedContext();
        failures.require(DriverCall.PRIMARY_CTX_RETAIN, calls.primaryCtxRetain(copy, device));
        release(failures);
        return copy;
    }

    /** Returns the UUID of the device, as CUDA's tools print it; empty if it is not known. */
    Optional<String> deviceUuid(String deviceName, CudaFailures failures) {
        return uuidOf(calls, device, deviceName, failures);
    }

    /** Returns the UUID of a device, as CUDA's tools print it; empty if it is not known. */
    static Optional<String> uuidOf(CudaCalls calls, CudaHandle device, String deviceName, CudaFailures failures) {
        if (isPartOfGpu(deviceName)) {
            Optional<String> part = visiblePart(System.getenv(VISIBLE_DEVICES));
            if (part.isEmpty()) {
                failures.report(
                        DriverCall.DEVICE_GET_UUID,
                        "the UUID of '" + deviceName + "' is not known: the driver reports that of the whole GPU. Set "
                                + VISIBLE_DEVICES + " to the UUID of this part (MIG-...)");
            }
            return part;
        }
        byte[] uuid = new byte[CudaCalls.UUID_BYTES];
        int code = calls.deviceGetUuid(uuid, device);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.DEVICE_GET_UUID, code);
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.wrap(uuid);
        return Optional.of("GPU-" + new UUID(bytes.getLong(), bytes.getLong()));
    }

    /** Returns whether a device is a part of a GPU (MIG), by its name, such as "NVIDIA A100-SXM4-40GB MIG 1g.5gb". */
    static boolean isPartOfGpu(String deviceName) {
        return PART_OF_GPU.matcher(deviceName).find();
    }

    /**
     * Returns the part of a GPU that a process sees: a process with parts sees one of them only, the first.
     *
     * @param visibleDevices the value of {@code CUDA_VISIBLE_DEVICES}; null if it is not set
     */
    static Optional<String> visiblePart(@Nullable String visibleDevices) {
        String first = visibleDevices == null ? "" : visibleDevices.split(",", -1)[0].trim();
        return first.startsWith("MIG-") ? Optional.of(first) : Optional.empty();
    }

    /** Returns the address of the device's PCI function; empty if the driver does not report it. */
    Optional<String> pciAddress(CudaFailures failures) {
        return pciAddressOf(calls, device, failures);
    }

    /** Returns the address of a device's PCI function; empty if the driver does not report it. */
    static Optional<String> pciAddressOf(CudaCalls calls, CudaHandle device, CudaFailures failures) {
        String[] address = {""};
        int code = calls.deviceGetPciBusId(address, PCI_CHARACTERS, device);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.DEVICE_GET_PCI_BUS_ID, code);
            return Optional.empty();
        }
        return Optional.of(address[0].toLowerCase(Locale.ROOT));
    }

    /** Returns the binding of the driver that made this context. */
    CudaCalls calls() {
        return calls;
    }

    /** Returns the driver's number of the context. */
    long address() {
        return context.address();
    }

    /** Returns the device's number. */
    int ordinal() {
        return ordinal;
    }

    /**
     * Makes this context the thread's current one. Until {@link #pop} the thread must not block.
     *
     * @return whether it is current; {@link #pop} has to follow then
     */
    boolean push(CudaFailures failures) {
        int code = push();
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_PUSH_CURRENT, code);
        }
        return code == CUDA_SUCCESS;
    }

    /**
     * Makes this context current, for a caller that tries again: a green context is refused while it is current on
     * another thread.
     *
     * @return the driver's code; after success, {@link #pop} has to follow
     */
    int push() {
        CudaFailures.enter();
        int code = calls.ctxPushCurrent(context);
        if (code != CUDA_SUCCESS) {
            CudaFailures.leave();
        }
        return code;
    }

    /**
     * Restores the former context.
     *
     * @param popped receives the context that was current until now
     */
    void pop(CudaHandle popped, CudaFailures failures) {
        int code = calls.ctxPopCurrent(popped);
        CudaFailures.leave();
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_POP_CURRENT, code);
        }
    }

    /**
     * Gives back a primary context, also if the device is lost: the device can be used again once every user of its
     * primary context has released it.
     */
    void release(CudaFailures failures) {
        if (retained) {
            int code = calls.primaryCtxRelease(device);
            if (code != CUDA_SUCCESS) {
                failures.report(DriverCall.PRIMARY_CTX_RELEASE, code);
            }
        }
    }
}
