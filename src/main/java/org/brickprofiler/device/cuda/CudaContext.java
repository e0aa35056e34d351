package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_SUCCESS;

import java.nio.ByteBuffer;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import java.util.regex.Pattern;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUuuid;
import org.jspecify.annotations.Nullable;

/**
 * A context to make calls in. It belongs to the application, or is a device's primary one, retained until it is
 * released. Any thread.
 */
final class CudaContext {

    /** Characters for "domain:bus:device.function", with room for longer domains. */
    private static final int PCI_CHARACTERS = 32;

    /** The variable that selects the devices which a process sees. */
    private static final String VISIBLE_DEVICES = "CUDA_VISIBLE_DEVICES";

    private static final Pattern PART_OF_GPU = Pattern.compile("\\bMIG\\b");

    private final CUcontext context;
    private final CUdevice device;
    private final boolean retained;
    private final int ordinal;

    private CudaContext(CUcontext context, CUdevice device, boolean retained, int ordinal) {
        this.context = context;
        this.device = device;
        this.retained = retained;
        this.ordinal = ordinal;
    }

    /** Returns a context of the application's. */
    static CudaContext of(CUcontext context, CudaFailures failures) throws CudaFailures.Refusal {
        CUdevice device = new CUdevice();
        CudaContext unknown = new CudaContext(context, device, false, 0);
        if (!unknown.push(failures)) {
            throw new CudaFailures.Refusal();
        }
        try {
            failures.require(DriverCall.CTX_GET_DEVICE, CudaCalls.ctxGetDevice(device));
        } finally {
            unknown.pop(new CUcontext(), failures);
        }
        return new CudaContext(context, device, false, ordinalOf(device, failures));
    }

    /** A handle does not show its number: those of all numbers are compared with it. */
    private static int ordinalOf(CUdevice device, CudaFailures failures) throws CudaFailures.Refusal {
        int[] devices = new int[1];
        failures.require(DriverCall.DEVICE_GET_COUNT, CudaCalls.deviceGetCount(devices));
        CUdevice each = new CUdevice();
        for (int ordinal = 0; ordinal < devices[0]; ordinal++) {
            failures.require(DriverCall.DEVICE_GET, CudaCalls.deviceGet(each, ordinal));
            if (each.equals(device)) {
                return ordinal;
            }
        }
        return 0;
    }

    /** Returns the primary context of a device. */
    static CudaContext ofDevice(int ordinal, CudaFailures failures) throws CudaFailures.Refusal {
        CUdevice device = new CUdevice();
        CUcontext primary = new CUcontext();
        failures.require(DriverCall.DEVICE_GET, CudaCalls.deviceGet(device, ordinal));
        failures.require(DriverCall.PRIMARY_CTX_RETAIN, CudaCalls.primaryCtxRetain(primary, device));
        return new CudaContext(primary, device, true, ordinal);
    }

    /**
     * Returns whether another one is the thread's current context, or none is.
     *
     * @param current where the driver writes which one is
     * @return false also where the driver does not answer: what is asked of it next will show why
     */
    boolean isElsewhere(CUcontext current, CudaFailures failures) {
        int code = CudaCalls.ctxGetCurrent(current);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_GET_CURRENT, code);
        }
        return code == CUDA_SUCCESS && !context.equals(current);
    }

    /** Returns whether this is a primary context that was retained here, rather than one of the application's. */
    boolean isRetained() {
        return retained;
    }

    /**
     * Returns the handle for the application: its own or, of a context that was retained here, another object than the
     * one that is used here, so that the application's can be collected while this one is needed still.
     */
    CUcontext copy(CudaFailures failures) throws CudaFailures.Refusal {
        if (!retained) {
            return context;
        }
        CUcontext copy = new CUcontext();
        failures.require(DriverCall.PRIMARY_CTX_RETAIN, CudaCalls.primaryCtxRetain(copy, device));
        release(failures);
        return copy;
    }

    /** Returns the UUID of the device, as CUDA's tools print it; empty if it is not known. */
    Optional<String> deviceUuid(String deviceName, CudaFailures failures) {
        return uuidOf(device, deviceName, failures);
    }

    /** Returns the UUID of a device, as CUDA's tools print it; empty if it is not known. */
    static Optional<String> uuidOf(CUdevice device, String deviceName, CudaFailures failures) {
        if (isPartOfGpu(deviceName)) {
            Optional<String> part = visiblePart(System.getenv(VISIBLE_DEVICES));
            if (part.isEmpty()) {
                failures.report(
                        DriverCall.DEVICE_GET_UUID,
                        "the UUID of '" + deviceName + "' is not known: JCuda reports that of the whole GPU. Set "
                                + VISIBLE_DEVICES + " to the UUID of this part (MIG-...)");
            }
            return part;
        }
        CUuuid uuid = new CUuuid();
        int code = CudaCalls.deviceGetUuid(uuid, device);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.DEVICE_GET_UUID, code);
            return Optional.empty();
        }
        ByteBuffer bytes = ByteBuffer.wrap(uuid.bytes);
        return Optional.of("GPU-" + new UUID(bytes.getLong(), bytes.getLong()));
    }

    /** Tells whether a device is a part of a GPU (MIG), by its name, such as "NVIDIA A100-SXM4-40GB MIG 1g.5gb". */
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
        return pciAddressOf(device, failures);
    }

    /** Returns the address of a device's PCI function; empty if the driver does not report it. */
    static Optional<String> pciAddressOf(CUdevice device, CudaFailures failures) {
        String[] address = {""};
        int code = CudaCalls.deviceGetPciBusId(address, PCI_CHARACTERS, device);
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.DEVICE_GET_PCI_BUS_ID, code);
            return Optional.empty();
        }
        return Optional.of(address[0].toLowerCase(Locale.ROOT));
    }

    /** Returns the device's number. */
    int ordinal() {
        return ordinal;
    }

    /**
     * Makes this context the thread's current one. Until {@link #pop} the thread must not block.
     *
     * @return whether it is, and {@link #pop} is to follow
     */
    boolean push(CudaFailures failures) {
        int code = push();
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_PUSH_CURRENT, code);
        }
        return code == CUDA_SUCCESS;
    }

    /**
     * Returns the same, for somebody who tries again: a green context is refused while it is current on another thread.
     *
     * @return what the driver answered; {@link #pop} is to follow a success
     */
    int push() {
        CudaFailures.enter();
        int code = CudaCalls.ctxPushCurrent(context);
        if (code != CUDA_SUCCESS) {
            CudaFailures.leave();
        }
        return code;
    }

    /**
     * Makes current what was before.
     *
     * @param popped where the driver writes what was current until now
     */
    void pop(CUcontext popped, CudaFailures failures) {
        int code = CudaCalls.ctxPopCurrent(popped);
        CudaFailures.leave();
        if (code != CUDA_SUCCESS) {
            failures.report(DriverCall.CTX_POP_CURRENT, code);
        }
    }

    /** Gives a primary context back. Also where the device is lost: it can be used again when everybody has done so. */
    void release(CudaFailures failures) {
        if (retained) {
            int code = CudaCalls.primaryCtxRelease(device);
            if (code != CUDA_SUCCESS) {
                failures.report(DriverCall.PRIMARY_CTX_RELEASE, code);
            }
        }
    }
}
