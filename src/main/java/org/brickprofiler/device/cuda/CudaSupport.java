package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import jcuda.driver.CUdevice;
import jcuda.driver.CUresult;
import org.brickprofiler.internal.io.AtomicFile;
import org.jspecify.annotations.Nullable;

/**
 * Whether work on CUDA devices can be timed in this process: JCuda is on the class path, a driver is installed, and it
 * knows a device. That none of this is so is a state with a reason, not an error. Immutable.
 */
public final class CudaSupport {

    /** The driver must support CUDA 11.0: earlier ones lack the present form of releasing a primary context. */
    private static final int LEAST_VERSION = 11_000;

    /** Since this version, drivers have the call by which graphs record events. */
    private static final int FIRST_WITH_GRAPH_EVENTS = 11_010;

    private static final int NAME_BYTES = 256;

    private static final String LINK_ERROR = "java.lang.UnsatisfiedLinkError: ";

    private static @Nullable CudaSupport found;

    private final Optional<String> reason;
    private final int driverVersion;
    private final List<String> deviceNames;

    private CudaSupport(@Nullable String reason, int driverVersion, List<String> deviceNames) {
        this.reason = Optional.ofNullable(reason);
        this.driverVersion = driverVersion;
        this.deviceNames = List.copyOf(deviceNames);
    }

    /**
     * Looks for JCuda, the driver and its devices; once in a process, since what was missing at first is missing later,
     * and a second failure of JCuda no longer says why. The first call loads the driver, which may take a second. Any
     * thread. Throws nothing.
     *
     * @return what was found
     */
    public static synchronized CudaSupport probe() {
        if (found == null) {
            found = look();
        }
        return found;
    }

    /** As {@link #probe()}, but every time. */
    static CudaSupport look() {
        try {
            // With JCuda's native library comes the driver's.
            BundledLibrary.initialise();
            return driverLacks().map(CudaSupport::unavailable).orElseGet(CudaSupport::askDriver);
        } catch (ClassNotFoundException e) {
            return unavailable("JCuda is not on the class path (org.jcuda:jcuda)");
        } catch (LinkageError e) {
            return unavailable(loadFailure(e));
        } catch (IOException e) {
            return unavailable("JCuda's native library cannot be unpacked: " + AtomicFile.reason(e));
        }
    }

    /**
     * Why JCuda could not be loaded, on one line. Its error holds the stack traces of two attempts as one text; a later
     * error for the same reason holds the first one as its cause.
     */
    private static String loadFailure(Throwable failure) {
        List<String> errors = new ArrayList<>();
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            String.valueOf(cause.getMessage())
                    .lines()
                    .filter(line -> line.contains(LINK_ERROR))
                    .map(line -> line.substring(line.lastIndexOf(LINK_ERROR) + LINK_ERROR.length()))
                    .filter(line -> !line.startsWith("Error while loading"))
                    .forEach(errors::add);
        }
        for (String error : errors) {
            if (error.contains("libcuda.so")) {
                return "the NVIDIA driver's library cannot be loaded: " + error;
            }
        }
        if (!errors.isEmpty()) {
            return "JCuda's native library cannot be loaded: " + errors.get(0);
        }
        return "JCuda cannot be loaded: " + failure;
    }

    private static CudaSupport unavailable(String reason) {
        return new CudaSupport(reason, 0, List.of());
    }

    private static Optional<String> driverLacks() {
        Optional<Path> library = DriverLibrary.loaded();
        List<String> missing = library.map(file -> DriverLibrary.missing(file, DriverCall.symbols()))
                .orElse(List.of());
        return missing.isEmpty()
                ? Optional.empty()
                : library.map(file -> file + " is too old or not a driver: it lacks " + String.join(", ", missing));
    }

    private static CudaSupport askDriver() {
        int[] number = new int[1];
        int code = CudaCalls.driverGetVersion(number);
        if (code != CUresult.CUDA_SUCCESS) {
            return unavailable(CudaErrors.describe(DriverCall.DRIVER_GET_VERSION, code));
        }
        int version = number[0];
        if (version < LEAST_VERSION) {
            return new CudaSupport(
                    "the driver supports CUDA " + text(version) + ", and " + text(LEAST_VERSION) + " is needed",
                    version,
                    List.of());
        }
        code = CudaCalls.init();
        if (code != CUresult.CUDA_SUCCESS) {
            return new CudaSupport(
                    (code == CUresult.CUDA_ERROR_NO_DEVICE ? "there is no CUDA device: " : "")
                            + CudaErrors.describe(DriverCall.INIT, code),
                    version,
                    List.of());
        }
        code = CudaCalls.deviceGetCount(number);
        if (code != CUresult.CUDA_SUCCESS) {
            return new CudaSupport(CudaErrors.describe(DriverCall.DEVICE_GET_COUNT, code), version, List.of());
        }
        List<String> names = new ArrayList<>();
        for (int ordinal = 0; ordinal < number[0]; ordinal++) {
            names.add(askName(ordinal));
        }
        return new CudaSupport(names.isEmpty() ? "there is no CUDA device" : null, version, names);
    }

    private static String askName(int ordinal) {
        CUdevice device = new CUdevice();
        byte[] name = new byte[NAME_BYTES];
        if (CudaCalls.deviceGet(device, ordinal) != CUresult.CUDA_SUCCESS
                || CudaCalls.deviceGetName(name, device) != CUresult.CUDA_SUCCESS) {
            return unnamed(ordinal);
        }
        int length = 0;
        while (length < name.length && name[length] != 0) {
            length++;
        }
        return new String(name, 0, length, UTF_8);
    }

    /** Returns a name for a device whose name is unknown. */
    private static String unnamed(int ordinal) {
        return "CUDA device " + ordinal;
    }

    private static String text(int version) {
        return String.format(Locale.ROOT, "%d.%d", version / 1_000, version % 1_000 / 10);
    }

    /**
     * Returns whether devices can be timed.
     *
     * @return false where {@link #reason()} says why not
     */
    public boolean isAvailable() {
        return reason.isEmpty();
    }

    /**
     * Why devices cannot be timed.
     *
     * @return words for a person; empty where they can
     */
    public Optional<String> reason() {
        return reason;
    }

    /**
     * Returns the CUDA version that the driver supports.
     *
     * @return such as "12.6"; empty where there is no driver
     */
    public Optional<String> driverVersion() {
        return driverVersion == 0 ? Optional.empty() : Optional.of(text(driverVersion));
    }

    /** Returns whether graphs can record events: the driver has the call. */
    boolean recordsInGraphs() {
        return driverVersion >= FIRST_WITH_GRAPH_EVENTS;
    }

    /**
     * Returns the names of the devices, by their numbers.
     *
     * @return empty where devices cannot be timed
     */
    public List<String> deviceNames() {
        return deviceNames;
    }

    /**
     * Returns the UUID and the PCI address of a device. Each call asks the driver.
     *
     * @param device its place in {@link #deviceNames()}
     * @return both, such as "GPU-a0a1..., PCI 0000:17:00.0"; instead of either one that is not known, the word
     *     "unknown" with the reason
     * @throws IndexOutOfBoundsException if there is no such device
     */
    public String identityOf(int device) {
        String name = deviceNames.get(device);
        CudaFailures uuidFailures = new CudaFailures("CUDA device " + device);
        CudaFailures pciFailures = new CudaFailures("CUDA device " + device);
        CUdevice handle = new CUdevice();
        int code = CudaCalls.deviceGet(handle, device);
        if (code != CUresult.CUDA_SUCCESS) {
            return "UUID and PCI address unknown: " + CudaErrors.describe(DriverCall.DEVICE_GET, code);
        }
        return CudaContext.uuidOf(handle, name, uuidFailures).orElseGet(() -> "UUID unknown" + reason(uuidFailures))
                + ", "
                + CudaContext.pciAddressOf(handle, pciFailures)
                        .map(address -> "PCI " + address)
                        .orElseGet(() -> "PCI address unknown" + reason(pciFailures));
    }

    private static String reason(CudaFailures failures) {
        return failures.latest().map(latest -> " (" + latest + ")").orElse("");
    }

    /** Returns the name of a device, also of one that was not found. */
    String deviceName(int ordinal) {
        return ordinal < deviceNames.size() ? deviceNames.get(ordinal) : unnamed(ordinal);
    }

    /**
     * All of it.
     *
     * @return one line for a person
     */
    @Override
    public String toString() {
        String version =
                driverVersion().map(number -> ", driver for CUDA " + number).orElse("");
        return reason.map(why -> "CUDA is not available: " + why)
                .orElseGet(() -> "CUDA: " + String.join(", ", deviceNames) + version);
    }
}
