package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.agent.Rule.Elements;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LocalVariableNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * The code that puts a number of elements, or a layer's number, onto the stack, as a long. For one method of one class; one
 * thread.
 */
final class ElementsCode {

    private final ClassNode owner;
    private final MethodNode method;
    private final @Nullable ClassLoader loader;

    ElementsCode(ClassNode owner, MethodNode method, @Nullable ClassLoader loader) {
        this.owner = owner;
        this.method = method;
        this.loader = loader;
    }

    /**
     * The code for a number of elements.
     *
     * @param elements what the rule says
     * @param atEntry whether it stands at the beginning of the method
     * @throws IllegalArgumentException when the method, or the class of something on the way, has no such thing
     */
    InsnList of(Elements elements, boolean atEntry) {
        InsnList code = new InsnList();
        if (elements.isConstant()) {
            code.add(constant(elements.constant()));
            return code;
        }
        List<String> path = elements.path();
        Type type = root(path.get(0), atEntry, code);
        for (String name : path.subList(1, path.size())) {
            type = step(type, name, code);
        }
        switch (type.getSort()) {
            case Type.INT, Type.SHORT, Type.BYTE, Type.CHAR -> code.add(new InsnNode(Opcodes.I2L));
            case Type.LONG -> {}
            default -> throw new IllegalArgumentException("'" + elements + "' is no whole number, but of the type "
                    + type.getClassName());
        }
        return code;
    }

    /** Pushes a constant in as few bytes as there are. */
    static AbstractInsnNode constant(long value) {
        return value == 0 || value == 1
                ? new InsnNode(value == 0 ? Opcodes.LCONST_0 : Opcodes.LCONST_1)
                : new LdcInsnNode(value);
    }

    private Type root(String name, boolean atEntry, InsnList code) {
        boolean isStatic = (method.access & Opcodes.ACC_STATIC) != 0;
        if (name.equals("this")) {
            if (isStatic) {
                throw new IllegalArgumentException("there is no 'this' in the static method " + method.name);
            }
            code.add(new VarInsnNode(Opcodes.ALOAD, 0));
            return Type.getObjectType(owner.name);
        }
        List<String> names = new ArrayList<>();
        int slot = isStatic ? 0 : 1;
        Type[] types = Type.getArgumentTypes(method.desc);
        for (int i = 0; i < types.length; i++) {
            String given = parameterName(i, slot);
            if (name.equals(given) || name.equals("arg" + i)) {
                requireUnchanged(name, slot, types[i], atEntry);
                code.add(new VarInsnNode(types[i].getOpcode(Opcodes.ILOAD), slot));
                return types[i];
            }
            names.add(given == null ? "arg" + i : given);
            slot += types[i].getSize();
        }
        throw new IllegalArgumentException(method.name + " has no parameter '" + name + "'"
                + (names.isEmpty() ? ", it has none" : ClosestNames.hint(name, names.stream())));
    }

    private @Nullable String parameterName(int index, int slot) {
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

    /** Where a parameter of a reference type gets another value, that may be of another type. */
    private void requireUnchanged(String name, int slot, Type type, boolean atEntry) {
        if (atEntry) {
            return;
        }
        for (AbstractInsnNode each : method.instructions) {
            if (each instanceof VarInsnNode store
                    && store.var == slot
                    && store.getOpcode() >= Opcodes.ISTORE
                    && store.getOpcode() <= Opcodes.ASTORE
                    && (type.getSort() >= Type.ARRAY || store.getOpcode() != type.getOpcode(Opcodes.ISTORE))) {
                throw new IllegalArgumentException(
                        method.name + " gives the parameter '" + name + "' another value: it is known at entry only");
            }
        }
    }

    private Type step(Type type, String name, InsnList code) {
        if (name.equals("length") && type.getSort() == Type.ARRAY) {
            code.add(new MethodInsnNode(
                    Opcodes.INVOKESTATIC, MethodWeaver.BRIDGE, "length", "(Ljava/lang/Object;)I", false));
            return Type.INT_TYPE;
        }
        if (type.getSort() != Type.OBJECT) {
            throw new IllegalArgumentException("there is no '" + name + "' in the type " + type.getClassName());
        }
        return name.endsWith("()")
                ? call(type, name.substring(0, name.length() - 2), code)
                : field(type, name, code);
    }

    private Type field(Type type, String name, InsnList code) {
        List<String> names = new ArrayList<>();
        for (ClassNode each = read(type.getInternalName()); each != null; each = superclass(each)) {
            for (FieldNode field : each.fields) {
                if (field.name.equals(name)) {
                    requireAccess(each, field.access, type.getClassName() + '.' + name);
                    if ((field.access & Opcodes.ACC_STATIC) != 0) {
                        throw new IllegalArgumentException(type.getClassName() + '.' + name + " is static");
                    }
                    code.add(new FieldInsnNode(Opcodes.GETFIELD, each.name, name, field.desc));
                    return Type.getType(field.desc);
                }
                names.add(field.name);
            }
        }
        throw new IllegalArgumentException(
                type.getClassName() + " has no field '" + name + "'" + ClosestNames.hint(name, names.stream()));
    }

    private Type call(Type type, String name, InsnList code) {
        List<String> names = new ArrayList<>();
        ClassNode receiver = read(type.getInternalName());
        for (ClassNode each : withAllAbove(receiver)) {
            for (MethodNode called : each.methods) {
                if (!called.desc.startsWith("()") || (called.access & Opcodes.ACC_STATIC) != 0) {
                    continue;
                }
                if (called.name.equals(name)) {
                    requireAccess(each, called.access, type.getClassName() + '.' + name + "()");
                    boolean isInterface = (receiver.access & Opcodes.ACC_INTERFACE) != 0;
                    boolean isPrivate = (called.access & Opcodes.ACC_PRIVATE) != 0;
                    int virtual = isInterface ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL;
                    code.add(new MethodInsnNode(
                            isPrivate ? Opcodes.INVOKESPECIAL : virtual,
                            receiver.name,
                            name,
                            called.desc,
                            isInterface));
                    return Type.getReturnType(called.desc);
                }
                names.add(called.name);
            }
        }
        Stream<String> callable = names.stream().filter(each -> !each.startsWith("<"));
        throw new IllegalArgumentException(type.getClassName() + " has no method '" + name + "()'"
                + ClosestNames.hint(name, callable));
    }

    private List<ClassNode> withAllAbove(ClassNode type) {
        List<ClassNode> all = new ArrayList<>();
        for (ClassNode each = type; each != null; each = superclass(each)) {
            all.add(each);
        }
        for (int i = 0; i < all.size(); i++) {
            for (String above : all.get(i).interfaces) {
                all.add(read(above));
            }
        }
        return all;
    }

    private @Nullable ClassNode superclass(ClassNode type) {
        return type.superName == null ? null : read(type.superName);
    }

    private ClassNode read(String name) {
        if (name.equals(owner.name)) {
            return owner;
        }
        ClassNode type = ClassFiles.outline(loader, name);
        if (type == null) {
            throw new IllegalArgumentException("the class " + name.replace('/', '.') + " is not found");
        }
        return type;
    }

    private void requireAccess(ClassNode declaring, int access, String member) {
        boolean samePackage = packageOf(declaring.name).equals(packageOf(owner.name));
        boolean isPublic = (access & Opcodes.ACC_PUBLIC) != 0 && (declaring.access & Opcodes.ACC_PUBLIC) != 0;
        boolean isPrivate = (access & Opcodes.ACC_PRIVATE) != 0;
        if (!declaring.name.equals(owner.name) && !isPublic && (isPrivate || !samePackage)) {
            throw new IllegalArgumentException(member + " is not accessible to " + owner.name.replace('/', '.'));
        }
    }

    private static String packageOf(String name) {
        return name.substring(0, name.lastIndexOf('/') + 1);
    }
}
