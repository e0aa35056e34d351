package org.brickprofiler.demo.device;

import jcuda.driver.CUdeviceptr;

/** An array of floats on a device, which belongs to a {@link Gpu} and goes with it. */
public final class DeviceFloats {

    private final CUdeviceptr address;
    private final int length;

    DeviceFloats(CUdeviceptr address, int length) {
        this.address = address;
        this.length = length;
    }

    /**
     * How many floats.
     *
     * @return 1 or more
     */
    public int length() {
        return length;
    }

    CUdeviceptr address() {
        return address;
    }

    long bytes() {
        return (long) length * Float.BYTES;
    }

    /** Checks that a kernel that is told a length stays within the array. */
    DeviceFloats requireLength(long atLeast) {
        if (length < atLeast) {
            throw new IllegalArgumentException("an array of " + length + " floats is too short for " + atLeast);
        }
        return this;
    }
}
