package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.report.Finding;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Idle time of a device whose next work was not launched yet. */
final class WaitForHostTest {

    private static final long US = 1_000;

    private static String event(String name, String category, int row, long us, long lastsUs, int correlation) {
        return String.format(
                Locale.ROOT,
                "{\"ph\": \"X\", \"name\": \"%s\", \"cat\": \"%s\", \"pid\": %d, \"tid\": 1, \"ts\": %d, \"dur\": %d,"
                        + " \"args\": {\"correlation\": %d}}",
                name,
                category,
                row,
                us,
                lastsUs,
                correlation);
    }

    private static String launch(long us, int correlation) {
        return event("cudaLaunchKernel", "cuda_runtime", 0, us, 5, correlation);
    }

    private static String kernel(int stream, long us, long lastsUs, int correlation) {
        return event("product_gemm", "kernel", stream, us, lastsUs, correlation);
    }

    private static TraceProfile read(String... events) throws IOException {
        return Traces.read(Traces.object(events), ReadOptions.defaults().withKeepWarmup(true));
    }

    /**
     * Of the gap of 90 us before the second kernel, 40 us precede its launch; the third one waits for something else.
     */
    @Test
    void theGapBeforeALaunchIsAWaitForTheHost() throws IOException {
        TraceProfile reading = read(
                launch(50, 1),
                launch(150, 2),
                launch(152, 3),
                kernel(7, 100, 10, 1),
                kernel(7, 200, 10, 2),
                kernel(7, 260, 40, 3));

        assertThat(reading.idleNs()).isEqualTo(140 * US);
        assertThat(reading.unlaunchedNs()).hasValue(40 * US);
        assertThat(reading.candidates(reading.snapshot()))
                .extracting(Finding::sentence)
                .containsExactly("70.0 % of the time nothing ran, 140.0 us of 200.0 us; for 40.00 us of it the device "
                        + "waited for its host: what ran next was not launched yet.");
    }

    /** While another stream works, the device does not wait. */
    @Test
    void onlyGapsOfAllStreamsCount() throws IOException {
        TraceProfile reading = read(
                launch(50, 1),
                launch(52, 2),
                launch(180, 3),
                kernel(7, 100, 10, 1),
                kernel(8, 105, 85, 2),
                kernel(7, 200, 10, 3));

        assertThat(reading.idleNs()).isEqualTo(10 * US);
        assertThat(reading.unlaunchedNs()).hasValue(0);
        assertThat(reading.candidates(reading.snapshot()).get(0).sentence())
                .endsWith("nothing ran, 10.00 us of 110.0 us.");
    }

    /** A call of the runtime contains that of the driver, and both have the correlation. */
    @Test
    void theOutermostCallIsTheLaunch() throws IOException {
        TraceProfile reading = read(
                launch(50, 1),
                event("cudaLaunchKernel", "cuda_runtime", 0, 120, 50, 2),
                event("cuLaunchKernel", "cuda_driver", 0, 160, 5, 2),
                kernel(7, 100, 10, 1),
                kernel(7, 200, 10, 2));

        assertThat(reading.unlaunchedNs()).hasValue(10 * US);
    }

    /** A launch that is not in the trace, or after the work or many seconds before it, explains nothing. */
    @Test
    void unknownLaunchesExplainNothing() throws IOException {
        long late = 9_000_000;
        TraceProfile reading = read(
                launch(50, 1),
                launch(320, 3),
                launch(400, 4),
                kernel(7, 100, 10, 1),
                kernel(7, 200, 10, 2),
                kernel(7, 300, 10, 3),
                kernel(7, late, 10, 4));
        assertThat(reading.unlaunchedNs()).hasValue(0);

        assertThat(read(kernel(7, 100, 10, 1), kernel(7, 200, 10, 2)).unlaunchedNs())
                .isEmpty();
        assertThat(read(Traces.slice("a", 0, 10), Traces.slice("b", 50, 10)).unlaunchedNs())
                .isEmpty();
    }

    private static Stream<Path> kinetoTraces() {
        return Stream.of(
                Traces.TRAINING,
                Traces.SIMPLE_ADD,
                Path.of("src", "test", "resources", "traces", "qwen05b-h100-eager.json.gz"));
    }

    /** A device's event with the begin of its launch, ns. */
    private record Work(long startNs, long endNs, OptionalLong launchNs) {}

    private static long ns(JsonNode microseconds) {
        return new BigDecimal(microseconds.asText()).movePointRight(3).longValueExact();
    }

    /** A reader of JSON that knows nothing of the library computes the same from the file. */
    @ParameterizedTest
    @MethodSource("kinetoTraces")
    void realTracesAgreeWithAnotherComputation(Path file) throws IOException {
        JsonNode trace;
        try (GZIPInputStream text = new GZIPInputStream(Files.newInputStream(file))) {
            trace = new ObjectMapper().readTree(text);
        }
        Map<Long, Long> launches = new HashMap<>();
        List<Work> works = new ArrayList<>();
        JsonNode events = trace.isArray() ? trace : trace.get("traceEvents");
        for (JsonNode event : events) {
            String category = event.path("cat").asText();
            JsonNode correlation = event.path("args").path("correlation");
            if (correlation.isNumber() && Set.of("cuda_runtime", "cuda_driver").contains(category)) {
                launches.merge(correlation.asLong(), ns(event.get("ts")), Math::min);
            }
        }
        for (JsonNode event : events) {
            if (Set.of("kernel", "gpu_memcpy", "gpu_memset")
                    .contains(event.path("cat").asText())) {
                long startNs = ns(event.get("ts"));
                Long launchNs =
                        launches.get(event.path("args").path("correlation").asLong());
                works.add(new Work(
                        startNs,
                        startNs + ns(event.get("dur")),
                        launchNs != null && launchNs <= startNs && startNs - launchNs < (1L << 32) - 1
                                ? OptionalLong.of(launchNs)
                                : OptionalLong.empty()));
            }
        }
        works.sort(Comparator.comparingLong(Work::startNs).thenComparing(Work::endNs, Comparator.reverseOrder()));
        long waitNs = 0;
        long untilNs = works.get(0).endNs;
        for (Work work : works) {
            if (work.startNs > untilNs && work.launchNs.isPresent()) {
                waitNs += Math.max(0, work.launchNs.getAsLong() - untilNs);
            }
            untilNs = Math.max(untilNs, work.endNs);
        }

        TraceProfile reading = Traces.read(file, ReadOptions.defaults().withKeepWarmup(true));
        assertThat(reading.unlaunchedNs()).hasValue(waitNs);
        assertThat(waitNs).isBetween(1L, reading.idleNs());
    }
}
