package org.brickprofiler.agent.suggest;

import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.agent.suggest.CallGraph.Code;

/** What the name of a method, or of a class with one task, says about a brick. Stateless. */
final class MethodNames {

    /** Names of a forward pass. */
    private static final Set<String> PASSES =
            Set.of("forward", "forwardPass", "decode", "step", "predict", "infer", "evaluate");

    /** As in {@code softmax_forward}, {@code gpt2_forward} and {@code forwardMlp}. */
    private static final Pattern FORWARD = Pattern.compile("forward_?(?=[A-Z_])|(?<=[a-z0-9])(_forward|Forward)$");

    /** Generic names; the class's name identifies the brick of such a method. */
    private static final Set<String> DOING = Set.of("forward", "apply", "run", "compute", "execute", "call", "accept");

    /** Names of methods that only rearrange a matrix, often for a product. */
    private static final Pattern REARRANGING = Pattern.compile("(?i)transposed?|permute|reshape|view|slice");

    private static final Pattern BACKWARD = Pattern.compile("(?i).*(backward|grad).*");
    private static final Pattern PRODUCT = Pattern.compile("(?i).*(matmul|gemm|gemv|dot|product|matrix|mul_?mat).*");

    /** Names of several bricks together, in lower case and without underscores. */
    private static final Pattern ATTENTION =
            Pattern.compile("(self|multihead|causal|masked|grouped?query)*(attention|attn)");

    private static final Pattern FEED_FORWARD = Pattern.compile("mlp|ffn|feedforward(network)?");

    private MethodNames() {}

    private static String withoutForward(String name) {
        return FORWARD.matcher(name).replaceAll("");
    }

    /** Returns the known brick that a method's name is that of, with or without {@code forward}. */
    static Optional<BrickId> brick(String name) {
        return BrickId.parse(name).or(() -> BrickId.parse(withoutForward(name)));
    }

    /** Returns the known brick that a method, or the class of a method with a generic name, is named after. */
    static Optional<BrickId> brick(Code code) {
        return brick(code.method.name)
                .or(() -> isGeneric(code.method.name)
                        ? BrickId.parse(CallGraph.simpleName(code.type))
                        : Optional.empty());
    }

    /** Returns whether the name of a method does not say what it does: {@code forward}. */
    static boolean isGeneric(String name) {
        return DOING.contains(name);
    }

    /** Returns whether a method only rearranges a matrix: {@code transpose}. */
    static boolean isRearranging(String name) {
        return REARRANGING.matcher(name).matches();
    }

    /**
     * Returns the category of a method that is named like a whole block of bricks, with or without {@code forward}; the
     * name {@code feedForward} ends with it.
     */
    static Optional<BrickCategory> block(String name) {
        return categoryOf(name).or(() -> categoryOf(withoutForward(name)));
    }

    private static Optional<BrickCategory> categoryOf(String name) {
        String block = name.replace("_", "").toLowerCase(Locale.ROOT);
        if (ATTENTION.matcher(block).matches()) {
            return Optional.of(BrickCategory.ATTENTION);
        }
        return FEED_FORWARD.matcher(block).matches() ? Optional.of(BrickCategory.FFN) : Optional.empty();
    }

    /** Returns whether a method is named like a forward pass, or like that of some model: {@code gpt2_forward}. */
    static boolean isPass(String name) {
        return PASSES.contains(name)
                || (FORWARD.matcher(name).find() && categoryOf(name).isEmpty());
    }

    /** Returns whether a method belongs to training. */
    static boolean isBackward(String name) {
        return BACKWARD.matcher(name).matches();
    }

    /** Returns whether a method is named like a product of matrices or vectors. */
    static boolean isProduct(String name) {
        return PRODUCT.matcher(name).matches();
    }

    /**
     * Returns the brick of a call: a product with the table of embeddings is the projection to the vocabulary, for
     * which many models use the same weights.
     *
     * @param callee the method that is called
     * @param operand the brick that an operand is named after
     */
    static BrickId ofCall(String callee, BrickId operand) {
        return operand == BrickId.EMBEDDING && isProduct(callee) ? BrickId.LM_HEAD : operand;
    }
}
