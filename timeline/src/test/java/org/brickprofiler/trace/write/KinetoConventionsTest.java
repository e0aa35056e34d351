package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The assumptions of readers of Kineto's files. */
@Spec("13.9")
final class KinetoConventionsTest {

    private ChromeTrace trace;

    @BeforeEach
    void write() throws IOException {
        trace = ChromeTrace.of(FixedTimeline.sample());
    }

    private static List<String> keys(JsonNode node) {
        List<String> keys = new ArrayList<>();
        node.fieldNames().forEachRemaining(keys::add);
        return keys;
    }

    @Test
    void theTopLevelIsKinetos() {
        assertThat(keys(trace.root))
                .containsExactly(
                        "schemaVersion",
                        "producer",
                        "deviceProperties",
                        "distributedInfo",
                        "displayTimeUnit",
                        "baseTimeNanoseconds",
                        "droppedSpans",
                        "clockErrorNs",
                        "traceEvents",
                        "traceName");
        assertThat(trace.root.get("producer").textValue()).isEqualTo(ChromeWriter.PRODUCER);
        assertThat(trace.root.get("schemaVersion").isInt()).isTrue();
        assertThat(trace.root.get("displayTimeUnit").textValue()).isEqualTo("ms");
        assertThat(trace.root.get("baseTimeNanoseconds").longValue()).isEqualTo(1_700_000_000_000_010_000L);
        assertThat(trace.root.get("deviceProperties").get(0).get("name").textValue())
                .isEqualTo("A GPU");
        assertThat(trace.root
                        .get("deviceProperties")
                        .get(0)
                        .get("totalGlobalMem")
                        .longValue())
                .isEqualTo(80L << 30);
    }

    /** The pattern is Holistic Trace Analysis's own. */
    @Test
    void theRankIsFoundByAPattern() {
        Matcher rank = Pattern.compile("\"rank\":\\s+(\\d+)").matcher(trace.text);

        assertThat(rank.find()).isTrue();
        assertThat(rank.group()).isEqualTo("\"rank\": 3");
        assertThat(trace.root.get("distributedInfo").get("rank").intValue()).isEqualTo(3);
        assertThat(trace.root.get("distributedInfo").get("world_size").intValue())
                .isEqualTo(8);
    }

    @Test
    void timesAreNumbersWithThreeDecimals() {
        assertThat(Pattern.compile("\"(ts|dur)\": \\d+\\.\\d{3}[,}]")
                        .matcher(trace.text)
                        .results())
                .hasSize(trace.events.size() + trace.of("X").size());
    }

    @Test
    void everyEventHasTheFieldsOfItsPhase() {
        Set<String> common = Set.of("ph", "name", "pid", "tid", "ts");
        assertThat(trace.events).allSatisfy(event -> {
            assertThat(keys(event)).containsAll(common).doesNotHaveDuplicates();
            switch (event.get("ph").textValue()) {
                case "X" -> assertThat(keys(event)).contains("cat", "dur", "args");
                case "s" -> assertThat(keys(event)).contains("cat", "id").doesNotContain("bp");
                case "f" -> assertThat(keys(event)).contains("cat", "id", "bp");
                case "i" -> assertThat(event.get("s").textValue()).isEqualTo("t");
                case "C" ->
                    assertThat(event.get("args").get("value").isNumber()).isTrue();
                case "M" -> assertThat(keys(event)).contains("args");
                default -> throw new AssertionError(event);
            }
        });
    }

    @Test
    void theCategoriesAreKinetos() {
        assertThat(trace.of("X").stream()
                        .map(event -> event.get("cat").textValue())
                        .collect(Collectors.toSet()))
                .containsExactlyInAnyOrder("user_annotation", "cpu_op", "cuda_runtime", "kernel", "gpu_memcpy");
        assertThat(trace.of("X", "user_annotation"))
                .extracting(step -> step.get("name").textValue())
                .containsExactly("ProfilerStep#0", "ProfilerStep#1");
    }

    @Test
    void aDevicesEventNamesItsStream() {
        List<JsonNode> onDevice = trace.spans().stream()
                .filter(event -> event.get("pid").longValue() == 0)
                .toList();

        assertThat(onDevice).hasSize(3).allSatisfy(event -> {
            assertThat(event.get("args").get("stream").isIntegralNumber()).isTrue();
            assertThat(event.get("args").get("stream")).isEqualTo(event.get("tid"));
            assertThat(event.get("args").get("device").longValue()).isZero();
        });
        assertThat(trace.spans())
                .filteredOn(event -> event.get("pid").longValue() != 0)
                .noneSatisfy(
                        event -> assertThat(event.get("args").has("stream")).isTrue());
    }

    @Test
    void aLaunchAKernelAndTheFlowBetweenThemShareACorrelation() {
        assertThat(trace.of("X", "cuda_runtime")).hasSize(2).allSatisfy(launch -> {
            assertThat(launch.get("name").textValue()).isEqualTo("cudaLaunchKernel");
            assertThat(launch.get("args").get("derived").booleanValue()).isTrue();
            long correlation = launch.get("args").get("correlation").longValue();
            JsonNode kernel = only(trace.of("X", "kernel").stream()
                    .filter(event -> event.get("args").get("correlation").longValue() == correlation)
                    .toList());
            JsonNode start = only(withId("s", correlation));
            JsonNode finish = only(withId("f", correlation));
            assertBound(start, launch);
            assertBound(finish, kernel);
            assertThat(finish.get("bp").textValue()).isEqualTo("e");
            JsonNode around = only(trace.of("X", "cpu_op").stream()
                    .filter(event -> event.get("args").path("External id").longValue() == correlation)
                    .toList());
            assertBound(start, around);
            assertThat(launch.get("dur")).isEqualTo(around.get("dur"));
        });
    }

    private static void assertBound(JsonNode flow, JsonNode slice) {
        assertThat(List.of(flow.get("ts"), flow.get("pid"), flow.get("tid")))
                .isEqualTo(List.of(slice.get("ts"), slice.get("pid"), slice.get("tid")));
        assertThat(flow.get("cat").textValue()).isEqualTo("ac2g");
        assertThat(flow.get("name").textValue()).isEqualTo("ac2g");
    }

    private List<JsonNode> withId(String phase, long id) {
        return trace.of(phase).stream()
                .filter(event -> event.get("id").longValue() == id)
                .toList();
    }

    private static JsonNode only(List<JsonNode> nodes) {
        assertThat(nodes).hasSize(1);
        return nodes.get(0);
    }

    @Test
    void processesAndRowsAreNamed() {
        assertThat(meta("process_name", "name")).containsExactly("4711/0: \"decode\"", "0/0: \"decode\"");
        assertThat(meta("process_labels", "labels"))
                .containsExactly(
                        "4711/0: \"CPU, rank 3 of 8, 42 spans dropped, device times within 250 ns\"",
                        "0/0: \"GPU 0, rank 3 of 8, 42 spans dropped, device times within 250 ns\"");
        assertThat(meta("process_sort_index", "sort_index")).containsExactly("4711/0: 4711", "0/0: 16777216");
        assertThat(meta("thread_name", "name"))
                .contains("4711/4712: \"worker-1\"", "0/7: \"stream 7\"", "0/8: \"stream 8\"");
        assertThat(meta("thread_sort_index", "sort_index")).contains("4711/4712: 4712", "0/7: 7");
    }

    private List<String> meta(String name, String argument) {
        return trace.of("M").stream()
                .filter(event -> event.get("name").textValue().equals(name))
                .map(event -> event.get("pid") + "/" + event.get("tid") + ": "
                        + event.get("args").get(argument))
                .toList();
    }

    @Spec("13.2")
    @Test
    void droppedSpansAreTold() {
        assertThat(trace.root.get("droppedSpans").longValue()).isEqualTo(42);
        assertThat(trace.root.get("clockErrorNs").longValue()).isEqualTo(250);
    }
}
