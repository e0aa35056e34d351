package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.brickprofiler.testing.AllocatedBytes;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** A record allocates nothing while its chunk has room, compiled or interpreted. */
final class ChecksumAllocationTest {

    private static final int FIRST_CALLS = 24;
    private static final int CALLS = 1000;
    private static final int STRETCHES = 40;

    @Spec("10.3")
    @Test
    void noRecordAllocates() {
        assertThat(allocatedBytes())
                .allSatisfy((path, bytes) -> assertThat(bytes).as(path).isZero());
    }

    @Test
    void noRecordAllocatesInInterpretedCode() throws IOException {
        ProcessResult interpreted = ChildProcess.java(ChecksumAllocationTest.class)
                .jvmOptions(List.of("-Xint"))
                .run()
                .assertSucceeded();
        assertThat(interpreted.output()).contains("array=0");
    }

    /** A chunk is allocated when its first row is used, and is as large as the options demand. */
    @Spec("10.3")
    @Test
    void aChunkIsAllocatedForEveryThousandEntries() {
        ChecksumLog log = new ChecksumLog();
        float[] output = new float[1];
        log.record("a", 0, 0, output);
        long bytes = AllocatedBytes.ofCalls(ChecksumColumns.CHUNK_ROWS, () -> log.record("a", 0, 0, output));
        assertThat(bytes / (double) ChecksumColumns.CHUNK_ROWS).isBetween(36.0, 48.0);
    }

    /** The main method of the interpreted run: prints the bytes of each path, and fails if any is not 0. */
    public static void main(String[] args) {
        Map<String, Long> bytes = allocatedBytes();
        System.out.println(bytes);
        System.exit(bytes.values().stream().allMatch(each -> each == 0) ? 0 : 1);
    }

    private static Map<String, Long> allocatedBytes() {
        ChecksumLog log = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(8));
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

    /** Returns the fewest bytes that one of several stretches of calls within one chunk allocates. */
    private static long bytesOf(ChecksumLog log, IntConsumer path) {
        return AllocatedBytes.fewest(STRETCHES, () -> {
            log.reset();
            make(FIRST_CALLS, path);
            return AllocatedBytes.of(() -> make(CALLS, path));
        });
    }

    private static void make(int calls, IntConsumer path) {
        for (int call = 0; call < calls; call++) {
            path.accept(call);
        }
    }
}
