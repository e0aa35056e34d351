package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/**
 * The scopes of the operations of one compiled program, by the names of the operations, from its {@code HloProto}; see
 * <a href="https://github.com/openxla/xla/blob/main/xla/service/hlo.proto">its description</a>. The scope of a fusion
 * is that of its matrix product or convolution. A fusion without one has its own scope, which is that of its result. If
 * the fusion has no own scope either, its scope is the most frequent one among its parts. One thread.
 *
 * <h2>Kernels of CUDA graphs</h2>
 *
 * XLA runs parts of a program as CUDA graphs, and the events of their kernels name the graph instead of the operation.
 * The kernel of a fusion has the fusion's name, with {@code _} for other characters than letters and digits. Fusions of
 * equal code share the kernel of the first one, so the scope of a kernel is the scope that all fusions with the same
 * operations and shapes have; if their scopes differ, the kernel has none.
 */
final class HloScopes {

    /** More instructions than programs have; the operations of further ones have no scope. */
    private static final int MOST_INSTRUCTIONS = 1 << 20;

    private static final int MOST_DEPTH = 16;
    private static final int LONGEST_NAME = 1 << 16;

    // The fields, as FIELD << 3 | TYPE.
    private static final int PROTO_MODULE = 1 << 3 | ProtoInput.BYTES;
    private static final int MODULE_COMPUTATION = 3 << 3 | ProtoInput.BYTES;
    private static final int COMPUTATION_INSTRUCTION = 2 << 3 | ProtoInput.BYTES;
    private static final int COMPUTATION_ID = 5 << 3 | ProtoInput.VARINT;
    private static final int INSTRUCTION_NAME = 1 << 3 | ProtoInput.BYTES;
    private static final int INSTRUCTION_OPCODE = 2 << 3 | ProtoInput.BYTES;
    private static final int INSTRUCTION_SHAPE = 3 << 3 | ProtoInput.BYTES;
    private static final int INSTRUCTION_METADATA = 7 << 3 | ProtoInput.BYTES;
    private static final int INSTRUCTION_CALLED = 38 << 3 | ProtoInput.VARINT;
    private static final int INSTRUCTION_CALLED_PACKED = 38 << 3 | ProtoInput.BYTES;
    private static final int SHAPE_TYPE = 2 << 3 | ProtoInput.VARINT;
    private static final int SHAPE_SIZE = 3 << 3 | ProtoInput.VARINT;
    private static final int SHAPE_SIZES = 3 << 3 | ProtoInput.BYTES;
    private static final int SHAPE_OF_TUPLE = 4 << 3 | ProtoInput.BYTES;
    private static final int METADATA_SCOPE = 2 << 3 | ProtoInput.BYTES;

    private static final Pattern NOT_IN_KERNELS = Pattern.compile("[^A-Za-z0-9_]");

    private static final Set<String> PRODUCTS = Set.of("dot", "convolution", "ragged-dot", "scaled-dot");

    private final LongObjectHashMap<List<Instruction>> computations = new LongObjectHashMap<>();
    private final Map<String, String> scopes = new HashMap<>();

    /** The scopes of the kernels of fusions, by the names of the kernels. */
    private final Map<String, XlaName.Scope> kernels = new HashMap<>();

    private int instructions;

    /**
     * An instruction. Immutable.
     *
     * @param shape the type and the sizes of its result
     * @param scope the scope; empty if the compiler created the instruction
     * @param called the numbers of the computations that it calls
     */
    private record Instruction(String name, String opcode, String shape, String scope, LongArrayList called) {
        boolean isFusion() {
            return opcode.equals("fusion");
        }
    }

    private HloScopes() {}

    /**
     * Reads the program in the current field.
     *
     * @throws TraceFormatException when it is malformed
     */
    static HloScopes read(ProtoInput in) throws IOException {
        HloScopes program = new HloScopes();
        in.message(tag -> {
            if (tag == PROTO_MODULE) {
                in.message(field -> {
                    if (field == MODULE_COMPUTATION) {
                        program.computation(in);
                    } else {
                        in.skip();
                    }
                });
            } else {
                in.skip();
            }
        });
        program.resolve();
        return program;
    }

    /** Returns the scope of an operation as the program writes it; empty if it has none. */
    String scope(String operation) {
        return scopes.getOrDefault(operation, "");
    }

    /** Returns the scope of a kernel of a fusion; {@link XlaName.Scope#NONE} if it has none, or several. */
    XlaName.Scope scopeOfKernel(String kernel) {
        return kernels.getOrDefault(kernel, XlaName.Scope.NONE);
    }

    private void computation(ProtoInput in) throws IOException {
        List<Instruction> body = new ArrayList<>();
        long[] id = {0};
        in.message(tag -> {
            if (tag == COMPUTATION_INSTRUCTION && instructions < MOST_INSTRUCTIONS) {
                instructions++;
                body.add(instruction(in));
            } else if (tag == COMPUTATION_ID) {
                id[0] = in.varint();
            } else {
                in.skip();
            }
        });
        computations.put(id[0], body);
    }

    private static Instruction instruction(ProtoInput in) throws IOException {
        String[] texts = {"", "", ""};
        StringBuilder shape = new StringBuilder();
        LongArrayList called = new LongArrayList(0);
        in.message(tag -> {
            switch (tag) {
                case INSTRUCTION_NAME -> texts[0] = in.name(LONGEST_NAME);
                case INSTRUCTION_OPCODE -> texts[1] = in.name(LONGEST_NAME);
                case INSTRUCTION_SHAPE -> shape(in, shape, 0);
                case INSTRUCTION_METADATA ->
                    in.message(field -> {
                        if (field == METADATA_SCOPE) {
                            texts[2] = in.name(LONGEST_NAME);
                        } else {
                            in.skip();
                        }
                    });
                case INSTRUCTION_CALLED -> called.add(in.varint());
                case INSTRUCTION_CALLED_PACKED -> in.packed(called::add);
                default -> in.skip();
            }
        });
        return new Instruction(texts[0], texts[1], shape.toString(), texts[2], called);
    }

    private static void shape(ProtoInput in, StringBuilder to, int depth) throws IOException {
        in.message(tag -> {
            if (tag == SHAPE_TYPE) {
                to.append('t').append(in.varint());
            } else if (tag == SHAPE_SIZE) {
                to.append(' ').append(in.varint());
            } else if (tag == SHAPE_SIZES) {
                in.packed(size -> to.append(' ').append(size));
            } else if (tag == SHAPE_OF_TUPLE && depth < MOST_DEPTH) {
                shape(in, to.append('('), depth + 1);
            } else {
                in.skip();
            }
        });
    }

    /** Finds the scope of each instruction, then discards the instructions. */
    private void resolve() {
        Map<String, List<String>> kernelsOfCode = new HashMap<>();
        Map<String, XlaName.Scope> scopeOfCode = new HashMap<>();
        computations.forEachValue(body -> {
            for (Instruction instruction : body) {
                String scope = instruction.scope();
                if (instruction.isFusion()) {
                    List<Instruction> parts = new ArrayList<>();
                    addParts(instruction, parts, new HashSet<>(), 0);
                    scope = scopeOfFusion(instruction, parts);
                    String code = code(parts);
                    kernelsOfCode
                            .computeIfAbsent(code, any -> new ArrayList<>())
                            .add(NOT_IN_KERNELS.matcher(instruction.name()).replaceAll("_"));
                    scopeOfCode.merge(code, XlaName.scope(scope), XlaName.Scope::shared);
                }
                if (!scope.isEmpty()) {
                    scopes.putIfAbsent(instruction.name(), scope);
                }
            }
        });
        kernelsOfCode.forEach((code, names) -> {
            XlaName.Scope scope = scopeOfCode.getOrDefault(code, XlaName.Scope.NONE);
            names.forEach(name -> kernels.merge(name, scope, XlaName.Scope::shared));
        });
        computations.clear();
    }

    /** Returns a text that is equal for equal code: the operations and the shapes of their results. */
    private static String code(List<Instruction> parts) {
        StringBuilder code = new StringBuilder();
        parts.forEach(part ->
                code.append(part.opcode()).append(' ').append(part.shape()).append(';'));
        return code.toString();
    }

    private static String scopeOfFusion(Instruction fusion, List<Instruction> parts) {
        Map<String, Integer> counts = new HashMap<>();
        String most = "";
        int mostCount = 0;
        for (Instruction part : parts) {
            if (!part.scope().isEmpty()) {
                if (PRODUCTS.contains(part.opcode())) {
                    return part.scope();
                }
                int count = counts.merge(part.scope(), 1, Integer::sum);
                if (count > mostCount) {
                    most = part.scope();
                    mostCount = count;
                }
            }
        }
        return fusion.scope().isEmpty() ? most : fusion.scope();
    }

    private void addParts(Instruction fusion, List<Instruction> parts, Set<Long> seen, int depth) {
        for (int i = 0; i < fusion.called().size() && depth < MOST_DEPTH; i++) {
            long id = fusion.called().get(i);
            List<Instruction> body = seen.add(id) ? computations.get(id) : null;
            if (body != null) {
                for (Instruction part : body) {
                    parts.add(part);
                    if (part.isFusion()) {
                        addParts(part, parts, seen, depth + 1);
                    }
                }
            }
        }
    }
}
