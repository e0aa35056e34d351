package org.brickprofiler.agent;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.agent.RuleNode.Entry;
import org.brickprofiler.agent.RuleNode.Mapping;
import org.brickprofiler.agent.RuleNode.Scalar;
import org.brickprofiler.agent.RuleNode.Sequence;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Call;
import org.brickprofiler.agent.WeaveRule.Elements;
import org.brickprofiler.agent.WeaveRule.Ending;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.agent.WeaveRule.ModelNumber;
import org.brickprofiler.agent.WeaveRule.Product;
import org.brickprofiler.agent.WeaveRule.Target;
import org.brickprofiler.agent.WeaveRule.Weight;
import org.brickprofiler.internal.io.InputFile;
import org.brickprofiler.request.Outcome;
import org.jspecify.annotations.Nullable;

/**
 * Reads a file of rules, in YAML.
 *
 * <pre>{@code
 * step:                                  # a forward pass; a list if several methods run one
 *   in: com.example.Llama.forward
 *   tokens: tokens.length                # 1 unless given; more than one are a prompt
 *   kv: position                         # what the key-value cache holds; 0 unless given
 *   warmup: 2                            # discard the first 2 steps
 *   prompt: true                         # each step prefills; a step of several tokens always does
 *   output: computeLogits                # tokens that it outputs; default 1, or 0 with prompt: true
 * prompts:                               # methods whose first steps process a prompt, although each decodes
 *   - in: com.example.Llama.generate
 *     steps: prompt.size()               # the number of these steps
 *     output: 1                          # tokens that the last of them outputs; 0 unless given
 * request:                               # one thread serves one request: the steps within are steps of it
 *   in: com.example.Llama.generate
 *   id: headers.id                       # the engine's id of the request; and in arrived:
 *   model: body.model                    # the model it is for, if there are several; and in arrived:
 *   prompt: prompt.size()                # tokens of its prompt; unless given, those of its steps
 *   outcome: result.reason               # the value that decides; COMPLETED unless given, FAILED after an exception
 *   outcomes: {MAX_TOKENS: LENGTH}       # the outcome of a value that has not the name of one
 * requests:                              # a step works on several requests
 *   arrived:
 *     in: com.example.Sequence.<init>
 *     request: this                      # the object that identifies it
 *     prompt: prompt.length
 *   inStep:
 *     in: com.example.Batch.add
 *     at: entry                          # or before NAME [N], after NAME [N]
 *     request: sequence
 *     prompt: chunk.length               # tokens of its prompt in this step, 0 if it decodes
 *     gives: 1                           # tokens that it gets; unless given, 1 once its prompt is complete
 *   finished:
 *     in: com.example.Server.cancel
 *     request: sequence
 *     outcome: CANCELLED
 * layer:
 *   in: com.example.Llama.layer          # no anchors: the whole method
 *   number: this.index                   # counted from 0 in each step unless given
 * model:                                 # the work of all known bricks in a step; needs layer:
 *   in: com.example.Llama.forward        # read at its entry, or at: before NAME [N], after NAME [N]
 *   layers: config.layers                # dim, heads, kvHeads, ffnDim, vocab too; headDim, experts, expertsPerToken
 *   weight: config.type                  # a type such as Q8_0, bits, or a value that names a type
 *   bits: {INT8: 9}                      # of values that name no known type
 *   cache: F16                           # of keys and values, and activation: of other numbers; F32 unless given
 *   tokens: tokens.length                # and kv: unless given, those of the step; else the step has several passes
 * tasks:                                 # methods that run a task on another thread, for the layer of the caller
 *   - in: com.example.Parallel.run
 *   - in: com.example.Llama.forward
 *     call: parallelFor 1                # or this call alone, whose last argument is the task
 * annotated: [com.example]               # packages in which methods carry @Brick
 * bricks:
 *   - in: com.example.Llama.forward(State, int[])
 *     call: matmul 3                     # from before the third call of that name until after it
 *     brick: OUTPUT_PROJECTION
 *     elements: call.arg1.length         # 1 unless given; here of the second argument of that call
 *     work:                              # a product of a matrix and vectors
 *       matmul: [dim, call.arg0, 1]      # rows, columns, vectors; 1 unless given
 *       weight: call.this.type()         # as of model:, with bits: too
 *       activation: F32                  # the type of the vectors; F32 unless given
 *       times: 1                         # products in a sample; 1 unless given
 *   - in: [com.example.Llama.forward, com.example.Llama.forwardPrompt]
 *     lambda: run 1                      # within the lambda that the first call of run takes
 *     from: entry                        # entry, before NAME [N], after NAME [N]
 *     to: before softmax                 # exit, before NAME [N], after NAME [N]
 *     brick: my scores
 *     category: Attention
 * }</pre>
 *
 * <p>Each problem names the file and the line; for an unknown name it also lists similar names that exist. A malformed
 * rule is skipped and the others are read. A file that is not YAML, or that has no valid rule, is refused with an
 * {@link IllegalArgumentException}.
 */
final class RuleFile {

    /** The size limit of a rule file. Rules are written by hand, so a larger file is something else. */
    private static final int MOST_BYTES = 10_000_000;

    private static final Elements F32 = new Elements(WeightTypes.F32, List.of());

    private final String source;
    private final List<WeaveRule> rules = new ArrayList<>();
    private final List<String> problems = new ArrayList<>();
    private int products;

    /** The number of problems that concern the work of a rule alone. */
    private int withoutWork;

    private RuleFile(String source, int firstProduct) {
        this.source = source;
        products = firstProduct;
    }

    /**
     * The content of a rule file.
     *
     * @param rules the rules, in the order of the file
     * @param warmupSteps the number of warm-up steps, which are discarded
     * @param annotated the packages in which methods may carry {@code @Brick}, each with its line in the file
     * @param problems one message for each rule that was skipped, and for each one without its work
     * @param count the number of rules in the file, including malformed ones
     */
    record Rules(
            List<WeaveRule> rules, int warmupSteps, Map<String, Integer> annotated, List<String> problems, int count) {}

    /**
     * Reads a file in UTF-8, or a rule file that is bundled with the agent.
     *
     * @param file the file; if no regular file has this name, the name of an engine with bundled rules, such as
     *     {@code jlama}
     * @param firstProduct the number of the first product in it; the next ones follow
     * @throws IOException when it cannot be read
     * @throws IllegalArgumentException when it is no regular file, too large, not YAML, or has no valid rule
     */
    static Rules read(Path file, int firstProduct) throws IOException {
        if ((Files.notExists(file) || Files.isDirectory(file)) && Names.isName(file.toString())) {
            String shipped = shipped(file + ShippedRules.ENDING);
            if (shipped != null) {
                return new RuleFile(file.toString(), firstProduct).rules(ShippedRules.read(shipped));
            }
            // Outside of the agent's jar.
            String yaml = shipped(file + ".yaml");
            if (yaml != null) {
                return parse(file.toString(), yaml, firstProduct);
            }
        }
        if (Files.exists(file) && !Files.isRegularFile(file)) {
            throw new IllegalArgumentException(
                    file + " is a " + (Files.isDirectory(file) ? "folder" : "device or a pipe")
                            + ", and rules are read from regular files only");
        }
        try (InputStream in = Files.newInputStream(file)) {
            // The size of a file does not bound it: it may grow, and files of /proc have the size 0.
            byte[] bytes = in.readNBytes(MOST_BYTES + 1);
            if (bytes.length > MOST_BYTES) {
                throw new IllegalArgumentException(
                        file + ": more than " + MOST_BYTES + " bytes are too many for a rule file");
            }
            return parse(file.toString(), utf8(file, bytes), firstProduct);
        } catch (IOException failed) {
            throw InputFile.cannotRead(file.toString(), failed);
        }
    }

    private static @Nullable String shipped(String name) throws IOException {
        try (InputStream file = RuleFile.class.getResourceAsStream(name)) {
            return file == null ? null : new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static String utf8(Path file, byte[] bytes) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException malformed) {
            throw new IllegalArgumentException(file + ": it is no text in UTF-8", malformed);
        }
    }

    /**
     * Reads rules.
     *
     * @param source the name of the file in messages
     * @throws IllegalArgumentException when the text is not YAML, or has no valid rule
     */
    static Rules parse(String source, String text) {
        return parse(source, text, 0);
    }

    private static Rules parse(String source, String text, int firstProduct) {
        return new RuleFile(source, firstProduct).rules(YamlNodes.parse(source, text));
    }

    private Rules rules(RuleNode root) {
        Map<String, RuleNode> parts = parts(root);
        AtomicInteger warmup = new AtomicInteger();
        Map<String, Integer> annotated = new LinkedHashMap<>();
        for (RuleNode step : oneOrMore(parts.get("step"))) {
            orProblem(() -> {
                Map<String, RuleNode> entries = entries(
                        step,
                        Set.of("in", "lambda", "call", "from", "to", "tokens", "kv", "output", "prompt", "warmup"));
                int steps = entries.containsKey("warmup") ? number(entries.get("warmup")) : 0;
                add(step, Kind.STEP, entries);
                warmup.accumulateAndGet(steps, Math::max);
            });
        }
        for (RuleNode prompt : list(parts.get("prompts"))) {
            orProblem(() -> add(
                    prompt,
                    Kind.PROMPT,
                    entries(prompt, Set.of("in", "lambda", "call", "from", "to", "steps", "output"))));
        }
        for (RuleNode request : oneOrMore(parts.get("request"))) {
            orProblem(() -> add(
                    request,
                    Kind.REQUEST,
                    entries(
                            request,
                            Set.of(
                                    "in",
                                    "lambda",
                                    "call",
                                    "from",
                                    "to",
                                    "request",
                                    "id",
                                    "model",
                                    "prompt",
                                    "outcome",
                                    "outcomes"))));
        }
        addRequests(parts.get("requests"));
        for (RuleNode layer : oneOrMore(parts.get("layer"))) {
            orProblem(() ->
                    add(layer, Kind.LAYER, entries(layer, Set.of("in", "lambda", "call", "from", "to", "number"))));
        }
        for (RuleNode task : list(parts.get("tasks"))) {
            orProblem(() -> add(task, Kind.TASK, entries(task, Set.of("in", "lambda", "call"))));
        }
        for (RuleNode brick : list(parts.get("bricks"))) {
            orProblem(() -> add(
                    brick,
                    Kind.BRICK,
                    entries(
                            brick,
                            Set.of("in", "lambda", "call", "from", "to", "brick", "category", "elements", "work"))));
        }
        addModels(parts.get("model"));
        stateThatWorkIsUnknown();
        for (RuleNode name : list(parts.get("annotated"))) {
            orProblem(() -> annotated.put(text(name), line(name)));
        }
        refuseRequestsThatCannotWork();
        refuseModelsThatCannotWork();
        if (rules.isEmpty() && annotated.isEmpty()) {
            throw problems.isEmpty()
                    ? error(root, "there are no rules in it")
                    : new IllegalArgumentException(String.join("; ", problems));
        }
        return new Rules(
                List.copyOf(rules),
                warmup.get(),
                Map.copyOf(annotated),
                List.copyOf(problems),
                rules.size() + problems.size() - withoutWork);
    }

    private void addRequests(@Nullable RuleNode node) {
        if (node == null) {
            return;
        }
        orProblem(() -> {
            Map<String, RuleNode> parts = entries(node, Set.of("arrived", "inStep", "finished"));
            for (RuleNode each : oneOrMore(parts.get("arrived"))) {
                orProblem(() -> add(
                        each,
                        Kind.ARRIVAL,
                        entries(
                                each,
                                Set.of("in", "lambda", "call", "from", "to", "request", "id", "model", "prompt"))));
            }
            for (RuleNode each : oneOrMore(parts.get("inStep"))) {
                orProblem(() -> add(
                        each, Kind.IN_STEP, entries(each, Set.of("in", "lambda", "at", "request", "prompt", "gives"))));
            }
            for (RuleNode each : oneOrMore(parts.get("finished"))) {
                orProblem(() -> add(
                        each,
                        Kind.FINISH,
                        entries(each, Set.of("in", "lambda", "call", "from", "to", "request", "outcome", "outcomes"))));
            }
        });
    }

    /** Drops the rules for requests, and reports the reason, if these rules together cannot give correct numbers. */
    private void refuseRequestsThatCannotWork() {
        List<WeaveRule> ofRequests = with(rule -> rule.kind().isOfRequests());
        if (ofRequests.isEmpty()) {
            return;
        }
        boolean serves = has(rule -> rule.kind() == Kind.REQUEST);
        boolean servesArrived =
                has(rule -> rule.kind() == Kind.REQUEST && !rule.request().isConstant());
        boolean arrives = has(rule -> rule.kind() == Kind.ARRIVAL);
        boolean inStep = has(rule -> rule.kind() == Kind.IN_STEP);
        String reason = null;
        if (!has(rule -> rule.kind() == Kind.STEP)) {
            reason = "there is no step:, so no step would work on a request";
        } else if (!arrives && (servesArrived || !serves || inStep)) {
            reason = "arrived: is missing under requests:, so no object would be known as a request";
        } else if (arrives && !inStep && !servesArrived) {
            reason =
                    "inStep: is missing under requests:, so no step would work on these requests; or write request: in the"
                            + " rule of the method that serves one of them";
        } else if (arrives && !servesArrived && !has(rule -> rule.kind() == Kind.FINISH)) {
            reason = "finished: is missing under requests:, so no request would end";
        } else if (inStep
                && has(rule -> rule.kind() == Kind.ARRIVAL && rule.elements().equals(Elements.UNKNOWN))
                && has(rule -> rule.kind() == Kind.IN_STEP && rule.output().equals(Elements.UNKNOWN))) {
            reason =
                    "neither prompt: of arrived nor gives: of inStep is written, so a prompt in parts would get its first"
                            + " token too early";
        }
        if (reason != null) {
            rules.removeAll(ofRequests);
            for (WeaveRule rule : ofRequests) {
                problems.add(source + ":" + rule.line() + ": this rule for requests does not apply: " + reason);
            }
        }
    }

    /** Gives the rules without work an unknown product, if other rules of the same brick have one. */
    private void stateThatWorkIsUnknown() {
        Set<String> stated = new HashSet<>();
        for (WeaveRule rule : rules) {
            if (rule.product().isPresent()) {
                stated.add(brickOf(rule));
            }
        }
        rules.replaceAll(rule -> rule.kind() == Kind.BRICK && rule.product().isEmpty() && stated.contains(brickOf(rule))
                ? rule.withProduct(Product.unknown(products++))
                : rule);
    }

    /** Returns the display name of the brick of a rule. */
    static String brickOf(WeaveRule rule) {
        return BrickId.parse(rule.brick()).map(BrickId::displayName).orElse(rule.brick());
    }

    private void addModels(@Nullable RuleNode node) {
        Set<String> known = new HashSet<>(Set.of("in", "lambda", "at", "bits"));
        for (ModelNumber number : ModelNumber.values()) {
            known.add(number.key);
        }
        for (RuleNode model : oneOrMore(node)) {
            orProblem(() -> add(model, Kind.MODEL, entries(model, known)));
        }
    }

    /**
     * Drops the models, and reports the reason, if the other rules do not state what models need. Then sets the
     * positions that no rule states to 0.
     */
    private void refuseModelsThatCannotWork() {
        List<WeaveRule> models = with(rule -> rule.kind() == Kind.MODEL);
        String reason = null;
        if (!has(rule -> rule.kind() == Kind.STEP)) {
            reason = "there is no step:, whose work it would be";
        } else if (!has(rule -> rule.kind() == Kind.LAYER)) {
            reason = "there is no layer:, which tells how often its bricks ran";
        } else if (has(rule -> rule.kind() == Kind.IN_STEP)) {
            reason = "a step works on several requests, of which it knows only the sum of their positions";
        }
        for (WeaveRule rule : models) {
            boolean knowsPosition = !isUnlessGiven(rule, ModelNumber.KV)
                    || !has(step -> step.kind() == Kind.STEP && step.kvLength().equals(Elements.UNKNOWN));
            String unusable = reason != null ? reason : knowsPosition ? null : "neither it nor each step: has kv:";
            if (unusable != null) {
                rules.remove(rule);
                problems.add(source + ":" + rule.line() + ": this model: does not apply: " + unusable);
            }
        }
        rules.replaceAll(WeaveRule::withKnownPosition);
    }

    private static boolean isUnlessGiven(WeaveRule model, ModelNumber number) {
        return model.model().get(number.index()).path().equals(new Elements(number.unlessGiven, List.of()));
    }

    private boolean has(Predicate<WeaveRule> property) {
        return !with(property).isEmpty();
    }

    private List<WeaveRule> with(Predicate<WeaveRule> property) {
        List<WeaveRule> found = new ArrayList<>(rules);
        found.removeIf(rule -> !property.test(rule));
        return found;
    }

    /** Reads one rule. A malformed rule is skipped and reported as a problem. */
    private void orProblem(Runnable read) {
        try {
            read.run();
        } catch (IllegalArgumentException malformed) {
            problems.add(String.valueOf(malformed.getMessage()));
        }
    }

    /** Returns the top-level parts of the file by key, without those with an unknown key. */
    private Map<String, RuleNode> parts(RuleNode root) {
        Set<String> known =
                Set.of("step", "prompts", "request", "requests", "layer", "model", "tasks", "bricks", "annotated");
        Map<String, RuleNode> parts = new LinkedHashMap<>();
        for (Entry part : mapping(root, known)) {
            orProblem(() -> add(part, known, parts));
        }
        return parts;
    }

    private List<RuleNode> list(@Nullable RuleNode node) {
        List<RuleNode> nodes = new ArrayList<>();
        orProblem(() -> nodes.addAll(sequence(node)));
        return nodes;
    }

    /** Adds one rule for each method that it names. */
    private void add(RuleNode node, Kind kind, Map<String, RuleNode> entries) {
        List<RuleNode> methods = oneOrMore(entries.get("in"));
        if (methods.isEmpty()) {
            throw error(node, "in: is missing; write in: package.Class.method");
        }
        methods.forEach(in -> orProblem(() -> rules.add(rule(node, kind, in, entries))));
    }

    private WeaveRule rule(RuleNode node, Kind kind, RuleNode in, Map<String, RuleNode> entries) {
        Anchor from = Anchor.ENTRY;
        Anchor to = Anchor.EXIT;
        RuleNode call = entries.get("call");
        if (call != null) {
            if (entries.containsKey("from") || entries.containsKey("to")) {
                throw error(call, "call: replaces from: and to:, so a rule has either call: or from: and to:");
            }
            from = new Anchor(Anchor.Place.BEFORE, call(call));
            to = new Anchor(Anchor.Place.AFTER, call(call));
        } else {
            from = anchor(entries.get(kind.isPlace() ? "at" : "from"), Anchor.ENTRY);
            to = anchor(entries.get("to"), Anchor.EXIT);
        }
        RuleNode lambda = entries.get("lambda");
        Target target = target(in, lambda == null ? null : call(lambda));
        RuleNode elements = entries.get(
                switch (kind) {
                    case PROMPT -> "steps";
                    case STEP -> "tokens";
                    case LAYER -> "number";
                    case ARRIVAL, REQUEST, IN_STEP, FINISH -> "prompt";
                    case BRICK, TASK, MODEL -> "elements";
                });
        if (kind == Kind.PROMPT && elements == null) {
            throw error(node, "steps: is missing; write the number of steps that process the prompt");
        }
        if (kind == Kind.IN_STEP && elements == null) {
            throw error(
                    node, "prompt: is missing; write the tokens of the request's prompt in this step, 0 if it decodes");
        }
        Elements unlessGiven =
                kind.isOfRequests() ? Elements.UNKNOWN : kind == Kind.LAYER ? Elements.COUNTED : Elements.ONE;
        RuleNode kvLength = entries.get("kv");
        boolean isPrompt = kind == Kind.STEP && isTrue(entries.get("prompt"));
        Elements output = kind == Kind.STEP && !isPrompt ? Elements.ONE : Elements.ZERO;
        RuleNode outputNode = entries.get(kind == Kind.IN_STEP ? "gives" : "output");
        if (outputNode != null) {
            output = elements(outputNode);
        } else if (kind == Kind.IN_STEP) {
            output = Elements.UNKNOWN;
        }
        Optional<BrickCategory> category = category(entries.get("category"));
        return new WeaveRule(
                line(node),
                kind,
                target,
                from,
                to,
                kind == Kind.BRICK ? brick(node, entries.get("brick"), category) : "",
                category,
                new WeaveRule.Amounts(
                        elements == null ? unlessGiven : elements(elements),
                        kvLength == null ? Elements.UNKNOWN : elements(kvLength),
                        output,
                        isPrompt,
                        request(node, kind, entries.get("request")),
                        name(entries.get("id"), "id that differs by request and is known at its beginning"),
                        name(entries.get("model"), "model that is known at the beginning of a request"),
                        ending(entries.get("outcome"), entries.get("outcomes")),
                        kind == Kind.BRICK ? product(entries.get("work")) : Optional.empty(),
                        kind == Kind.MODEL ? model(node, entries) : List.of()));
    }

    /**
     * Returns the product of a rule. If it is malformed, returns a product without a shape, so that the brick is timed
     * without its work.
     */
    private Optional<Product> product(@Nullable RuleNode node) {
        if (node == null) {
            return Optional.empty();
        }
        int number = products++;
        try {
            Map<String, RuleNode> entries = entries(node, Set.of("matmul", "weight", "bits", "activation", "times"));
            RuleNode matmul = entries.get("matmul");
            RuleNode weight = entries.get("weight");
            if (matmul == null || weight == null) {
                throw error(
                        node,
                        (matmul == null ? "matmul: [rows, columns, vectors]" : "weight:, the type of the weights,")
                                + " is missing in work:");
            }
            List<Elements> shape = new ArrayList<>();
            sequence(matmul).forEach(each -> shape.add(elements(each)));
            if (shape.size() == 2) {
                shape.add(Elements.ONE);
            }
            if (shape.size() != 3) {
                throw error(matmul, "matmul: has " + shape.size() + " numbers instead of rows, columns and vectors");
            }
            RuleNode activation = entries.get("activation");
            Weight vectors = activation == null ? Weight.number(F32) : weight(activation, null);
            if (!vectors.path().isConstant()) {
                throw error(activation, "'" + vectors.path() + "' is neither a type of numbers, such as F32, nor bits");
            }
            RuleNode times = entries.get("times");
            return Optional.of(new Product(
                    number,
                    List.copyOf(shape),
                    weight(weight, entries.get("bits")),
                    vectors.path().constant(),
                    times == null ? 1 : positive(times)));
        } catch (IllegalArgumentException malformed) {
            problems.add(malformed.getMessage() + "; the brick is timed without its work");
            withoutWork++;
            return Optional.of(Product.unknown(number));
        }
    }

    private long positive(RuleNode node) {
        String text = text(node);
        if (!Names.isNumber(text, 6) || text.charAt(0) == '0') {
            throw error(node, "'" + text + "' is not a number above 0");
        }
        return Long.parseLong(text);
    }

    private List<Weight> model(RuleNode rule, Map<String, RuleNode> entries) {
        List<Weight> numbers = new ArrayList<>();
        for (ModelNumber number : ModelNumber.values()) {
            RuleNode node = entries.get(number.key);
            if (node == null && number.isRequired()) {
                throw error(rule, number.key + ": is missing in model:");
            }
            numbers.add(
                    node == null
                            ? Weight.number(new Elements(number.unlessGiven, List.of()))
                            : number.isType() ? weight(node, entries.get("bits")) : Weight.number(elements(node)));
        }
        return List.copyOf(numbers);
    }

    private Weight weight(RuleNode node, @Nullable RuleNode bits) {
        Map<String, Long> types = new LinkedHashMap<>();
        if (bits instanceof Mapping mapping) {
            for (Entry each : mapping.entries()) {
                types.put(text(each.key()), sizeOf(each.value()).orElseThrow(() -> notBits(each)));
            }
        } else if (bits != null) {
            throw error(bits, "expected {VALUE: BITS, ...}");
        }
        OptionalLong size = sizeOf(node);
        return new Weight(
                size.isPresent() ? new Elements(size.getAsLong(), List.of()) : elements(node), Map.copyOf(types), true);
    }

    private IllegalArgumentException notBits(Entry each) {
        return error(each.value(), "'" + text(each.value()) + "' is neither a type of numbers nor bits");
    }

    private OptionalLong sizeOf(RuleNode node) {
        try {
            return WeightTypes.sizeOf(text(node));
        } catch (IllegalArgumentException impossible) {
            throw error(node, String.valueOf(impossible.getMessage()));
        }
    }

    private Elements request(RuleNode rule, Kind kind, @Nullable RuleNode node) {
        if (node == null) {
            if (kind.isOfRequests() && kind != Kind.REQUEST) {
                throw error(rule, "request: is missing; write the path to the object that identifies the request");
            }
            return Elements.ZERO;
        }
        String text = text(node);
        Elements path = Names.isNumber(text, Integer.MAX_VALUE) ? Elements.ZERO : elements(node);
        if (path.isConstant()) {
            throw error(node, "'" + text + "' is not an object: write a path that begins with a parameter or this");
        }
        if (path.path().get(0).equals(WeaveRule.RESULT)) {
            throw error(
                    node,
                    "'" + text + "' is known only when the method returns, and other threads may have begun the request"
                            + " by then: name the constructor of the request, as in com.example.Request.<init>, and this");
        }
        return path;
    }

    private Elements name(@Nullable RuleNode node, String expected) {
        if (node == null) {
            return Elements.ZERO;
        }
        String text = text(node);
        Elements path = Names.isNumber(text, Integer.MAX_VALUE) ? Elements.ZERO : elements(node);
        if (path.isConstant() || path.path().get(0).equals(WeaveRule.RESULT)) {
            throw error(
                    node, "'" + text + "' is no " + expected + ": write a path that begins with a parameter or this");
        }
        return path;
    }

    private Ending ending(@Nullable RuleNode node, @Nullable RuleNode outcomes) {
        Map<String, Outcome> known = new LinkedHashMap<>();
        if (outcomes instanceof Mapping mapping) {
            for (Entry each : mapping.entries()) {
                known.put(text(each.key()), outcome(each.value()));
            }
        } else if (outcomes != null) {
            throw error(outcomes, "expected {VALUE: OUTCOME, ...} with the outcomes " + List.of(Outcome.values()));
        }
        if (node == null) {
            if (outcomes != null) {
                throw error(outcomes, "outcomes: needs outcome:, the value that decides");
            }
            return Ending.COMPLETED;
        }
        for (Outcome each : Outcome.values()) {
            if (each.name().equals(text(node))) {
                return new Ending(each, Elements.ZERO, Map.of());
            }
        }
        Elements path = elements(node);
        if (path.isConstant()) {
            throw error(
                    node,
                    "'" + text(node) + "' is neither an outcome nor a path; outcomes are " + List.of(Outcome.values()));
        }
        return new Ending(Outcome.COMPLETED, path, Map.copyOf(known));
    }

    private Outcome outcome(RuleNode node) {
        for (Outcome each : Outcome.values()) {
            if (each.name().equalsIgnoreCase(text(node))) {
                return each;
            }
        }
        throw error(
                node,
                "there is no outcome '" + text(node) + "'"
                        + ClosestNames.hint(
                                text(node), Stream.of(Outcome.values()).map(Outcome::name)));
    }

    private String brick(RuleNode rule, @Nullable RuleNode node, Optional<BrickCategory> category) {
        if (node == null) {
            throw error(rule, "brick: is missing; write the name of the brick");
        }
        String name = text(node);
        Optional<BrickId> known = BrickId.parse(name);
        if (known.isEmpty() && category.isEmpty()) {
            Stream<String> names = Stream.of(BrickId.values()).map(BrickId::name);
            throw error(
                    node,
                    "there is no brick '" + name + "'" + ClosestNames.hint(name, names)
                            + "; one of your own needs a category:");
        }
        if (known.isPresent()
                && category.filter(given -> given != known.get().category()).isPresent()) {
            throw error(
                    node,
                    "the brick " + name + " is of the category "
                            + known.get().category().displayName());
        }
        return name;
    }

    private Optional<BrickCategory> category(@Nullable RuleNode node) {
        if (node == null) {
            return Optional.empty();
        }
        String name = text(node);
        for (BrickCategory category : BrickCategory.values()) {
            if (name.equalsIgnoreCase(category.displayName()) || name.equalsIgnoreCase(category.name())) {
                return Optional.of(category);
            }
        }
        Stream<String> names = Stream.of(BrickCategory.values()).map(BrickCategory::displayName);
        throw error(node, "there is no category '" + name + "'" + ClosestNames.hint(name, names));
    }

    private Target target(RuleNode node, @Nullable Call lambda) {
        String text = text(node);
        int open = text.indexOf('(');
        String path = open < 0 ? text : text.substring(0, open);
        int dot = Math.max(0, path.lastIndexOf('.'));
        String owner = path.substring(0, dot);
        String name = path.substring(Math.min(path.length(), dot + 1));
        boolean isClosed = open < 0 || (text.indexOf(')') == text.length() - 1 && text.lastIndexOf('(') == open);
        if (!Names.isQualified(owner) || !Names.isMethod(name) || !isClosed) {
            throw error(
                    node,
                    "'" + text + "' is not a method: write package.Class.method or package.Class.method(int, float[])");
        }
        return new Target(owner, name, open < 0 ? null : types(text.substring(open + 1, text.length() - 1)), lambda);
    }

    private static List<String> types(String types) {
        return types.isBlank()
                ? List.of()
                : Stream.of(types.split(",", -1)).map(String::strip).toList();
    }

    private Call call(RuleNode node) {
        return call(node, text(node));
    }

    private Call call(RuleNode node, String text) {
        int end = Names.endOfWord(text);
        String method = text.substring(0, end);
        int dot = method.indexOf('.');
        String owner = dot < 0 ? null : method.substring(0, dot);
        String name = method.substring(dot + 1);
        boolean isNumbered = end < text.length();
        String number = text.substring(end).stripLeading();
        if ((owner != null && !Names.isName(owner))
                || !Names.isMethod(name)
                || (isNumbered && !Names.isNumber(number, 6))) {
            throw error(node, "'" + text + "' is not a call: write NAME or NAME N, as in matmul 3");
        }
        if (isNumbered && Integer.parseInt(number) == 0) {
            throw error(node, "'" + text + "': calls are counted from 1");
        }
        return new Call(owner, name, isNumbered ? Integer.parseInt(number) : Call.EACH);
    }

    private Anchor anchor(@Nullable RuleNode node, Anchor unlessGiven) {
        if (node == null) {
            return unlessGiven;
        }
        String text = text(node);
        if (text.equals(unlessGiven.toString())) {
            return unlessGiven;
        }
        int end = Names.endOfWord(text);
        String place = text.substring(0, end);
        boolean isBefore = place.equals("before");
        if (end == text.length() || !(isBefore || place.equals("after"))) {
            throw error(
                    node,
                    "'" + text + "' is not a place in a method: write " + unlessGiven
                            + ", before NAME N, or after NAME N");
        }
        return new Anchor(
                isBefore ? Anchor.Place.BEFORE : Anchor.Place.AFTER,
                call(node, text.substring(end).strip()));
    }

    private Elements elements(RuleNode node) {
        try {
            return Elements.parse(text(node));
        } catch (IllegalArgumentException neither) {
            throw error(node, String.valueOf(neither.getMessage()));
        }
    }

    private boolean isTrue(@Nullable RuleNode node) {
        String text = node == null ? "false" : text(node);
        if (!text.equals("true") && !text.equals("false")) {
            throw error(node, "'" + text + "' is neither true nor false");
        }
        return text.equals("true");
    }

    private int number(@Nullable RuleNode node) {
        String text = node == null ? "" : text(node);
        if (!Names.isNumber(text, 9)) {
            throw error(node, "'" + text + "' is not a number of steps");
        }
        return Integer.parseInt(text);
    }

    // ---- the nodes of YAML ----

    private Map<String, RuleNode> entries(RuleNode node, Set<String> known) {
        Map<String, RuleNode> entries = new LinkedHashMap<>();
        mapping(node, known).forEach(entry -> add(entry, known, entries));
        return entries;
    }

    private List<Entry> mapping(RuleNode node, Set<String> known) {
        if (!(node instanceof Mapping mapping)) {
            throw error(node, "expected lines of the form key: value with one of the keys " + sorted(known));
        }
        return mapping.entries();
    }

    private void add(Entry entry, Set<String> known, Map<String, RuleNode> entries) {
        String key = text(entry.key());
        if (!known.contains(key)) {
            throw error(
                    entry.key(),
                    "there is no '" + key + ":' here" + ClosestNames.hint(key, known.stream()) + "; there are "
                            + sorted(known));
        }
        if (entries.putIfAbsent(key, entry.value()) != null) {
            throw error(entry.key(), "'" + key + ":' is given twice");
        }
    }

    private static String sorted(Set<String> known) {
        return String.join(", ", known.stream().sorted().toList());
    }

    private List<RuleNode> oneOrMore(@Nullable RuleNode node) {
        return node == null || node instanceof Sequence ? sequence(node) : List.of(node);
    }

    private List<RuleNode> sequence(@Nullable RuleNode node) {
        if (node == null) {
            return List.of();
        }
        if (!(node instanceof Sequence sequence)) {
            throw error(node, "expected a list, with a dash before each rule");
        }
        return sequence.values();
    }

    private String text(RuleNode node) {
        if (!(node instanceof Scalar scalar)) {
            throw error(node, "expected a single value");
        }
        return scalar.text();
    }

    private static int line(@Nullable RuleNode node) {
        return node == null ? 0 : node.line();
    }

    private IllegalArgumentException error(@Nullable RuleNode node, String message) {
        return new IllegalArgumentException(source + ":" + line(node) + ": " + message);
    }
}
