package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Puts any number of events in order of time, within bounded memory: up to {@link #RUN_EVENTS} are kept, more go in
 * sorted runs to a temporary file, {@link #EVENT_BYTES} bytes each, and are merged when they are read. The buffers of
 * the merge share {@link #MERGE_BYTES}, one event for each run at least. One thread.
 */
final class EventSorter implements Closeable {

    static final int RUN_EVENTS = 1 << 16;
    static final int EVENT_BYTES = 4 * Long.BYTES + 2 * Integer.BYTES;

    private static final int MERGE_BYTES = 1 << 22;

    private final int runEvents;
    private final List<DeviceEvent> kept = new ArrayList<>();
    private final List<Run> runs = new ArrayList<>();

    private @Nullable FileChannel channel;
    private long size;

    private record Run(long position, int events) {}

    /** Reads events in order. */
    interface Cursor {
        /**
         * The next event.
         *
         * @return null after the last one
         * @throws IOException when the temporary file cannot be read
         */
        @Nullable DeviceEvent next() throws IOException;
    }

    EventSorter() {
        this(RUN_EVENTS);
    }

    /** A sorter that keeps so many events in memory. */
    EventSorter(int runEvents) {
        this.runEvents = runEvents;
    }

    /** How many events were added. */
    long size() {
        return size;
    }

    /**
     * Adds an event.
     *
     * @throws IOException when the temporary file cannot be written
     */
    void add(DeviceEvent event) throws IOException {
        if (kept.size() == runEvents) {
            spill();
        }
        kept.add(event);
        size++;
    }

    private void spill() throws IOException {
        kept.sort(DeviceEvent.BY_TIME);
        FileChannel out = open();
        ByteBuffer buffer = ByteBuffer.allocate(EVENT_BYTES * Math.min(kept.size(), 1_024));
        runs.add(new Run(out.size(), kept.size()));
        for (DeviceEvent event : kept) {
            put(buffer, event);
            if (!buffer.hasRemaining()) {
                append(out, buffer);
            }
        }
        append(out, buffer);
        kept.clear();
    }

    private FileChannel open() throws IOException {
        FileChannel opened = channel;
        if (opened == null) {
            opened = FileChannel.open(
                    Files.createTempFile("brick-trace-", ".events"),
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE);
            channel = opened;
        }
        return opened;
    }

    private static void append(FileChannel out, ByteBuffer buffer) throws IOException {
        buffer.flip();
        long position = out.size();
        while (buffer.hasRemaining()) {
            position += out.write(buffer, position);
        }
        buffer.clear();
    }

    private static void put(ByteBuffer buffer, DeviceEvent event) {
        buffer.putLong(event.startNs())
                .putLong(event.endNs())
                .putLong(event.offset())
                .putLong(event.amount())
                .putInt(event.row())
                .putInt(event.kernel());
    }

    private static DeviceEvent get(ByteBuffer buffer) {
        return new DeviceEvent(
                buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getInt(),
                buffer.getInt());
    }

    /**
     * All events from the first one on; can be called again, before or after more are added.
     *
     * @throws IOException when the temporary file cannot be written or read
     */
    Cursor inOrder() throws IOException {
        FileChannel in = channel;
        if (in == null) {
            kept.sort(DeviceEvent.BY_TIME);
            return new KeptCursor(kept);
        }
        if (!kept.isEmpty()) {
            spill();
        }
        return new MergingCursor(in, runs);
    }

    /** Forgets the events and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        kept.clear();
        FileChannel opened = channel;
        if (opened != null) {
            opened.close();
        }
    }

    private static final class KeptCursor implements Cursor {
        private final List<DeviceEvent> events;
        private int next;

        KeptCursor(List<DeviceEvent> events) {
            this.events = events;
        }

        @Override
        public @Nullable DeviceEvent next() {
            return next < events.size() ? events.get(next++) : null;
        }
    }

    private static final class MergingCursor implements Cursor {
        private final PriorityQueue<RunCursor> runs =
                new PriorityQueue<>((one, two) -> DeviceEvent.BY_TIME.compare(one.head(), two.head()));

        MergingCursor(FileChannel in, List<Run> all) throws IOException {
            int bufferEvents = Math.max(1, MERGE_BYTES / EVENT_BYTES / all.size());
            for (Run run : all) {
                runs.add(new RunCursor(in, run, Math.min(bufferEvents, run.events())));
            }
        }

        @Override
        public @Nullable DeviceEvent next() throws IOException {
            RunCursor first = runs.poll();
            if (first == null) {
                return null;
            }
            DeviceEvent event = first.head();
            if (first.advance()) {
                runs.add(first);
            }
            return event;
        }
    }

    /** Reads a run; never empty. */
    private static final class RunCursor {
        private final FileChannel in;
        private final ByteBuffer buffer;
        private long position;
        private long left;
        private DeviceEvent head;

        RunCursor(FileChannel in, Run run, int bufferEvents) throws IOException {
            this.in = in;
            this.position = run.position();
            this.left = run.events();
            this.buffer = ByteBuffer.allocate(bufferEvents * EVENT_BYTES).limit(0);
            this.head = read();
        }

        DeviceEvent head() {
            return head;
        }

        boolean advance() throws IOException {
            if (left == 0) {
                return false;
            }
            head = read();
            return true;
        }

        private DeviceEvent read() throws IOException {
            if (!buffer.hasRemaining()) {
                fill();
            }
            left--;
            return get(buffer);
        }

        private void fill() throws IOException {
            buffer.clear().limit((int) Math.min(buffer.capacity(), left * EVENT_BYTES));
            while (buffer.hasRemaining()) {
                int read = in.read(buffer, position);
                if (read < 0) {
                    throw new EOFException("the temporary file was cut off");
                }
                position += read;
            }
            buffer.flip();
        }
    }
}
