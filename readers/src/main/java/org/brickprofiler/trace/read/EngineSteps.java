package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.internal.base.Sums;
import org.brickprofiler.trace.read.TraceProfile.AnnotatedSteps;
import org.brickprofiler.trace.read.TraceProfile.Tokens;

/**
 * The steps that serving engines annotate in a trace, and the time of their kernels. One thread.
 *
 * <ul>
 *   <li>vLLM: {@code execute_8192_context_9(sq8155sk8430...)_generation_37(sq37sk34489...)} is a step of 9 sequences
 *       with 8,155 tokens of prompts over 8,430 positions, and 37 that decode 37 tokens over 34,489 positions; earlier
 *       versions omit the first number and the names of the others.
 *   <li>SGLang: {@code step[DECODE bs=32]}, with the names of its modes, and {@code toks=} for the tokens of prompts. A
 *       mode that is neither a prompt nor decoding, such as {@code IDLE}, is no step here.
 * </ul>
 */
final class EngineSteps {

    /** Stands for a number that an annotation does not state. */
    private static final long UNKNOWN = -1;

    private static final Pattern VLLM =
            Pattern.compile("execute_(?:\\d+_)?context_(\\d+)\\(([^()]*)\\)_generation_(\\d+)\\(([^()]*)\\)");

    /**
     * The tokens of a part of a step and the positions that they attend to; and, over its sequences, the sum of the
     * squares of the tokens, and that of the tokens times the positions.
     */
    private static final Pattern TOKENS = Pattern.compile("sq(\\d+)sk(\\d+)(?:sqsq(\\d+)(?:sqsk(\\d+))?)?.*");

    private static final Pattern SGLANG = Pattern.compile("step\\[([A-Z_]+)([^\\]]*)\\]");
    private static final Pattern BATCH = Pattern.compile(".* bs=(\\d+).*");
    private static final Pattern PROMPT_TOKENS = Pattern.compile(".* toks=(\\d+).*");

    /**
     * The most steps that are distinguished. If a trace has more, only the phases of the further steps are known, and
     * {@link #list} returns nothing.
     */
    static final int MOST = 1 << 16;

    private final List<NamedStep> steps = new ArrayList<>();

    /** The numbers of the steps that stand for all further steps of a phase. */
    private final Map<Phase, Integer> furtherOfPhase = new EnumMap<>(Phase.class);

    private long further;

    /**
     * The numbers of an annotation; {@link #UNKNOWN} if it does not state one.
     *
     * @param phase the phase of the step
     * @param sequences its sequences
     * @param prompt the part of prompts
     * @param decoded the part of the sequences that decode
     */
    record Annotation(Phase phase, long sequences, Part prompt, Part decoded) {

        private Annotation completedBy(Annotation other) {
            return new Annotation(
                    phase,
                    known(sequences, other.sequences),
                    prompt.completedBy(other.prompt),
                    decoded.completedBy(other.decoded));
        }

        private static long known(long own, long others) {
            return own == UNKNOWN ? others : own;
        }
    }

    /**
     * A part of a step; {@link #UNKNOWN} stands for a number that is not stated.
     *
     * @param tokens its tokens, each of which is a query of attention
     * @param positions the positions that they attend to
     * @param pairs the pairs of a query and a key, if each query attends to all positions up to its own
     */
    record Part(long tokens, long positions, long pairs) {
        static final Part NONE = new Part(0, 0, 0);
        static final Part UNSTATED = new Part(UNKNOWN, UNKNOWN, UNKNOWN);

        /**
         * Returns a part by the sums that an annotation of vLLM states.
         *
         * @param tokens the sum over the sequences of their tokens
         * @param positions the sum of their positions
         * @param squares the sum of the squares of their tokens
         * @param products the sum of their tokens times their positions
         */
        static Part of(long tokens, long positions, long squares, long products) {
            // A sequence with q tokens and k positions has k - q + i pairs for its i-th token: q * k - (q * q - q) / 2.
            boolean arePairsKnown =
                    0 <= tokens && tokens <= squares && squares <= products && (squares - tokens) % 2 == 0;
            return new Part(tokens, positions, arePairsKnown ? products - (squares - tokens) / 2 : UNKNOWN);
        }

        private Part completedBy(Part other) {
            return new Part(
                    Annotation.known(tokens, other.tokens),
                    Annotation.known(positions, other.positions),
                    Annotation.known(pairs, other.pairs));
        }

        /** Returns the sum of two parts; a number is unknown once one of them does not state it. */
        private Part plus(Part other) {
            return new Part(
                    Sum.sum(tokens, other.tokens), Sum.sum(positions, other.positions), Sum.sum(pairs, other.pairs));
        }

        private Tokens known() {
            return new Tokens(Sum.known(tokens), Sum.known(positions), Sum.known(pairs));
        }
    }

    /** One step, and the time from the beginning of its first kernel to the end of its last one. */
    private static final class NamedStep {
        private Annotation annotation;
        private int around = -1;
        private int inside;
        private long firstNs = Long.MAX_VALUE;
        private long lastNs = Long.MIN_VALUE;

        NamedStep(Annotation annotation) {
            this.annotation = annotation;
        }

        /** Adds the numbers and the time of a part of the step. */
        void take(NamedStep part) {
            annotation = annotation.completedBy(part.annotation);
            firstNs = Math.min(firstNs, part.firstNs);
            lastNs = Math.max(lastNs, part.lastNs);
        }
    }

    // ---- names ----

    /**
     * Returns the step that an annotation names.
     *
     * @param name the name of the annotation
     * @return the step; empty if it names no step, or a step without sequences
     */
    static Optional<Annotation> annotation(String name) {
        Matcher vllm = VLLM.matcher(name);
        if (vllm.matches()) {
            return vllm(vllm);
        }
        Matcher sglang = SGLANG.matcher(name);
        if (!sglang.matches()) {
            return Optional.empty();
        }
        long batch = number(BATCH, sglang.group(2), 1);
        long prompt = number(PROMPT_TOKENS, sglang.group(2), 1);
        return switch (sglang.group(1)) {
            case "EXTEND", "PREFILL", "SPLIT_PREFILL" ->
                Optional.of(new Annotation(Phase.PREFILL, batch, new Part(prompt, UNKNOWN, UNKNOWN), Part.NONE));
            case "DECODE", "TARGET_VERIFY" ->
                Optional.of(new Annotation(Phase.DECODE, batch, Part.NONE, Part.UNSTATED));
            case "MIXED" -> Optional.of(new Annotation(Phase.MIXED, batch, Part.UNSTATED, Part.UNSTATED));
            default -> Optional.empty();
        };
    }

    private static Optional<Annotation> vllm(Matcher name) {
        long prompts = number(name.group(1));
        long decoding = number(name.group(3));
        if (prompts == 0 && decoding == 0) {
            return Optional.empty();
        }
        Phase phase = prompts == 0 ? Phase.DECODE : decoding == 0 ? Phase.PREFILL : Phase.MIXED;
        return Optional.of(new Annotation(
                phase,
                prompts == UNKNOWN || decoding == UNKNOWN ? UNKNOWN : prompts + decoding,
                part(name.group(2)),
                part(name.group(4))));
    }

    private static Part part(String text) {
        return Part.of(
                number(TOKENS, text, 1), number(TOKENS, text, 2), number(TOKENS, text, 3), number(TOKENS, text, 4));
    }

    private static long number(Pattern pattern, String text, int group) {
        Matcher matcher = pattern.matcher(text);
        return matcher.matches() && matcher.group(group) != null ? number(matcher.group(group)) : UNKNOWN;
    }

    /** Returns a number; {@link #UNKNOWN} if it has more digits than the numbers of any step. */
    private static long number(String digits) {
        return digits.length() > 15 ? UNKNOWN : Long.parseLong(digits);
    }

    // ---- collecting ----

    /**
     * Adds a step.
     *
     * @return its number, above 0; beyond the limit, all steps of a phase share one number
     */
    int add(Annotation annotation) {
        if (steps.size() < MOST) {
            return addNamed(annotation);
        }
        further++;
        return furtherOfPhase.computeIfAbsent(annotation.phase(), phase -> addNamed(annotation));
    }

    private int addNamed(Annotation annotation) {
        steps.add(new NamedStep(annotation));
        return steps.size();
    }

    /** Returns whether there is any step. */
    boolean isAny() {
        return !steps.isEmpty();
    }

    /** Returns the phase of a step by its number. */
    Phase phase(int number) {
        return step(number).annotation.phase();
    }

    private NamedStep step(int number) {
        return steps.get(number - 1);
    }

    /** Returns the number of steps beyond the limit. */
    long further() {
        return further;
    }

    /** Records that a step is nested in another step of its thread. */
    void lies(int inner, int outer) {
        step(inner).around = outer;
        step(outer).inside++;
    }

    /** Extends the time of a step by a kernel that counts. */
    void count(int number, long startNs, long endNs) {
        NamedStep step = step(number);
        step.firstNs = Math.min(step.firstNs, startNs);
        step.lastNs = Math.max(step.lastNs, endNs);
    }

    /**
     * Returns the outermost annotation of a step. SGLang draws a step within another annotation of the same step: one
     * of the same phase and sequences with no other step in it.
     */
    private NamedStep whole(NamedStep step) {
        if (step.around < 0) {
            return step;
        }
        NamedStep outer = step(step.around);
        boolean isSame = outer.inside == 1
                && outer.annotation.phase() == step.annotation.phase()
                && outer.annotation.sequences() == step.annotation.sequences();
        return isSame ? whole(outer) : step;
    }

    // ---- results ----

    /** Returns the steps with kernels that count, by phase; none if there are too many to tell them apart. */
    List<AnnotatedSteps> list() {
        if (further > 0) {
            return List.of();
        }
        Map<NamedStep, NamedStep> parts = new LinkedHashMap<>();
        for (NamedStep step : steps) {
            if (step.lastNs >= step.firstNs) {
                parts.computeIfAbsent(whole(step), whole -> new NamedStep(whole.annotation))
                        .take(step);
            }
        }
        Map<Phase, Sum> sums = new EnumMap<>(Phase.class);
        parts.values().forEach(step -> sums.computeIfAbsent(step.annotation.phase(), phase -> new Sum())
                .add(step.annotation, step.lastNs - step.firstNs));
        return sums.entrySet().stream()
                .map(sum -> sum.getValue().of(sum.getKey()))
                .toList();
    }

    /** The steps of one phase. */
    private static final class Sum {
        private long count;
        private long elapsedNs;
        private long longestNs;
        private long sequences;
        private Part prompt = Part.NONE;
        private Part decoded = Part.NONE;

        void add(Annotation annotation, long ns) {
            count++;
            elapsedNs = Sums.limited(elapsedNs, ns);
            longestNs = Math.max(longestNs, ns);
            sequences = sum(sequences, annotation.sequences());
            prompt = prompt.plus(annotation.prompt());
            decoded = decoded.plus(annotation.decoded());
        }

        /** Returns a sum; it is unknown once the number of one step is unknown. */
        private static long sum(long sum, long number) {
            return sum == UNKNOWN || number == UNKNOWN ? UNKNOWN : Sums.limited(sum, number);
        }

        AnnotatedSteps of(Phase phase) {
            return new AnnotatedSteps(
                    phase, count, elapsedNs, longestNs, known(sequences), prompt.known(), decoded.known());
        }

        private static OptionalLong known(long number) {
            return number == UNKNOWN ? OptionalLong.empty() : OptionalLong.of(number);
        }
    }
}
