package org.brickprofiler.checksum;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;

/**
 * Reads the floats of a tensor in place. One reader serves all tensors of its kind, so that reading makes no object.
 *
 * @param <T> what holds the floats
 */
@FunctionalInterface
interface FloatReader<T> {

    /** Arrays; {@code from} is an index. */
    FloatReader<float[]> OF_ARRAY = (floats, from, index) -> Float.floatToRawIntBits(floats[from + index]);

    /** Buffers of floats; {@code from} is a position. */
    FloatReader<FloatBuffer> OF_FLOATS = (floats, from, index) -> Float.floatToRawIntBits(floats.get(from + index));

    /** Buffers of bytes in their own byte order; {@code from} is a position, in bytes. */
    FloatReader<ByteBuffer> OF_BYTES = (bytes, from, index) -> bytes.getInt(from + index * Float.BYTES);

    /**
     * One float.
     *
     * @param source what holds the floats
     * @param from where the first one is
     * @param index which one, from 0
     * @return its bits, those of a NaN unchanged
     */
    int bits(T source, int from, int index);
}
