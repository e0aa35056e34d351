package org.brickprofiler.internal.base;

/**
 * The 64-bit hash FNV-1a (Fowler, Noll and Vo; RFC 9923): for each byte, XOR it into the hash, then multiply the hash
 * by the prime 2^40 + 0x1b3. For texts and buffers that differ by chance: the hash is not cryptographic, so collisions
 * can be constructed. Stateless, no allocation; any thread.
 */
public final class Fnv1a {

    /** The hash of no bytes. */
    public static final long OFFSET_BASIS = 0xcbf29ce484222325L;

    private static final long PRIME = 0x100000001b3L;

    private Fnv1a() {}

    /**
     * Adds one byte to a hash.
     *
     * @param hash the hash of the bytes before; {@link #OFFSET_BASIS} if there are none
     * @param byteValue the byte; its lowest eight bits count
     * @return the hash with it
     */
    public static long add(long hash, int byteValue) {
        return (hash ^ (byteValue & 0xff)) * PRIME;
    }

    /**
     * Adds the four bytes of a value to a hash, the lowest one first.
     *
     * @param hash the hash of the bytes before
     * @param bits the value
     * @return the hash with it
     */
    public static long addLittleEndian(long hash, int bits) {
        long added = add(hash, bits);
        added = add(added, bits >>> Byte.SIZE);
        added = add(added, bits >>> (2 * Byte.SIZE));
        return add(added, bits >>> (3 * Byte.SIZE));
    }

    /**
     * Returns the hash of some bytes.
     *
     * @param bytes the bytes
     * @return their hash
     */
    public static long of(byte[] bytes) {
        long hash = OFFSET_BASIS;
        for (byte value : bytes) {
            hash = add(hash, value);
        }
        return hash;
    }
}
