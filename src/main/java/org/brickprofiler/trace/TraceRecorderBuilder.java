package org.brickprofiler.trace;

import java.util.Objects;
import java.util.OptionalInt;
import org.brickprofiler.spi.NanoClock;

/** Options of a {@link TraceRecorder}. Not thread-safe; may be used for several recorders. */
public final class TraceRecorderBuilder {

    NanoClock clock = NanoClock.SYSTEM;
    int threadCapacity = 1 << 18;
    long totalCapacity = 1 << 22;
    boolean keepNewest = true;
    boolean tiles;
    Origin process = new Origin("java", OptionalInt.empty(), 1);

    /**
     * What an application says of its process.
     *
     * @param name its name
     * @param rank which process of a distributed run it is
     * @param worldSize how many processes there are
     */
    record Origin(String name, OptionalInt rank, int worldSize) {}

    TraceRecorderBuilder() {}

    /**
     * The clock of what an application adds itself; {@link NanoClock#SYSTEM} unless set. It must be the clock of the
     * profilers.
     *
     * @param clock a clock
     * @return this
     */
    public TraceRecorderBuilder clock(NanoClock clock) {
        Objects.requireNonNull(clock, "clock");
        this.clock = clock;
        return this;
    }

    /**
     * The most events of a thread that are kept, of bricks, of tiles, and of what an application adds, each; 262,144
     * unless set, which take 6 MiB.
     *
     * @param events the number
     * @return this
     * @throws IllegalArgumentException when it is not within 1 to 2^26
     */
    public TraceRecorderBuilder threadCapacity(int events) {
        if (events < 1 || events > 1 << 26) {
            throw new IllegalArgumentException("the events kept of a thread are 1 to " + (1 << 26) + ", not " + events);
        }
        this.threadCapacity = events;
        return this;
    }

    /**
     * The most events that are kept in all; 4,194,304 unless set, which take 96 MiB.
     *
     * @param events the number
     * @return this
     * @throws IllegalArgumentException when it is below 1
     */
    public TraceRecorderBuilder totalCapacity(long events) {
        if (events < 1) {
            throw new IllegalArgumentException("the events kept in all are 1 or more, not " + events);
        }
        this.totalCapacity = events;
        return this;
    }

    /**
     * Whether a thread whose buffer is full gives up its oldest event for each new one; true unless set. Otherwise it
     * keeps its first events and refuses new ones.
     *
     * @param newest true to keep the newest events, false to keep the first
     * @return this
     */
    public TraceRecorderBuilder keepNewest(boolean newest) {
        this.keepNewest = newest;
        return this;
    }

    /**
     * Whether tiles are events too; off unless set. There are many of them.
     *
     * @param on true to record tiles
     * @return this
     */
    public TraceRecorderBuilder tiles(boolean on) {
        this.tiles = on;
        return this;
    }

    /**
     * The name of the process; {@code java} unless set.
     *
     * @param name as people read it
     * @return this
     */
    public TraceRecorderBuilder processName(String name) {
        Objects.requireNonNull(name, "name");
        this.process = new Origin(name, process.rank(), process.worldSize());
        return this;
    }

    /**
     * Which process of a distributed run this is; none unless set.
     *
     * @param number its rank, from 0
     * @param processes how many there are
     * @return this
     * @throws IllegalArgumentException when there is no such rank
     */
    public TraceRecorderBuilder rank(int number, int processes) {
        if (number < 0 || number >= processes) {
            throw new IllegalArgumentException("rank " + number + " of " + processes + " processes");
        }
        this.process = new Origin(process.name(), OptionalInt.of(number), processes);
        return this;
    }

    /**
     * Makes the recorder.
     *
     * @return a new recorder
     */
    public TraceRecorder build() {
        return new TraceRecorder(this);
    }
}
