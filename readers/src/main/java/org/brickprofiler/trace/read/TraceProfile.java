package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineProfile.ByFrames;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.read.Omission.Effect;
import org.brickprofiler.trace.read.Omission.Reason;
import org.brickprofiler.trace.read.TraceProfile.Placement.Source;

/**
 * The profile of a trace, and its omissions. Every event that was read is counted, left out, ignored, or dropped as
 * faulty. Immutable.
 *
 * @param snapshot the profile; its wall time is {@link #wallNs}, and its bytes are those of copies; it has elements
 *     only if this library wrote the trace
 * @param counting the kind of events that count
 * @param wallNs the time from the start of the first event that counts to the end of the last one, without times at
 *     which only omitted events ran, ns; for {@link Counting#TASK_GRAPHS} the sum of the durations of the executions of
 *     task graphs; for {@link Counting#SUMS} the time that the file states, 0 if it states none; if the trace marks the
 *     runs of a model, the union of the runs that count, which is their sum unless they overlap
 * @param busyNs the union of the intervals of all events that count, on all rows, ns; 0 if they
 *     {@linkplain Counting#hasTimes have no times}
 * @param unlaunchedNs the part of the idle time in which the device's work that ran next was not launched yet, so that
 *     the device waited for its host, ns; empty if the trace does not show when the work was launched
 * @param rows rows with an event that counts; a row is a process and thread, in Kineto's traces a device and stream
 * @param steps slices {@code ProfilerStep#N} in the trace, or the runs of a model that it marks
 * @param eventsRead elements of the array of events; in a Perfetto trace, track events
 * @param eventsCounted events in the profile
 * @param unmatched the kernels that no rule matched
 * @param placements the evidence for the bricks of matrix products and element-wise kernels, most time first; empty if
 *     the trace has no such kernels
 * @param ranges the NVTX ranges in which the device's events were launched, most time first, with the events that were
 *     launched in none; empty if the trace does not tie launches to ranges
 * @param providers the execution providers of ONNX Runtime on which nodes ran, most time first; empty if the trace
 *     names none
 * @param virtualMachine the activity of the virtual machine, if the trace is a flight recording
 * @param loading the loading and initialising of models, most time first, which is no part of any other number here;
 *     empty if the trace does not show it
 * @param annotatedSteps the steps that a serving engine annotated, by phase; only steps with a kernel that counts.
 *     Empty if there are none, or more than 65,536
 * @param slowSteps the explanation of the steps that the trace holds, if this library chose them: all sums are those of
 *     the chosen steps, and not of the run
 * @param lines the methods and lines of bricks, if the trace is a flight recording with samples of stacks
 * @param runs the times of a model's runs, which a second file states; see {@link TraceReader#together}
 * @param omissions the omissions, in the order of {@link Omission.Reason}; events that were left out have one omission
 *     for each kernel, most time first
 */
public record TraceProfile(
        ProfileSnapshot snapshot,
        Counting counting,
        long wallNs,
        long busyNs,
        OptionalLong unlaunchedNs,
        int rows,
        int steps,
        long eventsRead,
        long eventsCounted,
        Unmatched unmatched,
        List<Placement> placements,
        List<Range> ranges,
        List<Provider> providers,
        VirtualMachine virtualMachine,
        List<Loading> loading,
        List<AnnotatedSteps> annotatedSteps,
        Optional<SlowSteps> slowSteps,
        Optional<LineProfile> lines,
        Optional<TraceReader.Summary> runs,
        List<Omission> omissions)
        implements FindingSource {

    /** The share of brick time from which kernels without a rule or without evidence are a reason to doubt. */
    private static final double LEAST_DOUBT = 0.05;

    /** The share of the idle time from which the wait for the host is part of the finding. */
    private static final double LEAST_WAIT = 0.05;

    /** The kind of events that count in a profile. */
    public enum Counting {
        /** Kernels, copies and fills, by the categories of events or by names of processes and tracks. */
        DEVICE_EVENTS("kernels, copies and fills"),
        /** Operations of programs that XLA compiled for the processor, in a trace without work of a device. */
        OPERATIONS("operations of compiled programs on the processor"),
        /** Every slice: the trace marks no event as the device's. */
        ALL_SLICES("every slice, for none is marked as the device's"),
        /** Kernels, copies, dispatch and compilations of TornadoVM's task graphs, which have durations and no times. */
        TASK_GRAPHS("kernels, copies, dispatch and compilations of task graphs"),
        /** The nodes of a model's graph, in a trace that marks the runs of the model. */
        NODES("nodes of the model's graph, each with its self time"),
        /** Kernels and copies of a table of sums, which has no single executions and no times. */
        SUMS("kernels and copies by their sums: the file holds no single executions"),
        /** The spans of bricks, in a trace that this library wrote. */
        BRICKS("bricks of this library, each with its whole duration");

        private final String displayName;

        Counting(String displayName) {
            this.displayName = displayName;
        }

        /**
         * Returns whether the events have times, and not only durations or sums. Without times there is neither busy
         * nor idle time, and no timeline.
         *
         * @return always the same
         */
        public boolean hasTimes() {
            return this != TASK_GRAPHS && this != SUMS;
        }

        /**
         * Returns the name of this kind in reports.
         *
         * @return for example {@code "kernels, copies and fills"}
         */
        public String displayName() {
            return displayName;
        }
    }

    /**
     * Kernels that no rule matched and that are not named after bricks; the profile has them under their own names.
     *
     * @param kernels different names; a lower bound if the trace has more than the limit
     * @param events events that count
     * @param elapsedNs their time, ns
     */
    public record Unmatched(int kernels, long events, long elapsedNs) {

        /**
         * Returns the share of a total that the caller chooses.
         *
         * @param baseNs the base, ns
         * @return percent, 0 if the base is 0
         */
        public double percentage(long baseNs) {
            return baseNs == 0 ? 0.0 : 100.0 * elapsedNs / baseNs;
        }
    }

    /**
     * Events of kernels whose names do not show their brick, that is, matrix products of any projection and
     * element-wise kernels, and the evidence by which they were assigned to a brick. Immutable.
     *
     * @param brick the name of the brick that they count as
     * @param category its category
     * @param source the evidence
     * @param events events that count
     * @param elapsedNs their time, ns
     * @param alike the number of these events in layers that repeat. For {@link Source#PLACE}, a layer repeats if the
     *     norms, products and activations between its two attentions have the same order as in at least two other
     *     stretches of the trace; for other sources, all events are included
     */
    public record Placement(
            String brick, BrickCategory category, Source source, long events, long elapsedNs, long alike) {

        /** The evidence for the brick of an event. */
        public enum Source {
            /**
             * A module or an annotation of the application around the kernel's launch names the projection, or names
             * its block, within which the order of the products decides.
             */
            MODULE("by module"),
            /** Inferred from the place of the kernel between attentions, norms and activations. */
            PLACE("by place"),
            /** No evidence: a matrix product of any kind. */
            NOT_KNOWN("no projection");

            private final String displayName;

            Source(String displayName) {
                this.displayName = displayName;
            }

            /**
             * Returns the name of this source in reports.
             *
             * @return for example {@code "by module"}
             */
            public String displayName() {
                return displayName;
            }
        }

        /** Rejects null. */
        public Placement {
            Objects.requireNonNull(brick, "brick");
            Objects.requireNonNull(category, "category");
            Objects.requireNonNull(source, "source");
        }

        /**
         * Returns the share of the events that lie in layers that repeat.
         *
         * @return from 0 to 1; 0 without events
         */
        public double agreement() {
            return events == 0 ? 0.0 : (double) alike / events;
        }
    }

    /**
     * The nodes that ran on one execution provider of ONNX Runtime.
     *
     * @param name for example {@code CUDAExecutionProvider}
     * @param events nodes that count
     * @param elapsedNs the sum of their times, ns
     * @param operatorNs the part of each operator, ns, most time first
     */
    public record Provider(String name, long events, long elapsedNs, Map<String, Long> operatorNs) {

        private static final char BETWEEN = '\n';

        /** Copies the operators. */
        public Provider {
            Objects.requireNonNull(name, "name");
            operatorNs =
                    Collections.unmodifiableMap(new LinkedHashMap<>(Objects.requireNonNull(operatorNs, "operatorNs")));
        }

        /** Returns the name under which an operator of a provider is summed. */
        static String key(String provider, String operator) {
            return provider + BETWEEN + operator;
        }

        /**
         * Returns the providers, most time first, from sums that are named by {@link #key} and listed with most time
         * first.
         */
        static List<Provider> of(List<NamedSums.Sum> sums) {
            Map<String, Provider> all = new LinkedHashMap<>();
            for (NamedSums.Sum sum : sums) {
                int end = sum.name().indexOf(BETWEEN);
                Provider before = all.getOrDefault(
                        sum.name().substring(0, end), new Provider(sum.name().substring(0, end), 0, 0, Map.of()));
                Map<String, Long> operators = new LinkedHashMap<>(before.operatorNs);
                operators.put(sum.name().substring(end + 1), sum.elapsedNs());
                all.put(
                        before.name,
                        new Provider(
                                before.name,
                                before.events + sum.events(),
                                before.elapsedNs + sum.elapsedNs(),
                                operators));
            }
            return all.values().stream()
                    .sorted(Comparator.comparingLong(Provider::elapsedNs)
                            .reversed()
                            .thenComparing(Provider::name))
                    .toList();
        }
    }

    /**
     * Events of the device that were launched in ranges of one name. Each event belongs to the innermost range that was
     * open on the launching thread, and to no other. An event of a CUDA graph's replay belongs to the innermost range
     * in which its node was captured, if the trace shows one. Immutable.
     *
     * @param name the name, preceded by its domain if it has one
     * @param events events that count
     * @param elapsedNs their time, ns
     */
    public record Range(String name, long events, long elapsedNs) {

        /** The name of the sum of events that were launched in no range. */
        public static final String NO_RANGE = "(no range)";

        /** The name of the sum of events without a launch in the trace. Their range is unknown. */
        public static final String NO_LAUNCH = "(no launch)";

        /** Rejects null. */
        public Range {
            Objects.requireNonNull(name, "name");
        }

        /** Returns whether this is a range, not a sum of events outside ranges. */
        boolean isRange() {
            return !name.equals(NO_RANGE) && !name.equals(NO_LAUNCH);
        }
    }

    /**
     * A part of the loading of a model before its first run. Immutable.
     *
     * @param name the name in the trace, for example {@code session_initialization}
     * @param events its events
     * @param elapsedNs their time, ns
     */
    public record Loading(String name, long events, long elapsedNs) {

        /** Rejects null. */
        public Loading {
            Objects.requireNonNull(name, "name");
        }
    }

    /**
     * The activity of a virtual machine beside the bricks, as recorded by the flight recorder. Immutable.
     *
     * @param anchors events that tie the clock of the bricks to that of the recording; 0 if there are none
     * @param clockErrorNs the largest disagreement between these events, and so the largest error in the placement of a
     *     brick, ns
     * @param disturbances the time of the bricks that coincided with it, most time first
     */
    public record VirtualMachine(int anchors, long clockErrorNs, List<Disturbance> disturbances) {

        /** Copies the list. */
        public VirtualMachine {
            Objects.requireNonNull(disturbances, "disturbances");
            disturbances = List.copyOf(disturbances);
        }
    }

    /**
     * Tokens of some steps, as far as all of these steps state them. Immutable.
     *
     * @param count the tokens
     * @param positions the positions in the key-value cache that they attend to, their own included
     * @param pairs the pairs of a query and a key in one layer of full causal attention, in which each token attends to
     *     all positions of its sequence up to its own. A layer with a sliding window has fewer; a trace does not show
     *     which layers have one
     */
    public record Tokens(OptionalLong count, OptionalLong positions, OptionalLong pairs) {

        /** Rejects null. */
        public Tokens {
            Objects.requireNonNull(count, "count");
            Objects.requireNonNull(positions, "positions");
            Objects.requireNonNull(pairs, "pairs");
        }
    }

    /**
     * The steps of one phase that a serving engine annotated. The annotation itself covers the work of the host; the
     * time of a step here is that of its kernels. Immutable.
     *
     * @param phase the phase
     * @param steps steps with a kernel that counts
     * @param elapsedNs the sum over the steps of the time from the beginning of the first kernel to the end of the last
     *     one, ns
     * @param longestNs the longest of these times, ns
     * @param sequences the sum of the sequences of the steps; empty if a step does not state them
     * @param prompts the tokens of prompts
     * @param decoding the tokens of the sequences that decode
     */
    public record AnnotatedSteps(
            StepInfo.Phase phase,
            long steps,
            long elapsedNs,
            long longestNs,
            OptionalLong sequences,
            Tokens prompts,
            Tokens decoding) {

        /** Rejects null. */
        public AnnotatedSteps {
            Objects.requireNonNull(phase, "phase");
            Objects.requireNonNull(sequences, "sequences");
            Objects.requireNonNull(prompts, "prompts");
            Objects.requireNonNull(decoding, "decoding");
        }
    }

    /**
     * Time of a brick, or of the steps of a phase, that coincided with another activity of the virtual machine.
     * Immutable.
     *
     * @param brick the brick; for steps, {@code step: } and their phase
     * @param cause the activity
     * @param elapsedNs the part of the executions' time that coincided with it, ns
     * @param share its share of all time of the executions, 0 to 1
     * @param shareOfTail the same share for the executions at or above the 99th percentile
     */
    public record Disturbance(String brick, Cause cause, long elapsedNs, double share, double shareOfTail) {

        /** An activity of a virtual machine. */
        public enum Cause {
            /** A pause of the garbage collector. */
            GARBAGE_COLLECTION("garbage collection"),
            /** Another stop of all threads. */
            SAFEPOINT("other safepoints"),
            /** The thread waited for memory. */
            ALLOCATION("allocation stalls"),
            /** The thread was parked. */
            PARKED("parked"),
            /** The thread waited for a monitor. */
            MONITOR("waiting for monitors"),
            /** A compiler thread ran at the same time. */
            COMPILATION("while compiling");

            private final String displayName;

            Cause(String displayName) {
                this.displayName = displayName;
            }

            /**
             * Returns the name of this cause in reports.
             *
             * @return for example {@code "garbage collection"}
             */
            public String displayName() {
                return displayName;
            }

            /** Returns the number of this cause; this method alone reads the ordinal. */
            @SuppressWarnings("EnumOrdinal") // this method wraps the ordinal
            int index() {
                return ordinal();
            }
        }

        /** Rejects null. */
        public Disturbance {
            Objects.requireNonNull(brick, "brick");
            Objects.requireNonNull(cause, "cause");
        }
    }

    /** Copies the lists. */
    public TraceProfile {
        Objects.requireNonNull(snapshot, "snapshot");
        Objects.requireNonNull(counting, "counting");
        Objects.requireNonNull(unmatched, "unmatched");
        Objects.requireNonNull(placements, "placements");
        Objects.requireNonNull(omissions, "omissions");
        Objects.requireNonNull(ranges, "ranges");
        Objects.requireNonNull(providers, "providers");
        Objects.requireNonNull(virtualMachine, "virtualMachine");
        Objects.requireNonNull(loading, "loading");
        Objects.requireNonNull(slowSteps, "slowSteps");
        Objects.requireNonNull(lines, "lines");
        Objects.requireNonNull(runs, "runs");
        Objects.requireNonNull(unlaunchedNs, "unlaunchedNs");
        loading = List.copyOf(loading);
        annotatedSteps = List.copyOf(Objects.requireNonNull(annotatedSteps, "annotatedSteps"));
        placements = List.copyOf(placements);
        ranges = List.copyOf(ranges);
        providers = List.copyOf(providers);
        omissions = List.copyOf(omissions);
    }

    /** Returns a builder. */
    static Builder builder(
            ProfileSnapshot snapshot, Counting counting, Unmatched unmatched, VirtualMachine virtualMachine) {
        return new Builder(snapshot, counting, unmatched, virtualMachine);
    }

    /**
     * Returns the time in which no event that counts ran.
     *
     * @return {@link #wallNs} minus {@link #busyNs}, ns; 0 if the events {@linkplain Counting#hasTimes have no times}
     */
    public long idleNs() {
        return counting.hasTimes() ? wallNs - busyNs : 0;
    }

    /**
     * Returns the time in which nothing ran, if the events have times. Its snapshot may be another one, of the same
     * trace.
     */
    @Override
    public List<Finding> candidates(ProfileSnapshot ofTrace) {
        Objects.requireNonNull(ofTrace, "ofTrace");
        if (!counting.hasTimes() || wallNs == 0) {
            return List.of();
        }
        double share = (double) idleNs() / wallNs;
        return List.of(new Finding(
                Finding.Kind.IDLE,
                "",
                share,
                String.format(
                        Locale.ROOT,
                        "%s of the time nothing ran, %s of %s%s.",
                        TraceFigures.percent(idleNs(), wallNs),
                        TraceFigures.duration(idleNs()),
                        TraceFigures.duration(wallNs),
                        waitText()),
                "brick convert FILE timeline.pftrace shows in Perfetto where, and what the host did"));
    }

    /** Returns for which part of the idle time the device waited for its host; empty if it is small or unknown. */
    private String waitText() {
        long waitNs = unlaunchedNs.orElse(0);
        return waitNs < LEAST_WAIT * idleNs() || waitNs == 0
                ? ""
                : "; for " + TraceFigures.duration(waitNs)
                        + " of it the device waited for its host: what ran next was not launched yet";
    }

    /**
     * Returns the number of events that the profile lacks or has changed, for one effect.
     *
     * @param effect the effect
     * @return events, for all reasons with that effect
     */
    public long events(Effect effect) {
        Objects.requireNonNull(effect, "effect");
        return count(omission -> omission.reason().effect() == effect);
    }

    /**
     * Returns the time of the events that were left out.
     *
     * @return the sum over the events, ns
     */
    public long leftOutNs() {
        return omissions.stream().mapToLong(Omission::elapsedNs).sum();
    }

    /**
     * Returns the number of spans that were lost while this library recorded. The trace and the profile lack them.
     *
     * @return spans; 0 if the trace is complete or another program's
     */
    public long spansLost() {
        return count(omission -> omission.reason() == Reason.LOST_SPANS);
    }

    private long count(Predicate<Omission> which) {
        return omissions.stream().filter(which).mapToLong(Omission::count).sum();
    }

    /**
     * Returns the numbers of counted and omitted events as text for a console, to be printed above the report of the
     * profile. Every share names its base.
     *
     * @return printable ASCII, with {@code "\n"} at the end of each line, in every locale
     */
    public String summary() {
        return summary(true);
    }

    /**
     * Returns the summary, with or without the account of single bricks, kernels and ignored events. Reasons to doubt a
     * number are in both.
     *
     * @param isVerbose whether to list single bricks, kernels, ranges and the events that no number needs
     * @return text as {@link #summary()} returns it
     */
    public String summary(boolean isVerbose) {
        return new Summary(isVerbose).render();
    }

    /**
     * Returns the part of a page that states how this trace was read: the lines of the {@linkplain #summary() summary}
     * and, as sentences, what makes the numbers doubtful. These are events that were left out or faulty, kernels that
     * were placed without evidence of their own, and kernels without a rule; of the latter two only what has at least a
     * twentieth of brick time.
     *
     * @return a part for {@link org.brickprofiler.report.HtmlReport#with(PagePart)}
     */
    public PagePart part() {
        List<Line> lines = new Summary(true).lines();
        return PagePart.element("account", JsonText.of(json -> {
            json.writeStartObject();
            json.writeArrayFieldStart("lines");
            for (Line line : lines) {
                json.writeStartObject();
                json.writeStringField("what", line.what());
                json.writeStringField("value", line.value());
                json.writeEndObject();
            }
            json.writeEndArray();
            json.writeArrayFieldStart("doubts");
            for (String doubt : doubts()) {
                json.writeString(doubt);
            }
            json.writeEndArray();
            json.writeEndObject();
        }));
    }

    private List<String> doubts() {
        List<String> doubts = new ArrayList<>();
        for (Reason reason : Reason.values()) {
            if (reason.effect() == Effect.LEFT_OUT) {
                leftOutText(reason).ifPresent(text -> doubts.add("Left out: " + text));
            }
        }
        if (counting != Counting.BRICKS && isMuch(unmatched.elapsedNs())) {
            doubts.add("Without a rule: " + unmatchedText());
        }
        placedText(Source.PLACE)
                .ifPresent(text ->
                        doubts.add("Placed by guess, from the order of norms, products and activations: " + text));
        placedText(Source.NOT_KNOWN)
                .ifPresent(
                        text -> doubts.add("Matrix products of which the trace does not show the projection: " + text));
        omissions.stream().filter(Omission::isFault).forEach(fault -> doubts.add("Faulty: " + omissionText(fault)));
        return doubts;
    }

    private Optional<String> placedText(Source source) {
        return placements(source)
                .filter(placement -> isMuch(placement.elapsedNs()))
                .map(placement -> extent(placement) + ", "
                        + TraceFigures.percent(placement.elapsedNs(), snapshot.totalNs()) + " of brick time");
    }

    private boolean isMuch(long elapsedNs) {
        return elapsedNs > 0 && elapsedNs >= LEAST_DOUBT * snapshot.totalNs();
    }

    private Optional<String> leftOutText(Reason reason) {
        List<Omission> parts = omissions.stream()
                .filter(omission -> omission.reason() == reason)
                .toList();
        long elapsedNs = parts.stream().mapToLong(Omission::elapsedNs).sum();
        return parts.isEmpty()
                ? Optional.empty()
                : Optional.of(reason.displayName() + ": "
                        + Plural.of(count(omission -> omission.reason() == reason), "event") + ", "
                        + TraceFigures.duration(elapsedNs));
    }

    private String unmatchedText() {
        return Plural.of(unmatched.kernels(), "kernel") + ", " + Plural.of(unmatched.events(), "event") + ", "
                + TraceFigures.duration(unmatched.elapsedNs()) + ", "
                + TraceFigures.percent(unmatched.elapsedNs(), snapshot.totalNs())
                + " of brick time; under their own names";
    }

    /** Returns the sum of the placements by a source; empty if there are none. */
    private Optional<Placement> placements(Source source) {
        return placements.stream()
                .filter(placement -> placement.source() == source)
                .reduce((one, two) -> new Placement(
                        "",
                        BrickCategory.OTHER,
                        source,
                        one.events() + two.events(),
                        one.elapsedNs() + two.elapsedNs(),
                        one.alike() + two.alike()));
    }

    private static String extent(Placement placement) {
        return Plural.of(placement.events(), "event") + ", " + TraceFigures.duration(placement.elapsedNs())
                + (placement.source() == Source.PLACE
                        ? ", " + TraceFigures.percent(placement.alike(), placement.events())
                                + " of them in layers that repeat"
                        : "");
    }

    private static String omissionText(Omission omission) {
        return TraceFigures.count(omission.count()) + " "
                + omission.reason().displayName()
                + (omission.name().isEmpty() ? "" : " (" + TraceFigures.plain(omission.name()) + ")")
                + (omission.isFault() ? "; first at offset " + omission.firstOffset() : "");
    }

    /** A line of the summary: a name, which is empty for a line that belongs to the one above, and a text. */
    private record Line(String what, String value) {}

    /** Writes the summary. One thread. */
    private final class Summary {
        private static final int KERNELS_SHOWN = 5;
        private static final int PLACEMENTS_SHOWN = 8;
        private static final int RANGES_SHOWN = 8;
        private static final int OPERATORS_SHOWN = 3;
        private static final int DISTURBANCES_SHOWN = 12;

        private final boolean isVerbose;
        private final List<Line> lines = new ArrayList<>();

        Summary(boolean isVerbose) {
            this.isVerbose = isVerbose;
        }

        String render() {
            StringBuilder text = new StringBuilder("Trace\n");
            lines().forEach(line ->
                    text.append(String.format(Locale.ROOT, "  %-10s  %s\n", line.what(), line.value())));
            runs.ifPresent(timed -> text.append('\n').append(timed.text()));
            return text.toString();
        }

        List<Line> lines() {
            if (eventsCounted == 0
                    && TraceProfile.this.lines.flatMap(LineProfile::byFrames).isPresent()) {
                boolean hasSpans =
                        TraceProfile.this.lines.flatMap(LineProfile::byFrames).equals(Optional.of(ByFrames.SPANS));
                fact(
                        "counted",
                        "no event: " + (hasSpans ? "spans" : "frames")
                                + " of samples tell the bricks, without executions and times");
                list("faulty", Omission::isFault);
                return lines;
            }
            fact(
                    "counted",
                    TraceFigures.count(eventsCounted) + " of " + Plural.of(eventsRead, "event") + " read: "
                            + counting.displayName());
            times();
            if (isVerbose && events(Effect.LEFT_OUT) == 0) {
                fact("left out", "nothing");
            }
            leftOut(Reason.SKIPPED_STEP);
            leftOut(Reason.WARM_UP);
            leftOut(Reason.NO_RUN);
            loaded();
            annotated();
            noRule();
            placed();
            launched();
            provided();
            disturbed();
            list("noted", omission -> omission.reason().effect() == Effect.COUNTED);
            if (isVerbose) {
                list("ignored", omission -> omission.reason().effect() == Effect.IGNORED);
            }
            list("faulty", Omission::isFault);
            return lines;
        }

        private void times() {
            if (slowSteps.isPresent()) {
                fact("steps", "chosen ones only: all sums and shares are of these steps, not of the run");
                fact("busy", TraceFigures.duration(busyNs) + ", the union over all rows of the chosen steps");
                return;
            }
            if (counting == Counting.TASK_GRAPHS) {
                fact("wall time", TraceFigures.duration(wallNs) + ", the sum over the executions of task graphs");
                fact("busy, idle", "not known: the file holds durations, no start times");
                return;
            }
            if (counting == Counting.SUMS) {
                if (steps > 0) {
                    fact("steps", Plural.of(steps, "block") + " of sums");
                }
                fact("wall time", wallNs == 0 ? "not known" : TraceFigures.duration(wallNs) + ", as the file states");
                fact("busy, idle", "not known: the file holds sums, and no timeline");
                return;
            }
            fact("rows", TraceFigures.count(rows) + (steps == 0 ? "" : "; " + Plural.of(steps, "step") + " marked"));
            fact(
                    "wall time",
                    TraceFigures.duration(wallNs)
                            + (counting == Counting.NODES
                                    ? ", the runs that count"
                                    : ", first to last event that counts"));
            fact(
                    "busy",
                    TraceFigures.duration(busyNs) + ", " + TraceFigures.percent(busyNs, wallNs)
                            + " of wall time: the union over all rows");
            fact(
                    "idle",
                    TraceFigures.duration(idleNs()) + ", " + TraceFigures.percent(idleNs(), wallNs) + " of wall time"
                            + (unlaunchedNs.isPresent()
                                    ? ", " + TraceFigures.duration(unlaunchedNs.getAsLong())
                                            + " of it before the launch of what ran next"
                                    : ""));
        }

        private void leftOut(Reason reason) {
            List<Omission> parts = omissions.stream()
                    .filter(omission -> omission.reason() == reason)
                    .toList();
            if (parts.isEmpty()) {
                return;
            }
            leftOutText(reason).ifPresent(text -> fact("left out", text));
            if (!isVerbose) {
                return;
            }
            List<Omission> shown = parts.stream().limit(KERNELS_SHOWN).toList();
            List<String> names = PlainText.shortened(
                    shown.stream().map(part -> PlainText.ascii(part.name())).toList(), TraceFigures.LONGEST_NAME);
            for (int i = 0; i < shown.size(); i++) {
                fact(
                        "",
                        "  " + names.get(i) + ": "
                                + Plural.of(shown.get(i).count(), "event") + ", "
                                + TraceFigures.duration(shown.get(i).elapsedNs()));
            }
            if (parts.size() > KERNELS_SHOWN) {
                fact("", "  and " + Plural.of(parts.size() - KERNELS_SHOWN, "more kernel"));
            }
        }

        /** Appends the loading of models. */
        private void loaded() {
            String first = "loading";
            for (Loading part : loading) {
                fact(
                        first,
                        TraceFigures.plain(part.name()) + ": " + Plural.of(part.events(), "event") + ", "
                                + TraceFigures.duration(part.elapsedNs()) + ", no part of the wall time");
                first = "";
            }
        }

        /** Appends the steps that a serving engine annotated. */
        private void annotated() {
            String first = "steps";
            for (AnnotatedSteps each : annotatedSteps) {
                List<String> parts = new ArrayList<>();
                each.sequences().ifPresent(sum -> parts.add(mean(sum, each.steps(), "sequences")));
                if (each.phase() != StepInfo.Phase.DECODE) {
                    tokens(parts, each.prompts(), each.steps(), "prompt tokens");
                }
                if (each.phase() != StepInfo.Phase.PREFILL) {
                    tokens(parts, each.decoding(), each.steps(), "decoded tokens");
                }
                fact(
                        first,
                        each.phase().displayName() + ": "
                                + Plural.of(each.steps(), "annotated step") + " of "
                                + TraceFigures.duration(each.elapsedNs() / each.steps())
                                + " from the first kernel to the last" + (parts.isEmpty() ? "" : ", with ")
                                + String.join(", ", parts) + (each.steps() == 1 ? "" : ", on average"));
                first = "";
            }
        }

        private static void tokens(List<String> parts, Tokens tokens, long steps, String what) {
            tokens.count()
                    .ifPresent(sum -> parts.add(mean(sum, steps, what)
                            + (tokens.positions().isPresent()
                                    ? " over " + mean(tokens.positions().getAsLong(), steps, "positions")
                                    : "")
                            + (tokens.pairs().isPresent()
                                    ? " (" + mean(tokens.pairs().getAsLong(), steps, "pairs with keys")
                                            + " in each layer of full attention)"
                                    : "")));
        }

        private static String mean(long sum, long steps, String what) {
            String number = sum % steps == 0
                    ? TraceFigures.count(sum / steps)
                    : String.format(Locale.ROOT, "%,.1f", (double) sum / steps);
            return number + " " + what;
        }

        private void noRule() {
            if (counting == Counting.BRICKS || unmatched.events() == 0) {
                if (isVerbose) {
                    fact(
                            "no rule",
                            counting == Counting.BRICKS
                                    ? "the trace names its bricks itself; rules do not apply"
                                    : "a rule matched every event that counts");
                }
            } else {
                fact("no rule", unmatchedText());
            }
        }

        /**
         * Appends the evidence for kernels whose names do not show their brick: a line for each source, then one for
         * each brick.
         */
        private void placed() {
            String first = "placed";
            for (Source source : Source.values()) {
                Optional<Placement> all = placements(source);
                if (all.isPresent()) {
                    fact(first, source.displayName() + ": " + extent(all.get()));
                    if (isVerbose) {
                        bricks(placements.stream()
                                .filter(placement -> placement.source() == source)
                                .toList());
                    }
                    first = "";
                }
            }
        }

        private void bricks(List<Placement> parts) {
            parts.stream()
                    .limit(PLACEMENTS_SHOWN)
                    .forEach(part -> fact("", "  " + TraceFigures.plain(part.brick()) + ": " + extent(part)));
            if (parts.size() > PLACEMENTS_SHOWN) {
                fact("", "  and " + Plural.of(parts.size() - PLACEMENTS_SHOWN, "more brick"));
            }
        }

        /** Appends the activity of the virtual machine. */
        private void disturbed() {
            if (virtualMachine.anchors() > 0) {
                fact(
                        "clock",
                        "bricks placed within " + TraceFigures.duration(virtualMachine.clockErrorNs()) + " by "
                                + Plural.of(virtualMachine.anchors(), "anchor"));
            }
            String first = "meanwhile";
            for (Disturbance each : virtualMachine.disturbances().stream()
                    .limit(DISTURBANCES_SHOWN)
                    .toList()) {
                fact(
                        first,
                        TraceFigures.plain(each.brick()) + ": " + each.cause().displayName() + " "
                                + TraceFigures.duration(each.elapsedNs()) + ", " + percent(each.share())
                                + " of its time, "
                                + percent(each.shareOfTail()) + " of its p99");
                first = "";
            }
            int more = virtualMachine.disturbances().size() - DISTURBANCES_SHOWN;
            if (more > 0) {
                fact("", "and " + Plural.of(more, "more line"));
            }
        }

        private static String percent(double share) {
            return String.format(Locale.ROOT, "%.1f%%", 100 * share);
        }

        /** Appends the ranges in which kernels were launched. */
        private void launched() {
            if (ranges.isEmpty()) {
                return;
            }
            long allNs = ranges.stream().mapToLong(Range::elapsedNs).sum();
            List<Range> real = ranges.stream().filter(Range::isRange).toList();
            fact(
                    "ranges",
                    TraceFigures.count(real.stream().mapToLong(Range::events).sum()) + " of "
                            + Plural.of(ranges.stream().mapToLong(Range::events).sum(), "event") + ", "
                            + TraceFigures.percent(
                                    real.stream().mapToLong(Range::elapsedNs).sum(), allNs)
                            + " of device time, launched in a range: each in the innermost one");
            real.stream().limit(RANGES_SHOWN).forEach(this::range);
            if (real.size() > RANGES_SHOWN) {
                fact("", "  and " + Plural.of(real.size() - RANGES_SHOWN, "more range"));
            }
            ranges.stream().filter(range -> !range.isRange()).forEach(this::range);
        }

        /**
         * Appends the execution providers, if there are several. The longest operators of all but the largest provider
         * are appended, too, since they may be fallbacks.
         */
        private void provided() {
            if (providers.size() < 2) {
                return;
            }
            long allNs = providers.stream().mapToLong(Provider::elapsedNs).sum();
            fact("providers", TraceFigures.count(providers.size()) + ", of node time:");
            String largest = providers.get(0).name();
            for (Provider provider : providers) {
                String operators = provider.operatorNs().entrySet().stream()
                        .limit(OPERATORS_SHOWN)
                        .map(each -> TraceFigures.plain(each.getKey()) + " " + TraceFigures.duration(each.getValue()))
                        .collect(Collectors.joining(", "));
                fact(
                        "",
                        "  " + TraceFigures.plain(provider.name()) + ": "
                                + TraceFigures.percent(provider.elapsedNs(), allNs) + ", "
                                + Plural.of(provider.events(), "node") + ", "
                                + TraceFigures.duration(provider.elapsedNs())
                                + (provider.name().equals(largest) ? "" : ", longest " + operators));
            }
        }

        private void range(Range range) {
            fact(
                    "",
                    "  " + TraceFigures.plain(range.name()) + ": " + Plural.of(range.events(), "event") + ", "
                            + TraceFigures.duration(range.elapsedNs()));
        }

        private void list(String title, Predicate<Omission> which) {
            String first = title;
            for (Omission omission : omissions) {
                if (which.test(omission)) {
                    fact(first, omissionText(omission));
                    first = "";
                }
            }
        }

        private void fact(String what, String value) {
            lines.add(new Line(what, value));
        }
    }

    /** Sets the values by name; the others stay at 0, empty or unknown. Not thread-safe. */
    static final class Builder {
        private final ProfileSnapshot snapshot;
        private final Counting counting;
        private final Unmatched unmatched;
        private final VirtualMachine virtualMachine;
        private long wallNs;
        private long busyNs;
        private OptionalLong unlaunchedNs = OptionalLong.empty();
        private int rows;
        private int steps;
        private long eventsRead;
        private long eventsCounted;
        private List<Placement> placements = List.of();
        private List<Range> ranges = List.of();
        private List<Provider> providers = List.of();
        private List<Loading> loading = List.of();
        private List<AnnotatedSteps> annotatedSteps = List.of();
        private Optional<SlowSteps> slowSteps = Optional.empty();
        private Optional<LineProfile> lines = Optional.empty();
        private Optional<TraceReader.Summary> runs = Optional.empty();
        private List<Omission> omissions = List.of();

        private Builder(
                ProfileSnapshot snapshot, Counting counting, Unmatched unmatched, VirtualMachine virtualMachine) {
            this.snapshot = snapshot;
            this.counting = counting;
            this.unmatched = unmatched;
            this.virtualMachine = virtualMachine;
        }

        Builder times(long allNs, long unionNs) {
            wallNs = allNs;
            busyNs = unionNs;
            return this;
        }

        Builder unlaunched(OptionalLong idleNs) {
            unlaunchedNs = idleNs;
            return this;
        }

        Builder rows(int counted) {
            rows = counted;
            return this;
        }

        Builder steps(int slices) {
            steps = slices;
            return this;
        }

        Builder events(long read, long counted) {
            eventsRead = read;
            eventsCounted = counted;
            return this;
        }

        Builder placements(List<Placement> known) {
            placements = known;
            return this;
        }

        Builder ranges(List<Range> launching) {
            ranges = launching;
            return this;
        }

        Builder providers(List<Provider> executing) {
            providers = executing;
            return this;
        }

        Builder loading(List<Loading> parts) {
            loading = parts;
            return this;
        }

        Builder annotatedSteps(List<AnnotatedSteps> byPhase) {
            annotatedSteps = byPhase;
            return this;
        }

        Builder lines(Optional<LineProfile> ofBricks) {
            lines = ofBricks;
            return this;
        }

        Builder slowSteps(Optional<SlowSteps> chosen) {
            slowSteps = chosen;
            return this;
        }

        Builder runs(Optional<TraceReader.Summary> timed) {
            runs = timed;
            return this;
        }

        Builder omissions(List<Omission> named) {
            omissions = named;
            return this;
        }

        TraceProfile build() {
            return new TraceProfile(
                    snapshot,
                    counting,
                    wallNs,
                    busyNs,
                    unlaunchedNs,
                    rows,
                    steps,
                    eventsRead,
                    eventsCounted,
                    unmatched,
                    placements,
                    ranges,
                    providers,
                    virtualMachine,
                    loading,
                    annotatedSteps,
                    slowSteps,
                    lines,
                    runs,
                    omissions);
        }
    }
}
