package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Timeline;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Traces that are much larger than the heap. */
@Spec("13.11")
@Timeout(120)
final class TraceWriterIT {

    private static final long SPANS = 4_000_000;

    @TempDir
    Path folder;

    /** The writers. */
    enum Format {
        PERFETTO {
            @Override
            void write(Timeline timeline, OutputStream out) throws IOException {
                PerfettoWriter.write(timeline, out);
            }
        },
        CHROME {
            @Override
            void write(Timeline timeline, OutputStream out) throws IOException {
                ChromeWriter.write(timeline, out);
            }
        };

        abstract void write(Timeline timeline, OutputStream out) throws IOException;
    }

    /** Runs in the process with the small heap. */
    static final class Probe {
        private Probe() {}

        public static void main(String[] arguments) throws IOException {
            CountingStream out = new CountingStream();
            Format.valueOf(arguments[0]).write(new ManySpans(SPANS, true), out);
            Files.writeString(Path.of(arguments[1]), Long.toString(out.bytes()));
        }
    }

    @ParameterizedTest
    @EnumSource
    void millionsOfSpansAreWrittenWith64MegabytesOfHeap(Format format) throws Exception {
        Path answer = folder.resolve("bytes");
        ChildProcess.java(Probe.class)
                .jvmOptions(List.of("-Xmx64m"))
                .arguments(List.of(format.name(), answer.toString()))
                .run()
                .assertSucceeded();
        assertThat(Long.parseLong(Files.readString(answer))).isGreaterThan(SPANS * 30);
    }
}
