package org.brickprofiler;

import java.util.List;
import org.brickprofiler.internal.io.Fnv1a;
import org.jspecify.annotations.Nullable;

/**
 * What known bricks are called by others, in any case and with or without underscores. Finding a name allocates
 * nothing. Immutable; any thread.
 *
 * <p>A spelling is here if it means one brick in every engine that was looked at: llama.cpp, llama3.java,
 * GPULlama3.java, Jlama, vLLM, TensorRT-LLM, and Hugging Face's transformers. Left out, and dynamic bricks therefore,
 * are
 *
 * <ul>
 *   <li>what holds several bricks: {@code mlp}, {@code ffn}, {@code attn}, {@code attention}, {@code self_attn},
 *       {@code gate_up_proj};
 *   <li>what is a part of one: {@code q_proj}, {@code k_proj}, {@code v_proj};
 *   <li>what differs from model to model or from engine to engine: {@code norm}, {@code attn_norm}, {@code ffn_norm},
 *       {@code input_layernorm}, {@code attn_output}, {@code c_proj}, {@code dense}, {@code w1}, {@code w2},
 *       {@code w3}.
 * </ul>
 */
final class BrickSpellings {

    private static final List<Spelled> TABLE = List.of(
            new Spelled(BrickId.RMS_NORM, "rms_normalization llama_rms_norm"),
            new Spelled(BrickId.LAYER_NORM, "layer_normalization ln_1 ln_2 ln_f"),
            new Spelled(BrickId.QKV_PROJECTION, "qkv_proj attn_qkv wqkv c_attn query_key_value"),
            new Spelled(
                    BrickId.ROPE_EMBEDDING,
                    "rotary rotary_emb rotary_embedding rotary_pos_emb apply_rope apply_rotary_emb apply_rotary_pos_emb"
                            + " rope_rotation"),
            new Spelled(BrickId.ATTENTION_SCORE, "attention_scores attn_score attn_scores qk_matmul qk kq"),
            new Spelled(BrickId.ATTENTION_SOFTMAX, "attn_softmax kq_soft_max"),
            new Spelled(BrickId.ATTENTION_OUTPUT, "kqv"),
            new Spelled(BrickId.OUTPUT_PROJECTION, "o_proj output_proj attn_out_proj wo"),
            new Spelled(BrickId.GATE_PROJECTION, "gate_proj ffn_gate"),
            new Spelled(BrickId.UP_PROJECTION, "up_proj ffn_up"),
            new Spelled(
                    BrickId.ACTIVATION,
                    "act act_fn ffn_act swish swiglu geglu reglu silu_mul silu_and_mul gelu_and_mul gelu_tanh gelu_new"
                            + " new_gelu gelu_fast quick_gelu ffn_silu ffn_gelu ffn_swiglu"),
            new Spelled(BrickId.DOWN_PROJECTION, "down_proj ffn_down"),
            new Spelled(
                    BrickId.EMBEDDING,
                    "embeddings embed_tokens embed_in token_embedding token_embeddings tok_embedding tok_embeddings"
                            + " token_embd tok_embd inp_embd word_embeddings vocab_embedding wte"),
            new Spelled(
                    BrickId.LM_HEAD,
                    "output_head embed_out unembed unembedding compute_logits result_output vocab_proj vocab_projection"
                            + " wcls"),
            new Spelled(BrickId.SAMPLING, "sampler sample_token sample_tokens"),
            new Spelled(
                    BrickId.KV_CACHE_UPDATE,
                    "update_kv_cache kv_cache_write write_kv_cache kv_store store_kv store_kv_cache append_kv_cache"
                            + " append_paged_kv_cache reshape_and_cache reshape_and_cache_flash copy_to_cache"
                            + " copy_to_caches"),
            new Spelled(
                    BrickId.FUSED_ATTENTION,
                    "flash_attn flash_attention flash_attn_ext fattn fmha sdpa scaled_dot_product_attention"
                            + " paged_attention gpt_attention"),
            new Spelled(BrickId.RESIDUAL_ADD, "residual add_residual residual_connection"),
            new Spelled(
                    BrickId.MOE_ROUTER, "router gating moe_gate moe_gating ffn_gate_inp router_logits topk_softmax"),
            new Spelled(BrickId.MOE_EXPERT, "expert experts moe_experts fused_moe fused_experts"),
            new Spelled(BrickId.QUANTIZE, "quant quantise quantization"),
            new Spelled(BrickId.DEQUANTIZE, "dequant dequantise dequantization"),
            new Spelled(BrickId.ALL_REDUCE, "nccl_all_reduce tensor_model_parallel_all_reduce"),
            new Spelled(BrickId.ALL_GATHER, "nccl_all_gather tensor_model_parallel_all_gather"),
            new Spelled(BrickId.REDUCE_SCATTER, "nccl_reduce_scatter"),
            new Spelled(BrickId.ALL_TO_ALL, "all2all"),
            new Spelled(BrickId.HOST_TO_DEVICE, "h2d htod copy_h2d memcpy_h2d memcpy_htod"),
            new Spelled(BrickId.DEVICE_TO_HOST, "d2h dtoh copy_d2h memcpy_d2h memcpy_dtoh"));

    /** A power of two, so large that most look-ups of other names end at the first place. */
    private static final int PLACES = 2_048;

    private static final @Nullable String[] NAMES = new @Nullable String[PLACES];
    private static final @Nullable BrickId[] BRICKS = new @Nullable BrickId[PLACES];

    /** A brick and its further spellings, with blanks in between. */
    private record Spelled(BrickId id, String names) {}

    static {
        for (BrickId id : BrickId.all()) {
            add(id.name(), id);
            add(id.displayName(), id);
            id.aliases().forEach(alias -> add(alias, id));
        }
        for (Spelled spelled : TABLE) {
            for (String name : spelled.names.split(" ", -1)) {
                add(name, spelled.id);
            }
        }
    }

    private BrickSpellings() {}

    private static void add(String name, BrickId id) {
        int place = place(name);
        BrickId there = BRICKS[place];
        if (there != null && there != id) {
            throw new IllegalArgumentException("'" + name + "' is " + there + " and " + id);
        }
        NAMES[place] = name;
        BRICKS[place] = id;
    }

    /** The brick of a name in any spelling, or null. */
    static @Nullable BrickId find(String name) {
        return BRICKS[place(name)];
    }

    /** Where a name is, or the free place where it would be. */
    private static int place(String name) {
        int place = hash(name) & (PLACES - 1);
        for (String there = NAMES[place]; there != null && !isSame(there, name); there = NAMES[place]) {
            place = (place + 1) & (PLACES - 1);
        }
        return place;
    }

    private static int hash(String name) {
        long hash = Fnv1a.OFFSET_BASIS;
        for (int i = 0; i < name.length(); i++) {
            char at = name.charAt(i);
            hash = at == '_' ? hash : Fnv1a.add(hash, lower(at));
        }
        return Long.hashCode(hash);
    }

    private static boolean isSame(String one, String two) {
        int i = 0;
        int k = 0;
        while (true) {
            i = afterUnderscores(one, i);
            k = afterUnderscores(two, k);
            if (i == one.length() || k == two.length()) {
                return i == one.length() && k == two.length();
            }
            if (lower(one.charAt(i++)) != lower(two.charAt(k++))) {
                return false;
            }
        }
    }

    private static int afterUnderscores(String name, int from) {
        int at = from;
        while (at < name.length() && name.charAt(at) == '_') {
            at++;
        }
        return at;
    }

    /** Of ASCII alone: other letters have no place in these names, and their case depends on the language. */
    private static char lower(char letter) {
        return letter >= 'A' && letter <= 'Z' ? (char) (letter + ('a' - 'A')) : letter;
    }
}
