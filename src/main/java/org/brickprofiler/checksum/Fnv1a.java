package org.brickprofiler.checksum;

/**
 * The hash function FNV-1a in 64 bits (Fowler, Noll and Vo; RFC 9923): for each byte, exclusive or, then multiply.
 * Stateless; any thread; allocates nothing.
 */
final class Fnv1a {

    /** The hash of nothing, with which every hash begins. */
    static final long OFFSET_BASIS = 0xcbf29ce484222325L;

    private static final long PRIME = 0x100000001b3L;
    private static final int BYTE_MASK = 0xff;

    private Fnv1a() {}

    /**
     * The hash of some bytes.
     *
     * @param bytes the bytes
     * @return their hash
     */
    static long hash(byte[] bytes) {
        long hash = OFFSET_BASIS;
        for (byte each : bytes) {
            hash = addByte(hash, each);
        }
        return hash;
    }

    /**
     * Adds the four bytes of a value, the lowest one first.
     *
     * @param hash the hash so far
     * @param bits the value
     * @return the hash with it
     */
    static long addLittleEndian(long hash, int bits) {
        long added = addByte(hash, bits);
        added = addByte(added, bits >>> Byte.SIZE);
        added = addByte(added, bits >>> (2 * Byte.SIZE));
        return addByte(added, bits >>> (3 * Byte.SIZE));
    }

    private static long addByte(long hash, int lowestByte) {
        return (hash ^ (lowestByte & BYTE_MASK)) * PRIME;
    }
}
