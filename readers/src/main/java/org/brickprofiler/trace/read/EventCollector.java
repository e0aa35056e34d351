package org.brickprofiler.trace.read;

import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.trace.Span;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceRows.Row;
import org.eclipse.collections.impl.map.mutable.primitive.IntObjectHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of a trace of any format in the order of the file, joins begins and ends to slices, and drops and
 * counts faulty events. Its subclasses {@link ProfileBuilder} and {@link TimelineCollector} store the remaining events
 * in an {@link EventStore}. A parser needs only this interface: it fills a {@link TraceEvent} and calls {@link #accept}
 * for each event, writes the facts about the trace into {@link #head}, and calls {@link #end}. One thread.
 */
abstract class EventCollector implements Closeable {

    private static final int ROWS_AT_THEIR_LIMIT = 64;

    final TraceHead head;
    final TraceRows rows;
    final Omission.Tally omissions = new Omission.Tally();

    /**
     * The second view, which receives the same events from the same parser and has its own tallies and rows; null if
     * there is only one view.
     */
    private @Nullable EventCollector second;

    private final OnnxRuntime onnxRuntime = new OnnxRuntime();

    final String source;

    private final int mostOpenOfARow;
    private final int mostOpen;
    private final IntObjectHashMap<List<Slice>> open = new IntObjectHashMap<>();

    /** For each row, the phase of the last sample around which no slice was open. */
    private final IntObjectHashMap<Span.StatedPhase> lastPhases = new IntObjectHashMap<>();

    private @Nullable Row lastRow;
    private int openSlices;
    private long eventsRead;
    private long slicesRead;
    private boolean phaseSeen;
    private boolean isOpenArray;
    private boolean isDamaged;

    /** A slice that matters from its begin to its end, whether or not it counts. */
    interface Site {
        /**
         * Receives the end of the slice.
         *
         * @param endNs when it ended, not before its begin
         * @param correlation the correlation that the end states; {@link TraceEvent#NONE} if it states none
         * @throws IOException when the temporary file cannot be written
         */
        void ends(long endNs, long correlation) throws IOException;
    }

    /** The state of a slice from its begin to its end. */
    abstract static class Slice {
        final long startNs;
        final long offset;

        /** The executions that it stands for. */
        final TraceEvent.Sum sum;

        /** A hash that distinguishes its name from that of its end; 0 if it has none. */
        private long nameHash;

        /** The site of the slice; null if it is none. */
        private @Nullable Site site;

        /** The phase that the slices within it have unless they state another one. */
        private Span.StatedPhase phase = Span.StatedPhase.NONE;

        Slice(TraceEvent event) {
            this.startNs = event.startNs;
            this.offset = event.offset;
            this.sum = event.sum;
        }

        /** Receives the separate end event of the slice, whose arguments belong to the slice, too. */
        abstract void endedBy(TraceEvent end);

        /**
         * Keeps the slice, which is complete.
         *
         * @throws IOException when the temporary file cannot be written
         */
        abstract void keep(long endNs) throws IOException;
    }

    /** A slice that is not kept, until its end. */
    private static final class Unkept extends Slice {

        /** The reason for which the slice is ignored; null if its begin was dropped. */
        private final @Nullable Reason ignoredAs;

        Unkept(TraceEvent event, @Nullable Reason ignoredAs) {
            super(event);
            this.ignoredAs = ignoredAs;
        }

        boolean isDropped() {
            return ignoredAs == null;
        }

        @Override
        void endedBy(TraceEvent end) {
            // Its arguments do not matter.
        }

        @Override
        void keep(long endNs) {
            // It is not kept.
        }
    }

    /**
     * Creates an empty collector.
     *
     * @param head the facts that the trace states about itself; two views of one reading share it
     * @param limits bounds the memory
     */
    EventCollector(TraceHead head, ReadOptions.Limits limits) {
        this.source = head.source;
        this.head = head;
        this.rows = new TraceRows(source, limits.rows());
        this.mostOpenOfARow = limits.openSlices();
        this.mostOpen = (int) Math.min(Integer.MAX_VALUE, (long) mostOpenOfARow * ROWS_AT_THEIR_LIMIT);
    }

    /** Adds a second view of the same reading, which receives each event after this view. */
    void andThen(EventCollector view) {
        second = view;
    }

    long eventsRead() {
        return eventsRead;
    }

    /** Returns the number of complete events, whether or not they count. */
    long slicesRead() {
        return slicesRead;
    }

    /** Returns all omissions, including those of the trace's head; call it once, after the last event. */
    List<Omission> listOmissions() {
        if (head.spansLost() > 0) {
            omissions.fault(Reason.LOST_SPANS, head.spansLost(), head.firstLostOffset());
        }
        if (head.cutOffs() > 0) {
            omissions.fault(Reason.CUT_OFF, head.cutOffs(), head.firstCutOffset());
        }
        return omissions.list();
    }

    /** Counts a fault that the parser found. */
    void fault(Reason reason, long count, long offset) {
        omissions.fault(reason, count, offset);
        if (second != null) {
            second.fault(reason, count, offset);
        }
    }

    /** Counts an event that the parser read and leaves out. */
    void omit(Reason reason) {
        eventsRead++;
        phaseSeen = true;
        omissions.add(reason);
        if (second != null) {
            second.omit(reason);
        }
    }

    /** Counts an element that the parser read and leaves out. */
    void acceptOmitted(Reason reason, String name) {
        eventsRead++;
        phaseSeen = true;
        omissions.addNamed(reason, name);
        if (second != null) {
            second.acceptOmitted(reason, name);
        }
    }

    /**
     * Ends a damaged trace at the damage.
     *
     * @throws TraceFormatException when none of its elements has a phase
     */
    void endAt(TraceFormatException damage) throws TraceFormatException {
        isDamaged = true;
        head.isIncomplete = true;
        omissions.damage(damage.fault(), damage.offset());
        if (second != null) {
            second.omissions.damage(damage.fault(), damage.offset());
        }
        end(damage.offset());
    }

    TraceFormatException error(long offset, String fault) {
        return new TraceFormatException(source, offset, fault);
    }

    /**
     * Returns the row of an event.
     *
     * @throws TraceFormatException when there are too many rows
     */
    Row row(TraceEvent event) throws TraceFormatException {
        Row last = lastRow;
        if (last == null || !last.thread.equals(event.thread) || !last.process.equals(event.process)) {
            last = rows.line(event.process, event.thread, event.offset);
            lastRow = last;
        }
        return last;
    }

    // ---- the view of the events ----

    /** Returns whether this view needs the value of an argument. */
    abstract boolean needs(String argument);

    /** Returns whether this view needs the keys of the other arguments. */
    abstract boolean needsKeys();

    /**
     * Keeps an argument in an event if this view uses it.
     *
     * @param value the value, for a view that {@linkplain #needs needs} it
     * @param listed the text to keep for a view that needs only the key; null if the key is not worth listing
     */
    abstract void keepArgument(TraceEvent event, String key, String value, @Nullable String listed);

    /**
     * Returns the reason for which a slice is ignored regardless of its times; null if it may matter.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    abstract @Nullable Reason ignores(TraceEvent event) throws IOException;

    /**
     * Returns the site that a slice is, whether or not the slice counts; null if its end does not matter. Called before
     * {@link #beginSlice}, for a slice that starts at a valid time.
     *
     * @throws TraceFormatException when a limit is reached
     */
    abstract @Nullable Site site(TraceEvent event) throws TraceFormatException;

    /**
     * Receives the begin of a slice, at a valid time.
     *
     * @return the state to keep until the slice ends; null if the view drops the slice
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    abstract @Nullable Slice beginSlice(TraceEvent event) throws IOException;

    /** Receives the separate end event of any slice. */
    abstract void addEnd(TraceEvent event);

    /**
     * Receives an instant, a counter, a flow or metadata. Its time may be missing.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    abstract void addOther(TraceEvent event) throws IOException;

    /** Receives a placeholder: null or an empty object. */
    abstract void addEmpty();

    /**
     * Receives the description of a track, which is separate from the track's events.
     *
     * @throws TraceFormatException when a limit is reached
     */
    abstract void addTrack(TrackDescription track) throws TraceFormatException;

    /**
     * Prepares for a trace that has durations or sums but no times.
     *
     * @param writer the program that wrote it, in messages
     * @throws TraceFormatException if the view needs times
     */
    abstract void addWithoutTimes(String writer) throws TraceFormatException;

    /** Counts fields outside the events that are not read. */
    abstract void addSkipped(long fields);

    // ---- from the parser ----

    /** Returns whether the parser shall {@linkplain #keep keep} the value of an argument. */
    boolean wants(String argument) {
        return needs(argument) || (second != null && second.needs(argument));
    }

    /** Returns whether the parser shall keep the keys of the other arguments, too. */
    boolean wantsKeys() {
        return needsKeys() || (second != null && second.needsKeys());
    }

    /**
     * Keeps an argument in an event. The result of each view does not depend on whether the other view exists.
     *
     * @param value the value; any text if no view {@linkplain #wants wants} it
     * @param listed the text to keep for a view that needs only the key; null if the key is not worth listing
     */
    void keep(TraceEvent event, String key, String value, @Nullable String listed) {
        keepArgument(event, key, value, listed);
        if (second != null) {
            second.keepArgument(event, key, value, listed);
        }
    }

    /**
     * Passes the description of a track to the views.
     *
     * @throws TraceFormatException when a limit is reached
     */
    void describe(TrackDescription track) throws TraceFormatException {
        track.labels().forEach(head::label);
        addTrack(track);
        if (second != null) {
            second.addTrack(track);
        }
    }

    /**
     * Prepares for a trace that has durations or sums and no times. A second view that needs times gets no events.
     *
     * @param writer the program that wrote it, in messages
     * @throws TraceFormatException when the first view needs times
     */
    void withoutTimes(String writer) throws TraceFormatException {
        addWithoutTimes(writer);
        second = null;
    }

    /** Counts arguments of a key that the parser does not read, in the views that look at the keys. */
    void skipArguments(String key, long count) {
        if (needsKeys()) {
            omissions.addNamed(Reason.ARGUMENT, key, count);
        }
        if (second != null) {
            second.skipArguments(key, count);
        }
    }

    /** Counts fields outside the events that the parser does not read. */
    void skipFields(long fields) {
        addSkipped(fields);
        if (second != null) {
            second.addSkipped(fields);
        }
    }

    /**
     * Passes an event to the views.
     *
     * @throws TraceFormatException when a limit is reached
     * @throws IOException when the temporary file cannot be written
     */
    void accept(TraceEvent event) throws IOException {
        event.startNs = Bounds.time(event.startNs);
        event.elapsedNs = Bounds.duration(event.elapsedNs);
        if (!head.isOwn()) {
            onnxRuntime.complete(event);
        }
        add(event);
        if (second != null) {
            second.add(event);
        }
    }

    private void add(TraceEvent event) throws IOException {
        eventsRead += event.sum.executions();
        if (event.repeatedKey) {
            omissions.fault(Reason.REPEATED_KEY, event.offset);
        }
        phaseSeen |= event.phase != TraceEvent.NO_PHASE;
        switch (event.phase) {
            case 'X' -> complete(event);
            case 'B' -> begin(event);
            case 'E' -> end(event);
            case 'i', 'I', 'R', 'C', 's', 't', 'f', 'M' -> addOther(event);
            case 'b', 'n', 'e', 'S', 'T', 'p', 'F' -> omissions.add(Reason.ASYNC);
            case TraceEvent.NO_PHASE -> withoutPhase(event);
            default -> omissions.add(Reason.OTHER_PHASE);
        }
    }

    private void withoutPhase(TraceEvent event) {
        if (event.keys == 0) {
            addEmpty();
        } else {
            omissions.fault(Reason.NO_PHASE, event.offset);
        }
    }

    /** Counts an element that is null. */
    void acceptNothing() {
        eventsRead++;
        addEmpty();
        if (second != null) {
            second.acceptNothing();
        }
    }

    /** Counts an event that depends on a missing packet or row. */
    void acceptWithLostState(long offset) {
        eventsRead++;
        phaseSeen = true;
        omissions.fault(Reason.LOST_STATE, offset);
        if (second != null) {
            second.acceptWithLostState(offset);
        }
    }

    /** Records that the array of events does not end. */
    void openArray(long offset) {
        isOpenArray = true;
        head.isIncomplete = true;
        fault(Reason.OPEN_ARRAY, 1, offset);
    }

    /** Returns whether the trace was read up to damage. */
    boolean isDamaged() {
        return isDamaged;
    }

    boolean isOpenArray() {
        return isOpenArray;
    }

    /**
     * Ends the trace.
     *
     * @throws TraceFormatException when none of its elements has a phase
     */
    void end(long offset) throws TraceFormatException {
        if (eventsRead > 0 && !phaseSeen) {
            throw error(
                    offset,
                    "none of " + Plural.of(eventsRead, "element") + " has a phase (ph): the text"
                            + " is JSON, but no trace");
        }
        open.forEachValue(stack -> stack.forEach(this::withoutEnd));
        open.clear();
        if (second != null) {
            second.end(offset);
        }
    }

    // ---- slices ----

    private void complete(TraceEvent event) throws IOException {
        slicesRead++;
        event.spanPhase = phaseOf(event, Span.StatedPhase.NONE);
        Reason ignoredAs = ignores(event);
        if (ignoredAs != null) {
            omissions.add(ignoredAs);
            if (Microseconds.isTime(event.startNs) && Microseconds.isTime(event.elapsedNs)) {
                addSiteOf(event, event.startNs + event.elapsedNs);
            }
        } else if (isTime(event.startNs, event.offset) && isTime(event.elapsedNs, event.offset) && hasCounts(event)) {
            long endNs = event.startNs + event.elapsedNs;
            if (isInOrder(event.startNs, endNs, event.offset)) {
                addSiteOf(event, endNs);
                Slice slice = beginSlice(event);
                if (slice != null) {
                    slice.keep(endNs);
                }
            }
        }
    }

    private void addSiteOf(TraceEvent event, long endNs) throws IOException {
        Site site = endNs >= event.startNs ? site(event) : null;
        if (site != null) {
            site.ends(endNs, event.correlation);
        }
    }

    private void begin(TraceEvent event) throws IOException {
        boolean isValid = isTime(event.startNs, event.offset) && hasCounts(event);
        int row = row(event).number;
        event.spanPhase = phaseOf(event, assumedPhase(event, row));
        Reason ignoredAs = isValid ? ignores(event) : null;
        Site site = isValid ? site(event) : null;
        Slice slice = isValid && ignoredAs == null ? beginSlice(event) : null;
        if (slice == null) {
            slice = new Unkept(event, ignoredAs);
        }
        slice.site = site;
        slice.phase = event.spanPhase;
        slice.nameHash = event.name.isEmpty() ? 0 : TraceNames.hash(event.name);
        List<Slice> stack = open.getIfAbsentPut(row, ArrayList::new);
        // The limit of a row does not hold for this library's traces: events that end together may nest as deep as
        // their number.
        if ((stack.size() >= mostOpenOfARow && !head.isOwn()) || openSlices == mostOpen) {
            throw error(event.offset, "too many slices are open at once; " + mostOpenOfARow + " is the limit of a row");
        }
        stack.add(slice);
        openSlices++;
    }

    /**
     * Returns the phase of a slice that states none, in a trace that omits implied values: the phase of the slice
     * around it. If no slice is open around a sample, the phase is that of the last such sample of the row.
     */
    private Span.StatedPhase assumedPhase(TraceEvent event, int row) {
        Slice around = innermost(row);
        if (around != null || !event.isSample()) {
            return around == null ? Span.StatedPhase.NONE : around.phase;
        }
        Span.StatedPhase last = lastPhases.getIfAbsent(row, () -> Span.StatedPhase.NONE);
        lastPhases.put(row, phaseOf(event, last));
        return last;
    }

    /** Returns the phase of a slice of a trace of this library; unknown for a sample whose phase nothing states. */
    private Span.StatedPhase phaseOf(TraceEvent event, Span.StatedPhase assumed) {
        if (!head.isOwn()) {
            return Span.StatedPhase.NONE;
        }
        if (!head.statesPhases()) {
            return event.isSample() ? Span.StatedPhase.UNKNOWN : Span.StatedPhase.NONE;
        }
        Span.StatedPhase stated = event.statedPhase;
        return stated == null ? assumed : stated;
    }

    /** Returns the phase of a step or of a sample; none for any other slice. */
    final Span.StatedPhase ownPhase(TraceEvent event) {
        if (event.isSample()) {
            return event.spanPhase;
        }
        if (!event.isStep() || !head.isOwn()) {
            return Span.StatedPhase.NONE;
        }
        // Versions that did not state phases named a step after its phase.
        Span.StatedPhase stated = head.statesPhases() ? event.statedPhase : Span.StatedPhase.of(event.name);
        return stated != null && stated.ofStep().isPresent() ? stated : Span.StatedPhase.NONE;
    }

    private void end(TraceEvent event) throws IOException {
        if (!isTime(event.startNs, event.offset)) {
            return;
        }
        List<Slice> stack = open.get(row(event).number);
        if (stack == null || stack.isEmpty()) {
            omissions.fault(Reason.END_WITHOUT_BEGIN, event.offset);
            return;
        }
        Slice slice = stack.remove(stack.size() - 1);
        openSlices--;
        if (slice.nameHash != 0 && !event.name.isEmpty() && slice.nameHash != TraceNames.hash(event.name)) {
            omissions.fault(Reason.END_OF_ANOTHER_NAME, event.offset);
        }
        addEnd(event);
        slice.endedBy(event);
        Site site = slice.site;
        if (site != null && event.startNs >= slice.startNs) {
            site.ends(event.startNs, event.correlation);
        }
        if (!(slice instanceof Unkept unkept)) {
            if (isInOrder(slice.startNs, event.startNs, slice.offset) && hasCounts(event)) {
                slice.keep(event.startNs);
            }
        } else if (unkept.ignoredAs != null) {
            omissions.add(unkept.ignoredAs);
        }
    }

    private void withoutEnd(Slice slice) {
        openSlices--;
        if (!(slice instanceof Unkept unkept) || !unkept.isDropped()) {
            omissions.fault(Reason.BEGIN_WITHOUT_END, slice.offset);
        }
    }

    /** Returns the open slice of a row that began last; null if none is open. */
    @Nullable
    Slice innermost(int row) {
        List<Slice> stack = open.get(row);
        return stack == null || stack.isEmpty() ? null : stack.get(stack.size() - 1);
    }

    // ---- times ----

    /** Returns whether a start or a duration is a valid time, and counts the fault if not. */
    boolean isTime(long timeNs, long offset) {
        if (Microseconds.isTime(timeNs)) {
            return true;
        }
        omissions.fault(
                timeNs == Microseconds.ABSENT
                        ? Reason.NO_TIME
                        : timeNs == Microseconds.MALFORMED ? Reason.MALFORMED_TIME : Reason.TIME_OUT_OF_RANGE,
                offset);
        return false;
    }

    /** Returns whether a slice ends no earlier than it starts, and counts the fault if not. */
    private boolean isInOrder(long startNs, long endNs, long offset) {
        boolean isInOrder = endNs >= startNs && Bounds.isTime(endNs) && Bounds.isDuration(endNs - startNs);
        if (!isInOrder) {
            omissions.fault(endNs < startNs ? Reason.NEGATIVE_DURATION : Reason.TIME_OUT_OF_RANGE, offset);
        }
        return isInOrder;
    }

    /** Returns whether the bytes and elements of an event are within the bounds, and counts the fault if not. */
    private boolean hasCounts(TraceEvent event) {
        boolean hasCounts = event.bytes <= Bounds.MOST_COUNT && event.elements <= Bounds.MOST_COUNT;
        if (!hasCounts) {
            omissions.fault(Reason.COUNT_OUT_OF_RANGE, event.offset);
        }
        return hasCounts;
    }
}
