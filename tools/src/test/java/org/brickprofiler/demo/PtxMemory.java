package org.brickprofiler.demo;

/** The global memory of a kernel. */
public interface PtxMemory {

    /** Reads the 4 bytes at an address. */
    int load32(long address);

    /** Writes 4 bytes at an address. */
    void store32(long address, int value);

    /** Writes 8 bytes at an address. */
    void store64(long address, long value);
}
