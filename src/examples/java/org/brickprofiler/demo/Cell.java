package org.brickprofiler.demo;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A number that a launch reads. It lies outside of Java's heap, like all arguments: from the heap JCuda would pass it
 * in a way that blocks garbage collection until the launch returns, and a launch waits if a stream is full. One thread.
 */
final class Cell implements ComputeDevice.Argument {

    private final ByteBuffer value;

    private Cell(int bytes) {
        value = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** An integer, 0 at first. */
    Cell() {
        this(Integer.BYTES);
    }

    static Cell of(int number) {
        Cell cell = new Cell();
        cell.set(number);
        return cell;
    }

    static Cell of(float number) {
        return of(Float.floatToRawIntBits(number));
    }

    static Cell of(long number) {
        Cell cell = new Cell(Long.BYTES);
        cell.value.putLong(0, number);
        return cell;
    }

    void set(int number) {
        value.putInt(0, number);
    }

    int get() {
        return value.getInt(0);
    }

    /** Returns the bytes of the number, 4 or 8. */
    ByteBuffer bytes() {
        return value;
    }
}
