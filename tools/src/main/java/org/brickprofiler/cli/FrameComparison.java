package org.brickprofiler.cli;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.brickprofiler.cli.SlowerMethods.WithLines;
import org.brickprofiler.internal.base.PlainText;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.CallTree.Precision;
import org.brickprofiler.trace.CallTree.Share;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.LineProfile.OfBrick;

/**
 * The shares of bricks in the samples of two sets of recordings without bricks. Frames show no times, and shares of
 * samples do not show how much runs differ from each other, so there is no verdict. Stateless; any thread.
 */
final class FrameComparison {

    static final String NO_VERDICT = "recordings without bricks have no times, and the intervals of their shares are of"
            + " the samples alone: how much runs differ is unknown";

    /** With fewer samples, shares say nothing. */
    private static final int FEWEST_SAMPLES = 20;

    private FrameComparison() {}

    /** The samples of all runs of a side, by brick. */
    private static final class Side {
        private final Map<String, Long> byBrick = new TreeMap<>();
        private Precision precision = Precision.NONE;

        Side(List<WithLines> runs) {
            for (WithLines run : runs) {
                LineProfile lines = lines(run);
                // Without a mode, native code has a rate of its own.
                boolean isOneRate = lines.mode().isPresent();
                for (OfBrick brick : lines.bricks()) {
                    Stream.of(brick.java(), isOneRate ? brick.natives() : CallTree.EMPTY)
                            .filter(tree -> tree.samples() > 0)
                            .forEach(tree -> add(brick.brick(), tree));
                }
            }
        }

        private void add(String brick, CallTree tree) {
            byBrick.merge(brick, tree.samples(), Long::sum);
            precision = precision.plus(tree.precision());
        }

        Share<String> share(String brick) {
            return Share.of(brick, byBrick.getOrDefault(brick, 0L), precision);
        }
    }

    private static LineProfile lines(WithLines run) {
        return run.lines().orElseThrow();
    }

    /** Returns whether frames show the bricks of a run, whose times are unknown. */
    static boolean isFor(WithLines run) {
        return run.lines().flatMap(LineProfile::byFrames).isPresent()
                && run.run().snapshot().bricks().isEmpty();
    }

    /**
     * Compares the shares of bricks.
     *
     * @param before the runs of the first side
     * @param after the runs of the second side
     * @return printable ASCII
     * @throws IllegalArgumentException when a run has times, or runs have samples of different kinds; the message names
     *     both
     */
    static String of(List<WithLines> before, List<WithLines> after) {
        List<WithLines> all = Stream.concat(before.stream(), after.stream()).toList();
        WithLines first =
                all.stream().filter(FrameComparison::isFor).findFirst().orElseThrow();
        all.forEach(run -> requireAlike(first, run));
        Side one = new Side(before);
        Side two = new Side(after);
        StringBuilder text = new StringBuilder("Shares of bricks in samples"
                + (lines(first).mode().isEmpty() ? " in Java code" : " of " + PlainText.ascii(first.kindOfSamples()))
                + ".\n");
        if (Math.min(one.precision.samples(), two.precision.samples()) < FEWEST_SAMPLES) {
            text.append(String.format(
                    Locale.ROOT,
                    "There are too few samples in bricks, %,d before and %,d after: shares need %d on each side.\n",
                    one.precision.samples(),
                    two.precision.samples(),
                    FEWEST_SAMPLES));
        } else {
            text.append(String.format(
                    Locale.ROOT,
                    "\n%8s %8s %15s %18s  %s\n",
                    "before %",
                    "after %",
                    "change, points",
                    "95 % interval",
                    "brick"));
            bricks(one, two).forEach(brick -> text.append(line(one.share(brick), two.share(brick))));
            text.append(String.format(
                    Locale.ROOT,
                    "\n%,d samples in bricks before, %,d after.\n",
                    one.precision.samples(),
                    two.precision.samples()));
        }
        return text + "No verdict: " + NO_VERDICT + ".\n";
    }

    private static List<String> bricks(Side one, Side two) {
        List<String> bricks = new ArrayList<>(one.byBrick.keySet());
        two.byBrick.keySet().stream().filter(brick -> !bricks.contains(brick)).forEach(bricks::add);
        bricks.sort(Comparator.comparingDouble((String brick) ->
                        -Math.max(one.share(brick).share(), two.share(brick).share()))
                .thenComparing(Comparator.naturalOrder()));
        return bricks;
    }

    /** Returns a line with the interval of Newcombe (1998, method 10), which follows from those of both shares. */
    private static String line(Share<String> before, Share<String> after) {
        double change = after.share() - before.share();
        double low = change - Math.hypot(after.share() - after.low(), before.high() - before.share());
        double high = change + Math.hypot(after.high() - after.share(), before.share() - before.low());
        return String.format(
                Locale.ROOT,
                "%8.1f %8.1f %+15.1f %18s  %s\n",
                100 * before.share(),
                100 * after.share(),
                100 * change,
                String.format(Locale.ROOT, "%+.1f to %+.1f", 100 * low, 100 * high),
                PlainText.ascii(before.place()));
    }

    private static void requireAlike(WithLines one, WithLines other) {
        if (!isFor(other)) {
            throw new IllegalArgumentException(one.run().name() + " has the samples of bricks and no times, and "
                    + other.run().name() + " has times: they cannot be compared");
        }
        if (!one.isOfKind(other)) {
            throw new IllegalArgumentException(WithLines.kindsOf(one, other) + ": their shares cannot be compared");
        }
    }
}
