package org.brickprofiler.cli;

import java.io.Closeable;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.stream.Stream;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.report.Finding;
import org.brickprofiler.report.FindingSource;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.PagePart;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.SlowSteps;
import org.brickprofiler.trace.read.Omission;
import org.brickprofiler.trace.read.ReadOptions;
import org.brickprofiler.trace.read.TraceProfile;
import org.brickprofiler.trace.read.TraceProfile.AnnotatedSteps;
import org.brickprofiler.trace.read.TraceProfile.Disturbance;
import org.brickprofiler.trace.read.TraceProfile.Loading;
import org.brickprofiler.trace.read.TraceProfile.Placement;
import org.brickprofiler.trace.read.TraceProfile.Range;
import org.brickprofiler.trace.read.TraceProfile.VirtualMachine;
import org.brickprofiler.trace.read.TraceReader;
import org.brickprofiler.trace.read.TraceTimeline;
import picocli.CommandLine;

/**
 * The profile of an input, and its form in reports. Immutable, except for the timeline, which belongs to one thread.
 *
 * @param name the name of the input in messages
 * @param snapshot the profile
 * @param slowest the slow steps of the run, if the input is a report that has them
 * @param lines the lines of its bricks, if the input is a report or a flight recording that has them
 * @param trace the omissions and placements of the trace, if the input is a trace
 * @param timeline the timeline, if it was requested and the input is a trace with times
 */
record ProfileInput(
        String name,
        ProfileSnapshot snapshot,
        Optional<SlowSteps> slowest,
        Optional<LineProfile> lines,
        Optional<TraceProfile> trace,
        Optional<TraceTimeline> timeline)
        implements Closeable {

    /** Longer lines of prose are hard to read. */
    private static final int MOST_COLUMNS = 100;

    /** Makes the profile of an input without the slow steps and lines of a whole run. */
    ProfileInput(
            String name, ProfileSnapshot snapshot, Optional<TraceProfile> trace, Optional<TraceTimeline> timeline) {
        this(name, snapshot, Optional.empty(), Optional.empty(), trace, timeline);
    }

    /**
     * Reads the profile of a report or a trace; the content decides which of the two the file is.
     *
     * @param file a file, a pipe, or {@code -} for the standard input
     * @param options the options for a trace
     * @return the profile
     * @throws IOException if the file cannot be read; the message names the file
     * @throws IllegalArgumentException if an option is invalid; the message names the option
     */
    static ProfileInput read(Path file, TraceOptions options) throws IOException {
        return read(List.of(file), options, false);
    }

    /**
     * Reads the profile of one input, which may be several files of one run.
     *
     * @param files a file, a pipe, {@code -} for the standard input, a folder of tables, or several files of one run
     * @param options the options for a trace
     * @return the profile
     * @throws IOException if a file cannot be read; the message names the file
     * @throws IllegalArgumentException if an option is invalid; the message names the option
     */
    static ProfileInput read(List<Path> files, TraceOptions options) throws IOException {
        return read(files, options, false);
    }

    /**
     * Reads the profile of a report, or profile and timeline of a trace; the content decides which of the two the file
     * is.
     *
     * @param files a file, a pipe, {@code -} for the standard input, a folder of tables, or several files of one run
     * @param options the options for a trace
     * @return the profile; the caller closes it
     * @throws IOException if the file cannot be read; the message names the file
     * @throws IllegalArgumentException if an option is invalid; the message names the option
     */
    static ProfileInput withTimeline(List<Path> files, TraceOptions options) throws IOException {
        return read(files, options, true);
    }

    /**
     * Reads the profiles of replicas that run, through the ports of their agents, as one: see
     * {@link ProfileSnapshot#merge}.
     *
     * @param addresses at least one
     * @param options the options for a trace, of which none may be set
     * @throws IOException if one of them does not answer
     */
    static ProfileInput ofReplicas(List<String> addresses, TraceOptions options) throws IOException {
        if (options.isAnySet()) {
            throw new IllegalArgumentException(addresses.get(0)
                    + " is no trace; --rules, --agent-rules, --skip-steps, --keep-warmup and --salvage are for traces");
        }
        Map<String, ProfileSnapshot> replicas = new LinkedHashMap<>();
        for (String address : addresses) {
            PortSource replica = PortSource.of(address);
            if (replicas.put(replica.name(), replica.snapshot()) != null) {
                throw new IllegalArgumentException(replica.name() + " is given twice, and would count twice");
            }
        }
        String name = String.join(" and ", replicas.keySet());
        return new ProfileInput(name, together(name, replicas.values()), Optional.empty(), Optional.empty());
    }

    private static ProfileSnapshot together(String names, Collection<ProfileSnapshot> replicas) {
        ProfileSnapshot all = replicas.stream().reduce(ProfileSnapshot::merge).orElseThrow();
        if (replicas.size() == 1) {
            return all;
        }
        List<OptionalDouble> rates =
                replicas.stream().map(each -> each.facts().tokensPerSec()).toList();
        RunFacts facts = all.facts();
        List<String> remarks = new ArrayList<>(facts.disturbances());
        remarks.add("these are the sums of " + names + ": wall times are added, too, so other rates per second than"
                + " the tokens/s of the run are those of one replica on average");
        OptionalDouble rate = rates.stream().allMatch(OptionalDouble::isPresent)
                ? OptionalDouble.of(
                        rates.stream().mapToDouble(OptionalDouble::getAsDouble).sum())
                : OptionalDouble.empty();
        return all.withFacts(facts.withMachine(facts.machine(), remarks).withRates(rate, OptionalDouble.empty()));
    }

    private static ProfileInput read(List<Path> files, TraceOptions options, boolean withTimeline) throws IOException {
        options.check();
        try (Input.Opened input = new Input.Opened(files)) {
            return switch (input.kind()) {
                case REPORT -> report(input, options);
                case CHECKSUMS ->
                    throw new IOException(input.name + " is a log of checksums; brick diverge compares two of them");
                case SUMMARY -> throw input.withoutBricks();
                case TRACE -> {
                    ProfileInput trace = trace(input, options.toReadOptions(), withTimeline);
                    if (options.isByFrames() && !trace.isByFrames()) {
                        trace.close();
                        throw new IllegalArgumentException(trace.lines()
                                .flatMap(LineProfile::missing)
                                .map(reason -> "the lines of " + input.name + " are unknown: " + reason)
                                .orElse(input.name + " is no flight recording with samples of stacks and without"
                                        + " bricks that they can be joined with; --agent-rules is for these"));
                    }
                    yield trace;
                }
            };
        }
    }

    private static ProfileInput report(Input.Opened input, TraceOptions options) throws IOException {
        if (options.isAnySet()) {
            throw new IllegalArgumentException(input.name
                    + " is a report; --rules, --agent-rules, --skip-steps, --keep-warmup and --salvage are for traces");
        }
        Input.Opened.WholeReport report = input.wholeReport();
        return new ProfileInput(
                input.name, report.snapshot(), report.slowest(), report.lines(), Optional.empty(), Optional.empty());
    }

    private static ProfileInput trace(Input.Opened input, ReadOptions options, boolean withTimeline)
            throws IOException {
        if (!withTimeline) {
            TraceProfile profile = input.trace(options, TraceReader::profile, TraceReader::profile);
            return ofTrace(input, profile, Optional.empty());
        }
        TraceReader.Contents contents = input.trace(options, TraceReader::read, TraceReader::read);
        return ofTrace(input, contents.profile(), contents.timeline());
    }

    private static ProfileInput ofTrace(Input.Opened input, TraceProfile profile, Optional<TraceTimeline> timeline) {
        return new ProfileInput(
                input.name, profile.snapshot(), Optional.empty(), profile.lines(), Optional.of(profile), timeline);
    }

    /** Returns whether the input is a report, or a trace whose events have times. */
    boolean hasTimes() {
        return trace.map(profile -> profile.counting().hasTimes()).orElse(true);
    }

    @Override
    public void close() throws IOException {
        if (timeline.isPresent()) {
            timeline.get().close();
        }
    }

    /** Returns how the trace was read, for a page; empty for a report. */
    Optional<PagePart> account() {
        return trace.map(TraceProfile::part);
    }

    /** Returns the explanation of the steps if the trace holds chosen steps only. */
    Optional<SlowSteps> slowSteps() {
        return trace.flatMap(TraceProfile::slowSteps);
    }

    /**
     * Refuses a trace with chosen steps only, whose sums are not those of its run.
     *
     * @param use what the profile is for
     * @return this
     * @throws IllegalArgumentException when the trace holds chosen steps only; the message names the input
     */
    ProfileInput requireWholeRun(String use) {
        if (slowSteps().isPresent()) {
            throw new IllegalArgumentException(
                    name + " holds chosen steps only, and its sums are not those of the run: it cannot be " + use);
        }
        return this;
    }

    /**
     * Returns the report as text; for a trace, the counted and omitted events come first, and before them the
     * explanation of chosen steps. The slow steps and the lines of a report come last.
     *
     * @param columns the width of the tables
     * @param isVerbose whether to account for every event that was read, and for the profile itself
     */
    String text(int columns, boolean isVerbose) {
        String explained = slowSteps().map(steps -> steps.text() + "\n").orElse("");
        String above = trace.map(profile -> profile.summary(isVerbose) + "\n").orElse("");
        String below = slowest.filter(steps -> !steps.slowest().isEmpty())
                .map(steps -> "\nSlow steps" + steps.sentences())
                .orElse("");
        String bricks = isByFrames() && snapshot.bricks().isEmpty()
                ? ""
                : TextReport.render(snapshot, columns, isVerbose) + below;
        String ofLines =
                lines.map(each -> (bricks.isEmpty() ? "" : "\n") + each.text()).orElse("");
        return explained + above + bricks + ofLines;
    }

    /**
     * Returns this if the times of its bricks are known.
     *
     * @param refused the beginning of a refusal
     * @throws IllegalArgumentException if only samples show the bricks
     */
    ProfileInput requireTimes(String refused) {
        if (isByFrames() && snapshot.bricks().isEmpty()) {
            throw new IllegalArgumentException(refused
                    + ": a table has the times of bricks, which samples do not show; JSON and text have the samples");
        }
        return this;
    }

    /** Returns whether frames of samples show the bricks of lines. */
    boolean isByFrames() {
        return lines.flatMap(LineProfile::byFrames).isPresent();
    }

    /**
     * Returns the findings.
     *
     * @param rooflines its rooflines, if they were requested
     * @return the findings; those on slow steps if the trace holds chosen steps only, whose sums are not those of the
     *     run
     */
    List<Finding> findings(FindingSource... rooflines) {
        if (slowSteps().isPresent()) {
            return Findings.ranked(slowSteps().get().candidates(snapshot), false);
        }
        FindingSource[] sources = Stream.of(
                        trace.stream(),
                        slowest.map(SlowSteps::besideRun).stream(),
                        lines.stream(),
                        Stream.of(rooflines))
                .flatMap(each -> each)
                .toArray(FindingSource[]::new);
        return Findings.of(snapshot, sources);
    }

    /** Returns the findings as text, whose next steps name this input. */
    String findingsText(int columns, FindingSource... rooflines) {
        List<Finding> named = findings(rooflines).stream()
                .map(finding -> new Finding(
                        finding.kind(),
                        finding.place(),
                        finding.share(),
                        finding.sentence(),
                        finding.next().replace(" FILE ", " " + name + " ")))
                .toList();
        return Findings.text(named, Math.min(columns, MOST_COLUMNS));
    }

    /**
     * Returns the further entries of a JSON report. For a trace, these are the sources that placed its matrix products,
     * the ranges that launched them, the loading of the model, the annotated steps, the execution providers, the times
     * of runs, the slow steps, the lines of bricks, and the disturbances by the virtual machine.
     */
    Map<String, ?> further() {
        List<Placement> placements = trace.map(TraceProfile::placements).orElse(List.of());
        List<Range> ranges = trace.map(TraceProfile::ranges).orElse(List.of());
        Map<String, Object> further = new LinkedHashMap<>();
        if (!placements.isEmpty()) {
            further.put(
                    "placements", placements.stream().map(ProfileInput::fields).toList());
        }
        if (!ranges.isEmpty()) {
            further.put("ranges", ranges.stream().map(ProfileInput::fields).toList());
        }
        List<Loading> loading = trace.map(TraceProfile::loading).orElse(List.of());
        if (!loading.isEmpty()) {
            further.put("loading", loading.stream().map(ProfileInput::fields).toList());
        }
        List<AnnotatedSteps> annotated = trace.map(TraceProfile::annotatedSteps).orElse(List.of());
        if (!annotated.isEmpty()) {
            further.put(
                    "annotated_steps",
                    annotated.stream().map(ProfileInput::fields).toList());
        }
        List<TraceProfile.Provider> providers =
                trace.map(TraceProfile::providers).orElse(List.of());
        if (!providers.isEmpty()) {
            further.put(
                    "providers", providers.stream().map(ProfileInput::fields).toList());
        }
        trace.flatMap(TraceProfile::runs).ifPresent(runs -> further.put("runs", runs.values()));
        slowSteps().ifPresent(steps -> further.put(JsonReport.SLOW_STEPS, steps.values()));
        slowest.ifPresent(steps -> further.put(JsonReport.SLOWEST_STEPS, steps.values()));
        lines.ifPresent(each -> further.put(JsonReport.LINES, each.values()));
        trace.map(TraceProfile::virtualMachine)
                .filter(machine ->
                        machine.anchors() > 0 || !machine.disturbances().isEmpty())
                .ifPresent(machine -> further.put("virtual_machine", fields(machine)));
        return further;
    }

    private static Map<String, ?> fields(VirtualMachine machine) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("clock_anchors", machine.anchors());
        fields.put("clock_error_ns", machine.clockErrorNs());
        fields.put(
                "disturbances",
                machine.disturbances().stream().map(ProfileInput::fields).toList());
        return fields;
    }

    private static Map<String, ?> fields(Disturbance disturbance) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("brick", disturbance.brick());
        fields.put("cause", disturbance.cause().displayName());
        fields.put("total_ns", disturbance.elapsedNs());
        fields.put("share", disturbance.share());
        fields.put("share_of_p99", disturbance.shareOfTail());
        return fields;
    }

    private static Map<String, ?> fields(Loading part) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", part.name());
        fields.put("count", part.events());
        fields.put("total_ns", part.elapsedNs());
        return fields;
    }

    private static Map<String, ?> fields(AnnotatedSteps steps) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("phase", steps.phase().displayName());
        fields.put("count", steps.steps());
        fields.put("total_ns", steps.elapsedNs());
        fields.put("max_ns", steps.longestNs());
        steps.sequences().ifPresent(sum -> fields.put("sequences", sum));
        steps.prompts().count().ifPresent(sum -> fields.put("prompt_tokens", sum));
        steps.prompts().positions().ifPresent(sum -> fields.put("prompt_positions", sum));
        steps.prompts().pairs().ifPresent(sum -> fields.put("prompt_pairs_if_full_attention", sum));
        steps.decoding().count().ifPresent(sum -> fields.put("decoded_tokens", sum));
        steps.decoding().positions().ifPresent(sum -> fields.put("decoded_positions", sum));
        steps.decoding().pairs().ifPresent(sum -> fields.put("decoded_pairs_if_full_attention", sum));
        return fields;
    }

    private static Map<String, ?> fields(Range range) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", range.name());
        fields.put("count", range.events());
        fields.put("total_ns", range.elapsedNs());
        return fields;
    }

    private static Map<String, ?> fields(TraceProfile.Provider provider) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", provider.name());
        fields.put("count", provider.events());
        fields.put("total_ns", provider.elapsedNs());
        fields.put("operator_ns", provider.operatorNs());
        return fields;
    }

    private static Map<String, ?> fields(Placement placement) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("brick", placement.brick());
        fields.put("category", placement.category().displayName());
        fields.put("source", placement.source().name());
        fields.put("count", placement.events());
        fields.put("total_ns", placement.elapsedNs());
        fields.put("agreement", placement.agreement());
        return fields;
    }

    /** Returns the exit code, and reports damage of the trace and a profile without bricks. */
    int exitCode(PrintWriter err) {
        trace.stream()
                .flatMap(profile -> profile.omissions().stream())
                .filter(omission -> omission.reason() == Omission.Reason.DAMAGE)
                .forEach(damage -> Brick.report(
                        err,
                        name + " is damaged (offset " + damage.firstOffset() + ": " + damage.name()
                                + "); this is what stands before it"));
        slowSteps()
                .ifPresent(steps -> Brick.report(
                        err, name + " holds chosen steps only: sums and shares are of these steps, not of the run"));
        if (!snapshot.bricks().isEmpty()
                || (isByFrames()
                        && lines.stream().anyMatch(each -> !each.bricks().isEmpty()))) {
            return CommandLine.ExitCode.OK;
        }
        Brick.report(
                err,
                name + " holds no brick that was recorded"
                        + (isByFrames()
                                ? ": no sample has a method on its stack that the rules name"
                                : lines.isPresent()
                                        ? "; --agent-rules FILE names the methods in which its samples of stacks count"
                                        : ""));
        return CommandLine.ExitCode.SOFTWARE;
    }
}
