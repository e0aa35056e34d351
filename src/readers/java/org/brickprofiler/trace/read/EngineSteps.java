package org.brickprofiler.trace.read;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.StepInfo.Phase;

/**
 * The phases of steps that serving engines annotate in their traces. Stateless; any thread.
 *
 * <ul>
 *   <li>vLLM: {@code execute_8192_context_9(sq8155sk8430...)_generation_37(sq37sk34489...)} is a step of 9 sequences
 *       with prompts and 37 that decode; earlier versions omit the first number.
 *   <li>SGLang: {@code step[DECODE bs=32]}, with the names of its modes. A mode that is neither a prompt nor decoding,
 *       such as {@code IDLE}, is no step here.
 * </ul>
 */
final class EngineSteps {

    private static final Pattern VLLM =
            Pattern.compile("execute_(?:\\d+_)?context_(\\d+)\\([^()]*\\)_generation_(\\d+)\\([^()]*\\)");

    private static final Pattern SGLANG = Pattern.compile("step\\[([A-Z_]+)(?: [^\\]]*)?\\]");

    private EngineSteps() {}

    /**
     * Returns the phase of the step that an annotation names.
     *
     * @param annotation the name of the annotation
     * @return the phase; empty if it names no step, or a step without sequences
     */
    static Optional<Phase> phase(String annotation) {
        Matcher vllm = VLLM.matcher(annotation);
        if (vllm.matches()) {
            return phase(isAny(vllm.group(1)), isAny(vllm.group(2)));
        }
        Matcher sglang = SGLANG.matcher(annotation);
        return !sglang.matches()
                ? Optional.empty()
                : switch (sglang.group(1)) {
                    case "EXTEND", "PREFILL", "SPLIT_PREFILL" -> Optional.of(Phase.PREFILL);
                    case "DECODE", "TARGET_VERIFY" -> Optional.of(Phase.DECODE);
                    case "MIXED" -> Optional.of(Phase.MIXED);
                    default -> Optional.empty();
                };
    }

    private static boolean isAny(String number) {
        return number.chars().anyMatch(digit -> digit != '0');
    }

    private static Optional<Phase> phase(boolean hasPrompts, boolean decodes) {
        return hasPrompts && decodes
                ? Optional.of(Phase.MIXED)
                : hasPrompts ? Optional.of(Phase.PREFILL) : decodes ? Optional.of(Phase.DECODE) : Optional.empty();
    }
}
