package org.brickprofiler.trace;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.stream.Collectors;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.internal.Fields;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.SampledMethod;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;
import org.brickprofiler.trace.SlowSteps.Typical;

/** Slow steps as sentences. Stateless; any thread. */
final class SlowStepText {

    private static final int MOST_PARTS = 5;

    /** Parts below this share of the largest one are summed up. */
    private static final double SMALLEST_SHARE = 0.05;

    /** A size this many times the sample's median is named. */
    private static final double UNUSUAL = 2;

    private SlowStepText() {}

    /** Returns a section of a report. */
    static String render(SlowSteps steps) {
        StringBuilder text = new StringBuilder("Slow steps\n");
        text.append("  ").append(held(steps)).append('\n');
        text.append(String.format(
                Locale.ROOT,
                "  %s; %s.\n",
                Plural.of(steps.spansKept(), "event of them is kept", "events of them are kept"),
                Plural.of(
                        steps.spansLeftOut(),
                        "event of other steps, and between steps, was dropped",
                        "events of other steps, and between steps, were dropped")));
        return text.append(sentences(steps)).toString();
    }

    /** Returns a sentence for each of the slowest steps, by phase. */
    static String sentences(SlowSteps steps) {
        StringBuilder text = new StringBuilder();
        for (SlowSteps.PhaseSteps phase : steps.phases()) {
            List<Explained> slowest = steps.slowest().stream()
                    .filter(step -> step.info().phase() == phase.phase())
                    .toList();
            if (!slowest.isEmpty()) {
                text.append("\n  ")
                        .append(phase.phase().displayName())
                        .append(", the slowest of " + Plural.of(phase.steps(), "step") + ":\n");
                slowest.forEach(step -> text.append("  ")
                        .append(sentence(step))
                        .append(ownUnknown(step, steps))
                        .append('\n'));
            }
        }
        Set<Kind> never = unknownInAll(steps.slowest());
        if (!never.isEmpty()) {
            text.append("\n  Unknown in all of them, so part of the other times: ")
                    .append(names(never))
                    .append(".\n");
        }
        return text.toString();
    }

    /** Returns how many of the steps of each phase the timeline holds, as a sentence. */
    static String held(SlowSteps steps) {
        String held = steps.phases().stream()
                .map(phase -> String.format(
                        Locale.ROOT,
                        "%,d of %s",
                        phase.kept(),
                        Plural.of(phase.steps(), phase.phase().displayName() + " step")))
                .collect(Collectors.joining(", "));
        return "This timeline holds chosen steps only: " + (held.isEmpty() ? "no step has ended" : held) + ".";
    }

    private static Set<Kind> unknownInAll(List<Explained> steps) {
        Set<Kind> all = EnumSet.allOf(Kind.class);
        steps.forEach(step -> all.retainAll(step.unknown()));
        return steps.isEmpty() ? Set.of() : all;
    }

    private static String ownUnknown(Explained step, SlowSteps steps) {
        Set<Kind> own = EnumSet.noneOf(Kind.class);
        own.addAll(step.unknown());
        own.removeAll(unknownInAll(steps.slowest()));
        return own.isEmpty() ? "" : " Unknown: " + names(own) + ".";
    }

    private static String names(Set<Kind> kinds) {
        return kinds.stream().map(Kind::displayName).collect(Collectors.joining(", "));
    }

    /** Returns one step as a sentence. */
    static String sentence(Explained step) {
        Unit unit = Unit.of(step.durationNs());
        String head = String.format(Locale.ROOT, "Step %,d", step.index())
                + step.startedAt().map(at -> " at " + Fields.MOMENT.format(at)).orElse("") + ": "
                + unit.text(step.durationNs());
        return step.verdict().isExplained()
                ? head + explanation(step, unit) + size(step) + samples(step)
                : head + "; no verdict: " + reason(step) + "." + size(step) + samples(step);
    }

    private static String samples(Explained step) {
        return step.samples().map(SlowStepText::samples).orElse("");
    }

    /** Returns sentences about samples of stacks; empty if all have arrived, and there are none. */
    private static String samples(SamplesOfStep samples) {
        List<String> parts = new ArrayList<>();
        long others = samples.inBricks();
        for (SampledMethod each : samples.hottest()) {
            String method = LineProfileText.shortPlace(new Frame(each.method(), Frame.NO_LINE, ""));
            addPart(parts, each.samples(), "in " + each.brick() + (method.isEmpty() ? "" : " (" + method + ")"));
            others -= each.samples();
        }
        addPart(parts, others, "in other methods of bricks");
        addPart(parts, samples.outside(), "outside of bricks");
        addPart(parts, samples.unknown(), "too late or in bricks of several profilers");
        String counts = parts.isEmpty()
                ? ""
                : " " + Plural.of(samples.total(), "sample") + ": " + String.join(", ", parts) + ".";
        return counts
                + switch (samples.state()) {
                    case COMPLETE -> "";
                    case MORE_TO_COME -> " Its samples have not all arrived.";
                    case BEGINNING_MISSING -> " Samples of its beginning are missing.";
                };
    }

    private static void addPart(List<String> parts, long samples, String where) {
        if (samples > 0) {
            parts.add(String.format(Locale.ROOT, "%,d ", samples) + PlainText.ascii(where));
        }
    }

    private static String explanation(Explained step, Unit unit) {
        Typical typical = step.typical();
        StringJoiner parts = new StringJoiner(", ");
        long restNs = step.excessNs();
        for (Part part : shown(step)) {
            parts.add(unit.signed(part.excessNs()) + " " + PlainText.ascii(part.name()));
            restNs -= part.excessNs();
        }
        if (!unit.number(Math.abs(restNs)).equals(unit.number(0))) {
            parts.add(unit.signed(restNs) + " all others");
        }
        String text = ", typical for its size " + unit.number(typical.elapsedNs())
                + (parts.length() == 0 ? "" : ": " + parts) + ".";
        if (typical.isUsual()) {
            text += " It is no outlier: " + typical.asLong() + " of the " + typical.compared()
                    + " compared steps took as long.";
        }
        if (step.verdict() == SlowSteps.Verdict.BESIDE_OTHER_STEPS) {
            text += " Other steps were under way in it, or in a compared one: bricks of further threads count as time"
                    + " between bricks.";
        }
        return text;
    }

    private static List<Part> shown(Explained step) {
        List<Part> shown = new ArrayList<>();
        double least = SMALLEST_SHARE
                * step.parts().stream()
                        .mapToLong(part -> Math.abs(part.excessNs()))
                        .max()
                        .orElse(0);
        for (Part part : step.parts()) {
            if (shown.size() < MOST_PARTS && part.excessNs() != 0 && Math.abs(part.excessNs()) >= least) {
                shown.add(part);
            }
        }
        return shown;
    }

    private static String reason(Explained step) {
        return switch (step.verdict()) {
            case FEW_COMPARABLE_STEPS ->
                String.format(
                        Locale.ROOT,
                        "%d of %s, and %d are needed",
                        step.typical().compared(),
                        Plural.of(step.typical().sampled(), "sampled step has its size", "sampled steps have its size"),
                        SlowSteps.FEWEST);
            case SPANS_MISSING -> "spans of it are missing";
            case MIXED_WITH_OTHERS -> "other steps ran on virtual threads at the same time";
            case EXPLAINED, BESIDE_OTHER_STEPS -> "";
        };
    }

    /** Returns a sentence about the step's sizes that are unusual in the sample; empty if there are none. */
    private static String size(Explained step) {
        Typical typical = step.typical();
        List<String> unusual = new ArrayList<>();
        addUnusual(unusual, "KV length", step.info().kvLength(), typical.sampledKvLength());
        addUnusual(unusual, "number of prompt tokens", step.info().prefillTokens(), typical.sampledPrefillTokens());
        addUnusual(unusual, "batch", step.info().batch(), typical.sampledBatch());
        return typical.sampled() == 0 || unusual.isEmpty() ? "" : " Its " + String.join(", its ", unusual) + ".";
    }

    private static void addUnusual(List<String> to, String what, long own, long median) {
        if (own > StepComparison.slack(what) && own >= UNUSUAL * median && own > median) {
            to.add(
                    median == 0
                            ? String.format(Locale.ROOT, "%s is %,d, and 0 in most steps", what, own)
                            : String.format(
                                    Locale.ROOT,
                                    "%s of %,d is %.1f times the median of its phase",
                                    what,
                                    own,
                                    (double) own / median));
        }
    }

    /** The unit of all times of a sentence. */
    private enum Unit {
        S("s", 1e9),
        MS("ms", 1e6),
        US("us", 1e3);

        private final String symbol;
        private final double ns;

        Unit(String symbol, double ns) {
            this.symbol = symbol;
            this.ns = ns;
        }

        static Unit of(long durationNs) {
            return durationNs >= 10_000_000_000L ? S : durationNs >= 1_000_000 ? MS : US;
        }

        String number(long value) {
            return String.format(Locale.ROOT, this == MS ? "%,.2f" : "%,.1f", value / ns);
        }

        String text(long value) {
            return number(value) + " " + symbol;
        }

        String signed(long value) {
            return (value < 0 ? "-" : "+") + text(Math.abs(value));
        }
    }
}
