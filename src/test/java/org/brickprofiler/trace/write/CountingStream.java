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

    /** How many there were. */
    public long bytes() {
        return bytes;
    }
}
