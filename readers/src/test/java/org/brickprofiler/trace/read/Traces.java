package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;

/** Traces to read, invariants of every profile, and refusals. */
final class Traces {

    static final Path MOE = Path.of("src", "test", "resources", "traces", "moe30b-decode-c16.json.gz");
    static final Path SIMPLE_ADD = Path.of("src", "test", "resources", "traces", "kineto-simple-add.json.gz");
    static final Path NSIGHT = Path.of("src", "test", "resources", "traces", "nsight-fsdp-h100.sqlite.gz");
    static final Path RPD = Path.of("src", "test", "resources", "traces", "rpd-matmul.json.gz");
    static final Path XLA = Path.of("src", "test", "resources", "traces", "xla-mi300-conv.json.gz");
    static final Path TORNADO = Path.of("src", "test", "resources", "traces", "tornadovm-invented.json");
    static final Path TRAINING = Path.of("src", "test", "resources", "traces", "kineto-training-step.json.gz");

    private Traces() {}

    /** Returns the traces of the tests. */
    static Stream<Path> real() throws IOException {
        try (Stream<Path> files = Files.list(MOE.getParent())) {
            return files
                    .filter(Files::isRegularFile)
                    .filter(file -> !file.toString().matches(".*\\.(md|txt)"))
                    .toList()
                    .stream();
        }
    }

    static TraceProfile read(String json) throws IOException {
        return read(json, ReadOptions.defaults());
    }

    static TraceProfile read(String json, ReadOptions options) throws IOException {
        return read(json.getBytes(UTF_8), options);
    }

    static TraceProfile read(byte[] bytes, ReadOptions options) throws IOException {
        TraceProfile reading = TraceReader.profile(new ByteArrayInputStream(bytes), options);
        assertAccounted(reading);
        return reading;
    }

    static TraceProfile read(Path path, ReadOptions options) throws IOException {
        TraceProfile reading = TraceReader.profile(path, options);
        assertAccounted(reading);
        return reading;
    }

    /** Asserts that each event is counted, left out, ignored or dropped, and that the times are consistent. */
    static void assertAccounted(TraceProfile reading) {
        long ignored = Omissions.ignored(reading).values().stream()
                .mapToLong(Long::longValue)
                .sum();
        assertThat(reading.eventsCounted() + reading.events(Effect.LEFT_OUT) + ignored + reading.events(Effect.DROPPED))
                .as("counted, left out, ignored and dropped events of %s", reading)
                .isEqualTo(reading.eventsRead());
        assertThat(reading.snapshot().samples()).isEqualTo(reading.eventsCounted());
        assertThat(reading.snapshot().wallNs()).isEqualTo(reading.wallNs());
        assertThat(reading.busyNs()).isBetween(0L, reading.wallNs());
        boolean hasTimes = reading.counting().hasTimes();
        assertThat(reading.idleNs()).isEqualTo(hasTimes ? reading.wallNs() - reading.busyNs() : 0);
        assertThat(reading.unmatched().elapsedNs())
                .isBetween(0L, reading.snapshot().totalNs());
        boolean overlaps = reading.omissions().stream()
                .map(Omission::reason)
                .anyMatch(reason -> reason == Reason.OVERLAP || reason == Reason.CONCURRENT);
        if (hasTimes && reading.rows() == 1 && !overlaps && reading.counting() != TraceProfile.Counting.BRICKS) {
            assertThat(reading.snapshot().totalNs()).isLessThanOrEqualTo(reading.busyNs());
        }
    }

    static TraceFormatException refused(ThrowingCallable reading) {
        return assertThatExceptionOfType(TraceFormatException.class)
                .isThrownBy(reading)
                .actual();
    }

    static TraceFormatException refused(String text) {
        return refused(() -> read(text));
    }

    static byte[] packed(String json) {
        return packed(json.getBytes(UTF_8));
    }

    static byte[] packed(byte[] text) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text);
        } catch (IOException impossible) {
            throw new AssertionError(impossible);
        }
        return bytes.toByteArray();
    }

    /** A complete event of row 1/1. */
    static String slice(String name, long ts, long dur) {
        return slice(name, "plain", 1, ts, dur);
    }

    static String slice(String name, String cat, int tid, long ts, long dur) {
        return "{\"ph\":\"X\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d}"
                .formatted(name, cat, tid, ts, dur);
    }

    static String array(String... events) {
        return "[" + String.join(",\n", events) + "]";
    }

    static String object(String... events) {
        return "{\"schemaVersion\": 1, \"traceEvents\": " + array(events) + ", \"traceName\": \"t\"}";
    }

    static long totalNs(TraceProfile reading, String brick) {
        return reading.snapshot().brick(brick).orElseThrow().totalNs();
    }

    static Omission repair(TraceProfile reading, Reason kind) {
        return Omissions.faults(reading.omissions()).stream()
                .filter(repair -> repair.reason() == kind)
                .findFirst()
                .orElseThrow(() -> new AssertionError(kind + " is not in " + Omissions.faults(reading.omissions())));
    }
}
