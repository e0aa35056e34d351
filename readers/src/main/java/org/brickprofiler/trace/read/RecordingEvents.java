package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.Arrays;
import org.brickprofiler.trace.read.RecordingBytes.DamagedException;
import org.jspecify.annotations.Nullable;

/**
 * Goes from event to event of a flight recording by their sizes, without a look into them but for their types. It ends
 * where the sizes do not add up. Not thread-safe.
 */
final class RecordingEvents implements Closeable {

    private static final int WINDOW = 1 << 20;

    /** The most bytes of the size and the type of an event. */
    private static final int HEAD_BYTES = 18;

    private final FileChannel file;
    private final long fileSize;
    private final RecordingBytes head = new RecordingBytes();

    /** The bytes of the latest description of types, which most chunks repeat, and the types. */
    private final RecordingBytes description = new RecordingBytes();

    private byte[] described = {};
    private @Nullable RecordingTypes types;

    private byte[] window = new byte[WINDOW];

    /** The place of the window in the file, and its bytes. */
    private long windowAt;

    private int windowSize;

    private RecordingChunk chunk = new RecordingChunk(0, 0, 0, 0, 0, 0, 1, true);

    /** The place of the event, and that of the next one. */
    private long at;

    private long next;
    private long type;

    /** The bytes of its size and its type. */
    private int headSize;

    /**
     * Opens a recording.
     *
     * @throws IOException when it cannot be read
     */
    RecordingEvents(Path path) throws IOException {
        file = FileChannel.open(path);
        fileSize = file.size();
    }

    @Override
    public void close() throws IOException {
        file.close();
    }

    /**
     * Goes to the next event, which may be a description of types or constants.
     *
     * @return whether there is one
     * @throws DamagedException when the recording is damaged after the event at which it is
     * @throws IOException when the file cannot be read
     */
    boolean next() throws IOException {
        while (next == chunk.end()) {
            if (next == fileSize && fileSize > 0) {
                return false;
            }
            begin(RecordingChunk.read(file, next));
        }
        load(next, (int) Math.min(HEAD_BYTES, chunk.end() - next));
        head.reset(window, (int) (next - windowAt), Math.min(windowSize, (int) (next - windowAt) + HEAD_BYTES));
        long size = head.readNumber();
        long found = head.readNumber();
        headSize = head.at() - (int) (next - windowAt);
        if (size < headSize || size > chunk.end() - next) {
            throw new DamagedException(
                    "the event at byte " + next + " has the size " + size + " in a chunk that ends at " + chunk.end());
        }
        if (size > fileSize - next) {
            throw new DamagedException("the chunk at byte " + chunk.start() + " has " + chunk.size()
                    + " bytes, and the file ends after " + (fileSize - chunk.start()) + " of them");
        }
        at = next;
        next = at + size;
        type = found;
        return true;
    }

    private void begin(RecordingChunk found) throws DamagedException {
        // The header is read; the events follow.
        next = found.start() + RecordingChunk.HEADER_BYTES;
        chunk = found;
        if (found.size() < RecordingChunk.HEADER_BYTES || found.end() < 0) {
            throw new DamagedException("the chunk at byte " + found.start() + " has the size " + found.size());
        }
    }

    /** Returns the chunk of the event. */
    RecordingChunk chunk() {
        return chunk;
    }

    /** Returns the number of the type of the event. */
    long type() {
        return type;
    }

    /** Returns the place of the event in the file. */
    long at() {
        return at;
    }

    /** Returns the place of the first byte after the event, or after the header of its chunk. */
    long end() {
        return next;
    }

    /** Returns the bytes of the file. */
    long fileSize() {
        return fileSize;
    }

    /**
     * Sets bytes to the values of the event, after its size and its type.
     *
     * @throws IOException when the file cannot be read
     */
    void values(RecordingBytes bytes) throws IOException {
        if (at >= windowAt && next <= windowAt + windowSize) {
            bytes.reset(window, (int) (at - windowAt) + headSize, (int) (next - windowAt));
        } else {
            valuesAt(chunk, at, bytes);
        }
    }

    /**
     * Reads the description of the types of a chunk.
     *
     * @throws DamagedException when there is none, or it is malformed
     * @throws IOException when the file cannot be read
     */
    RecordingTypes types(RecordingChunk of) throws IOException {
        valuesOf(of, of.typesAt(), RecordingChunk.TYPES, description);
        description.readNumber(); // when it was written
        description.readNumber(); // how long that took
        RecordingTypes known = types;
        if (known == null || !Arrays.equals(described, description.rest())) {
            described = description.rest();
            known = new RecordingTypes(description);
            types = known;
        }
        return known;
    }

    /**
     * Sets bytes to the values of an event of a chunk.
     *
     * @param place the place of the event in the chunk
     * @param wanted the type that it must have
     * @throws DamagedException when there is no such event
     * @throws IOException when the file cannot be read
     */
    void valuesOf(RecordingChunk of, long place, long wanted, RecordingBytes bytes) throws IOException {
        if (place < RecordingChunk.HEADER_BYTES || place >= of.size()) {
            throw new DamagedException("the chunk at byte " + of.start() + " refers to its byte " + place);
        }
        if (valuesAt(of, of.start() + place, bytes) != wanted) {
            throw new DamagedException("the chunk at byte " + of.start() + " has "
                    + (wanted == RecordingChunk.TYPES ? "no description of its types" : "no constants")
                    + " at its byte "
                    + place);
        }
    }

    private long valuesAt(RecordingChunk of, long place, RecordingBytes bytes) throws IOException {
        load(place, (int) Math.min(HEAD_BYTES, of.end() - place));
        bytes.reset(window, (int) (place - windowAt), windowSize);
        long size = bytes.readNumber();
        if (size <= 0 || size > of.end() - place || size > Integer.MAX_VALUE / 2) {
            throw new DamagedException("the event at byte " + place + " has the size " + size);
        }
        load(place, (int) size);
        int from = (int) (place - windowAt);
        bytes.reset(window, from, from + (int) size);
        bytes.readNumber();
        return bytes.readNumber();
    }

    /** Makes bytes of the file be in the window. */
    private void load(long from, int count) throws IOException {
        if (from >= windowAt && from + count <= windowAt + windowSize) {
            return;
        }
        if (count > window.length) {
            window = new byte[count];
        }
        windowAt = from;
        ByteBuffer buffer = ByteBuffer.wrap(window);
        RecordingChunk.fill(buffer, file, from);
        windowSize = buffer.position();
        if (windowSize < count) {
            throw new DamagedException("the file ends at byte " + fileSize + ", within an event");
        }
    }
}
