package org.brickprofiler.trace;

import static org.brickprofiler.report.internal.RoughUnits.duration;
import static org.brickprofiler.report.internal.RoughUnits.number;
import static org.brickprofiler.report.internal.RoughUnits.percent;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Finding;
import org.brickprofiler.trace.CallTree.Precision;
import org.brickprofiler.trace.CallTree.Share;
import org.brickprofiler.trace.LineProfile.Amounts;
import org.brickprofiler.trace.LineProfile.ByFrames;
import org.brickprofiler.trace.LineProfile.Elsewhere;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;

/** The lines of bricks in words. Stateless; any thread. */
final class LineProfileText {

    /** With fewer samples, shares say nothing. */
    static final int FEWEST = 20;

    /** The lines that are listed of each brick. */
    static final int MOST_LINES = 3;

    /** The bricks that are named because frames do not show them. */
    private static final int MOST_LEFT_OUT = 5;

    private static final List<String> BYTE_UNITS = List.of("bytes", "KB", "MB", "GB", "TB");

    /** The modes that a line names; without one, it is compiled, or native code. */
    private static final Map<String, String> MODES =
            Map.of(LineRow.INTERPRETED, "interpreted", "Inlined", "inlined", "C1 compiled", "compiled by C1");

    private static final String UNKNOWN_LINE =
            "A line is unknown if the class file has no lines (-g:none), or the virtual machine made the method.";

    private LineProfileText() {}

    /** Returns a section of a report. */
    static String render(LineProfile profile) {
        StringBuilder text = new StringBuilder("Lines of bricks\n");
        facts(profile).forEach(fact -> text.append("  " + fact + "\n"));
        addBricks(text, profile, profile.bricks());
        return text.toString();
    }

    /** Returns the part of that section on some bricks, and why samples are missing or lines in doubt if they are. */
    static String render(LineProfile profile, List<OfBrick> shown) {
        StringBuilder text = new StringBuilder();
        Stream.concat(missing(profile).stream(), doubt(profile).stream())
                .forEach(fact -> text.append("  " + fact + "\n"));
        addBricks(text, profile, shown);
        return text.toString();
    }

    private static void addBricks(StringBuilder text, LineProfile profile, List<OfBrick> shown) {
        List<String> few = new ArrayList<>();
        for (OfBrick brick : shown) {
            if (hasShares(brick.java())
                    || hasShares(brick.natives())
                    || brick.isDoubted()
                    || brick.allocated().events() + brick.waited().events() > 0) {
                text.append(brick(profile, brick));
            } else if (brick.samples() > 0) {
                few.add(name(brick) + " " + brick.samples());
            }
        }
        if (!few.isEmpty()) {
            text.append("  Too few samples for shares: " + String.join(", ", few) + ".\n");
        }
        if (shown.stream().anyMatch(LineProfileText::hasUnknownLine)) {
            text.append("  " + UNKNOWN_LINE + "\n");
        }
    }

    /** Returns where the samples are, and why lines are unknown if some are. */
    static String inBrief(LineProfile profile) {
        boolean hasUnknown = profile.bricks().stream().anyMatch(LineProfileText::hasUnknownLine);
        return where(profile) + (hasUnknown ? " " + UNKNOWN_LINE : "");
    }

    /** Returns where the samples are, or why there are none. */
    private static String where(LineProfile profile) {
        return String.join(" ", facts(profile));
    }

    private static List<String> facts(LineProfile profile) {
        List<String> facts = new ArrayList<>();
        if (profile.missing().isEmpty() || profile.samples().total() > 0) {
            facts.add(places(profile));
        }
        missing(profile).ifPresent(facts::add);
        doubt(profile).ifPresent(facts::add);
        if (profile.bricks().stream()
                .flatMap(brick -> Stream.of(brick.java(), brick.natives()))
                .anyMatch(tree -> tree.precision().independent() < tree.samples())) {
            facts.add("The samples of one wait count once in intervals, since they depend on each other.");
        }
        addEvents(facts, profile);
        profile.byFrames().ifPresent(byFrames -> addTold(facts, byFrames));
        return facts;
    }

    private static Optional<String> missing(LineProfile profile) {
        return profile.missing()
                .map(reason -> (profile.samples().total() == 0 ? "No lines: " : "Samples are missing: ")
                        + PlainText.ascii(reason) + ".");
    }

    private static Optional<String> doubt(LineProfile profile) {
        return profile.doubt().map(reason -> "Methods and lines may be wrong: " + PlainText.ascii(reason) + ".");
    }

    /** Adds what frames show of bricks, and what they do not. */
    private static void addTold(List<String> facts, ByFrames byFrames) {
        facts.add(
                byFrames.equals(ByFrames.SPANS)
                        ? "The recording has the spans of bricks with samples: executions and times of bricks are unknown."
                        : "A sample belongs to the innermost of "
                                + Plural.of(byFrames.methods(), "method")
                                + " that the rules name as a brick: executions and times of bricks are unknown.");
        facts.add(
                "Shares are of samples, which get lost where a stack cannot be walked. Work that a brick hands to other"
                        + " threads is outside of it.");
        List<String> leftOut = byFrames.leftOut();
        int more = leftOut.size() - MOST_LEFT_OUT;
        if (!leftOut.isEmpty()) {
            facts.add("Frames do not show " + Plural.of(leftOut.size(), "brick") + " of the rules: "
                    + leftOut.stream()
                            .limit(MOST_LEFT_OUT)
                            .map(PlainText::ascii)
                            .collect(Collectors.joining(", "))
                    + (more > 0 ? " and " + more + " more" : "") + ".");
        }
    }

    /** Adds where memory was allocated and where threads waited, if the recording states it. */
    private static void addEvents(List<String> facts, LineProfile profile) {
        Elsewhere elsewhere = profile.elsewhere();
        long allocations = elsewhere.allocations();
        long bytes = 0;
        long waits = elsewhere.waits();
        long waitedNs = 0;
        for (OfBrick brick : profile.bricks()) {
            allocations += brick.allocated().events();
            bytes += brick.allocated().sum();
            waits += brick.waited().events();
            waitedNs += brick.waited().sum();
        }
        if (allocations > 0) {
            facts.add("Allocated, estimated from " + Plural.of(allocations, "sample") + ": " + bytes(bytes)
                    + " in bricks, " + bytes(elsewhere.allocatedBytes()) + " elsewhere.");
        }
        if (waits > 0) {
            facts.add("Threads waited " + duration(waitedNs) + " in bricks, " + duration(elsewhere.waitedNs())
                    + " elsewhere, in " + Plural.of(waits, "wait")
                    + (elsewhere.leastWaitNs() == 0
                            ? "."
                            : "; those below " + duration(elsewhere.leastWaitNs()) + " may be missing."));
        }
    }

    private static String bytes(long bytes) {
        if (bytes < 1_000) {
            return bytes + " bytes";
        }
        int unit = 0;
        double value = bytes;
        for (; value >= 1_000 && unit < BYTE_UNITS.size() - 1; unit++) {
            value /= 1_000;
        }
        return number(value) + " " + BYTE_UNITS.get(unit);
    }

    private static String places(LineProfile profile) {
        Samples samples = profile.samples();
        List<String> parts = new ArrayList<>();
        addPart(parts, samples.inBricks(), "in bricks");
        addPart(parts, samples.outside(), "outside of bricks");
        addPart(parts, samples.otherThreads(), "of other threads");
        addPart(parts, samples.severalSteps(), "in bricks of several steps or profilers");
        addPart(parts, samples.virtualThreads(), "of virtual threads without bricks");
        addPart(parts, samples.notEnded(), "after the last brick of their thread");
        addPart(parts, samples.tooLate(), "too late: their bricks were overwritten");
        addPart(parts, samples.cutStacks(), "perhaps in a brick among the callers that the recording left out");
        return Plural.of(samples.total(), "sample")
                + profile.mode().map(mode -> " of " + PlainText.ascii(mode)).orElse("")
                + (profile.periodNs() == 0 ? "" : ", one of a thread each " + duration(profile.periodNs()))
                + (parts.isEmpty() ? "" : ": " + String.join(", ", parts))
                + "."
                + (profile.clockErrorNs() == 0
                        ? ""
                        : " Their times are exact to " + duration(profile.clockErrorNs()) + ".");
    }

    private static void addPart(List<String> parts, long samples, String where) {
        if (samples > 0) {
            parts.add(String.format(Locale.ROOT, "%,d %s", samples, where));
        }
    }

    private static String brick(LineProfile profile, OfBrick brick) {
        StringBuilder text = new StringBuilder("  " + name(brick) + ", " + Plural.of(brick.samples(), "sample"));
        if (profile.byFrames().isPresent()) {
            text.append(shareOfBricks(profile, brick));
        }
        if (brick.ofWorkers() > 0) {
            text.append(String.format(Locale.ROOT, " (%,d of workers)", brick.ofWorkers()));
        }
        text.append('\n');
        addLines(text, brick.java(), brick.interpretedPasses());
        if (brick.natives().samples() > 0) {
            text.append("    in native code, " + Plural.of(brick.natives().samples(), "sample")
                    + (hasShares(brick.natives()) ? ":\n" : ", too few for shares\n"));
            addLines(text, brick.natives(), OptionalLong.empty());
        }
        lost(brick).ifPresent(lost -> text.append("    " + lost + ". These lines may be of a part of its time.\n"));
        allocated(brick).ifPresent(allocated -> text.append("    " + allocated + "\n"));
        waited(brick).ifPresent(waited -> text.append("    " + waited + "\n"));
        return text.toString();
    }

    /**
     * Returns the share of a brick in the samples of all bricks. The virtual machine samples native code at a rate of
     * its own; then the share is of Java code.
     */
    private static String shareOfBricks(LineProfile profile, OfBrick brick) {
        boolean isOneRate = profile.mode().isPresent();
        ToLongFunction<OfBrick> samples =
                isOneRate ? OfBrick::samples : each -> each.java().samples();
        long all = profile.bricks().stream().mapToLong(samples).sum();
        if (all < FEWEST || brick.samples() == 0) {
            return "";
        }
        Precision precision = profile.bricks().stream()
                .flatMap(each -> isOneRate ? Stream.of(each.java(), each.natives()) : Stream.of(each.java()))
                .map(CallTree::precision)
                .reduce(Precision.NONE, Precision::plus);
        Share<String> share = Share.of(brick.brick(), samples.applyAsLong(brick), precision);
        return ", " + percent(share.share()) + " of those of bricks" + (isOneRate ? " (" : " in Java code (")
                + interval(share) + ")";
    }

    /** Returns the memory that a brick allocated. */
    static Optional<String> allocated(OfBrick brick) {
        Amounts allocated = brick.allocated();
        return allocated.events() == 0
                ? Optional.empty()
                : Optional.of("allocated about " + bytes(allocated.sum()) + ", by "
                        + Plural.of(allocated.events(), "sample")
                        + (allocated.events() < FEWEST
                                ? ", too few for shares"
                                : ": "
                                        + largest(
                                                allocated,
                                                part -> percent(
                                                        part.amount() / (double) Math.max(1, allocated.sum())))));
    }

    /** Returns the time for which threads waited in a brick. */
    static Optional<String> waited(OfBrick brick) {
        Amounts waited = brick.waited();
        return waited.events() == 0
                ? Optional.empty()
                : Optional.of("waited " + duration(waited.sum()) + " in " + Plural.of(waited.events(), "wait") + ": "
                        + largest(waited, part -> duration(part.amount())));
    }

    private static String largest(Amounts amounts, Function<Amounts.Part, String> amount) {
        return amounts.largest().stream()
                .map(part -> amount.apply(part) + " " + PlainText.ascii(part.place()))
                .collect(Collectors.joining(", "));
    }

    private static void addLines(StringBuilder text, CallTree tree, OptionalLong interpretedPasses) {
        if (hasShares(tree)) {
            OptionalLong passes = interpretedPasses;
            for (Share<Frame> line : tree.lines(MOST_LINES)) {
                text.append(String.format(
                        Locale.ROOT,
                        "    %6s %-13s %s\n",
                        percent(line.share()),
                        "(" + interval(line) + ")",
                        frame(line.place(), line.place().toString(), passes)));
                // They are known of the hottest line alone.
                passes = OptionalLong.empty();
            }
        }
    }

    private static String frame(Frame frame, String place, OptionalLong interpretedPasses) {
        String mode = MODES.get(frame.how());
        return PlainText.ascii(place)
                + (isUnknown(frame) ? ", line unknown" : "")
                + (mode == null ? "" : ", " + mode)
                + (interpretedPasses.isEmpty()
                        ? ""
                        : ", its method interpreted in the first "
                                + Plural.of(interpretedPasses.getAsLong(), "recorded pass", "recorded passes"));
    }

    private static String interval(Share<?> share) {
        return number(100 * share.low()) + " to " + number(100 * share.high());
    }

    static Optional<String> lost(OfBrick brick) {
        return brick.isDoubted()
                ? Optional.of(String.format(
                        Locale.ROOT,
                        "The virtual machine has lost samples here: %,d of %,d due",
                        brick.samples() - brick.ofWorkers(),
                        Math.round(brick.due().orElseThrow())))
                : Optional.empty();
    }

    private static String name(OfBrick brick) {
        return PlainText.ascii(brick.brick())
                + brick.phase()
                        .map(phase -> " in " + phase.displayName() + " steps")
                        .orElse("");
    }

    private static boolean hasShares(CallTree tree) {
        return tree.samples() >= FEWEST;
    }

    private static boolean hasUnknownLine(OfBrick brick) {
        return hasShares(brick.java())
                && brick.java().lines(CallTree.MOST_PLACES).stream().anyMatch(line -> isUnknown(line.place()));
    }

    /** Returns whether a frame has no line, although it is a method of Java. */
    private static boolean isUnknown(Frame frame) {
        return frame.line() == Frame.NO_LINE && !frame.how().isEmpty() && !frame.isNative();
    }

    // ---- findings ----

    /** Adds the hottest line of its brick to a finding. */
    static Finding explained(LineProfile profile, Finding finding) {
        boolean isOnBrick =
                switch (finding.kind()) {
                    case LARGEST_BRICK, BELOW_ROOF, NOTHING -> true;
                    default -> false;
                };
        return !isOnBrick
                ? finding
                : profile.hottestLine(finding.place())
                        .map(line -> new Finding(
                                finding.kind(),
                                finding.place(),
                                finding.share(),
                                finding.sentence() + " " + line + ".",
                                finding.next()))
                        .orElse(finding);
    }

    /**
     * Returns the hottest line of a brick in a sentence without a full stop: of the samples in Java code or in native
     * code, of which there are more. Empty if there are too few.
     */
    static Optional<String> hottest(OfBrick brick) {
        boolean isNative = brick.natives().samples() > brick.java().samples();
        CallTree tree = isNative ? brick.natives() : brick.java();
        if (!hasShares(tree)) {
            return lost(brick);
        }
        Share<Frame> line = tree.lines(1).get(0);
        return Optional.of(brick.phase()
                        .map(phase -> "In " + phase.displayName() + " steps, ")
                        .orElse("")
                + percent(line.share())
                + (isNative ? " of its samples in native code (" : " of its samples (")
                + interval(line) + " %) are in "
                + frame(
                        line.place(),
                        shortPlace(line.place()),
                        isNative ? OptionalLong.empty() : brick.interpretedPasses())
                + lost(brick)
                        .map(lost -> "; but " + lost.substring(0, 1).toLowerCase(Locale.ROOT) + lost.substring(1))
                        .orElse(""));
    }

    /** Returns a sentence on the share of a method in the samples of steps. */
    static String shareOfSamples(SlowSteps.SampledMethod method, long samples, long all) {
        Share<String> share = Share.of(method.method(), samples, all);
        return String.format(
                Locale.ROOT,
                "Of %,d samples, %s (%s %%) are in %s of %s.",
                all,
                percent(share.share()),
                interval(share),
                PlainText.ascii(shortPlace(new Frame(method.method(), Frame.NO_LINE, ""))),
                PlainText.ascii(method.brick()));
    }

    /** Returns a place without the package. */
    static String shortPlace(Frame frame) {
        String[] parts = frame.toString().split("\\.", -1);
        int from = Math.max(0, parts.length - 2);
        return String.join(".", List.of(parts).subList(from, parts.length));
    }
}
