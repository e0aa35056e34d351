package org.brickprofiler.agent;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.brickprofiler.BrickStats;
import org.brickprofiler.RunFacts;
import org.brickprofiler.agent.WeaveRule.Kind;
import org.brickprofiler.internal.base.Plural;

/**
 * Notes which rules the engine has reached. The rules of one brick, and those of one kind without bricks, are reached
 * together: a rule that was not reached is named only if none of them was. Any thread; allocates nothing after the
 * first call for each kind.
 */
final class ReachedRules {

    private static final Map<Kind, String> KEYS = new EnumMap<>(Map.of(
            Kind.STEP, "step:",
            Kind.PROMPT, "prompts:",
            Kind.REQUEST, "request:",
            Kind.ARRIVAL, "arrived:",
            Kind.IN_STEP, "inStep:",
            Kind.FINISH, "finished:",
            Kind.LAYER, "layer:",
            Kind.MODEL, "model:"));

    private volatile List<WeaveRule> rules;

    /** The kinds whose rules were reached, as bits. */
    private final AtomicInteger kinds = new AtomicInteger();

    /** Whether all classes that were loaded when the agent started, or its rules were changed, are woven. */
    private volatile boolean isWoven;

    /** The number of samples before the first step, by brick. */
    private final Map<String, Long> early = new ConcurrentHashMap<>();

    /** The bricks with samples that were discarded, such as those of the warm-up. */
    private final Set<String> discarded = ConcurrentHashMap.newKeySet();

    /**
     * Creates notes without a reached rule.
     *
     * @param rules the rules of the file
     */
    ReachedRules(List<WeaveRule> rules) {
        this.rules = rules;
    }

    /**
     * Notes that other rules are woven from now on; none of them is reached.
     *
     * @param others the rules of the file
     */
    void change(List<WeaveRule> others) {
        isWoven = false;
        rules = others;
        kinds.set(0);
        early.clear();
        discarded.clear();
    }

    /** Notes that the classes that were loaded when weaving began are woven. */
    void weavingEnds() {
        isWoven = true;
    }

    /** Returns whether a step that begins now is woven as a whole; before, it might lack layers and bricks. */
    boolean isWoven() {
        return isWoven;
    }

    /**
     * Notes that the engine has reached a rule of a kind other than that of bricks and tasks; returns whether it is the
     * first one of the kind.
     */
    boolean reach(Kind kind) {
        return !isReached(kind)
                && (kinds.getAndAccumulate(bit(kind), (before, more) -> before | more) & bit(kind)) == 0;
    }

    /** Notes the bricks that have samples when the first step begins. */
    void beforeSteps(List<BrickStats> bricks) {
        bricks.forEach(brick -> early.put(brick.name(), brick.count()));
    }

    /**
     * Returns a remark on the samples that ended before the first step: if the agent starts while a step is under way,
     * they belong to this step, which is not recorded.
     */
    Optional<String> beforeStepsText() {
        long samples = early.values().stream().mapToLong(Long::longValue).sum();
        return samples == 0
                ? Optional.empty()
                : Optional.of(Plural.of(samples, "sample")
                        + " ended before the first step that began after weaving, thus in no phase: of "
                        + String.join(", ", new TreeMap<>(early).keySet()));
    }

    @SuppressWarnings("EnumOrdinal") // the only place that reads it
    private static int bit(Kind kind) {
        return 1 << kind.ordinal();
    }

    /** Returns whether the engine has reached a rule of a kind other than that of bricks and tasks. */
    boolean isReached(Kind kind) {
        return (kinds.get() & bit(kind)) != 0;
    }

    /** Notes bricks whose samples are discarded, those before the first step included. */
    void discard(List<BrickStats> bricks) {
        early.clear();
        bricks.forEach(brick -> discarded.add(brick.name()));
    }

    /**
     * Returns a remark if rules name steps and none was reached.
     *
     * @param applied the rules that apply
     * @param never the rules that never ran, see {@link #never}
     */
    Optional<String> noStep(Set<WeaveRule> applied, Optional<String> never) {
        List<WeaveRule> ofSteps =
                rules.stream().filter(rule -> rule.kind() == Kind.STEP).toList();
        if (ofSteps.isEmpty() || isReached(Kind.STEP)) {
            return Optional.empty();
        }
        String lines = lines(ofSteps.stream().map(WeaveRule::line).toList());
        String why = ofSteps.stream().anyMatch(applied::contains)
                ? "the engine called no method that a rule under step: names ("
                : "no rule under step: applies to a class that the engine has loaded (";
        return Optional.of(RunFacts.NO_STEP + ": " + why + lines
                + "), so phases and tokens/s are unknown, and requests seem to be queued; name the method of its forward"
                + " pass"
                + never.map(text -> ". Rules that apply and never ran: " + text).orElse(""));
    }

    /**
     * Returns the rules that apply and that the engine has never reached.
     *
     * @param applied the rules that apply
     * @param recorded the bricks of the profile
     * @return their bricks or kinds, with their lines; empty if all were reached
     */
    Optional<String> never(Set<WeaveRule> applied, List<BrickStats> recorded) {
        Set<String> ran = new HashSet<>(discarded);
        recorded.forEach(brick -> ran.add(brick.name()));
        Map<String, List<Integer>> never = new TreeMap<>();
        for (WeaveRule rule : rules) {
            boolean isReached = rule.kind() == Kind.TASK
                    || (rule.kind() == Kind.BRICK ? ran.contains(WovenWork.nameOf(rule)) : isReached(rule.kind()));
            if (!isReached && applied.contains(rule)) {
                never.computeIfAbsent(nameOf(rule), name -> new ArrayList<>()).add(rule.line());
            }
        }
        return never.isEmpty()
                ? Optional.empty()
                : Optional.of(never.entrySet().stream()
                        .map(each -> each.getKey() + " (" + lines(each.getValue()) + ")")
                        .collect(Collectors.joining(", ")));
    }

    private static String nameOf(WeaveRule rule) {
        return rule.kind() == Kind.BRICK ? WovenWork.nameOf(rule) : KEYS.getOrDefault(rule.kind(), "");
    }

    private static String lines(List<Integer> lines) {
        return (lines.size() == 1 ? "line " : "lines ")
                + lines.stream().distinct().map(String::valueOf).collect(Collectors.joining(", "));
    }
}
