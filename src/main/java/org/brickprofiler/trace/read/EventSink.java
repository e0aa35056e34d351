package org.brickprofiler.trace.read;

import java.io.IOException;

/** Takes the events of a trace in the order of the file, and what it says besides. One thread. */
interface EventSink {

    /** Where to put what the trace says of itself. */
    TraceHead head();

    /** Whether an argument of that name is to be kept in {@link RawEvent#args}. */
    boolean keeps(String argument);

    /** How many events came so far. */
    long eventsRead();

    /**
     * Takes an event.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when a temporary file cannot be written
     */
    void accept(RawEvent event) throws IOException;

    /**
     * Takes what a Perfetto trace says of a track.
     *
     * @throws TraceFormatException when a limit is reached
     */
    void describe(PerfettoTrack track) throws TraceFormatException;

    /** A Perfetto trace holds so many fields outside its events that are not read. */
    void passOver(long fields);

    /** Takes an element that is null. */
    void ignoreElement();

    /** An event that cannot be understood without something that the trace lacks. */
    void lostState(long offset);

    /** The array of events ends without its bracket. */
    void openArray(long offset);

    /** Whether it did. */
    boolean isOpenArray();

    /**
     * The text is over.
     *
     * @throws TraceFormatException when it was no trace
     */
    void end(long offset) throws TraceFormatException;
}
