package org.brickprofiler.agent.suggest;

import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.agent.Operands;
import org.brickprofiler.agent.suggest.CallGraph.Code;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;

/**
 * Proposes which steps process a prompt, for an engine that decodes the tokens of a prompt like any other token: the
 * method with the loop around the step, if one of its parameters is named like the tokens of a prompt, or is the only
 * list or array of them. Stateless.
 */
final class Prompts {

    private static final Pattern NAME = Pattern.compile("(?i).*prompt.*|(input|start)_?(tokens|ids)");

    private Prompts() {}

    /**
     * Returns the rules under {@code prompts:}; empty if no method has such a parameter.
     *
     * @param loops methods with a loop around a step that processes one token
     */
    static String rules(Stream<Code> loops) {
        StringBuilder rules = new StringBuilder();
        loops.filter(Code::isWritten).forEach(loop -> length(loop).ifPresent(length -> rules.append("  - in: ")
                .append(loop.in())
                .append("\n    steps: ")
                .append(length)
                .append('\n')));
        return rules.isEmpty()
                ? ""
                : "# In each call, so many steps process the prompt; a token that the loop begins with may be one more.\n"
                        + "prompts:\n" + rules;
    }

    /** Returns the value of the number of tokens in a prompt, as rules state it. */
    private static Optional<String> length(Code code) {
        Type[] types = Type.getArgumentTypes(code.method.desc);
        List<Integer> several = IntStream.range(0, types.length)
                .filter(i -> isTokens(types[i]))
                .boxed()
                .toList();
        List<Integer> named =
                several.stream().filter(i -> isNamed(code, types, i)).toList();
        List<Integer> found = named.isEmpty() ? several : named;
        return found.size() == 1
                ? Optional.of(
                        "arg" + found.get(0) + (types[found.get(0)].getSort() == Type.ARRAY ? ".length" : ".size()"))
                : Optional.empty();
    }

    private static boolean isTokens(Type type) {
        return switch (type.getDescriptor()) {
            case "[I", "[J", "Ljava/util/List;", "Ljava/util/Collection;", "Ljava/util/ArrayList;" -> true;
            default -> false;
        };
    }

    private static boolean isNamed(Code code, Type[] types, int index) {
        int slot = (code.method.access & Opcodes.ACC_STATIC) != 0 ? 0 : 1;
        for (int i = 0; i < index; i++) {
            slot += types[i].getSize();
        }
        String name = Operands.parameterName(code.method, index, slot);
        return name != null && NAME.matcher(name).matches();
    }
}
