package org.brickprofiler.device.metal;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import org.brickprofiler.internal.setting.Settings;
import org.jspecify.annotations.Nullable;

/**
 * The availability of Metal on this machine, with the reason if it is not available. Immutable.
 *
 * <p>Metal requires macOS, JNA on the class path, the library that {@code native/metal-shim} builds, and a device. The
 * library is the file that the system property {@code brick.profiler.metal.library} names, or else
 * {@code libbrickmetal.dylib} in a folder of {@code java.library.path}; the jar does not contain it. A file that the
 * property names is tried on every system.
 */
public final class MetalSupport {

    private static final String PROPERTY = "brick.profiler.metal.library";
    private static final String NAME = "brickmetal";

    private static @Nullable MetalSupport probed;

    private final Optional<String> deviceName;
    private final Optional<String> reason;

    private MetalSupport(Optional<String> deviceName, Optional<String> reason) {
        this.deviceName = deviceName;
        this.reason = reason;
    }

    /**
     * Looks for Metal once in the life of the virtual machine, and returns the same result from then on. Throws
     * nothing. Any thread.
     *
     * @return always the same object
     */
    public static synchronized MetalSupport probe() {
        MetalSupport result = probed;
        if (result == null) {
            result = probe(name -> Optional.ofNullable(Settings.value(Settings.PROPERTIES, name)));
            probed = result;
        }
        return result;
    }

    /** Looks again at each call, unlike {@link #probe()}. */
    static MetalSupport probe(Function<String, Optional<String>> properties) {
        Optional<String> named = properties.apply(PROPERTY);
        String system = properties.apply("os.name").orElse("an unnamed system");
        if (named.isEmpty() && !system.startsWith("Mac")) {
            return missing("not macOS: " + system);
        }
        Optional<Path> file = named.isPresent()
                ? file(named.get())
                : properties.apply("java.library.path").flatMap(MetalSupport::inFolders);
        if (file.isEmpty()) {
            return missing("no library: "
                    + named.map(name -> name + " is no file")
                            .orElseGet(() -> System.mapLibraryName(NAME) + " is not in java.library.path, and "
                                    + PROPERTY + " is not set"));
        }
        try {
            return MetalShim.bind(file.get(), properties.apply("os.arch").orElse("of an unnamed kind"))
                    .map(MetalSupport::missing)
                    .orElseGet(MetalSupport::ofDevice);
        } catch (LinkageError e) {
            return missing("JNA is not on the class path (net.java.dev.jna:jna), or does not work: " + e);
        }
    }

    private static Optional<Path> inFolders(String folders) {
        return Arrays.stream(folders.split(File.pathSeparator, -1))
                .map(folder -> folder + File.separator + System.mapLibraryName(NAME))
                .flatMap(library -> file(library).stream())
                .findFirst();
    }

    private static Optional<Path> file(String name) {
        try {
            return Optional.of(Path.of(name).toAbsolutePath()).filter(Files::isRegularFile);
        } catch (InvalidPathException e) {
            return Optional.empty();
        }
    }

    private static MetalSupport ofDevice() {
        byte[] name = new byte[MetalShim.LABEL_BYTES];
        return MetalShim.probe(name, name.length) == MetalShim.OK
                ? new MetalSupport(Optional.of(ShimRecords.text(name)), Optional.empty())
                : missing(MetalShim.failure());
    }

    private static MetalSupport missing(String reason) {
        return new MetalSupport(Optional.empty(), Optional.of(reason));
    }

    /**
     * Returns whether streams can be opened.
     *
     * @return false if something is missing
     */
    public boolean isAvailable() {
        return reason.isEmpty();
    }

    /**
     * Returns the default device.
     *
     * @return its name, or empty if Metal is not available
     */
    public Optional<String> deviceName() {
        return deviceName;
    }

    /**
     * Returns the reason why Metal is not available.
     *
     * @return a sentence without a full stop, or empty if Metal is available
     */
    public Optional<String> reason() {
        return reason;
    }

    @Override
    public String toString() {
        return "Metal: " + deviceName.or(() -> reason).orElseThrow();
    }
}
