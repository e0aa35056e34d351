package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.ToIntFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Call;
import org.brickprofiler.agent.WeaveRule.Elements;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.agent.WeaveRule.Target;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AnnotationNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/** Weaves classes by rules. Immutable; any thread. */
final class Weaver {

    /** The largest method that HotSpot compiles, in bytes of bytecode (HugeMethodLimit). */
    static final int LARGEST_COMPILED = 8_000;

    /** The largest hot method that HotSpot's C2 inlines, in bytes of bytecode (FreqInlineSize). */
    static final int LARGEST_INLINED = 325;

    private static final String VECTORS = "Ljdk/incubator/vector/";

    /**
     * The oldest class file version that can be woven. Older ones may contain subroutines and have no
     * {@code invokedynamic}.
     */
    private static final int OLDEST = Opcodes.V1_7;

    private static final String ANNOTATION = "Lorg/brickprofiler/Brick;";

    private final Map<String, List<WeaveRule>> rules;

    /** By package name with slashes, the line in the rule file of each package whose annotations are read. */
    private final Map<String, Integer> annotated;

    private final String[] packages;

    /** The binary names of the classes that rules name. */
    private final Set<String> named = new HashSet<>();

    private final ToIntFunction<WeaveRule> keys;

    /** The names of bricks that are not woven. */
    private final Set<String> dropped;

    /** The result of weaving a class. */
    static final class Result {

        private final byte @Nullable [] bytes;
        private final List<WeaveRule> applied;
        private final List<Problem> problems;

        private Result(byte @Nullable [] bytes, List<WeaveRule> applied, List<Problem> problems) {
            this.bytes = bytes;
            this.applied = List.copyOf(applied);
            this.problems = List.copyOf(problems);
        }

        /** Returns the woven class file, a copy for the caller; null if no rule could be applied. */
        byte @Nullable [] bytes() {
            return bytes;
        }

        /** Returns the rules that were applied. */
        List<WeaveRule> applied() {
            return applied;
        }

        /** Returns an error for each rule that was not applied, and warnings. */
        List<Problem> problems() {
            return problems;
        }
    }

    /**
     * A problem of a rule.
     *
     * @param rule the rule
     * @param message the text for the user
     * @param isError true if the rule was not applied; false for a warning
     */
    record Problem(WeaveRule rule, String message, boolean isError) {}

    /**
     * Creates a weaver.
     *
     * @param file the rules
     * @param keys returns the key of a rule's brick
     */
    Weaver(RuleFile.Rules file, ToIntFunction<WeaveRule> keys) {
        dropped = Set.of();
        rules = new LinkedHashMap<>();
        for (WeaveRule rule : file.rules()) {
            named.add(rule.target().className());
            rules.computeIfAbsent(rule.target().className().replace('.', '/'), any -> new ArrayList<>())
                    .add(rule);
        }
        Map<String, Integer> folders = new HashMap<>();
        file.annotated().forEach((name, line) -> folders.put(name.replace('.', '/') + '/', line));
        annotated = Map.copyOf(folders);
        packages = annotated.keySet().toArray(String[]::new);
        this.keys = keys;
    }

    private Weaver(Weaver other, Set<String> dropped) {
        rules = other.rules;
        annotated = other.annotated;
        packages = other.packages;
        named.addAll(other.named);
        keys = other.keys;
        this.dropped = Set.copyOf(dropped);
    }

    /**
     * Returns a copy of this weaver that also leaves out the bricks with these names in the profile, annotated ones
     * included.
     */
    Weaver without(Set<String> bricks) {
        Set<String> all = new HashSet<>(dropped);
        all.addAll(bricks);
        return new Weaver(this, all);
    }

    /** Returns the names of the bricks that are left out. */
    Set<String> dropped() {
        return dropped;
    }

    /**
     * Returns whether a class may have to be woven, by its internal name. It is called for every class that is loaded,
     * including those of the JDK, so it must not itself load a class.
     */
    boolean concerns(String className) {
        if (rules.containsKey(className)) {
            return true;
        }
        for (String name : packages) {
            if (className.startsWith(name)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Returns whether a loaded class may have to be woven. Converts no name unless it must, for there are thousands.
     */
    boolean concerns(Class<?> loaded) {
        String name = loaded.getName();
        return named.contains(name) || (packages.length > 0 && concerns(name.replace('.', '/')));
    }

    /** Returns the internal names of the classes that rules name. */
    Set<String> classes() {
        return rules.keySet();
    }

    /** Returns the rules of a class, by its internal name. */
    List<WeaveRule> rulesOf(String className) {
        return rules.getOrDefault(className, List.of());
    }

    /**
     * Weaves a class.
     *
     * @param file its class file
     * @param loader its loader, used to look up other classes; null for the bootstrap loader
     */
    Result weave(byte[] file, @Nullable ClassLoader loader) {
        ClassReader reader = new ClassReader(file);
        Map<String, Integer> before = ClassFiles.codeSizes(reader);
        List<Problem> refusals = new ArrayList<>();
        Set<WeaveRule> refused = new HashSet<>();
        List<WeaveRule> ofClass = new ArrayList<>(rulesOf(reader.getClassName()));
        ofClass.addAll(annotations(reader, refusals));
        ofClass.removeIf(rule -> rule.kind() == Kind.BRICK && dropped.contains(WovenWork.nameOf(rule)));
        while (true) {
            Attempt attempt = new Attempt(reader, loader);
            ofClass.stream().filter(rule -> !refused.contains(rule)).forEach(attempt::apply);
            List<Problem> found = new ArrayList<>();
            byte[] bytes = attempt.bytes(found);
            Map<String, Integer> after = ClassFiles.codeSizes(new ClassReader(bytes));
            attempt.applied.forEach((method, rules) ->
                    found.addAll(growth(method, before.getOrDefault(method, 0), after.getOrDefault(method, 0), rules)));
            List<Problem> errors = found.stream().filter(Problem::isError).toList();
            if (errors.isEmpty()) {
                List<Problem> problems = new ArrayList<>(refusals);
                problems.addAll(attempt.problems);
                problems.addAll(found);
                List<WeaveRule> applied =
                        attempt.applied.values().stream().flatMap(List::stream).toList();
                return new Result(applied.isEmpty() ? null : bytes, applied, problems);
            }
            // Weave again without the rules that failed.
            refusals.addAll(errors);
            errors.forEach(error -> refused.add(error.rule()));
        }
    }

    /** Returns the rules from the annotations of a class's methods; adds an error for each invalid annotation. */
    private List<WeaveRule> annotations(ClassReader reader, List<Problem> errors) {
        List<WeaveRule> found = new ArrayList<>();
        annotated.forEach((name, line) -> {
            if (reader.getClassName().startsWith(name)) {
                ClassNode type = new ClassNode();
                reader.accept(type, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG);
                for (MethodNode method : type.methods) {
                    if (method.invisibleAnnotations != null) {
                        method.invisibleAnnotations.stream()
                                .filter(each -> each.desc.equals(ANNOTATION))
                                .forEach(each -> add(found, errors, line, target(type, method), each));
                    }
                }
            }
        });
        return found;
    }

    private static Target target(ClassNode type, MethodNode method) {
        List<String> parameters = Stream.of(Type.getArgumentTypes(method.desc))
                .map(Type::getClassName)
                .toList();
        return new Target(type.name.replace('/', '.'), method.name, parameters, null);
    }

    private static void add(
            List<WeaveRule> found, List<Problem> errors, int line, Target target, AnnotationNode annotation) {
        String brick = "";
        String elements = Elements.ONE.toString();
        for (int i = 0; i < annotation.values.size(); i += 2) {
            Object value = annotation.values.get(i + 1);
            if (value instanceof String[] constant) {
                brick = constant[1];
            } else {
                elements = value.toString();
            }
        }
        WeaveRule rule = new WeaveRule(
                line,
                Kind.BRICK,
                target,
                Anchor.ENTRY,
                Anchor.EXIT,
                brick,
                Optional.empty(),
                WeaveRule.Amounts.of(Elements.ONE));
        try {
            found.add(rule.withElements(Elements.parse(elements)));
        } catch (IllegalArgumentException neither) {
            errors.add(new Problem(rule, target + ": " + neither.getMessage(), true));
        }
    }

    /** Returns the problems of a method that exceeds a limit of HotSpot. */
    private static List<Problem> growth(String method, int before, int after, List<WeaveRule> rules) {
        String name = method.substring(0, method.indexOf('('));
        String bytes = " from " + before + " to " + after + " bytes of bytecode, past the ";
        if (before <= LARGEST_COMPILED && after > LARGEST_COMPILED) {
            return refusals(
                    rules, name + " would grow" + bytes + LARGEST_COMPILED + " up to which methods are compiled");
        }
        if (before > LARGEST_INLINED || after <= LARGEST_INLINED) {
            return List.of();
        }
        String inlined = bytes + LARGEST_INLINED + " up to which it is inlined where it is hot";
        return method.contains(VECTORS)
                ? refusals(rules, name + " would grow" + inlined + ", and its vectors would become objects")
                : List.of(new Problem(rules.get(0), name + " grows" + inlined, false));
    }

    private static List<Problem> refusals(List<WeaveRule> rules, String message) {
        return rules.stream().map(rule -> new Problem(rule, message, true)).toList();
    }

    /** One attempt to weave a class; a rule that fails leads to another attempt without it. */
    private final class Attempt {

        private final ClassReader reader;
        private final ClassNode type = new ClassNode();
        private final @Nullable ClassLoader loader;
        private final Map<MethodNode, MethodWeaver> weavers = new LinkedHashMap<>();

        private final TaskWeaver tasks;

        /** The methods with parameters that are tasks, each with the indices of these parameters. */
        private final Map<MethodNode, List<Integer>> taking = new LinkedHashMap<>();

        /** The calls whose last argument is a task, each with the method that contains the call. */
        private final Map<MethodInsnNode, MethodNode> handOvers = new LinkedHashMap<>();

        /** The applied rules, by name and descriptor of the method. */
        final Map<String, List<WeaveRule>> applied = new LinkedHashMap<>();

        final List<Problem> problems = new ArrayList<>();

        Attempt(ClassReader reader, @Nullable ClassLoader loader) {
            this.reader = reader;
            this.loader = loader;
            tasks = new TaskWeaver(loader);
            reader.accept(type, ClassReader.EXPAND_FRAMES);
        }

        void apply(WeaveRule rule) {
            try {
                JdkClasses.requireWeavable(type, loader, rule);
                MethodNode method = method(rule.target());
                JdkClasses.requireCalled(method);
                String key = method.name + method.desc;
                Call handingOver = rule.from().call();
                if (rule.kind() == Kind.TASK && handingOver != null) {
                    tasks.calls(method, handingOver).forEach(call -> handOvers.put(call, method));
                } else if (rule.kind() == Kind.TASK) {
                    taking.put(method, tasks.parameters(method));
                } else {
                    MethodWeaver weaver =
                            weavers.getOrDefault(method, new MethodWeaver(method, JdkClasses.isLoader(loader)));
                    weaver.add(rule, keys.applyAsInt(rule), new ElementsCode(type, method, loader, rule))
                            .ifPresent(problem -> problems.add(new Problem(rule, problem, false)));
                    weavers.put(method, weaver);
                }
                applied.computeIfAbsent(key, none -> new ArrayList<>()).add(rule);
            } catch (IllegalArgumentException wrong) {
                problems.add(new Problem(rule, String.valueOf(wrong.getMessage()), true));
            }
        }

        /** Returns the woven class file; adds errors that are found only during weaving. */
        byte[] bytes(List<Problem> errors) {
            weavers.forEach((method, weaver) -> weaver.weave()
                    .forEach(endless -> errors.add(new Problem(
                            endless,
                            "in " + method.name + ", " + endless.to() + " is not reached from " + endless.from(),
                            true))));
            taking.forEach(TaskWeaver::carry);
            handOvers.forEach((call, method) -> TaskWeaver.carry(method, call));
            ClassWriter writer = new ClassWriter(reader, 0);
            type.accept(writer);
            return writer.toByteArray();
        }

        private MethodNode method(Target target) {
            if ((type.version & 0xffff) < OLDEST) {
                throw new IllegalArgumentException("the class is older than Java 7");
            }
            List<MethodNode> named = type.methods.stream()
                    .filter(method -> method.name.equals(target.method()))
                    .filter(method -> (method.access & Opcodes.ACC_BRIDGE) == 0)
                    .toList();
            if (named.isEmpty()) {
                Stream<String> names = type.methods.stream()
                        .map(method -> method.name)
                        .filter(name -> !name.startsWith("<") && !name.startsWith("lambda$"));
                throw new IllegalArgumentException(target.className() + " has no method '" + target.method() + "'"
                        + ClosestNames.hint(target.method(), names));
            }
            List<String> parameters = target.parameters();
            List<MethodNode> matching = parameters == null
                    ? named
                    : named.stream()
                            .filter(method -> takes(Type.getArgumentTypes(method.desc), parameters))
                            .toList();
            if (matching.size() != 1) {
                throw new IllegalArgumentException(target.className()
                        + (matching.isEmpty() ? " has no " : " has more than one ")
                        + target.method()
                        + (matching.isEmpty()
                                ? "(" + String.join(", ", List.copyOf(parameters == null ? List.of() : parameters))
                                        + ")"
                                : "")
                        + "; there are "
                        + named.stream().map(Weaver::signature).collect(Collectors.joining(" and ")));
            }
            MethodNode method = matching.get(0);
            requireCode(method);
            Call lambda = target.lambda();
            return lambda == null ? method : lambda(method, lambda);
        }

        private void requireCode(MethodNode method) {
            if ((method.access & Opcodes.ACC_NATIVE) != 0) {
                throw new IllegalArgumentException(
                        method.name + " is native: it has no code to weave; its callers have");
            }
            if ((method.access & Opcodes.ACC_ABSTRACT) != 0) {
                throw new IllegalArgumentException(method.name + " is abstract: name it in a class that implements it");
            }
        }

        /** Returns the body of the lambda that is passed to a call. */
        private MethodNode lambda(MethodNode method, Call call) {
            List<MethodInsnNode> calls = MethodWeaver.calls(method, call);
            if (calls.size() > 1) {
                throw new IllegalArgumentException(method.name + " calls " + call + " at " + calls.size()
                        + " places: say which, as in " + call + " 1");
            }
            List<Handle> bodies = Operands.lambdas(method, calls.get(0));
            if (bodies.isEmpty()) {
                throw new IllegalArgumentException(method.name + " passes no lambda to " + call
                        + " of which this is certain: name a call with the lambda as its argument");
            }
            if (bodies.size() > 1) {
                throw new IllegalArgumentException(call + " takes " + bodies.size()
                        + " lambdas, and a rule cannot say which: name a method that the lambda calls");
            }
            Handle body = bodies.get(0);
            return type.methods.stream()
                    .filter(each -> body.getOwner().equals(type.name)
                            && each.name.equals(body.getName())
                            && each.desc.equals(body.getDesc()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(call + " takes a reference to the method "
                            + body.getOwner().replace('/', '.') + '.' + body.getName() + ": name that one"));
        }
    }

    /** Returns whether types are those of a rule, which names them with their packages or without. */
    static boolean takes(Type[] types, List<String> parameters) {
        if (types.length != parameters.size()) {
            return false;
        }
        for (int i = 0; i < types.length; i++) {
            String name = types[i].getClassName();
            String given = parameters.get(i);
            if (!name.equals(given) && !simple(name).equals(given)) {
                return false;
            }
        }
        return true;
    }

    private static String simple(String type) {
        return type.substring(1 + Math.max(type.lastIndexOf('.'), type.lastIndexOf('$')));
    }

    private static String signature(MethodNode method) {
        return Stream.of(Type.getArgumentTypes(method.desc))
                .map(type -> simple(type.getClassName()))
                .collect(Collectors.joining(", ", method.name + "(", ")"));
    }
}
