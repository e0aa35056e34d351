package org.brickprofiler.agent.suggest;

import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.agent.Operands;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The bricks that fields and getters of a method are named after. Some names differ between engines, such as
 * {@code w1}; they count where a method reads the others of their convention as well. Immutable.
 */
final class FieldNames {

    /**
     * Names that no known brick has, in small letters and without underscores.
     *
     * @param evidence what a method reads where they mean these bricks
     * @param bricks the names
     */
    private record Convention(Set<String> evidence, Map<String, BrickId> bricks) {}

    private static final Map<String, BrickId> OF_LLAMA = Map.of(
            "wq", BrickId.QKV_PROJECTION,
            "wk", BrickId.QKV_PROJECTION,
            "wv", BrickId.QKV_PROJECTION,
            "w1", BrickId.GATE_PROJECTION,
            "w2", BrickId.DOWN_PROJECTION,
            "w3", BrickId.UP_PROJECTION);

    private static final List<Convention> CONVENTIONS = List.of(
            // Llama's reference code, as in its Java ports, and the same with fused queries, keys and values.
            new Convention(Set.of("w1", "w2", "w3", "wq"), OF_LLAMA),
            new Convention(Set.of("w1", "w2", "w3", "wqkv"), OF_LLAMA),
            // The GPT-2 of llm.c, as in its ports.
            new Convention(
                    Set.of("attprojw", "fcprojw"),
                    Map.of(
                            "qkvw", BrickId.QKV_PROJECTION,
                            "attprojw", BrickId.OUTPUT_PROJECTION,
                            "fcw", BrickId.UP_PROJECTION,
                            "fcprojw", BrickId.DOWN_PROJECTION)),
            // Classes of their own for attention and the feed-forward block.
            new Convention(Set.of("wq", "wk", "wv"), OF_LLAMA),
            new Convention(
                    Set.of("wquery", "wkey", "wvalue"),
                    Map.of(
                            "wquery", BrickId.QKV_PROJECTION,
                            "wkey", BrickId.QKV_PROJECTION,
                            "wvalue", BrickId.QKV_PROJECTION)),
            new Convention(Set.of("fc1", "fc2"), Map.of("fc1", BrickId.UP_PROJECTION, "fc2", BrickId.DOWN_PROJECTION)));

    private static final Pattern GETTER = Pattern.compile("get([A-Z])(.*)");

    private final Map<String, BrickId> known;

    private FieldNames(Map<String, BrickId> known) {
        this.known = known;
    }

    /** Returns the names that apply to a method. */
    static FieldNames of(MethodNode method) {
        Set<String> read = new HashSet<>();
        for (AbstractInsnNode node : method.instructions) {
            read.add(plain(name(node)));
        }
        return new FieldNames(CONVENTIONS.stream()
                .filter(convention -> read.containsAll(convention.evidence))
                .findFirst()
                .map(Convention::bricks)
                .orElse(Map.of()));
    }

    /**
     * Returns the known brick that is named like a field that an instruction reads, or like a getter that it calls and
     * whose parameters, if any, are ints.
     */
    Optional<BrickId> brick(AbstractInsnNode node) {
        String name = name(node);
        return Optional.ofNullable(known.get(plain(name))).or(() -> BrickId.parse(name));
    }

    /**
     * Returns the instruction that reads the layer on which a method with a generic name is called, in
     * {@code wq.forward(x)} the field {@code wq}.
     *
     * @return empty if the name says what the method does, or it is static, or what it is called on is not followed
     */
    static Optional<AbstractInsnNode> layer(MethodInsnNode call) {
        return MethodNames.isGeneric(call.name) && call.getOpcode() != Opcodes.INVOKESTATIC
                ? Optional.ofNullable(Operands.producer(call, Type.getArgumentTypes(call.desc).length))
                : Optional.empty();
    }

    private static String plain(String name) {
        return name.replace("_", "").toLowerCase(Locale.ROOT);
    }

    private static String name(AbstractInsnNode node) {
        if (node instanceof FieldInsnNode field) {
            return field.name;
        }
        return node instanceof MethodInsnNode call
                        && Stream.of(Type.getArgumentTypes(call.desc)).allMatch(Type.INT_TYPE::equals)
                ? withoutGet(call.name)
                : "";
    }

    private static String withoutGet(String name) {
        Matcher getter = GETTER.matcher(name);
        return getter.matches() ? getter.group(1).toLowerCase(Locale.ROOT) + getter.group(2) : name;
    }
}
