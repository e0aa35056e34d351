package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.NativeLibrary;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.opentest4j.TestAbortedException;

/**
 * Libraries are built once in a virtual machine. A library that cannot be built skips or fails the test with the
 * reason.
 */
class NativeLibraryTest {

    private static final String REQUIRED = "brick.native.required";

    @TempDir
    Path folder;

    private Path source;

    @BeforeEach
    void write() throws IOException {
        source = Files.writeString(folder.resolve("one.c"), "int one(void) { return 1; }\n");
    }

    private NativeLibrary library(String compiler, String option) {
        return new NativeLibrary(
                Fixture.COMPILER, "libone.so", compiler, List.of(folder), List.of("-shared", "-fPIC", option));
    }

    @Test
    void isBuiltOnceInAVirtualMachine() throws IOException {
        Path built = library("cc", "-O1").build();
        FileTime before = Files.getLastModifiedTime(built);
        Files.setLastModifiedTime(source, FileTime.fromMillis(before.toMillis() + 60_000));

        assertThat(library("cc", "-O1").build()).isEqualTo(built);
        assertThat(Files.getLastModifiedTime(built)).isEqualTo(before);
        assertThat(library("cc", "-O2").build()).isNotEqualTo(built).exists();
    }

    @Test
    void whatDoesNotCompileIsAFailure() throws IOException {
        Fixture.COMPILER.needProgram("cc");
        Files.writeString(source, "int one(void) { return }\n");
        assertThatThrownBy(() -> library("cc", "-O1").build())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("one.c:1:");
    }

    @Test
    void aMakefileBuildsIt() throws IOException {
        Files.writeString(folder.resolve("Makefile"), "$(OUT): one.c\n\tcc -shared -fPIC $(LEVEL) -o $@ one.c\n");
        Path built = made("-O1", "cc").build();
        assertThat(built).isNotEmptyFile().hasFileName("libone.so");
        assertThat(built.resolveSibling("")).isDirectoryContaining(built::equals);

        assertThatThrownBy(() -> made("--no-such-option", "cc").build())
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("--no-such-option");
    }

    @Test
    void withoutTheCompilerOfItsMakefileTheTestIsSkippedUnlessLibrariesAreRequired() throws IOException {
        Fixture.COMPILER.needProgram("make");
        Files.writeString(folder.resolve("Makefile"), "$(OUT):\n\ttouch $@\n");
        assertUnavailable(made("", "no-such-compiler"), "no program no-such-compiler");
    }

    private NativeLibrary made(String level, String compiler) {
        return NativeLibrary.ofMake(
                Fixture.COMPILER, "libone.so", compiler, List.of(folder), List.of("LEVEL=" + level));
    }

    @Test
    void withoutACompilerTheTestIsSkippedUnlessLibrariesAreRequired() {
        assertUnavailable(library("no-such-compiler", "-O1"), "no program no-such-compiler");
    }

    @Test
    void withACompilerThatCompilesNothingTheTestIsSkippedUnlessLibrariesAreRequired() {
        // Like a compiler whose headers are not installed.
        assertUnavailable(library("false", "-O1"), "false does not work: exit code 1");
    }

    private static void assertUnavailable(NativeLibrary library, String reason) {
        String before = System.getProperty(REQUIRED);
        try {
            System.setProperty(REQUIRED, "false");
            assertThatThrownBy(library::build)
                    .isInstanceOf(TestAbortedException.class)
                    .hasMessage("the C compiler itself: " + reason);
            System.setProperty(REQUIRED, "true");
            assertThatThrownBy(library::build)
                    .isInstanceOf(AssertionError.class)
                    .hasMessage("the C compiler itself: " + reason);
        } finally {
            if (before == null) {
                System.clearProperty(REQUIRED);
            } else {
                System.setProperty(REQUIRED, before);
            }
        }
    }
}
