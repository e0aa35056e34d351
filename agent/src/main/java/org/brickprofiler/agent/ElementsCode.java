package org.brickprofiler.agent;

import java.lang.invoke.CallSite;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Call;
import org.brickprofiler.agent.WeaveRule.Elements;
import org.brickprofiler.agent.WeaveRule.Ending;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.InsnList;
import org.objectweb.asm.tree.InsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Generates the code that pushes the numbers of a rule, such as its elements or a layer's number, each as a long. An
 * {@code invokedynamic} that the bridge links reads a path of fields and calls: inline code could throw in the middle
 * of the application's method. One instance serves one rule in one method; not thread-safe.
 */
final class ElementsCode {

    private static final Handle READER = bridge("elements");

    private static final Handle OUTCOME_READER = bridge("outcome");

    private static final Handle AMOUNT_READER = bridge("amount");

    private static final Handle WEIGHT_READER = bridge("weight");

    /** The packages of the JDK. */
    private static final List<String> JDK = List.of("java/", "javax/", "jdk/", "sun/");

    private static final Type OBJECT = Type.getType(Object.class);

    private static Handle bridge(String name) {
        return new Handle(
                Opcodes.H_INVOKESTATIC,
                MethodWeaver.BRIDGE,
                name,
                MethodType.methodType(
                                CallSite.class,
                                MethodHandles.Lookup.class,
                                String.class,
                                MethodType.class,
                                String.class,
                                String[].class)
                        .toMethodDescriptorString(),
                false);
    }

    /** Rows, columns, vectors, and the bytes of the weights. */
    private static final int NUMBERS_OF_PRODUCT = 4;

    private final ClassNode owner;
    private final MethodNode method;
    private final @Nullable ClassLoader loader;
    private final WeaveRule rule;

    /** The argument types of the call before which the span begins; null until a rule reads one of them. */
    private Type @Nullable [] arguments;

    private int[] argumentSlots = {};

    /** The type of the receiver of that call; null until a rule reads the receiver. */
    private @Nullable Type receiver;

    private int receiverSlot;

    ElementsCode(ClassNode owner, MethodNode method, @Nullable ClassLoader loader, WeaveRule rule) {
        this.owner = owner;
        this.method = method;
        this.loader = loader;
        this.rule = rule;
    }

    /**
     * Returns the code that pushes the rule's numbers, in the order of the bridge's parameters. It expects
     * {@link #spill} before it.
     *
     * @throws IllegalArgumentException when a parameter, field or method that the rule names does not exist
     */
    InsnList code() {
        InsnList code = new InsnList();
        if (rule.kind().isOfRequests()) {
            addObject(rule.request(), code);
        }
        if (rule.kind() != WeaveRule.Kind.FINISH) {
            add(rule.elements(), false, code);
        }
        switch (rule.kind()) {
            case STEP -> {
                add(rule.kvLength(), false, code);
                add(rule.output(), true, code);
                code.add(new InsnNode(rule.isPrompt() ? Opcodes.ICONST_1 : Opcodes.ICONST_0));
            }
            case PROMPT, IN_STEP -> add(rule.output(), true, code);
            case ARRIVAL, FINISH, REQUEST, MODEL, LAYER, BRICK, TASK -> {}
        }
        return code;
    }

    /**
     * Returns the code that pushes the id or the model of a request, which expects {@link #spill} before it; empty if
     * the rule states none.
     *
     * @param path the path to it
     * @throws IllegalArgumentException when a parameter, field or method that the rule names does not exist
     */
    InsnList name(WeaveRule.Elements path) {
        InsnList code = new InsnList();
        addObject(path, code);
        return code;
    }

    /**
     * Returns the code that pushes the shape of the rule's product and the bytes of its weights, which expects
     * {@link #spill} before it; empty if the rule has no product.
     *
     * @throws IllegalArgumentException when a parameter, field or method that the rule names does not exist
     */
    InsnList product() {
        InsnList code = new InsnList();
        WeaveRule.Product product = rule.product().orElse(null);
        if (product != null && !product.shape().isEmpty()) {
            product.shape().forEach(each -> addAmount(each, code));
            addWeight(product.weight(), code);
        } else if (product != null) {
            code.add(unknownProduct());
        }
        return code;
    }

    /** Returns the code that pushes the numbers of a product that is not known. */
    static InsnList unknownProduct() {
        InsnList code = new InsnList();
        for (int i = 0; i < NUMBERS_OF_PRODUCT; i++) {
            code.add(constant(WovenWork.UNREAD));
        }
        return code;
    }

    /**
     * Returns the code for each number of a model, in the order of {@link WeaveRule.ModelNumber}; it expects
     * {@link #spill} before it.
     *
     * @throws IllegalArgumentException when a parameter, field or method that the rule names does not exist
     */
    List<InsnList> model() {
        List<InsnList> numbers = new ArrayList<>();
        for (WeaveRule.Weight each : rule.model()) {
            InsnList code = new InsnList();
            if (each.isType()) {
                addWeight(each, code);
            } else {
                addAmount(each.path(), code);
            }
            numbers.add(code);
        }
        return numbers;
    }

    /**
     * Returns the code that copies the arguments of the call, and its receiver, into variables, if the code that was
     * returned so far reads them; otherwise no code.
     */
    InsnList spill() {
        InsnList code = new InsnList();
        if (arguments != null) {
            for (int i = 0; i < arguments.length; i++) {
                code.insert(new VarInsnNode(arguments[i].getOpcode(Opcodes.ISTORE), argumentSlots[i]));
            }
            if (receiver != null) {
                code.add(new VarInsnNode(Opcodes.ASTORE, receiverSlot));
                code.add(new VarInsnNode(Opcodes.ALOAD, receiverSlot));
            }
            for (int i = 0; i < arguments.length; i++) {
                code.add(new VarInsnNode(arguments[i].getOpcode(Opcodes.ILOAD), argumentSlots[i]));
            }
        }
        return code;
    }

    /**
     * Adds the code for one number.
     *
     * @param elements the number
     * @param orBoolean whether a boolean is accepted too, as 0 or 1
     */
    private void add(Elements elements, boolean orBoolean, InsnList code) {
        if (elements.isConstant()) {
            code.add(constant(elements.constant()));
            return;
        }
        addNumber(elements, orBoolean ? Type.BOOLEAN : Type.CHAR, READER, code);
    }

    /** Adds the code for a number of a brick's work; the number is {@link WovenWork#UNREAD} if it cannot be read. */
    private void addAmount(Elements amount, InsnList code) {
        if (amount.isConstant()) {
            code.add(constant(amount.constant()));
        } else {
            addNumber(amount, Type.CHAR, AMOUNT_READER, code);
        }
    }

    /**
     * Adds the code for a number behind a path.
     *
     * @param smallest the lowest accepted sort, a constant of {@link Type}; accepted are the sorts up to int, and long
     * @param reader links the code that follows the path
     */
    private void addNumber(Elements number, int smallest, Handle reader, InsnList code) {
        Type root = start(number, code);
        List<String> steps = new ArrayList<>();
        Type type = along(root, number, number.rootNames(), steps);
        boolean isWhole = type.getSort() >= smallest && type.getSort() <= Type.INT;
        if (!isWhole && type.getSort() != Type.LONG) {
            throw new IllegalArgumentException(
                    "'" + number + "' is not a whole number but has the type " + type.getClassName());
        }
        if (!steps.isEmpty()) {
            code.add(read(reader, Type.LONG_TYPE, root, number, steps));
        } else if (isWhole) {
            code.add(new InsnNode(Opcodes.I2L));
        }
    }

    /** Adds the code for the bytes of a block of weights. */
    private void addWeight(WeaveRule.Weight weight, InsnList code) {
        Elements path = weight.path();
        if (path.isConstant()) {
            code.add(constant(path.constant()));
            return;
        }
        Type root = start(path, code);
        List<String> steps = new ArrayList<>();
        Type type = along(root, path, path.rootNames(), steps);
        if (type.getSort() != Type.OBJECT) {
            throw new IllegalArgumentException("'" + path + "' has the type " + type.getClassName()
                    + ": write the path to an object that names a type of numbers, such as Q8_0");
        }
        steps.add(0, WeightTypes.text(weight.types()));
        code.add(read(WEIGHT_READER, Type.LONG_TYPE, root, path, steps));
    }

    /** Adds the code that loads the value at which a path begins, and returns its type. */
    private Type start(Elements path, InsnList code) {
        int argument = path.argument();
        if (argument >= 0) {
            return argument(argument, code);
        }
        return path.isOfReceiver() ? receiver(code) : root(path.path().get(0), code);
    }

    /** Returns the type of the value at the end of a path, and adds the steps to it. */
    private Type along(Type root, Elements path, int from, List<String> steps) {
        Type type = root;
        for (String name : path.path().subList(from, path.path().size())) {
            type = step(type, name, steps);
        }
        return type;
    }

    private InvokeDynamicInsnNode read(Handle reader, Type value, Type root, Elements path, List<String> steps) {
        List<Object> constants = new ArrayList<>(List.of("line " + rule.line() + ", '" + path + "'"));
        constants.addAll(steps);
        return new InvokeDynamicInsnNode(
                reader.getName(), Type.getMethodDescriptor(value, root), reader, constants.toArray());
    }

    /** Adds the code for the object that identifies a request; none if the rule has no such object. */
    private void addObject(Elements path, InsnList code) {
        if (path.isConstant()) {
            return;
        }
        Type root = start(path, code);
        List<String> steps = new ArrayList<>();
        Type type = along(root, path, path.rootNames(), steps);
        if (type.getSort() == Type.VOID) {
            throw new IllegalArgumentException("'" + path + "' returns nothing");
        }
        code.add(read(READER, OBJECT, root, path, steps));
    }

    /**
     * Returns the code that pushes the number of the outcome with which the rule's span ends. If the outcome depends on
     * the value that the method or the call returns, the code expects this value on top of the stack and leaves it
     * there, below the number.
     *
     * @throws IllegalArgumentException when the value that decides does not exist at the end of the span
     */
    InsnList outcome() {
        InsnList code = new InsnList();
        Ending ending = rule.ending();
        Elements path = ending.path();
        if (path.isConstant()) {
            code.add(Outcomes.push(ending.constant()));
            return code;
        }
        Type root = ending.isOfResult() ? result() : root(path.path().get(0), code, false);
        List<String> steps = new ArrayList<>();
        Type type = along(root, path, 1, steps);
        if (type.getSort() == Type.VOID || type.getSort() == Type.ARRAY) {
            throw new IllegalArgumentException(
                    "'" + path + "' has the type " + type.getClassName() + ", which says no outcome");
        }
        if (ending.isOfResult()) {
            code.add(new InsnNode(root.getSize() == 2 ? Opcodes.DUP2 : Opcodes.DUP));
        }
        List<Object> constants = new ArrayList<>(List.of("line " + rule.line() + ", '" + path + "'"));
        constants.add(Outcomes.text(ending.outcomes()));
        constants.addAll(steps);
        code.add(new InvokeDynamicInsnNode(
                "outcome", Type.getMethodDescriptor(Type.INT_TYPE, root), OUTCOME_READER, constants.toArray()));
        return code;
    }

    /** Returns the type of the value that is on the stack at the end of the span. */
    private Type result() {
        Call call = rule.to().call();
        List<Type> types = call == null
                ? List.of(Type.getReturnType(method.desc))
                : MethodWeaver.calls(method, call).stream()
                        .map(each -> Type.getReturnType(each.desc))
                        .distinct()
                        .toList();
        if (rule.to().place() == Anchor.Place.BEFORE) {
            throw new IllegalArgumentException(
                    "'result' is known only where a span ends at exit or after a call, not " + rule.to());
        }
        if (types.size() != 1 || types.get(0).getSort() == Type.VOID) {
            throw new IllegalArgumentException((call == null ? method.name : call.text())
                    + (types.size() == 1 ? " returns nothing" : " returns different types")
                    + ": there is no 'result'");
        }
        return types.get(0);
    }

    /** Loads an argument of the call before which the span begins, and returns its type. */
    private Type argument(int number, InsnList code) {
        Type[] types = arguments("call.arg" + number);
        if (number >= types.length) {
            throw new IllegalArgumentException(
                    rule.from().call() + " takes " + types.length + " arguments: there is no call.arg" + number);
        }
        code.add(new VarInsnNode(types[number].getOpcode(Opcodes.ILOAD), argumentSlots[number]));
        return types[number];
    }

    /** Loads the receiver of the call before which the span begins, and returns its type. */
    private Type receiver(InsnList code) {
        arguments("call.this");
        Type type = receiver;
        if (type == null) {
            List<MethodInsnNode> calls = calls("call.this");
            List<String> owners =
                    calls.stream().map(each -> each.owner).distinct().toList();
            if (calls.stream().anyMatch(each -> each.getOpcode() == Opcodes.INVOKESTATIC)) {
                throw new IllegalArgumentException(rule.from().call() + " is static: there is no call.this");
            }
            if (calls.get(0).name.equals("<init>") || owners.size() > 1) {
                throw new IllegalArgumentException(method.name + " calls methods named "
                        + calls.get(0).name + " of "
                        + String.join(" and ", owners).replace('/', '.')
                        + ": there is no one call.this");
            }
            type = Type.getObjectType(owners.get(0));
            receiver = type;
            receiverSlot = method.maxLocals++;
        }
        code.add(new VarInsnNode(Opcodes.ALOAD, receiverSlot));
        return type;
    }

    private List<MethodInsnNode> calls(String value) {
        Call call = rule.from().call();
        if (call == null || rule.from().place() != Anchor.Place.BEFORE) {
            throw new IllegalArgumentException("'" + value
                    + "' is known only where a span begins before a call: from: before NAME, or call: NAME");
        }
        return MethodWeaver.calls(method, call);
    }

    /**
     * Returns the types of the arguments of the call before which the span begins. The first call of this method
     * allocates local variables for the arguments.
     */
    private Type[] arguments(String value) {
        Type[] types = arguments;
        if (types == null) {
            List<MethodInsnNode> calls = calls(value);
            types = Type.getArgumentTypes(calls.get(0).desc);
            for (MethodInsnNode each : calls) {
                if (!Arrays.equals(Type.getArgumentTypes(each.desc), types)) {
                    String call = String.valueOf(rule.from().call());
                    throw new IllegalArgumentException(method.name + " calls methods named " + call
                            + " with different parameters: say which call, as in " + call + " 1");
                }
            }
            argumentSlots = new int[types.length];
            for (int i = 0; i < types.length; i++) {
                argumentSlots[i] = method.maxLocals;
                method.maxLocals += types[i].getSize();
            }
            arguments = types;
        }
        return types;
    }

    /** Returns the shortest instruction that pushes a constant. */
    static AbstractInsnNode constant(long value) {
        return value == 0 || value == 1
                ? new InsnNode(value == 0 ? Opcodes.LCONST_0 : Opcodes.LCONST_1)
                : new LdcInsnNode(value);
    }

    private Type root(String name, InsnList code) {
        return root(name, code, rule.from().equals(Anchor.ENTRY));
    }

    private Type root(String name, InsnList code, boolean atEntry) {
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
            String given = Operands.parameterName(method, i, slot);
            if (name.equals(given) || name.equals("arg" + i)) {
                if (!atEntry) {
                    requireUnchanged(name, slot, types[i]);
                }
                code.add(new VarInsnNode(types[i].getOpcode(Opcodes.ILOAD), slot));
                return types[i];
            }
            names.add(given == null ? "arg" + i : given);
            slot += types[i].getSize();
        }
        throw new IllegalArgumentException(method.name + " has no parameter '" + name + "'"
                + (names.isEmpty() ? ", it has none" : ClosestNames.hint(name, names.stream())));
    }

    /**
     * Refuses a parameter whose variable the method overwrites with a value that may have another type: with a
     * reference, or with a value of another kind.
     */
    private void requireUnchanged(String name, int slot, Type type) {
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

    private Type step(Type type, String name, List<String> steps) {
        if (name.equals("length") && type.getSort() == Type.ARRAY) {
            steps.add(name);
            return Type.INT_TYPE;
        }
        if (type.getSort() != Type.OBJECT) {
            throw new IllegalArgumentException("there is no '" + name + "' in the type " + type.getClassName());
        }
        return name.endsWith("()") ? call(type, name.substring(0, name.length() - 2), steps) : field(type, name, steps);
    }

    private Type field(Type type, String name, List<String> steps) {
        List<String> names = new ArrayList<>();
        for (ClassNode each = read(type.getInternalName()); each != null; each = superclass(each)) {
            for (FieldNode field : each.fields) {
                if (field.name.equals(name)) {
                    requireAccess(each, field.access, type.getClassName() + '.' + name);
                    if ((field.access & Opcodes.ACC_STATIC) != 0) {
                        throw new IllegalArgumentException(type.getClassName() + '.' + name + " is static");
                    }
                    steps.add(name + ':' + field.desc);
                    return Type.getType(field.desc);
                }
                names.add(field.name);
            }
        }
        throw new IllegalArgumentException(
                type.getClassName() + " has no field '" + name + "'" + ClosestNames.hint(name, names.stream()));
    }

    private Type call(Type type, String name, List<String> steps) {
        List<String> names = new ArrayList<>();
        ClassNode receiver = read(type.getInternalName());
        for (ClassNode each : withAllAbove(receiver)) {
            for (MethodNode called : each.methods) {
                if (!called.desc.startsWith("()") || (called.access & Opcodes.ACC_STATIC) != 0) {
                    continue;
                }
                if (called.name.equals(name)) {
                    requireAccess(each, called.access, type.getClassName() + '.' + name + "()");
                    steps.add(name + ':' + called.desc);
                    return Type.getReturnType(called.desc);
                }
                names.add(called.name);
            }
        }
        Stream<String> callable = names.stream().filter(each -> !each.startsWith("<"));
        throw new IllegalArgumentException(
                type.getClassName() + " has no method '" + name + "()'" + ClosestNames.hint(name, callable));
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

    /** Refuses members of the JDK that are not public. Members of other classes can be read, public or not. */
    private static void requireAccess(ClassNode declaring, int access, String member) {
        boolean isPublic = (access & Opcodes.ACC_PUBLIC) != 0 && (declaring.access & Opcodes.ACC_PUBLIC) != 0;
        if (!isPublic && JDK.stream().anyMatch(declaring.name::startsWith)) {
            throw new IllegalArgumentException(member + " is not public, and of the JDK");
        }
    }
}
