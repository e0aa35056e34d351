package org.brickprofiler.agent.suggest;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.brickprofiler.agent.Operands;
import org.brickprofiler.agent.suggest.CallGraph.Code;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;
import org.objectweb.asm.tree.VarInsnNode;

/**
 * Proposes rules for classes by reading their class files, without loading them. A method is proposed as a brick if its
 * name or its class's name is that of a known brick. If a method calls another one several times, as engines do for
 * matrix products, each call is proposed as a brick of its own, named after the field of its operands; at least one of
 * these names must be that of a known brick. Very short methods are left out, since timing them would take longer than
 * running them. The step is a method that is named like a forward pass and reaches most of the bricks. A person must
 * review the result. Not thread-safe.
 */
public final class Suggestions {

    /** The number of calls of one method from which on each call is taken for a different brick. */
    private static final int SEVERAL = 3;

    /** The number of instructions below which a method is taken for an accessor. */
    private static final int SHORTEST = 20;

    /** The number of bricks that a method must reach to be proposed as the step. */
    private static final int FEWEST_OF_STEP = 2;

    private static final Pattern POSITION = Pattern.compile("(?i)(start_?)?pos(ition)?|kv_?len(gth)?");
    private static final Pattern LOGITS = Pattern.compile("(?i).*logits.*");

    private final List<Proposal> proposals = new ArrayList<>();

    private final Set<String> names = new HashSet<>();
    private final CallGraph graph;
    private @Nullable Code step;

    /**
     * A method, or a call in it, that may be a brick.
     *
     * @param of the method
     * @param call the call in that method; empty for the whole method
     * @param brick the known brick with this name; empty if there is none
     * @param name the name of the dynamic brick, if no known brick matches
     * @param category the category of the dynamic brick
     * @param timed the method that the flight recorder can time: the method itself, or the called one
     */
    private record Proposal(
            Code of, String call, Optional<BrickId> brick, String name, BrickCategory category, String timed) {

        static Proposal ofMethod(Code code, Optional<BrickId> brick, String name, BrickCategory category) {
            return new Proposal(
                    code, "", brick, name, category, code.type.name.replace('/', '.') + "::" + code.method.name);
        }
    }

    private Suggestions(CallGraph graph) {
        this.graph = graph;
    }

    /**
     * Finds proposals in class files.
     *
     * @param files the class files
     * @param leftOut accepts the place of each class file that is damaged or too new, with the reason
     * @return the proposals
     */
    public static Suggestions of(List<ClassFile> files, Consumer<String> leftOut) {
        Suggestions found = new Suggestions(CallGraph.of(files, leftOut));
        found.graph.all().forEach(found::lookAtName);
        found.leaveOutWhatDelegates();
        Set<Code> named = found.proposals.stream().map(Proposal::of).collect(Collectors.toSet());
        found.graph.all().forEach(each -> found.lookAtCalls(each, named));
        found.graph.all().forEach(found::lookAtBlock);
        found.findStep();
        return found;
    }

    // ---- bricks ----

    private void lookAtName(Code code) {
        if (!mayBeBrick(code) || code.isBrief) {
            return;
        }
        Optional<BrickId> named = MethodNames.brick(code);
        if (named.isPresent()) {
            proposals.add(Proposal.ofMethod(code, named, "", BrickCategory.OTHER));
        }
    }

    private static boolean mayBeBrick(Code code) {
        return code.isWritten() && code.size >= SHORTEST && !MethodNames.isBackward(code.method.name);
    }

    /** Proposes a block, such as attention, as one brick if nothing in it is proposed. */
    private void lookAtBlock(Code code) {
        if (!mayBeBrick(code) || code.isBrief) {
            return;
        }
        Optional<BrickCategory> block = MethodNames.block(
                MethodNames.isGeneric(code.method.name) ? CallGraph.simpleName(code.type) : code.method.name);
        if (block.isPresent()) {
            Set<Code> within = graph.reached(code);
            if (proposals.stream().noneMatch(proposal -> within.contains(proposal.of()))) {
                String name = unique(CallGraph.simpleName(code.type) + '.' + code.method.name);
                proposals.add(Proposal.ofMethod(code, Optional.empty(), name, block.get()));
            }
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
    private void lookAtCalls(Code code, Set<Code> named) {
        if (!mayBeBrick(code)) {
            return;
        }
        Map<String, List<Site>> groups = sites(code.method);
        groups.entrySet()
                .removeIf(group -> (group.getValue().size() < SEVERAL && !MethodNames.isGeneric(group.getKey()))
                        || graph.isBrief(group.getValue().get(0).key()));
        boolean isPass = MethodNames.isPass(code.method.name);
        boolean computes = isPass || groups.values().stream().anyMatch(Suggestions::isNamed);
        groups.entrySet()
                .removeIf(group -> !isNamed(group.getValue())
                        && !(isPass && MethodNames.isProduct(group.getKey()))
                        && !(computes && group.getValue().stream().allMatch(site -> site.body() != null)));
        groups.forEach((callee, sites) -> {
            for (int i = 0; i < sites.size(); i++) {
                Site site = sites.get(i);
                // Of calls with a generic name, the others may be blocks, whose parts are bricks.
                boolean mayBe = site.brick().isPresent() || !MethodNames.isGeneric(callee);
                if (mayBe && site.targets().stream().noneMatch(named::contains) && !runs(site, named)) {
                    String call = callee + ' ' + (i + 1);
                    String name = site.brick().isPresent()
                            ? ""
                            : unique(CallGraph.simpleName(code.type) + '.' + code.method.name + ' ' + call);
                    BrickCategory category =
                            MethodNames.isProduct(callee) ? BrickCategory.MATRIX_PRODUCT : BrickCategory.OTHER;
                    proposals.add(new Proposal(code, call, site.brick(), name, category, site.timed()));
                }
            }
        });
    }

    private static boolean isNamed(List<Site> sites) {
        return sites.stream().anyMatch(site -> site.brick().isPresent());
    }

    /** Returns whether the lambda that is passed to a call calls one of the given methods. */
    private boolean runs(Site site, Set<Code> methods) {
        return site.body() != null
                && graph.codes(site.body()).stream()
                        .anyMatch(body -> methods.stream().anyMatch(each -> body.calls.contains(each.key())));
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
        List<Code> passes = graph.all().stream()
                .filter(code -> code.isWritten() && MethodNames.isPass(code.method.name) && hasInput(code))
                .filter(code -> ofProject.getOrDefault(code.root, 0L) >= FEWEST_OF_STEP)
                .toList();
        long most = FEWEST_OF_STEP - 1L;
        Set<Code> reachedByBest = Set.of();
        for (Code code : passes) {
            // A method that another method of the same name calls in a loop is a layer.
            String name = code.type.name + '.' + code.key();
            if (passes.stream()
                    .noneMatch(other -> other.method.name.equals(code.method.name) && other.repeats.contains(name))) {
                Set<Code> reached = graph.reached(code);
                long bricks = proposals.stream()
                        .filter(each -> reached.contains(each.of()))
                        .count();
                // If passes call each other, the innermost is the step: every forward pass runs it.
                if (bricks > most || (bricks == most && reachedByBest.contains(code))) {
                    most = bricks;
                    step = code;
                    reachedByBest = reached;
                }
            }
        }
    }

    /** Returns whether a method gets an object or a value to work on, as a forward pass does. */
    private static boolean hasInput(Code code) {
        return (code.method.access & Opcodes.ACC_STATIC) == 0 || Type.getArgumentTypes(code.method.desc).length > 0;
    }

    /** Proposes the prompts of a step that processes one token. */
    private String prompts(Code code) {
        String call = '.' + code.key();
        boolean isOfOneToken = Stream.of(Type.getArgumentTypes(code.method.desc))
                .noneMatch(type -> type.getDescriptor().equals(LoopArguments.TOKENS));
        return isOfOneToken
                ? Prompts.rules(graph.all().stream()
                        .filter(each -> each != code
                                && each.root.equals(code.root)
                                && each.repeats.stream().anyMatch(repeated -> repeated.endsWith(call))))
                : "";
    }

    private static String step(Code code) {
        StringBuilder rule =
                new StringBuilder("step:\n  in: ").append(code.in()).append('\n');
        Type[] types = Type.getArgumentTypes(code.method.desc);
        int slot = (code.method.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
        for (int i = 0; i < types.length; i++) {
            String name = Operands.parameterName(code.method, i, slot);
            if (types[i].getDescriptor().equals(LoopArguments.TOKENS)) {
                add(rule, "tokens", "arg" + i + ".length");
            } else if (name != null
                    && types[i].equals(Type.INT_TYPE)
                    && POSITION.matcher(name).matches()) {
                add(rule, "kv", "arg" + i);
            }
            slot += types[i].getSize();
        }
        logits(code).ifPresent(index -> add(rule, "output", "arg" + index));
        if (rule.indexOf("\n  tokens:") < 0) {
            rule.append(
                    "  # tokens: how many it processes, if more than one at once; a step of one is a decoded token\n");
        }
        return rule.toString();
    }

    /**
     * Returns the index of the boolean parameter whose name contains {@code logits}: it states whether a pass computes
     * logits. Empty if there is none.
     */
    static Optional<Integer> logits(Code code) {
        Type[] types = Type.getArgumentTypes(code.method.desc);
        int slot = (code.method.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
        for (int i = 0; i < types.length; i++) {
            String name = Operands.parameterName(code.method, i, slot);
            if (name != null
                    && types[i].equals(Type.BOOLEAN_TYPE)
                    && LOGITS.matcher(name).matches()) {
                return Optional.of(i);
            }
            slot += types[i].getSize();
        }
        return Optional.empty();
    }

    /** Adds a line unless the rule has a line with this key already. */
    private static void add(StringBuilder rule, String key, String value) {
        if (rule.indexOf("\n  " + key + ":") < 0) {
            rule.append("  ").append(key).append(": ").append(value).append('\n');
        }
    }

    // ---- the proposal ----

    /**
     * Returns whether nothing is proposed.
     *
     * @return whether no method is named or called like a brick
     */
    public boolean isEmpty() {
        return proposals.isEmpty();
    }

    /**
     * Returns the proposal as rules of the agent.
     *
     * @return YAML
     */
    public String rules() {
        StringBuilder rules = new StringBuilder();
        for (Proposal proposal : proposals) {
            rules.append("  - in: ").append(proposal.of().in()).append('\n');
            if (!proposal.call().isEmpty()) {
                rules.append("    call: ").append(proposal.call()).append('\n');
            }
            rules.append("    brick: ")
                    .append(proposal.brick().map(BrickId::name).orElse(proposal.name()))
                    .append(proposal.brick().isPresent() ? "\n" : "\n    category: " + proposal.category() + '\n');
        }
        if (rules.isEmpty()) {
            return "# nothing is named like a brick\n";
        }
        return (step == null
                        ? "# no method named like a forward pass calls two of these bricks: write the step\n"
                        : step(step) + prompts(step))
                + "bricks:\n" + rules;
    }

    /**
     * Returns the proposal as settings of the flight recorder: a filter for the events {@code jdk.MethodTiming} and
     * {@code jdk.MethodTrace} of JDK 25 and later (JEP 520). The filter selects whole methods, so several bricks that
     * are calls of one method are timed together.
     *
     * @return the text of a file {@code .jfc}
     */
    public String settings() {
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

    /**
     * A call.
     *
     * @param brick the brick that it is named after
     * @param key the name and descriptor of the method that is called
     * @param targets the methods that it may run
     * @param body the name and descriptor of the body of the lambda that is passed to it; null if there is none
     * @param timed the method that is called, as the flight recorder names it
     */
    private record Site(
            Optional<BrickId> brick,
            String key,
            List<Code> targets,
            @Nullable String body,
            String timed) {}

    /** Returns by method name the calls of methods outside the JDK that may compute, in the order of the code. */
    private Map<String, List<Site>> sites(MethodNode method) {
        Map<String, List<Site>> sites = new LinkedHashMap<>();
        FieldNames names = FieldNames.of(method);
        String body = null;
        for (AbstractInsnNode node : method.instructions) {
            if (CallGraph.body(node) != null) {
                body = CallGraph.body(node);
            } else if (node instanceof MethodInsnNode call) {
                if (computes(call)) {
                    sites.computeIfAbsent(call.name, none -> new ArrayList<>())
                            .add(new Site(
                                    named(method, call, names).map(brick -> MethodNames.ofCall(call.name, brick)),
                                    call.name + call.desc,
                                    graph.targets(call),
                                    body,
                                    call.owner.replace('/', '.') + "::" + call.name));
                }
                if (Type.getArgumentTypes(call.desc).length > 0) {
                    body = null; // the call took the lambda, of the JDK's too
                }
            }
        }
        sites.entrySet()
                .removeIf(each ->
                        !countsAll(method, each.getKey(), each.getValue().size()));
        return sites;
    }

    /** Returns whether a call has several operands: arguments or, in a layer, its own weights. */
    private static boolean computes(MethodInsnNode call) {
        int least = MethodNames.isGeneric(call.name) ? 1 : 2;
        return Type.getArgumentTypes(call.desc).length >= least
                && !CallGraph.isOfJdk(call.owner)
                && !call.name.startsWith("<");
    }

    /**
     * Returns the known brick that is named like the layer of a call, or like the last field that is read for the call,
     * directly or through a variable.
     */
    private static Optional<BrickId> named(MethodNode method, MethodInsnNode call, FieldNames names) {
        Optional<AbstractInsnNode> layer = FieldNames.layer(call);
        if (layer.isPresent()) {
            return names.brick(layer.get());
        }
        for (AbstractInsnNode node : Operands.computing(call, Operands.pops(call))) {
            Optional<BrickId> brick = names.brick(node);
            if (brick.isEmpty()
                    && node instanceof VarInsnNode load
                    && (load.getOpcode() == Opcodes.ALOAD || load.getOpcode() == Opcodes.ILOAD)) {
                AbstractInsnNode store = Operands.store(method, load);
                brick = store == null
                        ? Optional.empty()
                        : Operands.computing(store, 1).stream()
                                .map(names::brick)
                                .flatMap(Optional::stream)
                                .findFirst();
            }
            if (brick.isPresent()) {
                return brick;
            }
        }
        return Optional.empty();
    }

    /**
     * Returns whether all calls with this name in the method are among these calls, so that a rule numbers them in the
     * same way.
     */
    private static boolean countsAll(MethodNode method, String name, int sites) {
        long all = Stream.of(method.instructions.toArray())
                .filter(node -> node instanceof MethodInsnNode call && call.name.equals(name))
                .count();
        return all == sites;
    }
}
