package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import jdk.jfr.consumer.RecordedEvent;
import org.jspecify.annotations.Nullable;

/**
 * The events of a flight recording in their order, which a thread of its own reads ahead by a few batches, so that they
 * are parsed and counted in parallel. The thread ends with the events; {@link #close} ends it earlier and waits for it.
 * One thread takes.
 */
final class RecordedItems implements Closeable {

    private static final int BATCHES = 4;
    private static final int SIZE = 1 << 10;

    private final BlockingQueue<Batch> filled = new ArrayBlockingQueue<>(BATCHES);
    private final BlockingQueue<Batch> free = new ArrayBlockingQueue<>(BATCHES);
    private final Source source;
    private final Thread reader = new Thread(this::readAll, "brick-trace-reading");

    /** The batch that is filled. */
    private Batch batch = new Batch();

    /** Reads events. */
    interface Source {
        /**
         * Adds all events by the methods of this class.
         *
         * @throws IOException when they cannot be read
         */
        void read(RecordedItems items) throws IOException;
    }

    /** Receives events in their order. */
    interface Taker {
        /**
         * Receives a sample of this library.
         *
         * @param sample valid until the method returns
         * @throws IOException when it cannot be used
         */
        void execution(RecordedExecutions.Sample sample) throws IOException;

        /**
         * Receives an event that the JDK read.
         *
         * @throws IOException when it cannot be used
         */
        void event(RecordedEvent recorded) throws IOException;

        /**
         * Receives an event that is left out.
         *
         * @throws IOException when it cannot be counted
         */
        void leftOut() throws IOException;
    }

    /** Some events; the queues order the accesses of the two threads. */
    private static final class Batch {
        private final RecordedExecutions.Sample[] samples = new RecordedExecutions.Sample[SIZE];

        /** The events that the JDK read; null for the others. */
        private final @Nullable RecordedEvent[] recorded = new RecordedEvent[SIZE];

        private final boolean[] isLeftOut = new boolean[SIZE];
        private int size;
        private boolean isLast;
        private @Nullable Throwable failure;

        Batch() {
            for (int i = 0; i < SIZE; i++) {
                samples[i] = new RecordedExecutions.Sample();
            }
        }
    }

    /**
     * Starts to read.
     *
     * @param source reads the events on the thread
     */
    RecordedItems(Source source) {
        this.source = source;
        for (int i = 1; i < BATCHES; i++) {
            free.add(new Batch());
        }
        reader.setDaemon(true);
        reader.start();
    }

    private void readAll() {
        Throwable failure = null;
        try {
            source.read(this);
        } catch (IOException | RuntimeException | Error failed) {
            failure = failed;
        }
        batch.failure = failure;
        batch.isLast = true;
        try {
            filled.put(batch);
        } catch (InterruptedException closed) {
            // Nobody takes any more.
        }
    }

    // ---- on the thread that reads ----

    /**
     * Returns a sample to be filled.
     *
     * @throws InterruptedIOException when nobody takes any more
     */
    RecordedExecutions.Sample addExecution() throws InterruptedIOException {
        int place = add(null, false); // of another batch, if this one is full
        return batch.samples[place];
    }

    /**
     * Adds an event that the JDK read.
     *
     * @throws InterruptedIOException when nobody takes any more
     */
    void addEvent(RecordedEvent recorded) throws InterruptedIOException {
        add(recorded, false);
    }

    /**
     * Adds an event that is left out.
     *
     * @throws InterruptedIOException when nobody takes any more
     */
    void addLeftOut() throws InterruptedIOException {
        add(null, true);
    }

    private int add(@Nullable RecordedEvent recorded, boolean isLeftOut) throws InterruptedIOException {
        if (batch.size == SIZE) {
            try {
                filled.put(batch);
                batch = free.take();
            } catch (InterruptedException closed) {
                throw new InterruptedIOException("the reading was ended");
            }
            batch.size = 0;
        }
        batch.recorded[batch.size] = recorded;
        batch.isLeftOut[batch.size] = isLeftOut;
        return batch.size++;
    }

    // ---- on the thread that takes ----

    /**
     * Takes all events, and then throws what the source threw.
     *
     * @throws IOException when the source or the taker fails, or the thread is interrupted
     */
    void take(Taker taker) throws IOException {
        try {
            Batch next = filled.take();
            while (!next.isLast) {
                take(next, taker);
                free.put(next);
                next = filled.take();
            }
            take(next, taker);
            ReadingThread.rethrow(next.failure);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the reading was interrupted");
        }
    }

    private static void take(Batch batch, Taker taker) throws IOException {
        for (int i = 0; i < batch.size; i++) {
            RecordedEvent recorded = batch.recorded[i];
            if (recorded != null) {
                taker.event(recorded);
            } else if (batch.isLeftOut[i]) {
                taker.leftOut();
            } else {
                taker.execution(batch.samples[i]);
            }
        }
    }

    /** Ends the thread, and waits for it. */
    @Override
    public void close() {
        ReadingThread.end(reader);
    }
}
