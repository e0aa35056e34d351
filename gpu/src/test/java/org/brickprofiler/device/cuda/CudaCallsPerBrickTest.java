package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SortedMap;
import java.util.TreeMap;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The driver calls that the end of a pass makes for each brick. The simulated driver counts them, so no timing and no
 * load of the machine matters.
 */
@Spec({"12.22", "12.31"})
class CudaCallsPerBrickTest {

    private static final int BRICKS = 500;
    private static final int WORK_NS = 1_000;

    /** Calls of a pass that do not depend on the number of its bricks. */
    private static final int OF_THE_PASS = 30;

    /** How the bricks of a pass are timed, and how many marks each of them sets. */
    enum Way {
        START_AND_STOP(2) {
            @Override
            void brick(BrickProfiler profiler, int brick, Runnable work) {
                long timer = profiler.startBrick(brick);
                work.run();
                profiler.stopBrick(timer, 1);
            }
        },
        LAP(1) {
            @Override
            void brick(BrickProfiler profiler, int brick, Runnable work) {
                work.run();
                running = profiler.lap(running, 1, brick);
            }

            @Override
            void begin(BrickProfiler profiler, int brick) {
                running = profiler.startBrick(brick);
            }

            @Override
            void end(BrickProfiler profiler) {
                profiler.stopBrick(running, 1);
            }
        },
        DEFERRED(2) {
            @Override
            void brick(BrickProfiler profiler, int brick, Runnable work) {
                long startNs = profiler.elapsedNs();
                work.run();
                profiler.recordDeferred(brick, startNs, 1);
            }
        },
        DEFERRED_AMONG_UNUSED_STARTS(3) {
            @Override
            void brick(BrickProfiler profiler, int brick, Runnable work) {
                assertThat(profiler.elapsedNs()).isPositive();
                DEFERRED.brick(profiler, brick, work);
            }
        };

        private final long marksEach;

        /** The timer that runs; one test at a time uses a way. */
        @SuppressWarnings("ImmutableEnumChecker")
        long running;

        Way(long marksEach) {
            this.marksEach = marksEach;
        }

        abstract void brick(BrickProfiler profiler, int brick, Runnable work);

        void begin(BrickProfiler profiler, int brick) {}

        void end(BrickProfiler profiler) {}
    }

    @BeforeEach
    void start() {
        SimulatedCuda.start();
    }

    @ParameterizedTest
    @EnumSource
    void aPassAsksOnceForEachMark(Way way) {
        SortedMap<String, Long> calls = callsOfTheEndOfAPass(new CudaEngine(0), way);

        assertThat(calls.remove("cuEventElapsedTime"))
                .isBetween(way.marksEach * BRICKS - 1L, way.marksEach * BRICKS + 2L);
        assertThat(sum(calls)).as("%s", calls).isLessThanOrEqualTo(OF_THE_PASS);
    }

    /** The context is made current for 64 queries at a time, and not for each of them. */
    @ParameterizedTest
    @EnumSource
    void aThreadWithoutTheContextAsksInSections(Way way) throws Exception {
        CudaEngine engine = new CudaEngine(0);
        Crew.runOnNewThread(() -> {
            SortedMap<String, Long> calls = callsOfTheEndOfAPass(engine, way);

            long marks = way.marksEach * BRICKS;
            assertThat(calls.remove("cuEventElapsedTime")).isBetween(marks - 1L, marks + 2L);
            assertThat(sum(calls)).as("%s", calls).isLessThanOrEqualTo(OF_THE_PASS + 15L * (marks / 64 + 1));
        });
    }

    private static long sum(SortedMap<String, Long> calls) {
        return calls.values().stream().mapToLong(Long::longValue).sum();
    }

    /** Returns how often each driver call is made by the end of a pass; checks the times of its bricks. */
    private static SortedMap<String, Long> callsOfTheEndOfAPass(CudaEngine engine, Way way) {
        try (CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                .marks(4 * BRICKS, 4 * BRICKS)
                .withoutNetTimes()
                .open()) {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
            int brick = profiler.brickKey("b");
            Runnable work = engine.spinner(WORK_NS);
            SortedMap<String, Long> calls = new TreeMap<>();
            for (int pass = 0; pass < 3; pass++) {
                way.begin(profiler, brick);
                for (int i = 0; i < BRICKS; i++) {
                    way.brick(profiler, brick, work);
                }
                way.end(profiler);
                SortedMap<String, Long> before = SimulatedCuda.counts();
                int readsBefore = SimulatedCuda.deviceReads();
                profiler.endPass();
                // The last mark is queried first, and shows the driver that all others are reached.
                assertThat(SimulatedCuda.deviceReads() - readsBefore).isLessThanOrEqualTo(2);
                calls.putAll(SimulatedCuda.counts());
                before.forEach((name, count) -> calls.merge(name, -count, Long::sum));
            }
            BrickStats stats = profiler.snapshot().brick("b").orElseThrow();
            assertThat(stats.device().unresolved()).isZero();
            assertThat(stats.totalNs()).isEqualTo(3L * BRICKS * WORK_NS);
            return calls;
        }
    }
}
