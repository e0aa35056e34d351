package org.brickprofiler.demo;

/** An array of floats on a device. It belongs to that device, which frees it. Immutable, but for its values. */
public abstract non-sealed class Floats implements ComputeDevice.Argument {

    private final int length;

    Floats(int length) {
        this.length = length;
    }

    /**
     * Returns the size.
     *
     * @return number of floats, 1 or more
     */
    public final int length() {
        return length;
    }

    /**
     * Returns the size in bytes.
     *
     * @return 4 or more
     */
    public final long bytes() {
        return (long) length * Float.BYTES;
    }

    /** Checks that a kernel that processes the given number of values stays within the array. */
    final Floats requireLength(long atLeast) {
        if (length < atLeast) {
            throw new IllegalArgumentException("an array of " + length + " floats is too short for " + atLeast);
        }
        return this;
    }

    /** Returns a length as an int; refuses a length beyond the largest array. */
    static int checkLength(long length) {
        if (length > Integer.MAX_VALUE) {
            throw new DeviceFailure("an array of " + length + " floats is too large");
        }
        return (int) length;
    }
}
