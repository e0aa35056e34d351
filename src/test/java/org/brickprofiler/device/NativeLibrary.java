package org.brickprofiler.device;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
 * @param folders where everything is that it is built from
 * @param programs what has to be installed to build it
 * @param command what builds it, with {@link #FILE} and {@link #SOURCES} in it
 */
public record NativeLibrary(String fileName, List<Path> folders, List<String> programs, List<String> command) {

    /** Stands for the file to be built, also inside of an argument. */
    private static final String FILE = "<file>";

    /** Stands for all files that end in {@code .c} or {@code .m}. */
    private static final String SOURCES = "<sources>";

    private static final Path TARGET = Path.of("target", "native-test");
    private static final Map<NativeLibrary, Path> BUILT = new ConcurrentHashMap<>();

    public NativeLibrary {
        folders = List.copyOf(folders);
        programs = List.copyOf(programs);
        command = List.copyOf(command);
    }

    /**
     * A library that is built by a compiler.
     *
     * @param fileName the name of the library's file
     * @param compiler the compiler's command
     * @param folders where the sources are and the headers that they include; what ends in {@code .c} or {@code .m} is
     *     compiled
     * @param options what the compiler is told besides, libraries to link among it: it comes after the sources
     */
    public NativeLibrary(String fileName, String compiler, List<Path> folders, List<String> options) {
        this(fileName, folders, List.of(compiler), concat(List.of(compiler, "-o", FILE, SOURCES), options));
    }

    /**
     * A library that is built by a makefile, which is told by {@code OUT} what to build.
     *
     * @param fileName the name of the library's file
     * @param compiler the compiler that the makefile uses
     * @param folders where the makefile is, and after it where the rest is that the library is built from
     * @param variables what the makefile is told besides
     */
    public static NativeLibrary ofMake(
            String fileName, String compiler, List<Path> folders, List<String> variables) {
        // Unconditionally: the file is there already, empty, and that it is older than its sources was found out here.
        List<String> make = List.of("make", "-B", "-C", folders.get(0).toString(), "OUT=" + FILE);
        return new NativeLibrary(fileName, folders, List.of("make", compiler), concat(make, variables));
    }

    private static List<String> concat(List<String> one, List<String> two) {
        return Stream.concat(one.stream(), two.stream()).toList();
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
        for (String program : programs) {
            if (!isInstalled(program)) {
                unavailable("no program " + program, new NoSuchFileException(program));
            }
        }
        List<String> sources = inputs.stream()
                .map(Path::toString)
                .filter(input -> input.endsWith(".c") || input.endsWith(".m"))
                .toList();
        List<String> words = command.stream()
                .flatMap(word -> word.equals(SOURCES) ? sources.stream() : Stream.of(word.replace(FILE, to.toString())))
                .toList();
        ProcessResult result = ChildProcess.of(words.get(0))
                .arguments(words.subList(1, words.size()))
                .run();
        if (result.exitCode() != 0) {
            throw new AssertionError(String.join(" ", words) + "\n" + result.output());
        }
    }

    private static boolean isInstalled(String program) {
        String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
        return Arrays.stream(path.split(File.pathSeparator))
                .anyMatch(folder -> Files.isExecutable(Path.of(folder).resolve(program)));
    }
}
