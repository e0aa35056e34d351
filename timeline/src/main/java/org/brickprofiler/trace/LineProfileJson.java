package org.brickprofiler.trace;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;
import org.brickprofiler.StepInfo;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.report.internal.JsonText;
import org.brickprofiler.trace.CallTree.Hottest;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.CallTree.Precision;
import org.brickprofiler.trace.CallTree.Share;
import org.brickprofiler.trace.JsonTable.Field;
import org.brickprofiler.trace.LineProfile.Amounts;
import org.brickprofiler.trace.LineProfile.Amounts.Part;
import org.brickprofiler.trace.LineProfile.ByFrames;
import org.brickprofiler.trace.LineProfile.Elsewhere;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;
import org.jspecify.annotations.Nullable;

/**
 * The JSON form of the lines of bricks. The writer, the types of the page's data and {@code docs/format.md} are derived
 * from its tables of fields. Methods, frames and paths stand in shared lists, to which others refer by number from 0.
 * Stateless; any thread.
 */
final class LineProfileJson {

    /** The most nodes of all trees in a report. */
    static final int MOST_NODES = 2_000;

    /** The most bytes of the entry in a report. */
    static final int MOST_BYTES = 150_000;

    private static final String SUBJECT = "lines of bricks";
    private static final String NUMBERS = "number[]";
    private static final String TEXTS = "string[]";
    private static final String IF_KNOWN = "if known";

    /** Shares are written with four decimals. */
    private static final double ROUNDING = 1e4;

    private LineProfileJson() {}

    /** A value, and the shared lists to which its JSON refers. */
    private record With<T>(T value, Shared shared) {

        <U> With<U> of(Function<T, U> part) {
            return new With<>(part.apply(value), shared);
        }
    }

    private static <T> Field<With<T>> column(String key, String meaning, Function<With<T>, List<?>> values) {
        return new Field<>(key, meaning, NUMBERS, "", values::apply);
    }

    /** Shares of places, by the numbers of the places. */
    private record Places(List<Integer> numbers, List<? extends Share<?>> shares) {}

    private static final JsonTable<Places> PLACES = new JsonTable<>(
            "shares of lines",
            List.of(
                    new Field<>("place", "number of the method, frame or path", NUMBERS, "", Places::numbers),
                    new Field<>("samples", "samples that stood there", NUMBERS, "", of -> of.shares().stream()
                            .map(Share::samples)
                            .toList()),
                    share("share", "their share in the tree", Share::share),
                    share("low", "lower end of its 95 % interval", Share::low),
                    share("high", "upper end", Share::high)));

    private static Field<Places> share(String key, String meaning, Function<Share<?>, Double> value) {
        return new Field<>(key, meaning, NUMBERS, JsonTable.IGNORED, of -> of.shares().stream()
                .map(each -> Math.round(value.apply(each) * ROUNDING) / ROUNDING)
                .toList());
    }

    private static final JsonTable<With<CallTree>> TREE = new JsonTable<>(
            "call tree",
            List.of(
                    column(
                            "parent",
                            "number of the node that called each node; -1 for none",
                            tree -> nodes(tree, Node::parent)),
                    column(
                            "frame",
                            "frame of each node",
                            tree -> nodes(tree, node -> tree.shared().frames().of(node.frame()))),
                    column("self", "samples that stood in the node itself", tree -> tree.value().nodes().stream()
                            .map(Node::self)
                            .toList()),
                    new Field<>(
                            "independent",
                            "independent samples of equal precision",
                            "number",
                            "if fewer",
                            tree -> ofDependent(tree, Precision::independent)),
                    new Field<>(
                            "degrees",
                            "degrees of freedom",
                            "number",
                            "if fewer",
                            tree -> ofDependent(tree, Precision::degrees)),
                    places("methods", "methods with the most samples", Hottest::methods, Shared::methods),
                    places(
                            "lines",
                            "lines with the most samples, each with its most frequent mode",
                            Hottest::lines,
                            Shared::frames),
                    places("paths", "paths with the most samples", Hottest::paths, Shared::paths)));

    private static @Nullable Double ofDependent(With<CallTree> tree, ToDoubleFunction<Precision> value) {
        Precision precision = tree.value().precision();
        return precision.independent() < precision.samples() ? value.applyAsDouble(precision) : null;
    }

    private static List<Integer> nodes(With<CallTree> tree, ToIntFunction<Node> value) {
        return tree.value().nodes().stream().map(node -> value.applyAsInt(node)).toList();
    }

    private static <P> Field<With<CallTree>> places(
            String key,
            String meaning,
            Function<Hottest, List<Share<P>>> shares,
            Function<Shared, Numbers<P>> numbers) {
        return PLACES.in(key, meaning, "", tree -> {
            List<Share<P>> found = shares.apply(tree.value().hottest());
            return Optional.of(new Places(
                    found.stream()
                            .map(each -> numbers.apply(tree.shared()).of(each.place()))
                            .toList(),
                    found));
        });
    }

    private static final JsonTable<Amounts> AMOUNTS = new JsonTable<>(
            "amounts of a brick",
            List.of(
                    Field.number("events", "events", Amounts::events),
                    Field.number("sum", "sum of all places", Amounts::sum),
                    new Field<>("places", "largest places", TEXTS, "", of -> of.largest().stream()
                            .map(Part::place)
                            .toList()),
                    new Field<>("parts", "their parts", NUMBERS, "", of -> of.largest().stream()
                            .map(Part::amount)
                            .toList())));

    private static Field<With<OfBrick>> amounts(String key, String meaning, Function<OfBrick, Amounts> amounts) {
        return AMOUNTS.in(key, meaning, "if recorded", of -> Optional.of(amounts.apply(of.value()))
                .filter(each -> each.events() > 0));
    }

    private static final JsonTable<ByFrames> BY_FRAMES = new JsonTable<>(
            "bricks by frames",
            List.of(
                    Field.number("methods", "methods that are bricks; 0 for spans", ByFrames::methods),
                    new Field<>("left_out", "bricks that frames do not show", TEXTS, "", ByFrames::leftOut)));

    private static final JsonTable<With<OfBrick>> BRICK = new JsonTable<>(
            "lines of a brick",
            List.of(
                    new Field<>("brick", "name of the brick", "string", "", of -> of.value()
                            .brick()),
                    new Field<>(
                            "phase",
                            "phase of the steps: prefill, decode or mixed",
                            "string",
                            "in steps",
                            of -> of.value()
                                    .phase()
                                    .map(StepInfo.Phase::displayName)
                                    .orElse(null)),
                    new Field<>("samples", "samples", "number", JsonTable.IGNORED, of -> of.value()
                            .samples()),
                    Field.number("workers", "those of threads that worked for its step", of -> of.value()
                            .ofWorkers()),
                    new Field<>(
                            "due",
                            "samples of its own threads in proportion to its processor time",
                            "number",
                            IF_KNOWN,
                            of -> number(of.value().due())),
                    new Field<>(
                            "doubted",
                            "whether the virtual machine has lost many samples",
                            "boolean",
                            JsonTable.IGNORED,
                            of -> of.value().isDoubted()),
                    new Field<>(
                            "text",
                            "its hottest line, or that samples were lost",
                            "string",
                            IF_KNOWN + ", " + JsonTable.IGNORED,
                            of -> (of.shared().isDoubted()
                                            ? LineProfileText.lost(of.value())
                                            : LineProfileText.hottest(of.value()))
                                    .orElse(null)),
                    new Field<>(
                            "interpreted_passes",
                            "first recorded passes in which the method of its hottest line was interpreted",
                            "number",
                            "if samples show it",
                            of -> of.value().interpretedPasses().isPresent()
                                    ? of.value().interpretedPasses().getAsLong()
                                    : null),
                    tree("java", "samples in Java code", OfBrick::java),
                    tree("natives", "samples in native code", OfBrick::natives),
                    amounts("allocated", "memory, estimated bytes, by method outside of the JDK", OfBrick::allocated),
                    amounts("waited", "waits, ns, by class of the lock", OfBrick::waited)));

    private static @Nullable Double number(OptionalDouble value) {
        return value.isPresent() ? value.getAsDouble() : null;
    }

    private static Field<With<OfBrick>> tree(String key, String meaning, Function<OfBrick, CallTree> tree) {
        return TREE.in(key, meaning, "with samples", of -> Optional.of(of.of(tree))
                .filter(each -> !each.value().nodes().isEmpty()));
    }

    private static final JsonTable<With<LineProfile>> ALL = new JsonTable<>(
            SUBJECT,
            List.of(
                    count(
                            "period_ns",
                            "requested time between two samples of a thread, ns; 0 if unknown",
                            LineProfile::periodNs),
                    count(
                            "clock_error_ns",
                            "error of the times of samples beside those of bricks, ns",
                            LineProfile::clockErrorNs),
                    new Field<>("missing", "why samples are missing", "string", "unless all came", of -> of.value()
                            .missing()
                            .orElse(null)),
                    new Field<>("doubt", "why methods and lines may be wrong", "string", "if so", of -> of.value()
                            .doubt()
                            .orElse(null)),
                    count("in_bricks", "samples in bricks", of -> of.samples().inBricks()),
                    count("outside", "samples of threads with bricks, in none of them", of -> of.samples()
                            .outside()),
                    count(
                            "other_threads",
                            "samples of other threads while no step had a brick under way",
                            of -> of.samples().otherThreads()),
                    count("several_steps", "the same, while several steps had one", of -> of.samples()
                            .severalSteps()),
                    count("virtual_threads", "samples of virtual threads without bricks", of -> of.samples()
                            .virtualThreads()),
                    count("not_ended", "samples after which their thread ended no brick", of -> of.samples()
                            .notEnded()),
                    count("too_late", "samples that arrived after their bricks were overwritten", of -> of.samples()
                            .tooLate()),
                    count("cut_stacks", "samples whose outer frames, perhaps a brick, are left out", of -> of.samples()
                            .cutStacks()),
                    count("allocations_elsewhere", "samples of memory elsewhere", of -> of.elsewhere()
                            .allocations()),
                    count("allocated_elsewhere", "its bytes", of -> of.elsewhere()
                            .allocatedBytes()),
                    count("waits_elsewhere", "waits elsewhere", of -> of.elsewhere()
                            .waits()),
                    count("waited_elsewhere_ns", "their time, ns", of -> of.elsewhere()
                            .waitedNs()),
                    count("least_wait_ns", "from which duration on waits were recorded, ns", of -> of.elsewhere()
                            .leastWaitNs()),
                    new Field<>(
                            "mode", "what the samples are of", "string", "unless of running threads", of -> of.value()
                                    .mode()
                                    .orElse(null)),
                    BY_FRAMES.in(
                            "by_frames",
                            "bricks by frames, without executions and times",
                            "without bricks",
                            of -> of.value().byFrames()),
                    new Field<>(
                            "text",
                            "where the samples are, in words",
                            "string",
                            JsonTable.IGNORED,
                            of -> LineProfileText.inBrief(of.value())),
                    BRICK.in(
                            "bricks",
                            "bricks with samples or processor time, most samples first",
                            of -> of.value().bricks().stream()
                                    .map(brick -> new With<>(brick, of.shared()))
                                    .toList()),
                    new Field<>("methods", "methods with their classes", TEXTS, "", of -> of.shared()
                            .methods()
                            .values()),
                    new Field<>(
                            "modes",
                            "modes in which the virtual machine ran frames, in its own words",
                            TEXTS,
                            "",
                            of -> of.shared().modes().values()),
                    column(
                            "frame_method",
                            "method of each frame",
                            of -> frames(of, frame -> of.shared().methods().of(frame.method()))),
                    column("frame_line", "line of each frame; -1 if it is unknown", of -> frames(of, Frame::line)),
                    column(
                            "frame_mode",
                            "mode of each frame",
                            of -> frames(of, frame -> of.shared().modes().of(frame.how()))),
                    new Field<>(
                            "paths",
                            "call paths, each a list of methods, callers first",
                            "number[][]",
                            "",
                            of -> of.shared().paths().values().stream()
                                    .map(path -> path.stream()
                                            .map(of.shared().methods()::of)
                                            .toList())
                                    .toList())));

    private static Field<With<LineProfile>> count(String key, String meaning, ToLongFunction<LineProfile> value) {
        return Field.number(key, meaning, of -> value.applyAsLong(of.value()));
    }

    private static List<Integer> frames(With<LineProfile> of, ToIntFunction<Frame> value) {
        return of.shared().frames().values().stream()
                .map(frame -> value.applyAsInt(frame))
                .toList();
    }

    /** All tables, the outermost first. */
    static final List<JsonTable<?>> TABLES = List.of(ALL, BY_FRAMES, BRICK, TREE, PLACES, AMOUNTS);

    // ---- the shared lists ----

    /** Numbers of different values, in the order in which they were asked for. */
    private record Numbers<P>(Map<P, Integer> byValue) {

        Numbers() {
            this(new LinkedHashMap<>());
        }

        int of(P value) {
            Integer known = byValue.putIfAbsent(value, byValue.size());
            return known == null ? byValue.size() - 1 : known;
        }

        List<P> values() {
            return List.copyOf(byValue.keySet());
        }
    }

    /** The shared lists of a profile. */
    private record Shared(
            boolean isDoubted,
            Numbers<String> methods,
            Numbers<String> modes,
            Numbers<Frame> frames,
            Numbers<List<String>> paths) {

        static Shared of(LineProfile profile) {
            Shared shared = new Shared(
                    profile.doubt().isPresent(), new Numbers<>(), new Numbers<>(), new Numbers<>(), new Numbers<>());
            trees(profile.bricks()).forEach(shared::add);
            return shared;
        }

        private void add(CallTree tree) {
            tree.hottest().methods().forEach(each -> methods.of(each.place()));
            tree.hottest().lines().forEach(each -> add(each.place()));
            tree.hottest().paths().forEach(each -> {
                paths.of(each.place());
                each.place().forEach(methods::of);
            });
            tree.nodes().forEach(node -> add(node.frame()));
        }

        private void add(Frame frame) {
            frames.of(frame);
            methods.of(frame.method());
            modes.of(frame.how());
        }
    }

    // ---- writing ----

    /**
     * Returns the values with the hottest places of each brick alone: there may be hundreds of thousands of windows.
     */
    static Map<String, Object> valuesOfWindow(LineProfile profile) {
        LineProfile bounded = bounded(profile, 1, LineProfileText.MOST_LINES);
        return ALL.values(new With<>(bounded, Shared.of(bounded)));
    }

    /** Returns the values, with as many nodes and places as have room in a report. */
    static Map<String, Object> values(LineProfile profile) {
        int nodes = MOST_NODES;
        int places = CallTree.MOST_PLACES;
        while (true) {
            LineProfile bounded = bounded(profile, nodes, places);
            Map<String, Object> values = ALL.values(new With<>(bounded, Shared.of(bounded)));
            if (places == 0 || bytes(values) <= MOST_BYTES) {
                return values;
            }
            if (nodes > 1) {
                nodes /= 2;
            } else {
                places /= 2;
            }
        }
    }

    private static int bytes(Map<String, Object> values) {
        // As in a report; its characters beyond ASCII take up to three bytes.
        return JsonText.of(json -> JsonText.value(json, Map.of(JsonReport.LINES, values)), JsonText.indented())
                .getBytes(UTF_8)
                .length;
    }

    private static LineProfile bounded(LineProfile profile, int nodes, int places) {
        List<CallTree> pruned = PrunedTrees.pruned(trees(profile.bricks()), nodes);
        List<OfBrick> bricks = new ArrayList<>();
        for (OfBrick brick : profile.bricks()) {
            CallTree java = pruned.get(2 * bricks.size());
            CallTree natives = pruned.get(2 * bricks.size() + 1);
            bricks.add(new OfBrick(
                    brick.brick(),
                    brick.phase(),
                    brick.ofWorkers(),
                    brick.due(),
                    limited(java, places),
                    limited(natives, places),
                    brick.allocated(),
                    brick.waited(),
                    brick.interpretedPasses()));
        }
        return new LineProfile(
                profile.samples(),
                profile.periodNs(),
                profile.clockErrorNs(),
                profile.missing(),
                bricks,
                profile.elsewhere(),
                profile.mode(),
                profile.byFrames(),
                profile.doubt());
    }

    private static CallTree limited(CallTree tree, int places) {
        return new CallTree(tree.nodes(), tree.hottest().limited(places), tree.precision());
    }

    /** Returns the trees of bricks: for each brick that of Java code, then that of native code. */
    private static List<CallTree> trees(List<OfBrick> bricks) {
        return bricks.stream()
                .flatMap(brick -> Stream.of(brick.java(), brick.natives()))
                .toList();
    }

    // ---- reading ----

    static Optional<LineProfile> ofReport(InputStream text) throws IOException {
        return JsonValues.ofReport(text, JsonReport.LINES, SUBJECT).map(LineProfileJson::profile);
    }

    static LineProfile read(String text) {
        return profile(JsonValues.read(text, SUBJECT));
    }

    private static LineProfile profile(JsonValues all) {
        Samples samples = new Samples(
                all.number("in_bricks"),
                all.number("outside"),
                all.number("other_threads"),
                all.number("several_steps"),
                all.number("virtual_threads"),
                all.number("not_ended"),
                all.number("too_late"),
                all.number("cut_stacks"));
        Lists lists = Lists.of(all);
        return new LineProfile(
                samples,
                all.number("period_ns"),
                all.number("clock_error_ns"),
                all.has("missing") ? Optional.of(all.text("missing")) : Optional.empty(),
                all.objects("bricks").stream().map(of -> brick(of, lists)).toList(),
                new Elsewhere(
                        all.number("allocations_elsewhere"),
                        all.number("allocated_elsewhere"),
                        all.number("waits_elsewhere"),
                        all.number("waited_elsewhere_ns"),
                        all.number("least_wait_ns")),
                all.has("mode") ? Optional.of(all.text("mode")) : Optional.empty(),
                all.object("by_frames").map(of -> new ByFrames(of.integer("methods"), of.texts("left_out"))),
                all.has("doubt") ? Optional.of(all.text("doubt")) : Optional.empty());
    }

    private static OfBrick brick(JsonValues of, Lists lists) {
        return new OfBrick(
                of.text("brick"),
                of.has("phase") ? Optional.of(of.constant("phase", StepInfo.Phase.class)) : Optional.empty(),
                of.number("workers"),
                of.has("due") ? OptionalDouble.of(of.real("due")) : OptionalDouble.empty(),
                of.object("java").map(tree -> tree(tree, lists)).orElse(CallTree.EMPTY),
                of.object("natives").map(tree -> tree(tree, lists)).orElse(CallTree.EMPTY),
                of.object("allocated").map(LineProfileJson::amounts).orElse(Amounts.NONE),
                of.object("waited").map(LineProfileJson::amounts).orElse(Amounts.NONE),
                of.has("interpreted_passes") ? OptionalLong.of(of.number("interpreted_passes")) : OptionalLong.empty());
    }

    private static Amounts amounts(JsonValues of) {
        List<String> places = of.texts("places");
        List<Long> parts = of.numbers("parts");
        requireSameLength("parts", parts, "places", places);
        List<Part> largest = new ArrayList<>();
        for (int i = 0; i < places.size(); i++) {
            largest.add(new Part(places.get(i), parts.get(i)));
        }
        return new Amounts(of.number("events"), of.number("sum"), largest);
    }

    private static CallTree tree(JsonValues of, Lists lists) {
        List<Integer> parents = of.integers("parent");
        List<Integer> frames = of.integers("frame");
        List<Long> self = of.numbers("self");
        requireSameLength("frame", frames, "parent", parents);
        requireSameLength("self", self, "parent", parents);
        List<Node> nodes = new ArrayList<>();
        for (int i = 0; i < parents.size(); i++) {
            nodes.add(new Node(parents.get(i), at("frame", lists.frames(), frames.get(i)), self.get(i)));
        }
        long samples = self.stream().mapToLong(Long::longValue).sum();
        Precision precision = precision(of, samples);
        return new CallTree(
                nodes,
                new Hottest(
                        shares(of, "methods", lists.methods(), precision),
                        shares(of, "lines", lists.frames(), precision),
                        shares(of, "paths", lists.paths(), precision)),
                precision);
    }

    /** Returns the precision of samples; files of older versions do not state its degrees of freedom. */
    private static Precision precision(JsonValues of, long samples) {
        if (!of.has("independent")) {
            return Precision.ofIndependent(samples);
        }
        double independent = of.real("independent");
        return new Precision(samples, independent, of.has("degrees") ? of.real("degrees") : independent);
    }

    private static <P> List<Share<P>> shares(JsonValues of, String key, List<P> places, Precision precision) {
        JsonValues columns =
                of.object(key).orElseThrow(() -> new IllegalArgumentException(SUBJECT + " have no " + key));
        List<Integer> numbers = columns.integers("place");
        List<Long> samples = columns.numbers("samples");
        requireSameLength("samples", samples, "place", numbers);
        List<Share<P>> shares = new ArrayList<>();
        for (int i = 0; i < numbers.size(); i++) {
            shares.add(Share.of(at(key, places, numbers.get(i)), samples.get(i), precision));
        }
        return shares;
    }

    /** The shared lists of a report. */
    private record Lists(List<String> methods, List<Frame> frames, List<List<String>> paths) {

        static Lists of(JsonValues all) {
            List<String> methods = all.texts("methods");
            List<String> modes = all.texts("modes");
            List<Integer> ofFrames = all.integers("frame_method");
            List<Integer> lines = all.integers("frame_line");
            List<Integer> ways = all.integers("frame_mode");
            requireSameLength("frame_line", lines, "frame_method", ofFrames);
            requireSameLength("frame_mode", ways, "frame_method", ofFrames);
            List<Frame> frames = new ArrayList<>();
            for (int i = 0; i < ofFrames.size(); i++) {
                frames.add(new Frame(
                        at("frame_method", methods, ofFrames.get(i)),
                        lines.get(i),
                        at("frame_mode", modes, ways.get(i))));
            }
            List<List<String>> paths = all.listsOfIntegers("paths").stream()
                    .map(path -> path.stream()
                            .map(number -> at("paths", methods, number))
                            .toList())
                    .toList();
            return new Lists(methods, frames, paths);
        }
    }

    private static <P> P at(String key, List<P> list, int number) {
        if (number < 0 || number >= list.size()) {
            throw new IllegalArgumentException(
                    key + " of " + SUBJECT + " refers to number " + number + " of a list of " + list.size());
        }
        return list.get(number);
    }

    private static void requireSameLength(String key, List<?> column, String otherKey, List<?> other) {
        if (column.size() != other.size()) {
            throw new IllegalArgumentException(key + " of " + SUBJECT + " has " + column.size() + " entries, and "
                    + otherKey + " has " + other.size());
        }
    }
}
