package org.brickprofiler.demo;

import java.util.function.ToLongFunction;
import org.brickprofiler.demo.PtxInstruction.Effect;

/** The computations of instructions that concern one thread only. Stateless. */
final class PtxArithmetic {

    private static final long WORD = 0xffffffffL;

    private PtxArithmetic() {}

    private interface OfOne {
        long on(long a);
    }

    private interface OfTwo {
        long on(long a, long b);
    }

    private interface OfThree {
        long on(long a, long b, long c);
    }

    private interface OfFloat {
        double on(float a);
    }

    private interface OfFloats {
        float on(float a, float b);
    }

    /**
     * The effect of an instruction.
     *
     * @throws IllegalArgumentException when it is not known, or an operand does not fit it
     */
    static Effect effect(PtxOperands operands, String opcode, String[] given) {
        Maker maker = new Maker(operands, given);
        return switch (opcode) {
            case "mov.u32" -> maker.one("u32", "u32", a -> a & WORD);
            case "mov.u64" -> maker.one("u64", "u64", a -> a);
            case "mov.f32" -> maker.one("f32", "f32", a -> a);
            case "cvt.rn.f32.u32" -> maker.one("f32", "u32", a -> bits((float) a));
            case "add.u32" -> maker.two("u32", "u32", (a, b) -> (a + b) & WORD);
            case "add.u64" -> maker.two("u64", "u64", Long::sum);
            case "sub.u32" -> maker.two("u32", "u32", (a, b) -> (a - b) & WORD);
            case "sub.u64" -> maker.two("u64", "u64", (a, b) -> a - b);
            case "mul.lo.u32" -> maker.two("u32", "u32", (a, b) -> (a * b) & WORD);
            case "mul.wide.u32" -> maker.two("u64", "u32", (a, b) -> a * b);
            case "div.u32" -> maker.two("u32", "u32", Long::divideUnsigned);
            case "rem.u32" -> maker.two("u32", "u32", Long::remainderUnsigned);
            case "and.b32" -> maker.two("b32", "b32", (a, b) -> a & b);
            case "shr.u32" -> maker.two("u32", "u32", (a, b) -> a >>> b);
            case "shl.b32" -> maker.two("b32", "b32", (a, b) -> (a << b) & WORD);
            case "shl.b64" -> maker.shift64((a, b) -> a << b);
            case "mad.lo.u32" -> maker.three("u32", (a, b, c) -> (a * b + c) & WORD);
            case "setp.ge.u32" -> maker.two("pred", "u32", (a, b) -> a >= b ? 1 : 0);
            case "setp.ne.u32" -> maker.two("pred", "u32", (a, b) -> a == b ? 0 : 1);
            case "setp.lt.u64" -> maker.two("pred", "u64", (a, b) -> Long.compareUnsigned(a, b) < 0 ? 1 : 0);
            case "add.f32" -> maker.floats((a, b) -> a + b);
            case "sub.f32" -> maker.floats((a, b) -> a - b);
            case "mul.f32" -> maker.floats((a, b) -> a * b);
            case "div.rn.f32" -> maker.floats((a, b) -> a / b);
            case "max.f32" -> maker.floats(Math::max);
            case "neg.f32" -> maker.floating(a -> -a);
            case "rcp.rn.f32" -> maker.floating(a -> 1f / a);
            case "sqrt.rn.f32" -> maker.floating(Math::sqrt);
            case "ex2.approx.f32" -> maker.floating(a -> Math.pow(2, a));
            case "fma.rn.f32" -> maker.three("f32", (a, b, c) -> bits(Math.fma(number(a), number(b), number(c))));
            default -> memory(maker, opcode);
        };
    }

    private static Effect memory(Maker maker, String opcode) {
        return switch (opcode) {
            case "ld.param.u32", "ld.param.u64", "ld.param.f32" -> maker.loadArgument(opcode.substring(9));
            case "ld.global.f32" -> maker.loadGlobal();
            case "ld.shared.f32" -> maker.loadShared();
            case "st.global.f32" -> maker.storeGlobal();
            case "st.global.u64" -> maker.storeLongGlobal();
            case "st.shared.f32" -> maker.storeShared();
            default -> throw new IllegalArgumentException("the instruction is not known");
        };
    }

    private static float number(long bits) {
        return Float.intBitsToFloat((int) bits);
    }

    private static long bits(float number) {
        return Float.floatToRawIntBits(number) & WORD;
    }

    /** Makes effects of the operands of one instruction. */
    private static final class Maker {
        private final PtxOperands operands;
        private final String[] given;

        Maker(PtxOperands operands, String[] given) {
            this.operands = operands;
            this.given = given;
        }

        private ToLongFunction<PtxThread> operand(int index, String type) {
            return operands.value(given[index], type);
        }

        private int target(String type) {
            return operands.registerOf(given[0], type);
        }

        private void requireOperands(int count) {
            if (given.length != count) {
                throw new IllegalArgumentException(given.length + " operands, not " + count);
            }
        }

        Effect one(String result, String type, OfOne function) {
            requireOperands(2);
            int target = target(result);
            ToLongFunction<PtxThread> a = operand(1, type);
            return thread -> thread.registers[target] = function.on(a.applyAsLong(thread));
        }

        Effect two(String result, String type, OfTwo function) {
            return two(result, operand(1, type), operand(2, type), function);
        }

        Effect shift64(OfTwo function) {
            return two("u64", operand(1, "u64"), operand(2, "u32"), function);
        }

        private Effect two(String result, ToLongFunction<PtxThread> a, ToLongFunction<PtxThread> b, OfTwo function) {
            requireOperands(3);
            int target = target(result);
            return thread -> thread.registers[target] = function.on(a.applyAsLong(thread), b.applyAsLong(thread));
        }

        Effect three(String type, OfThree function) {
            requireOperands(4);
            int target = target(type);
            ToLongFunction<PtxThread> a = operand(1, type);
            ToLongFunction<PtxThread> b = operand(2, type);
            ToLongFunction<PtxThread> c = operand(3, type);
            return thread -> thread.registers[target] =
                    function.on(a.applyAsLong(thread), b.applyAsLong(thread), c.applyAsLong(thread));
        }

        Effect floating(OfFloat function) {
            return one("f32", "f32", a -> bits((float) function.on(number(a))));
        }

        Effect floats(OfFloats function) {
            return two("f32", "f32", (a, b) -> bits(function.on(number(a), number(b))));
        }

        Effect loadArgument(String type) {
            requireOperands(2);
            int target = target(type);
            ToLongFunction<PtxThread> argument = operands.argument(given[1], type);
            return thread -> thread.registers[target] = argument.applyAsLong(thread);
        }

        Effect loadGlobal() {
            requireOperands(2);
            int target = target("f32");
            ToLongFunction<PtxThread> address = operands.address(given[1], "u64");
            return thread -> thread.registers[target] = thread.block.memory.load32(address.applyAsLong(thread)) & WORD;
        }

        Effect loadShared() {
            requireOperands(2);
            int target = target("f32");
            ToLongFunction<PtxThread> address = operands.address(given[1], "u32");
            return thread -> thread.registers[target] = thread.block.shared[word(address, thread)] & WORD;
        }

        Effect storeGlobal() {
            requireOperands(2);
            ToLongFunction<PtxThread> address = operands.address(given[0], "u64");
            ToLongFunction<PtxThread> value = operand(1, "f32");
            return thread -> thread.block.memory.store32(address.applyAsLong(thread), (int) value.applyAsLong(thread));
        }

        Effect storeLongGlobal() {
            requireOperands(2);
            ToLongFunction<PtxThread> address = operands.address(given[0], "u64");
            ToLongFunction<PtxThread> value = operand(1, "u64");
            return thread -> thread.block.memory.store64(address.applyAsLong(thread), value.applyAsLong(thread));
        }

        Effect storeShared() {
            requireOperands(2);
            ToLongFunction<PtxThread> address = operands.address(given[0], "u32");
            ToLongFunction<PtxThread> value = operand(1, "f32");
            return thread -> thread.block.shared[word(address, thread)] = (int) value.applyAsLong(thread);
        }

        private static int word(ToLongFunction<PtxThread> address, PtxThread thread) {
            long bytes = address.applyAsLong(thread);
            if (bytes % Integer.BYTES != 0) {
                throw new IllegalStateException("shared memory at byte " + bytes);
            }
            return (int) (bytes / Integer.BYTES);
        }
    }
}
