package org.brickprofiler.agent.suggest;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.agent.ClassFiles.ClassFile;
import org.brickprofiler.agent.suggest.CallGraph.Code;
import org.brickprofiler.report.internal.HumanUnits;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Type;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.FieldInsnNode;
import org.objectweb.asm.tree.MethodInsnNode;

/**
 * Proposes rules for an engine from two runs of it. The samples of the first run show which methods are hot. The second
 * run times exactly each call that leads to a hot method. Of nested calls, the deepest ones that still take
 * {@link #SHORTEST_NS} on average are proposed as bricks. If one method is called at several places of another one,
 * these calls are proposed instead, since they distinguish the matrices. The step is a call in a loop that leads to the
 * bricks and has an argument that changes with the loop, as a position does, that is its result of the round before, as
 * a token is, or that the loop makes, as a growing array of tokens. Used once, by one thread.
 */
final class RunSuggestions {

    /** The shortest average time of a proposed brick, ns. Timing a longer brick costs little in comparison. */
    static final double SHORTEST_NS = 1_000;

    /** The shortest second run from which rules are proposed, ns; a shorter run is not representative. */
    private static final long SHORTEST_RUN_NS = 200_000_000;

    /**
     * The cost of timing a brick and, below, a step with the agent, ns, in an engine whose data fills the caches
     * (docs/AGENT.md).
     */
    private static final double COST_NS = 2_000;

    private static final double STEP_COST_NS = 15_000;

    /** The share of the run that the proposed rules may cost. */
    private static final double MOST_COST = 0.03;

    private static final long MOST_PERCENT = Math.round(100 * MOST_COST);

    /** Methods with fewer of the samples, and calls with less of the time, are no candidates. */
    private static final double LEAST_SHARE = 0.01;

    private static final int FEWEST_SAMPLES = 2;

    /** The number of calls of one method in another from which on each is a brick of its own. */
    private static final int SEVERAL = 3;

    /** A method is replaced by the calls in it only if they cover this share of its time. */
    private static final double COVERED = 0.5;

    /** A step takes at least half of this share of the time of the longest call. */
    private static final double OF_STEP = 0.5;

    /** The fewest calls of a brick or a step; rarer calls belong to the start or the end of a run. */
    private static final int FEWEST_STEPS = 4;

    /**
     * The number of levels of callers that are followed: samples of worker threads do not show the thread that
     * submitted the work.
     */
    private static final int MOST_LEVELS = 12;

    /** The number of levels up to which callers are followed even if they have no sample of their own. */
    private static final int NEAR_LEVELS = 2;

    private static final int MOST_CANDIDATES = 400;

    private static final String WITHOUT_STEP = """
            # No step is proposed: no call in a loop that leads to these bricks takes the position, the latest token or all tokens.
            # Under step:, name the method that runs the model once, with its tokens: and kv:; without one, phases, tokens/s and
            # requests are unknown.
            """;

    private static final String OF_ALL_TOKENS = """
              # Each step gets an array that the loop makes. If it has all tokens so far, each step counts as a prompt, and each
              # token as the first of a request.
            """;

    private static final double NS_PER_MS = 1e6;

    private final CallGraph graph;
    private final List<Site> sites = new ArrayList<>();
    private final Map<Code, List<Site>> inMethod = new LinkedHashMap<>();
    private final Set<String> names = new HashSet<>();

    /** A call in a method that leads to hot code. */
    private static final class Site {
        private final Code in;
        private final MethodInsnNode node;

        /** Its number among the method's calls of that name, from 1. */
        private final int number;

        /** The methods that it may run, without lambdas. */
        private final List<Code> targets;

        /** The bodies of the lambdas that are passed to it. */
        private final List<Code> bodies;

        /** The known brick that the field read before it is named after, or else what it calls. */
        private final Optional<BrickId> brick;

        /**
         * Whether it is this brick by its own name, that of its layer, or as a product: another field may be read for
         * another call.
         */
        private final boolean isNamed;

        /** Its samples in the second run. */
        private BrickStats stats;

        Site(
                Code in,
                MethodInsnNode node,
                int number,
                List<Code> targets,
                List<Code> bodies,
                Optional<BrickId> brick,
                boolean isNamed) {
            this.in = in;
            this.node = node;
            this.number = number;
            this.targets = targets;
            this.bodies = bodies;
            this.brick = brick;
            this.isNamed = isNamed;
            stats = BrickStats.builder(node.name, BrickCategory.OTHER).build();
        }

        Code in() {
            return in;
        }

        MethodInsnNode node() {
            return node;
        }

        List<Code> targets() {
            return targets;
        }

        List<Code> bodies() {
            return bodies;
        }

        Optional<BrickId> brick() {
            return brick;
        }

        long count() {
            return stats.count();
        }

        long totalNs() {
            return stats.totalNs();
        }

        double meanNs() {
            return count() == 0 ? 0 : (double) totalNs() / count();
        }

        String call() {
            return node.name + ' ' + number;
        }
    }

    /**
     * A step.
     *
     * @param loop the call in a loop; null for a call beside the loop
     * @param position the index of the argument that changes with the loop; -1 if unknown
     */
    private record StepMethod(Code code, @Nullable Site loop, int position) {}

    private RunSuggestions(CallGraph graph) {
        this.graph = graph;
    }

    /**
     * Finds the candidates.
     *
     * @param files the class files of the engine
     * @param hot the samples of the first run
     * @param leftOut accepts the place of each class file that is damaged or too new, with the reason
     */
    static RunSuggestions of(List<ClassFile> files, HotMethods hot, Consumer<String> leftOut) {
        RunSuggestions found = new RunSuggestions(CallGraph.of(files, leftOut));
        found.findCandidates(hot);
        return found;
    }

    // ---- candidates ----

    private void findCandidates(HotMethods hot) {
        long fewest = Math.max(FEWEST_SAMPLES, Math.round(LEAST_SHARE * hot.total()));
        Set<Code> leading = new LinkedHashSet<>();
        graph.all().stream()
                .filter(code -> hot.samples(code.type.name, code.key()) >= fewest)
                .forEach(leading::add);
        Map<Code, List<Site>> all = new LinkedHashMap<>();
        graph.all().forEach(code -> all.put(code, sitesOf(code)));
        for (int level = 0; level < MOST_LEVELS; level++) {
            boolean isNear = level < NEAR_LEVELS;
            List<Code> callers = new ArrayList<>();
            all.forEach((code, its) -> {
                if (!leading.contains(code)
                        && (isNear || hot.samples(code.type.name, code.key()) > 0)
                        && its.stream().anyMatch(site -> leadsTo(site, leading))) {
                    callers.add(code);
                }
            });
            if (callers.isEmpty() || leading.size() + callers.size() > MOST_CANDIDATES) {
                break;
            }
            leading.addAll(callers);
        }
        for (Code code : leading) {
            List<Site> kept = all.getOrDefault(code, List.of()).stream()
                    .filter(site -> code.isWritten() && leadsTo(site, leading))
                    .toList();
            if (!kept.isEmpty()) {
                inMethod.put(code, kept);
                sites.addAll(kept);
            }
        }
    }

    private static boolean leadsTo(Site site, Set<Code> methods) {
        return site.bodies().isEmpty()
                ? site.targets().stream().anyMatch(methods::contains)
                : site.bodies().stream().anyMatch(methods::contains);
    }

    private List<Site> sitesOf(Code code) {
        List<Site> found = new ArrayList<>();
        Map<String, Integer> numbers = new HashMap<>();
        List<Code> bodies = new ArrayList<>();
        FieldNames fields = FieldNames.of(code.method);
        Set<AbstractInsnNode> layers = new HashSet<>();
        for (AbstractInsnNode node : code.method.instructions) {
            if (node instanceof MethodInsnNode call) {
                FieldNames.layer(call).ifPresent(layers::add);
            }
        }
        Optional<BrickId> read = Optional.empty();
        for (AbstractInsnNode node : code.method.instructions) {
            String body = CallGraph.body(node);
            if (body != null) {
                graph.codes(body).stream()
                        .filter(each -> each.type == code.type)
                        .forEach(bodies::add);
            } else if (node instanceof FieldInsnNode field && !layers.contains(field)) {
                Optional<BrickId> before = read;
                read = fields.brick(field).or(() -> before);
            } else if (node instanceof MethodInsnNode call) {
                int number = numbers.merge(call.name, 1, Integer::sum);
                if (!call.name.startsWith("<")) {
                    boolean isOfJdk = CallGraph.isOfJdk(call.owner);
                    List<Code> targets = isOfJdk ? List.of() : graph.targets(call);
                    if (!targets.isEmpty() || !bodies.isEmpty()) {
                        Optional<AbstractInsnNode> layer = FieldNames.layer(call);
                        Optional<BrickId> called = bodies.isEmpty() ? called(targets) : Optional.empty();
                        Optional<BrickId> operand = layer.flatMap(fields::brick);
                        boolean isNamed = operand.isPresent() || called.isPresent() || MethodNames.isProduct(call.name);
                        if (layer.isEmpty() && !MethodNames.isRearranging(call.name)) {
                            operand = read.map(each -> MethodNames.ofCall(call.name, each));
                            read = Optional.empty();
                        }
                        Optional<BrickId> brick = operand.or(() -> called);
                        found.add(new Site(
                                code, call, number, targets, List.copyOf(bodies), brick, isNamed && brick.isPresent()));
                    }
                    if (Type.getArgumentTypes(call.desc).length > 0) {
                        bodies.clear();
                    }
                }
            }
        }
        return found;
    }

    /** Returns the known brick that all these methods are named after. */
    private static Optional<BrickId> called(List<Code> targets) {
        List<Optional<BrickId>> bricks =
                targets.stream().map(MethodNames::brick).distinct().toList();
        return bricks.size() == 1 ? bricks.get(0) : Optional.empty();
    }

    /** Returns whether no class of the engine was hot. */
    boolean isEmpty() {
        return sites.isEmpty();
    }

    /** Returns the rules of the second run: a brick for each candidate. */
    String candidates() {
        StringBuilder rules = new StringBuilder("bricks:\n");
        for (int i = 0; i < sites.size(); i++) {
            Site site = sites.get(i);
            rules.append("  - {in: '")
                    .append(site.in().in())
                    .append("', call: '")
                    .append(site.call())
                    .append("', brick: ")
                    .append(nameOf(i))
                    .append(", category: OTHER}\n");
        }
        return rules.toString();
    }

    private static String nameOf(int candidate) {
        return "candidate " + candidate;
    }

    // ---- the proposal ----

    /**
     * Returns the proposed rules.
     *
     * @param measured the profile of the second run
     * @throws IOException when the run was too short
     */
    String rules(ProfileSnapshot measured) throws IOException {
        if (measured.wallNs() < SHORTEST_RUN_NS) {
            throw new IOException("only " + measured.wallNs() / 1_000_000
                    + " ms of the second run remained after the calls were dropped that are too short to be timed: let the"
                    + " command run longer");
        }
        for (int i = 0; i < sites.size(); i++) {
            int at = i;
            measured.brick(nameOf(i)).ifPresent(stats -> sites.get(at).stats = stats);
        }
        long longestNs = sites.stream().mapToLong(Site::totalNs).max().orElse(0);
        Map<BrickId, Long> ofBrickNs = new EnumMap<>(BrickId.class);
        sites.forEach(site -> site.brick().ifPresent(brick -> ofBrickNs.merge(brick, site.totalNs(), Long::sum)));
        inMethod.replaceAll((code, its) -> its.stream()
                .filter(site -> site.meanNs() >= SHORTEST_NS)
                // A brick without its short calls would have a wrong count.
                .filter(site -> site.brick().map(ofBrickNs::get).orElse(site.totalNs()) >= LEAST_SHARE * longestNs)
                .toList());
        double mostNs = MOST_COST * measured.wallNs();
        List<StepMethod> steps = steps();
        String remark = "";
        if (steps.isEmpty()) {
            remark = WITHOUT_STEP;
        } else if (costNs(steps) >= mostNs) {
            remark = tooShort(steps);
            steps = List.of();
        }
        List<Site> longEnough = bricks(steps);
        List<Site> bricks = withinCost(longEnough, mostNs - costNs(steps));
        if (bricks.isEmpty()) {
            return longEnough.isEmpty()
                    ? "# no call of hot code is long enough to be timed\n"
                    : "# steps and calls are so short that timing them would cost more than " + MOST_PERCENT
                            + " % of the run\n";
        }
        StringBuilder text = new StringBuilder(summary(bricks, costNs(steps), measured.wallNs())).append(remark);
        if (!steps.isEmpty()) {
            text.append("step:\n");
            steps.forEach(step -> text.append(rule(step)));
            text.append(prompts(steps));
        }
        text.append("bricks:\n");
        bricks.forEach(brick -> text.append(rule(brick)));
        return text.toString();
    }

    private static double costNs(List<StepMethod> steps) {
        return STEP_COST_NS
                * steps.stream()
                        .map(StepMethod::loop)
                        .filter(Objects::nonNull)
                        .mapToLong(Site::count)
                        .sum();
    }

    private static String tooShort(List<StepMethod> steps) {
        StepMethod first = steps.get(0);
        return String.format(
                Locale.ROOT,
                "# No step is proposed: %s takes %s on average, so steps would cost more than %d %% of the run.%n",
                first.code().in(),
                HumanUnits.duration(Objects.requireNonNull(first.loop(), "the loop of a first step")
                        .meanNs()),
                MOST_PERCENT);
    }

    private static String summary(List<Site> bricks, double stepsNs, long wallNs) {
        long calls = bricks.stream().mapToLong(Site::count).sum();
        return String.format(
                Locale.ROOT,
                "# Proposed from a run of %.1f s. The rules cost at most some %.1f %% of it: %d samples at 2 us, and the"
                        + " steps at 15 us.%n",
                wallNs / 1e9,
                100 * (calls * COST_NS + stepsNs) / wallNs,
                calls);
    }

    /** Leaves out the shortest calls until timing them costs little. */
    private static List<Site> withinCost(List<Site> bricks, double mostNs) {
        List<Site> kept = new ArrayList<>(bricks);
        kept.sort(Comparator.comparingDouble(Site::meanNs).reversed());
        while (!kept.isEmpty() && kept.stream().mapToLong(Site::count).sum() * COST_NS > mostNs) {
            kept.remove(kept.size() - 1);
        }
        return bricks.stream().filter(kept::contains).toList();
    }

    private List<Site> bricks(List<StepMethod> steps) {
        Set<Site> chosen = new LinkedHashSet<>();
        Set<Code> within = new HashSet<>();
        Set<Code> roots = new LinkedHashSet<>();
        for (StepMethod step : steps) {
            if (step.loop() != null) {
                roots.add(step.loop().in());
            }
        }
        if (roots.isEmpty()) {
            Set<Code> called = new HashSet<>();
            inMethod.values().forEach(its -> its.forEach(site -> called.addAll(site.targets())));
            inMethod.keySet().stream().filter(code -> !called.contains(code)).forEach(roots::add);
        }
        Set<Code> inNamed = inNamed();
        for (Code root : roots) {
            within.add(root);
            inMethod.getOrDefault(root, List.of()).forEach(site -> chosen.addAll(deepest(site, within, inNamed)));
        }
        chosen.removeIf(site -> site.count() < FEWEST_STEPS);
        return withoutOuter(chosen);
    }

    /**
     * Returns the methods that run within a call which is named after a brick, such as the product of each layer's own
     * weights. Calls in them are no bricks: they would not show the weights, and count twice.
     */
    private Set<Code> inNamed() {
        Set<Code> found = new HashSet<>();
        inMethod.values().stream()
                .flatMap(List::stream)
                .filter(site -> site.isNamed && site.targets().size() == 1)
                .forEach(site -> found.addAll(graph.reached(site.targets().get(0))));
        return found;
    }

    /**
     * Leaves out calls whose time is mostly that of other chosen calls. {@link #deepest} does not see such nesting if
     * it leads through an interface or another thread.
     */
    private List<Site> withoutOuter(Set<Site> chosen) {
        List<Site> kept = new ArrayList<>();
        List<Site> shortestFirst = new ArrayList<>(chosen);
        shortestFirst.sort(Comparator.comparingLong(Site::totalNs));
        for (Site site : shortestFirst) {
            Set<Code> within = new HashSet<>();
            site.targets().forEach(target -> within.addAll(graph.reached(target)));
            site.bodies().forEach(body -> within.addAll(graph.reached(body)));
            long innerNs = kept.stream()
                    .filter(each -> within.contains(each.in()))
                    .mapToLong(Site::totalNs)
                    .sum();
            if (innerNs < COVERED * site.totalNs()) {
                kept.add(site);
            }
        }
        return chosen.stream().filter(kept::contains).toList();
    }

    /**
     * Returns the call itself, or instead the calls in the methods that it runs if these calls cover most of its time.
     *
     * @param within the methods around the call
     * @param closed the methods in which no call is a brick
     */
    private Set<Site> deepest(Site site, Set<Code> within, Set<Code> closed) {
        Set<Site> itself = Set.of(site);
        boolean isOneOfSeveral = inMethod.getOrDefault(site.in(), List.of()).stream()
                        .filter(other -> other.targets().equals(site.targets()))
                        .count()
                >= SEVERAL;
        if (!site.bodies().isEmpty() || isOneOfSeveral || site.isNamed) {
            return itself;
        }
        Set<Site> deeper = new LinkedHashSet<>();
        long coveredNs = 0;
        for (Code target : site.targets()) {
            if (!closed.contains(target) && within.add(target)) {
                for (Site inner : inMethod.getOrDefault(target, List.of())) {
                    coveredNs += inner.totalNs();
                    deeper.addAll(deepest(inner, within, closed));
                }
                within.remove(target);
            }
        }
        long ofTargetNs = inMethod.values().stream()
                .flatMap(List::stream)
                .filter(other -> other.targets().equals(site.targets()))
                .mapToLong(Site::totalNs)
                .sum();
        return deeper.size() > 1 && coveredNs >= COVERED * ofTargetNs ? deeper : itself;
    }

    private String rule(Site site) {
        Optional<BrickId> known = site.brick();
        String name = CallGraph.simpleName(site.in().type) + '.' + site.in().method.name + ' ' + site.call();
        String unique = name;
        for (int i = 2; known.isEmpty() && !names.add(unique); i++) {
            unique = name + " (" + i + ')';
        }
        boolean isProduct = MethodNames.isProduct(site.node().name)
                || site.bodies().stream().anyMatch(RunSuggestions::multiplies);
        StringBuilder rule = new StringBuilder(String.format(
                Locale.ROOT,
                "  # %d calls, %s each%n  - in: %s%n    call: %s%n    brick: %s%n",
                site.count(),
                HumanUnits.duration(site.meanNs()),
                site.in().in(),
                site.call(),
                known.isPresent() ? known.get().name() : unique));
        if (known.isEmpty()) {
            rule.append("    category: ")
                    .append(isProduct ? "MATRIX_PRODUCT" : "OTHER")
                    .append('\n');
        }
        int tokens = tokens(site.in());
        if (tokens >= 0) {
            rule.append("    elements: arg").append(tokens).append(".length\n");
        }
        return rule.toString();
    }

    /** Returns whether the body of a lambda calls a method that is named like a product. */
    private static boolean multiplies(Code body) {
        return body.calls.stream().anyMatch(call -> MethodNames.isProduct(call.substring(0, call.indexOf('('))));
    }

    /** Returns the index of the only parameter that is an array of ints; -1 if there are none or several. */
    private static int tokens(Code code) {
        Type[] types = Type.getArgumentTypes(code.method.desc);
        int found = -1;
        for (int i = 0; i < types.length; i++) {
            if (types[i].getDescriptor().equals(LoopArguments.TOKENS)) {
                if (found >= 0) {
                    return -1;
                }
                found = i;
            }
        }
        return found;
    }

    // ---- the step ----

    /** Returns the method that processes a token, and the methods beside it that process a prompt. */
    private List<StepMethod> steps() {
        long allNs = inMethod.values().stream()
                .flatMap(List::stream)
                .mapToLong(Site::totalNs)
                .max()
                .orElse(0);
        List<StepMethod> found = new ArrayList<>();
        inMethod.forEach((code, its) -> its.forEach(site -> {
            boolean mayBe = site.count() >= FEWEST_STEPS && site.bodies().isEmpty();
            int position = mayBe ? LoopArguments.changing(code.method, site.node()) : -1;
            boolean isStep = position >= 0
                    || (mayBe
                            && (LoopArguments.isFedBack(code.method, site.node())
                                    || LoopArguments.isRemade(code.method, site.node())));
            if (isStep && site.totalNs() >= OF_STEP * allNs / 2) {
                site.targets().stream()
                        .filter(inMethod::containsKey)
                        .forEach(target -> found.add(new StepMethod(target, site, position)));
            }
        }));
        // Keep the outermost calls: the calls that these reach are layers or rows.
        List<StepMethod> outer = found.stream()
                .filter(step -> found.stream()
                        .noneMatch(other -> other.code() != step.code()
                                && graph.reached(other.code()).contains(step.code())))
                .toList();
        return outer.isEmpty() ? List.of() : withPrompts(outer.get(0), outer);
    }

    private List<StepMethod> withPrompts(StepMethod first, List<StepMethod> outer) {
        Site loop = first.loop();
        Map<Code, StepMethod> all = new LinkedHashMap<>();
        outer.stream()
                .filter(step ->
                        loop != null && step.loop() != null && step.loop().in() == loop.in())
                .forEach(step -> all.putIfAbsent(step.code(), step));
        if (loop != null) {
            Set<Code> inner = graph.reached(first.code());
            for (Site beside : inMethod.getOrDefault(loop.in(), List.of())) {
                for (Code target : beside.targets()) {
                    boolean sharesCode = graph.reached(target).stream()
                            .anyMatch(each -> inMethod.containsKey(each) && inner.contains(each) && each != target);
                    if (tokens(target) >= 0 && sharesCode) {
                        all.putIfAbsent(target, new StepMethod(target, null, -1));
                    }
                }
            }
        }
        return List.copyOf(all.values());
    }

    /** Proposes the prompts of steps that process one token each. */
    private static String prompts(List<StepMethod> steps) {
        return steps.stream().anyMatch(step -> tokens(step.code()) >= 0)
                ? ""
                : Prompts.rules(steps.stream()
                        .map(StepMethod::loop)
                        .filter(Objects::nonNull)
                        .map(Site::in)
                        .distinct());
    }

    private String rule(StepMethod step) {
        Code code = step.code();
        Site loop = step.loop();
        StringBuilder rule = new StringBuilder();
        if (loop != null) {
            rule.append(String.format(
                    Locale.ROOT, "  # %d calls, %.2f ms each%n", loop.count(), loop.meanNs() / NS_PER_MS));
        }
        if (loop != null && step.position() < 0 && LoopArguments.isRemade(loop.in().method, loop.node())) {
            rule.append(OF_ALL_TOKENS);
        }
        rule.append("  - in: ").append(code.in()).append('\n');
        int tokens = tokens(code);
        if (tokens >= 0) {
            rule.append("    tokens: arg").append(tokens).append(".length\n");
        }
        // The only int of a method in a loop may be a token.
        int position = loop == null ? onlyInt(code) : step.position();
        if (position >= 0) {
            rule.append("    kv: arg").append(position).append('\n');
        }
        Suggestions.logits(code)
                .ifPresent(index -> rule.append("    output: arg").append(index).append('\n'));
        return rule.toString();
    }

    private static int onlyInt(Code code) {
        Type[] types = Type.getArgumentTypes(code.method.desc);
        int found = -1;
        for (int i = 0; i < types.length; i++) {
            if (types[i].equals(Type.INT_TYPE)) {
                if (found >= 0) {
                    return -1;
                }
                found = i;
            }
        }
        return found;
    }
}
