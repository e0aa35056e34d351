package org.brickprofiler.agent.suggest;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import org.brickprofiler.agent.Operands;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Finds the argument of a call that changes with the counter of a loop around the call, as a position does, that is the
 * result of the call before, as a generated token is, or that the loop makes, as a growing array of tokens. It reads
 * the code backwards from the call; a value that depends on a branch is not followed. Stateless.
 */
final class LoopArguments {

    /** The descriptor of an array of tokens. */
    static final String TOKENS = "[I";

    private LoopArguments() {}

    /**
     * Returns the index of the first argument of type int, from 0, that depends on a variable which a loop around the
     * call increments.
     *
     * @param method the method
     * @param call a call in it
     * @return the index; -1 if the call is in no loop, or no argument depends on a loop's counter
     */
    static int changing(MethodNode method, MethodInsnNode call) {
        Set<Integer> counted = counted(method, call);
        Type[] types = Type.getArgumentTypes(call.desc);
        for (int i = 0; i < types.length && !counted.isEmpty(); i++) {
            if (types[i].equals(Type.INT_TYPE) && reads(call, types.length - 1 - i, counted)) {
                return i;
            }
        }
        return -1;
    }

    /**
     * Returns whether a call is in a loop, and one of its arguments of type int is its result of the round before:
     * {@code token = decode(token)}.
     *
     * @param method the method
     * @param call a call in it
     * @return false also if the result is changed before it becomes the argument
     */
    static boolean isFedBack(MethodNode method, MethodInsnNode call) {
        if (!(call.getNext() instanceof VarInsnNode store) || store.getOpcode() != Opcodes.ISTORE) {
            return false;
        }
        Type[] types = Type.getArgumentTypes(call.desc);
        return !inLoops(method, call).isEmpty()
                && IntStream.range(0, types.length)
                        .anyMatch(i ->
                                types[i].equals(Type.INT_TYPE) && reads(call, types.length - 1 - i, Set.of(store.var)));
    }

    /**
     * Returns whether a call is in a loop that makes one of its arrays of ints in each round, as an engine that keeps
     * no keys and values does with the prompt and the tokens after it.
     *
     * @param method the method
     * @param call a call in it
     * @return false also if the loop fills one array
     */
    static boolean isRemade(MethodNode method, MethodInsnNode call) {
        Set<AbstractInsnNode> loops = inLoops(method, call);
        Type[] types = Type.getArgumentTypes(call.desc);
        return !loops.isEmpty()
                && IntStream.range(0, types.length)
                        .anyMatch(i -> types[i].getDescriptor().equals(TOKENS)
                                && isMadeIn(loops, Operands.producer(call, types.length - 1 - i)));
    }

    private static boolean isMadeIn(Set<AbstractInsnNode> loops, @Nullable AbstractInsnNode producer) {
        return producer instanceof MethodInsnNode
                || (producer instanceof VarInsnNode load
                        && loops.stream()
                                .anyMatch(node ->
                                        node.getOpcode() == Opcodes.ASTORE && ((VarInsnNode) node).var == load.var));
    }

    /** Returns the variables that are incremented in the loops around a call. */
    private static Set<Integer> counted(MethodNode method, MethodInsnNode call) {
        Set<Integer> counted = new HashSet<>();
        for (AbstractInsnNode node : inLoops(method, call)) {
            if (node instanceof IincInsnNode increment) {
                counted.add(increment.var);
            }
        }
        return counted;
    }

    /** Returns the instructions of the loops around a call; empty if it is in no loop. */
    private static Set<AbstractInsnNode> inLoops(MethodNode method, MethodInsnNode call) {
        Set<AbstractInsnNode> found = new HashSet<>();
        int at = method.instructions.indexOf(call);
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof JumpInsnNode jump) {
                int from = method.instructions.indexOf(jump.label);
                int to = method.instructions.indexOf(jump);
                if (from < at && at < to) {
                    for (int i = from; i < to; i++) {
                        found.add(method.instructions.get(i));
                    }
                }
            }
        }
        return found;
    }

    /**
     * Returns whether a value on the stack before an instruction is computed from some variables.
     *
     * @param depth the value's place on the stack, from 0 at the top
     */
    private static boolean reads(AbstractInsnNode before, int depth, Set<Integer> variables) {
        AbstractInsnNode node = Operands.producer(before, depth);
        if (node instanceof VarInsnNode load) {
            return load.getOpcode() == Opcodes.ILOAD && variables.contains(load.var);
        }
        return node != null
                && (node.getOpcode() == Opcodes.IADD || node.getOpcode() == Opcodes.ISUB)
                && (reads(node, 0, variables) || reads(node, 1, variables));
    }
}
