package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A record allocates nothing while its chunk has room, compiled or interpreted. The least of some stretches counts,
 * since the virtual machine itself allocates on the thread now and then.
 */
final class ChecksumAllocationTest {

    private static final int FIRST_CALLS = 24;
    private static final int CALLS = 1000;
    private static final int STRETCHES = 40;

    private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

    @Test
    void noRecordAllocates() {
        assertThat(allocatedBytes()).allSatisfy((path, bytes) -> assertThat(bytes).as(path).isZero());
    }

    @Test
    void noRecordAllocatesInInterpretedCode() throws IOException, InterruptedException {
        Process interpreted = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xint",
                        "-cp",
                        System.getProperty("java.class.path"),
                        ChecksumAllocationTest.class.getName())
                .redirectErrorStream(true)
                .start();
        String output = new String(interpreted.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(interpreted.waitFor()).as(output).isZero();
        assertThat(output).contains("array=0");
    }

    /** A chunk is allocated when its first row is used, and is as large as the options say. */
    @Test
    void aChunkIsAllocatedForEveryThousandEntries() {
        ChecksumLog log = new ChecksumLog();
        float[] output = new float[1];
        log.record("a", 0, 0, output);
        long before = currentBytes();
        for (int i = 0; i < ChecksumColumns.CHUNK_ROWS; i++) {
            log.record("a", 0, 0, output);
        }
        assertThat((currentBytes() - before) / (double) ChecksumColumns.CHUNK_ROWS).isBetween(36.0, 48.0);
    }

    /** What the interpreted run does: prints the bytes of each path, and fails where one is not 0. */
    public static void main(String[] args) {
        Map<String, Long> bytes = allocatedBytes();
        System.out.println(bytes);
        System.exit(bytes.values().stream().allMatch(each -> each == 0) ? 0 : 1);
    }

    private static Map<String, Long> allocatedBytes() {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(8), String::length);
        ChecksumLog full = new ChecksumLog(ChecksumOptions.DEFAULT.withCapacity(1));
        String[] names = {"RmsNorm", "QkvProjection", "custom"};
        float[] array = Logs.floats(128, 0.5f);
        FloatBuffer floats = FloatBuffer.wrap(array);
        ByteBuffer direct = ByteBuffer.allocateDirect(512);
        Map<String, Long> bytes = new LinkedHashMap<>();
        bytes.put("array", bytesOf(log, i -> log.record(names[i % 3], 1, i, array)));
        bytes.put("part of an array", bytesOf(log, i -> log.record(names[i % 3], 1, i, array, 3, 70)));
        bytes.put("floats", bytesOf(log, i -> log.record(names[i % 3], 1, i, floats)));
        bytes.put("bytes", bytesOf(log, i -> log.record(names[i % 3], 1, i, direct)));
        bytes.put("dropped", bytesOf(log, i -> full.record(names[i % 3], 1, i, array)));
        return bytes;
    }

    @FunctionalInterface
    private interface Call {
        void run(int call);
    }

    /** The fewest bytes of a stretch of calls that stays within one chunk. */
    private static long bytesOf(ChecksumLog log, Call path) {
        long fewest = Long.MAX_VALUE;
        for (int i = 0; i < STRETCHES && fewest > 0; i++) {
            log.reset();
            for (int call = 0; call < FIRST_CALLS; call++) {
                path.run(call);
            }
            // The first reading of a thread's bytes may itself allocate.
            currentBytes();
            long before = currentBytes();
            for (int call = 0; call < CALLS; call++) {
                path.run(call);
            }
            fewest = Math.min(fewest, currentBytes() - before);
        }
        return fewest;
    }

    private static long currentBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }
}
