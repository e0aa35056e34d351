package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.internal.record.LayerToken;
import org.brickprofiler.internal.record.SpanBuffer;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.brickprofiler.trace.LineProfile.Samples;
import org.junit.jupiter.api.Test;

/** The samples of virtual threads, whose bricks are in buffers that they share. */
final class VirtualThreadLinesTest {

    private static final List<Frame> STACK = List.of(new Frame("a.B.dot", 88, "JIT compiled"));
    private static final long A_MINUTE_NS = 60_000_000_000L;

    private final SpanStore store = new SpanStore(1 << 10, true, new AtomicLong(1 << 20));
    private final LineLog log = log(store);

    private static LineLog log(SpanStore store) {
        List<LineBricks.Source> sources = List.of(new LineBricks.Source(store.contents(), new Numbers()));
        return new LineLog(() -> sources, threadId -> -1, null);
    }

    /** Bricks that are named by their keys. */
    private static final class Numbers implements SpanSink.Names {
        @Override
        public int size() {
            return 100;
        }

        @Override
        public String name(int key) {
            return "brick " + key;
        }

        @Override
        public String category(int key) {
            return "";
        }
    }

    private static void brick(SpanBuffer buffer, long thread, int key, long startNs, long endNs) {
        buffer.addBy(thread, SpanKind.SPAN, key, startNs, endNs - startNs, 1);
    }

    private void sample(long thread, long atNs) {
        log.sampleOfVirtualThread(thread, atNs, false, STACK);
    }

    private Samples samples() {
        return log.profile().samples();
    }

    @Spec("13.18")
    @Test
    void aSampleIsInTheBrickOfItsOwnThreadWhicheverBufferHoldsIt() {
        SpanBuffer one = store.newSharedBuffer();
        SpanBuffer other = store.newSharedBuffer();
        // The second thread runs on the same carrier while the first one is parked in its brick.
        brick(one, 72, 2, 12, 18);
        brick(other, 71, 3, 5, 8);
        brick(one, 71, 1, 0, 30);
        sample(71, 6);
        sample(71, 15);
        sample(72, 15);
        sample(72, 20);
        sample(73, 15);
        log.sampleOfVirtualThread(73, 15, true, STACK);
        log.reported(40, 40, 0);
        assertThat(samples())
                .as("after its last brick, and without bricks")
                .isEqualTo(new Samples(3, 0, 0, 0, 2, 1, 0, 0));
        brick(other, 72, 2, 41, 42);
        log.reported(50, 50, 0);
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, OfBrick::samples, OfBrick::ofWorkers)
                .containsExactlyInAnyOrder(
                        tuple("brick 1", 1L, 0L), tuple("brick 2", 1L, 0L), tuple("brick 3", 1L, 0L));
        assertThat(log.profile().bricks()).allMatch(brick -> brick.due().isEmpty());
        assertThat(samples()).isEqualTo(new Samples(3, 1, 0, 0, 2, 0, 0, 0));
        log.reported(50 + A_MINUTE_NS, 50 + A_MINUTE_NS, 0);
        assertThat(samples()).isEqualTo(new Samples(3, 1, 0, 0, 2, 0, 0, 0));
    }

    @Test
    void aSampleBeforeTheFirstBrickOfItsThreadEndedWaitsForIt() {
        SpanBuffer buffer = store.newSharedBuffer();
        sample(71, 5);
        sample(72, 5);
        log.reported(10, 10, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 0, 0, 2, 0, 0, 0));
        brick(buffer, 71, 1, 0, 20);
        log.reported(30, 30, 0);
        assertThat(samples()).isEqualTo(new Samples(1, 0, 0, 0, 1, 0, 0, 0));
        SpanSink.Windows windows = log.windows();
        windows.read(true);
        assertThat(samples()).as("at the end").isEqualTo(new Samples(1, 0, 0, 0, 1, 0, 0, 0));
    }

    @Test
    void aBrickThatArrivesOutOfOrderIsInsideTheOneThatArrivedEarlier() {
        SpanBuffer one = store.newSharedBuffer();
        SpanBuffer other = store.newSharedBuffer();
        brick(one, 72, 2, 0, 50);
        brick(one, 71, 3, 10, 20);
        brick(other, 71, 1, 0, 40);
        sample(71, 15);
        log.reported(45, 45, 0);
        assertThat(log.profile().bricks())
                .filteredOn(brick -> brick.samples() > 0)
                .extracting(OfBrick::brick)
                .containsExactly("brick 3");
    }

    /** An inner brick of any thread may have been overwritten, also of one that has no other brick so far. */
    @Spec("13.18")
    @Test
    void samplesBeforeBricksWereOverwrittenAreTooLateForAllVirtualThreads() {
        SpanStore small = new SpanStore(4, true, new AtomicLong(1 << 10));
        LineLog few = log(small);
        SpanBuffer buffer = small.newSharedBuffer();
        SpanBuffer other = small.newSharedBuffer();
        brick(other, 74, 4, 0, 1);
        for (int i = 1; i <= 10; i++) {
            brick(buffer, 72, 2, 10L * i, 10L * i + 10);
        }
        for (long thread = 71; thread <= 74; thread++) {
            few.sampleOfVirtualThread(thread, 15, false, STACK);
        }
        few.sampleOfVirtualThread(72, 105, false, STACK);
        few.reported(60, 60, 0);
        assertThat(few.profile().samples()).isEqualTo(new Samples(0, 0, 0, 0, 0, 1, 4, 0));
        brick(other, 71, 1, 0, 112);
        few.sampleOfVirtualThread(71, 65, false, STACK);
        few.sampleOfVirtualThread(71, 111, false, STACK);
        few.reported(120, 120, 0);
        assertThat(few.profile().samples())
                .as("the entries that are left may come as late as they are many")
                .isEqualTo(new Samples(1, 0, 0, 0, 0, 0, 6, 0));
    }

    @Test
    void samplesAreTooLateIfASharedBufferHasNoRoom() {
        SpanStore small = new SpanStore(300, true, new AtomicLong(256));
        LineLog few = log(small);
        brick(small.newSharedBuffer(), 71, 1, 0, 30);
        brick(small.newSharedBuffer(), 71, 2, 10, 20);
        few.sampleOfVirtualThread(71, 15, false, STACK);
        few.sampleOfVirtualThread(71, 25, false, STACK);
        few.reported(40, 50, 0);
        assertThat(few.profile().samples()).isEqualTo(new Samples(0, 0, 0, 0, 0, 0, 2, 0));
    }

    @Test
    void threadsWithoutBricksThatNothingWaitsForAreForgotten() {
        SpanBuffer buffer = store.newSharedBuffer();
        brick(buffer, 71, 1, 0, 10);
        sample(71, 15);
        log.reported(20, 20, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 0, 0, 0, 1, 0, 0));
        log.reported(20 + A_MINUTE_NS, 20 + A_MINUTE_NS, 0);
        assertThat(samples()).isEqualTo(new Samples(0, 0, 0, 0, 0, 1, 0, 0));
        log.reported(30 + A_MINUTE_NS, 30 + A_MINUTE_NS, 0);
        sample(71, 35 + A_MINUTE_NS);
        log.reported(40 + A_MINUTE_NS, 40 + A_MINUTE_NS, 0);
        assertThat(samples()).as("its bricks are forgotten").isEqualTo(new Samples(0, 0, 0, 0, 1, 1, 0, 0));
    }

    @Test
    void amongVeryManyStepsAWorkerIsOfSeveral() {
        SpanBuffer buffer = store.newSharedBuffer();
        for (int thread = 1; thread <= LineJoin.MOST_OF_STEPS + 1; thread++) {
            brick(buffer, thread, 1, 0, thread);
            buffer.addBy(thread, SpanKind.PASS_END, 0, thread, 0, 0);
        }
        log.sample(1_000, 0, false, STACK);
        log.sample(1_000, 70, true, STACK);
        sample(1, 0);
        log.reported(100, 100, 0);
        assertThat(samples()).isEqualTo(new Samples(1, 0, 1, 1, 0, 0, 0, 0));
    }

    /** A thread that was given a layer works for the step of the layer, whoever else runs steps. */
    @Spec("13.18")
    @Test
    void aWorkerIsInTheBrickOfTheStepThatGaveItALayer() {
        SpanBuffer buffer = store.newSharedBuffer();
        for (int thread = 71; thread <= 72; thread++) {
            buffer.addBy(thread, SpanKind.LAYER_START, 0, 1, 0, LayerToken.start(LayerToken.of(thread, 0, 0), false));
        }
        change(buffer, 5, LayerToken.OWN, LayerToken.of(71, 0, 0));
        change(buffer, 10, LayerToken.of(71, 0, 0), LayerToken.of(72, 0, 0));
        change(buffer, 15, LayerToken.of(72, 0, 0), LayerToken.OWN);
        change(buffer, 20, LayerToken.OWN, LayerToken.of(99, 0, 0));
        buffer.addBy(73, SpanKind.LAYER_END, 0, 25, 0, 0);
        brick(buffer, 71, 1, 0, 30);
        brick(buffer, 72, 2, 0, 30);
        for (long atNs = 3; atNs < 30; atNs += 5) {
            sample(73, atNs);
        }
        log.sampleOfVirtualThread(73, 14, true, STACK);
        log.reported(40, 40, 0);
        assertThat(log.profile().bricks())
                .extracting(OfBrick::brick, OfBrick::samples, OfBrick::ofWorkers)
                .containsExactly(tuple("brick 2", 2L, 2L), tuple("brick 1", 1L, 1L));
        assertThat(samples())
                .as("three without a layer, one with a layer of an unknown pass")
                .isEqualTo(new Samples(3, 0, 0, 0, 3, 0, 1, 0));
    }

    private static void change(SpanBuffer buffer, long atNs, long before, long after) {
        buffer.addBy(73, SpanKind.WORK_FOR, 0, atNs, 0, LayerToken.change(before, after));
    }

    @Spec("13.18")
    @Property(tries = 50)
    void eachSampleIsInTheBrickThatANaiveProgramFinds(@ForAll long seed) {
        new Program(new Random(seed)).run();
    }

    /** Virtual threads with random bricks, which they write late and to any of several buffers. */
    private static final class Program {
        private static final int END_NS = 300;
        private static final int THREADS = 4;
        private static final int WORKERS = 2;
        private static final int NOBODY = -1;
        private static final int NONE = 0;

        private final Random random;
        private final SpanStore store = new SpanStore(1 << 10, true, new AtomicLong(1 << 20));
        private final LineLog log = log(store);
        private final int[][] innermost = new int[THREADS][END_NS];
        private final List<Written> entries = new ArrayList<>();

        private final List<Written> layers = new ArrayList<>();

        /** The end of the latest brick, before it was written. */
        private long endedNs;

        /** For which thread each worker works at each moment, or {@link #NOBODY}. */
        private final int[][] served = new int[WORKERS][END_NS];

        /** An entry, and when its thread had written it. */
        private record Written(
                int thread, SpanKind kind, int key, long startNs, long endNs, long value, long writtenNs) {}

        Program(Random random) {
            this.random = random;
        }

        void run() {
            for (int thread = 0; thread < THREADS; thread++) {
                runThread(thread);
            }
            for (int worker = 0; worker < WORKERS; worker++) {
                runWorker(worker);
            }
            entries.sort(Comparator.comparingLong(Written::writtenNs));
            List<SpanBuffer> buffers =
                    List.of(store.newSharedBuffer(), store.newSharedBuffer(), store.newSharedBuffer());
            Map<String, Long> expected = new HashMap<>();
            List<long[]> samples = new ArrayList<>();
            for (int i = 0; i < 80; i++) {
                int thread = random.nextInt(THREADS + WORKERS);
                int atNs = random.nextInt(END_NS);
                samples.add(new long[] {thread, atNs});
                expected.merge(place(thread, atNs), 1L, Long::sum);
            }
            int written = 0;
            long untilNs = 0;
            while (untilNs < END_NS || written < entries.size()) {
                long fromNs = untilNs;
                untilNs += 1 + random.nextInt(100);
                long readNs = untilNs + random.nextInt(20);
                for (; written < entries.size() && entries.get(written).writtenNs() <= readNs; written++) {
                    write(buffers.get(random.nextInt(buffers.size())), entries.get(written));
                }
                Collections.shuffle(samples, random);
                for (long[] sample : samples) {
                    if (sample[1] >= fromNs && sample[1] < untilNs) {
                        log.sampleOfVirtualThread(id((int) sample[0]), sample[1], random.nextBoolean(), STACK);
                    }
                }
                log.reported(untilNs, readNs, 0);
            }
            log.reported(END_NS + A_MINUTE_NS, END_NS + A_MINUTE_NS, 0);
            Map<String, Long> found = new HashMap<>();
            log.profile().bricks().forEach(brick -> found.merge(brick.brick(), brick.samples(), Long::sum));
            found.put("outside", log.profile().samples().outside());
            found.put("without bricks", log.profile().samples().virtualThreads());
            found.values().removeIf(count -> count == 0);
            assertThat(found).as("%s", log.profile().samples()).isEqualTo(expected);
            assertThat(log.profile().samples().total()).isEqualTo(samples.size());
        }

        private String place(int thread, int atNs) {
            int timed = thread < THREADS ? thread : served[thread - THREADS][atNs];
            int brick = timed == NOBODY ? NONE : innermost[timed][atNs];
            return brick == NONE ? thread < THREADS ? "outside" : "without bricks" : "brick " + brick;
        }

        private static long id(int thread) {
            return 70L + thread;
        }

        private static void write(SpanBuffer buffer, Written entry) {
            buffer.addBy(
                    id(entry.thread()),
                    entry.kind(),
                    entry.key(),
                    entry.startNs(),
                    entry.endNs() - entry.startNs(),
                    entry.value());
        }

        /** Runs bricks with others inside them, layers and passes; the last brick is after all samples. */
        private void runThread(int thread) {
            // It runs steps of its own from the beginning, and works for no other thread.
            entries.add(new Written(thread, SpanKind.PASS_END, 0, 0, 0, 0, 0));
            long nowNs = 0;
            while (nowNs < END_NS) {
                if (random.nextBoolean()) {
                    int pass = thread + THREADS * (int) nowNs;
                    long layer = LayerToken.of(pass, 0, random.nextInt(40));
                    nowNs = write(thread, SpanKind.LAYER_START, nowNs, LayerToken.start(layer, random.nextBoolean()));
                    layers.add(new Written(thread, SpanKind.LAYER_START, 0, nowNs, nowNs, layer, nowNs));
                }
                nowNs = nest(thread, nowNs + random.nextInt(20), 0);
                if (random.nextInt(3) == 0) {
                    nowNs = write(thread, SpanKind.PASS_END, nowNs, 0);
                }
            }
            end(thread, 1, nowNs + 1, nowNs + 10);
        }

        /** Works for the layers of threads, of which some have ended, one after the other. */
        private void runWorker(int worker) {
            Arrays.fill(served[worker], NOBODY);
            long token = LayerToken.OWN;
            long nowNs = random.nextInt(40);
            while (nowNs < END_NS) {
                long atNs = nowNs;
                List<Written> begun = layers.stream()
                        .filter(layer -> layer.writtenNs() < atNs)
                        .toList();
                Written layer =
                        begun.isEmpty() || random.nextInt(3) == 0 ? null : begun.get(random.nextInt(begun.size()));
                long after = layer == null ? LayerToken.OWN : layer.value();
                Arrays.fill(served[worker], (int) atNs, END_NS, layer == null ? NOBODY : layer.thread());
                nowNs = write(THREADS + worker, SpanKind.WORK_FOR, atNs, LayerToken.change(token, after))
                        + random.nextInt(40);
                token = after;
            }
        }

        private long write(int thread, SpanKind kind, long atNs, long value) {
            // Its thread does nothing else until it has written; a sample of a worker is in its step at once.
            long writtenNs = kind == SpanKind.PASS_END ? atNs + random.nextInt(8) : atNs;
            entries.add(new Written(thread, kind, 0, atNs, atNs, value, writtenNs));
            return writtenNs + 1;
        }

        /** Runs a brick, and returns the time after it has been written. */
        private long nest(int thread, long startNs, int depth) {
            int key = 1 + random.nextInt(5);
            long nowNs = work(thread, key, startNs, startNs + random.nextInt(15));
            while (depth < 3 && random.nextBoolean()) {
                long afterNs = nest(thread, nowNs, depth + 1);
                nowNs = work(thread, key, endedNs, afterNs + random.nextInt(15));
            }
            return end(thread, key, startNs, nowNs);
        }

        private long end(int thread, int key, long startNs, long endNs) {
            long writtenNs = endNs + random.nextInt(8);
            entries.add(new Written(thread, SpanKind.SPAN, key, startNs, endNs, 1, writtenNs));
            endedNs = endNs;
            return writtenNs + 1;
        }

        private long work(int thread, int key, long fromNs, long toNs) {
            Arrays.fill(innermost[thread], (int) Math.min(END_NS, fromNs), (int) Math.min(END_NS, toNs), key);
            return toNs;
        }
    }
}
