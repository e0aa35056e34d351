package org.brickprofiler.trace.read;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;

/** The kernels of a trace, numbered from 0, and the bricks that they count as. One thread. */
final class Kernels {

    /** The number of a kernel that a rule says to ignore. */
    static final int IGNORED = -1;

    private static final int CACHED = 2_048;
    /** A range that TensorRT draws around the kernels of a layer. */
    private static final Pattern TENSOR_RT =
            Pattern.compile("(?:TensorRT:|(?=Reformatting CopyNode |.* \\+ ))(.*)", Pattern.DOTALL);

    private static final Pattern LAST_PART = Pattern.compile(".*[.:/]\\s*", Pattern.DOTALL);
    private static final TraceRule.Target OTHER_BRICKS = new TraceRule.Target(TraceNames.OTHERS, BrickCategory.OTHER);

    private final TraceRules rules;
    private final int mostNames;
    private final List<Kernel> kernels = new ArrayList<>();
    private final Map<Kernel, Integer> numbers = new HashMap<>();

    /** The numbers of bricks by their own names, which every sample of an own trace asks for. */
    private final Map<BrickCategory, Map<String, Integer>> ownNumbers = new EnumMap<>(BrickCategory.class);

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
     * @param launched the bricks that it counts as with some launches; the first one that its launch meets decides
     */
    record Kernel(
            String name,
            TraceRule.Target target,
            boolean matched,
            boolean isCopy,
            boolean isContainer,
            List<TraceRules.Launched> launched) {

        /** Returns the same kernel as another brick, whatever its launch is. */
        Kernel as(TraceRule.Target brick) {
            return new Kernel(name, brick, true, isCopy, isContainer, List.of());
        }

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
            return new CacheKey(new TraceRule.Key(key.name(), key.category(), args, key.launch()), isCopy, ofRange);
        }
    }

    /**
     * A range around launches.
     *
     * @param brick the brick that it is named after
     * @param launch the conditions of rules on a launch that it meets
     */
    private record Range(Optional<TraceRule.Target> brick, long launch) {
        static final Range NONE = new Range(Optional.empty(), 0);
    }

    private final Map<String, Range> ranges = new HashMap<>();

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
        Range range = event.range == null ? Range.NONE : ranges.computeIfAbsent(event.range, this::range);
        return new CacheKey(new TraceRule.Key(name, event.category, args, range.launch()), isCopy, range.brick());
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
        Map<String, Integer> ofCategory = ownNumbers.computeIfAbsent(category, first -> new HashMap<>());
        Integer known = ofCategory.get(name);
        if (known != null) {
            return known;
        }
        boolean isKnown =
                BrickId.parse(name).filter(id -> id.displayName().equals(name)).isPresent();
        knownBricks += isKnown ? 1 : 0;
        if (!isKnown && kernels.size() - knownBricks >= mostNames) {
            return add(new Kernel(OTHER_BRICKS.name(), OTHER_BRICKS, true, false, false, List.of()));
        }
        int number = add(new Kernel(name, new TraceRule.Target(name, category), true, false, false, List.of()));
        ofCategory.put(name, number);
        return number;
    }

    /**
     * Returns the brick that a range is named after: a layer of TensorRT counts as its rules say, and any other range
     * by the last part of its name.
     */
    private Range range(String name) {
        Matcher layer = TENSOR_RT.matcher(name);
        Optional<TraceRule.Target> brick = layer.matches()
                ? rules.decide(new TraceRule.Key(layer.group(1), TensorRtParser.LAYER, Map.of(), 0))
                        .target()
                : TraceRule.Target.named(LAST_PART.matcher(name).replaceFirst(""));
        return new Range(brick, rules.launchesNamed(name));
    }

    private int find(CacheKey event) {
        TraceRule.Key key = event.key();
        TraceRules.Decision decision = rules.decide(key);
        Optional<TraceRule.Target> target =
                decision.target().or(() -> TraceRule.Target.named(key.name())).or(event::ofRange);
        boolean mayCount = !decision.launched().isEmpty()
                && TraceEvent.Kind.of(key.category()).isDevice();
        if (target.isPresent() && !target.get().counts() && !mayCount) {
            return IGNORED;
        }
        Kernel kernel = new Kernel(
                key.name(),
                target.orElseGet(() -> new TraceRule.Target(unmatchedName(key), BrickCategory.OTHER)),
                target.isPresent(),
                event.isCopy(),
                OnnxRuntime.isContainer(key),
                decision.launched());
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
        return new Kernel(name, target, kernel.matched(), kernel.isCopy(), kernel.isContainer(), kernel.launched());
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
        return kernel.target().equals(target) ? number : add(kernel.as(target));
    }

    /**
     * Returns the number of the same kernel with a launch.
     *
     * @param launch the conditions that the names around the launch meet
     * @return 0 or more, or {@link #IGNORED}
     */
    int launchedBy(int number, long launch) {
        Kernel kernel = kernels.get(number);
        TraceRule.Target target = kernel.launched().stream()
                .filter(launched -> launched.isBy(launch))
                .map(TraceRules.Launched::target)
                .findFirst()
                .orElse(kernel.target());
        return target.counts() ? as(number, target) : IGNORED;
    }

    /** Returns whether the brick of any kernel depends on its launch. */
    boolean anyDependsOnLaunch() {
        return kernels.stream().anyMatch(kernel -> !kernel.launched().isEmpty());
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
