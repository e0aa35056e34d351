package org.brickprofiler.internal.device;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.internal.mark.GraphMarks;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A device that launches a graph again while the graph's times are read. Reading must detect this, wherever the next
 * launch begins among the queries. A control shows that undetected launches would give wrong times.
 */
class GraphTemplatesTest {

    private static final int CAPTURE = 1;

    /** All but one follow each other, and the last one lies around them. */
    private static final int BRICKS = 6;

    private static final int MARKS = 2 * (BRICKS - 1);
    private static final Long[] DURATIONS_NS = {100L, 100L, 100L, 100L, 100L, 100L * (MARKS - 1)};

    private final FakeClock clock = new FakeClock();
    private final SimulatedStream stream = new SimulatedStream("stream", clock);
    private final Marks marks = new Marks(stream);
    private final DeviceFigures.Sums sums =
            new DeviceFigures.Sums(new TableRegistry(0, false), new TableRegistry(0, false));
    private final WaitingSamples waiting = new WaitingSamples(stream, marks);

    /** The marks of a graph, whose times change as the device goes on from query to query. */
    private static final class Replayed implements GraphMarks {

        @Override
        public boolean takeStray() {
            return false;
        }

        @Override
        public boolean isCapturing() {
            return false;
        }

        private final List<Loss> losses = new ArrayList<>();
        private final boolean[] isOfGraph = new boolean[4_096];
        private final long[] timesNs = new long[4_096];

        private boolean answersNothing;

        /** The answer to the latest query of the times of a launch. */
        private long[] answer = {};

        /** What the device does before each query of a time. */
        private Runnable before = () -> {};

        @Override
        public int captureOf(int mark) {
            return isOfGraph[mark] ? CAPTURE : NONE;
        }

        @Override
        public void elapsedNs(int[] numbers, int count, long[] ns) {
            for (int i = 1; i < count; i++) {
                before.run();
                ns[i] = answersNothing ? DeviceStream.NOT_REACHED : timesNs[numbers[i]] - timesNs[numbers[i - 1]];
            }
            if (count > 2) {
                answer = Arrays.copyOf(ns, count);
            }
        }

        @Override
        public void follow(Follower follower) {}

        @Override
        public void report(Loss loss, String reason) {
            losses.add(loss);
        }
    }

    private final Replayed device = new Replayed();
    private final GraphTemplates graphs = new GraphTemplates(device, marks, sums);
    private final int[] ofGraph = new int[MARKS];

    private int mark(boolean isOfGraph) {
        int mark = stream.mark();
        marks.set(mark, 1, Marks.NOT_READ);
        device.isOfGraph[mark] = isOfGraph;
        return mark;
    }

    private void capture() {
        graphs.open(CAPTURE, mark(false));
        for (int brick = 0; brick < BRICKS - 1; brick++) {
            ofGraph[2 * brick] = mark(true);
            ofGraph[2 * brick + 1] = mark(true);
            assertThat(graphs.take(brick, ofGraph[2 * brick], ofGraph[2 * brick + 1], 1))
                    .isTrue();
        }
        marks.hold(ofGraph[0]);
        marks.hold(ofGraph[MARKS - 1]);
        assertThat(graphs.take(BRICKS - 1, ofGraph[0], ofGraph[MARKS - 1], 1)).isTrue();
    }

    /** Reads the launch that was taken last. */
    private GraphTemplates.@Nullable Template read() {
        int last = waiting.size() - 1;
        return graphs.measure(waiting.capture(last), waiting.launch(last), waiting.start(last), waiting.end(last));
    }

    private int takeLaunch(long endNs) {
        int end = mark(false);
        device.timesNs[end] = endNs;
        graphs.takeLaunch(CAPTURE, 0, end, 1, waiting);
        return end;
    }

    private long unresolved() {
        DeviceFigures figures = sums.figures(0, BRICKS, List.of(), new DeviceFigures.Estimates(Map.of(), Map.of()));
        return IntStream.range(0, BRICKS).mapToLong(figures::unresolved).sum();
    }

    private void runAt(long ns) {
        for (int i = 0; i < ofGraph.length; i++) {
            device.timesNs[ofGraph[i]] = ns + 100L * i;
        }
    }

    private List<Long> durations(GraphTemplates.Template template, int end) {
        MarkChain chain = new MarkChain(stream, marks, clock);
        chain.begin();
        chain.add(end);
        chain.delimit(end);
        GraphTemplates.addTo(chain, template, end);
        clock.advance(1);
        chain.measure(clock.now(), DeviceStream.NO_MARK);
        return IntStream.range(0, BRICKS)
                .mapToObj(brick -> chain.elapsedNs(template.start(brick), template.end(brick)))
                .toList();
    }

    @Test
    void timesOfALaunchAreTakenOnce() {
        capture();
        runAt(1_000);
        int end = takeLaunch(1_000 + 100 * ofGraph.length);
        GraphTemplates.Template template = Objects.requireNonNull(read());
        // By now the times were copied, so later launches cannot change them.
        runAt(50_000);
        assertThat(read()).isSameAs(template);
        assertThat(durations(template, end)).containsExactly(DURATIONS_NS);
        assertThat(graphs.pendingCount()).isEqualTo(BRICKS);
        graphs.resolved(CAPTURE, 1);
        assertThat(graphs.pendingCount()).isZero();
        assertThat(unresolved()).isZero();
    }

    /**
     * The device launches again before each query in turn, at every speed: one mark between two queries, two, and so
     * on.
     */
    @Spec("12.40")
    @ParameterizedTest
    @ValueSource(longs = {1_000, 1_001, 5_000, 1_000_000_000})
    void aLaunchDuringTheQuestionsIsFoundWhereverItBegins(long periodNs) {
        int questions = ofGraph.length + 2;
        capture();
        int taken = 0;
        for (int begin = 0; begin <= questions + 1; begin++) {
            for (int speed = 1; speed <= ofGraph.length; speed++) {
                long startNs = 10L * periodNs * (begin * ofGraph.length + speed);
                runAt(startNs);
                int end = takeLaunch(startNs + 100L * (ofGraph.length - 1));
                device.before = launchesAgain(begin, speed, startNs + periodNs);
                long lostBefore = unresolved();
                GraphTemplates.Template template = read();
                if (template != null) {
                    taken++;
                    device.before = () -> {};
                    assertThat(durations(template, end)).containsExactly(DURATIONS_NS);
                    graphs.resolved(CAPTURE, waiting.launch(waiting.size() - 1));
                } else {
                    assertThat(unresolved()).isEqualTo(lostBefore + BRICKS);
                }
            }
        }
        // Only if the launch begins with the last queries, or after them.
        assertThat(taken).isBetween(ofGraph.length, questions * ofGraph.length / 2);
        assertThat(device.losses).containsOnly(GraphMarks.Loss.OVERWRITTEN);
    }

    /** Even if a launch that begins during the queries runs beside the one before, in another stream. */
    @Spec("12.40")
    @Test
    void timesOfTwoLaunchesAreNeverMixed() {
        int questions = ofGraph.length + 2;
        capture();
        int taken = 0;
        long startNs = 0;
        for (int begin = 1; begin <= questions; begin++) {
            for (int speed = 1; speed <= ofGraph.length; speed++) {
                for (int most = 1; most <= ofGraph.length; most++) {
                    startNs += 10_000;
                    runAt(startNs);
                    int end = takeLaunch(startNs + 5_000);
                    device.before = launchesAgain(begin, speed, startNs + 50, most);
                    GraphTemplates.Template template = read();
                    if (template != null) {
                        taken++;
                        device.before = () -> {};
                        assertThat(durations(template, end)).containsExactly(DURATIONS_NS);
                        graphs.resolved(CAPTURE, waiting.launch(waiting.size() - 1));
                    }
                }
            }
        }
        assertThat(taken).isPositive();
        assertThat(device.losses).contains(GraphMarks.Loss.OVERWRITTEN);
    }

    /** Returns what the device does: from a query on, it sets {@code speed} marks before each query. */
    private Runnable launchesAgain(int begin, int speed, long againNs) {
        return launchesAgain(begin, speed, againNs, ofGraph.length);
    }

    private Runnable launchesAgain(int begin, int speed, long againNs, int most) {
        int[] question = {0};
        int[] set = {0};
        return () -> {
            if (question[0]++ >= begin) {
                for (int i = 0; i < speed && set[0] < most; i++, set[0]++) {
                    device.timesNs[ofGraph[set[0]]] = againNs + 100L * set[0];
                }
            }
        };
    }

    /** The control: the device's own answer has a wrong duration, which would be taken if nothing detected it. */
    @Spec("12.40")
    @Test
    void anAnswerWithAWrongDurationIsNotTaken() {
        capture();
        int wrong = 0;
        long startNs = 0;
        for (int begin = 0; begin <= ofGraph.length; begin++) {
            for (int speed = 1; speed <= ofGraph.length; speed++) {
                startNs += 10_000;
                runAt(startNs);
                takeLaunch(startNs + 100L * ofGraph.length);
                device.before = launchesAgain(begin, speed, startNs + 5_000);
                GraphTemplates.Template template = read();
                // The answer begins with the mark before the launch.
                if (IntStream.range(0, BRICKS - 1).anyMatch(brick -> device.answer[2 * brick + 2] != 100)) {
                    wrong++;
                    assertThat(template).as("begin %s, speed %s", begin, speed).isNull();
                }
                graphs.resolved(CAPTURE, waiting.launch(waiting.size() - 1));
            }
        }
        assertThat(wrong).isPositive();
    }

    @Spec("12.40")
    @Test
    void timesOfAnEarlierLaunchAreNotTaken() {
        capture();
        runAt(-5_000);
        takeLaunch(1_000);
        assertThat(read()).isNull();
        assertThat(device.losses).containsExactly(GraphMarks.Loss.NOT_SET);
        runAt(2_000);
        takeLaunch(4_000);
        assertThat(read()).isNotNull();
        graphs.resolved(CAPTURE, 2);
        // The one part that a condition has skipped has the times of the launch before.
        runAt(5_000);
        device.timesNs[ofGraph[4]] = 2_400;
        device.timesNs[ofGraph[5]] = 2_500;
        takeLaunch(7_000);
        assertThat(read()).isNull();
        assertThat(unresolved()).isEqualTo(2L * BRICKS);
    }

    /** As while a context cannot be made current. */
    @Test
    void timesThatCannotBeAskedForNowAreAskedForAgain() {
        capture();
        runAt(1_000);
        takeLaunch(3_000);
        device.answersNothing = true;
        assertThat(read()).isNull();
        assertThat(graphs.isEarly()).isTrue();
        device.answersNothing = false;
        assertThat(read()).isNotNull();
        assertThat(graphs.isEarly()).isFalse();
        assertThat(unresolved()).isZero();
    }

    @Test
    void marksThatAreSetInAnotherOrderThanTheyAreReachedAreTakenTogether() {
        capture();
        Random random = new Random(1);
        for (int i = 0; i < ofGraph.length; i++) {
            device.timesNs[ofGraph[i]] = 10_000L + (i % 2 == 0 ? 0 : 5_000) + random.nextInt(100);
        }
        takeLaunch(20_000);
        assertThat(read()).isNotNull();
    }

    @Test
    void releasingWaitsForTheLaunchThatIsPending() {
        capture();
        int held = stream.marksHeld();
        runAt(1_000);
        takeLaunch(2_000);
        graphs.release(CAPTURE);
        assertThat(graphs.isEmpty()).isFalse();
        assertThat(stream.marksHeld()).isEqualTo(held + 1);
        assertThat(read()).isNotNull();
        graphs.resolved(CAPTURE, 1);
        waiting.drop(1);
        assertThat(graphs.isEmpty()).isTrue();
        assertThat(stream.marksHeld()).isZero();
    }
}
