package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.internal.io.InputFile;

/**
 * Maps kernels to bricks by rules. Immutable; any thread.
 *
 * <p>A rule is a line: the brick, optionally its category, an arrow, and conditions that must all hold.
 *
 * <pre>{@code
 * # Comments and empty lines mean nothing.
 * RmsNorm                 <- name=/rms_?norm/i
 * Gemm                    <- name=/gemm|gemv/ cat=/^kernel$/
 * "my fused step" (FFN)   <- name=/fused_step/ args.stream=/^7$/
 * LmHead                  <- name=/^acme.LmHead$/ elements=args.tokens
 * ignore                  <- name=/^profiler_/
 * }</pre>
 *
 * <p>The brick is a display name or an alias of {@link org.brickprofiler.BrickId}. Any other name makes a dynamic
 * brick; a name with blanks needs quotation marks. The category is a display name of
 * {@link org.brickprofiler.BrickCategory} in any case. A known brick has its own category; the default for a dynamic
 * brick is Other. Kernels that match {@code ignore} count nowhere. A condition looks for a Java regular expression in
 * the event's name, category ({@code cat}) or argument ({@code args.KEY}, {@code args."External id"}), or in the names
 * around its launch ({@code launch}); {@code \/} is a slash, and an {@code i} after the last slash ignores case. It
 * does not hold if the argument is missing, or if the trace does not show the launch. {@code elements=args.KEY} is no
 * condition: it names the argument that contains the elements of a slice, if the trace marks no device events. The
 * first rule whose conditions hold decides.
 *
 * <p>{@code launch=/regex/} holds if an operator, an annotation, a module or a range around the launch of a kernel has
 * such a name. Rules may have {@value #MOST_LAUNCHES} different conditions of this kind.
 *
 * <p>A pattern sees the first {@value TraceNames#LONGEST} characters. A pattern that backtracks too much ends the
 * reading with a {@link TraceFormatException}.
 */
public final class TraceRules {

    private static final String BUILT_IN = "builtin.rules";

    private static final int MOST_LAUNCHES = Long.SIZE;

    private final String source;
    private final List<TraceRule> rules;
    /** For each rule, a bit for each of its conditions on the launch, by their place in {@link #launches}. */
    private final long[] needs;

    private final List<TraceRule.Condition> launches = new ArrayList<>();
    private final Set<String> argKeys;

    /**
     * The decision about an event.
     *
     * @param target the brick that it counts as; empty if no rule matches
     * @param launched the bricks that earlier rules name for some launches, which are not known yet
     */
    record Decision(Optional<TraceRule.Target> target, List<Launched> launched) {}

    /**
     * The brick of a kernel with a certain launch.
     *
     * @param needs the conditions on the launch
     * @param target the brick
     */
    record Launched(long needs, TraceRule.Target target) {
        /** Returns whether the names around a launch meet the conditions. */
        boolean isBy(long launch) {
            return (needs & launch) == needs;
        }
    }

    private TraceRules(String source, List<TraceRule> rules) {
        this.source = source;
        this.rules = rules;
        this.needs = rules.stream().mapToLong(this::needs).toArray();
        Stream<String> conditions = rules.stream()
                .flatMap(rule -> rule.conditions().stream())
                .map(TraceRule.Condition::field)
                .filter(field -> field.startsWith(TraceRule.Condition.ARGS))
                .map(field -> field.substring(TraceRule.Condition.ARGS.length()));
        Stream<String> elements =
                rules.stream().map(rule -> rule.target().elements()).filter(argument -> !argument.isEmpty());
        this.argKeys = Stream.concat(conditions, elements).collect(Collectors.toUnmodifiableSet());
    }

    /** Reads the built-in rules once. */
    private static final class Holder {
        static final TraceRules BUILT_IN_RULES = readBuiltIn();
    }

    /**
     * Returns the built-in rules: kernels of PyTorch, vLLM, SGLang, llama.cpp, Triton, TensorRT-LLM, cuBLAS, cuDNN,
     * CUTLASS, MIOpen, FlashAttention, FlashInfer and NCCL, copies and fills. Kernel names do not show which projection
     * a matrix product is: it counts as {@code Gemm}, of category
     * {@link org.brickprofiler.BrickCategory#MATRIX_PRODUCT}, unless {@link TraceReader} finds its place.
     *
     * @return always the same object
     */
    public static TraceRules builtIn() {
        return Holder.BUILT_IN_RULES;
    }

    private static TraceRules readBuiltIn() {
        try (InputStream text = TraceRules.class.getResourceAsStream(BUILT_IN)) {
            if (text == null) {
                throw new IllegalStateException(BUILT_IN + " is missing beside " + TraceRules.class.getName());
            }
            return parse(BUILT_IN, new String(text.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException failed) {
            throw new UncheckedIOException("cannot read " + BUILT_IN, failed);
        }
    }

    /**
     * Reads rules from text.
     *
     * @param text lines as described above
     * @return the rules
     * @throws IllegalArgumentException when a line is malformed; the message names line and column
     */
    public static TraceRules parse(String text) {
        Objects.requireNonNull(text, "text");
        return parse("rules", text);
    }

    private static TraceRules parse(String source, String text) {
        return new TraceRules(source, TraceRule.Parser.parse(source, text));
    }

    /**
     * Reads rules from a file in UTF-8.
     *
     * @param path the file
     * @return the rules
     * @throws IOException when the file cannot be read
     * @throws IllegalArgumentException when a line is malformed; the message names file, line and column
     */
    public static TraceRules load(Path path) throws IOException {
        try {
            return parse(path.toString(), new String(Files.readAllBytes(path), StandardCharsets.UTF_8));
        } catch (IOException failed) {
            throw InputFile.cannotRead(path.toString(), failed);
        }
    }

    /**
     * Returns these rules followed by others.
     *
     * @param others the rules to try if none of these matches, for example {@link #builtIn()}
     * @return the combined rules
     */
    public TraceRules then(TraceRules others) {
        List<TraceRule> both = new ArrayList<>(rules);
        both.addAll(others.rules);
        return new TraceRules(source + " and " + others.source, List.copyOf(both));
    }

    /**
     * Returns the number of rules.
     *
     * @return 0 or more
     */
    public int size() {
        return rules.size();
    }

    /** Returns the arguments that some rule tests. */
    Set<String> argKeys() {
        return argKeys;
    }

    /** Returns a bit for each condition of a rule on the launch. */
    private long needs(TraceRule rule) {
        long bits = 0;
        for (TraceRule.Condition condition : rule.around()) {
            int at = 0;
            while (at < launches.size() && !launches.get(at).isLike(condition)) {
                at++;
            }
            if (at == MOST_LAUNCHES) {
                throw new IllegalArgumentException(source + ", line " + rule.line() + ": there are more than "
                        + MOST_LAUNCHES + " different conditions on launches");
            }
            if (at == launches.size()) {
                launches.add(condition);
            }
            bits |= 1L << at;
        }
        return bits;
    }

    /**
     * Returns a bit for each condition on a launch that a name around it meets. A launch with several names around it
     * meets the union of their conditions.
     *
     * @throws TraceRule.TooCostly when a pattern takes too long; the message names it
     */
    long launchesNamed(String name) {
        long bits = 0;
        if (!launches.isEmpty()) {
            RequiredText.Grams grams = new RequiredText.Grams(name);
            for (int at = 0; at < launches.size(); at++) {
                try {
                    bits |= launches.get(at).holds(name, grams) ? 1L << at : 0;
                } catch (TraceRule.TooCostly tooCostly) {
                    throw new TraceRule.TooCostly("the condition launch=/"
                            + launches.get(at).pattern() + "/ of " + source + " " + tooCostly.getMessage() + " on \""
                            + TraceFigures.plain(name) + "\"");
                }
            }
        }
        return bits;
    }

    /**
     * Returns the brick that a kernel counts as.
     *
     * @throws TraceRule.TooCostly when a pattern takes too long; the message names it
     */
    Decision decide(TraceRule.Key key) {
        RequiredText.Grams name = new RequiredText.Grams(key.name());
        List<Launched> launched = new ArrayList<>();
        for (int at = 0; at < needs.length; at++) {
            TraceRule rule = rules.get(at);
            try {
                if (rule.matches(key, name)) {
                    Launched target = new Launched(needs[at], rule.target());
                    if (target.isBy(key.launch())) {
                        return new Decision(Optional.of(rule.target()), List.copyOf(launched));
                    }
                    launched.add(target);
                }
            } catch (TraceRule.TooCostly tooCostly) {
                throw new TraceRule.TooCostly("the rule in line " + rule.line() + " of " + source + " "
                        + tooCostly.getMessage() + " on \"" + TraceFigures.plain(key.name()) + "\"");
            }
        }
        return new Decision(Optional.empty(), List.copyOf(launched));
    }
}
