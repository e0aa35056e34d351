package org.brickprofiler.agent;

import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.IincInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Finds the argument of a call that counts with the loop around it, as a position does. It reads the instructions just
 * before the call; a value that a branch decides is not followed. Stateless.
 */
final class LoopArguments {

    private LoopArguments() {}

    /**
     * Returns the index of the first argument of type int, from 0, that depends on a variable which its loop counts.
     *
     * @param method the method
     * @param call a call in it
     * @return -1 if the call is in no loop, or no argument changes so
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

    /** Returns the variables that are incremented in the loops around a call. */
    private static Set<Integer> counted(MethodNode method, MethodInsnNode call) {
        Set<Integer> counted = new HashSet<>();
        int at = method.instructions.indexOf(call);
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof JumpInsnNode jump) {
                int from = method.instructions.indexOf(jump.label);
                int to = method.instructions.indexOf(jump);
                if (from < at && at < to) {
                    for (int i = from; i < to; i++) {
                        if (method.instructions.get(i) instanceof IincInsnNode increment) {
                            counted.add(increment.var);
                        }
                    }
                }
            }
        }
        return counted;
    }

    /**
     * Returns whether a value on the stack before an instruction is computed from some variables.
     *
     * @param depth the value's place on the stack, from 0 at the top
     */
    private static boolean reads(AbstractInsnNode before, int depth, Set<Integer> variables) {
        int wanted = depth;
        for (AbstractInsnNode node = before.getPrevious(); node != null; node = node.getPrevious()) {
            int opcode = node.getOpcode();
            if (opcode < 0) {
                continue;
            }
            int pops = pops(node);
            if (pops < 0) {
                return false;
            }
            int pushes = pushes(node);
            if (wanted < pushes) {
                if (node instanceof VarInsnNode load) {
                    return opcode == Opcodes.ILOAD && variables.contains(load.var);
                }
                boolean isSum = opcode == Opcodes.IADD || opcode == Opcodes.ISUB;
                return isSum && (reads(node, 0, variables) || reads(node, 1, variables));
            }
            wanted += pops - pushes;
        }
        return false;
    }

    /** Returns the number of values that an instruction takes from the stack; -1 if it is not followed. */
    private static int pops(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        if (node instanceof MethodInsnNode call) {
            return Type.getArgumentTypes(call.desc).length + (opcode == Opcodes.INVOKESTATIC ? 0 : 1);
        }
        if (node instanceof InvokeDynamicInsnNode made) {
            return Type.getArgumentTypes(made.desc).length;
        }
        if (node instanceof FieldInsnNode) {
            return opcode == Opcodes.GETSTATIC ? 0 : opcode == Opcodes.GETFIELD || opcode == Opcodes.PUTSTATIC ? 1 : 2;
        }
        if (node instanceof MultiANewArrayInsnNode array) {
            return array.dims;
        }
        if (opcode <= Opcodes.ALOAD || opcode == Opcodes.IINC || opcode == Opcodes.NEW) {
            return 0;
        }
        if (opcode <= Opcodes.SALOAD) {
            return 2;
        }
        if (opcode <= Opcodes.ASTORE || opcode == Opcodes.POP) {
            return 1;
        }
        if (opcode <= Opcodes.SASTORE) {
            return 3;
        }
        if (opcode >= Opcodes.INEG && opcode <= Opcodes.DNEG) {
            return 1;
        }
        if (opcode >= Opcodes.IADD && opcode <= Opcodes.LXOR) {
            return 2;
        }
        if (opcode >= Opcodes.I2L && opcode <= Opcodes.I2S) {
            return 1;
        }
        boolean isUnary = opcode == Opcodes.NEWARRAY
                || opcode == Opcodes.ANEWARRAY
                || opcode == Opcodes.ARRAYLENGTH
                || opcode == Opcodes.CHECKCAST
                || opcode == Opcodes.INSTANCEOF;
        return isUnary ? 1 : -1;
    }

    private static int pushes(AbstractInsnNode node) {
        int opcode = node.getOpcode();
        if (node instanceof MethodInsnNode call) {
            return Type.getReturnType(call.desc).getSort() == Type.VOID ? 0 : 1;
        }
        boolean stores = (opcode >= Opcodes.ISTORE && opcode <= Opcodes.SASTORE)
                || opcode == Opcodes.POP
                || opcode == Opcodes.IINC
                || opcode == Opcodes.PUTFIELD
                || opcode == Opcodes.PUTSTATIC
                || opcode == Opcodes.NOP;
        return stores ? 0 : 1;
    }
}
