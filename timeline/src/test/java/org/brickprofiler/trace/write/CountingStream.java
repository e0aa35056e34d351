package org.brickprofiler.trace.write;

import java.io.OutputStream;

/** Counts bytes and forgets them. */
public final class CountingStream extends OutputStream {

    private long bytes;

    @Override
    public void write(int b) {
        bytes++;
    }

    @Override
    public void write(byte[] from, int offset, int length) {
        bytes += length;
    }

    /** Returns the number of bytes written. */
    public long bytes() {
        return bytes;
    }
}
