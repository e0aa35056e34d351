package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Damaged profiles of XLA and of AMD's tools: for each format, 20 truncated files and 20 files with overwritten bytes.
 * The reader refuses a damaged file or reports the damage, except that a table may end after any row, and that
 * overwritten bytes may leave the total unchanged. The total of a truncated file never exceeds that of the whole file.
 */
@OneJdk
final class DamagedDeviceProfilesTest {

    private static final int FILES = 20;
    private static final int OVERWRITTEN = 64;
    private static final int TABLE_BYTES = 8_685;
    private static final ReadOptions STRICT = ReadOptions.defaults().withKeepWarmup(true);
    private static final ReadOptions SALVAGE = STRICT.withSalvage(true);
    private static final Path TRACES = Path.of("src", "test", "resources", "traces");

    private static byte[] bytes(String file) throws IOException {
        byte[] bytes = Files.readAllBytes(TRACES.resolve(file));
        if (!file.endsWith(".gz")) {
            return bytes;
        }
        try (GZIPInputStream in = new GZIPInputStream(new ByteArrayInputStream(bytes))) {
            // The first rows of a table are a valid, smaller table.
            return file.endsWith(".csv.gz") ? in.readNBytes(TABLE_BYTES) : in.readAllBytes();
        }
    }

    private static Stream<String> files() {
        return Stream.of(
                "jax-cpu.xplane.pb.gz",
                "jax-cpu.trace.json.gz",
                "rpd-matmul.rpd.gz",
                "rpd-matmul.tracing.json.gz",
                "rocprofv1-laplacian.db.gz",
                "rocprofv1-laplacian.csv.gz",
                "rocprofv3/kernel_trace.csv");
    }

    private static boolean isReported(TraceProfile profile) {
        return !Omissions.faults(profile.omissions()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("files")
    void aFileThatWasCutIsNeverReadInSilence(String file) throws IOException {
        byte[] whole = bytes(file);
        long wholeNs = Traces.read(whole, STRICT).snapshot().totalNs();
        for (int i = 1; i <= FILES; i++) {
            byte[] cut = Arrays.copyOf(whole, (int) ((long) whole.length * i / (FILES + 1)));
            String which = file + ", cut to " + cut.length;

            try {
                TraceProfile read = Traces.read(cut, STRICT);
                // A table may end after any row, and a bare array after any event, which is reported.
                assertThat(isReported(read) || file.contains(".csv")).as(which).isTrue();
                assertThat(read.snapshot().totalNs()).as(which).isLessThanOrEqualTo(wholeNs);
            } catch (TraceFormatException refused) {
                assertThat(refused.fault()).as(which).isNotBlank();
            }
            try {
                TraceProfile salvaged = Traces.read(cut, SALVAGE);
                assertThat(isReported(salvaged) || file.contains(".csv"))
                        .as(which)
                        .isTrue();
                assertThat(salvaged.snapshot().totalNs()).as(which).isLessThanOrEqualTo(wholeNs);
            } catch (TraceFormatException refused) {
                assertThat(refused.isDamage()).as("%s: %s", which, refused).isFalse();
            }
        }
    }

    @ParameterizedTest
    @MethodSource("files")
    void overwrittenBytesAreNeverReadInSilence(String file) throws IOException {
        byte[] whole = bytes(file);
        long wholeNs = Traces.read(whole, STRICT).snapshot().totalNs();
        for (int i = 1; i <= FILES; i++) {
            byte[] damaged = whole.clone();
            int from = (int) ((long) whole.length * i / (FILES + 1));
            Arrays.fill(damaged, from, Math.min(whole.length, from + OVERWRITTEN), (byte) 0xff);
            String which = file + ", overwritten at " + from;

            for (ReadOptions options : new ReadOptions[] {STRICT, SALVAGE}) {
                try {
                    TraceProfile read = Traces.read(damaged, options);
                    boolean isWhole = read.snapshot().totalNs() == wholeNs;
                    assertThat(isReported(read) || isWhole)
                            .as("%s: %s", which, read)
                            .isTrue();
                } catch (TraceFormatException refused) {
                    assertThat(refused.fault()).as(which).isNotBlank();
                }
            }
        }
    }
}
