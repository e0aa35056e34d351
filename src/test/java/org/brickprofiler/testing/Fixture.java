package org.brickprofiler.testing;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.opentest4j.TestAbortedException;

/**
 * Programs and libraries that some tests need beside the JDK and Maven. On a machine without a fixture, its tests are
 * skipped, with a reason that begins with the fixture's title. With the environment variable
 * {@code BRICK_NATIVE_REQUIRED=true} or the system property {@code brick.native.required=true}, they fail instead; the
 * property takes precedence.
 */
public enum Fixture {

    /** CUDA's driver, simulated in C. */
    CUDA("the simulated CUDA driver", "c", "#include <stdio.h>\n", "gcc libc6-dev"),

    /** Metal, simulated in Objective-C. */
    METAL(
            "the simulated Metal",
            "m",
            "#import <Foundation/Foundation.h>\n#include <objc/objc.h>\n#include <Block.h>\n",
            "make clang libobjc-12-dev libgnustep-base-dev libblocksruntime-dev"),

    /** PoCL, a driver of OpenCL that runs on the processor. */
    OPENCL("the OpenCL driver PoCL", "", "", "pocl-opencl-icd ocl-icd-libopencl1"),

    /** A processor of aarch64, which qemu emulates, with the simulated CUDA driver for it. */
    AARCH64(
            "an emulated aarch64",
            "c",
            "#include <stdio.h>\n",
            "qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),

    /** The compiler and the tools that build the native libraries. */
    COMPILER("the C compiler itself", "c", "#include <stdio.h>\n", "gcc libc6-dev make"),

    /** The program {@code dot}. */
    GRAPHVIZ("Graphviz", "", "", "graphviz"),

    /** Chromium, or a browser made of it. */
    BROWSER("a browser", "", "", "chromium"),

    /** The program {@code groff}, which formats manual pages. */
    GROFF("groff", "", "", "groff"),

    /** The program {@code script}, which runs another one in a pseudo-terminal. */
    TERMINAL("a pseudo-terminal", "", "", "bsdutils"),

    /** The server {@code prometheus}, and its {@code promtool}. */
    PROMETHEUS("the Prometheus server", "", "", "prometheus");

    private final String title;
    private final String language;
    private final String smallest;
    private final String packages;

    Fixture(String title, String language, String smallest, String packages) {
        this.title = title;
        this.language = language;
        this.smallest = smallest;
        this.packages = packages;
    }

    /**
     * Aborts a test whose fixture is missing. The type distinguishes it from tests that are skipped for other reasons.
     */
    static final class Missing extends TestAbortedException {

        private static final long serialVersionUID = 1;

        Missing(String message) {
            super(message);
        }
    }

    /** Returns the fixture's name in messages. */
    public String title() {
        return title;
    }

    /** Returns the Debian packages that contain the fixture. */
    public List<String> packages() {
        return List.of(packages.split(" "));
    }

    /**
     * Skips the test, or fails it if fixtures are required.
     *
     * @param reason the missing fixture
     * @return never
     */
    public AssertionError missing(String reason) {
        String message = title + ": " + reason;
        if (isRequired()) {
            throw new AssertionError(message);
        }
        throw new Missing(message);
    }

    private static boolean isRequired() {
        String set = System.getProperty("brick.native.required", "");
        return Boolean.parseBoolean(set.isEmpty() ? System.getenv("BRICK_NATIVE_REQUIRED") : set);
    }

    /** Skips the test, or fails it if fixtures are required, if a program is in no folder of the path. */
    public void needProgram(String program) {
        needOneOf(List.of(program));
    }

    /**
     * Returns the first of several programs that is in a folder of the path. If there is none, skips the test, or fails
     * it if fixtures are required.
     *
     * @return one of the programs
     */
    public String needOneOf(List<String> programs) {
        String path = Objects.requireNonNullElse(System.getenv("PATH"), "");
        List<Path> folders =
                Arrays.stream(path.split(File.pathSeparator)).map(Path::of).toList();
        return programs.stream()
                .filter(program -> folders.stream().anyMatch(folder -> Files.isExecutable(folder.resolve(program))))
                .findFirst()
                .orElseThrow(() -> missing("no program " + String.join(", ", programs)));
    }

    /**
     * Skips the test, or fails it if fixtures are required, if a compiler that was found does not work, because headers
     * and libraries are separate packages. The compiler gets the smallest source that includes them.
     */
    public void needWorking(String compiler) throws IOException {
        List<String> options = this == METAL
                ? List.of("-fblocks", "@" + SourceTree.path("gpu", "src", "test", "native", "metal", "linux.flags"))
                : List.of();
        Path folder = Files.createTempDirectory("fixture");
        try {
            Path source = Files.writeString(folder.resolve("smallest." + language), smallest);
            ProcessResult result = ChildProcess.of(compiler)
                    .arguments(List.of(
                            "-shared",
                            "-fPIC",
                            "-o",
                            folder.resolve("smallest.so").toString()))
                    .arguments(List.of(source.toString()))
                    .arguments(options)
                    .run();
            if (result.exitCode() != 0 || !Files.exists(folder.resolve("smallest.so"))) {
                throw missing(compiler + " does not work: "
                        + result.output().lines().findFirst().orElse("exit code " + result.exitCode()));
            }
        } finally {
            Files.deleteIfExists(folder.resolve("smallest.so"));
            Files.deleteIfExists(folder.resolve("smallest." + language));
            Files.delete(folder);
        }
    }
}
