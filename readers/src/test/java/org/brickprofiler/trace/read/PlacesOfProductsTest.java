package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import org.brickprofiler.trace.read.ForeignTrace.Chosen;
import org.brickprofiler.trace.read.Kernels.Kernel;
import org.brickprofiler.trace.read.LayerPlaces.Evidence;
import org.junit.jupiter.api.Test;

/**
 * The projections of products, found by their place, compared with the modules of the trace, or with the shapes of the
 * operands if the model was compiled. Both are taken from the file by a reader of JSON that knows nothing of the
 * library, and hidden from the library. In the trace of Qwen2, projections are called {@code Linear_N}, and N numbers
 * the projections in the order in which the model calls them: query, key, value, output, gate, up, down. The compiled
 * models have 192 rows, a hidden size of 512 and 1,024 in the feed-forward block.
 */
final class PlacesOfProductsTest {

    private static final Path TRACES = Path.of("src", "test", "resources", "traces");
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String MODULE = "nn.Module: ";

    /** A slice of the host with its times in ns. */
    private record Slice(String name, String row, long startNs, long endNs) {
        static Slice of(JsonNode event) {
            long startNs = ns(event.get("ts"));
            String row = event.get("pid").asText() + "/" + event.get("tid").asText();
            return new Slice(event.get("name").asText(), row, startNs, startNs + ns(event.get("dur")));
        }

        boolean holds(Slice other) {
            return row.equals(other.row) && startNs <= other.startNs && other.startNs < endNs;
        }
    }

    /** The result of the comparison. */
    private static final class Accuracy {
        private long kernels;
        private long rightKernels;
        private long timeNs;
        private long rightNs;
        private long notNamed;
        private final Map<String, Long> wrong = new TreeMap<>();

        void add(String truth, String placed, long elapsedNs) {
            boolean isRight = truth.equals(placed);
            kernels++;
            timeNs += elapsedNs;
            rightKernels += isRight ? 1 : 0;
            rightNs += isRight ? elapsedNs : 0;
            if (!isRight) {
                notNamed += placed.equals("Gemm") ? 1 : 0;
                wrong.merge(truth + " taken for " + placed, 1L, Long::sum);
            }
        }

        @Override
        public String toString() {
            return rightKernels + " of " + kernels + " kernels, " + rightNs + " of " + timeNs + " ns; " + wrong;
        }
    }

    private static long ns(JsonNode microseconds) {
        return new BigDecimal(microseconds.asText()).movePointRight(3).longValueExact();
    }

    private static JsonNode trace(String name) throws IOException {
        try (GZIPInputStream text = new GZIPInputStream(Files.newInputStream(TRACES.resolve(name)))) {
            return JSON.readTree(text);
        }
    }

    private static boolean isOf(JsonNode event, Set<String> categories) {
        return event.path("ph").asText().equals("X")
                && categories.contains(event.path("cat").asText());
    }

    /** The modules around each kernel's launch, the outermost first, by the kernel's start. */
    private static Map<Long, List<String>> modules(JsonNode trace) {
        List<Slice> modules = new ArrayList<>();
        Map<String, Slice> launches = new HashMap<>();
        for (JsonNode event : trace.get("traceEvents")) {
            if (isOf(event, Set.of("python_function"))
                    && event.get("name").asText().startsWith(MODULE)) {
                modules.add(Slice.of(event));
            } else if (isOf(event, Set.of("cuda_runtime", "cuda_driver"))) {
                launches.put(event.path("args").path("correlation").asText(), Slice.of(event));
            }
        }
        modules.sort(Comparator.comparingLong(Slice::startNs));
        Map<Long, List<String>> modulesOfKernels = new HashMap<>();
        for (JsonNode event : trace.get("traceEvents")) {
            Slice launch = launches.get(event.path("args").path("correlation").asText());
            if (launch != null && isOf(event, Set.of("kernel"))) {
                List<String> around = modules.stream()
                        .filter(module -> module.holds(launch))
                        .map(module -> module.name().substring(MODULE.length()))
                        .toList();
                modulesOfKernels.put(ns(event.get("ts")), around);
            }
        }
        return modulesOfKernels;
    }

    /**
     * The product of each kernel as rows x terms x columns, and how many products of this shape come before it, by the
     * kernel's start.
     */
    private static Map<Long, List<String>> shapes(JsonNode trace) {
        Map<String, String> shapesOfCalls = new HashMap<>();
        for (JsonNode event : trace.get("traceEvents")) {
            String name = event.path("name").asText();
            if (isOf(event, Set.of("cpu_op"))
                    && Set.of("aten::mm", "aten::addmm", "aten::bmm").contains(name)) {
                JsonNode dims = event.path("args").path("Input Dims");
                JsonNode left = dims.get(name.equals("aten::addmm") ? 1 : 0);
                JsonNode right = dims.get(name.equals("aten::addmm") ? 2 : 1);
                int last = left.size() - 1;
                shapesOfCalls.put(
                        event.path("args").path("External id").asText(),
                        left.get(last - 1) + "x" + left.get(last) + "x" + right.get(last));
            }
        }
        Map<String, Integer> counts = new HashMap<>();
        Map<Long, List<String>> shapesOfKernels = new HashMap<>();
        for (JsonNode event : device(trace)) {
            String shape =
                    shapesOfCalls.get(event.path("args").path("External id").asText());
            if (shape != null) {
                int before = counts.merge(shape, 1, Integer::sum) - 1;
                shapesOfKernels.put(ns(event.get("ts")), List.of(shape, Integer.toString(before)));
            }
        }
        return shapesOfKernels;
    }

    /** The activity of the device, in order of time. */
    private static List<JsonNode> device(JsonNode trace) {
        List<JsonNode> events = new ArrayList<>();
        for (JsonNode event : trace.get("traceEvents")) {
            if (isOf(event, Set.of("kernel", "gpu_memcpy", "gpu_memset"))) {
                events.add(event);
            }
        }
        events.sort(Comparator.comparingLong(event -> ns(event.get("ts"))));
        return events;
    }

    /**
     * Compares the projections by modules or shapes with those found in a trace that has only the activity of the
     * device.
     */
    private static Accuracy accuracy(List<JsonNode> device, Map<Long, List<String>> modules, Truth truth)
            throws IOException {
        Accuracy accuracy = new Accuracy();
        ReadOptions options = ReadOptions.defaults();
        byte[] text = JSON.writeValueAsBytes(device);
        try (ProfileBuilder builder = new ProfileBuilder("hidden", options)) {
            ChromeParser.parse(new BufferedInputStream(new ByteArrayInputStream(text)), options.limits(), builder);
            ForeignTrace trace = (ForeignTrace) builder.kind();
            Chosen chosen = trace.withLaunches(trace.choose(), Long.MIN_VALUE);
            try (EventStore launched = chosen.events();
                    LayerPlaces places = trace.places(chosen.with(launched))) {
                EventStore.Cursor events = places.events().inOrder();
                for (EventStore.Event event = events.next(); event != null; event = events.next()) {
                    Kernel kernel = chosen.kernels().get(event.name());
                    List<String> around = modules.getOrDefault(event.startNs(), List.of());
                    String brick = truth.brick(kernel.name(), around);
                    assertThat(event.detail())
                            .as("nothing is known from modules")
                            .isNotEqualTo(Evidence.BY_MODULE);
                    if (!brick.isEmpty()) {
                        accuracy.add(brick, kernel.target().name(), event.endNs() - event.startNs());
                    }
                }
            }
        }
        return accuracy;
    }

    private static Accuracy accuracy(String name, Truth truth) throws IOException {
        JsonNode trace = trace(name);
        return accuracy(device(trace), modules(trace), truth);
    }

    /** Compares parts of a trace that begin and end anywhere in a layer. */
    private static void assertNothingIsWrongHoweverItIsCut(String name, int eventsOfLayer, Truth truth)
            throws IOException {
        JsonNode trace = trace(name);
        Map<Long, List<String>> modules = modules(trace);
        List<JsonNode> device = device(trace);
        for (int skipped = 0; skipped < eventsOfLayer; skipped++) {
            int last = device.size() - 3 * eventsOfLayer - skipped;

            Accuracy accuracy = accuracy(device.subList(last - 5 * eventsOfLayer, last), modules, truth);

            assertThat(accuracy.kernels - accuracy.rightKernels)
                    .as("without the last %d: %s", skipped, accuracy)
                    .isEqualTo(accuracy.notNamed);
            assertThat(accuracy.rightKernels).as("%s", accuracy).isGreaterThan(accuracy.kernels / 2);
        }
    }

    /** The brick of a kernel by the modules around its launch. */
    private interface Truth {
        /** The brick, or an empty text if the kernel is ignored. */
        String brick(String kernel, List<String> modules);
    }

    private static String productOfQwen(String kernel, List<String> modules) {
        String last = modules.isEmpty() ? "" : modules.get(modules.size() - 1);
        if (!kernel.contains("gemm")) {
            return "";
        }
        if (last.startsWith("Qwen2RotaryEmbedding")) {
            return "Gemm";
        }
        return !last.startsWith("Linear_")
                ? ""
                : switch (Integer.parseInt(last.substring("Linear_".length())) % 7) {
                    case 3 -> "OutputProjection";
                    case 4 -> "GateProjection";
                    case 5 -> "UpProjection";
                    case 6 -> "DownProjection";
                    default -> "QkvProjection";
                };
    }

    private static String stepOfQwen(String kernel, List<String> modules) {
        String last = modules.isEmpty() ? "" : modules.get(modules.size() - 1);
        return last.startsWith("Qwen2RMSNorm") ? "RmsNorm" : "";
    }

    private static String productOfMixture(String kernel, List<String> modules) {
        String last = modules.isEmpty() ? "" : modules.get(modules.size() - 1);
        return !kernel.startsWith("nvjet")
                ? ""
                : last.startsWith("QKVParallelLinear")
                        ? "QkvProjection"
                        : last.startsWith("RowParallelLinear")
                                ? "OutputProjection"
                                : last.startsWith("Linear_")
                                        ? "MoeRouter"
                                        : last.startsWith("LogitsProcessor") ? "LmHead" : "";
    }

    private static String productOfCompiledModel(List<String> product, int attentionProducts) {
        if (product.isEmpty()) {
            return "";
        }
        int before = Integer.parseInt(product.get(1));
        return switch (product.get(0)) {
            case "192x512x512" ->
                before % attentionProducts == attentionProducts - 1 ? "OutputProjection" : "QkvProjection";
            case "192x512x256" -> "QkvProjection";
            case "192x1024x512" -> "DownProjection";
            case "192x512x4096" -> "LmHead";
            case "96x64x96" -> "AttentionScore";
            case "96x96x64" -> "AttentionOutput";
            case "192x512x1024" ->
                attentionProducts == 4 ? "UpProjection" : before % 2 == 0 ? "GateProjection" : "UpProjection";
            default -> "Gemm";
        };
    }

    /** Queries, keys, values and the output have products of one shape. Values are projected after the softmax. */
    private static String productOfBert(String kernel, List<String> product) {
        return productOfCompiledModel(product, 4);
    }

    /** Keys and values have fewer heads; the feed-forward block is gated. */
    private static String productOfLlama(String kernel, List<String> product) {
        return productOfCompiledModel(product, 2);
    }

    @Test
    void productsOfACompiledEncoderAreFoundByTheirPlaceAndItsPoolerIsNoHead() throws IOException {
        JsonNode trace = trace("torch-bert-compiled.json.gz");

        assertThat(accuracy(device(trace), shapes(trace), PlacesOfProductsTest::productOfBert))
                .hasToString("99 of 99 kernels, 362114 of 362114 ns; {}");
    }

    /** In the first layer, a product for the rotation is beside the three projections, so none of the four is named. */
    @Test
    void productsOfACompiledDecoderAreFoundByTheirPlace() throws IOException {
        JsonNode trace = trace("torch-llama-compiled.json.gz");

        assertThat(accuracy(device(trace), shapes(trace), PlacesOfProductsTest::productOfLlama))
                .hasToString("81 of 90 kernels, 275044 of 303493 ns; {QkvProjection taken for Gemm=9}");
    }

    /** The norms of queries and keys divide the projections. The first layer and the layer before it are not named. */
    @Test
    void productsOfACompiledDecoderWithNormsOfQueriesAndKeysAreFound() throws IOException {
        JsonNode trace = trace("torch-gemma3-compiled.json.gz");

        assertThat(accuracy(device(trace), shapes(trace), PlacesOfProductsTest::productOfLlama))
                .hasToString("72 of 90 kernels, 238275 of 302462 ns; {DownProjection taken for Gemm=2, "
                        + "GateProjection taken for Gemm=2, LmHead taken for Gemm=2, "
                        + "OutputProjection taken for Gemm=2, QkvProjection taken for Gemm=8, "
                        + "UpProjection taken for Gemm=2}");
    }

    @Test
    void productsOfAnEagerModelAreFoundByTheirPlace() throws IOException {
        Accuracy accuracy = accuracy("qwen05b-h100-eager.json.gz", PlacesOfProductsTest::productOfQwen);

        assertThat(accuracy).hasToString("169 of 169 kernels, 8858227 of 8858227 ns; {}");
    }

    @Test
    void kernelsOfANormAreFoundByTheirPlace() throws IOException {
        Accuracy accuracy = accuracy("qwen05b-h100-eager.json.gz", PlacesOfProductsTest::stepOfQwen);

        assertThat(accuracy).hasToString("392 of 392 kernels, 7377993 of 7377993 ns; {}");
    }

    @Test
    void productsOfAMixtureOfExpertsAreFoundByTheirPlace() throws IOException {
        Accuracy accuracy = accuracy("moe-b200-eager.json.gz", PlacesOfProductsTest::productOfMixture);

        assertThat(accuracy).hasToString("109 of 109 kernels, 784762 of 784762 ns; {}");
    }

    @Test
    void noProjectionIsWrongHoweverATraceIsCut() throws IOException {
        assertNothingIsWrongHoweverItIsCut("qwen05b-h100-eager.json.gz", 49, PlacesOfProductsTest::productOfQwen);
        assertNothingIsWrongHoweverItIsCut("moe-b200-eager.json.gz", 25, PlacesOfProductsTest::productOfMixture);
    }
}
