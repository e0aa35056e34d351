package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.brickprofiler.trace.read.Traces.refused;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Packed files that are unpacked into a temporary file. */
@OneJdk
final class UnpackingTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();
    private static final int MIB = 1 << 20;

    @TempDir
    Path folder;

    /** Returns a beginning followed by zeros, packed to about a thousandth. */
    private static byte[] packed(String begin, int mebibytes) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(packed, 1 << 16)) {
            out.write(begin.getBytes(ISO_8859_1));
            byte[] zeros = new byte[MIB];
            for (int i = 0; i < mebibytes; i++) {
                out.write(zeros);
            }
        }
        return packed.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "SQLite format 3\0",
                "FLR\0\0\2\0\0",
                "\n\20\b\1\22\nXLA planes",
                "\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"
            })
    void aPackedFileThatUnpacksBeyondABoundIsRefused(String begin) throws IOException {
        byte[] packed = packed(begin, 80);
        Path file = Files.write(folder.resolve("a.gz"), packed);

        for (TraceFormatException refused : List.of(
                refused(() -> TraceReader.profile(file, OPTIONS)),
                refused(() -> TraceReader.profile(new ByteArrayInputStream(packed), OPTIONS)))) {
            assertThat(refused.fault())
                    .contains(" unpack to 67,1", " up to 100 times its size and 8 GiB")
                    .endsWith("; unpack it by hand, and read the result: gunzip -c FILE > UNPACKED");
            assertThat(refused.isDamage()).isFalse();
        }
    }

    @Test
    void soIsOneOfSeveralTables() throws IOException {
        String header = "\"Kind\",\"Agent_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n";
        Path file = Files.write(folder.resolve("7_kernel_trace.csv.gz"), packed(header, 80));

        try (InputStream tables = TraceReader.together(List.of(file))) {
            assertThatThrownBy(() -> tables.transferTo(OutputStream.nullOutputStream()))
                    .isInstanceOf(TraceFormatException.class)
                    .hasMessageStartingWith(file + ", offset 671")
                    .hasMessageContaining("unpack it by hand");
        }
    }

    @Test
    void aSmallFileMayUnpackToManyTimesItsSize() throws IOException {
        assertThat(refused(() -> TraceReader.profile(new ByteArrayInputStream(packed("FLR\0\0\2\0\0", 60)), OPTIONS))
                        .fault())
                .startsWith("the recording is damaged: ");
    }
}
