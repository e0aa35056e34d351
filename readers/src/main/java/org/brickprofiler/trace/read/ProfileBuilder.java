package org.brickprofiler.trace.read;

import java.io.IOException;
import java.util.Set;
import org.brickprofiler.trace.read.Omission.Reason;
import org.jspecify.annotations.Nullable;

/**
 * Builds the profile of a trace. The builder finds out which {@link TraceKind} the trace is, passes the events to it
 * while the trace is read, and returns its profile after the last event. One thread.
 */
final class ProfileBuilder extends EventCollector {

    final ReadOptions options;
    final RowNames names;
    final MarkedSteps steps;

    private final Set<String> argKeys;

    /** The number of end events, which another format of the same trace does not have. */
    private long ends;

    /** Receives the events that count; null if no timeline needs them. */
    @Nullable
    CountedSpans counted;

    /** The kind of the trace; null until the first event. */
    private @Nullable TraceKind known;

    /**
     * Creates an empty builder.
     *
     * @param source the name of the trace in messages
     * @param options the options for reading
     */
    ProfileBuilder(String source, ReadOptions options) {
        super(new TraceHead(source), options.limits());
        this.options = options;
        this.names = new RowNames(rows, source);
        this.steps = new MarkedSteps(source);
        this.argKeys = options.rules().argKeys();
    }

    /** Returns the kind of the trace. A trace names its producer before its first event. */
    TraceKind kind() {
        TraceKind kind = known;
        if (kind == null) {
            kind = head.isOwn() ? new OwnTrace(this) : new ForeignTrace(this);
            known = kind;
        }
        return kind;
    }

    /** Returns whether some rule tests arguments. */
    boolean areArgumentsTested() {
        return !argKeys.isEmpty();
    }

    /** Returns the number of executions that were read: all events without the ends of slices. */
    long executionsRead() {
        return eventsRead() - ends;
    }

    // ---- collecting ----

    /** Returns whether some rule tests the argument. */
    @Override
    boolean needs(String argument) {
        return argKeys.contains(argument);
    }

    @Override
    boolean needsKeys() {
        return false;
    }

    @Override
    void keepArgument(TraceEvent event, String key, String value, @Nullable String listed) {
        if (argKeys.contains(key)) {
            event.ruleArgs.put(key, value);
        }
    }

    @Override
    @Nullable
    Reason ignores(TraceEvent event) throws IOException {
        return kind().ignores(event);
    }

    @Override
    @Nullable
    Site site(TraceEvent event) throws TraceFormatException {
        return kind().site(event);
    }

    @Override
    @Nullable
    Slice beginSlice(TraceEvent event) throws IOException {
        return kind().beginSlice(event);
    }

    @Override
    void addEnd(TraceEvent event) {
        omissions.add(Reason.END);
        ends++;
    }

    @Override
    void addOther(TraceEvent event) throws TraceFormatException {
        omissions.add(
                switch (event.phase) {
                    case 'M' -> Reason.METADATA;
                    case 'C' -> Reason.COUNTER;
                    case 's', 't', 'f' -> Reason.FLOW;
                    default -> Reason.INSTANT;
                });
        kind().addOther(event);
    }

    @Override
    void addEmpty() {
        omissions.add(Reason.EMPTY);
    }

    @Override
    void addTrack(TrackDescription track) throws TraceFormatException {
        names.track(track);
    }

    @Override
    void addWithoutTimes(String writer) {
        known = new TraceOfSums(this);
    }

    @Override
    void addSkipped(long fields) {
        // A profile contains only events; skipped fields outside events do not matter.
    }

    /**
     * Returns the profile; call it once, after the last event.
     *
     * @throws TraceFormatException when a limit is reached, or a sum is too large
     * @throws IOException when the temporary file cannot be written or read
     */
    TraceProfile profile() throws IOException {
        JoinedLines lines = head.lines;
        if (lines != null) {
            lines.start();
        }
        return kind().profile();
    }

    /** Discards the slices and deletes the temporary file. */
    @Override
    public void close() throws IOException {
        if (known != null) {
            known.close();
        }
    }
}
