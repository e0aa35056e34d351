package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traces that were merged from those of several ranks, whose correlations are equal. */
class MergedRanksTest {

    private static final String ADD =
            "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >";

    private static String event(String category, String name, String process, long ts, long dur, long correlation) {
        return String.format(
                Locale.ROOT,
                "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":\"%s\",\"tid\":1,\"ts\":%d,\"dur\":%d,"
                        + "\"args\":{\"correlation\":%d}}",
                category,
                name,
                process,
                ts,
                dur,
                correlation);
    }

    /** A rank that launches three additions in modules of one class. */
    private static List<String> rank(String host, String device, String module, String step, long shift) {
        List<String> events = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            long ts = 1_000 + 100 * i + shift;
            events.add(event("user_annotation", step, host, ts - 1, 70, -1));
            events.add(event("python_function", "nn.Module: " + module + "_" + i, host, ts, 60, -1));
            events.add(event("cuda_runtime", "cudaLaunchKernel", host, ts + 5, 5, 77 + i));
            events.add(event("kernel", ADD, device, ts + 20, 30, 77 + i));
        }
        return events;
    }

    private static TraceProfile read(String oneHost, String oneDevice, String otherHost, String otherDevice)
            throws IOException {
        List<String> events = rank(oneHost, oneDevice, "LlamaAttention", "step[DECODE bs=4]", 0);
        events.addAll(rank(otherHost, otherDevice, "LlamaMLP", "step[EXTEND bs=2 toks=9]", 1));
        return Traces.read(Traces.array(events.toArray(String[]::new)));
    }

    private static Map<String, Long> us(TraceProfile reading) {
        Map<String, Long> sums = new TreeMap<>();
        reading.snapshot().bricks().forEach(brick -> sums.put(brick.name(), brick.totalNs() / 1_000));
        return sums;
    }

    @ParameterizedTest
    @CsvSource({
        "[TP00] 83, [TP00] 0, [TP01] 83, [TP01] 0",
        "[TP00-DP01] 83, [TP00-DP01] 0, [TP00-DP00] 83, [TP00-DP00] 0",
        "rank 0: 83, rank 0: 0, rank 1: 83, rank 1: 0",
        "TP0_83, TP0_0, TP1_83, TP1_0",
        "83, 0, [TP01] 83, [TP01] 0"
    })
    void eachRankHasCorrelationsOfItsOwn(String oneHost, String oneDevice, String otherHost, String otherDevice)
            throws IOException {
        TraceProfile reading = read(oneHost, oneDevice, otherHost, otherDevice);

        assertThat(us(reading)).isEqualTo(Map.of("AttentionElementwise", 90L, "FfnElementwise", 90L));
        assertThat(reading.annotatedSteps())
                .extracting(steps -> steps.phase() + " " + steps.steps())
                .containsExactly("PREFILL 3", "DECODE 3");
        assertThat(reading.omissions()).noneMatch(each -> each.reason() == Reason.AMBIGUOUS_LAUNCH);
    }

    @ParameterizedTest
    @CsvSource({"83, 0, 1083, 1", "a, 0, b, 0"})
    void anUnnamedRankLeavesTheLaunchUnknown(String oneHost, String oneDevice, String otherHost, String otherDevice)
            throws IOException {
        TraceProfile reading = read(oneHost, oneDevice, otherHost, otherDevice);

        assertThat(us(reading)).isEqualTo(Map.of("Add", 180L));
        assertThat(reading.annotatedSteps()).isEmpty();
        assertThat(reading.omissions())
                .filteredOn(each -> each.reason() == Reason.AMBIGUOUS_LAUNCH)
                .extracting(Omission::count)
                .containsExactly(6L);
    }

    private static String flow(String phase, String process, long ts) {
        return "{\"ph\":\"%s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":7,\"pid\":\"%s\",\"tid\":1,\"ts\":%d,\"bp\":\"e\"}"
                .formatted(phase, process, ts);
    }

    /** The launches and the kernels of two ranks, which the flows join crosswise if their identifiers are one. */
    @Test
    void flowsJoinTheEventsOfOneRank() throws IOException {
        String trace = Traces.array(
                event("cuda_runtime", "launch", "[TP00] 83", 10, 5, 7),
                flow("s", "[TP00] 83", 10),
                event("cuda_runtime", "launch", "[TP01] 83", 11, 5, 7),
                flow("s", "[TP01] 83", 11),
                event("kernel", "late", "[TP00] 0", 40, 5, 7),
                flow("f", "[TP00] 0", 40),
                event("kernel", "soon", "[TP01] 0", 20, 5, 7),
                flow("f", "[TP01] 0", 20));

        try (TraceTimeline read = TimelineLines.read(trace)) {
            assertThat(read.omissions()).noneMatch(each -> each.reason() == Reason.LOOSE_FLOW);
            Map<String, String> flows = new TreeMap<>();
            for (String line : TimelineLines.lines(read)) {
                String[] words = line.split(" (?=\\d+\\.\\.| ?out | ?in )", -1);
                flows.put(words[1], words[2].replaceAll("\\D", ""));
            }
            assertThat(flows.get("10000..15000")).isEqualTo(flows.get("40000..45000"));
            assertThat(flows.get("11000..16000")).isEqualTo(flows.get("20000..25000"));
        }
    }
}
