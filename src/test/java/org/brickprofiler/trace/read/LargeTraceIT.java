package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A trace that is several times larger than the heap it is read in. */
@Timeout(110)
final class LargeTraceIT {

    private static final String HEAP = "-Xmx64m";
    private static final long KERNELS = 409_600;
    private static final long LEAST_BYTES = 250_000_000;

    @TempDir
    Path folder;

    @Test
    void isReadInASmallHeapAndLeavesNoFile() throws IOException, InterruptedException {
        List<String> figures = run(KERNELS, 100);

        assertThat(Long.parseLong(figures.get(0))).isGreaterThan(LEAST_BYTES);
        assertThat(figures.subList(1, figures.size()))
                .containsExactly(
                        Long.toString(3 * KERNELS + 1),
                        Long.toString(KERNELS),
                        Long.toString(3_000 * KERNELS),
                        Long.toString(3_000 * KERNELS),
                        Long.toString(5_000 * (KERNELS - 1) + 3_000),
                        "100",
                        "0");
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void moreNamesThanAreKeptFitToo() throws IOException, InterruptedException {
        List<String> figures = run(KERNELS / 8, 40_000);

        assertThat(figures.get(2)).isEqualTo(Long.toString(KERNELS / 8));
        assertThat(figures.get(6)).isEqualTo("4059");
    }

    private List<String> run(long kernels, int names) throws IOException, InterruptedException {
        Path out = Files.createTempFile("large-trace", ".out");
        try {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                            "-XX:-UsePerfData", HEAP, "-Djava.io.tmpdir=" + folder, "-cp",
                            System.getProperty("java.class.path"), LargeTrace.class.getName(), Long.toString(kernels),
                            Integer.toString(names))
                    .redirectErrorStream(true)
                    .redirectOutput(out.toFile())
                    .start();
            try {
                assertThat(process.waitFor()).as(() -> text(out)).isZero();
                return Pattern.compile(" ").splitAsStream(text(out).strip()).toList();
            } finally {
                process.destroyForcibly();
            }
        } finally {
            Files.delete(out);
        }
    }

    private static String text(Path file) {
        try {
            return Files.readString(file, UTF_8);
        } catch (IOException unreadable) {
            return unreadable.toString();
        }
    }
}
