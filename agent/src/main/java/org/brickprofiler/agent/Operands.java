package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FrameNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.MultiANewArrayInsnNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Finds the instructions that push the operands of another instruction. It reads the code backwards from that
 * instruction; a value that depends on a branch is not followed. Stateless.
 */
public final class Operands {

    private static final String LAMBDAS = "java/lang/invoke/LambdaMetafactory";

    private Operands() {}

    /**
     * Returns the instruction that pushes a value which is on the stack before an instruction.
     *
     * @param before the instruction
     * @param depth the value's place on the stack, from 0 at the top
     * @return the instruction; null if the value is not followed
     */
    public static @Nullable AbstractInsnNode producer(AbstractInsnNode before, int depth) {
        int wanted = depth;
        for (AbstractInsnNode node = before.getPrevious(); node != null; node = node.getPrevious()) {
            if (node instanceof FrameNode) {
                // Another path may lead here.
                return null;
            }
            if (node.getOpcode() < 0) {
                continue;
            }
            int pops = pops(node);
            if (pops < 0) {
                return null;
            }
            int pushes = pushes(node);
            if (wanted < pushes) {
                return node;
            }
            wanted += pops - pushes;
        }
        return null;
    }

    /**
     * Returns the instructions that compute the values on top of the stack before an instruction, the last one first.
     *
     * @param before the instruction
     * @param values the number of values
     * @return the instructions up to one that is not followed
     */
    public static List<AbstractInsnNode> computing(AbstractInsnNode before, int values) {
        List<AbstractInsnNode> found = new ArrayList<>();
        int wanted = values;
        for (AbstractInsnNode node = before.getPrevious();
                wanted > 0 && node != null && !(node instanceof FrameNode);
                node = node.getPrevious()) {
            if (node.getOpcode() >= 0) {
                int pops = pops(node);
                if (pops < 0) {
                    break;
                }
                found.add(node);
                wanted += pops - pushes(node);
            }
        }
        return found;
    }

    /**
     * Returns the bodies of the lambdas and method references that a method passes to a call.
     *
     * @param method the method
     * @param call a call in it
     * @return those that are certain, in the order of the arguments
     */
    static List<Handle> lambdas(MethodNode method, MethodInsnNode call) {
        List<Handle> bodies = new ArrayList<>();
        int arguments = Type.getArgumentTypes(call.desc).length;
        for (int depth = arguments - 1; depth >= 0; depth--) {
            if (followed(method, producer(call, depth)) instanceof InvokeDynamicInsnNode made
                    && made.bsm.getOwner().equals(LAMBDAS)
                    && made.bsmArgs[1] instanceof Handle body) {
                bodies.add(body);
            }
        }
        return bodies;
    }

    /** Follows a value through casts and local variables. */
    private static @Nullable AbstractInsnNode followed(MethodNode method, @Nullable AbstractInsnNode producer) {
        AbstractInsnNode node = producer;
        while (node != null) {
            if (node.getOpcode() == Opcodes.CHECKCAST) {
                node = producer(node, 0);
            } else if (node instanceof VarInsnNode load && load.getOpcode() == Opcodes.ALOAD) {
                AbstractInsnNode store = store(method, load);
                node = store == null ? null : producer(store, 0);
            } else {
                return node;
            }
        }
        return null;
    }

    /**
     * Returns the instruction that stored the value of a variable: the last store on the straight path to the load,
     * otherwise the method's only store.
     *
     * @param method the method
     * @param load a load of the variable in it
     * @return the store; null if there is none
     */
    public static @Nullable AbstractInsnNode store(MethodNode method, VarInsnNode load) {
        for (AbstractInsnNode node = load.getPrevious();
                node != null && !(node instanceof FrameNode);
                node = node.getPrevious()) {
            if (isStoreOf(node, load)) {
                return node;
            }
        }
        List<AbstractInsnNode> stores = new ArrayList<>();
        for (AbstractInsnNode node : method.instructions) {
            if (isStoreOf(node, load)) {
                stores.add(node);
            }
        }
        boolean isParameter = load.var < Type.getArgumentsAndReturnSizes(method.desc) >> 2;
        return stores.size() == 1 && !isParameter ? stores.get(0) : null;
    }

    /** Returns whether an instruction stores what another one loads, an object or an int. */
    private static boolean isStoreOf(AbstractInsnNode node, VarInsnNode load) {
        int opcode = load.getOpcode() == Opcodes.ALOAD ? Opcodes.ASTORE : Opcodes.ISTORE;
        return node.getOpcode() == opcode && ((VarInsnNode) node).var == load.var;
    }

    /**
     * Returns the number of values that an instruction takes from the stack.
     *
     * @param node the instruction
     * @return the number; -1 if the instruction is not followed
     */
    public static int pops(AbstractInsnNode node) {
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

    /**
     * Returns the name of a parameter.
     *
     * @param method the method
     * @param index the index of the parameter, from 0
     * @param slot the index of its local variable
     * @return its name; null if the class file has none
     */
    public static @Nullable String parameterName(MethodNode method, int index, int slot) {
        if (method.parameters != null && index < method.parameters.size()) {
            return method.parameters.get(index).name;
        }
        if (method.localVariables != null) {
            for (LocalVariableNode variable : method.localVariables) {
                if (variable.index == slot && method.instructions.indexOf(variable.start) <= 1) {
                    return variable.name;
                }
            }
        }
        return null;
    }
}
