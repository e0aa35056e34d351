package org.brickprofiler.demo;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A number that a launch reads. It is stored outside of Java's heap, like all arguments. JCuda would pass an array of
 * the heap in a way that blocks garbage collection until the launch returns, and a launch waits while the stream is
 * full. One thread.
 */
final class HostNumber implements ComputeDevice.Argument {

    private final ByteBuffer value;

    private HostNumber(int bytes) {
        value = ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
    }

    /** Creates an integer, 0 at first. */
    HostNumber() {
        this(Integer.BYTES);
    }

    static HostNumber of(int number) {
        HostNumber cell = new HostNumber();
        cell.set(number);
        return cell;
    }

    static HostNumber of(float number) {
        return of(Float.floatToRawIntBits(number));
    }

    static HostNumber of(long number) {
        HostNumber cell = new HostNumber(Long.BYTES);
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
