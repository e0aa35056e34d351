package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.trace.write.ChromeWriter;
import org.brickprofiler.trace.write.PerfettoWriter;
import org.brickprofiler.trace.write.TraceFiles;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * One trace in several forms has one profile: its slices as complete events, as begins and ends, and as this library
 * converts them to Chrome's and to Perfetto's format. The traces have modules, annotations and launches on threads, and
 * kernels on streams that are marked by their categories, shown by names of processes, or not known to be a device's.
 */
@OneJdk
final class FormsOfATraceProperties {

    private static final Path TRACES = Path.of("src", "test", "resources", "traces");

    private static final String[] MODULES = {
        "GPT2LMHeadModel",
        "Qwen2DecoderLayer",
        "Qwen2Attention",
        "Qwen2MLP",
        "Linear",
        "RowParallelLinear",
        "Qwen2RMSNorm",
        "BertPooler",
        "LogitsProcessor",
        "FusedMoE",
        "VocabParallelEmbedding"
    };
    private static final String[] ANNOTATIONS = {
        "layers.3.self_attn.q_proj", "mlp.gate_up_proj", "lm_head", "ProfilerStep#2", "anything"
    };
    private static final String[] KERNELS = {
        "ampere_bf16_s16816gemm_bf16_128x64",
        "void vllm::rms_norm_kernel<c10::BFloat16>()",
        "void flash_fwd_kernel<Flash_fwd_kernel_traits<128>>()",
        "Memcpy HtoD (Pinned -> Device)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::MulFunctor<float>>()",
        "void vllm::act_and_mul_kernel<c10::BFloat16, &vllm::silu_kernel>",
        "my_own_kernel"
    };

    /** The ways in which a trace shows the activity of the device. */
    private enum Marks {
        CATEGORY,
        NAME,
        NONE
    }

    /** A slice and the slices nested in it, in us. Immutable. */
    private record Slice(
            String name, String category, int pid, int tid, long ts, long dur, String args, List<Slice> inside) {

        private String event(String phase, long at, String more) {
            return "{\"ph\":\"%s\",\"name\":\"%s\",\"cat\":\"%s\",\"pid\":%d,\"tid\":%d,\"ts\":%d%s}"
                    .formatted(phase, name, category, pid, tid, at, more);
        }

        void complete(List<String> events) {
            events.add(event("X", ts, ",\"dur\":" + dur + ",\"args\":{" + args + "}"));
            inside.forEach(slice -> slice.complete(events));
        }

        /** Adds a begin and an end, of which one has the arguments. */
        void beginAndEnd(List<String> events, boolean argsLast) {
            String more = ",\"args\":{" + args + "}";
            events.add(event("B", ts, argsLast ? "" : more));
            inside.forEach(slice -> slice.beginAndEnd(events, argsLast));
            events.add(event("E", ts + dur, argsLast ? more : ""));
        }
    }

    /** Generates a random trace. */
    private static final class Maker {
        private final Random random;
        private final Marks marks;
        private int launches;

        Maker(Random random, Marks marks) {
            this.random = random;
            this.marks = marks;
        }

        List<Slice> trace() {
            List<Slice> slices = new ArrayList<>();
            for (int thread = 1; thread <= 2; thread++) {
                slices.addAll(inside(0, 40, thread, 0));
            }
            for (int stream = 7; stream <= 8; stream++) {
                long ts = 0;
                for (int i = random.nextInt(20); i > 0; i--) {
                    String kernel = oneOf(KERNELS);
                    long dur = random.nextInt(4);
                    boolean isCopy = kernel.startsWith("Memcpy");
                    String category = marks != Marks.CATEGORY ? "" : isCopy ? "gpu_memcpy" : "kernel";
                    String args = "\"correlation\":" + random.nextInt(1, 30)
                            + (isCopy && marks == Marks.CATEGORY ? ",\"bytes\":64" : "");
                    slices.add(new Slice(kernel, category, 5, stream, ts, dur, args, List.of()));
                    ts += dur + random.nextInt(3);
                }
            }
            return slices;
        }

        private List<Slice> inside(long from, long to, int thread, int depth) {
            List<Slice> slices = new ArrayList<>();
            long at = from;
            while (at < to && depth < 6) {
                long begin = at + random.nextInt(3);
                long end = Math.min(to, begin + random.nextInt(1 + (int) (to - from)));
                if (begin > end) {
                    break;
                }
                slices.add(slice(begin, end, thread, depth));
                at = end + (begin == end ? 1 : 0);
            }
            return slices;
        }

        private Slice slice(long from, long to, int thread, int depth) {
            List<Slice> inside = inside(from, to, thread, depth + 1);
            return switch (random.nextInt(5)) {
                case 0, 1 -> {
                    String name = "nn.Module: " + oneOf(MODULES) + "_" + random.nextInt(3);
                    yield new Slice(name, "python_function", 9, thread, from, to - from, "", inside);
                }
                case 2 -> new Slice(oneOf(ANNOTATIONS), "user_annotation", 9, thread, from, to - from, "", inside);
                case 3 -> {
                    String args = "\"correlation\":" + ++launches;
                    yield new Slice("cudaLaunchKernel", "cuda_runtime", 9, thread, from, to - from, args, inside);
                }
                default -> new Slice("aten::mm", "cpu_op", 9, thread, from, to - from, "", inside);
            };
        }

        private String oneOf(String[] names) {
            return names[random.nextInt(names.length)];
        }
    }

    private static String trace(Marks marks, boolean namesLast, Consumer<List<String>> body) {
        List<String> events = new ArrayList<>();
        String name = "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"args\":{\"name\":\"/device:GPU:0\"}}";
        body.accept(events);
        if (marks == Marks.NAME) {
            events.add(namesLast ? events.size() : 0, name);
        }
        return Traces.array(events.toArray(String[]::new));
    }

    private static byte[] converted(byte[] trace, boolean toPerfetto) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (TraceTimeline read = TraceReader.timeline(new ByteArrayInputStream(trace), ReadOptions.defaults())) {
            if (toPerfetto) {
                PerfettoWriter.write(read.timeline(), out, TraceFiles.Origin.OTHER);
            } else {
                ChromeWriter.write(read.timeline(), out, TraceFiles.Origin.OTHER);
            }
        }
        return out.toByteArray();
    }

    /** The figures that must be equal in all forms of a trace. */
    private record Profile(
            List<RoundTrip.Brick> bricks,
            List<TraceProfile.Placement> placements,
            List<Long> bytes,
            TraceProfile.Counting counting,
            List<Long> timesNs,
            List<Long> numbers) {

        static Profile of(byte[] trace) throws IOException {
            TraceProfile reading = Traces.read(trace, ReadOptions.defaults());
            ProfileSnapshot snapshot = reading.snapshot();
            return new Profile(
                    RoundTrip.bricks(snapshot),
                    reading.placements(),
                    snapshot.bricks().stream().map(brick -> brick.totalBytes()).toList(),
                    reading.counting(),
                    List.of(reading.wallNs(), reading.busyNs(), reading.leftOutNs()),
                    List.of(reading.eventsCounted(), (long) reading.rows(), (long) reading.steps()));
        }
    }

    @Property(tries = 200)
    void everyFormHasTheSameProfile(@ForAll Random random, @ForAll Marks marks, @ForAll boolean namesLast)
            throws IOException {
        List<Slice> slices = new Maker(random, marks).trace();
        byte[] complete = trace(marks, namesLast, events -> slices.forEach(slice -> slice.complete(events)))
                .getBytes(UTF_8);
        byte[] pairs = trace(marks, namesLast, events -> slices.forEach(slice -> slice.beginAndEnd(events, false)))
                .getBytes(UTF_8);
        byte[] others = trace(marks, namesLast, events -> slices.forEach(slice -> slice.beginAndEnd(events, true)))
                .getBytes(UTF_8);

        Profile expected = Profile.of(complete);

        assertThat(Profile.of(pairs)).as("begins and ends").isEqualTo(expected);
        assertThat(Profile.of(others)).as("ends with arguments").isEqualTo(expected);
        for (byte[] form : Arrays.asList(complete, pairs)) {
            assertThat(Profile.of(converted(form, true))).as("Perfetto").isEqualTo(expected);
            assertThat(Profile.of(converted(form, false))).as("Chrome").isEqualTo(expected);
        }
    }

    /** A conversion draws overlapping slices of a row on additional rows, which still count as one row. */
    @Property(tries = 200)
    void slicesThatOverlapAreStillOfTheirRow(@ForAll Random random, @ForAll Marks marks) throws IOException {
        List<Slice> slices = new ArrayList<>();
        for (Slice slice : new Maker(random, marks).trace()) {
            long late = random.nextInt(4);
            slices.add(new Slice(
                    slice.name(),
                    slice.category(),
                    slice.pid(),
                    slice.tid(),
                    slice.ts(),
                    slice.dur() + late,
                    slice.args(),
                    slice.inside()));
        }
        byte[] complete = trace(marks, false, events -> slices.forEach(slice -> slice.complete(events)))
                .getBytes(UTF_8);

        Profile expected = Profile.of(complete);

        assertThat(Profile.of(converted(complete, true))).as("Perfetto").isEqualTo(expected);
        assertThat(Profile.of(converted(complete, false))).as("Chrome").isEqualTo(expected);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "kineto-simple-add",
                "moe-b200-eager",
                "qwen05b-h100-eager",
                "sglang-qwen3-decode",
                "vllm-decode-graph",
                "vllm-prefill-decode",
                "xla-mi300-conv",
                "rpd-matmul",
                "ort-1.22-java",
                "ort-decoder-merged",
                "ort-decoder-pytorch",
                "ort-decoder-genai",
                "torch-2.13-cpu",
                "torch-h200-graph",
                "djl-encoder"
            })
    void aRealTraceHasOneProfileInEveryForm(String name) throws IOException {
        Path trace = TRACES.resolve(name + ".json.gz");
        byte[] bytes = Files.readAllBytes(trace);

        Profile expected = Profile.of(bytes);

        assertThat(Profile.of(converted(bytes, true))).as("Perfetto").isEqualTo(expected);
        assertThat(Profile.of(converted(bytes, false))).as("Chrome").isEqualTo(expected);
    }
}
