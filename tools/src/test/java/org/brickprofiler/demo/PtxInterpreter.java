package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.demo.PtxInstruction.Condition;
import org.brickprofiler.demo.PtxInstruction.Effect;
import org.brickprofiler.demo.PtxInstruction.Shuffle;
import org.brickprofiler.demo.PtxThread.State;

/**
 * Runs kernels on the processor, from the same text that a driver gets. It knows the instructions that the kernels of
 * the demonstration use and refuses all others.
 */
public final class PtxInterpreter {

    private static final Pattern COMMENT = Pattern.compile("//[^\n]*");
    private static final Pattern ENTRY =
            Pattern.compile("\\.visible\\s+\\.entry\\s+(\\w+)\\s*\\(([^)]*)\\)\\s*\\{([^}]*)\\}");
    private static final Pattern PARAMETER = Pattern.compile("\\.param\\s+\\.(\\w+)\\s+(\\w+)");
    private static final Pattern LABEL = Pattern.compile("^(\\w+):\\s*");
    private static final Pattern SHARED = Pattern.compile("\\.shared\\s+\\.align\\s+4\\s+\\.f32\\s+(\\w+)\\[(\\d+)\\]");
    private static final Pattern INSTRUCTION = Pattern.compile("(?:@(%\\w+)\\s+)?([\\w.]+)\\s*(.*)", Pattern.DOTALL);
    private static final Pattern HEADER =
            Pattern.compile("\\s*\\.version\\s+\\d\\.\\d\\s+\\.target\\s+sm_\\d+\\s+\\.address_size\\s+64\\s*");

    private PtxInterpreter() {}

    /**
     * Reads a module.
     *
     * @param text PTX
     * @return its kernels
     * @throws IllegalArgumentException for anything that is not known
     */
    public static PtxModule read(String text) {
        String code = COMMENT.matcher(text).replaceAll("");
        Map<String, PtxKernel> kernels = new HashMap<>();
        Matcher entry = ENTRY.matcher(code);
        StringBuilder rest = new StringBuilder();
        while (entry.find()) {
            entry.appendReplacement(rest, "");
            kernels.put(entry.group(1), new Reader(entry.group(1), entry.group(2), entry.group(3)).kernel());
        }
        entry.appendTail(rest);
        if (!HEADER.matcher(rest).matches()) {
            throw new IllegalArgumentException(
                    "not understood: " + rest.toString().strip());
        }
        return new PtxModule(kernels);
    }

    /** Reads one kernel. */
    private static final class Reader {
        private final String name;
        private final List<String> parameterTypes = new ArrayList<>();
        private final PtxOperands operands;
        private final List<String> statements = new ArrayList<>();
        private final Map<String, Integer> labels = new HashMap<>();

        Reader(String name, String parameters, String body) {
            this.name = name;
            this.operands = new PtxOperands(name);
            Matcher parameter = PARAMETER.matcher(parameters);
            while (parameter.find()) {
                operands.parameter(parameter.group(2), parameter.group(1));
                parameterTypes.add(parameter.group(1));
            }
            for (String statement : body.split(";", -1)) {
                declareOrKeep(statement.strip());
            }
        }

        private void declareOrKeep(String labelled) {
            String statement = labelled;
            Matcher label = LABEL.matcher(statement);
            while (label.find()) {
                if (labels.put(label.group(1), statements.size()) != null) {
                    throw new IllegalArgumentException(name + ": two labels " + label.group(1));
                }
                statement = statement.substring(label.end());
                label = LABEL.matcher(statement);
            }
            Matcher shared = SHARED.matcher(statement);
            if (statement.startsWith(".reg")) {
                String[] declared = statement.split("[\\s,]+", -1);
                for (int i = 2; i < declared.length; i++) {
                    operands.register(declared[i], declared[1].substring(1));
                }
            } else if (shared.matches()) {
                operands.shared(shared.group(1), Integer.parseInt(shared.group(2)));
            } else if (!statement.isEmpty()) {
                statements.add(statement);
            }
        }

        PtxKernel kernel() {
            List<PtxInstruction> code = new ArrayList<>();
            for (String statement : statements) {
                code.add(instruction(statement));
            }
            return new PtxKernel(name, parameterTypes, operands.registers(), operands.sharedWords(), code);
        }

        private PtxInstruction instruction(String text) {
            Matcher parts = INSTRUCTION.matcher(text);
            if (!parts.matches()) {
                throw new IllegalArgumentException(name + ": not understood: " + text);
            }
            Condition isOn = thread -> true;
            if (parts.group(1) != null) {
                int predicate = operands.registerOf(parts.group(1), "pred");
                isOn = thread -> thread.registers[predicate] != 0;
            }
            String opcode = parts.group(2);
            String[] given =
                    parts.group(3).isBlank() ? new String[0] : parts.group(3).split("\\s*,\\s*", -1);
            return switch (opcode) {
                case "ret" -> new PtxInstruction(text, isOn, Effect.NONE, State.ENDED, Shuffle.NONE);
                case "trap" -> new PtxInstruction(text, isOn, trap(), State.ENDED, Shuffle.NONE);
                case "bra" -> new PtxInstruction(text, isOn, jump(given[0]), State.RUNS, Shuffle.NONE);
                case "bar.sync" -> new PtxInstruction(text, isOn, Effect.NONE, State.AT_BARRIER, Shuffle.NONE);
                case "shfl.sync.down.b32" ->
                    new PtxInstruction(text, isOn, Effect.NONE, State.AT_SHUFFLE, shuffle(text, given));
                default -> new PtxInstruction(text, isOn, effect(text, opcode, given), State.RUNS, Shuffle.NONE);
            };
        }

        private Effect trap() {
            return thread -> {
                throw new IllegalStateException(name + " ends with an error of the device");
            };
        }

        private Effect jump(String label) {
            Integer target = labels.get(label);
            if (target == null) {
                throw new IllegalArgumentException(name + ": no label " + label);
            }
            return thread -> thread.next = target;
        }

        private Shuffle shuffle(String text, String[] given) {
            if (given.length != 5 || !given[3].equals("31") || !given[4].equals("0xffffffff")) {
                throw new IllegalArgumentException(name + ": only whole warps shuffle: " + text);
            }
            return new Shuffle(
                    operands.registerOf(given[0], "f32"),
                    operands.value(given[1], "f32"),
                    operands.value(given[2], "u32"));
        }

        private Effect effect(String text, String opcode, String[] given) {
            try {
                return PtxArithmetic.effect(operands, opcode, given);
            } catch (IllegalArgumentException unknown) {
                throw new IllegalArgumentException(name + ": " + text + ": " + unknown.getMessage(), unknown);
            }
        }
    }
}
