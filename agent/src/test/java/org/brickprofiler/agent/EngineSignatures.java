package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Class files that have the names, the signatures and the order of calls of an engine's classes, as a list states them.
 * They compute nothing: every call gets zeros and nulls. A list has a line for each class, field and method; the calls
 * of a method follow its signature, as {@code Type.name} or, of several overloads, {@code Type.name/ARGUMENTS}, and the
 * calls of a lambda that a call takes as its last argument follow the call in braces.
 */
final class EngineSignatures {

    private static final Pattern TYPE = Pattern.compile(
            "(class|interface) (?<name>[\\w.$]+)(?: extends (?<above>\\w+))?(?: implements (?<interface>\\w+))?");
    private static final Pattern FIELD = Pattern.compile("field (?<type>[\\w$\\[\\]]+) (?<name>\\w+)");
    private static final Pattern METHOD = Pattern.compile(
            "(?<static>static )?(?<type>[\\w$\\[\\]]+) (?<name>\\w+)\\((?<types>[^)]*)\\)(?:: (?<calls>.*))?");
    private static final Pattern CALL =
            Pattern.compile("(?<owner>[\\w$]+)\\.(?<name>\\w+)(?:/(?<count>\\d+))?(?:\\{(?<lambda>[^}]*)\\})?");

    private static final Map<String, Type> OTHER = Map.ofEntries(
            Map.entry("void", Type.VOID_TYPE),
            Map.entry("boolean", Type.BOOLEAN_TYPE),
            Map.entry("int", Type.INT_TYPE),
            Map.entry("long", Type.LONG_TYPE),
            Map.entry("float", Type.FLOAT_TYPE),
            Map.entry("Object", Type.getType(Object.class)),
            Map.entry("String", Type.getType(String.class)),
            Map.entry("List", Type.getType(List.class)),
            Map.entry("Set", Type.getType(java.util.Set.class)),
            Map.entry("Consumer", Type.getType(java.util.function.Consumer.class)),
            Map.entry("IntConsumer", Type.getType(java.util.function.IntConsumer.class)),
            Map.entry("LongConsumer", Type.getType(java.util.function.LongConsumer.class)));

    private static final Handle METAFACTORY = new Handle(
            Opcodes.H_INVOKESTATIC,
            "java/lang/invoke/LambdaMetafactory",
            "metafactory",
            "(Ljava/lang/invoke/MethodHandles$Lookup;Ljava/lang/String;Ljava/lang/invoke/MethodType;"
                    + "Ljava/lang/invoke/MethodType;Ljava/lang/invoke/MethodHandle;Ljava/lang/invoke/MethodType;)"
                    + "Ljava/lang/invoke/CallSite;",
            false);

    /** The classes by their name after the last dot. */
    private final Map<String, ClassNode> types = new LinkedHashMap<>();

    /** The calls of each method that has some. */
    private final Map<MethodNode, String> calls = new LinkedHashMap<>();

    private EngineSignatures() {}

    /** Returns the class files of a list, by binary name. */
    static Map<String, byte[]> classes(Path list) throws IOException {
        List<String> lines = Files.readAllLines(list).stream()
                .map(String::strip)
                .filter(line -> !line.isEmpty() && !line.startsWith("#"))
                .toList();
        EngineSignatures signatures = new EngineSignatures();
        lines.forEach(signatures::addType);
        signatures.addMembers(lines);
        signatures.types.values().forEach(signatures::addCode);
        Map<String, byte[]> files = new LinkedHashMap<>();
        for (ClassNode type : signatures.types.values()) {
            ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
            type.accept(writer);
            files.put(type.name.replace('/', '.'), writer.toByteArray());
        }
        return files;
    }

    private void addType(String line) {
        Matcher matcher = TYPE.matcher(line);
        if (matcher.matches()) {
            String name = matcher.group("name");
            ClassNode type = new ClassNode();
            boolean isInterface = line.startsWith("interface");
            type.visit(
                    Opcodes.V17,
                    Opcodes.ACC_PUBLIC | (isInterface ? Opcodes.ACC_INTERFACE | Opcodes.ACC_ABSTRACT : 0),
                    name.replace('.', '/'),
                    null,
                    "java/lang/Object",
                    null);
            types.put(name.substring(name.lastIndexOf('.') + 1), type);
        }
    }

    private void addMembers(List<String> lines) {
        ClassNode type = new ClassNode();
        for (String line : lines) {
            Matcher ofType = TYPE.matcher(line);
            Matcher field = FIELD.matcher(line);
            Matcher method = METHOD.matcher(line);
            if (ofType.matches()) {
                String name = ofType.group("name");
                type = node(name.substring(name.lastIndexOf('.') + 1));
                if (ofType.group("above") != null) {
                    type.superName = node(ofType.group("above")).name;
                }
                if (ofType.group("interface") != null) {
                    type.interfaces.add(node(ofType.group("interface")).name);
                }
            } else if (field.matches()) {
                type.fields.add(new FieldNode(
                        Opcodes.ACC_PUBLIC,
                        field.group("name"),
                        type(field.group("type")).getDescriptor(),
                        null,
                        null));
            } else if (method.matches()) {
                addMethod(type, method);
            } else {
                throw new IllegalArgumentException("neither a class nor a member: " + line);
            }
        }
    }

    private void addMethod(ClassNode type, Matcher line) {
        boolean isAbstract = (type.access & Opcodes.ACC_INTERFACE) != 0;
        Type[] parameters = Stream.of(line.group("types").split(","))
                .map(String::strip)
                .filter(each -> !each.isEmpty())
                .map(this::type)
                .toArray(Type[]::new);
        MethodNode method = new MethodNode(
                Opcodes.ACC_PUBLIC
                        | (line.group("static") == null ? 0 : Opcodes.ACC_STATIC)
                        | (isAbstract ? Opcodes.ACC_ABSTRACT : 0),
                line.group("name"),
                Type.getMethodDescriptor(type(line.group("type")), parameters),
                null,
                null);
        type.methods.add(method);
        String called = line.group("calls");
        if (called != null) {
            calls.put(method, called);
        }
    }

    private ClassNode node(String name) {
        return Objects.requireNonNull(types.get(name), () -> "the list has no class " + name);
    }

    private Type type(String name) {
        if (name.endsWith("[]")) {
            return Type.getType("[" + type(name.substring(0, name.length() - 2)).getDescriptor());
        }
        Type other = OTHER.get(name);
        return other != null ? other : Type.getObjectType(node(name).name);
    }

    private void addCode(ClassNode type) {
        for (MethodNode method : List.copyOf(type.methods)) {
            if ((method.access & Opcodes.ACC_ABSTRACT) == 0) {
                method.instructions.add(new InsnNode(Opcodes.NOP));
                addCalls(type, method, calls.getOrDefault(method, ""));
                Type result = Type.getReturnType(method.desc);
                if (result.getSort() != Type.VOID) {
                    method.instructions.add(zero(result));
                }
                method.instructions.add(new InsnNode(result.getOpcode(Opcodes.IRETURN)));
            }
        }
    }

    private void addCalls(ClassNode type, MethodNode method, String text) {
        Matcher call = CALL.matcher(text);
        while (call.find()) {
            ClassNode owner = node(call.group("owner"));
            MethodNode called = called(owner, call.group("name"), call.group("count"));
            boolean isStatic = (called.access & Opcodes.ACC_STATIC) != 0;
            if (!isStatic) {
                method.instructions.add(new InsnNode(Opcodes.ACONST_NULL));
            }
            Type[] parameters = Type.getArgumentTypes(called.desc);
            String lambda = call.group("lambda");
            for (int i = 0; i < parameters.length; i++) {
                method.instructions.add(
                        lambda != null && i == parameters.length - 1
                                ? lambda(type, parameters[i], lambda)
                                : zero(parameters[i]));
            }
            boolean isInterface = (owner.access & Opcodes.ACC_INTERFACE) != 0;
            method.instructions.add(new MethodInsnNode(
                    isStatic ? Opcodes.INVOKESTATIC : isInterface ? Opcodes.INVOKEINTERFACE : Opcodes.INVOKEVIRTUAL,
                    owner.name,
                    called.name,
                    called.desc,
                    isInterface));
            int size = Type.getReturnType(called.desc).getSize();
            if (size > 0) {
                method.instructions.add(new InsnNode(size == 1 ? Opcodes.POP : Opcodes.POP2));
            }
        }
    }

    private static MethodNode called(ClassNode owner, String name, @Nullable String count) {
        List<MethodNode> named = owner.methods.stream()
                .filter(each -> each.name.equals(name))
                .filter(each -> count == null || Type.getArgumentTypes(each.desc).length == Integer.parseInt(count))
                .toList();
        if (named.size() != 1) {
            throw new IllegalArgumentException(owner.name + " has " + named.size() + " methods " + name);
        }
        return named.get(0);
    }

    private InvokeDynamicInsnNode lambda(ClassNode type, Type taken, String calls) {
        Type value = taken.getClassName().endsWith("LongConsumer") ? Type.LONG_TYPE : Type.INT_TYPE;
        Type shape = Type.getMethodType(Type.VOID_TYPE, value);
        MethodNode body = new MethodNode(
                Opcodes.ACC_PRIVATE | Opcodes.ACC_STATIC | Opcodes.ACC_SYNTHETIC,
                "lambda$" + type.methods.size(),
                shape.getDescriptor(),
                null,
                null);
        type.methods.add(body);
        body.instructions.add(new InsnNode(Opcodes.NOP));
        addCalls(type, body, calls);
        body.instructions.add(new InsnNode(Opcodes.RETURN));
        return new InvokeDynamicInsnNode(
                "accept",
                Type.getMethodDescriptor(taken),
                METAFACTORY,
                shape,
                new Handle(Opcodes.H_INVOKESTATIC, type.name, body.name, body.desc, false),
                shape);
    }

    private static AbstractInsnNode zero(Type type) {
        return switch (type.getSort()) {
            case Type.LONG -> new LdcInsnNode(0L);
            case Type.FLOAT -> new InsnNode(Opcodes.FCONST_0);
            case Type.OBJECT, Type.ARRAY -> new InsnNode(Opcodes.ACONST_NULL);
            default -> new InsnNode(Opcodes.ICONST_0);
        };
    }

    /** Returns the names of the lists of a folder, without their ending. */
    static List<String> names(Path folder) throws IOException {
        List<String> names = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            files.map(file -> file.getFileName().toString().replace(".txt", ""))
                    .sorted()
                    .forEach(names::add);
        }
        return names;
    }
}
