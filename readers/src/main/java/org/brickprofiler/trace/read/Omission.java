package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.brickprofiler.internal.base.Plural;

/**
 * A part of a trace that is missing or changed in the result, and the reason. Every omission is listed. Immutable.
 *
 * @param reason the reason
 * @param name the kernel, the argument or the damage that it concerns; empty if the reason is the same for all
 * @param count the number of occurrences
 * @param elapsedNs the time of the events, ns; 0 if they have none
 * @param firstOffset the place of the first one, in bytes of the unpacked trace; for overlaps, that of the earliest one
 *     in time; {@link #NO_OFFSET} if it is no fault
 */
public record Omission(Reason reason, String name, long count, long elapsedNs, long firstOffset) {

    /** The offset of an omission that is no fault. */
    public static final long NO_OFFSET = -1;

    /** Stands for the names past the first 256 of a reason. */
    public static final String OTHER_NAMES = "(others)";

    /** Rejects null. */
    public Omission {
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(name, "name");
    }

    /** The fate of an omitted part. */
    public enum Effect {
        /** An event that counts in no profile by its nature; nothing is wrong with it. */
        IGNORED,
        /** An event of a profile that would have counted, but was left out on purpose. */
        LEFT_OUT,
        /** A valid event that counts, but in a way that the reader of the sums has to know. */
        COUNTED,
        /** A valid part of the trace that a timeline cannot represent. */
        NOT_KEPT,
        /** A faulty event that was dropped. */
        DROPPED,
        /** A faulty part that was kept, with a correction. */
        REPAIRED
    }

    /** The reason for which something was omitted or changed. */
    public enum Reason {
        /** A slice of the host, in a trace that marks the device's events. */
        HOST(Effect.IGNORED, "host"),
        /** A slice around others: {@code user_annotation}, {@code gpu_user_annotation}. */
        ANNOTATION(Effect.IGNORED, "annotation"),
        /** The slice around the whole recording, or around the execution of a whole task graph. */
        WRAPPER(Effect.IGNORED, "wrapper"),
        /** The loading and initialising of a model; see {@link TraceProfile#loading}. */
        LOADING(Effect.IGNORED, "loading"),
        /** A function of Python, or a module, around the operators that it calls. */
        PYTHON(Effect.IGNORED, "function of Python"),
        /** An event of the virtual machine itself. */
        VIRTUAL_MACHINE(Effect.IGNORED, "event of the virtual machine"),
        /** A wait for the device, drawn on the device's row: {@code cuda_sync}, {@code cuda_event}. */
        DEVICE_WAIT(Effect.IGNORED, "wait for the device"),
        /** An arrow between two slices, such as {@code ac2g}. */
        FLOW(Effect.IGNORED, "flow"),
        /** Names and order of rows. */
        METADATA(Effect.IGNORED, "metadata"),
        /** An asynchronous slice or moment, which overlaps others by its nature. */
        ASYNC(Effect.IGNORED, "async", "async events left out", "async event left out"),
        /** A moment without duration. */
        INSTANT(Effect.IGNORED, "instant"),
        /** The value of a counter. */
        COUNTER(Effect.IGNORED, "counter"),
        /** The end of a slice, which counts with its begin. */
        END(Effect.IGNORED, "end of a slice"),
        /** A phase that has another meaning or is unknown. */
        OTHER_PHASE(
                Effect.IGNORED, "other phase", "events of other phases left out", "event of another phase left out"),
        /** A placeholder: null or an empty object. */
        EMPTY(Effect.IGNORED, "empty"),
        /** A slice that a rule says to ignore. */
        RULE(Effect.IGNORED, "ignored by rule"),
        /** A slice of a trace of this library that is no brick: a layer, a tile, or an application's own slice. */
        NO_BRICK(Effect.IGNORED, "no brick"),
        /** A slice on a device, in a trace of this library, if the sample of its brick is the host's slice. */
        DEVICE(Effect.IGNORED, "of a device, counted on the host"),
        /** A row of a table that holds no kernels, or the same kernels as another table of the file. */
        OTHER_TABLE(Effect.IGNORED, "rows of other tables"),

        /** The event was launched, or if its launch is unknown began, before the first step that is kept. */
        SKIPPED_STEP(Effect.LEFT_OUT, "skipped steps"),
        /**
         * A first execution far longer than the later ones or, in a trace of this library, an event that was recorded
         * in the warm-up of a schedule; see {@link ReadOptions#keepWarmup}.
         */
        WARM_UP(Effect.LEFT_OUT, "warm-up"),

        /**
         * In a trace that marks the runs of a model, an event outside of all of them: its run did not end before the
         * end of the trace.
         */
        NO_RUN(Effect.LEFT_OUT, "outside of complete runs"),

        /**
         * Work of a device that began while other work of its row ran, as in the launch of a graph: both count in full,
         * while busy time counts the overlap once.
         */
        CONCURRENT(Effect.COUNTED, "beside other work of the row, counted in full"),

        /**
         * Work of a device whose launch the trace does not show, where steps are left out: it counts with the step in
         * which it began, and another step may have launched it.
         */
        NO_LAUNCH(Effect.COUNTED, "without a known launch, counted with the step in which they began"),

        /**
         * Work of a device whose correlation calls of several processes have, as in a trace that was merged from those
         * of several ranks: which of them launched it is not known, nor the module and the step around the launch.
         */
        AMBIGUOUS_LAUNCH(Effect.COUNTED, "without a known launch: calls of several processes have their correlation"),

        /**
         * Work of a replay of a CUDA graph whose capture the trace does not show, so that the ranges in which its nodes
         * were created are not known.
         */
        UNKNOWN_CAPTURE(
                Effect.COUNTED, "in replays of CUDA graphs, in the range of the replay: the trace lacks the capture"),

        /**
         * A sample in a trace of this library that has steps but does not state the phases of samples, such as a trace
         * of an earlier version. The sample counts in no phase.
         */
        NO_KNOWN_PHASE(Effect.COUNTED, "without a known phase: the file does not state it"),

        /**
         * A sample of a device in a trace of this library, if the profile of the run has net times: the sample includes
         * what its marks add.
         */
        WITH_MARKS(Effect.COUNTED, "of a device as recorded, with what marks add: the run's profile has net times"),

        /**
         * A step that a serving engine annotated beyond those that are distinguished: its kernels count in its phase,
         * and no step of the trace is listed.
         */
        FURTHER_STEP(Effect.COUNTED, "beyond 65,536 annotated steps: their phases count, and no steps are listed"),

        /** An argument other than elements, layer, device and device time, or a value of the wrong type. */
        ARGUMENT(Effect.NOT_KEPT, "arguments left out", "argument left out"),
        /** A further key of an event, or in Perfetto's format a field that is not read. */
        FIELD(Effect.NOT_KEPT, "further fields left out", "further field left out"),
        /** A flow that lacks its start or its end, or has no slice at one of them. */
        LOOSE_FLOW(Effect.NOT_KEPT, "flows without two ends left out", "flow without two ends left out"),
        /** A flow of a slice that already has a flow in that direction, or a step of a flow between its ends. */
        FURTHER_FLOW(Effect.NOT_KEPT, "second flows of slices left out", "second flow of a slice left out"),
        /** The value of a counter that is no number. */
        NO_NUMBER(
                Effect.NOT_KEPT,
                "counter values that are no numbers left out",
                "counter value that is no number left out"),
        /** Metadata about something other than processes and threads. */
        OTHER_METADATA(Effect.NOT_KEPT, "other metadata events left out", "other metadata event left out"),
        /**
         * A name too long to be kept: it was cut, by this reader or before, and ends with the hash of the whole name.
         */
        LONG_NAME(Effect.NOT_KEPT, "long names cut", "long name cut"),
        /** A process other than the traced one: a timeline has one process. */
        PROCESS(
                Effect.NOT_KEPT,
                "further processes, now prefixes of their threads' names",
                "further process, now a prefix of its threads' names"),

        /** An event without a phase. */
        NO_PHASE(Effect.DROPPED, "no phase, dropped"),
        /** A slice without a start, or a complete event without a duration. */
        NO_TIME(Effect.DROPPED, "no ts or no dur, dropped"),
        /** A slice whose time is no number. */
        MALFORMED_TIME(Effect.DROPPED, "ts or dur is no number, dropped"),
        /** A slice after the year 2199, more than 62 years before the 0 of its clock, or of more than 10 years. */
        TIME_OUT_OF_RANGE(Effect.DROPPED, "ts beyond the year 2200 or dur beyond 10 years, dropped"),
        /** A slice whose bytes or elements are more than 2<sup>53</sup>. */
        COUNT_OUT_OF_RANGE(Effect.DROPPED, "bytes or elements beyond 2^53, dropped"),
        /**
         * An event that years separate from most events, or that is at 0 where the others begin more than a day later:
         * its recorder had no time for it, or another clock.
         */
        OTHER_CLOCK(Effect.DROPPED, "timed by another clock, far from all other events, dropped"),
        /** A slice that ends before it starts. */
        NEGATIVE_DURATION(Effect.DROPPED, "negative duration, dropped"),
        /** A begin whose end is not in the trace. */
        BEGIN_WITHOUT_END(Effect.DROPPED, "begin without end, dropped"),
        /** An end whose begin is not in the trace. */
        END_WITHOUT_BEGIN(Effect.DROPPED, "end without begin, dropped"),
        /**
         * The trace is damaged, and was {@linkplain ReadOptions#salvage read up to the damage}; the name says what is
         * wrong.
         */
        DAMAGE(Effect.REPAIRED, "damage, read up to there"),
        /**
         * A file of this library without its end, or one converted from a file that was cut off or damaged: later
         * events, and with them whole tracks, are missing.
         */
        CUT_OFF(Effect.REPAIRED, "file cut off before its end: the table is incomplete"),
        /** A byte of a text that is no UTF-8 was read as a question mark. */
        INVALID_UTF8(Effect.REPAIRED, "bytes that are no UTF-8, read as ?"),
        /** An end has another name than the slice that began last on its row; it ended that slice all the same. */
        END_OF_ANOTHER_NAME(Effect.REPAIRED, "end of another name, taken for the last begin of its row"),
        /** A key occurs twice in an event; the last value was taken. */
        REPEATED_KEY(Effect.REPAIRED, "repeated key, the last value taken"),
        /** A value for bytes that is negative or no whole number was taken as 0. */
        MALFORMED_BYTES(Effect.REPAIRED, "bytes are no whole number, taken as 0"),
        /**
         * Two slices of a thread overlap without nesting: both count in full, while busy time counts the overlap once.
         */
        OVERLAP(Effect.REPAIRED, "overlapping on a row, counted in full"),
        /** The total kernel time of a task graph is less than the sum over its tasks; the sum counts. */
        OTHER_TOTAL(Effect.REPAIRED, "total of kernels below the sum of the tasks, which counts"),
        /** The profiler noted an error or a warning while it recorded the trace, which may lack events. */
        PROFILER_ERROR(Effect.REPAIRED, "noted as an error by the profiler, which may have lost events"),
        /** The array of events has no end; it was read up to its last whole event. */
        OPEN_ARRAY(Effect.REPAIRED, "array without end, read to its last event"),
        /** The last line of a table has no end; the name in it may be cut. */
        OPEN_LINE(Effect.REPAIRED, "last line without end, its name may be cut"),
        /** The shares that a table states do not fit the sum of its rows. */
        MISSING_ROWS(Effect.REPAIRED, "shares do not fit the sum of the rows: rows are missing"),
        /** A block of sums states no total by which it could be checked. */
        NO_TOTAL(Effect.REPAIRED, "blocks without a total, counted as they stand"),
        /** An event that refers to a missing packet of its sequence, or to a missing row of its database. */
        LOST_STATE(Effect.DROPPED, "needs a packet or a row that is missing, dropped"),
        /**
         * The trace has as many events as ONNX Runtime records at most: later events, and with them whole runs, are
         * probably missing.
         */
        EVENT_LIMIT(Effect.REPAIRED, "events, at which ONNX Runtime stops recording: later runs may be missing"),
        /** The JSON of an XLA profile has as many slices as its writer keeps: it drops the later ones. */
        VIEWER_LIMIT(
                Effect.REPAIRED,
                "slices, at which XLA's profiler cuts its JSON: later ones may be missing; read the .xplane.pb beside it"),
        /** This library lost spans while it recorded the trace: the trace lacks them, and the sums are too small. */
        LOST_SPANS(Effect.REPAIRED, "spans lost while recording: the table is incomplete");

        private final Effect effect;
        private final String displayName;
        private final String plural;
        private final String singular;

        Reason(Effect effect, String displayName) {
            this(effect, displayName, displayName, displayName);
        }

        Reason(Effect effect, String plural, String singular) {
            this(effect, plural, plural, singular);
        }

        Reason(Effect effect, String displayName, String plural, String singular) {
            this.effect = effect;
            this.displayName = displayName;
            this.plural = plural;
            this.singular = singular;
        }

        /**
         * Returns the effect of this reason.
         *
         * @return always the same
         */
        public Effect effect() {
            return effect;
        }

        /**
         * Returns the name of this reason in reports.
         *
         * @return for example {@code "metadata"} or {@code "negative duration, dropped"}
         */
        public String displayName() {
            return displayName;
        }

        /** Returns a count with its noun, for example {@code "2 async events left out"}. */
        String text(long count) {
            return Plural.of(count, singular, plural);
        }
    }

    /** Returns whether this reason is a fault of the trace. */
    boolean isFault() {
        return reason.effect() == Effect.DROPPED || reason.effect() == Effect.REPAIRED;
    }

    /** Counts omissions while a trace is read. One thread. */
    static final class Tally {

        private static final int MOST_NAMES = 256;

        /** Sorts the largest part of a reason first. */
        private static final Comparator<Omission> LARGEST_FIRST = Comparator.comparingLong(Omission::elapsedNs)
                .thenComparingLong(Omission::count)
                .reversed()
                .thenComparing(Omission::name);

        private final EnumMap<Reason, Sum> sums = new EnumMap<>(Reason.class);
        private final EnumMap<Reason, Map<String, Sum>> parts = new EnumMap<>(Reason.class);

        private static final class Sum {
            private long count;
            private long elapsedNs;
            private long firstOffset = NO_OFFSET;

            void fault(long faults, long offset) {
                firstOffset = count == 0 ? offset : firstOffset;
                count += faults;
            }
        }

        void add(Reason reason) {
            add(reason, 1);
        }

        void add(Reason reason, long count) {
            if (count > 0) {
                sums.computeIfAbsent(reason, added -> new Sum()).count += count;
            }
        }

        /** Counts a fault. */
        void fault(Reason reason, long count, long offset) {
            sums.computeIfAbsent(reason, added -> new Sum()).fault(count, offset);
        }

        void fault(Reason reason, long offset) {
            fault(reason, 1, offset);
        }

        /** Counts the fault that ends the trace. */
        void damage(String fault, long offset) {
            parts.computeIfAbsent(Reason.DAMAGE, added -> new HashMap<>())
                    .computeIfAbsent(fault, added -> new Sum())
                    .fault(1, offset);
        }

        /** Counts a fault under a name; names beyond the limit share one count. */
        void faultNamed(Reason reason, String name, long offset) {
            sumOf(reason, name).fault(1, offset);
        }

        /** Counts one omission under a name; names beyond the limit share one count. */
        void addNamed(Reason reason, String name) {
            addNamed(reason, name, 1);
        }

        /** Counts several omissions under a name in the same way. */
        void addNamed(Reason reason, String name, long count) {
            sumOf(reason, name).count += count;
        }

        private Sum sumOf(Reason reason, String name) {
            Map<String, Sum> named = parts.computeIfAbsent(reason, added -> new HashMap<>());
            Sum known = named.get(name);
            return known == null
                    ? named.computeIfAbsent(named.size() < MOST_NAMES ? name : OTHER_NAMES, added -> new Sum())
                    : known;
        }

        /** Counts omissions under a name, with their time; the caller bounds the number of names. */
        void addTimed(Reason reason, String name, long count, long elapsedNs) {
            Sum sum = parts.computeIfAbsent(reason, added -> new HashMap<>()).computeIfAbsent(name, added -> new Sum());
            sum.count += count;
            sum.elapsedNs += elapsedNs;
        }

        /** Returns the omissions in the order of their reasons; the names of one reason are sorted by size. */
        List<Omission> list() {
            List<Omission> all = new ArrayList<>();
            for (Reason reason : Reason.values()) {
                Sum sum = sums.get(reason);
                if (sum != null) {
                    all.add(new Omission(reason, "", sum.count, sum.elapsedNs, sum.firstOffset));
                }
                parts.getOrDefault(reason, Map.of()).entrySet().stream()
                        .map(part -> new Omission(
                                reason,
                                part.getKey(),
                                part.getValue().count,
                                part.getValue().elapsedNs,
                                part.getValue().firstOffset))
                        .sorted(LARGEST_FIRST)
                        .forEach(all::add);
            }
            return all;
        }
    }
}
