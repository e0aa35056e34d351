package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.eclipse.collections.impl.list.mutable.primitive.LongArrayList;
import org.eclipse.collections.impl.map.mutable.primitive.LongObjectHashMap;

/**
 * The scopes of the operations of one compiled program, by the names of the operations, from its {@code HloProto}; see
 * <a href="https://github.com/openxla/xla/blob/main/xla/service/hlo.proto">its description</a>. A fusion has the scope
 * of its matrix product or convolution; otherwise its own, which is that of its result; otherwise the one that most of
 * its parts have. One thread.
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
    private static final int INSTRUCTION_METADATA = 7 << 3 | ProtoInput.BYTES;
    private static final int INSTRUCTION_CALLED = 38 << 3 | ProtoInput.VARINT;
    private static final int INSTRUCTION_CALLED_PACKED = 38 << 3 | ProtoInput.BYTES;
    private static final int METADATA_SCOPE = 2 << 3 | ProtoInput.BYTES;

    private static final Set<String> PRODUCTS = Set.of("dot", "convolution", "ragged-dot", "scaled-dot");

    private final LongObjectHashMap<List<Instruction>> computations = new LongObjectHashMap<>();
    private final Map<String, String> scopes = new HashMap<>();
    private int instructions;

    /** An instruction; its scope is empty if the compiler made it. Immutable. */
    private record Instruction(String name, String opcode, String scope, LongArrayList called) {
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
        LongArrayList called = new LongArrayList(0);
        in.message(tag -> {
            switch (tag) {
                case INSTRUCTION_NAME -> texts[0] = in.name(LONGEST_NAME);
                case INSTRUCTION_OPCODE -> texts[1] = in.name(LONGEST_NAME);
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
        return new Instruction(texts[0], texts[1], texts[2], called);
    }

    /** Finds the scope of each instruction; afterwards the instructions are not needed. */
    private void resolve() {
        computations.forEachValue(body -> {
            for (Instruction instruction : body) {
                String scope = instruction.isFusion() ? scopeOfFusion(instruction) : instruction.scope();
                if (!scope.isEmpty()) {
                    scopes.putIfAbsent(instruction.name(), scope);
                }
            }
        });
        computations.clear();
    }

    private String scopeOfFusion(Instruction fusion) {
        List<Instruction> parts = new ArrayList<>();
        addParts(fusion, parts, new HashSet<>(), 0);
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
