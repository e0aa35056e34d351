package org.brickprofiler.agent;

import static org.objectweb.asm.Opcodes.*;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.ListIterator;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InnerClassNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * A step of the build, and no part of the agent: replaces the {@code invokedynamic} of lambda expressions, concatenated
 * strings and the methods of records by plain code. The virtual machine would generate a class for each of them at its
 * first use, which takes about a millisecond. Here, all lambda expressions of a class that implement the same interface
 * and capture the same types share one class, a nestmate, that selects among them by a number.
 *
 * <p>Classes older than Java 11, which have no nestmates, keep theirs. No class keeps the names of its local variables,
 * which only debuggers read.
 */
final class LinkedClasses {

    private static final String LAMBDAS = "java/lang/invoke/LambdaMetafactory";
    private static final String STRINGS = "java/lang/invoke/StringConcatFactory";
    private static final String RECORDS = "java/lang/runtime/ObjectMethods";

    private static final String BUILDER = "java/lang/StringBuilder";
    private static final String OBJECT = "java/lang/Object";

    private final Map<String, ClassNode> nodes = new LinkedHashMap<>();
    private final Map<String, byte[]> written = new TreeMap<>();

    private LinkedClasses(Map<String, byte[]> classes) {
        classes.forEach((name, bytes) -> {
            ClassNode node = new ClassNode();
            new ClassReader(bytes).accept(node, 0);
            nodes.put(name, node);
        });
    }

    /**
     * Returns the classes, and those that take the place of what would be generated at run time.
     *
     * @param classes class files by internal name, with the host of each nest
     */
    static Map<String, byte[]> of(Map<String, byte[]> classes) {
        LinkedClasses all = new LinkedClasses(classes);
        all.nodes.values().stream()
                .filter(node -> (node.version & 0xFFFF) >= V11)
                .forEach(node -> all.new Host(node).link());
        all.nodes.forEach((name, node) -> {
            node.methods.forEach(method -> method.localVariables = null);
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            node.accept(writer);
            all.written.put(name, writer.toByteArray());
        });
        return all.written;
    }

    /** What the virtual machine would bind: an implementation, as the interface's method sees it. */
    private record Lambda(Handle implementation, Type instantiated) {}

    /** The lambda expressions that share a class. */
    private static final class Shared {
        private final String name;
        private final String method;
        private final Type erased;
        private final Type made;
        private final List<Lambda> lambdas = new ArrayList<>();

        Shared(String name, String method, Type erased, Type made) {
            this.name = name;
            this.method = method;
            this.erased = erased;
            this.made = made;
        }
    }

    /** One class, whose instructions are replaced. */
    private final class Host {

        private final ClassNode host;
        private final Map<String, Shared> shared = new LinkedHashMap<>();
        private final Map<String, MethodNode> strings = new LinkedHashMap<>();
        private final List<MethodNode> added = new ArrayList<>();

        Host(ClassNode host) {
            this.host = host;
        }

        private boolean isInterface() {
            return (host.access & ACC_INTERFACE) != 0;
        }

        void link() {
            for (MethodNode method : host.methods) {
                ListIterator<AbstractInsnNode> all = method.instructions.iterator();
                while (all.hasNext()) {
                    if (all.next() instanceof InvokeDynamicInsnNode site) {
                        link(site, all);
                    }
                }
            }
            host.methods.addAll(added);
            shared.values().forEach(this::write);
        }

        private void link(InvokeDynamicInsnNode site, ListIterator<AbstractInsnNode> at) {
            String factory = site.bsm.getOwner();
            if (factory.equals(LAMBDAS) && site.bsm.getName().equals("metafactory")) {
                linkLambda(site, at);
            } else if (factory.equals(STRINGS) && site.bsm.getName().equals("makeConcatWithConstants")) {
                at.set(callOf(strings.computeIfAbsent(
                        site.desc + List.of(site.bsmArgs), any -> concatenation(site.desc, site.bsmArgs))));
            } else if (factory.equals(RECORDS)) {
                at.set(callOf(
                        switch (site.name) {
                            case "hashCode" -> hashCodeOf(site);
                            case "equals" -> equalsOf(site);
                            default -> toStringOf(site);
                        }));
            }
        }

        private MethodInsnNode callOf(MethodNode method) {
            return new MethodInsnNode(INVOKESTATIC, host.name, method.name, method.desc, isInterface());
        }

        private MethodNode newMethod(String name, String descriptor) {
            MethodNode method = new MethodNode(
                    ACC_PRIVATE | ACC_STATIC | ACC_SYNTHETIC, name + "$" + added.size(), descriptor, null, null);
            added.add(method);
            return method;
        }

        // ---- strings ----

        private MethodNode concatenation(String descriptor, Object[] recipe) {
            MethodNode method = newMethod("concat", descriptor);
            method.visitTypeInsn(NEW, BUILDER);
            method.visitInsn(DUP);
            method.visitMethodInsn(INVOKESPECIAL, BUILDER, "<init>", "()V", false);
            Type[] types = Type.getArgumentTypes(descriptor);
            int argument = 0;
            int local = 0;
            int constant = 1;
            StringBuilder text = new StringBuilder();
            for (char each : ((String) recipe[0]).toCharArray()) {
                if (each != 1 && each != 2) {
                    text.append(each);
                } else {
                    appendText(method, text);
                    if (each == 1) {
                        method.visitVarInsn(types[argument].getOpcode(ILOAD), local);
                        append(method, types[argument]);
                        local += types[argument++].getSize();
                    } else {
                        method.visitLdcInsn(String.valueOf(recipe[constant++]));
                        append(method, Type.getType(String.class));
                    }
                }
            }
            appendText(method, text);
            method.visitMethodInsn(INVOKEVIRTUAL, BUILDER, "toString", "()Ljava/lang/String;", false);
            method.visitInsn(ARETURN);
            return method;
        }

        private static void appendText(MethodVisitor method, StringBuilder text) {
            if (!text.isEmpty()) {
                method.visitLdcInsn(text.toString());
                append(method, Type.getType(String.class));
                text.setLength(0);
            }
        }

        private static void append(MethodVisitor method, Type type) {
            String taken =
                    switch (type.getSort()) {
                        case Type.BYTE, Type.SHORT -> "I";
                        case Type.OBJECT, Type.ARRAY ->
                            type.getInternalName().equals("java/lang/String")
                                    ? type.getDescriptor()
                                    : "L" + OBJECT + ";";
                        default -> type.getDescriptor();
                    };
            method.visitMethodInsn(INVOKEVIRTUAL, BUILDER, "append", "(" + taken + ")L" + BUILDER + ";", false);
        }

        // ---- records ----

        private static List<Handle> components(InvokeDynamicInsnNode site) {
            List<Handle> getters = new ArrayList<>();
            for (Object each : site.bsmArgs) {
                if (each instanceof Handle getter) {
                    getters.add(getter);
                }
            }
            return getters;
        }

        private static void get(MethodVisitor method, Handle component) {
            method.visitFieldInsn(GETFIELD, component.getOwner(), component.getName(), component.getDesc());
        }

        private MethodNode hashCodeOf(InvokeDynamicInsnNode site) {
            MethodNode method = newMethod("hashCode", site.desc);
            method.visitInsn(ICONST_0);
            for (Handle component : components(site)) {
                method.visitIntInsn(BIPUSH, 31);
                method.visitInsn(IMUL);
                method.visitVarInsn(ALOAD, 0);
                get(method, component);
                Type type = Type.getType(component.getDesc());
                if (type.getSort() >= Type.ARRAY) {
                    method.visitMethodInsn(INVOKESTATIC, "java/util/Objects", "hashCode", "(L" + OBJECT + ";)I", false);
                } else {
                    method.visitMethodInsn(INVOKESTATIC, box(type), "hashCode", "(" + type + ")I", false);
                }
                method.visitInsn(IADD);
            }
            method.visitInsn(IRETURN);
            return method;
        }

        private MethodNode equalsOf(InvokeDynamicInsnNode site) {
            MethodNode method = newMethod("equals", site.desc);
            Label differ = new Label();
            Label other = new Label();
            method.visitVarInsn(ALOAD, 0);
            method.visitVarInsn(ALOAD, 1);
            method.visitJumpInsn(IF_ACMPNE, other);
            method.visitInsn(ICONST_1);
            method.visitInsn(IRETURN);
            method.visitLabel(other);
            method.visitFrame(F_SAME, 0, null, 0, null);
            method.visitVarInsn(ALOAD, 1);
            method.visitTypeInsn(INSTANCEOF, host.name);
            method.visitJumpInsn(IFEQ, differ);
            for (Handle component : components(site)) {
                method.visitVarInsn(ALOAD, 0);
                get(method, component);
                method.visitVarInsn(ALOAD, 1);
                method.visitTypeInsn(CHECKCAST, host.name);
                get(method, component);
                Type type = Type.getType(component.getDesc());
                if (type.getSort() >= Type.ARRAY) {
                    method.visitMethodInsn(
                            INVOKESTATIC, "java/util/Objects", "equals", "(L" + OBJECT + ";L" + OBJECT + ";)Z", false);
                    method.visitJumpInsn(IFEQ, differ);
                } else {
                    method.visitMethodInsn(INVOKESTATIC, box(type), "compare", "(" + type + type + ")I", false);
                    method.visitJumpInsn(IFNE, differ);
                }
            }
            method.visitInsn(ICONST_1);
            method.visitInsn(IRETURN);
            method.visitLabel(differ);
            method.visitFrame(F_SAME, 0, null, 0, null);
            method.visitInsn(ICONST_0);
            method.visitInsn(IRETURN);
            return method;
        }

        private MethodNode toStringOf(InvokeDynamicInsnNode site) {
            String simple = host.name.substring(host.name.lastIndexOf('/') + 1);
            for (InnerClassNode inner : host.innerClasses) {
                simple = inner.name.equals(host.name) && inner.innerName != null ? inner.innerName : simple;
            }
            StringBuilder descriptor = new StringBuilder("(");
            StringBuilder recipe = new StringBuilder(simple).append('[');
            for (Handle component : components(site)) {
                recipe.append(descriptor.length() == 1 ? "" : ", ")
                        .append(component.getName())
                        .append("=\1");
                descriptor.append(component.getDesc());
            }
            MethodNode text = concatenation(
                    descriptor.append(")Ljava/lang/String;").toString(),
                    new Object[] {recipe.append(']').toString()});
            MethodNode method = newMethod("toString", site.desc);
            for (Handle component : components(site)) {
                method.visitVarInsn(ALOAD, 0);
                get(method, component);
            }
            callOf(text).accept(method);
            method.visitInsn(ARETURN);
            return method;
        }

        // ---- lambda expressions ----

        private void linkLambda(InvokeDynamicInsnNode site, ListIterator<AbstractInsnNode> at) {
            Type erased = (Type) site.bsmArgs[0];
            Lambda lambda = new Lambda((Handle) site.bsmArgs[1], (Type) site.bsmArgs[2]);
            Type made = withErasedCaptures(Type.getMethodType(site.desc));
            Shared group = shared.computeIfAbsent(
                    made + site.name + erased,
                    any -> new Shared(host.name + "$Lambdas" + shared.size(), site.name, erased, made));
            int number = group.lambdas.indexOf(lambda);
            if (number < 0) {
                number = group.lambdas.size();
                group.lambdas.add(lambda);
            }
            if (group.made.getArgumentCount() == 0) {
                at.set(new FieldInsnNode(
                        GETSTATIC,
                        group.name,
                        "f" + number,
                        group.made.getReturnType().getDescriptor()));
            } else {
                at.set(new MethodInsnNode(INVOKESTATIC, group.name, "f" + number, group.made.getDescriptor(), false));
            }
        }

        /**
         * Returns a type in which all captured objects are just objects, so that more lambda expressions share a class.
         */
        private static Type withErasedCaptures(Type made) {
            Type[] captured = made.getArgumentTypes();
            for (int i = 0; i < captured.length; i++) {
                captured[i] = captured[i].getSort() >= Type.ARRAY ? Type.getObjectType(OBJECT) : captured[i];
            }
            return Type.getMethodType(made.getReturnType(), captured);
        }

        private void write(Shared group) {
            String nest = host.nestHostClass == null ? host.name : host.nestHostClass;
            ClassNode top = nodes.get(nest);
            if (top == null) {
                throw new IllegalArgumentException("the host " + nest + " of the nest of " + host.name + " is missing");
            }
            if (top.nestMembers == null) {
                top.nestMembers = new ArrayList<>();
            }
            top.nestMembers.add(group.name);

            String made = group.made.getReturnType().getInternalName();
            ClassWriter type = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            type.visit(
                    host.version, ACC_FINAL | ACC_SUPER | ACC_SYNTHETIC, group.name, null, OBJECT, new String[] {made});
            type.visitNestHost(nest);
            Type[] captured = group.made.getArgumentTypes();
            type.visitField(ACC_PRIVATE | ACC_FINAL, "number", "I", null, null).visitEnd();
            for (int i = 0; i < captured.length; i++) {
                type.visitField(ACC_PRIVATE | ACC_FINAL, "c" + i, captured[i].getDescriptor(), null, null)
                        .visitEnd();
            }
            String constructor = Type.getMethodDescriptor(Type.VOID_TYPE, withNumber(captured));
            writeConstructor(type, group.name, captured, constructor);
            if (captured.length == 0) {
                writeConstants(type, group, constructor);
            } else {
                writeFactories(type, group, captured, constructor);
            }
            writeMethod(type, group, captured);
            type.visitEnd();
            written.put(group.name, type.toByteArray());
        }

        private static Type[] withNumber(Type[] captured) {
            Type[] all = new Type[captured.length + 1];
            all[0] = Type.INT_TYPE;
            System.arraycopy(captured, 0, all, 1, captured.length);
            return all;
        }

        private static void writeConstructor(ClassWriter type, String name, Type[] captured, String descriptor) {
            MethodVisitor method = begin(type, ACC_PRIVATE, "<init>", descriptor);
            method.visitVarInsn(ALOAD, 0);
            method.visitMethodInsn(INVOKESPECIAL, OBJECT, "<init>", "()V", false);
            method.visitVarInsn(ALOAD, 0);
            method.visitVarInsn(ILOAD, 1);
            method.visitFieldInsn(PUTFIELD, name, "number", "I");
            int local = 2;
            for (int i = 0; i < captured.length; i++) {
                method.visitVarInsn(ALOAD, 0);
                method.visitVarInsn(captured[i].getOpcode(ILOAD), local);
                method.visitFieldInsn(PUTFIELD, name, "c" + i, captured[i].getDescriptor());
                local += captured[i].getSize();
            }
            end(method, RETURN);
        }

        /** A lambda expression that captures nothing is one object, as it is without this step. */
        private static void writeConstants(ClassWriter type, Shared group, String constructor) {
            String made = group.made.getReturnType().getDescriptor();
            MethodVisitor initializer = begin(type, ACC_STATIC, "<clinit>", "()V");
            for (int i = 0; i < group.lambdas.size(); i++) {
                type.visitField(ACC_STATIC | ACC_FINAL, "f" + i, made, null, null)
                        .visitEnd();
                initializer.visitTypeInsn(NEW, group.name);
                initializer.visitInsn(DUP);
                push(initializer, i);
                initializer.visitMethodInsn(INVOKESPECIAL, group.name, "<init>", constructor, false);
                initializer.visitFieldInsn(PUTSTATIC, group.name, "f" + i, made);
            }
            end(initializer, RETURN);
        }

        private static void writeFactories(ClassWriter type, Shared group, Type[] captured, String constructor) {
            for (int i = 0; i < group.lambdas.size(); i++) {
                MethodVisitor method = begin(type, ACC_STATIC, "f" + i, group.made.getDescriptor());
                method.visitTypeInsn(NEW, group.name);
                method.visitInsn(DUP);
                push(method, i);
                int local = 0;
                for (Type each : captured) {
                    method.visitVarInsn(each.getOpcode(ILOAD), local);
                    local += each.getSize();
                }
                method.visitMethodInsn(INVOKESPECIAL, group.name, "<init>", constructor, false);
                end(method, ARETURN);
            }
        }

        private void writeMethod(ClassWriter type, Shared group, Type[] captured) {
            MethodVisitor method = begin(type, ACC_PUBLIC, group.method, group.erased.getDescriptor());
            int last = group.lambdas.size() - 1;
            Label[] labels = new Label[last + 1];
            for (int i = 0; i <= last; i++) {
                labels[i] = new Label();
            }
            if (last > 0) {
                method.visitVarInsn(ALOAD, 0);
                method.visitFieldInsn(GETFIELD, group.name, "number", "I");
                method.visitTableSwitchInsn(0, last, labels[last], labels);
            }
            for (int i = 0; i <= last; i++) {
                method.visitLabel(labels[i]);
                if (last > 0) {
                    method.visitFrame(F_SAME, 0, null, 0, null);
                }
                call(method, group, captured, group.lambdas.get(i));
            }
            method.visitMaxs(0, 0);
            method.visitEnd();
        }

        /** Calls the implementation with what was captured and the arguments, and returns its result. */
        private void call(MethodVisitor method, Shared group, Type[] captured, Lambda lambda) {
            Handle handle = lambda.implementation();
            Type owner = Type.getObjectType(handle.getOwner());
            boolean isNew = handle.getTag() == H_NEWINVOKESPECIAL;
            List<Type> taken = new ArrayList<>();
            if (!isNew && handle.getTag() != H_INVOKESTATIC) {
                taken.add(owner);
            }
            taken.addAll(List.of(Type.getArgumentTypes(handle.getDesc())));
            if (isNew) {
                method.visitTypeInsn(NEW, handle.getOwner());
                method.visitInsn(DUP);
            }
            for (int i = 0; i < captured.length; i++) {
                method.visitVarInsn(ALOAD, 0);
                method.visitFieldInsn(GETFIELD, group.name, "c" + i, captured[i].getDescriptor());
                convert(method, captured[i], captured[i], taken.get(i));
            }
            Type[] erased = group.erased.getArgumentTypes();
            Type[] instantiated = lambda.instantiated().getArgumentTypes();
            int local = 1;
            for (int i = 0; i < erased.length; i++) {
                method.visitVarInsn(erased[i].getOpcode(ILOAD), local);
                convert(method, erased[i], instantiated[i], taken.get(captured.length + i));
                local += erased[i].getSize();
            }
            int opcode =
                    switch (handle.getTag()) {
                        case H_INVOKESTATIC -> INVOKESTATIC;
                        case H_NEWINVOKESPECIAL -> INVOKESPECIAL;
                        case H_INVOKEINTERFACE -> INVOKEINTERFACE;
                        // A private method, which a nestmate calls like any other.
                        default -> handle.isInterface() ? INVOKEINTERFACE : INVOKEVIRTUAL;
                    };
            method.visitMethodInsn(opcode, handle.getOwner(), handle.getName(), handle.getDesc(), handle.isInterface());
            Type result = isNew ? owner : Type.getReturnType(handle.getDesc());
            Type wanted = group.erased.getReturnType();
            if (wanted.getSort() == Type.VOID) {
                if (result.getSort() != Type.VOID) {
                    method.visitInsn(result.getSize() == 2 ? POP2 : POP);
                }
            } else {
                convert(method, result, result, wanted);
            }
            method.visitInsn(wanted.getOpcode(IRETURN));
        }

        /**
         * Converts the value on the stack as {@code LambdaMetafactory} does.
         *
         * @param from the type by which the value is known
         * @param is the type that it has
         * @param to the type that is needed
         */
        private static void convert(MethodVisitor method, Type from, Type is, Type to) {
            boolean isReference = from.getSort() >= Type.ARRAY;
            boolean toReference = to.getSort() >= Type.ARRAY;
            if (isReference && toReference) {
                if (!to.equals(from) && !to.getInternalName().equals(OBJECT)) {
                    method.visitTypeInsn(CHECKCAST, to.getInternalName());
                }
            } else if (isReference) {
                Type primitive = unboxed(is);
                Type unboxed = primitive == null ? to : primitive;
                boolean isAnyNumber = primitive == null && to.getSort() != Type.BOOLEAN && to.getSort() != Type.CHAR;
                String box = isAnyNumber ? "java/lang/Number" : box(unboxed);
                method.visitTypeInsn(CHECKCAST, box);
                method.visitMethodInsn(INVOKEVIRTUAL, box, unboxed.getClassName() + "Value", "()" + unboxed, false);
                widen(method, unboxed, to);
            } else if (toReference) {
                String box = box(from);
                method.visitMethodInsn(INVOKESTATIC, box, "valueOf", "(" + from + ")L" + box + ";", false);
            } else {
                widen(method, from, to);
            }
        }

        private static void widen(MethodVisitor method, Type from, Type to) {
            int kind = from.getSort() <= Type.INT ? Type.INT : from.getSort();
            int wanted = to.getSort() <= Type.INT ? Type.INT : to.getSort();
            if (kind != wanted) {
                method.visitInsn(
                        switch (kind * 16 + wanted) {
                            case Type.INT * 16 + Type.LONG -> I2L;
                            case Type.INT * 16 + Type.FLOAT -> I2F;
                            case Type.INT * 16 + Type.DOUBLE -> I2D;
                            case Type.LONG * 16 + Type.FLOAT -> L2F;
                            case Type.LONG * 16 + Type.DOUBLE -> L2D;
                            case Type.FLOAT * 16 + Type.DOUBLE -> F2D;
                            default -> throw new IllegalArgumentException(from + " is not widened to " + to);
                        });
            }
        }

        private static String box(Type primitive) {
            return switch (primitive.getSort()) {
                case Type.BOOLEAN -> "java/lang/Boolean";
                case Type.CHAR -> "java/lang/Character";
                case Type.BYTE -> "java/lang/Byte";
                case Type.SHORT -> "java/lang/Short";
                case Type.INT -> "java/lang/Integer";
                case Type.LONG -> "java/lang/Long";
                case Type.FLOAT -> "java/lang/Float";
                case Type.DOUBLE -> "java/lang/Double";
                default -> throw new IllegalArgumentException(primitive + " has no box");
            };
        }

        private static @Nullable Type unboxed(Type box) {
            return switch (box.getInternalName()) {
                case "java/lang/Boolean" -> Type.BOOLEAN_TYPE;
                case "java/lang/Character" -> Type.CHAR_TYPE;
                case "java/lang/Byte" -> Type.BYTE_TYPE;
                case "java/lang/Short" -> Type.SHORT_TYPE;
                case "java/lang/Integer" -> Type.INT_TYPE;
                case "java/lang/Long" -> Type.LONG_TYPE;
                case "java/lang/Float" -> Type.FLOAT_TYPE;
                case "java/lang/Double" -> Type.DOUBLE_TYPE;
                default -> null;
            };
        }

        private static MethodVisitor begin(ClassWriter type, int access, String name, String descriptor) {
            MethodVisitor method = type.visitMethod(access, name, descriptor, null, null);
            method.visitCode();
            return method;
        }

        private static void end(MethodVisitor method, int opcode) {
            method.visitInsn(opcode);
            method.visitMaxs(0, 0);
            method.visitEnd();
        }

        private static void push(MethodVisitor method, int number) {
            method.visitLdcInsn(number);
        }
    }
}
