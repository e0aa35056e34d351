package org.brickprofiler.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.junit.jupiter.api.Assumptions;

/**
 * A native library that tests build for themselves, once, and load. Several virtual machines may build one at the same
 * time: each writes a file of its own and renames it.
 *
 * <p>Where a machine cannot build it the test is skipped; with the system property {@code brick.native.required=true} it
 * fails instead.
 *
 * @param fileName the name of the library's file
 * @param compiler the compiler's command
 * @param folders where the sources are and the headers that they include; what ends in {@code .c} or {@code .m} is
 *     compiled
 * @param options what the compiler is told besides, libraries to link among it: it comes after the sources
 */
public record NativeLibrary(String fileName, String compiler, List<Path> folders, List<String> options) {

    private static final Path TARGET = Path.of("target", "native-test");
    private static final Map<NativeLibrary, Path> BUILT = new ConcurrentHashMap<>();

    public NativeLibrary {
        folders = List.copyOf(folders);
        options = List.copyOf(options);
    }

    /** Skips the test, or fails it where libraries are required. Does not return. */
    public static void unavailable(String reason, Throwable cause) {
        if (Boolean.getBoolean("brick.native.required")) {
            throw new AssertionError(reason, cause);
        }
        Assumptions.abort(reason + ": " + cause);
    }

    /** Builds the library where it is not there or older than its sources, and loads it into this virtual machine. */
    public Path load() {
        Path file = build();
        System.load(file.toString());
        return file;
    }

    /** Builds the library where it is not there or older than its sources. */
    public Path build() {
        return BUILT.computeIfAbsent(this, library -> {
            try {
                return library.upToDate();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    private Path upToDate() throws IOException {
        // A folder for each recipe: what another one left there is not this library.
        Path folder = TARGET.resolve(Integer.toHexString(hashCode())).toAbsolutePath();
        Path file = folder.resolve(fileName);
        List<Path> inputs = inputs();
        if (!Files.exists(file) || isOlder(file, inputs)) {
            Files.createDirectories(folder);
            Path unfinished = Files.createTempFile(folder, fileName, ".unfinished");
            try {
                compile(inputs, unfinished);
                Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE);
            } finally {
                Files.deleteIfExists(unfinished);
            }
        }
        return file;
    }

    /** The sources, and the headers beside them. */
    private List<Path> inputs() throws IOException {
        List<Path> inputs = new ArrayList<>();
        for (Path folder : folders) {
            try (Stream<Path> files = Files.walk(folder)) {
                files.filter(Files::isRegularFile).sorted().forEach(inputs::add);
            }
        }
        return inputs;
    }

    private static boolean isOlder(Path file, List<Path> inputs) throws IOException {
        for (Path input : inputs) {
            if (Files.getLastModifiedTime(file).compareTo(Files.getLastModifiedTime(input)) < 0) {
                return true;
            }
        }
        return false;
    }

    private void compile(List<Path> inputs, Path to) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("-o", to.toString()));
        inputs.stream()
                .map(Path::toString)
                .filter(input -> input.endsWith(".c") || input.endsWith(".m"))
                .forEach(arguments::add);
        arguments.addAll(options);
        ProcessResult result;
        try {
            result = ChildProcess.of(compiler).arguments(arguments).run();
        } catch (IOException e) {
            unavailable("no compiler " + compiler, e);
            throw e;
        }
        if (result.exitCode() != 0) {
            throw new AssertionError(compiler + " " + String.join(" ", arguments) + "\n" + result.output());
        }
    }
}
