package org.brickprofiler.demo;

import java.util.ArrayList;
import java.util.List;

/**
 * Global memory of a {@link PtxInterpreter}, made of arrays of floats that lie apart: an access beside them, or to less
 * than a whole float, is an error.
 */
public final class PtxArena implements PtxMemory {

    private static final long FIRST = 1L << 40;

    /** More than any array takes, so that an access beyond one array does not reach the next. */
    private static final long APART = 1L << 32;

    private final List<float[]> arrays = new ArrayList<>();

    /** Puts an array into the memory; kernels write into the array itself. */
    public long addressOf(float[] array) {
        arrays.add(array);
        return FIRST + (arrays.size() - 1) * APART;
    }

    @Override
    public int load32(long address) {
        return Float.floatToRawIntBits(arrayAt(address)[indexAt(address)]);
    }

    @Override
    public void store32(long address, int value) {
        arrayAt(address)[indexAt(address)] = Float.intBitsToFloat(value);
    }

    @Override
    public void store64(long address, long value) {
        store32(address, (int) value);
        store32(address + Integer.BYTES, (int) (value >>> Integer.SIZE));
    }

    private float[] arrayAt(long address) {
        long number = (address - FIRST) / APART;
        if (address < FIRST || number >= arrays.size()) {
            throw new IllegalStateException("there is no memory at " + Long.toHexString(address));
        }
        return arrays.get((int) number);
    }

    private int indexAt(long address) {
        long offset = (address - FIRST) % APART;
        if (offset % Float.BYTES != 0 || offset / Float.BYTES >= arrayAt(address).length) {
            throw new IllegalStateException(
                    "byte " + offset + " of an array of " + arrayAt(address).length + " floats");
        }
        return (int) (offset / Float.BYTES);
    }
}
