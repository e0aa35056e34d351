package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.Work;
import org.eclipse.collections.impl.map.mutable.primitive.ObjectIntHashMap;
import org.eclipse.collections.impl.set.mutable.primitive.LongHashSet;
import org.jspecify.annotations.Nullable;

/**
 * The work of the operators of a trace that states the shapes of their tensors: matrix products, and element-wise
 * operators of ONNX Runtime. A product of rows x columns with an inner dimension takes 2 x rows x columns x inner
 * operations. The product reads each operand once and writes its result once; an element-wise operator takes at least
 * one operation for each element of its result. The work of all other operators is unknown. One object for each
 * reading; one thread.
 *
 * <p>ONNX Runtime packs constant weights before the first run and no longer lists them. The dimensions of a missing
 * second operand of a {@code MatMul} or {@code Gemm} are therefore inferred from the first operand and the result, and
 * its type is taken to be that of the first operand. The weights of a quantised product are packed, too, and the file
 * does not state their format, so the work of {@code MatMulNBits} is unknown.
 *
 * <p><b>Working set.</b> In a profile of ONNX Runtime, a weight is identified by the path of its node, and is used
 * again only after all other weights of the model; the working set is therefore all weights. In a trace of PyTorch
 * nothing identifies a weight, so the working set of each product is its own operands. The roof of the product may then
 * be too high, but never too low.
 */
final class OperatorWork {

    /** The number that stands for unknown work. */
    static final int UNKNOWN = 0;

    private static final int MOST = 1 << 18;

    private final List<Entry> entries = new ArrayList<>(List.of(new Entry(Work.NONE, false)));
    private final ObjectIntHashMap<Entry> numbers = new ObjectIntHashMap<>();
    private final LongHashSet weights = new LongHashSet();
    private long weightBytes;

    /** The work of one call. The working set of a call with a weight is not known before the end of the trace. */
    private record Entry(Work work, boolean hasWeight) {}

    /** Returns the number of the work of an event; {@link #UNKNOWN} if it is unknown. */
    int of(TraceEvent event) {
        if (event.inputs.tensors() == 0 || !event.inputs.isComplete() || !event.outputs.isComplete()) {
            return UNKNOWN;
        }
        try {
            Entry entry = event.operator.isEmpty() ? ofPyTorch(event) : ofOnnxRuntime(event);
            return entry == null ? UNKNOWN : number(entry);
        } catch (ArithmeticException tooLarge) {
            return UNKNOWN;
        }
    }

    private int number(Entry entry) {
        int known = numbers.getIfAbsent(entry, UNKNOWN);
        if (known == UNKNOWN && entries.size() < MOST) {
            known = entries.size();
            entries.add(entry);
            numbers.put(entry, known);
        }
        return known;
    }

    /** Returns the work of a number; call it after the last event. */
    Work get(int number) {
        Entry entry = entries.get(number);
        Work work = entry.work();
        return entry.hasWeight()
                ? new Work(work.flops(), work.bytes(), Math.max(weightBytes, work.workingSetBytes()))
                : work;
    }

    // ---- ONNX Runtime ----

    private @Nullable Entry ofOnnxRuntime(TraceEvent event) {
        if (event.outputs.tensors() == 0) {
            return null;
        }
        return switch (event.operator) {
            case "MatMul", "FusedMatMul", "TransposeMatMul", "Gemm", "FusedGemm" -> product(event);
            case "Add", "Sub", "Mul", "Div", "Sigmoid", "Tanh", "Relu", "QuickGelu", "Neg" -> elementwise(event);
            default -> null;
        };
    }

    private static @Nullable Entry elementwise(TraceEvent event) {
        long bytes = Math.addExact(bytes(event.inputs), bytes(event.outputs));
        return bytes < 0 ? null : new Entry(Work.of(known(event.outputs.elements(0)), bytes), false);
    }

    private @Nullable Entry product(TraceEvent event) {
        TensorShapes in = event.inputs;
        TensorShapes out = event.outputs;
        if (in.rank(0) < 2 || out.rank(0) < 2) {
            return null;
        }
        long columns = out.fromLast(0, 0);
        long rows = out.fromLast(0, 1);
        long inner = in.fromLast(0, 1) == rows
                ? in.fromLast(0, 0)
                : in.fromLast(0, 0) == rows ? in.fromLast(0, 1) : TensorShapes.UNKNOWN;
        if (inner < 0) {
            return null;
        }
        boolean isListed = false;
        for (int i = 1; i < in.tensors(); i++) {
            isListed |= in.rank(i) >= 2 && isMatrix(in, i, inner, columns);
        }
        long bytes = Math.addExact(bytes(in), bytes(out));
        long ofWeight = 0;
        if (!isListed) {
            ofWeight = Math.multiplyExact(Math.multiplyExact(inner, columns), sizeOf(in.type(0)));
            bytes = Math.addExact(bytes, ofWeight);
            if (weights.add(TraceNames.hash(event.name))) {
                weightBytes = Math.addExact(weightBytes, ofWeight);
            }
        }
        long flops = Math.multiplyExact(2 * inner, known(out.elements(0)));
        return new Entry(Work.of(flops, bytes), ofWeight > 0);
    }

    private static boolean isMatrix(TensorShapes in, int tensor, long inner, long columns) {
        long last = in.fromLast(tensor, 0);
        long other = in.fromLast(tensor, 1);
        return (last == columns && other == inner) || (last == inner && other == columns);
    }

    // ---- PyTorch ----

    private static @Nullable Entry ofPyTorch(TraceEvent event) {
        return switch (event.name) {
            case "aten::mm", "aten::bmm" -> product(event.inputs, 0);
            case "aten::addmm", "aten::baddbmm", "aten::_addmm_activation" -> product(event.inputs, 1);
            default -> null;
        };
    }

    /**
     * Returns the work of a product of two adjacent operands, given the index of the first one. The operands before
     * them are added to the product.
     */
    private static @Nullable Entry product(TensorShapes in, int first) {
        int second = first + 1;
        if (in.tensors() <= second) {
            return null;
        }
        int rank = in.rank(first);
        boolean fits = rank >= 2
                && rank <= 3
                && in.rank(second) == rank
                && in.fromLast(first, 0) == in.fromLast(second, 1)
                && (rank == 2 || in.fromLast(first, 2) == in.fromLast(second, 2));
        if (!fits) {
            return null;
        }
        long columns = in.fromLast(second, 0);
        long inner = in.fromLast(first, 0);
        long size = sizeOf(in.type(first));
        long results = inner == 0 ? 0 : Math.multiplyExact(known(in.elements(first)) / inner, columns);
        long bytes = Math.multiplyExact(results, size);
        for (int i = 0; i <= second; i++) {
            bytes = Math.addExact(bytes, Math.multiplyExact(known(in.elements(i)), sizeOf(in.type(i))));
        }
        return new Entry(Work.of(Math.multiplyExact(2 * inner, results), bytes), false);
    }

    // ---- sizes ----

    private static long bytes(TensorShapes tensors) {
        long bytes = 0;
        for (int i = 0; i < tensors.tensors(); i++) {
            bytes = Math.addExact(bytes, Math.multiplyExact(known(tensors.elements(i)), sizeOf(tensors.type(i))));
        }
        return bytes;
    }

    private static long known(long elements) {
        if (elements < 0) {
            throw new ArithmeticException("too many elements");
        }
        return elements;
    }

    /** Returns the bytes of an element, by the names of ONNX and of PyTorch. */
    private static long sizeOf(String type) {
        return switch (type) {
            case "double", "int64", "uint64", "long int" -> 8;
            case "float", "int32", "uint32", "int" -> 4;
            case "float16", "bfloat16", "int16", "uint16", "c10::Half", "c10::BFloat16", "short int" -> 2;
            case "int8", "uint8", "bool", "signed char", "unsigned char" -> 1;
            default -> throw new ArithmeticException("the size of " + type + " is unknown");
        };
    }
}
