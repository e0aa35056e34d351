package org.brickprofiler.agent;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.brickprofiler.agent.WeaveRule.Call;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Propagates the submitting thread's layer to tasks that run on other threads. A task is an object of a functional
 * interface of the JDK or of the engine. Woven code replaces the task by a wrapper, which runs the task on behalf of
 * the submitter's layer. The wrapper's class is generated when the woven code first runs. Immutable; any thread.
 */
final class TaskWeaver {

    private static final String KINDS =
            "Runnable, Callable, Consumer, IntConsumer, LongConsumer, or an interface of the "
                    + "engine's own with one method to implement";

    /**
     * The functional interfaces of the JDK that count as tasks; others, such as {@code Comparator}, have other
     * purposes.
     */
    private static final Set<String> OF_JDK = Set.of(
            "java/lang/Runnable",
            "java/util/concurrent/Callable",
            "java/util/function/Consumer",
            "java/util/function/IntConsumer",
            "java/util/function/LongConsumer");

    private static final Set<String> OF_EVERY_OBJECT =
            Set.of("equals(Ljava/lang/Object;)Z", "hashCode()I", "toString()Ljava/lang/String;");

    private static final Handle CARRIER = new Handle(
            Opcodes.H_INVOKESTATIC,
            MethodWeaver.BRIDGE,
            "carrier",
            MethodType.methodType(
                            java.lang.invoke.CallSite.class, MethodHandles.Lookup.class, String.class, MethodType.class)
                    .toMethodDescriptorString(),
            false);

    private final @Nullable ClassLoader loader;

    /**
     * Creates a weaver.
     *
     * @param loader the loader of the woven class, used to look up other classes; null for the bootstrap loader
     */
    TaskWeaver(@Nullable ClassLoader loader) {
        this.loader = loader;
    }

    // ---- what is a task ----

    /**
     * Returns the parameters of a method that are tasks.
     *
     * @return their indices, from 0
     * @throws IllegalArgumentException when the method has no such parameter, or several candidates
     */
    List<Integer> parameters(MethodNode method) {
        Type[] types = Type.getArgumentTypes(method.desc);
        List<Integer> tasks = new ArrayList<>();
        List<String> own = new ArrayList<>();
        for (int i = 0; i < types.length; i++) {
            String name = types[i].getSort() == Type.OBJECT ? types[i].getInternalName() : "";
            if (OF_JDK.contains(name)) {
                tasks.add(i);
            } else if (!name.startsWith("java/") && isTask(types[i])) {
                tasks.add(i);
                own.add(types[i].getClassName());
            }
        }
        if (own.size() > 1) {
            throw new IllegalArgumentException(method.name + " has several parameters that may be tasks, "
                    + String.join(" and ", own) + ": name a call whose last argument is the task");
        }
        if (tasks.isEmpty()) {
            throw new IllegalArgumentException(method.name + " takes no task: " + KINDS);
        }
        return tasks;
    }

    /**
     * Returns the calls in a method whose last argument is a task.
     *
     * @throws IllegalArgumentException when there is no such call
     */
    List<MethodInsnNode> calls(MethodNode method, Call call) {
        List<MethodInsnNode> calls = MethodWeaver.calls(method, call);
        for (MethodInsnNode each : calls) {
            if (!isTask(lastArgument(each))) {
                throw new IllegalArgumentException(each.name + " takes no task as its last argument: " + KINDS);
            }
        }
        return calls;
    }

    private static Type lastArgument(MethodInsnNode call) {
        Type[] types = Type.getArgumentTypes(call.desc);
        return types.length == 0 ? Type.VOID_TYPE : types[types.length - 1];
    }

    private boolean isTask(Type type) {
        Map<String, Boolean> methods = new HashMap<>();
        return type.getSort() == Type.OBJECT
                && addMethods(type.getInternalName(), methods)
                && methods.values().stream().filter(isAbstract -> isAbstract).count() == 1;
    }

    /**
     * Adds the methods of an interface and its superinterfaces, each with whether it is abstract.
     *
     * @return whether it is an interface that any class may implement
     */
    private boolean addMethods(String name, Map<String, Boolean> methods) {
        ClassNode type = ClassFiles.outline(loader, name);
        if (type == null || (type.access & Opcodes.ACC_INTERFACE) == 0 || type.permittedSubclasses != null) {
            return false;
        }
        for (MethodNode method : type.methods) {
            String signature = method.name + method.desc;
            if ((method.access & Opcodes.ACC_STATIC) == 0 && !OF_EVERY_OBJECT.contains(signature)) {
                methods.putIfAbsent(signature, (method.access & Opcodes.ACC_ABSTRACT) != 0);
            }
        }
        return type.interfaces.stream().allMatch(above -> addMethods(above, methods));
    }

    // ---- weaving ----

    /** Wraps the given parameters at the beginning of a method, so that these tasks run for the layer of its caller. */
    static void carry(MethodNode method, List<Integer> parameters) {
        int slot = (method.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
        Type[] types = Type.getArgumentTypes(method.desc);
        InsnList code = new InsnList();
        for (int i = 0; i < types.length; i++) {
            if (parameters.contains(i)) {
                code.add(new VarInsnNode(Opcodes.ALOAD, slot));
                code.add(carry(types[i]));
                code.add(new VarInsnNode(Opcodes.ASTORE, slot));
            }
            slot += types[i].getSize();
        }
        method.instructions.insert(code);
        method.maxStack = Math.max(1, method.maxStack);
    }

    /** Wraps the last argument of a call, so that this task runs for the layer of the calling thread. */
    static void carry(MethodNode method, MethodInsnNode call) {
        method.instructions.insertBefore(call, carry(lastArgument(call)));
    }

    private static AbstractInsnNode carry(Type task) {
        return new InvokeDynamicInsnNode("carry", Type.getMethodDescriptor(task, task), CARRIER);
    }

    // ---- the wrapper classes ----

    /**
     * Makes the wrapper class for an interface.
     *
     * @param caller the woven class, to whose package and loader the new one belongs
     * @param task the interface
     * @return a handle from a task to its wrapper, or to the task itself if the calling thread is in no layer
     * @throws ReflectiveOperationException when the class cannot be made
     */
    static MethodHandle carrier(MethodHandles.Lookup caller, Class<?> task) throws ReflectiveOperationException {
        MethodHandles.Lookup made = caller.defineHiddenClass(
                classFile(Type.getInternalName(caller.lookupClass()) + "$Carried", task),
                false,
                MethodHandles.Lookup.ClassOption.NESTMATE);
        return made.findStatic(made.lookupClass(), "carry", MethodType.methodType(task, task));
    }

    private static byte[] classFile(String name, Class<?> task) {
        ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_FRAMES) {
            @Override
            protected String getCommonSuperClass(String one, String other) {
                return "java/lang/Object";
            }
        };
        String carried = Type.getDescriptor(task);
        type.visit(
                Opcodes.V17, Opcodes.ACC_FINAL | Opcodes.ACC_SYNTHETIC, name, null, "java/lang/Object", new String[] {
                    Type.getInternalName(task)
                });
        type.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL, "task", carried, null, null)
                .visitEnd();
        type.visitField(Opcodes.ACC_PRIVATE | Opcodes.ACC_FINAL, "layer", "J", null, null)
                .visitEnd();
        addConstructor(type, name, carried);
        addCarry(type, name, carried);
        Set<String> done = new HashSet<>();
        for (Method method : task.getMethods()) {
            if (!Modifier.isStatic(method.getModifiers())
                    && done.add(method.getName() + Type.getMethodDescriptor(method))) {
                addMethod(type, name, task, method);
            }
        }
        type.visitEnd();
        return type.toByteArray();
    }

    private static void addConstructor(ClassWriter type, String name, String carried) {
        MethodVisitor code = type.visitMethod(Opcodes.ACC_PRIVATE, "<init>", "(" + carried + "J)V", null, null);
        code.visitCode();
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, "java/lang/Object", "<init>", "()V", false);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitVarInsn(Opcodes.ALOAD, 1);
        code.visitFieldInsn(Opcodes.PUTFIELD, name, "task", carried);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitVarInsn(Opcodes.LLOAD, 2);
        code.visitFieldInsn(Opcodes.PUTFIELD, name, "layer", "J");
        end(code, Opcodes.RETURN);
    }

    /**
     * Adds the method {@code carry}, which returns a task's wrapper: the task itself if the thread is in no layer, and
     * null for null.
     */
    private static void addCarry(ClassWriter type, String name, String carried) {
        MethodVisitor code = type.visitMethod(Opcodes.ACC_STATIC, "carry", "(" + carried + ")" + carried, null, null);
        Label itself = new Label();
        code.visitCode();
        code.visitMethodInsn(Opcodes.INVOKESTATIC, MethodWeaver.BRIDGE, "layerToken", "()J", false);
        code.visitVarInsn(Opcodes.LSTORE, 1);
        code.visitVarInsn(Opcodes.LLOAD, 1);
        code.visitInsn(Opcodes.LCONST_0);
        code.visitInsn(Opcodes.LCMP);
        code.visitJumpInsn(Opcodes.IFEQ, itself);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitJumpInsn(Opcodes.IFNULL, itself);
        code.visitTypeInsn(Opcodes.NEW, name);
        code.visitInsn(Opcodes.DUP);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitVarInsn(Opcodes.LLOAD, 1);
        code.visitMethodInsn(Opcodes.INVOKESPECIAL, name, "<init>", "(" + carried + "J)V", false);
        code.visitInsn(Opcodes.ARETURN);
        code.visitLabel(itself);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        end(code, Opcodes.ARETURN);
    }

    /**
     * Adds a method that calls the task's method while the thread works for the layer. If the task's method returns a
     * task of the same interface, as {@code andThen} does, the result is wrapped, too.
     */
    private static void addMethod(ClassWriter type, String name, Class<?> task, Method method) {
        String descriptor = Type.getMethodDescriptor(method);
        Type result = Type.getReturnType(descriptor);
        MethodVisitor code = type.visitMethod(Opcodes.ACC_PUBLIC, method.getName(), descriptor, null, null);
        Label start = new Label();
        Label end = new Label();
        Label thrown = new Label();
        int before = Type.getArgumentsAndReturnSizes(descriptor) >> 2;
        code.visitCode();
        code.visitTryCatchBlock(start, end, thrown, null);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, name, "layer", "J");
        workFor(code);
        code.visitVarInsn(Opcodes.LSTORE, before);
        code.visitLabel(start);
        code.visitVarInsn(Opcodes.ALOAD, 0);
        code.visitFieldInsn(Opcodes.GETFIELD, name, "task", Type.getDescriptor(task));
        int slot = 1;
        for (Type argument : Type.getArgumentTypes(descriptor)) {
            code.visitVarInsn(argument.getOpcode(Opcodes.ILOAD), slot);
            slot += argument.getSize();
        }
        code.visitMethodInsn(Opcodes.INVOKEINTERFACE, Type.getInternalName(task), method.getName(), descriptor, true);
        if (method.getReturnType() == task) {
            code.visitMethodInsn(Opcodes.INVOKESTATIC, name, "carry", Type.getMethodDescriptor(result, result), false);
        }
        code.visitLabel(end);
        code.visitVarInsn(Opcodes.LLOAD, before);
        workFor(code);
        code.visitInsn(Opcodes.POP2);
        code.visitInsn(result.getOpcode(Opcodes.IRETURN));
        code.visitLabel(thrown);
        code.visitVarInsn(Opcodes.LLOAD, before);
        workFor(code);
        code.visitInsn(Opcodes.POP2);
        end(code, Opcodes.ATHROW);
    }

    private static void workFor(MethodVisitor code) {
        code.visitMethodInsn(Opcodes.INVOKESTATIC, MethodWeaver.BRIDGE, "workFor", "(J)J", false);
    }

    private static void end(MethodVisitor code, int opcode) {
        code.visitInsn(opcode);
        code.visitMaxs(0, 0);
        code.visitEnd();
    }
}
