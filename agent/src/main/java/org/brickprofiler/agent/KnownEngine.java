package org.brickprofiler.agent;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * An engine that the agent recognises by one of its classes. The rules of the same name in lower case, except those of
 * {@link #JLLM}, are shipped with the agent.
 */
enum KnownEngine {
    JITLLM("jitLLM 1.0.0 and 1.0.1", "org/beehive/jitllm/inference/TokenGenerationLoop"),

    /** The name of jitLLM before its first release. */
    JLLM("jllm, the earlier name of jitLLM", "org/beehive/jllm/inference/TokenGenerationLoop"),

    GPULLAMA3("GPULlama3.java 1.0.0", "org/beehive/gpullama3/inference/InferenceCore"),

    JLAMA("Jlama 0.8.4", "com/github/tjake/jlama/model/AbstractModel"),

    LLAMA3("Llama3.java of April 2026 (commit 8cf392d)", "com/llama4j/Llama3"),

    GEMMA4("Gemma4.java of April 2026 (commit cb323d2)", "com/llama4j/Gemma4"),

    ONNX("ONNX Runtime 1.22", "ai/onnxruntime/OrtSession");

    private final String version;
    private final String mark;

    KnownEngine(String version, String mark) {
        this.version = version;
        this.mark = mark;
    }

    /** Returns the engine of shipped rules; empty if the file is the user's own. */
    static Optional<KnownEngine> ofRules(Path file) {
        return Files.isRegularFile(file)
                ? Optional.empty()
                : Stream.of(values())
                        .filter(each -> each.rules().equals(file.toString()))
                        .findFirst();
    }

    /** Returns the name and the versions of the engine that the rules are written for. */
    String version() {
        return version;
    }

    /** Returns whether the class path has the engine. */
    boolean isHere() {
        return !ClassFiles.present(List.of(mark)).isEmpty();
    }

    /** Returns whether a class, by its internal name, is the engine's own, and not of a library used beside it. */
    boolean has(String className) {
        return className.startsWith(mark.substring(0, mark.indexOf('/', mark.indexOf('/') + 1) + 1));
    }

    /** Returns a message for rules whose engine is not on the class path; it names those that are. */
    String missing() {
        return "the rules " + rules() + " are written for " + version
                + ", whose classes are not on the class path: they are"
                + " woven where another loader loads them"
                + here(this).map(others -> "; the class path has " + others).orElse("");
    }

    /** Returns a message on the known engines on the class path other than the one whose rules are woven. */
    static Optional<String> others(KnownEngine woven) {
        return here(woven)
                .map(others -> "the class path also has " + others + ", of which the rules " + woven.rules()
                        + " record nothing");
    }

    /** Loops: collectors would have the virtual machine load further classes at the start of an application. */
    private static Optional<String> here(KnownEngine without) {
        List<String> marks = new ArrayList<>();
        for (KnownEngine each : values()) {
            marks.add(each.mark);
        }
        Set<String> present = ClassFiles.present(marks);
        List<String> others = new ArrayList<>();
        for (KnownEngine each : values()) {
            if (each != without && present.contains(each.mark)) {
                others.add(
                        each == JLLM
                                ? each.version
                                        + ": in a copy of the rules jitllm, write org.beehive.jllm for org.beehive.jitllm"
                                : each.version + ", see rules=" + each.rules());
            }
        }
        return others.isEmpty() ? Optional.empty() : Optional.of(String.join(", and ", others));
    }

    private String rules() {
        return name().toLowerCase(Locale.ROOT);
    }
}
