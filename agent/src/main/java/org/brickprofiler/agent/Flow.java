package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.LabelNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LookupSwitchInsnNode;
import org.objectweb.asm.tree.TableSwitchInsnNode;

/** Properties of instructions for a data-flow analysis. Stateless. */
final class Flow {

    private Flow() {}

    /** Returns the indices of the instructions that may follow if nothing is thrown. */
    static int[] successors(AbstractInsnNode node, int i, Map<AbstractInsnNode, Integer> index) {
        List<LabelNode> labels = new ArrayList<>();
        boolean goesOn = true;
        if (node instanceof JumpInsnNode jump) {
            labels.add(jump.label);
            goesOn = jump.getOpcode() != Opcodes.GOTO;
        } else if (node instanceof TableSwitchInsnNode cases) {
            labels.addAll(cases.labels);
            labels.add(cases.dflt);
            goesOn = false;
        } else if (node instanceof LookupSwitchInsnNode cases) {
            labels.addAll(cases.labels);
            labels.add(cases.dflt);
            goesOn = false;
        } else if (node.getOpcode() == Opcodes.ATHROW
                || (node.getOpcode() >= Opcodes.IRETURN && node.getOpcode() <= Opcodes.RETURN)) {
            goesOn = false;
        }
        int[] next =
                labels.stream().mapToInt(label -> index.getOrDefault(label, 0)).toArray();
        return goesOn && i + 1 < index.size() ? with(next, i + 1) : next;
    }

    /**
     * Returns whether an instruction may throw: false for labels, numbers, local variables, jumps, and arithmetic
     * except the division of whole numbers.
     */
    static boolean mayThrow(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        return switch (opcode) {
            case Opcodes.LDC -> !(((LdcInsnNode) node).cst instanceof Number);
            case Opcodes.IDIV, Opcodes.LDIV, Opcodes.IREM, Opcodes.LREM -> true;
            case Opcodes.IFNULL, Opcodes.IFNONNULL -> false;
            default -> {
                boolean loads = opcode > Opcodes.ALOAD && opcode < Opcodes.ISTORE;
                boolean stores = opcode > Opcodes.ASTORE && opcode < Opcodes.POP;
                yield loads || stores || opcode > Opcodes.LOOKUPSWITCH;
            }
        };
    }

    static int[] with(int[] numbers, int further) {
        int[] longer = Arrays.copyOf(numbers, numbers.length + 1);
        longer[numbers.length] = further;
        return longer;
    }

    static BitSet[] empty(int length) {
        BitSet[] sets = new BitSet[length];
        Arrays.setAll(sets, i -> new BitSet());
        return sets;
    }

    /**
     * Merges the facts of one path to an instruction with those of the other paths.
     *
     * @param any true for the union of the facts, false for their intersection
     * @return whether the merge changed the state of the instruction
     */
    static boolean meet(@Nullable BitSet[] states, int at, BitSet further, boolean any) {
        BitSet state = states[at];
        if (state == null) {
            states[at] = (BitSet) further.clone();
            return true;
        }
        BitSet old = (BitSet) state.clone();
        if (any) {
            state.or(further);
        } else {
            state.and(further);
        }
        return !state.equals(old);
    }

    /** Returns the same instructions once more; none of them may jump. */
    static InsnList copy(InsnList code) {
        InsnList copy = new InsnList();
        for (AbstractInsnNode node : code) {
            copy.add(node.clone(Map.of()));
        }
        return copy;
    }
}
