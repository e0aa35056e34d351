package org.brickprofiler.device.cuda;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import jcuda.driver.CUresult;
import org.brickprofiler.internal.io.AtomicFile;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The availability of CUDA in this process, with the reason if it is not available, which is no error. CUDA requires a
 * binding on the class path, and an installed driver with a device. Immutable.
 *
 * <p>The binding is JCuda if its native library can be loaded, as on Linux and Windows on x86-64, and otherwise JNA,
 * which has native libraries for more processors. The system property {@code brick.profiler.cuda.binding}, or the
 * environment variable {@code BRICK_PROFILER_CUDA_BINDING}, restricts the choice to one of them: {@code jcuda} or
 * {@code jna}.
 */
public final class CudaSupport {

    private static final String JCUDA = "jcuda";
    private static final String JNA = "jna";
    private static final String ANY = "";
    static final String PROPERTY = "brick.profiler.cuda.binding";
    private static final String VARIABLE = "BRICK_PROFILER_CUDA_BINDING";

    /** The driver must support CUDA 11.0: earlier ones lack {@code cuDevicePrimaryCtxRelease_v2}. */
    private static final int LEAST_VERSION = 11_000;

    /** Since this version, drivers have {@code cuEventRecordWithFlags}, by which graphs record events. */
    private static final int FIRST_WITH_GRAPH_EVENTS = 11_010;

    private static final int NAME_BYTES = 256;

    private static final String LINK_ERROR = "java.lang.UnsatisfiedLinkError: ";

    private static final String NO_DEVICE = "there is no CUDA device";

    private static final String NO_LIBRARY = "the NVIDIA driver's library cannot be loaded: ";

    /** The results, by the binding that the setting names. */
    private static final Map<String, CudaSupport> FOUND = new HashMap<>();

    private final @Nullable CudaCalls calls;
    private final Optional<String> reason;
    private final int driverVersion;
    private final List<String> deviceNames;

    /** The binding and why it was chosen, for {@link #toString}; empty for JCuda. */
    private final String binding;

    private CudaSupport(
            @Nullable CudaCalls calls,
            @Nullable String reason,
            int driverVersion,
            List<String> deviceNames,
            String binding) {
        this.calls = calls;
        this.reason = Optional.ofNullable(reason);
        this.driverVersion = driverVersion;
        this.deviceNames = List.copyOf(deviceNames);
        this.binding = binding;
    }

    /**
     * Looks for a binding, the driver and its devices, once in a process for each value of the setting: a library that
     * was missing at first stays missing, and a second failure of JCuda no longer contains the reason. The first call
     * loads the driver, which may take a second. Any thread. Throws nothing.
     *
     * @return always the same object for one value of the setting
     */
    public static CudaSupport probe() {
        return probe(asked());
    }

    /**
     * Returns the support for streams that are given as addresses: through JNA, because JCuda cannot make objects of
     * addresses.
     */
    static CudaSupport ofAddresses() {
        CudaSupport usual = probe();
        return usual.calls instanceof JnaCalls ? usual : probe(JNA);
    }

    private static synchronized CudaSupport probe(String asked) {
        CudaSupport support = FOUND.get(asked);
        if (support == null) {
            support = look(asked);
            FOUND.put(asked, support);
        }
        return support;
    }

    /** Looks again at each call, unlike {@link #probe()}. */
    static CudaSupport look() {
        return look(asked());
    }

    private static String asked() {
        String asked = Settings.value(PROPERTY, VARIABLE);
        return asked == null ? ANY : asked.strip().toLowerCase(Locale.ROOT);
    }

    private static CudaSupport look(String asked) {
        return switch (asked) {
            case ANY -> lookForAny();
            case JCUDA -> throughJCuda();
            case JNA -> throughJna();
            default ->
                unavailable(PROPERTY + " or " + VARIABLE + " is '" + asked + "': set " + JCUDA + " or " + JNA
                        + ", or neither");
        };
    }

    private static CudaSupport lookForAny() {
        CudaSupport jcuda = throughJCuda();
        String why = jcuda.reason.orElse("");
        // If there is no driver, another binding does not help.
        if (jcuda.calls != null || why.startsWith(NO_LIBRARY)) {
            return jcuda;
        }
        CudaSupport jna = throughJna();
        return jna.calls == null
                ? unavailable(why + "; " + jna.reason.orElse(""))
                : new CudaSupport(
                        jna.calls,
                        jna.reason.orElse(null),
                        jna.driverVersion,
                        jna.deviceNames,
                        jna.binding + ", since " + why);
    }

    private static CudaSupport throughJCuda() {
        try {
            // JCuda's native library loads the driver's.
            BundledLibrary.initialise();
            return driverLacks().map(CudaSupport::unavailable).orElseGet(() -> askDriver(new JCudaCalls(), ""));
        } catch (ClassNotFoundException e) {
            return unavailable("JCuda is not on the class path (org.jcuda:jcuda)");
        } catch (LinkageError e) {
            return unavailable(loadFailure(e));
        } catch (IOException e) {
            return unavailable("JCuda's native library cannot be unpacked: " + AtomicFile.reason(e));
        }
    }

    private static CudaSupport throughJna() {
        try {
            Class.forName("com.sun.jna.Native");
        } catch (ClassNotFoundException e) {
            return unavailable("JNA is not on the class path (net.java.dev.jna:jna)");
        } catch (LinkageError e) {
            return unavailable("JNA cannot be loaded: " + e);
        }
        try {
            JnaCalls.loadLibrary();
            return driverLacks()
                    .map(CudaSupport::unavailable)
                    .orElseGet(() -> askDriver(JnaCalls.bind(), ", through JNA"));
        } catch (UnsatisfiedLinkError e) {
            return unavailable(NO_LIBRARY + e.getMessage());
        }
    }

    /**
     * Returns the reason why JCuda could not be loaded, on one line. JCuda's error contains the stack traces of two
     * attempts as one text; a later error for the same reason has the first one as its cause.
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
                return NO_LIBRARY + error.substring(error.indexOf("libcuda.so"));
            }
        }
        if (!errors.isEmpty()) {
            return "JCuda's native library cannot be loaded: " + errors.get(0);
        }
        return "JCuda cannot be loaded: " + failure;
    }

    private static CudaSupport unavailable(String reason) {
        return new CudaSupport(null, reason, 0, List.of(), "");
    }

    private static Optional<String> driverLacks() {
        Optional<Path> library = DriverLibrary.loaded();
        List<String> missing = library.map(file -> DriverLibrary.missing(file, DriverCall.symbols()))
                .orElse(List.of());
        return missing.isEmpty()
                ? Optional.empty()
                : library.map(file -> file + " is too old or not a driver: it lacks " + String.join(", ", missing));
    }

    private static CudaSupport askDriver(CudaCalls calls, String binding) {
        int[] number = new int[1];
        int code = calls.driverGetVersion(number);
        if (code != CUresult.CUDA_SUCCESS) {
            return refused(calls, CudaErrors.describe(DriverCall.DRIVER_GET_VERSION, code), 0, binding);
        }
        int version = number[0];
        if (version < LEAST_VERSION) {
            String reason = "the driver supports CUDA " + text(version) + ", and " + text(LEAST_VERSION) + " is needed";
            return refused(calls, reason, version, binding);
        }
        code = calls.init();
        if (code != CUresult.CUDA_SUCCESS) {
            String reason = CudaErrors.describe(DriverCall.INIT, code);
            boolean noDevice = code == CUresult.CUDA_ERROR_NO_DEVICE;
            return refused(calls, (noDevice ? NO_DEVICE + ": " : "") + reason, version, binding);
        }
        code = calls.deviceGetCount(number);
        if (code != CUresult.CUDA_SUCCESS) {
            return refused(calls, CudaErrors.describe(DriverCall.DEVICE_GET_COUNT, code), version, binding);
        }
        List<String> names = new ArrayList<>();
        for (int ordinal = 0; ordinal < number[0]; ordinal++) {
            names.add(askName(calls, ordinal));
        }
        return new CudaSupport(calls, names.isEmpty() ? NO_DEVICE : null, version, names, binding);
    }

    private static CudaSupport refused(CudaCalls calls, String reason, int version, String binding) {
        return new CudaSupport(calls, reason, version, List.of(), binding);
    }

    private static String askName(CudaCalls calls, int ordinal) {
        CudaHandle device = calls.newDevice();
        byte[] name = new byte[NAME_BYTES];
        if (calls.deviceGet(device, ordinal) != CUresult.CUDA_SUCCESS
                || calls.deviceGetName(name, device) != CUresult.CUDA_SUCCESS) {
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
     * @return false if there is a {@link #reason()}
     */
    public boolean isAvailable() {
        return reason.isEmpty();
    }

    /**
     * Returns the reason why devices cannot be timed.
     *
     * @return a text for people; empty if devices can be timed
     */
    public Optional<String> reason() {
        return reason;
    }

    /**
     * Returns the CUDA version that the driver supports.
     *
     * @return such as "12.6"; empty if there is no driver
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
     * @return empty if devices cannot be timed
     */
    public List<String> deviceNames() {
        return deviceNames;
    }

    /**
     * Returns the UUID and the PCI address of a device. Each call queries the driver.
     *
     * @param device its place in {@link #deviceNames()}
     * @return both, such as "GPU-a0a1..., PCI 0000:17:00.0"; for each of the two that is not known, the word "unknown"
     *     and the reason
     * @throws IndexOutOfBoundsException if there is no such device
     */
    public String identityOf(int device) {
        String name = deviceNames.get(device);
        CudaFailures uuidFailures = new CudaFailures("CUDA device " + device);
        CudaFailures pciFailures = new CudaFailures("CUDA device " + device);
        CudaCalls driver = Objects.requireNonNull(calls, "calls");
        CudaHandle handle = driver.newDevice();
        int code = driver.deviceGet(handle, device);
        if (code != CUresult.CUDA_SUCCESS) {
            return "UUID and PCI address unknown: " + CudaErrors.describe(DriverCall.DEVICE_GET, code);
        }
        return CudaContext.uuidOf(driver, handle, name, uuidFailures)
                        .orElseGet(() -> "UUID unknown" + reason(uuidFailures))
                + ", "
                + CudaContext.pciAddressOf(driver, handle, pciFailures)
                        .map(address -> "PCI " + address)
                        .orElseGet(() -> "PCI address unknown" + reason(pciFailures));
    }

    private static String reason(CudaFailures failures) {
        return failures.latest().map(latest -> " (" + latest + ")").orElse("");
    }

    /** Returns the driver through the binding that was found; null without one. */
    @Nullable
    CudaCalls calls() {
        return calls;
    }

    /** Returns the name of a device, also of one that was not found. */
    String deviceName(int ordinal) {
        return ordinal < deviceNames.size() ? deviceNames.get(ordinal) : unnamed(ordinal);
    }

    /**
     * Describes the devices, the driver and the binding, or the reason why there are none.
     *
     * @return one line of text
     */
    @Override
    public String toString() {
        String version =
                driverVersion().map(number -> ", driver for CUDA " + number).orElse("");
        return reason.map(why -> "CUDA is not available: " + why)
                .orElseGet(() -> "CUDA: " + String.join(", ", deviceNames) + version + binding);
    }
}
