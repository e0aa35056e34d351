package org.brickprofiler.trace.read;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;

/**
 * The header of a chunk of a flight recording. A recording is a sequence of chunks; each has its own description of the
 * types of its events, and its own constants. Immutable; any thread.
 *
 * @param start its first byte in the file
 * @param size its bytes, with the header
 * @param constantsAt its last constants, from its start; 0 if it has none
 * @param typesAt the description of its types, from its start
 * @param startNs when it began, ns since 1970
 * @param startTicks the same on the clock of its events
 * @param ticksPerSecond the rate of that clock
 * @param isEnded whether the virtual machine has completed it
 */
record RecordingChunk(
        long start,
        long size,
        long constantsAt,
        long typesAt,
        long startNs,
        long startTicks,
        long ticksPerSecond,
        boolean isEnded) {

    static final int HEADER_BYTES = 68;

    /** The types of the two events that are no events: the description of the types, and constants. */
    static final long TYPES = 0;

    static final long CONSTANTS = 1;

    private static final int MAGIC = 'F' << 24 | 'L' << 16 | 'R' << 8;

    /** The place of the state, which is 0 once the chunk is complete. */
    private static final int STATE_AT = 64;

    private static final double NS_PER_S = 1_000_000_000;

    /**
     * Reads a header.
     *
     * @param file the recording
     * @param start the place of the header
     * @throws DamagedException when there is none
     * @throws IOException when the file cannot be read
     */
    static RecordingChunk read(FileChannel file, long start) throws IOException {
        ByteBuffer bytes = ByteBuffer.allocate(HEADER_BYTES);
        fill(bytes, file, start);
        if (bytes.hasRemaining()) {
            throw new DamagedException(
                    "the header of a chunk has " + bytes.position() + " of its " + HEADER_BYTES + " bytes");
        }
        bytes.flip();
        if (bytes.getInt() != MAGIC) {
            throw new DamagedException("the bytes " + start + " and following are no header of a chunk");
        }
        int version = bytes.getShort();
        if (version != 1 && version != 2) {
            throw new DamagedException("a chunk has the unknown version " + version);
        }
        bytes.getShort();
        long size = bytes.getLong();
        long constantsAt = bytes.getLong();
        long typesAt = bytes.getLong();
        long startNs = bytes.getLong();
        bytes.getLong();
        return new RecordingChunk(
                start, size, constantsAt, typesAt, startNs, bytes.getLong(), bytes.getLong(), bytes.get(STATE_AT) == 0);
    }

    /** Fills a buffer with the bytes of a file from a place on, as far as the file has any. */
    static void fill(ByteBuffer bytes, FileChannel file, long from) throws IOException {
        while (bytes.hasRemaining() && file.read(bytes, from + bytes.position()) >= 0) {
            // They may come in parts.
        }
    }

    /** Returns the first byte after it. */
    long end() {
        return start + size;
    }

    /** Returns a moment of the clock of its events, ns since 1970, as the JDK computes it. */
    long unixNs(long ticks) {
        return startNs + (long) ((ticks - startTicks) / (ticksPerSecond / NS_PER_S));
    }

    /**
     * Returns the bytes of the header of a complete chunk with the same beginning.
     *
     * @param newSize the bytes of that chunk
     * @param newConstantsAt its last constants
     * @param newTypesAt the description of its types
     */
    ByteBuffer header(long newSize, long newConstantsAt, long newTypesAt) {
        return ByteBuffer.allocate(HEADER_BYTES)
                .putInt(MAGIC)
                .putShort((short) 2)
                .putShort((short) 0)
                .putLong(newSize)
                .putLong(newConstantsAt)
                .putLong(newTypesAt)
                .putLong(startNs)
                .putLong(0)
                .putLong(startTicks)
                .putLong(ticksPerSecond)
                .putInt(1)
                .flip();
    }
}
