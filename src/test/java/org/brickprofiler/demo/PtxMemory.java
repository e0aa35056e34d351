package org.brickprofiler.demo;

/** The meaning of a kernel's global addresses. */
public interface PtxMemory {

    /** The 4 bytes at an address. */
    int load32(long address);

    /** Writes 4 bytes at an address. */
    void store32(long address, int value);

    /** Writes 8 bytes at an address. */
    void store64(long address, long value);
}
