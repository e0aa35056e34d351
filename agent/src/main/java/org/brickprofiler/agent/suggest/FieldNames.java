package org.brickprofiler.agent.suggest;

import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The bricks that fields and getters of a method are named after. {@code w1}, {@code w2} and {@code w3} differ between
 * engines; where a method reads all three and the queries {@code wq}, or their fused form {@code wqkv}, they are the
 * gate, down and up matrices of Llama's reference code, as in its Java ports. Immutable.
 */
final class FieldNames {

    /** The names of Llama's reference code that no known brick has. */
    private static final Map<String, BrickId> OF_LLAMA = Map.of(
            "wq", BrickId.QKV_PROJECTION,
            "wk", BrickId.QKV_PROJECTION,
            "wv", BrickId.QKV_PROJECTION,
            "w1", BrickId.GATE_PROJECTION,
            "w2", BrickId.DOWN_PROJECTION,
            "w3", BrickId.UP_PROJECTION);

    private static final Set<String> NETWORK = Set.of("w1", "w2", "w3");

    private final boolean isOfLlama;

    private FieldNames(boolean isOfLlama) {
        this.isOfLlama = isOfLlama;
    }

    /** Returns the names that apply to a method. */
    static FieldNames of(MethodNode method) {
        Set<String> read = new HashSet<>();
        for (AbstractInsnNode node : method.instructions) {
            read.add(name(node));
        }
        return new FieldNames(read.containsAll(NETWORK) && (read.contains("wq") || read.contains("wqkv")));
    }

    /**
     * Returns the known brick that is named like a field that an instruction reads, or like a getter that it calls and
     * whose parameters, if any, are ints.
     */
    Optional<BrickId> brick(AbstractInsnNode node) {
        String name = name(node);
        return isOfLlama && OF_LLAMA.containsKey(name) ? Optional.of(OF_LLAMA.get(name)) : BrickId.parse(name);
    }

    private static String name(AbstractInsnNode node) {
        if (node instanceof FieldInsnNode field) {
            return field.name;
        }
        return node instanceof MethodInsnNode call
                        && Stream.of(Type.getArgumentTypes(call.desc)).allMatch(Type.INT_TYPE::equals)
                ? call.name
                : "";
    }
}
