package org.brickprofiler.trace.write;

import java.io.IOException;
import java.io.OutputStream;

/** Accepts some bytes, and then fails as a full disk does. */
final class FullDisk extends OutputStream {

    private long leftBytes;

    FullDisk(long bytes) {
        this.leftBytes = bytes;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        leftBytes -= length;
        if (leftBytes < 0) {
            throw new IOException("No space left on device");
        }
    }
}
