import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtSession;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Runs a tiny decoder with random weights in ONNX Runtime, with its profiler switched on. The nodes have the names that
 * one of three exporters gives them. Arguments: a folder, the exporter, the runs. It prints the time of all runs, of
 * the first and of the shortest one in ns, and the file of the profile. With a fourth argument, it first runs the model
 * in two sessions without options: as often in one that it closes, and once more in one that stays open.
 */
public final class OnnxDecoder {

    private static final int LAYERS = 4;
    private static final int WIDTH = 128;
    private static final int INNER = 352;
    private static final int HEADS = 4;
    private static final int HEAD = WIDTH / HEADS;
    private static final int WORDS = 256;
    private static final int TOKENS = 16;
    private static final int BLOCK = 32;
    private static final String MICROSOFT = "com.microsoft";

    private enum Exporter {
        /** The names of modules and operators, as Optimum's exporter gives them. */
        OPTIMUM,
        /** The same model as a branch of an If, as in Optimum's merged decoders. */
        MERGED,
        /** Numbers of operators, as PyTorch's exporter gives them. */
        PYTORCH,
        /** The names and fused operators of the builder of ONNX Runtime GenAI. */
        GENAI
    }

    // The types of tensors.
    private static final int FLOAT = 1;
    private static final int UINT8 = 2;
    private static final int INT32 = 6;
    private static final int INT64 = 7;
    private static final int BOOL = 9;

    /** A message of protobuf. */
    private static final class Message {
        private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        private void raw(long value) {
            long rest = value;
            while ((rest & ~0x7fL) != 0) {
                bytes.write((int) (rest & 0x7f | 0x80));
                rest >>>= 7;
            }
            bytes.write((int) rest);
        }

        Message number(int field, long value) {
            raw(field << 3);
            raw(value);
            return this;
        }

        Message decimal(int field, float value) {
            raw(field << 3 | 5);
            bytes.writeBytes(ByteBuffer.allocate(4)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putFloat(value)
                    .array());
            return this;
        }

        Message bytes(int field, byte[] value) {
            raw(field << 3 | 2);
            raw(value.length);
            bytes.writeBytes(value);
            return this;
        }

        Message text(int field, String value) {
            return bytes(field, value.getBytes(StandardCharsets.UTF_8));
        }

        Message message(int field, Message value) {
            return bytes(field, value.bytes.toByteArray());
        }
    }

    private final Exporter exporter;
    private final Random random = new Random(1);
    private final List<Message> nodes = new ArrayList<>();
    private final List<Message> weights = new ArrayList<>();
    private final Map<String, Integer> operators = new HashMap<>();
    private int values;

    private OnnxDecoder(Exporter exporter) {
        this.exporter = exporter;
    }

    // ---- parts of a graph ----

    private String tensor(int type, byte[] data, long... shape) {
        String name = "weight_" + weights.size();
        Message tensor = new Message();
        for (long size : shape) {
            tensor.number(1, size);
        }
        weights.add(tensor.number(2, type).text(8, name).bytes(9, data));
        return name;
    }

    private String floats(float... values) {
        ByteBuffer data = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (float value : values) {
            data.putFloat(value);
        }
        return values.length == 1 ? tensor(FLOAT, data.array()) : tensor(FLOAT, data.array(), values.length);
    }

    private String wholes(long... values) {
        ByteBuffer data = ByteBuffer.allocate(8 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long value : values) {
            data.putLong(value);
        }
        return tensor(INT64, data.array(), values.length);
    }

    private String randomWeight(long... shape) {
        int size = (int) Arrays.stream(shape).reduce(1, (a, b) -> a * b);
        ByteBuffer data = ByteBuffer.allocate(4 * size).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < size; i++) {
            data.putFloat((float) random.nextGaussian() * 0.02f);
        }
        return tensor(FLOAT, data.array(), shape);
    }

    private static Message whole(String name, long value) {
        return new Message().text(1, name).number(3, value).number(20, 2);
    }

    private static Message real(String name, float value) {
        return new Message().text(1, name).decimal(2, value).number(20, 1);
    }

    private static Message list(String name, long... values) {
        Message attribute = new Message().text(1, name);
        for (long value : values) {
            attribute.number(8, value);
        }
        return attribute.number(20, 7);
    }

    /** Adds a node and returns its outputs. */
    private List<String> nodes(
            String path, String domain, String operator, int outputs, List<String> inputs, Message... attributes) {
        Message node = new Message();
        inputs.forEach(input -> node.text(1, input));
        List<String> results = new ArrayList<>();
        for (int i = 0; i < outputs; i++) {
            results.add("value_" + values++);
            node.text(2, results.get(i));
        }
        int number = operators.merge(operator, 1, Integer::sum) - 1;
        String name = exporter == Exporter.PYTORCH ? "node_" + operator + "_" + number : path;
        node.text(3, name).text(4, operator);
        for (Message attribute : attributes) {
            node.message(5, attribute);
        }
        nodes.add(node.text(7, domain));
        return results;
    }

    private String node(String path, String operator, List<String> inputs, Message... attributes) {
        return nodes(path, "", operator, 1, inputs, attributes).get(0);
    }

    private static Message valueInfo(String name, int type, long... shape) {
        Message dimensions = new Message();
        for (long size : shape) {
            dimensions.message(1, new Message().number(1, size));
        }
        Message tensor = new Message().number(1, type).message(2, dimensions);
        return new Message().text(1, name).message(2, new Message().message(1, tensor));
    }

    // ---- the decoder ----

    private String product(String module, String x, int from, int to) {
        if (exporter != Exporter.GENAI) {
            return node(module + "/MatMul", "MatMul", List.of(x, randomWeight(from, to)));
        }
        byte[] quantized = new byte[to * from / 2];
        random.nextBytes(quantized);
        float[] scales = new float[to * from / BLOCK];
        Arrays.fill(scales, 0.01f);
        String weight = tensor(UINT8, quantized, to, from / BLOCK, BLOCK / 2);
        return nodes(
                        module + "/MatMulNBits",
                        MICROSOFT,
                        "MatMulNBits",
                        1,
                        List.of(x, weight, floats(scales)),
                        whole("K", from),
                        whole("N", to),
                        whole("bits", 4),
                        whole("block_size", BLOCK))
                .get(0);
    }

    private String norm(String module, String x) {
        String weight = randomWeight(WIDTH);
        String square = node(module + "/Pow", "Pow", List.of(x, floats(2)));
        String mean = node(module + "/ReduceMean", "ReduceMean", List.of(square), list("axes", -1));
        String sum = node(module + "/Add", "Add", List.of(mean, floats(1e-6f)));
        String root = node(module + "/Sqrt", "Sqrt", List.of(sum));
        String quotient = node(module + "/Div", "Div", List.of(x, root));
        return node(module + "/Mul", "Mul", List.of(weight, quotient));
    }

    private String rotated(String module, String x, int copy, String cosine, String sine) {
        String suffix = copy == 0 ? "" : "_" + copy;
        String half = node(module + "/Slice" + suffix, "Slice", List.of(x, wholes(0), wholes(HEAD / 2), wholes(3)));
        String rest =
                node(module + "/Slice_" + (copy + 2), "Slice", List.of(x, wholes(HEAD / 2), wholes(HEAD), wholes(3)));
        String negative = node(module + "/Neg" + suffix, "Neg", List.of(rest));
        String turned = node(module + "/Concat" + suffix, "Concat", List.of(negative, half), whole("axis", -1));
        String one = node(module + "/Mul" + suffix, "Mul", List.of(x, cosine));
        String two = node(module + "/Mul_" + (copy + 2), "Mul", List.of(turned, sine));
        return node(module + "/Add" + suffix, "Add", List.of(one, two));
    }

    private String attention(String layer, String x) {
        String module = layer + "/self_attn";
        String heads = wholes(1, TOKENS, HEADS, HEAD);
        List<String> parts = new ArrayList<>();
        for (String name : List.of("q", "k", "v")) {
            String part = product(module + "/" + name + "_proj", x, WIDTH, WIDTH);
            part = node(module + "/Reshape_" + name, "Reshape", List.of(part, heads));
            parts.add(node(module + "/Transpose_" + name, "Transpose", List.of(part), list("perm", 0, 2, 1, 3)));
        }
        String cosine = randomWeight(TOKENS, HEAD);
        String sine = randomWeight(TOKENS, HEAD);
        String query = rotated(module, parts.get(0), 0, cosine, sine);
        String key = rotated(module, parts.get(1), 1, cosine, sine);
        key = node(module + "/Transpose_3", "Transpose", List.of(key), list("perm", 0, 1, 3, 2));
        String scores = node(module + "/MatMul", "MatMul", List.of(query, key));
        scores = node(module + "/Mul_6", "Mul", List.of(scores, floats((float) Math.sqrt(1.0 / HEAD))));
        scores = node(module + "/Softmax", "Softmax", List.of(scores), whole("axis", -1));
        String mixed = node(module + "/MatMul_1", "MatMul", List.of(scores, parts.get(2)));
        mixed = node(module + "/Transpose_4", "Transpose", List.of(mixed), list("perm", 0, 2, 1, 3));
        mixed = node(module + "/Reshape_3", "Reshape", List.of(mixed, wholes(1, TOKENS, WIDTH)));
        return product(module + "/o_proj", mixed, WIDTH, WIDTH);
    }

    private String feedForward(String layer, String x) {
        String module = layer + "/mlp";
        String gate = product(module + "/gate_proj", x, WIDTH, INNER);
        String sigmoid = node(module + "/act_fn/Sigmoid", "Sigmoid", List.of(gate));
        gate = node(module + "/act_fn/Mul", "Mul", List.of(gate, sigmoid));
        String up = product(module + "/up_proj", x, WIDTH, INNER);
        return product(module + "/down_proj", node(module + "/Mul", "Mul", List.of(gate, up)), INNER, WIDTH);
    }

    private String exported() {
        String x = node("/model/embed_tokens/Gather", "Gather", List.of(randomWeight(WORDS, WIDTH), "input_ids"));
        for (int i = 0; i < LAYERS; i++) {
            String layer = "/model/layers." + i;
            x = node(layer + "/Add", "Add", List.of(x, attention(layer, norm(layer + "/input_layernorm", x))));
            x = node(
                    layer + "/Add_1",
                    "Add",
                    List.of(x, feedForward(layer, norm(layer + "/post_attention_layernorm", x))));
        }
        return product("/lm_head", norm("/model/norm", x), WIDTH, WORDS);
    }

    private String built() {
        String skip = node("/model/embed_tokens/Gather", "Gather", List.of(randomWeight(WORDS, WIDTH), "input_ids"));
        String x = node(
                "/model/layers.0/input_layernorm/LayerNorm",
                "SimplifiedLayerNormalization",
                List.of(skip, randomWeight(WIDTH)),
                real("epsilon", 1e-6f),
                whole("axis", -1),
                whole("stash_type", 1));
        String cosine = randomWeight(TOKENS, HEAD / 2);
        String sine = randomWeight(TOKENS, HEAD / 2);
        byte[] last = {TOKENS - 1, 0, 0, 0};
        byte[] total = {TOKENS, 0, 0, 0};
        for (int i = 0; i < LAYERS; i++) {
            String layer = "/model/layers." + i;
            List<String> parts = new ArrayList<>();
            for (String name : List.of("q", "k", "v")) {
                parts.add(product(layer + "/attn/" + name + "_proj", x, WIDTH, WIDTH));
            }
            parts.addAll(List.of("", "", tensor(INT32, last, 1), tensor(INT32, total), cosine, sine));
            String mixed = nodes(
                            layer + "/attn/GroupQueryAttention",
                            MICROSOFT,
                            "GroupQueryAttention",
                            3,
                            parts,
                            whole("num_heads", HEADS),
                            whole("kv_num_heads", HEADS),
                            whole("do_rotary", 1))
                    .get(0);
            String out = product(layer + "/attn/o_proj", mixed, WIDTH, WIDTH);
            List<String> both = skipNorm(layer + "/post_attention_layernorm/SkipLayerNorm", skip, out);
            skip = both.get(3);
            String down = feedForward(layer, both.get(0));
            boolean isLast = i + 1 == LAYERS;
            both = skipNorm(
                    "/model/layers." + (i + 1) + (isLast ? "/final_norm_layernorm" : "/input_layernorm")
                            + "/SkipLayerNorm",
                    skip,
                    down);
            x = both.get(0);
            skip = both.get(3);
        }
        return product("/lm_head", x, WIDTH, WORDS);
    }

    private List<String> skipNorm(String path, String skip, String x) {
        return nodes(
                path,
                MICROSOFT,
                "SkipSimplifiedLayerNormalization",
                4,
                List.of(skip, x, randomWeight(WIDTH)),
                real("epsilon", 1e-6f));
    }

    // ---- the model ----

    private Message graph(String output) {
        Message graph = new Message();
        nodes.forEach(node -> graph.message(1, node));
        graph.text(2, "decoder");
        return graph.message(12, valueInfo(output, FLOAT, 1, TOKENS, WORDS));
    }

    private byte[] model() {
        String output = exporter == Exporter.GENAI ? built() : exported();
        Message graph = graph(output);
        if (exporter == Exporter.MERGED) {
            Message branch =
                    new Message().text(1, "then_branch").message(6, graph).number(20, 5);
            Message other =
                    new Message().text(1, "else_branch").message(6, graph).number(20, 5);
            Message node = new Message()
                    .text(1, "use_cache_branch")
                    .text(2, "logits")
                    .text(3, "optimum::if")
                    .text(4, "If")
                    .message(5, branch)
                    .message(5, other);
            graph = new Message()
                    .message(1, node)
                    .text(2, "merged")
                    .message(11, valueInfo("use_cache_branch", BOOL, 1))
                    .message(12, valueInfo("logits", FLOAT, 1, TOKENS, WORDS));
        }
        for (Message weight : weights) {
            graph.message(5, weight);
        }
        graph.message(11, valueInfo("input_ids", INT64, 1, TOKENS));
        return new Message()
                .number(1, 8)
                .text(2, "brick-profiler's tests")
                .message(7, graph)
                .message(8, new Message().text(1, "").number(2, 17))
                .message(8, new Message().text(1, MICROSOFT).number(2, 1))
                .bytes
                .toByteArray();
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Exporter exporter = Exporter.valueOf(arguments[1]);
        int runs = Integer.parseInt(arguments[2]);
        Path model = folder.resolve("model.onnx");
        Files.write(model, new OnnxDecoder(exporter).model());
        OrtEnvironment environment = OrtEnvironment.getEnvironment();
        long[][] tokens = new long[1][TOKENS];
        Arrays.setAll(tokens[0], i -> i * 7L);
        if (arguments.length > 3) {
            runWithoutOptions(environment, model, tokens, runs);
        }
        try (OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
            options.enableProfiling(folder.resolve("profile").toString());
            options.setIntraOpNumThreads(1);
            try (OrtSession session = environment.createSession(model.toString(), options);
                    OnnxTensor input = OnnxTensor.createTensor(environment, tokens);
                    OnnxTensor branch = OnnxTensor.createTensor(environment, new boolean[] {true})) {
                Map<String, OnnxTensor> inputs = new HashMap<>(Map.of("input_ids", input));
                if (exporter == Exporter.MERGED) {
                    inputs.put("use_cache_branch", branch);
                }
                long allNs = 0;
                long firstNs = 0;
                long shortestNs = Long.MAX_VALUE;
                for (int i = 0; i < runs; i++) {
                    long beginNs = System.nanoTime();
                    session.run(inputs).close();
                    long runNs = System.nanoTime() - beginNs;
                    allNs += runNs;
                    firstNs = i == 0 ? runNs : firstNs;
                    shortestNs = Math.min(shortestNs, runNs);
                }
                System.out.println(allNs + " " + firstNs + " " + shortestNs + " " + session.endProfiling());
            }
        }
    }

    private static void runWithoutOptions(OrtEnvironment environment, Path model, long[][] tokens, int runs)
            throws Exception {
        OrtSession open = environment.createSession(model.toString());
        try (OrtSession closed = environment.createSession(Files.readAllBytes(model));
                OnnxTensor input = OnnxTensor.createTensor(environment, tokens)) {
            Map<String, OnnxTensor> inputs = Map.of("input_ids", input);
            open.run(inputs).close();
            for (int i = 0; i < runs; i++) {
                open.run(inputs).close();
                closed.run(inputs).close();
            }
        }
    }
}
