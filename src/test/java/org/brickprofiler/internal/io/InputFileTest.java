package org.brickprofiler.internal.io;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.UncheckedIOException;
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
