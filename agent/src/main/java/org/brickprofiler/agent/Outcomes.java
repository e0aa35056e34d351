package org.brickprofiler.agent;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.request.Outcome;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.InsnNode;

/**
 * Maps a value of the engine, such as an enum constant, to the outcome of a request: by the table of a rule, otherwise
 * by the name of the outcome. A value that matches neither counts as {@link Outcome#COMPLETED}, and as a loss. Woven
 * code represents an outcome by a number, its index in {@link #ALL}. Immutable; any thread.
 */
final class Outcomes {

    /** The outcomes, by number. */
    private static final Outcome[] ALL = Outcome.values();

    private static final char SEPARATOR = '\n';

    private final String place;
    private final Map<String, Integer> numbers;
    private final AgentLosses losses;

    private Outcomes(String place, Map<String, Integer> numbers, AgentLosses losses) {
        this.place = place;
        this.numbers = Map.copyOf(numbers);
        this.losses = losses;
    }

    /**
     * Reads the table of a rule.
     *
     * @param place the rule, for messages
     * @param text the table, in the format of {@link #text}
     * @param losses counts values without an outcome
     */
    static Outcomes parse(String place, String text, AgentLosses losses) {
        Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < ALL.length; i++) {
            numbers.put(ALL[i].name(), i);
        }
        String[] words = text.isEmpty() ? new String[0] : text.split(String.valueOf(SEPARATOR), -1);
        for (int i = 0; i + 1 < words.length; i += 2) {
            numbers.put(words[i], number(Outcome.valueOf(words[i + 1])));
        }
        return new Outcomes(place, numbers, losses);
    }

    /** Returns a table as a constant of a class file. */
    static String text(Map<String, Outcome> outcomes) {
        return new TreeMap<>(outcomes)
                .entrySet().stream()
                        .map(each -> each.getKey() + SEPARATOR + each.getValue().name())
                        .collect(Collectors.joining(String.valueOf(SEPARATOR)));
    }

    /** Returns the number of the outcome for a value. Throws nothing, whatever the value does. */
    int of(@Nullable Object value) {
        String name = nameOf(value);
        Integer number = numbers.get(name);
        return number != null ? number : losses.unknownOutcome(place, name);
    }

    /**
     * Returns the text of a value of the application; if the value's code throws, the class name of the exception or
     * error.
     */
    static String nameOf(@Nullable Object value) {
        try {
            return value instanceof Enum<?> constant ? constant.name() : String.valueOf(value);
        } catch (Throwable failed) {
            // The value is the application's, and may throw anything.
            return failed.getClass().getName();
        }
    }

    /** Returns the outcome with a number. */
    static Outcome at(int number) {
        return ALL[number];
    }

    /** Returns the number of an outcome. */
    static int number(Outcome outcome) {
        for (int i = 0; i < ALL.length; i++) {
            if (ALL[i] == outcome) {
                return i;
            }
        }
        throw new IllegalArgumentException("no outcome " + outcome);
    }

    /** Returns the instruction that pushes the number of an outcome. */
    static AbstractInsnNode push(Outcome outcome) {
        return new InsnNode(Opcodes.ICONST_0 + number(outcome));
    }
}
