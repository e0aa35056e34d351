package org.brickprofiler.agent;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.JumpInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * Proposes rules for classes by reading their class files, without loading them. A method is proposed as a brick if its
 * name or its class's name is that of a known brick. If a method calls another one several times, as engines do for
 * matrix products, each call is proposed as a brick of its own, named after the field that is read just before; at
 * least one of these names must be that of a known brick. Very short methods are left out, since timing them would take
 * longer than running them. The step is a method that is named like a forward pass and reaches most of the bricks. A
 * person must review the result. Not thread-safe.
 */
final class Suggestions {

    /** The number of calls of one method from which on each call is taken for a different brick. */
    private static final int SEVERAL = 3;

    /** The number of instructions below which a method is taken for an accessor. */
    private static final int SHORTEST = 20;

    /** The number of bricks that a method must reach to be proposed as the step. */
    private static final int FEWEST_OF_STEP = 2;

    /** Generic method names; the class's name says which brick such a method is. */
    private static final Set<String> DOING = Set.of("forward", "apply", "run", "compute", "execute", "call", "accept");

    /** Method names of a forward pass. */
    private static final Set<String> PASSES =
            Set.of("forward", "forwardPass", "decode", "step", "predict", "infer", "evaluate");

    /** The packages of the JDK. Their methods are never bricks, only parts of one. */
    private static final List<String> JDK = List.of("java/", "javax/", "jdk/", "sun/");

    /** Packages of the JDK whose methods run lambdas that are passed to them. */
    private static final List<String> RUNNING =
            List.of("java/util/stream/", "java/util/function/", "java/util/concurrent/", "java/lang/Thread");

    private static final Pattern POSITION = Pattern.compile("(?i)(start_?)?pos(ition)?|kv_?len(gth)?");
    private static final Pattern LOGITS = Pattern.compile("(?i).*logits.*");

    private final List<Proposal> proposals = new ArrayList<>();

    /** All methods that have code or are native, in the order of the files. */
    private final List<Code> all = new ArrayList<>();

    /** The methods that a call may run, by name and descriptor. */
    private final Map<String, Group> called = new HashMap<>();

    private final Set<String> names = new HashSet<>();
    private @Nullable Code step;

    /**
     * A method, or a call in it, that may be a brick.
     *
     * @param of the method
     * @param call the call in that method; empty for the whole method
     * @param brick the known brick with this name; empty if there is none
     * @param name the name of the dynamic brick, if no known brick matches
     * @param timed the method that the flight recorder can time: the method itself, or the called one
     */
    private record Proposal(Code of, String call, Optional<BrickId> brick, String name, String timed) {}

    /** The methods that share a name and a descriptor; a call with both may run any of them. */
    private static final class Group {
        static final Group EMPTY = new Group();

        final List<Code> codes = new ArrayList<>();

        /** The number of methods that are not known to be brief. */
        int notBrief;
    }

    /** A method, and what it calls. */
    private static final class Code {
        final ClassNode type;
        final MethodNode method;
        final int size;

        /** The first two parts of its package name, which identify the project. */
        final String root;

        /** By name and descriptor: the methods that it calls, and the bodies of the lambdas that it makes. */
        final Set<String> calls = new LinkedHashSet<>();

        /** The methods that it calls in a loop, by class, name and descriptor. */
        final Set<String> repeats = new HashSet<>();

        /**
         * Whether it does something that is not known to be brief: a loop, a lambda, native code, a call into other
         * classes.
         */
        boolean isLong;

        /** Whether it contains no loop, and neither do the methods that it calls. */
        boolean isBrief;

        Code(ClassNode type, MethodNode method, int size) {
            this.type = type;
            this.method = method;
            this.size = size;
            root = type.name.substring(0, type.name.indexOf('/', type.name.indexOf('/') + 1) + 1);
        }

        String key() {
            return method.name + method.desc;
        }

        /** Returns whether the method stands in the source, and is not generated by the compiler. */
        boolean isWritten() {
            return (method.access & (Opcodes.ACC_SYNTHETIC | Opcodes.ACC_BRIDGE)) == 0 && !method.name.startsWith("<");
        }

        /** Returns the method as rules name it. */
        String in() {
            return type.name.replace('/', '.') + '.' + method.name + parameters(type, method);
        }
    }

    private Suggestions() {}

    /**
     * Looks at class files.
     *
     * @param files the class files
     */
    static Suggestions of(List<byte[]> files) {
        Suggestions found = new Suggestions();
        files.forEach(found::read);
        found.findBrief();
        found.all.forEach(found::lookAtName);
        found.leaveOutWhatDelegates();
        Set<String> named = new HashSet<>();
        found.proposals.forEach(proposal -> named.add(proposal.of().key()));
        found.all.forEach(each -> found.lookAtCalls(each, named));
        found.findStep();
        return found;
    }

    // ---- methods and what they call ----

    private void read(byte[] file) {
        ClassNode type = new ClassNode();
        ClassReader reader = new ClassReader(file);
        reader.accept(type, ClassReader.SKIP_FRAMES);
        Map<String, Integer> sizes = ClassFiles.codeSizes(reader);
        for (MethodNode method : type.methods) {
            if ((method.access & Opcodes.ACC_ABSTRACT) == 0) {
                Code code = new Code(type, method, sizes.getOrDefault(method.name + method.desc, 0));
                code.isLong = (method.access & Opcodes.ACC_NATIVE) != 0;
                all.add(code);
                Group group = called.computeIfAbsent(code.key(), none -> new Group());
                group.codes.add(code);
                group.notBrief++;
            }
        }
    }

    /**
     * A method is brief if it has no loop, and all methods that it may call are brief; one that calls itself is not.
     */
    private void findBrief() {
        all.forEach(this::readCalls);
        List<Code> open = new ArrayList<>(all);
        open.removeIf(code -> code.isLong);
        while (open.removeIf(this::isFoundBrief)) {
            // Repeat: callers of the methods just found may be brief, too.
        }
    }

    private boolean isFoundBrief(Code code) {
        code.isBrief = code.calls.stream().allMatch(this::isBrief);
        if (code.isBrief) {
            group(code.key()).notBrief--;
        }
        return code.isBrief;
    }

    private boolean isBrief(String key) {
        return group(key).notBrief == 0;
    }

    private Group group(String key) {
        return called.getOrDefault(key, Group.EMPTY);
    }

    private void readCalls(Code code) {
        Map<AbstractInsnNode, Integer> seen = new HashMap<>();
        List<MethodInsnNode> calls = new ArrayList<>();
        for (AbstractInsnNode node : code.method.instructions) {
            seen.put(node, calls.size());
            if (node instanceof MethodInsnNode call) {
                calls.add(call);
            }
            if (node instanceof JumpInsnNode jump) {
                Integer before = seen.get(jump.label);
                if (before != null) {
                    code.isLong = true;
                    calls.subList(before, calls.size())
                            .forEach(call -> code.repeats.add(call.owner + '.' + call.name + call.desc));
                }
            } else if (node instanceof MethodInsnNode call && isOfJdk(call.owner)) {
                code.isLong |= RUNNING.stream().anyMatch(call.owner::startsWith);
            } else if (node instanceof MethodInsnNode call) {
                code.calls.add(call.name + call.desc);
                code.isLong |= !called.containsKey(call.name + call.desc);
            } else if (body(node) != null) {
                code.calls.add(body(node));
                code.isLong = true;
            }
        }
    }

    /** Returns the name and descriptor of the body of the lambda that an instruction makes; null if it makes none. */
    private static @Nullable String body(AbstractInsnNode node) {
        return node instanceof InvokeDynamicInsnNode made
                        && made.bsm.getOwner().equals("java/lang/invoke/LambdaMetafactory")
                        && made.bsmArgs[1] instanceof Handle body
                ? body.getName() + body.getDesc()
                : null;
    }

    private static boolean isOfJdk(String owner) {
        return JDK.stream().anyMatch(owner::startsWith);
    }

    // ---- bricks ----

    private void lookAtName(Code code) {
        if (!code.isWritten() || code.isBrief || code.size < SHORTEST) {
            return;
        }
        Optional<BrickId> named = BrickId.parse(code.method.name);
        if (named.isEmpty() && DOING.contains(code.method.name)) {
            named = BrickId.parse(simpleName(code.type));
        }
        if (named.isPresent()) {
            proposals.add(
                    new Proposal(code, "", named, "", code.type.name.replace('/', '.') + "::" + code.method.name));
        }
    }

    /**
     * Leaves out methods that delegate to another one of the same brick, as an overload does; both would be counted.
     */
    private void leaveOutWhatDelegates() {
        for (Proposal proposal : List.copyOf(proposals)) {
            boolean delegates = proposals.stream()
                    .anyMatch(other -> other.of() != proposal.of()
                            && other.brick().equals(proposal.brick())
                            && proposal.of().calls.contains(other.of().key()));
            if (delegates) {
                proposals.remove(proposal);
            }
        }
    }

    /**
     * Proposes calls.
     *
     * @param named the methods that are bricks themselves: a call for which such a method runs would count twice
     */
    private void lookAtCalls(Code code, Set<String> named) {
        if (!code.isWritten() || code.size < SHORTEST) {
            return;
        }
        Map<String, List<Site>> groups = sites(code.method);
        groups.values()
                .removeIf(
                        sites -> sites.size() < SEVERAL || isBrief(sites.get(0).key()));
        boolean computes =
                PASSES.contains(code.method.name) || groups.values().stream().anyMatch(Suggestions::isNamed);
        groups.values()
                .removeIf(sites ->
                        !isNamed(sites) && !(computes && sites.stream().allMatch(site -> site.body() != null)));
        groups.forEach((callee, sites) -> {
            for (int i = 0; i < sites.size(); i++) {
                Site site = sites.get(i);
                if (!named.contains(site.key()) && !runs(site, named)) {
                    String call = callee + ' ' + (i + 1);
                    String name = site.brick().isPresent()
                            ? ""
                            : unique(simpleName(code.type) + '.' + code.method.name + ' ' + call);
                    proposals.add(new Proposal(code, call, site.brick(), name, site.timed()));
                }
            }
        });
    }

    private static boolean isNamed(List<Site> sites) {
        return sites.stream().anyMatch(site -> site.brick().isPresent());
    }

    /** Returns whether the lambda that a call takes calls one of some methods. */
    private boolean runs(Site site, Set<String> methods) {
        return site.body() != null
                && group(site.body()).codes.stream()
                        .anyMatch(body -> body.calls.stream().anyMatch(methods::contains));
    }

    /** Returns a name that no other brick has: calls of different methods are different bricks. */
    private String unique(String name) {
        String unique = name;
        for (int i = 2; !names.add(unique); i++) {
            unique = name + " (" + i + ')';
        }
        return unique;
    }

    // ---- the step ----

    private void findStep() {
        Map<String, Long> ofProject =
                proposals.stream().collect(Collectors.groupingBy(each -> each.of().root, Collectors.counting()));
        List<Code> passes = all.stream()
                .filter(code -> code.isWritten() && PASSES.contains(code.method.name))
                .filter(code -> ofProject.getOrDefault(code.root, 0L) >= FEWEST_OF_STEP)
                .toList();
        long most = FEWEST_OF_STEP - 1L;
        Set<Code> reachedByBest = Set.of();
        for (Code code : passes) {
            // A method that another method of the same name calls in a loop is a layer.
            String name = code.type.name + '.' + code.key();
            if (passes.stream()
                    .noneMatch(other -> other.method.name.equals(code.method.name) && other.repeats.contains(name))) {
                Set<Code> reached = reached(code);
                long bricks = proposals.stream()
                        .filter(each -> reached.contains(each.of()))
                        .count();
                // Of methods that call each other take the innermost: every forward pass goes through it.
                if (bricks > most || (bricks == most && reachedByBest.contains(code))) {
                    most = bricks;
                    step = code;
                    reachedByBest = reached;
                }
            }
        }
    }

    /** Returns the methods of its own project that a method leads to. */
    private Set<Code> reached(Code from) {
        Set<Code> reached = new LinkedHashSet<>(List.of(from));
        Deque<Code> open = new ArrayDeque<>(reached);
        while (!open.isEmpty()) {
            for (String key : open.remove().calls) {
                for (Code next : group(key).codes) {
                    if (next.root.equals(from.root) && reached.add(next)) {
                        open.add(next);
                    }
                }
            }
        }
        return reached;
    }

    private static String step(Code code) {
        StringBuilder rule =
                new StringBuilder("step:\n  in: ").append(code.in()).append('\n');
        Type[] types = Type.getArgumentTypes(code.method.desc);
        int slot = (code.method.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
        for (int i = 0; i < types.length; i++) {
            String name = ElementsCode.parameterName(code.method, i, slot);
            if (types[i].getDescriptor().equals("[I")) {
                add(rule, "tokens", "arg" + i + ".length");
            } else if (name != null
                    && types[i].equals(Type.INT_TYPE)
                    && POSITION.matcher(name).matches()) {
                add(rule, "kv", "arg" + i);
            } else if (name != null
                    && types[i].equals(Type.BOOLEAN_TYPE)
                    && LOGITS.matcher(name).matches()) {
                add(rule, "output", "arg" + i);
            }
            slot += types[i].getSize();
        }
        if (rule.indexOf("\n  tokens:") < 0) {
            rule.append(
                    "  # tokens: how many it processes, if more than one at once; a step of one is a decoded token\n");
        }
        return rule.toString();
    }

    /** Adds a line unless the rule has a line with this key already. */
    private static void add(StringBuilder rule, String key, String value) {
        if (rule.indexOf("\n  " + key + ":") < 0) {
            rule.append("  ").append(key).append(": ").append(value).append('\n');
        }
    }

    // ---- what is proposed ----

    boolean isEmpty() {
        return proposals.isEmpty();
    }

    /** Returns the rules of the agent, in YAML. */
    String rules() {
        StringBuilder rules = new StringBuilder();
        for (Proposal proposal : proposals) {
            rules.append("  - in: ").append(proposal.of().in()).append('\n');
            if (!proposal.call().isEmpty()) {
                rules.append("    call: ").append(proposal.call()).append('\n');
            }
            rules.append("    brick: ")
                    .append(proposal.brick().map(BrickId::name).orElse(proposal.name()))
                    .append(proposal.brick().isPresent() ? "\n" : "\n    category: OTHER\n");
        }
        if (rules.isEmpty()) {
            return "# nothing is named like a brick\n";
        }
        return (step == null ? "" : step(step)) + "bricks:\n" + rules;
    }

    /**
     * Returns the proposal as settings of the flight recorder: a filter for the events {@code jdk.MethodTiming} and
     * {@code jdk.MethodTrace} of JDK 25 and later (JEP 520). The filter selects whole methods, so several bricks that
     * are calls of one method are timed together.
     */
    String settings() {
        String filter = proposals.stream().map(Proposal::timed).distinct().collect(Collectors.joining(";"));
        return """
                <?xml version="1.0" encoding="UTF-8"?>
                <configuration version="2.0" label="Bricks" description="Methods that are named like a brick" provider="brick suggest">
                  <!-- Sums of each method. -->
                  <event name="jdk.MethodTiming">
                    <setting name="enabled">%b</setting>
                    <setting name="period">endChunk</setting>
                    <setting name="filter">%s</setting>
                  </event>
                  <!-- Each call, which costs more. -->
                  <event name="jdk.MethodTrace">
                    <setting name="enabled">false</setting>
                    <setting name="stackTrace">false</setting>
                    <setting name="threshold">0 ms</setting>
                    <setting name="filter">%s</setting>
                  </event>
                </configuration>
                """.formatted(!filter.isEmpty(), filter, filter);
    }

    private static String simpleName(ClassNode type) {
        return type.name.substring(1 + Math.max(type.name.lastIndexOf('/'), type.name.lastIndexOf('$')));
    }

    /** Returns the parameter types if the class has other methods of the same name; otherwise an empty text. */
    private static String parameters(ClassNode type, MethodNode method) {
        long same = type.methods.stream()
                .filter(each -> each.name.equals(method.name) && (each.access & Opcodes.ACC_BRIDGE) == 0)
                .count();
        return same == 1
                ? ""
                : Stream.of(Type.getArgumentTypes(method.desc))
                        .map(Type::getClassName)
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    /**
     * A call.
     *
     * @param brick the brick that it is named after
     * @param key the name and descriptor of the method that is called
     * @param body the name and descriptor of the body of the lambda that it takes; null if it takes none
     * @param timed the method that is called, as the flight recorder names it
     */
    private record Site(
            Optional<BrickId> brick, String key, @Nullable String body, String timed) {}

    /** For each method that is called, its calls in the order of the code. */
    private static Map<String, List<Site>> sites(MethodNode method) {
        Map<String, List<Site>> sites = new LinkedHashMap<>();
        Optional<BrickId> read = Optional.empty();
        String body = null;
        for (AbstractInsnNode node : method.instructions) {
            if (node instanceof FieldInsnNode field) {
                read = BrickId.parse(field.name).or(before(read));
            } else if (body(node) != null) {
                body = body(node);
            } else if (node instanceof MethodInsnNode call) {
                boolean computes = Type.getArgumentTypes(call.desc).length > 1
                        && !isOfJdk(call.owner)
                        && !call.name.startsWith("<");
                if (computes) {
                    sites.computeIfAbsent(call.name, none -> new ArrayList<>())
                            .add(new Site(
                                    read,
                                    call.name + call.desc,
                                    body,
                                    call.owner.replace('/', '.') + "::" + call.name));
                    read = Optional.empty();
                    body = null;
                } else {
                    read = BrickId.parse(call.name).or(before(read));
                }
            }
        }
        sites.entrySet()
                .removeIf(each ->
                        !countsAll(method, each.getKey(), each.getValue().size()));
        return sites;
    }

    private static Supplier<Optional<BrickId>> before(Optional<BrickId> read) {
        return () -> read;
    }

    /**
     * Returns whether all calls with this name in the method are among these calls, so that a rule counts them in the
     * same way.
     */
    private static boolean countsAll(MethodNode method, String name, int sites) {
        long all = Stream.of(method.instructions.toArray())
                .filter(node -> node instanceof MethodInsnNode call && call.name.equals(name))
                .count();
        return all == sites;
    }
}
