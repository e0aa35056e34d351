package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.PriorityQueue;
import org.brickprofiler.internal.base.MergeSort;
import org.brickprofiler.internal.io.AtomicFile;
import org.eclipse.collections.impl.list.mutable.primitive.IntArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Stores the events of a trace in columns, in bounded memory for any number of events, and returns them in order of
 * time.
 *
 * <p><b>An event</b> here is eight whole numbers: four define its place in the order (row, start, end, offset), and
 * four are chosen by the collector (name, amount, device time, detail). A store interprets none of these numbers.
 * {@link EventCollector} fills a store; a profile ({@link ProfileBuilder}) and a timeline ({@link TimelineCollector})
 * are two folds over its events. The flows of a timeline are joined in separate stores, whose events are the ends of
 * flows.
 *
 * <p><b>The order</b> is by start. If two events have the same start, the longer one comes first, since it may contain
 * the other. If they also have the same end, the one with the smaller offset comes first. A store
 * {@linkplain Order#BY_ROW by row} sorts by row first, and reads back one row or several merged rows at a time, as a
 * track of a timeline needs. A store {@linkplain Order#BY_TIME by time} reads back all events at once, as a profile
 * needs. The order must be chosen before the first event, because events are sorted when they leave memory.
 *
 * <p><b>Memory.</b> Up to {@link #KEPT} events stay in memory, 64 bytes each. When memory is full, the events in it are
 * sorted and written to a temporary file as a run. Reading merges the runs with buffers that share
 * {@link #MERGE_BYTES}, at least one event for each run. The file has no name on systems that allow an open file to be
 * deleted; {@link #close} deletes it elsewhere.
 *
 * <p>One thread fills the store; then one thread at a time reads it, as often as needed. After the first read nothing
 * may be added.
 */
final class EventStore implements Closeable {

    /** The most events in memory. An array of this length is not a humongous object in a heap of 64 MB. */
    static final int KEPT = 1 << 15;

    static final int MERGE_BYTES = 1 << 22;

    private static final int FIRST_CAPACITY = 64;

    private static final int ROW = 0;
    private static final int START = 1;
    private static final int END = 2;
    private static final int OFFSET = 3;
    private static final int NAME = 4;
    private static final int AMOUNT = 5;
    private static final int DEVICE_NS = 6;
    private static final int DETAIL = 7;
    private static final int COLUMNS = 8;

    private static final int EVENT_BYTES = COLUMNS * Long.BYTES;

    /** The events that are written or read by one call. */
    private static final int AT_ONCE = 1_024;

    private final Order order;
    private final int mostKept;
    private final List<SortedRun> runs = new ArrayList<>();

    private long[][] columns;
    private int kept;
    private long size;
    private boolean isSealed;
    private boolean isClosed;
    private @Nullable FileChannel channel;

    /** Between the file and the blocks of numbers, which are copied at once. */
    private ByteBuffer bytes = ByteBuffer.allocate(0);

    /** The first key of the order. */
    enum Order {
        BY_TIME,
        BY_ROW
    }

    /** Creates a store that keeps {@link #KEPT} events in memory. */
    EventStore(Order order) {
        this(order, KEPT);
    }

    /** Creates a store that keeps the given number of events in memory, at least one. */
    EventStore(Order order, int mostKept) {
        this.order = order;
        this.mostKept = mostKept;
        this.columns = new long[COLUMNS][Math.min(mostKept, FIRST_CAPACITY)];
    }

    /** Returns the number of events that were added. */
    long size() {
        return size;
    }

    // ---- filling ----

    /**
     * Adds an event.
     *
     * @param row the number of its row
     * @param startNs when it starts
     * @param endNs when it ends
     * @param offset its place in the trace; no two events have the same row, start, end and offset
     * @param name the number of its name
     * @param amount the bytes or elements that it moved or processed
     * @param deviceNs its time as measured by a device
     * @param detail further data of the collector
     * @throws IOException when the temporary file cannot be written
     */
    void add(int row, long startNs, long endNs, long offset, int name, long amount, long deviceNs, long detail)
            throws IOException {
        if (kept == columns[ROW].length) {
            makeRoom();
        }
        columns[ROW][kept] = row;
        columns[START][kept] = startNs;
        columns[END][kept] = endNs;
        columns[OFFSET][kept] = offset;
        columns[NAME][kept] = name;
        columns[AMOUNT][kept] = amount;
        columns[DEVICE_NS][kept] = deviceNs;
        columns[DETAIL][kept] = detail;
        kept++;
        size++;
    }

    /**
     * Adds an event of another store.
     *
     * @throws IOException when the temporary file cannot be written
     */
    void add(Event event) throws IOException {
        add(
                event.row(),
                event.startNs(),
                event.endNs(),
                event.offset(),
                event.name(),
                event.amount(),
                event.deviceNs(),
                event.detail());
    }

    private void makeRoom() throws IOException {
        if (kept < mostKept) {
            for (int column = 0; column < COLUMNS; column++) {
                columns[column] = Arrays.copyOf(columns[column], Math.min(mostKept, 2 * kept));
            }
        } else {
            spill();
        }
    }

    /** Returns the numbers of the events in memory, sorted. */
    private int[] sorted() {
        int[] numbers = new int[kept];
        Arrays.setAll(numbers, i -> i);
        MergeSort.sort(numbers, this::compareKept);
        return numbers;
    }

    private int compareKept(int a, int b) {
        if (order == Order.BY_ROW && columns[ROW][a] != columns[ROW][b]) {
            return Long.compare(columns[ROW][a], columns[ROW][b]);
        }
        if (columns[START][a] != columns[START][b]) {
            return Long.compare(columns[START][a], columns[START][b]);
        }
        int byEnd = Long.compare(columns[END][b], columns[END][a]);
        return byEnd != 0 ? byEnd : Long.compare(columns[OFFSET][a], columns[OFFSET][b]);
    }

    /** Sorted events, in memory or in the file. */
    private final class SortedRun {
        private final int events;
        /** The numbers of the events in memory; null if the run is in the file. */
        private final int @Nullable [] numbers;

        private final long position;
        /** The rows of the run, and the begin of each; in an order by time the whole run is one row. */
        private final IntArrayList rows = new IntArrayList();

        private final IntArrayList begins = new IntArrayList();

        /** Creates a run of the events in memory, which either stay there or are about to be written. */
        SortedRun(int[] sorted, boolean staysInMemory, long position) {
            this.events = sorted.length;
            this.numbers = staysInMemory ? sorted : null;
            this.position = position;
            for (int i = 0; i < sorted.length; i++) {
                int row = order == Order.BY_ROW ? (int) columns[ROW][sorted[i]] : 0;
                if (rows.isEmpty() || rows.getLast() != row) {
                    rows.add(row);
                    begins.add(i);
                }
            }
        }

        /** Adds the events of a row to the sources of a merge. */
        void addRow(int row, List<Event> sources) {
            int at = rows.binarySearch(row);
            if (at >= 0) {
                int end = at + 1 < begins.size() ? begins.get(at + 1) : events;
                sources.add(new Event(this, begins.get(at), end));
            }
        }
    }

    private void spill() throws IOException {
        try {
            writeRun();
        } catch (IOException failed) {
            throw fault("write", failed);
        }
    }

    /** Returns the exception for a fault of the temporary file, not of the trace. */
    private static IOException fault(String what, IOException failed) {
        return new IOException(
                "cannot " + what + " the temporary file in the folder " + System.getProperty("java.io.tmpdir") + ": "
                        + AtomicFile.reason(failed) + "; set another with -Djava.io.tmpdir=FOLDER",
                failed);
    }

    private void writeRun() throws IOException {
        FileChannel out = channel;
        if (out == null) {
            out = FileChannel.open(
                    Files.createTempFile("brick-trace-", ".events"),
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE);
            channel = out;
            bytes = ByteBuffer.allocate(EVENT_BYTES * AT_ONCE).order(ByteOrder.nativeOrder());
        }
        int[] sorted = sorted();
        runs.add(new SortedRun(sorted, false, out.size()));
        long[] block = new long[COLUMNS * Math.min(kept, AT_ONCE)];
        int filled = 0;
        for (int number : sorted) {
            for (int column = 0; column < COLUMNS; column++) {
                block[filled++] = columns[column][number];
            }
            if (filled == block.length) {
                append(out, block, filled);
                filled = 0;
            }
        }
        append(out, block, filled);
        kept = 0;
    }

    /** Writes the first numbers of a block at the end of the file. */
    private void append(FileChannel out, long[] block, int numbers) throws IOException {
        bytes.clear().asLongBuffer().put(block, 0, numbers);
        bytes.limit(numbers * Long.BYTES);
        long position = out.size();
        while (bytes.hasRemaining()) {
            position += out.write(bytes, position);
        }
    }

    // ---- reading ----

    /**
     * Returns all events of a store by time.
     *
     * @throws IOException when the temporary file cannot be written or read
     */
    Cursor inOrder() throws IOException {
        return rows(new int[1]);
    }

    /**
     * Returns the events of some rows of a store by row, as if they were one.
     *
     * @param rows different rows
     * @throws IllegalStateException after {@link #close}
     * @throws IOException when the temporary file cannot be written or read
     */
    Cursor rows(int... rows) throws IOException {
        if (isClosed) {
            throw new IllegalStateException("the trace is closed");
        }
        if (!isSealed) {
            isSealed = true;
            if (channel == null) {
                runs.add(new SortedRun(sorted(), true, 0));
            } else if (kept > 0) {
                spill();
            }
            if (channel != null) {
                columns = new long[0][0];
            }
        }
        List<Event> sources = new ArrayList<>();
        for (SortedRun run : runs) {
            for (int row : rows) {
                run.addRow(row, sources);
            }
        }
        return new Cursor(sources);
    }

    /** Iterates over events in order. */
    static final class Cursor {
        private final PriorityQueue<Event> others = new PriorityQueue<>(Event::compareTime);
        private @Nullable Event first;

        private Cursor(List<Event> sources) throws IOException {
            int blockEvents = Math.max(1, MERGE_BYTES / EVENT_BYTES / Math.max(1, sources.size()));
            for (Event source : sources) {
                source.begin(blockEvents);
                others.add(source);
            }
        }

        /**
         * Returns the next event.
         *
         * @return the event, valid until the next call; null after the last one
         * @throws IOException when the temporary file cannot be read
         */
        @Nullable
        Event next() throws IOException {
            Event last = first;
            if (last != null && last.next()) {
                Event other = others.peek();
                if (other == null || Event.compareTime(last, other) <= 0) {
                    return last;
                }
                others.add(last);
            }
            first = others.poll();
            return first;
        }
    }

    /** The current event of a row in a run; a row has at least one event. */
    final class Event {
        private final SortedRun run;
        private int next;
        private final int end;

        /** Events from the file, or the one from memory. */
        private long[] block = new long[COLUMNS];

        /** How many numbers of the block are read, and the place of the current event. */
        private int filled;

        private int at;

        Event(SortedRun run, int begin, int end) {
            this.run = run;
            this.next = begin;
            this.end = end;
        }

        /** Reads the first event. */
        void begin(int blockEvents) throws IOException {
            if (run.numbers == null) {
                block = new long[COLUMNS * Math.min(blockEvents, end - next)];
            }
            next();
        }

        /** Reads the next event; false if there is none. */
        boolean next() throws IOException {
            if (next == end) {
                return false;
            }
            at += COLUMNS;
            if (at >= filled) {
                fill();
            }
            next++;
            return true;
        }

        private void fill() throws IOException {
            at = 0;
            if (run.numbers != null) {
                int number = run.numbers[next];
                for (int column = 0; column < COLUMNS; column++) {
                    block[column] = columns[column][number];
                }
                return;
            }
            try {
                readBlock(Math.min(block.length, COLUMNS * (end - next)));
            } catch (IOException failed) {
                throw fault("read", failed);
            }
        }

        private void readBlock(int numbers) throws IOException {
            long position = run.position + (long) EVENT_BYTES * next;
            for (filled = 0; filled < numbers; filled += bytes.limit() / Long.BYTES) {
                bytes.clear().limit(Math.min(bytes.capacity(), (numbers - filled) * Long.BYTES));
                position = read(position);
                bytes.flip().asLongBuffer().get(block, filled, bytes.limit() / Long.BYTES);
            }
        }

        /** Reads as many bytes as the limit says, and returns the position after them. */
        private long read(long position) throws IOException {
            FileChannel in = channel;
            long after = position;
            while (bytes.hasRemaining()) {
                int read = in == null ? -1 : in.read(bytes, after);
                if (read < 0) {
                    throw new EOFException("it was cut off");
                }
                after += read;
            }
            return after;
        }

        /** Returns the order of events in rows that are merged. */
        static int compareTime(Event one, Event two) {
            int byStart = Long.compare(one.at(START), two.at(START));
            int byEnd = byStart != 0 ? byStart : Long.compare(two.at(END), one.at(END));
            return byEnd != 0 ? byEnd : Long.compare(one.at(OFFSET), two.at(OFFSET));
        }

        private long at(int column) {
            return block[at + column];
        }

        int row() {
            return (int) at(ROW);
        }

        long startNs() {
            return at(START);
        }

        long endNs() {
            return at(END);
        }

        long offset() {
            return at(OFFSET);
        }

        int name() {
            return (int) at(NAME);
        }

        long amount() {
            return at(AMOUNT);
        }

        long deviceNs() {
            return at(DEVICE_NS);
        }

        long detail() {
            return at(DETAIL);
        }
    }

    /** Forgets the events and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        isClosed = true;
        runs.clear();
        columns = new long[0][0];
        FileChannel opened = channel;
        if (opened != null) {
            opened.close();
        }
    }
}
