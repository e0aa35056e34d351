package org.brickprofiler.demo;

import java.util.HashMap;
import java.util.Map;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The names of one kernel, and the values of its operands. */
final class PtxOperands {

    private static final Pattern ADDRESS = Pattern.compile("\\[(%?\\w+)(?:\\+(\\d+))?\\]");
    private static final long WORD = 0xffffffffL;

    private final String kernel;
    private final Map<String, Integer> registers = new HashMap<>();
    private final Map<String, String> types = new HashMap<>();
    private final Map<String, Integer> parameters = new HashMap<>();
    private final Map<String, Integer> sharedBytes = new HashMap<>();
    private int sharedWords;

    PtxOperands(String kernel) {
        this.kernel = kernel;
    }

    void parameter(String name, String type) {
        parameters.put(name, parameters.size());
        declare(name, type);
    }

    void register(String name, String type) {
        registers.put(name, registers.size());
        declare(name, type);
    }

    void shared(String name, int words) {
        sharedBytes.put(name, sharedWords * Integer.BYTES);
        sharedWords += words;
    }

    private void declare(String name, String type) {
        if (types.put(name, type) != null) {
            throw new IllegalArgumentException(kernel + ": two declarations of " + name);
        }
    }

    int registers() {
        return registers.size();
    }

    int sharedWords() {
        return sharedWords;
    }

    /** Returns the number of a register of the given type, where b32 and b64 stand for any type of their width. */
    int registerOf(String name, String type) {
        requireType(name, type);
        Integer register = registers.get(name);
        if (register == null) {
            throw new IllegalArgumentException(name + " is no register");
        }
        return register;
    }

    private void requireType(String name, String type) {
        String declared = types.get(name);
        boolean untyped = type.startsWith("b") && declared != null && declared.endsWith(type.substring(1));
        if (!type.equals(declared) && !untyped) {
            throw new IllegalArgumentException(name + " is of type " + declared + ", not " + type);
        }
    }

    /** The value of an operand, as bits. */
    ToLongFunction<PtxThread> value(String operand, String type) {
        return switch (operand) {
            case "%tid.x" -> thread -> thread.number;
            case "%ntid.x" -> thread -> thread.block.size;
            case "%ctaid.x" -> thread -> thread.block.x;
            case "%ctaid.y" -> thread -> thread.block.y;
            case "%globaltimer" -> thread -> thread.block.globalTimer.getAsLong();
            default -> named(operand, type);
        };
    }

    private ToLongFunction<PtxThread> named(String operand, String type) {
        if (operand.startsWith("%")) {
            int register = registerOf(operand, type);
            return thread -> thread.registers[register];
        }
        Integer offset = sharedBytes.get(operand);
        if (offset != null) {
            return thread -> offset;
        }
        long constant = constant(operand, type);
        return thread -> constant;
    }

    private static long constant(String text, String type) {
        if (text.startsWith("0f")) {
            if (!type.equals("f32")) {
                throw new IllegalArgumentException(text + " is a float, not " + type);
            }
            return Long.parseLong(text.substring(2), 16);
        }
        return Long.decode(text) & WORD;
    }

    /** The address in brackets, in bytes. */
    ToLongFunction<PtxThread> address(String operand, String registerType) {
        Matcher parts = matched(operand);
        int register = registerOf(parts.group(1), registerType);
        long offset = parts.group(2) == null ? 0 : Long.parseLong(parts.group(2));
        return thread -> thread.registers[register] + offset;
    }

    /** The argument in brackets. */
    ToLongFunction<PtxThread> argument(String operand, String type) {
        String name = matched(operand).group(1);
        requireType(name, type);
        Integer parameter = parameters.get(name);
        if (parameter == null) {
            throw new IllegalArgumentException(name + " is no parameter");
        }
        return thread -> thread.block.arguments[parameter];
    }

    private static Matcher matched(String operand) {
        Matcher parts = ADDRESS.matcher(operand);
        if (!parts.matches()) {
            throw new IllegalArgumentException(operand + " is no address");
        }
        return parts;
    }
}
