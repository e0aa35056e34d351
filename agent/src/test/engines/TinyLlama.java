import com.github.tjake.jlama.model.AbstractModel;
import com.github.tjake.jlama.model.ModelSupport;
import com.github.tjake.jlama.safetensors.DType;
import com.github.tjake.jlama.safetensors.prompt.PromptContext;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;

/**
 * Writes a tiny Llama of random weights and has Jlama decode with it, as its users do: {@code TinyLlama FOLDER DIM RUNS
 * [THREADS [EXPERTS]]}. Each thread generates one token more than the one before it. With experts, two of which a token
 * takes, it is a Mixtral.
 */
public class TinyLlama {

    private static final int HEADS = 4;
    private static final int KV_HEADS = 2;
    private static final int LAYERS = 2;
    private static final int BYTES = 256;
    private static final int SPECIAL = 3;
    private static final int VOCAB = SPECIAL + BYTES;

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        int dim = Integer.parseInt(args[1]);
        int experts = args.length > 4 ? Integer.parseInt(args[4]) : 0;
        String type = experts == 0
                ? "\"model_type\": \"llama\""
                : "\"model_type\": \"mixtral\", \"num_local_experts\": " + experts + ", \"num_experts_per_tok\": 2";
        Files.writeString(
                folder.resolve("config.json"), """
                {"architectures": ["LlamaForCausalLM"], %s, "max_position_embeddings": 128,
                 "hidden_size": %d, "intermediate_size": %d, "num_attention_heads": %d, "num_key_value_heads": %d,
                 "num_hidden_layers": %d, "rms_norm_eps": 1e-5, "vocab_size": %d, "bos_token_id": 1, "eos_token_id": 2,
                 "hidden_act": "silu", "rope_theta": 10000.0}
                """.formatted(type, dim, 2 * dim, HEADS, KV_HEADS, LAYERS, VOCAB));
        Files.writeString(folder.resolve("tokenizer.json"), tokenizer());
        Files.writeString(folder.resolve("tokenizer_config.json"), "{}");
        Files.write(folder.resolve("model.safetensors"), weights(dim, experts));
        int runs = Integer.parseInt(args[2]);
        Thread[] threads = new Thread[args.length > 3 ? Integer.parseInt(args[3]) : 1];
        for (int i = 0; i < threads.length; i++) {
            int length = 38 + i;
            threads[i] = new Thread(() -> generate(folder, runs, length));
            threads[i].start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
    }

    /**
     * Uses a model of its own, because Jlama keeps operands in fields of a model, which two generations would mix up.
     */
    private static void generate(Path folder, int runs, int length) {
        try (AbstractModel model = ModelSupport.loadModel(folder.toFile(), DType.F32, DType.F32)) {
            for (int i = 0; i < runs; i++) {
                long startNs = System.nanoTime();
                var response =
                        model.generate(UUID.randomUUID(), PromptContext.of("hello"), 0f, length, (text, ms) -> {});
                System.out.println("prompt " + response.promptTokens + " generated " + response.generatedTokens + " in "
                        + (System.nanoTime() - startNs) / 1_000 + " us");
            }
        }
    }

    /** Every byte is a token. */
    private static String tokenizer() {
        StringBuilder vocab = new StringBuilder("\"<unk>\": 0, \"<s>\": 1, \"</s>\": 2");
        for (int i = 0; i < BYTES; i++) {
            vocab.append(", \"<0x%02X>\": %d".formatted(i, SPECIAL + i));
        }
        return """
                {"model": {"type": "BPE", "unk_token": "<unk>", "fuse_unk": false, "byte_fallback": true, "vocab": {%s},
                 "merges": []}, "added_tokens": []}
                """.formatted(vocab);
    }

    private static byte[] weights(int dim, int experts) {
        Map<String, int[]> shapes = new LinkedHashMap<>();
        shapes.put("model.embed_tokens.weight", new int[] {VOCAB, dim});
        for (int layer = 0; layer < LAYERS; layer++) {
            String prefix = "model.layers." + layer + ".";
            shapes.put(prefix + "input_layernorm.weight", new int[] {dim});
            shapes.put(prefix + "post_attention_layernorm.weight", new int[] {dim});
            shapes.put(prefix + "self_attn.q_proj.weight", new int[] {dim, dim});
            shapes.put(prefix + "self_attn.k_proj.weight", new int[] {dim * KV_HEADS / HEADS, dim});
            shapes.put(prefix + "self_attn.v_proj.weight", new int[] {dim * KV_HEADS / HEADS, dim});
            shapes.put(prefix + "self_attn.o_proj.weight", new int[] {dim, dim});
            if (experts == 0) {
                shapes.put(prefix + "mlp.gate_proj.weight", new int[] {2 * dim, dim});
                shapes.put(prefix + "mlp.up_proj.weight", new int[] {2 * dim, dim});
                shapes.put(prefix + "mlp.down_proj.weight", new int[] {dim, 2 * dim});
            } else {
                shapes.put(prefix + "block_sparse_moe.gate.weight", new int[] {experts, dim});
            }
            for (int i = 0; i < experts; i++) {
                String expert = prefix + "block_sparse_moe.experts." + i + ".";
                shapes.put(expert + "w1.weight", new int[] {2 * dim, dim});
                shapes.put(expert + "w2.weight", new int[] {dim, 2 * dim});
                shapes.put(expert + "w3.weight", new int[] {2 * dim, dim});
            }
        }
        shapes.put("model.norm.weight", new int[] {dim});
        shapes.put("lm_head.weight", new int[] {VOCAB, dim});
        StringBuilder header = new StringBuilder();
        int offset = 0;
        for (Map.Entry<String, int[]> tensor : shapes.entrySet()) {
            int end = offset + Float.BYTES * Arrays.stream(tensor.getValue()).reduce(1, (a, b) -> a * b);
            header.append(header.isEmpty() ? "{" : ", ")
                    .append("\"%s\": {\"dtype\": \"F32\", \"shape\": %s, \"data_offsets\": [%d, %d]}"
                            .formatted(tensor.getKey(), Arrays.toString(tensor.getValue()), offset, end));
            offset = end;
        }
        byte[] text = header.append('}').toString().getBytes(StandardCharsets.UTF_8);
        ByteBuffer file = ByteBuffer.allocate(Long.BYTES + text.length + offset).order(ByteOrder.LITTLE_ENDIAN);
        file.putLong(text.length).put(text);
        Random random = new Random(1);
        while (file.hasRemaining()) {
            file.putFloat((float) (0.1 * random.nextGaussian()));
        }
        return file.array();
    }
}
