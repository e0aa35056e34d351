package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
 * the event's name, category ({@code cat}) or argument ({@code args.KEY}, {@code args."External id"}); {@code \/} is a
 * slash, and an {@code i} after the last slash ignores case. It does not hold if the argument is missing.
 * {@code elements=args.KEY} is no condition: it names the argument that contains the elements of a slice, if the trace
 * marks no device events. The first rule whose conditions hold decides.
 *
 * <p>A pattern sees the first {@value TraceNames#LONGEST} characters. A pattern that backtracks too much ends the
 * reading with a {@link TraceFormatException}.
 */
public final class TraceRules {

    private static final String BUILT_IN = "builtin.rules";

    private final String source;
    private final List<TraceRule> rules;
    private final Set<String> argKeys;

    private TraceRules(String source, List<TraceRule> rules) {
        this.source = source;
        this.rules = rules;
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

    /**
     * Returns the brick that a kernel counts as.
     *
     * @return empty if no rule matches
     * @throws TraceRule.TooCostly when a pattern takes too long; the message names it
     */
    Optional<TraceRule.Target> target(TraceRule.Key key) {
        RequiredText.Grams name = new RequiredText.Grams(key.name());
        for (TraceRule rule : rules) {
            try {
                if (rule.matches(key, name)) {
                    return Optional.of(rule.target());
                }
            } catch (TraceRule.TooCostly tooCostly) {
                throw new TraceRule.TooCostly("the rule in line " + rule.line() + " of " + source + " "
                        + tooCostly.getMessage() + " on \"" + TraceFigures.plain(key.name()) + "\"");
            }
        }
        return Optional.empty();
    }
}
