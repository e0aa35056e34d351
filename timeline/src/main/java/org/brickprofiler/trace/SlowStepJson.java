package org.brickprofiler.trace;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.trace.JsonTable.Field;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.SlowSteps.SampledMethod;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.Typical;
import org.brickprofiler.trace.SlowSteps.Verdict;

/**
 * The JSON form of slow steps. The writer, the types of the page's data and {@code docs/format.md} are derived from its
 * tables of fields. Stateless; any thread.
 */
final class SlowStepJson {

    private static final String SUBJECT = "slow steps";

    private SlowStepJson() {}

    static final JsonTable<PhaseSteps> PHASE = new JsonTable<>(
            "phase of slow steps",
            List.of(
                    Field.constant("phase", "phase of the steps: prefill, decode or mixed", PhaseSteps::phase),
                    Field.number("count", "steps that ended", PhaseSteps::steps),
                    Field.number("kept", "steps whose spans the timeline has", PhaseSteps::kept),
                    Field.number(
                            "median_step",
                            "number of a kept step close to the median; -1 without one",
                            PhaseSteps::median)));

    static final JsonTable<Part> PART = new JsonTable<>(
            "part of a slow step",
            List.of(
                    Field.constant("kind", "kind of the part, such as brick or garbage_collection", Part::kind),
                    new Field<>("name", "the brick, or the kind in words", "string", "", Part::name),
                    Field.number(
                            "excess_ns",
                            "time beyond that of the typical step, ns; negative if less",
                            Part::excessNs)));

    static final JsonTable<SampledMethod> METHOD = new JsonTable<>(
            "method of a slow step",
            List.of(
                    new Field<>("brick", "brick", "string", "", SampledMethod::brick),
                    new Field<>("method", "class and method, if known", "string", "", SampledMethod::method),
                    Field.number("samples", "samples in it", SampledMethod::samples)));

    static final JsonTable<SamplesOfStep> SAMPLES = new JsonTable<>(
            "samples of a slow step",
            List.of(
                    Field.constant(
                            "state",
                            "COMPLETE, or why some are unknown: MORE_TO_COME or BEGINNING_MISSING",
                            SamplesOfStep::state),
                    Field.number("in_bricks", "samples in bricks", SamplesOfStep::inBricks),
                    Field.number("outside", "samples of its thread in no brick", SamplesOfStep::outside),
                    Field.number(
                            "unknown", "samples too late, or in bricks of several profilers", SamplesOfStep::unknown),
                    METHOD.in("methods", "methods with the most samples, at most 5", SamplesOfStep::hottest)));

    static final JsonTable<Explained> STEP = new JsonTable<>(
            "slow step",
            List.of(
                    Field.number("step", "number of the step", Explained::index),
                    Field.constant(
                            "phase", "phase of the step", step -> step.info().phase()),
                    Field.number("start_ns", "beginning on the clock of the timeline, ns", Explained::startNs),
                    new Field<>(
                            "started_at",
                            "beginning by the system's clock, UTC, to within 2 ms",
                            "string",
                            "if known",
                            step -> step.startedAt().map(Fields.MOMENT::format).orElse(null)),
                    Field.number("duration_ns", "duration, ns", Explained::durationNs),
                    Field.number("batch", "sequences of the batch", step -> step.info()
                            .batch()),
                    Field.number("prefill_tokens", "tokens of prompts", step -> step.info()
                            .prefillTokens()),
                    Field.number(
                            "kv_length",
                            "positions in the key-value cache, summed over the sequences",
                            step -> step.info().kvLength()),
                    Field.number("output_tokens", "output tokens", step -> step.info()
                            .outputTokens()),
                    Field.number("drafted_tokens", "drafted tokens", step -> step.info()
                            .draftedTokens()),
                    Field.constant(
                            "verdict",
                            "explained or beside_other_steps if the parts explain the step; else the reason why not",
                            Explained::verdict),
                    Field.number(
                            "typical_ns",
                            "duration of the typical step of its size, ns; 0 without a verdict",
                            step -> step.typical().elapsedNs()),
                    Field.number("compared", "steps that make the typical one", step -> step.typical()
                            .compared()),
                    Field.number(
                            "as_long", "those of them that took as long as the step, or longer", step -> step.typical()
                                    .asLong()),
                    Field.number("longest_ns", "duration of the longest of them, ns", step -> step.typical()
                            .longestNs()),
                    Field.number("sampled", "steps of the phase to choose from", step -> step.typical()
                            .sampled()),
                    Field.number("sampled_kv_length", "median of the KV length of those", step -> step.typical()
                            .sampledKvLength()),
                    Field.number(
                            "sampled_prefill_tokens", "median of the prompt tokens of those", step -> step.typical()
                                    .sampledPrefillTokens()),
                    Field.number("sampled_batch", "median of the batch of those", step -> step.typical()
                            .sampledBatch()),
                    new Field<>(
                            "unknown",
                            "kinds unknown for it, or known for at most 4 of the compared ones: other parts have their"
                                    + " time",
                            "string[]",
                            "",
                            step -> step.unknown().stream()
                                    .map(JsonTable::constant)
                                    .toList()),
                    PART.in("parts", "parts of the excess, largest first; empty without a verdict", Explained::parts),
                    SAMPLES.in("samples", "samples of stacks", "if stacks are sampled", Explained::samples),
                    new Field<>("text", "the step as a sentence", "string", JsonTable.IGNORED, Explained::sentence)));

    static final JsonTable<SlowSteps> ALL = new JsonTable<>(
            "slow steps",
            List.of(
                    Field.number("spans_kept", "events of the kept steps in the timeline", SlowSteps::spansKept),
                    Field.number(
                            "spans_left_out",
                            "dropped events of other steps, and between steps",
                            SlowSteps::spansLeftOut),
                    PHASE.in("phases", "steps of each phase", SlowSteps::phases),
                    STEP.in("steps", "slowest steps of each phase, slowest first", SlowSteps::slowest)));

    /** All tables, the outermost first. */
    static final List<JsonTable<?>> TABLES = List.of(ALL, PHASE, STEP, PART, SAMPLES, METHOD);

    static Map<String, Object> values(SlowSteps steps) {
        return ALL.values(steps);
    }

    static Optional<SlowSteps> ofReport(InputStream text) throws IOException {
        return JsonValues.ofReport(text, JsonReport.SLOWEST_STEPS, SUBJECT).map(SlowStepJson::steps);
    }

    static SlowSteps read(String text) {
        return steps(JsonValues.read(text, SUBJECT));
    }

    private static SlowSteps steps(JsonValues all) {
        return new SlowSteps(
                all.objects("phases").stream().map(SlowStepJson::phase).toList(),
                all.objects("steps").stream().map(SlowStepJson::step).toList(),
                all.number("spans_kept"),
                all.number("spans_left_out"));
    }

    private static PhaseSteps phase(JsonValues of) {
        return new PhaseSteps(
                of.constant("phase", StepInfo.Phase.class),
                of.number("count"),
                of.integer("kept"),
                of.number("median_step"));
    }

    private static Explained step(JsonValues of) {
        StepInfo info = new StepInfo(
                of.constant("phase", StepInfo.Phase.class),
                of.integer("batch"),
                of.number("prefill_tokens"),
                of.number("kv_length"),
                of.number("output_tokens"),
                of.number("drafted_tokens"));
        Typical typical = new Typical(
                of.number("typical_ns"),
                of.integer("compared"),
                of.integer("as_long"),
                of.number("longest_ns"),
                of.integer("sampled"),
                of.number("sampled_kv_length"),
                of.number("sampled_prefill_tokens"),
                of.number("sampled_batch"));
        return new Explained(
                of.number("step"),
                of.number("start_ns"),
                of.moment("started_at"),
                of.number("duration_ns"),
                info,
                of.constant("verdict", Verdict.class),
                typical,
                of.objects("parts").stream()
                        .map(part -> new Part(
                                part.constant("kind", Kind.class), part.text("name"), part.number("excess_ns")))
                        .toList(),
                Set.copyOf(of.constants("unknown", Kind.class)),
                of.object("samples").map(SlowStepJson::samples));
    }

    private static SamplesOfStep samples(JsonValues of) {
        return new SamplesOfStep(
                of.constant("state", SamplesOfStep.State.class),
                of.number("in_bricks"),
                of.number("outside"),
                of.number("unknown"),
                of.objects("methods").stream()
                        .map(method -> new SampledMethod(
                                method.text("brick"), method.text("method"), method.number("samples")))
                        .toList());
    }
}
