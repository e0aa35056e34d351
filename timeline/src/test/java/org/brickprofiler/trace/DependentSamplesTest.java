package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.CallTree.Node;
import org.brickprofiler.trace.CallTree.Precision;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Samples of one wait depend on each other, so shares are less precise than their number suggests. */
@Tag("one-jdk")
final class DependentSamplesTest {

    private static final int RUNS = 400;

    /** The runs of 400 in which an interval of 95 % holds in all but one of 1,000 studies: 380 less 3.1 deviations. */
    private static final int FEWEST = 366;

    private static final int MOST = 393;

    /** Names no method: the tests name the bricks of samples. */
    private static final class NoMethods implements FrameBricks {
        @Override
        public Optional<String> brick(String type, String method, String descriptor) {
            return Optional.empty();
        }

        @Override
        public int methods() {
            return 1;
        }

        @Override
        public List<String> leftOut() {
            return List.of();
        }
    }

    private static LineProfile profile(FrameLines lines) {
        return lines.profile(new NoMethods(), 0, Optional.of("wall-clock time"), 0);
    }

    /** Returns the number of samples of a wait: geometrically distributed, 1 if the mean is. */
    private static long samples(Random random, double mean) {
        return mean == 1 ? 1 : 1 + (long) (Math.log1p(-random.nextDouble()) / Math.log1p(-1 / mean));
    }

    /**
     * Returns in how many of 400 runs the interval of the first method has its true share.
     *
     * @param first the part of the waits that are in the first method, and the mean of their samples
     * @param second the mean of the samples of waits in the second method
     */
    private static int holds(int waits, double part, double first, double second, boolean isBatched) {
        double truth = part * first / (part * first + (1 - part) * second);
        Random random = new Random(7);
        int holds = 0;
        for (int run = 0; run < RUNS; run++) {
            FrameLines lines = new FrameLines();
            for (int wait = 0; wait < waits; wait++) {
                boolean isFirst = random.nextDouble() < part;
                List<Frame> stack = List.of(new Frame(isFirst ? "first" : "second", 1, ""));
                long samples = samples(random, isFirst ? first : second);
                for (long i = 0; i < (isBatched ? 1 : samples); i++) {
                    lines.sample(Optional.of("brick"), false, stack, isBatched ? samples : 1);
                }
            }
            holds += profile(lines).bricks().get(0).java().methods(2).stream()
                            .filter(each -> each.place().equals("first"))
                            .anyMatch(each -> each.low() <= truth && truth <= each.high())
                    ? 1
                    : 0;
        }
        return holds;
    }

    @Spec("13.19")
    @Test
    void intervalsHoldTheShareIfWaitsAreBatches() {
        assertThat(holds(100, 0.4, 10, 10, true)).as("waits of one length").isBetween(FEWEST, MOST);
        assertThat(holds(100, 0.4, 1, 1, true)).as("single samples").isBetween(FEWEST, MOST);
        assertThat(holds(100, 0.05, 50, 1, true)).as("a few long waits").isBetween(FEWEST, MOST);
        assertThat(holds(100, 0.5, 1, 20, true))
                .as("a method that runs, and one that waits: wider than needed")
                .isGreaterThanOrEqualTo(FEWEST);
        assertThat(holds(100, 0.4, 10, 10, false)).as("each sample by itself").isLessThan(FEWEST / 2);
    }

    @Spec("13.19")
    @Test
    void theShareOfABrickCountsItsWaitsOnce() {
        FrameLines lines = new FrameLines();
        List<Frame> stack = List.of(new Frame("wait", 1, "Native"));
        lines.sample(Optional.of("asleep"), true, stack, 300);
        for (int i = 0; i < 100; i++) {
            lines.sample(Optional.of("busy"), false, List.of(new Frame("run", 2, "")), 1);
        }
        LineProfile profile = profile(lines);
        OfBrick asleep = profile.bricks().get(0);

        assertThat(asleep.natives().precision()).isEqualTo(new Precision(300, 1, 1));
        assertThat(profile.bricks().get(1).java().precision()).isEqualTo(Precision.ofIndependent(100));
        assertThat(profile.text())
                .contains("The samples of one wait count once in intervals, since they depend on each other.")
                // One wait has most samples, which says nothing of the share of waits.
                .contains("asleep, 300 samples, 75 % of those of bricks (0.6 to 100)");
        assertThat(LineProfile.fromJson(profile.toJson())).isEqualTo(profile);
        assertThat(profile.toJson())
                .contains("\"independent\":1.0,\"degrees\":1.0")
                .doesNotContain("\"independent\":100");
    }

    @Test
    void moreIndependentSamplesThanAllAreRefused() {
        List<Node> nodes = List.of(new Node(CallTree.NO_PARENT, new Frame("a", 1, ""), 5));

        assertThat(new CallTree(nodes).precision()).isEqualTo(new Precision(5, 5, 5));
        assertThatThrownBy(() -> new CallTree(nodes, Precision.ofIndependent(6)))
                .hasMessage("a precision of 6 samples for a tree of 5");
        assertThatThrownBy(() -> new Precision(5, 6, 1)).hasMessageContaining("6.0 independent samples of 5");
        assertThatThrownBy(() -> new Precision(5, 2, 3)).hasMessageContaining("with 3.0 degrees");
        assertThatThrownBy(() -> new Precision(5, 0, 0)).hasMessageContaining("0.0 independent");
        assertThatThrownBy(() -> new Precision(5, Double.NaN, 1)).hasMessageContaining("NaN independent");
    }
}
