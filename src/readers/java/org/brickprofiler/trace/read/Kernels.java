package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.jspecify.annotations.Nullable;

/** The kernels of a trace, numbered from 0, and the bricks that they count as. One thread. */
final class Kernels {

    /** The number of a kernel that a rule says to ignore. */
    static final int IGNORED = -1;

    private static final int CACHED = 2_048;
    private static final Pattern LAST_PART = Pattern.compile(".*[.:/]\\s*", Pattern.DOTALL);
    private static final TraceRule.Target OTHER_BRICKS = new TraceRule.Target(TraceNames.OTHERS, BrickCategory.OTHER);

    private final TraceRules rules;
    private final int mostNames;
    private final List<Kernel> kernels = new ArrayList<>();
    private final Map<Kernel, Integer> numbers = new HashMap<>();

    /** The cached decisions of the rules. */
    private final Map<CacheKey, Integer> cache = new HashMap<>();

    private int knownBricks;

    /**
     * A kernel. Immutable.
     *
     * @param name its name in the trace; {@code (other names)} for all kernels beyond the limit
     * @param target the brick that it counts as
     * @param matched whether a rule or its own name decides this
     * @param isCopy whether it is a copy or a fill, whose duration depends on its bytes
     * @param isContainer whether it contains the nodes of a subgraph
     */
    record Kernel(String name, TraceRule.Target target, boolean matched, boolean isCopy, boolean isContainer) {

        /** Returns whether all executions of the kernel do the same work, so that a long first one is warm-up. */
        boolean canWarmUp() {
            return !isCopy && !name.equals(TraceNames.OTHERS);
        }
    }

    /**
     * All inputs of the decision: the text of an event, whether it is a copy, and the brick that its range is named
     * after.
     */
    record CacheKey(TraceRule.Key key, boolean isCopy, Optional<TraceRule.Target> ofRange) {
        CacheKey with(Map<String, String> args) {
            return new CacheKey(new TraceRule.Key(key.name(), key.category(), args), isCopy, ofRange);
        }
    }

    /** The bricks that ranges are named after, by the last part of the range's name. */
    private final Map<String, Optional<TraceRule.Target>> ofRanges = new HashMap<>();

    Kernels(TraceRules rules, int mostNames) {
        this.rules = rules;
        this.mostNames = mostNames;
    }

    /**
     * Returns the number of an event's kernel.
     *
     * @return 0 or more, or {@link #IGNORED}
     * @throws TraceRule.TooCostly when a rule takes too long
     */
    int number(TraceEvent event, boolean isCopy) {
        return number(key(event, isCopy));
    }

    /** Returns the inputs of the decision about an event's kernel. */
    CacheKey key(TraceEvent event, boolean isCopy) {
        String name = event.name.isEmpty() ? TraceNames.NONE : event.name;
        Map<String, String> args = event.ruleArgs.isEmpty() ? Map.of() : new HashMap<>(event.ruleArgs);
        return new CacheKey(new TraceRule.Key(name, event.category, args), isCopy, ofRange(event.range));
    }

    /** Returns the number of a kernel by the inputs of its decision. */
    int number(CacheKey key) {
        Integer known = cache.get(key);
        if (known == null) {
            known = find(key);
            if (cache.size() == CACHED) {
                cache.clear();
            }
            cache.put(key, known);
        }
        return known;
    }

    /**
     * Returns the number of a brick by its own name and category, regardless of the rules. The known bricks are always
     * within the limit.
     *
     * @return 0 or more
     */
    int brick(String name, BrickCategory category) {
        Kernel kernel = new Kernel(name, new TraceRule.Target(name, category), true, false, false);
        Integer known = numbers.get(kernel);
        if (known != null) {
            return known;
        }
        boolean isKnown =
                BrickId.parse(name).filter(id -> id.displayName().equals(name)).isPresent();
        knownBricks += isKnown ? 1 : 0;
        boolean hasRoom = isKnown || kernels.size() - knownBricks < mostNames;
        return add(hasRoom ? kernel : new Kernel(OTHER_BRICKS.name(), OTHER_BRICKS, true, false, false));
    }

    private Optional<TraceRule.Target> ofRange(@Nullable String range) {
        return range == null
                ? Optional.empty()
                : ofRanges.computeIfAbsent(
                        range,
                        name -> TraceRule.Target.named(LAST_PART.matcher(name).replaceFirst("")));
    }

    private int find(CacheKey event) {
        TraceRule.Key key = event.key();
        Optional<TraceRule.Target> target =
                rules.target(key).or(() -> TraceRule.Target.named(key.name())).or(event::ofRange);
        if (target.isPresent() && !target.get().counts()) {
            return IGNORED;
        }
        Kernel kernel = new Kernel(
                key.name(),
                target.orElseGet(() -> new TraceRule.Target(unmatchedName(key), BrickCategory.OTHER)),
                target.isPresent(),
                event.isCopy(),
                OnnxRuntime.isContainer(key));
        Integer known = numbers.get(kernel);
        if (known != null) {
            return known;
        }
        return add(kernels.size() < mostNames ? kernel : oneOfOthers(kernel));
    }

    /**
     * Returns the name of the brick of an event that no rule matches: the event's own name, or for a node of a graph
     * the name of its operator.
     */
    private static String unmatchedName(TraceRule.Key key) {
        String operator =
                key.category().equals(OnnxRuntime.NODE) ? key.args().getOrDefault(OnnxRuntime.OPERATOR, "") : "";
        return operator.isEmpty() ? key.name() : operator;
    }

    /** Returns the kernel that stands for all kernels beyond the limit with the same target. */
    private static Kernel oneOfOthers(Kernel kernel) {
        String name = TraceNames.OTHERS;
        TraceRule.Target target = kernel.matched() ? kernel.target() : new TraceRule.Target(name, BrickCategory.OTHER);
        return new Kernel(name, target, kernel.matched(), kernel.isCopy(), kernel.isContainer());
    }

    private int add(Kernel kernel) {
        return numbers.computeIfAbsent(kernel, added -> {
            kernels.add(added);
            return kernels.size() - 1;
        });
    }

    /**
     * Returns the number of the same kernel when it counts as another brick.
     *
     * @return 0 or more
     */
    int as(int number, TraceRule.Target target) {
        Kernel kernel = kernels.get(number);
        return kernel.target().equals(target)
                ? number
                : add(new Kernel(kernel.name(), target, true, kernel.isCopy(), kernel.isContainer()));
    }

    /**
     * Returns the number that a kernel of another collection has in this one.
     *
     * @return 0 or more
     */
    int take(Kernel kernel) {
        Integer known = numbers.get(kernel);
        return known != null ? known : add(kernels.size() < mostNames ? kernel : oneOfOthers(kernel));
    }

    /** Returns whether any kernel counts as this target. */
    boolean anyIs(TraceRule.Target target) {
        return kernels.stream().anyMatch(kernel -> kernel.target().equals(target));
    }

    Kernel get(int number) {
        return kernels.get(number);
    }
}
