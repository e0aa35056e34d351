package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.testing.OneJdk;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Files of ONNX Runtime and of PyTorch's two profilers, each damaged in 20 ways. The reader refuses a damaged file, or
 * the profile lists a fault, and its times do not exceed those of the undamaged file.
 */
@OneJdk
final class DamagedProfilesTest {

    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int WAYS = 20;
    private static final int EVENTS = 150;

    /** Texts that the reader needs; the test overwrites them at several places of the file. */
    private static final String[] NEEDED = {"\"ts\"", "\"dur\"", "\"ph\"", "{", "}", ":"};

    private enum Format {
        ONNX_RUNTIME,
        KINETO,
        LEGACY;

        String text() throws IOException {
            if (this == ONNX_RUNTIME) {
                return unpacked("ort-decoder-merged.json.gz");
            }
            JsonNode trace = JSON.readTree(unpacked("torch-2.13-cpu.json.gz"));
            ArrayNode events = JSON.createArrayNode();
            for (JsonNode event : trace.get("traceEvents")) {
                if (events.size() < EVENTS && event.path("cat").asText().equals("cpu_op")) {
                    if (this == LEGACY) {
                        ((ObjectNode) event).remove("cat");
                        ((ObjectNode) event).put("pid", "CPU Functions");
                        ((ObjectNode) event).set("args", JSON.createObjectNode());
                    }
                    events.add(event);
                }
            }
            if (this == LEGACY) {
                return events.toString();
            }
            ((ObjectNode) trace).set("traceEvents", events);
            return trace.toString();
        }
    }

    private static String unpacked(String file) throws IOException {
        try (InputStream text = new GZIPInputStream(Files.newInputStream(TRACES.resolve(file)))) {
            return new String(text.readAllBytes(), UTF_8);
        }
    }

    static Stream<Arguments> damages() throws IOException {
        Stream.Builder<Arguments> all = Stream.builder();
        for (Format format : Format.values()) {
            byte[] whole = format.text().getBytes(UTF_8);
            IntStream.range(0, WAYS).forEach(way -> all.add(Arguments.of(format, way, whole)));
        }
        return all.build();
    }

    /** Truncates the text in ways 0 to 6 and the packed text in ways 7 to 11; ways 12 to 19 overwrite a needed text. */
    private static byte[] damaged(byte[] whole, int way) {
        if (way < 7) {
            return Arrays.copyOf(whole, (int) ((long) whole.length * (way + 1) / 8));
        }
        if (way < 12) {
            byte[] packed = Traces.packed(whole);
            return Arrays.copyOf(packed, packed.length * (way - 6) / 6);
        }
        String text = new String(whole, ISO_8859_1);
        String needed = NEEDED[way % NEEDED.length];
        int at = text.indexOf(needed, text.length() / 9 * (way - 11));
        return (text.substring(0, at) + "#".repeat(needed.length()) + text.substring(at + needed.length()))
                .getBytes(ISO_8859_1);
    }

    private static TraceProfile read(byte[] bytes, boolean salvage) throws IOException {
        return TraceReader.profile(
                new ByteArrayInputStream(bytes),
                ReadOptions.defaults().withKeepWarmup(true).withSalvage(salvage));
    }

    @ParameterizedTest(name = "{0} {1}")
    @MethodSource("damages")
    void aDamagedFileIsRefusedOrItsFaultsAreListed(Format format, int way, byte[] whole) throws IOException {
        TraceProfile expected = read(whole, false);
        byte[] damaged = damaged(whole, way);
        for (boolean salvage : new boolean[] {false, true}) {
            try {
                TraceProfile profile = read(damaged, salvage);

                Traces.assertAccounted(profile);
                assertThat(profile.omissions())
                        .as("faults of %s, damaged in way %d", format, way)
                        .anyMatch(Omission::isFault);
                assertThat(profile.snapshot().totalNs())
                        .isLessThanOrEqualTo(expected.snapshot().totalNs());
                assertThat(profile.wallNs()).isLessThanOrEqualTo(expected.wallNs());
            } catch (TraceFormatException refused) {
                assertThat(refused).hasMessageMatching("(?s).+offset \\d+.*");
            }
        }
    }
}
