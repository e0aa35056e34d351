package org.brickprofiler.trace;

import static org.brickprofiler.report.internal.RoughUnits.duration;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.PhaseSteps;
import org.brickprofiler.trace.SlowSteps.SampledMethod;
import org.brickprofiler.trace.SlowSteps.SamplesOfStep;

/** Slow steps as candidates for findings. The whole is the time of these steps. Stateless; any thread. */
final class SlowStepFindings {

    /** The most causes that a sentence names. */
    private static final int MOST_CAUSES = 3;

    private SlowStepFindings() {}

    /** Returns the findings for the report of the whole run, whose steps no command draws. */
    static List<Finding> besideRun(SlowSteps steps) {
        return of(steps).stream()
                .filter(finding -> finding.kind() == Finding.Kind.SLOWEST_STEPS)
                .map(finding -> new Finding(finding.kind(), finding.place(), finding.share(), finding.sentence(), ""))
                .toList();
    }

    static List<Finding> of(SlowSteps steps) {
        List<Finding> found = new ArrayList<>();
        for (PhaseSteps phase : steps.phases()) {
            List<Explained> slowest = steps.slowest().stream()
                    .filter(step -> step.info().phase() == phase.phase())
                    .toList();
            List<Explained> slow = slowest.stream()
                    .filter(step ->
                            step.verdict().isExplained() && !step.typical().isUsual() && step.excessNs() > 0)
                    .toList();
            if (!slow.isEmpty()) {
                found.add(explained(phase, slow));
            }
            unexplained(phase.phase(), slowest).ifPresent(found::add);
        }
        return found;
    }

    private static Finding explained(PhaseSteps phase, List<Explained> slow) {
        long totalNs = slow.stream().mapToLong(Explained::durationNs).sum();
        long excessNs = slow.stream().mapToLong(Explained::excessNs).sum();
        boolean isOne = slow.size() == 1;
        return new Finding(
                Finding.Kind.SLOWEST_STEPS,
                phase.phase().displayName(),
                (double) excessNs / totalNs,
                String.format(
                        Locale.ROOT,
                        "%s of %,d %s %s instead of %s, which is typical for %s size: %s.%s",
                        Plural.of(slow.size(), phase.phase().displayName() + " step"),
                        phase.steps(),
                        isOne ? "takes" : "take",
                        duration((double) totalNs / slow.size()) + (isOne ? "" : " on average"),
                        duration((double) (totalNs - excessNs) / slow.size()),
                        isOne ? "its" : "their",
                        causes(slow),
                        method(slow)),
                "brick report FILE --html OUT draws them beside the step with the median duration");
    }

    /** Returns the parts in which the steps lost the most time, those of the most steps first. */
    private static String causes(List<Explained> slow) {
        Map<String, Long> steps = slow.stream()
                .collect(Collectors.groupingBy(step -> largest(step).name(), TreeMap::new, Collectors.counting()));
        List<String> named = steps.entrySet().stream()
                .sorted(Map.Entry.<String, Long>comparingByValue(Comparator.reverseOrder())
                        .thenComparing(Map.Entry.comparingByKey()))
                .limit(MOST_CAUSES)
                .map(each -> slow.size() == 1 ? each.getKey() : each.getKey() + " in " + each.getValue() + " of them")
                .toList();
        String unknown = slow.stream()
                .flatMap(step -> step.unknown().stream())
                .distinct()
                .sorted()
                .map(SlowSteps.Kind::displayName)
                .collect(Collectors.joining(", "));
        return "the largest part is " + String.join(", ", named)
                + (steps.size() > MOST_CAUSES ? ", ..." : "")
                + (unknown.isEmpty() ? "" : ". Unknown, so part of these: " + unknown);
    }

    /**
     * Returns a sentence on the method in which most samples of the steps stood; empty if too few show it, or some are
     * missing.
     */
    private static String method(List<Explained> slow) {
        List<SamplesOfStep> samples = slow.stream()
                .flatMap(step -> step.samples().stream())
                .filter(each -> each.state() == SamplesOfStep.State.COMPLETE)
                .toList();
        long all = samples.stream().mapToLong(SamplesOfStep::total).sum();
        if (samples.size() < slow.size() || all < LineProfileText.FEWEST) {
            return "";
        }
        Map<SampledMethod, Long> counts = samples.stream()
                .flatMap(each -> each.hottest().stream())
                .collect(Collectors.groupingBy(
                        each -> new SampledMethod(each.brick(), each.method(), 0),
                        Collectors.summingLong(SampledMethod::samples)));
        return counts.entrySet().stream()
                .max(Map.Entry.<SampledMethod, Long>comparingByValue()
                        .thenComparing(each -> each.getKey().toString(), Comparator.reverseOrder()))
                .filter(each -> !each.getKey().method().isEmpty())
                .filter(each -> samples.stream().allMatch(step -> isCounted(each.getKey(), step)))
                .map(each -> " " + LineProfileText.shareOfSamples(each.getKey(), each.getValue(), all))
                .orElse("");
    }

    /** Returns whether the samples of a method are known, which a step lists only if it is one of the hottest. */
    private static boolean isCounted(SampledMethod method, SamplesOfStep step) {
        return step.hottest().size() < SamplesOfStep.MOST_METHODS
                || step.hottest().stream()
                        .anyMatch(each -> each.brick().equals(method.brick())
                                && each.method().equals(method.method()));
    }

    private static Part largest(Explained step) {
        return step.parts().stream()
                .max(Comparator.comparingLong(Part::excessNs))
                .orElseThrow();
    }

    private static Optional<Finding> unexplained(StepInfo.Phase phase, List<Explained> slowest) {
        long number =
                slowest.stream().filter(step -> !step.verdict().isExplained()).count();
        return number == 0
                ? Optional.empty()
                : Optional.of(new Finding(
                        Finding.Kind.DISTURBED,
                        phase.displayName(),
                        0,
                        Plural.of(number, "slow " + phase.displayName() + " step") + (number == 1 ? " has" : " have")
                                + " no explanation; the list of slow steps states the reason of each.",
                        ""));
    }
}
