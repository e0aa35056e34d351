package org.brickprofiler.device.opencl;

import com.sun.jna.Native;
import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Memory outside of the heap into which the driver writes. It is valid as long as this object is reachable. */
final class NativeMemory {

    private final ByteBuffer bytes;
    private final long address;

    /** Allocates bytes that are 0. */
    NativeMemory(int size) {
        bytes = ByteBuffer.allocateDirect(size).order(ByteOrder.nativeOrder());
        address = Pointer.nativeValue(Native.getDirectBufferPointer(bytes));
    }

    long address(int offset) {
        return address + offset;
    }

    int getInt(int offset) {
        return bytes.getInt(offset);
    }

    long getLong(int offset) {
        return bytes.getLong(offset);
    }

    byte getByte(int offset) {
        return bytes.get(offset);
    }

    void putLong(int offset, long value) {
        bytes.putLong(offset, value);
    }
}
