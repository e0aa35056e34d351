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
import org.jspecify.annotations.Nullable;

/**
 * The known steps of a forward pass. Each has a row of its own in every table, so that recording one is an array
 * access. The order is part of the contract: new bricks are added at the end.
 *
 * <p><b>Names.</b> {@link #parse}, and every method that takes a brick's name, knows a brick by its display name and
 * its aliases, exactly; then, in any case and with or without underscores, by these, by the constant's name, and by
 * what engines write: {@code RMSNorm}, {@code rms_norm}, {@code qkv_proj}, {@code rotary_emb}, {@code o_proj},
 * {@code gate_proj}, {@code ffn_up}, {@code SwiGLU}, {@code silu_and_mul}, {@code embed_tokens}, {@code lm_head},
 * {@code sampler}, {@code flash_attn}, {@code reshape_and_cache}, {@code fused_moe}, {@code h2d} and others. What holds
 * several bricks ({@code mlp}, {@code self_attn}, {@code gate_up_proj}), is a part of one ({@code q_proj}), or differs
 * from model to model or from engine to engine ({@code attn_norm}, {@code c_proj}, {@code w1}) is none of them.
 * {@code gate} is the gate matrix of a feed-forward block, by the alias; a router of experts is {@code router} or
 * {@code moe_gate}.
 */
public enum BrickId {
    /** Root-mean-square normalisation. */
    RMS_NORM("RmsNorm", NORM),
    /** Layer normalisation. */
    LAYER_NORM("LayerNorm", NORM),
    /** Projection of the input to queries, keys and values. */
    QKV_PROJECTION("QkvProjection", ATTENTION, "Qkv"),
    /** Rotary position embedding of queries and keys. */
    ROPE_EMBEDDING("RopeEmbedding", ATTENTION, "Rope", "RoPE"),
    /** Products of queries and keys. */
    ATTENTION_SCORE("AttentionScore", ATTENTION),
    /** Softmax over the attention scores. */
    ATTENTION_SOFTMAX("AttentionSoftmax", ATTENTION, "Softmax"),
    /** Sum of the values weighted by the scores. */
    ATTENTION_OUTPUT("AttentionOutput", ATTENTION),
    /** Projection of the attention output back to the model's dimension. */
    OUTPUT_PROJECTION("OutputProjection", ATTENTION, "OutProj"),
    /** The gate matrix of a gated feed-forward block. */
    GATE_PROJECTION("GateProjection", FFN, "Gate"),
    /** The up matrix of a feed-forward block. */
    UP_PROJECTION("UpProjection", FFN, "Up"),
    /** The activation function of a feed-forward block. */
    ACTIVATION("Activation", FFN, "SiLU", "GELU", "ReLU"),
    /** The down matrix of a feed-forward block. */
    DOWN_PROJECTION("DownProjection", FFN, "Down"),
    /** Look-up of the token embedding. */
    EMBEDDING("Embedding", OTHER, "Embed"),
    /** Projection to the vocabulary. */
    LM_HEAD("LmHead", OTHER, "Head"),
    /** Choice of the next token. */
    SAMPLING("Sampling", OTHER, "Sample"),
    /** Sparse matrix times vector. */
    SPMV("SpMV", SPARSE, "spmv"),
    /** Sparse matrix times matrix. */
    SPMM("SpMM", SPARSE, "spmm"),
    /** Conversion between sparse formats. */
    FORMAT_CONVERT("FormatConvert", SPARSE),
    /** One-dimensional fast Fourier transform. */
    FFT_1D("FFT1D", BrickCategory.FFT, "fft1d", "FFT"),
    /** Two-dimensional fast Fourier transform. */
    FFT_2D("FFT2D", BrickCategory.FFT, "fft2d"),
    /** LU factorisation. */
    LU_FACTORIZE("LUFactorize", SOLVER, "LU"),
    /** QR factorisation. */
    QR_FACTORIZE("QRFactorize", SOLVER, "QR"),
    /** Singular value decomposition. */
    SVD_COMPUTE("SVDCompute", SOLVER, "SVD"),
    /** Writing of keys and values to the cache. */
    KV_CACHE_UPDATE("KvCacheUpdate", ATTENTION),
    /** Score, softmax and output in one kernel. */
    FUSED_ATTENTION("FusedAttention", ATTENTION),
    /** Addition of the residual stream. */
    RESIDUAL_ADD("ResidualAdd", OTHER),
    /** Choice of experts. */
    MOE_ROUTER("MoeRouter", FFN),
    /** Work of the chosen experts. */
    MOE_EXPERT("MoeExpert", FFN),
    /** Conversion to a smaller number format. */
    QUANTIZE("Quantize", BrickCategory.QUANTIZATION),
    /** Conversion from a smaller number format. */
    DEQUANTIZE("Dequantize", BrickCategory.QUANTIZATION),
    /** Sum over all devices, on all devices. */
    ALL_REDUCE("AllReduce", COMMUNICATION),
    /** Concatenation over all devices, on all devices. */
    ALL_GATHER("AllGather", COMMUNICATION),
    /** Sum over all devices, a part on each. */
    REDUCE_SCATTER("ReduceScatter", COMMUNICATION),
    /** Exchange of parts between all devices. */
    ALL_TO_ALL("AllToAll", COMMUNICATION),
    /** Copy from host to device; its elements are bytes. */
    HOST_TO_DEVICE("HostToDevice", TRANSFER),
    /** Copy from device to host; its elements are bytes. */
    DEVICE_TO_HOST("DeviceToHost", TRANSFER);

    private static final List<BrickId> ALL = List.of(values());
    private static final Map<String, BrickId> BY_NAME = byName();

    private final String displayName;
    private final BrickCategory category;

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> aliases;

    BrickId(String displayName, BrickCategory category, String... aliases) {
        this.displayName = displayName;
        this.category = category;
        this.aliases = List.of(aliases);
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

    /**
     * The name in reports.
     *
     * @return for example {@code "RmsNorm"}
     */
    public String displayName() {
        return displayName;
    }

    /**
     * What kind of work it is.
     *
     * @return the category, the same for ever
     */
    public BrickCategory category() {
        return category;
    }

    /**
     * The brick of a name.
     *
     * @param name a display name or an alias, or, in any case and with or without underscores, one of these, the
     *     constant's name, or what engines write for it: see above
     * @return the brick, or empty where none has that name; null has none either
     */
    public static Optional<BrickId> parse(@Nullable String name) {
        return Optional.ofNullable(name).map(BrickId::find);
    }

    private static @Nullable BrickId find(String name) {
        BrickId exact = BY_NAME.get(name);
        return exact != null ? exact : BrickSpellings.find(name);
    }

    /** The row of this brick in every table; the only reader of the ordinal. */
    @SuppressWarnings("EnumOrdinal") // this method is where it is wrapped
    int index() {
        return ordinal();
    }

    /** Other names that {@link #parse} accepts. */
    List<String> aliases() {
        return aliases;
    }

    /** All bricks, by {@link #index()}. */
    static List<BrickId> all() {
        return ALL;
    }
}
