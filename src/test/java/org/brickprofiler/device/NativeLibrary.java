package org.brickprofiler.device;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.ProcessResult;

/**
 * A native library that tests build for themselves, once, and load. Several virtual machines may build one at the same
 * time: each writes a file of its own and renames it.
 *
 * <p>Where a machine cannot build it the test is skipped, or fails; see {@link Fixture}.
 *
 * @param fixture what the library is a part of
 * @param fileName the name of the library's file
 * @param folders where everything is that it is built from
 * @param programs what has to be installed to build it, the compiler last
 * @param command what builds it, with {@link #FILE} and {@link #SOURCES} in it
 */
public record NativeLibrary(
        Fixture fixture, String fileName, List<Path> folders, List<String> programs, List<String> command) {

    /** Stands for the file to be built, also inside of an argument. */
    private static final String FILE = "<file>";

    /** Stands for all files that end in {@code .c} or {@code .m}. */
    private static final String SOURCES = "<sources>";

    private static final Path TARGET = Path.of("target", "native-test");

    /** Beside the folder: without a compiler, that one stays empty. */
    private static final Path LOCK = Path.of("target", "native-test.lock");

    private static final Map<NativeLibrary, Path> BUILT = new ConcurrentHashMap<>();

    public NativeLibrary {
        folders = List.copyOf(folders);
        programs = List.copyOf(programs);
        command = List.copyOf(command);
    }

    /**
     * A library that is built by a compiler.
     *
     * @param fixture what the library is a part of
     * @param fileName the name of the library's file
     * @param compiler the compiler's command
     * @param folders where the sources are and the headers that they include; what ends in {@code .c} or {@code .m} is
     *     compiled
     * @param options what the compiler is told besides, libraries to link among it: it comes after the sources
     */
    public NativeLibrary(Fixture fixture, String fileName, String compiler, List<Path> folders, List<String> options) {
        this(fixture, fileName, folders, List.of(compiler), concat(List.of(compiler, "-o", FILE, SOURCES), options));
    }

    /**
     * A library that is built by a makefile, which is told by {@code OUT} what to build.
     *
     * @param fixture what the library is a part of
     * @param fileName the name of the library's file
     * @param compiler the compiler that the makefile uses
     * @param folders where the makefile is, and after it where the rest is that the library is built from
     * @param variables what the makefile is told besides
     */
    public static NativeLibrary ofMake(
            Fixture fixture, String fileName, String compiler, List<Path> folders, List<String> variables) {
        // Unconditionally: the file is there already, empty, and that it is older than its sources was found out here.
        List<String> make = List.of("make", "-B", "-C", folders.get(0).toString(), "OUT=" + FILE);
        return new NativeLibrary(fixture, fileName, folders, List.of("make", compiler), concat(make, variables));
    }

    private static List<String> concat(List<String> one, List<String> two) {
        return Stream.concat(one.stream(), two.stream()).toList();
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
        // A folder for each recipe, the same in every virtual machine: what another one left there is not this library.
        int recipe = Objects.hash(fileName, folders, programs, command);
        Path folder = TARGET.resolve(Integer.toHexString(recipe)).toAbsolutePath();
        Path file = folder.resolve(fileName);
        List<Path> inputs = inputs();
        Files.createDirectories(TARGET.toAbsolutePath().getParent());
        // The virtual machines that run tests side by side take turns: a library that one has loaded is not replaced.
        try (FileChannel turn = FileChannel.open(LOCK, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            turn.lock();
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
        programs.forEach(fixture::needProgram);
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
            fixture.needWorking(programs.get(programs.size() - 1));
            throw new AssertionError(String.join(" ", words) + "\n" + result.output());
        }
    }
}
