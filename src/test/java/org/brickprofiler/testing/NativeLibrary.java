package org.brickprofiler.testing;

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

/**
 * A native library that tests build for themselves, once, and load. Virtual machines that need one at the same time
 * take turns, and each writes a temporary file and renames it.
 *
 * <p>If the machine cannot build it, the test is skipped or fails; see {@link Fixture}.
 *
 * @param fixture what the library is a part of
 * @param fileName the name of the library's file
 * @param folders the folders with everything that it is built from
 * @param programs the programs that must be installed to build it, the compiler last
 * @param command the command that builds it, in which {@link #FILE} and {@link #SOURCES} are replaced
 */
public record NativeLibrary(
        Fixture fixture, String fileName, List<Path> folders, List<String> programs, List<String> command) {

    /** Stands for the file to be built, also inside of an argument. */
    private static final String FILE = "<file>";

    /** Stands for all files that end in {@code .c} or {@code .m}. */
    private static final String SOURCES = "<sources>";

    private static final Path TARGET = SourceTree.path("gpu", "target", "native-test");

    /** Lies beside {@link #TARGET}, in which there are no files without a compiler. */
    private static final Path LOCK = SourceTree.path("gpu", "target", "native-test.lock");

    private static final Map<NativeLibrary, Path> BUILT = new ConcurrentHashMap<>();

    public NativeLibrary {
        folders = List.copyOf(folders);
        programs = List.copyOf(programs);
        command = List.copyOf(command);
    }

    /**
     * Makes a library that a compiler builds.
     *
     * @param fixture what the library is a part of
     * @param fileName the name of the library's file
     * @param compiler the compiler's command
     * @param folders the folders with the sources and the headers that they include; files that end in {@code .c} or
     *     {@code .m} are compiled
     * @param options the compiler's other options, which come after the sources, for instance libraries to link
     */
    public NativeLibrary(Fixture fixture, String fileName, String compiler, List<Path> folders, List<String> options) {
        this(fixture, fileName, folders, List.of(compiler), concat(List.of(compiler, "-o", FILE, SOURCES), options));
    }

    /**
     * Returns a library that a makefile builds; the variable {@code OUT} is the file to build.
     *
     * @param fixture what the library is a part of
     * @param fileName the name of the library's file
     * @param compiler the compiler that the makefile uses
     * @param folders the makefile's folder, and then the other folders that the library is built from
     * @param variables the makefile's other variables
     */
    public static NativeLibrary ofMake(
            Fixture fixture, String fileName, String compiler, List<Path> folders, List<String> variables) {
        // Unconditionally: make would find the empty temporary file up to date. upToDate() has decided to build.
        List<String> make = List.of("make", "-B", "-C", folders.get(0).toString(), "OUT=" + FILE);
        return new NativeLibrary(fixture, fileName, folders, List.of("make", compiler), concat(make, variables));
    }

    private static List<String> concat(List<String> one, List<String> two) {
        return Stream.concat(one.stream(), two.stream()).toList();
    }

    /** Builds the library if it is missing or older than its sources, and loads it into this virtual machine. */
    public Path load() {
        Path file = build();
        System.load(file.toString());
        return file;
    }

    /** Builds the library if it is missing or older than its sources. */
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
        // Each recipe has its own folder, the same in every virtual machine, so that no other recipe's file is taken
        // for this library.
        int recipe = Objects.hash(fileName, folders, programs, command);
        Path folder = TARGET.resolve(Integer.toHexString(recipe)).toAbsolutePath();
        Path file = folder.resolve(fileName);
        List<Path> inputs = inputs();
        Files.createDirectories(TARGET.toAbsolutePath().getParent());
        // Virtual machines that run tests side by side take turns, so that none replaces a library that another has
        // loaded.
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

    /** Returns all files of the folders, in order: sources, headers and makefiles. */
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
