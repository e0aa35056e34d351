package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;

/** The bricks of samples, beside a program that notes for each nanosecond which brick was the innermost one. */
final class LinesProperties {

    private static final int END_NS = 400;
    private static final String NONE = "";
    private static final BrickId[] IDS = {
        BrickId.RMS_NORM, BrickId.QKV_PROJECTION, BrickId.FUSED_ATTENTION, BrickId.UP_PROJECTION, BrickId.SAMPLING
    };

    @Spec("13.18")
    @Property(tries = 300)
    void eachSampleIsInTheBrickThatANaiveProgramFinds(@ForAll long seed) {
        new Program(seed).run();
    }

    /** Random bricks in steps on one thread, and samples of this thread and of a worker. */
    private static final class Program {
        private final FakeClock clock = new FakeClock();
        private final FakeTimes times = new FakeTimes();
        private final TraceRecorder recorder =
                TraceRecorder.builder().clock(clock).times(times).lines(true).build();
        private final BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        private final LineLog log = recorder.lineLog().orElseThrow();
        private final String[] innermost = new String[END_NS];
        private final Random random;

        /** Until when samples were reported. */
        private long reportedNs;

        Program(long seed) {
            random = new Random(seed);
            Arrays.fill(innermost, NONE);
            profiler.enable();
        }

        void run() {
            long mine = Thread.currentThread().getId();
            long worker = mine + 1_000_000;
            boolean hasWorkers = random.nextBoolean();
            List<LineSample> samples = new ArrayList<>();
            for (int i = 0; i < 60; i++) {
                boolean isOfWorker = hasWorkers && random.nextInt(3) == 0;
                Frame frame = new Frame("m" + random.nextInt(4), 1 + random.nextInt(3), "JIT compiled");
                samples.add(new LineSample(
                        isOfWorker ? worker : mine, random.nextInt(END_NS), random.nextInt(4) == 0, List.of(frame)));
            }
            log.begin(1);
            while (clock.now() < END_NS) {
                profiler.beginStep(StepInfo.decode(1));
                nest(Math.min(END_NS, clock.now() + 1 + random.nextInt(120)), NONE, 0);
                if (random.nextBoolean()) {
                    profiler.endPass();
                    clock.advance(random.nextInt(10));
                } else {
                    overTheEndOfAPass();
                }
                if (random.nextBoolean()) {
                    report(samples, clock.now());
                }
            }
            // Only later bricks and passes show that the last samples are in none.
            for (int i = 0; i < 2; i++) {
                clock.advance(1);
                profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);
                profiler.endPass();
            }
            clock.advance(1);
            report(samples, clock.now());

            Map<String, Long> expected = new HashMap<>();
            for (LineSample sample : samples) {
                String brick = innermost[(int) sample.atNs()];
                boolean isElsewhere = sample.threadId() == worker && (sample.isNative() || brick.equals(NONE));
                expected.merge(isElsewhere ? "other thread" : brick.equals(NONE) ? "outside" : brick, 1L, Long::sum);
            }
            LineProfile profile = log.profile();
            Map<String, Long> found = new HashMap<>();
            for (LineProfile.OfBrick brick : profile.bricks()) {
                found.merge(brick.brick(), brick.samples(), Long::sum);
            }
            found.put("outside", profile.samples().outside());
            found.put("other thread", profile.samples().otherThreads());
            found.values().removeIf(count -> count == 0);
            assertThat(found).isEqualTo(expected);
            assertThat(profile.samples().total()).isEqualTo(samples.size());
            assertThat(profile.bricks().stream()
                            .mapToLong(LineProfile.OfBrick::ofWorkers)
                            .sum())
                    .isEqualTo(samples.stream()
                            .filter(sample -> sample.threadId() == worker && !sample.isNative())
                            .filter(sample -> !innermost[(int) sample.atNs()].equals(NONE))
                            .count());
        }

        /** Reports the samples up to a moment, in any order, and joins them. */
        private void report(List<LineSample> samples, long untilNs) {
            List<LineSample> due = new ArrayList<>();
            for (LineSample sample : samples) {
                if (sample.atNs() < untilNs && sample.atNs() >= reportedNs) {
                    due.add(sample);
                }
            }
            Collections.shuffle(due, random);
            due.forEach(sample -> log.sample(sample.threadId(), sample.atNs(), sample.isNative(), sample.stack()));
            reportedNs = untilNs;
            log.reported(untilNs, clock.now(), 0);
        }

        /** Runs bricks one after the other until a moment, with others inside them, by start and stop or by laps. */
        private void nest(long untilNs, String outer, int depth) {
            while (clock.now() < untilNs) {
                run(random.nextInt(20), untilNs, depth);
                fill(outer, random.nextInt(3), untilNs);
            }
        }

        private void run(long lengthNs, long untilNs, int depth) {
            BrickId id = IDS[random.nextInt(IDS.length)];
            long timer = profiler.startBrick(id);
            fill(id.displayName(), lengthNs, untilNs);
            if (depth < 3 && random.nextBoolean()) {
                nest(Math.min(untilNs, clock.now() + random.nextInt(30)), id.displayName(), depth + 1);
            }
            fill(id.displayName(), random.nextInt(10), untilNs);
            if (random.nextBoolean()) {
                BrickId next = IDS[random.nextInt(IDS.length)];
                timer = profiler.lap(timer, 1, next);
                fill(next.displayName(), random.nextInt(10), untilNs);
            }
            profiler.stopBrick(timer, 1);
        }

        /** A brick that ends after its pass. */
        private void overTheEndOfAPass() {
            BrickId id = IDS[random.nextInt(IDS.length)];
            long timer = profiler.startBrick(id);
            fill(id.displayName(), random.nextInt(10), END_NS);
            profiler.endPass();
            fill(id.displayName(), random.nextInt(10), END_NS);
            profiler.stopBrick(timer, 1);
        }

        private void fill(String brick, long lengthNs, long untilNs) {
            long toNs = Math.min(untilNs, clock.now() + lengthNs);
            for (long ns = clock.now(); ns < toNs; ns++) {
                innermost[(int) ns] = brick;
            }
            clock.waitUntil(toNs);
        }
    }
}
