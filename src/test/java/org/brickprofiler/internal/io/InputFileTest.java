package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class InputFileTest {

    @Test
    void anUnexpectedFailureNamesTheFileAndThePlace() throws IOException {
        InternalError failure = new InternalError("no such type");

        assertThatThrownBy(() -> InputFile.guarded("a.jfr", () -> {
                    throw failure;
                }))
                .isInstanceOf(IOException.class)
                .hasCause(failure)
                .hasMessageStartingWith("cannot read a.jfr: the file is damaged, or its reader has a fault:"
                        + " java.lang.InternalError: no such type at " + InputFileTest.class.getName());
        assertThat(InputFile.<String>guarded("a", () -> "content")).isEqualTo("content");
    }

    @Spec("20.8")
    @Test
    void aMissingLibraryIsNoFaultOfTheFile() {
        assertThatThrownBy(() -> InputFile.guarded("a.json", () -> {
                    throw new NoClassDefFoundError("org/a/B");
                }))
                .hasMessage("cannot read a.json: the class org.a.B of a library is not on the class path");
        assertThatThrownBy(() -> InputFile.guarded("a.json", () -> {
                    throw new UnsatisfiedLinkError("no a in java.library.path");
                }))
                .hasMessage("cannot read a.json: a native library cannot be loaded: no a in java.library.path");
    }

    @Test
    void anExpectedFailureStaysAsItIs() {
        IOException failure = new IOException("cannot read a: permission denied");

        assertThatThrownBy(() -> InputFile.guarded("a", () -> {
                    throw failure;
                }))
                .isSameAs(failure);
        assertThatThrownBy(() -> InputFile.guarded("a", () -> {
                    throw new UncheckedIOException(failure);
                }))
                .isSameAs(failure);
    }
}
