package org.brickprofiler.agent;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.function.Consumer;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.request.RequestRecorder;
import org.brickprofiler.trace.SourceLinks;
import org.brickprofiler.trace.TraceRecorder;
import org.brickprofiler.trace.write.TraceFiles;
import org.jspecify.annotations.Nullable;

/**
 * The profiler of the woven rules, and what is recorded beside it: steps, requests, work, reached rules, losses. The
 * agent has one. Any thread.
 */
final class Recording {

    /** The number of slowest steps of each phase that are kept. */
    private static final int SLOW_STEPS = 8;

    /** The most spans of a thread if slow steps are only served; with lines, which need more of them, 1 MiB. */
    private static final int SERVED_THREAD_SPANS = 1 << 14;

    private static final int LINES_THREAD_SPANS = (1 << 20) / 24;

    /** The most spans of all threads then: 24 MiB. */
    private static final int SERVED_SPANS = 1 << 20;

    final BrickProfiler profiler;

    /** The recorder of the timeline, of all steps or of the slowest; null without an option that asks for one. */
    final @Nullable TraceRecorder trace;

    /** Whether {@link #trace} keeps slow steps. */
    final boolean keepsSlowSteps;

    final Recorder.StepCounts steps;
    final WovenRequests requests;

    /** The recorder of the requests; null if none are recorded. */
    final @Nullable RequestRecorder servedRequests;

    final WovenWork work;
    final ReachedRules reached;
    final AgentLosses losses;

    /** Switches recording on and off in turns; null without the option {@code ab}. */
    final @Nullable Alternation alternation;

    /** The profiles that ONNX Runtime records of its sessions; empty unless these are the shipped rules for it. */
    final Optional<OnnxSessions> sessions;

    /** The links of lines to sources; empty without the option {@code sources}. */
    final Optional<SourceLinks> sources;

    private final AgentOptions options;

    /**
     * Creates the profiler of the rules.
     *
     * @param options the options of the agent
     * @param reading returns the rules that are woven
     * @param say prints a message
     * @throws IOException when the rules cannot be read
     * @throws IllegalArgumentException when an option needs steps and no rule has them, the timeline's name has no
     *     known ending, or a root of sources is no folder and no address
     */
    Recording(AgentOptions options, Ahead.Task<RuleFile.Rules> reading, Consumer<String> say) throws IOException {
        this.options = options;
        sources = options.sources().isEmpty() ? Optional.empty() : Optional.of(SourceLinks.to(options.sources()));
        losses = new AgentLosses(say);
        sessions = OnnxSessions.of(options, say);
        BrickProfilerBuilder builder = BrickProfiler.builder().stepCpuTimes(true);
        Path timeline = options.timeline();
        if (timeline != null) {
            TraceFiles.requireFormat(timeline);
        }
        keepsSlowSteps =
                options.slow() != null || (timeline == null && options.asksForRecording() && hasSteps(reading.run()));
        trace = keepsSlowSteps || options.lines() || timeline != null ? recorder(options, keepsSlowSteps) : null;
        if (trace != null) {
            builder.tracing(trace);
        }
        profiler = builder.build();
        RuleFile.Rules rules = reading.run();
        requireSteps(rules, options.rules());
        requireRequests(rules, options.rules());
        alternation = options.ab().isPresent()
                ? new Alternation(profiler, options.ab().getAsLong())
                : null;
        boolean hasRequests = hasRequests(rules);
        if (hasRequests && alternation != null) {
            say.accept(
                    "requests are not recorded: ab= switches recording off and on, which gives up the requests under way");
        }
        servedRequests = hasRequests && alternation == null ? profiler.requests() : null;
        requests = new WovenRequests(servedRequests, losses);
        steps = new Recorder.StepCounts(options.warmup().orElse(rules.warmupSteps()), this::discard, alternation);
        reached = new ReachedRules(rules.rules());
        work = new WovenWork(rules.rules(), this::keyOf, profiler, losses);
    }

    private static TraceRecorder recorder(AgentOptions options, boolean keepsSlowSteps) {
        TraceRecorder.Builder builder = TraceRecorder.builder().lines(options.lines());
        if (keepsSlowSteps) {
            builder.keepSlowSteps(SLOW_STEPS);
        }
        if (options.timeline() == null) {
            builder.threadCapacity(options.lines() ? LINES_THREAD_SPANS : SERVED_THREAD_SPANS)
                    .totalCapacity(SERVED_SPANS);
        }
        return builder.build();
    }

    private static boolean hasSteps(RuleFile.Rules rules) {
        return rules.rules().stream().anyMatch(rule -> rule.kind() == WeaveRule.Kind.STEP);
    }

    /**
     * Reads rules that replace the present ones.
     *
     * @throws IOException when they cannot be read
     * @throws IllegalArgumentException when they are no rules, or lack what an option of the agent needs
     */
    RuleFile.Rules readOther(Path file) throws IOException {
        if (alternation != null) {
            throw new IllegalArgumentException("ab= compares the tokens of one file of rules: it cannot be changed");
        }
        RuleFile.Rules others = RuleFile.read(file, work.nextProduct());
        requireSteps(others, file);
        requireRequests(others, file);
        return others;
    }

    /**
     * Discards everything recorded, and has other rules woven and recorded. Requests and steps under way are given up;
     * steps that begin meanwhile are not recorded.
     *
     * @param weaving weaves the rules
     */
    void change(RuleFile.Rules others, Runnable weaving) {
        boolean wasOn = profiler.isEnabled();
        profiler.disable();
        reached.change(others.rules());
        if (hasRequests(others)) {
            requests.record(profiler.requests());
        }
        work.change(others.rules());
        steps.warmUp(others.warmupSteps());
        try {
            weaving.run();
        } finally {
            discard();
            if (wasOn) {
                profiler.enable();
            }
            reached.weavingEnds();
        }
    }

    private void requireSteps(RuleFile.Rules rules, @Nullable Path file) {
        if (hasSteps(rules)) {
            return;
        }
        String none = " steps, and there is no step: in " + file;
        if (options.ab().isPresent()) {
            throw new IllegalArgumentException("ab= compares" + none);
        }
        if (options.slow() != null) {
            throw new IllegalArgumentException("slow= keeps" + none);
        }
        if (options.warmup().isPresent()) {
            throw new IllegalArgumentException("warmup= counts" + none);
        }
    }

    private static boolean hasRequests(RuleFile.Rules rules) {
        return rules.rules().stream().anyMatch(rule -> rule.kind().isOfRequests());
    }

    private void requireRequests(RuleFile.Rules rules, @Nullable Path file) {
        if (options.spans().isPresent() && (options.ab().isPresent() || !hasRequests(rules))) {
            throw new IllegalArgumentException("spans= exports requests, and "
                    + (hasRequests(rules) ? "ab= records none" : "there is no request: or requests: in " + file));
        }
    }

    /** Returns the key of a rule's brick. A rule for a known brick has no category. */
    int keyOf(WeaveRule rule) {
        return rule.category()
                .map(category -> profiler.brickKey(rule.brick(), category))
                .orElseGet(() -> profiler.brickKey(rule.brick()));
    }

    /** Discards everything recorded: after the warm-up, and when a client of the bean resets the profile. */
    void discard() {
        losses.discard();
        reached.discard(profiler.allBrickStats());
        steps.discard();
        requests.discard();
        work.discard();
        profiler.reset();
        if (trace != null) {
            trace.clear();
        }
    }
}
