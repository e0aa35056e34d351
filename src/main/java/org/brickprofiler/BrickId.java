package org.brickprofiler;

import static org.brickprofiler.BrickCategory.ATTENTION;
import static org.brickprofiler.BrickCategory.COMMUNICATION;
import static org.brickprofiler.BrickCategory.FFN;
import static org.brickprofiler.BrickCategory.NORM;
import static org.brickprofiler.BrickCategory.OTHER;
import static org.brickprofiler.BrickCategory.SOLVER;
import static org.brickprofiler.BrickCategory.SPARSE;
import static org.brickprofiler.BrickCategory.TRANSFER;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;
import org.brickprofiler.internal.record.NameTable;
import org.brickprofiler.internal.record.SpellingTable;
import org.jspecify.annotations.Nullable;

/**
 * The known bricks of a forward pass. Each has its own row in every table, so recording one is an array access. The
 * order is part of the contract: new bricks are added at the end.
 *
 * <p><b>Names.</b> {@link #parse}, and every method that takes a brick's name, first looks for its display name and its
 * aliases, exactly. Then it ignores case and underscores, and also accepts the constant's name and the names that
 * engines use: {@code RMSNorm}, {@code rms_norm}, {@code qkv_proj}, {@code rotary_emb}, {@code o_proj},
 * {@code gate_proj}, {@code ffn_up}, {@code SwiGLU}, {@code silu_and_mul}, {@code embed_tokens}, {@code lm_head},
 * {@code sampler}, {@code flash_attn}, {@code reshape_and_cache}, {@code fused_moe}, {@code h2d} and others. A spelling
 * that contains several bricks ({@code mlp}, {@code self_attn}, {@code gate_up_proj}), is a part of one
 * ({@code q_proj}), or differs between models or engines ({@code attn_norm}, {@code c_proj}, {@code w1}) matches no
 * known brick. {@code gate} is the gate matrix of a feed-forward block, by the alias; a router of experts is
 * {@code router} or {@code moe_gate}.
 */
public enum BrickId {
    /** Root-mean-square normalisation. */
    RMS_NORM("RmsNorm", NORM, "", "rms_normalization llama_rms_norm"),
    /** Layer normalisation. */
    LAYER_NORM("LayerNorm", NORM, "", "layer_normalization ln_1 ln_2 ln_f"),
    /** Projection of the input to queries, keys and values. */
    QKV_PROJECTION("QkvProjection", ATTENTION, "Qkv", "qkv_proj attn_qkv wqkv c_attn query_key_value"),
    /** Rotary position embedding of queries and keys. */
    ROPE_EMBEDDING(
            "RopeEmbedding",
            ATTENTION,
            "Rope RoPE",
            "rotary rotary_emb rotary_embedding rotary_pos_emb apply_rope apply_rotary_emb"
                    + " apply_rotary_pos_emb rope_rotation"),
    /** Products of queries and keys. */
    ATTENTION_SCORE("AttentionScore", ATTENTION, "", "attention_scores attn_score attn_scores qk_matmul qk kq"),
    /** Softmax over the attention scores. */
    ATTENTION_SOFTMAX("AttentionSoftmax", ATTENTION, "Softmax", "attn_softmax kq_soft_max"),
    /** Sum of the values weighted by the scores. */
    ATTENTION_OUTPUT("AttentionOutput", ATTENTION, "", "kqv"),
    /** Projection of the attention output back to the model's dimension. */
    OUTPUT_PROJECTION("OutputProjection", ATTENTION, "OutProj", "o_proj output_proj attn_out_proj wo"),
    /** The gate matrix of a gated feed-forward block. */
    GATE_PROJECTION("GateProjection", FFN, "Gate", "gate_proj ffn_gate"),
    /** The up matrix of a feed-forward block. */
    UP_PROJECTION("UpProjection", FFN, "Up", "up_proj ffn_up"),
    /** The activation function of a feed-forward block. */
    ACTIVATION(
            "Activation",
            FFN,
            "SiLU GELU ReLU",
            "act act_fn ffn_act swish swiglu geglu reglu silu_mul silu_and_mul gelu_and_mul gelu_tanh"
                    + " gelu_new new_gelu gelu_fast quick_gelu ffn_silu ffn_gelu ffn_swiglu"),
    /** The down matrix of a feed-forward block. */
    DOWN_PROJECTION("DownProjection", FFN, "Down", "down_proj ffn_down"),
    /** Look-up of the token embedding. */
    EMBEDDING(
            "Embedding",
            OTHER,
            "Embed",
            "embeddings embed_tokens embed_in token_embedding token_embeddings tok_embedding"
                    + " tok_embeddings token_embd tok_embd inp_embd word_embeddings vocab_embedding wte"),
    /** Projection to the vocabulary. */
    LM_HEAD(
            "LmHead",
            OTHER,
            "Head",
            "output_head embed_out unembed unembedding compute_logits result_output vocab_proj"
                    + " vocab_projection wcls"),
    /** Choice of the next token. */
    SAMPLING("Sampling", OTHER, "Sample", "sampler sample_token sample_tokens"),
    /** Sparse matrix times vector. */
    SPMV("SpMV", SPARSE, "spmv"),
    /** Sparse matrix times matrix. */
    SPMM("SpMM", SPARSE, "spmm"),
    /** Conversion between sparse formats. */
    FORMAT_CONVERT("FormatConvert", SPARSE),
    /** One-dimensional fast Fourier transform. */
    FFT_1D("FFT1D", BrickCategory.FFT, "fft1d FFT"),
    /** Two-dimensional fast Fourier transform. */
    FFT_2D("FFT2D", BrickCategory.FFT, "fft2d"),
    /** LU factorisation. */
    LU_FACTORIZE("LUFactorize", SOLVER, "LU"),
    /** QR factorisation. */
    QR_FACTORIZE("QRFactorize", SOLVER, "QR"),
    /** Singular value decomposition. */
    SVD_COMPUTE("SVDCompute", SOLVER, "SVD"),
    /** Writing of keys and values to the cache. */
    KV_CACHE_UPDATE(
            "KvCacheUpdate",
            ATTENTION,
            "",
            "update_kv_cache kv_cache_write write_kv_cache kv_store store_kv store_kv_cache"
                    + " append_kv_cache append_paged_kv_cache reshape_and_cache reshape_and_cache_flash"
                    + " copy_to_cache copy_to_caches"),
    /** Score, softmax and output in one kernel. */
    FUSED_ATTENTION(
            "FusedAttention",
            ATTENTION,
            "",
            "flash_attn flash_attention flash_attn_ext fattn fmha sdpa scaled_dot_product_attention"
                    + " paged_attention gpt_attention"),
    /** Addition of the residual stream. */
    RESIDUAL_ADD("ResidualAdd", OTHER, "", "residual add_residual residual_connection"),
    /** Choice of experts. */
    MOE_ROUTER("MoeRouter", FFN, "", "router gating moe_gate moe_gating ffn_gate_inp router_logits topk_softmax"),
    /** Work of the chosen experts. */
    MOE_EXPERT("MoeExpert", FFN, "", "expert experts moe_experts fused_moe fused_experts"),
    /** Conversion to a smaller number format. */
    QUANTIZE("Quantize", BrickCategory.QUANTIZATION, "", "quant quantise quantization"),
    /** Conversion from a smaller number format. */
    DEQUANTIZE("Dequantize", BrickCategory.QUANTIZATION, "", "dequant dequantise dequantization"),
    /** Sum over all devices, on all devices. */
    ALL_REDUCE("AllReduce", COMMUNICATION, "", "nccl_all_reduce tensor_model_parallel_all_reduce"),
    /** Concatenation over all devices, on all devices. */
    ALL_GATHER("AllGather", COMMUNICATION, "", "nccl_all_gather tensor_model_parallel_all_gather"),
    /** Sum over all devices, a part on each. */
    REDUCE_SCATTER("ReduceScatter", COMMUNICATION, "", "nccl_reduce_scatter"),
    /** Exchange of parts between all devices. */
    ALL_TO_ALL("AllToAll", COMMUNICATION, "", "all2all"),
    /** Copy from host to device; its elements are bytes. */
    HOST_TO_DEVICE("HostToDevice", TRANSFER, "", "h2d htod copy_h2d memcpy_h2d memcpy_htod"),
    /** Copy from device to host; its elements are bytes. */
    DEVICE_TO_HOST("DeviceToHost", TRANSFER, "", "d2h dtoh copy_d2h memcpy_d2h memcpy_dtoh");

    private static final List<BrickId> ALL = List.of(values());
    private static final Map<String, BrickId> BY_NAME = byName();

    /** The number of keys of the known bricks and of the brick that names beyond the limit share. */
    static final int FIXED_KEYS = ALL.size() + 1;

    private final String displayName;
    private final BrickCategory category;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> aliases;

    /**
     * The names that engines give to the brick, with blanks in between, besides the constant's name, the display name
     * and the aliases. Case and underscores are ignored.
     *
     * <p>A spelling is listed if it means the same brick in all examined engines: llama.cpp, llama3.java,
     * GPULlama3.java, Jlama, vLLM, TensorRT-LLM, and Hugging Face's transformers. These spellings are left out, and are
     * dynamic bricks:
     *
     * <ul>
     *   <li>names of several bricks together: {@code mlp}, {@code ffn}, {@code attn}, {@code attention},
     *       {@code self_attn}, {@code gate_up_proj};
     *   <li>names of a part of a brick: {@code q_proj}, {@code k_proj}, {@code v_proj};
     *   <li>names that differ between models or engines: {@code norm}, {@code attn_norm}, {@code ffn_norm},
     *       {@code input_layernorm}, {@code attn_output}, {@code c_proj}, {@code dense}, {@code w1}, {@code w2},
     *       {@code w3}.
     * </ul>
     */
    private final String spellings;

    BrickId(String displayName, BrickCategory category) {
        this(displayName, category, "", "");
    }

    BrickId(String displayName, BrickCategory category, String aliases) {
        this(displayName, category, aliases, "");
    }

    BrickId(String displayName, BrickCategory category, String aliases, String spellings) {
        this.displayName = displayName;
        this.category = category;
        this.aliases = words(aliases);
        this.spellings = spellings;
    }

    private static List<String> words(String text) {
        return text.isEmpty() ? List.of() : List.of(text.split(" ", -1));
    }

    private static Map<String, BrickId> byName() {
        Map<String, BrickId> byName = new HashMap<>();
        for (BrickId id : ALL) {
            byName.put(id.displayName, id);
            for (String alias : id.aliases) {
                byName.put(alias, id);
            }
        }
        return Map.copyOf(byName);
    }

    /** The keys of all spellings. A class of its own, so that creating a profiler does not load them. */
    private static final class Spellings {
        static final SpellingTable TABLE = table();

        private static SpellingTable table() {
            SpellingTable table = new SpellingTable();
            for (BrickId id : ALL) {
                table.add(id.name(), id.index());
                table.add(id.displayName, id.index());
                for (String alias : id.aliases) {
                    table.add(alias, id.index());
                }
                for (String spelling : words(id.spellings)) {
                    table.add(spelling, id.index());
                }
            }
            return table;
        }
    }

    /** A named class: the first lambda of a virtual machine takes longer to make than a profiler. */
    private static final class KeyOfSpelling implements ToIntFunction<String> {
        @Override
        public int applyAsInt(String name) {
            return Spellings.TABLE.find(name);
        }
    }

    /** Returns a table of names with every display name, alias and spelling; its tags are indexes of categories. */
    static NameTable newNameTable() {
        String[] fixed = new String[ALL.size()];
        int[] tags = new int[ALL.size()];
        for (BrickId id : ALL) {
            fixed[id.index()] = id.displayName;
            tags[id.index()] = id.category.index();
        }
        NameTable names =
                new NameTable(fixed, tags, NameTable.OTHER_NAMES, BrickCategory.OTHER.index(), new KeyOfSpelling());
        for (BrickId id : ALL) {
            for (String alias : id.aliases) {
                names.addAlias(alias, id.index());
            }
        }
        return names;
    }

    /**
     * Returns the name in reports.
     *
     * @return for example {@code "RmsNorm"}
     */
    public String displayName() {
        return displayName;
    }

    /**
     * Returns the category.
     *
     * @return the category, which never changes
     */
    public BrickCategory category() {
        return category;
    }

    /**
     * Finds the brick of a name.
     *
     * @param name a display name, an alias, or another spelling as described above; or null
     * @return the brick; empty if no brick has that name, and for null
     */
    public static Optional<BrickId> parse(@Nullable String name) {
        return Optional.ofNullable(name).map(BrickId::find);
    }

    private static @Nullable BrickId find(String name) {
        BrickId exact = BY_NAME.get(name);
        if (exact != null) {
            return exact;
        }
        int key = Spellings.TABLE.find(name);
        return key == NameTable.NONE ? null : ALL.get(key);
    }

    /** Returns the row of this brick in every table; this method alone reads the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
    int index() {
        return ordinal();
    }

    /** Other names that {@link #parse} accepts. */
    List<String> aliases() {
        return aliases;
    }

    /** Returns all bricks, by {@link #index()}. */
    static List<BrickId> all() {
        return ALL;
    }
}
