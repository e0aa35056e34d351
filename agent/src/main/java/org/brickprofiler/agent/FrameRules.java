package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.brickprofiler.agent.WeaveRule.Anchor;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.trace.FrameBricks;
import org.objectweb.asm.Type;

/**
 * The rules of a file whose brick is a whole method, for recordings of runs without the agent. A rule without types of
 * parameters is for all methods of its name. Of two rules for one method, the first one counts, and the other one is
 * left out. Immutable; any thread.
 */
public final class FrameRules implements FrameBricks {

    private final Map<String, List<WeaveRule>> byMethod = new HashMap<>();
    private final List<String> leftOut = new ArrayList<>();
    private int methods;

    private FrameRules() {}

    /**
     * Reads a file of rules.
     *
     * @param file the file; if no regular file has this name, the name of an engine with bundled rules, such as
     *     {@code jlama}
     * @return its rules
     * @throws IOException when it cannot be read
     * @throws IllegalArgumentException when a rule is malformed, or none has a whole method as its brick; the message
     *     names the file and the line
     */
    public static FrameRules read(Path file) throws IOException {
        RuleFile.Rules read = RuleFile.read(Objects.requireNonNull(file, "file"), 0);
        if (!read.problems().isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", read.problems()));
        }
        FrameRules rules = new FrameRules();
        read.rules().stream().filter(rule -> rule.kind() == Kind.BRICK).forEach(rules::add);
        read.annotated().keySet().stream()
                .sorted()
                .forEach(name -> rules.leftOut.add("methods of " + name + " with @Brick"));
        if (rules.methods == 0) {
            throw new IllegalArgumentException(file + ": no rule has a whole method as its brick, and frames of samples"
                    + " show no other bricks; there are " + rules.leftOut.size()
                    + (rules.leftOut.isEmpty() ? "" : ", such as " + rules.leftOut.get(0)));
        }
        return rules;
    }

    private void add(WeaveRule rule) {
        boolean isWhole = rule.from().equals(Anchor.ENTRY)
                && rule.to().equals(Anchor.EXIT)
                && rule.target().lambda() == null;
        if (!isWhole) {
            leftOut.add(place(rule));
            return;
        }
        List<WeaveRule> others = byMethod.computeIfAbsent(
                key(rule.target().className(), rule.target().method()), none -> new ArrayList<>());
        Optional<WeaveRule> before =
                others.stream().filter(other -> covers(other, rule)).findFirst();
        if (before.isEmpty()) {
            others.add(rule);
            methods++;
        } else if (!RuleFile.brickOf(before.get()).equals(RuleFile.brickOf(rule))) {
            leftOut.add(place(rule) + ", which is " + RuleFile.brickOf(before.get()) + " by line "
                    + before.get().line());
        }
    }

    /** Returns whether one rule is for all methods of a second one: a frame shows one brick of a method. */
    private static boolean covers(WeaveRule first, WeaveRule second) {
        List<String> parameters = first.target().parameters();
        return parameters == null || parameters.equals(second.target().parameters());
    }

    private static String place(WeaveRule rule) {
        return RuleFile.brickOf(rule) + " in " + rule.target().className() + "."
                + rule.target().method() + " (line " + rule.line() + ")";
    }

    private static String key(String type, String method) {
        return type + "." + method;
    }

    @Override
    public Optional<String> brick(String type, String method, String descriptor) {
        Objects.requireNonNull(descriptor, "descriptor");
        return byMethod
                .getOrDefault(
                        key(Objects.requireNonNull(type, "type"), Objects.requireNonNull(method, "method")), List.of())
                .stream()
                .filter(rule -> takes(rule, descriptor))
                .findFirst()
                .map(RuleFile::brickOf);
    }

    private static boolean takes(WeaveRule rule, String descriptor) {
        List<String> parameters = rule.target().parameters();
        return parameters == null
                || (descriptor.startsWith("(") && Weaver.takes(Type.getArgumentTypes(descriptor), parameters));
    }

    @Override
    public int methods() {
        return methods;
    }

    @Override
    public List<String> leftOut() {
        return List.copyOf(leftOut);
    }
}
