package org.brickprofiler.trace.read;

import java.util.regex.Pattern;
import org.brickprofiler.trace.read.Kernels.Kernel;

/** The part of a layer that a kernel can be, by its brick and its name alone. Any thread. */
enum LayerPart {
    PRODUCT(false),
    /** A kernel that sums the partial results of a product. */
    PRODUCT_SUM(false),
    NORM(false),
    LAYER_NORM(false),
    /** A step of a norm that consists of several kernels; no other brick has such a step. */
    ROOT(true),
    ATTENTION(false),
    SOFTMAX(false),
    ROPE(false),
    ACTIVATION(false),
    /** An activation that multiplies two halves of its input. */
    GATED_ACTIVATION(false),
    /** The sigmoid of an activation that multiplies it with its own input, as SiLU and quick GELU do. */
    SIGMOID(false),
    /** The choice of experts. */
    ROUTER(false),
    EXPERT(false),
    /** The choice of the largest numbers, as a router or the sampling makes after its softmax. */
    CHOICE(false),
    COLLECTIVE(false),
    /** A lookup of rows, in an embedding or in anything else. */
    LOOKUP(false),
    EMBEDDING(false),
    BACKWARD(false),
    ADD(true),
    ARITHMETIC(true),
    REDUCTION(true),
    /**
     * Arithmetic that finds the range of numbers or rounds them, for example for a number format; it never belongs to a
     * rotary embedding.
     */
    SCALING(true),
    COPY(true),
    FILL(true),
    OTHER(false);

    /** Operations in the names of fused kernels that prepare or produce numbers of another format. */
    private static final Pattern SCALES = Pattern.compile("_(abs|amax|aminmax|clamp|round|reciprocal)(_|$)");

    /** Reductions that return the index of the largest number. */
    private static final Pattern CHOOSES = Pattern.compile("ArgMax|[^a-zA-Z]MaxOps");

    /** Whether bricks of any kind contain such kernels. */
    final boolean isGeneral;

    LayerPart(boolean isGeneral) {
        this.isGeneral = isGeneral;
    }

    static LayerPart of(Kernel kernel) {
        String brick = kernel.target().name();
        String name = kernel.name();
        return switch (brick) {
            case "Gemm" -> PRODUCT;
            case "SplitKReduction" -> PRODUCT_SUM;
            case "RmsNorm" -> NORM;
            case "LayerNorm" -> LAYER_NORM;
            case "FusedAttention" -> ATTENTION;
            case "AttentionSoftmax" -> SOFTMAX;
            case "RopeEmbedding" -> ROPE;
            case "Activation" -> ofActivation(name);
            case "MoeRouter" -> ROUTER;
            case "MoeExpert" -> EXPERT;
            case "Sort", "Sampling" -> CHOICE;
            case "AllReduce", "ReduceScatter" -> COLLECTIVE;
            case "Embedding" -> EMBEDDING;
            case "RowLookup" -> LOOKUP;
            case "Optimizer" -> BACKWARD;
            case "Add" -> ADD;
            case "Multiply" -> ARITHMETIC;
            case "Elementwise" ->
                name.contains("rsqrt") ? ROOT : SCALES.matcher(name).find() ? SCALING : ARITHMETIC;
            case "Reduction" -> CHOOSES.matcher(name).find() ? CHOICE : REDUCTION;
            case "Copy", "Concat", "Index" -> COPY;
            case "Fill" -> FILL;
            default -> brick.endsWith("Backward") ? BACKWARD : OTHER;
        };
    }

    /**
     * Returns the part for the kernel of an activation. Compiled kernels list their operations by name; one that
     * multiplies, and has no sigmoid, is gated.
     */
    private static LayerPart ofActivation(String name) {
        if (name.contains("sigmoid")) {
            return SIGMOID;
        }
        boolean isFused = isCompiled(name) && name.contains("_mul_");
        return isFused || name.contains("_and_mul") || name.contains("glu") || name.contains("gated")
                ? GATED_ACTIVATION
                : ACTIVATION;
    }

    /** Returns whether a kernel was compiled by Inductor, which lists its operations in its name. */
    static boolean isCompiled(String name) {
        return name.startsWith("triton_");
    }

    /** Returns whether layers of one kind have such kernels at the same places. */
    boolean isSpecific() {
        return switch (this) {
            case ROOT -> true;
            case OTHER, CHOICE, LOOKUP, PRODUCT_SUM -> false;
            default -> !isGeneral;
        };
    }

    boolean separates() {
        return isRmsNorm() || this == LAYER_NORM || this == COLLECTIVE || this == EMBEDDING;
    }

    boolean isRmsNorm() {
        return this == NORM || this == ROOT;
    }

    boolean isActivation() {
        return this == ACTIVATION || this == GATED_ACTIVATION || this == SIGMOID;
    }
}
