package org.brickprofiler.trace.write;

import java.io.OutputStream;

/**
 * A buffer for messages of Protocol Buffers, written to the stream when it is full and a top-level message is complete.
 * A nested message has one byte reserved for its length; a longer message is moved. One thread at a time; allocates
 * only when a single top message outgrows the buffer.
 *
 * <p>The encoding: <a href="https://protobuf.dev/programming-guides/encoding/">protobuf.dev</a>.
 */
final class ProtoBuffer extends FileBuffer {

    /** Room for a tag and a varint of 64 bits. */
    private static final int FIELD_BYTES = 24;

    private static final int VARINT = 0;
    private static final int FIXED64 = 1;
    private static final int LENGTH_DELIMITED = 2;

    ProtoBuffer(OutputStream out) {
        super(out);
    }

    void varint(int field, long value) {
        ensure(FIELD_BYTES);
        put(tag(field, VARINT));
        put(value);
    }

    void fixed64(int field, long value) {
        ensure(FIELD_BYTES);
        put(tag(field, FIXED64));
        for (int shift = 0; shift < Long.SIZE; shift += Byte.SIZE) {
            bytes[size++] = (byte) (value >>> shift);
        }
    }

    void float64(int field, double value) {
        fixed64(field, Double.doubleToRawLongBits(value));
    }

    void string(int field, String value) {
        byte[] text = utf8(value);
        ensure(FIELD_BYTES + text.length);
        put(tag(field, LENGTH_DELIMITED));
        put(text.length);
        append(text);
    }

    /** Begins a nested message; returns the position that {@link #close} needs. */
    int open(int field) {
        ensure(FIELD_BYTES);
        put(tag(field, LENGTH_DELIMITED));
        size++;
        return size;
    }

    /** Ends the message that {@link #open} began last. */
    void close(int content) {
        int length = size - content;
        if (length < 0x80) {
            bytes[content - 1] = (byte) length;
        } else {
            closeLong(content, length);
        }
    }

    private void closeLong(int content, int length) {
        int further = varintBytes(length) - 1;
        ensure(further);
        System.arraycopy(bytes, content, bytes, content + further, length);
        size = content - 1;
        put(length);
        size += length;
    }

    /** Ends a top-level message, and writes a full buffer to the stream. */
    void closeTop(int content) {
        close(content);
        drainIfFull();
    }

    private static int tag(int field, int wireType) {
        return field << 3 | wireType;
    }

    private void put(long value) {
        long rest = value;
        while ((rest & ~0x7FL) != 0) {
            bytes[size++] = (byte) (rest | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    private static int varintBytes(int value) {
        return (38 - Integer.numberOfLeadingZeros(value)) / 7;
    }
}
