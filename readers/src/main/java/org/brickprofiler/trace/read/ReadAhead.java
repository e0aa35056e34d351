package org.brickprofiler.trace.read;

import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import org.jspecify.annotations.Nullable;

/**
 * A stream that its own thread reads ahead by a few blocks, so that a trace is unpacked and parsed in parallel. An
 * exception of the underlying stream is thrown after the bytes before it were returned. The thread ends at the end of
 * the stream; {@link #close} ends it earlier and waits for it. One thread reads.
 */
final class ReadAhead extends InputStream {

    private static final int BLOCKS = 4;
    private static final int BLOCK_BYTES = 1 << 17;

    private final InputStream in;
    private final BlockingQueue<Block> filled = new ArrayBlockingQueue<>(BLOCKS);
    private final BlockingQueue<Block> free = new ArrayBlockingQueue<>(BLOCKS);
    private final Thread reader = new Thread(this::readAll, "brick-trace-unpacking");
    private Block block = new Block(0);
    private int next;

    /** A block of bytes; the queues order the accesses of the two threads. */
    private static final class Block {
        private final byte[] bytes;
        /** The number of bytes that were read; negative at the end. */
        private int length;

        private @Nullable Throwable failure;

        Block(int size) {
            this.bytes = new byte[size];
        }
    }

    /**
     * Starts to read ahead.
     *
     * @param in the stream; closed with this one
     */
    ReadAhead(InputStream in) {
        this.in = in;
        for (int i = 0; i < BLOCKS; i++) {
            free.add(new Block(BLOCK_BYTES));
        }
        reader.setDaemon(true);
        reader.start();
    }

    private void readAll() {
        try {
            Block read;
            do {
                read = free.take();
                try {
                    read.length = in.read(read.bytes);
                } catch (IOException | RuntimeException | Error failed) {
                    read.length = 0;
                    read.failure = failed;
                }
                filled.put(read);
            } while (read.length >= 0 && read.failure == null);
        } catch (InterruptedException closed) {
            // The remaining bytes are not needed.
        }
    }

    @Override
    public int read() throws IOException {
        return hasMore() ? block.bytes[next++] & 0xff : -1;
    }

    @Override
    public int read(byte[] into, int from, int length) throws IOException {
        if (length == 0) {
            return 0;
        }
        if (!hasMore()) {
            return -1;
        }
        int read = Math.min(length, block.length - next);
        System.arraycopy(block.bytes, next, into, from, read);
        next += read;
        return read;
    }

    /** Waits for the next block once the current one is read; returns false at the end. */
    private boolean hasMore() throws IOException {
        while (next == block.length && block.failure == null) {
            if (block.bytes.length > 0) {
                free.add(block);
            }
            next = 0;
            try {
                block = filled.take();
            } catch (InterruptedException interrupted) {
                block = new Block(0);
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("the thread was interrupted");
            }
        }
        ReadingThread.rethrow(block.failure);
        return block.length > next;
    }

    /** Ends the thread, then closes the stream. */
    @Override
    public void close() throws IOException {
        ReadingThread.end(reader);
        in.close();
    }
}
