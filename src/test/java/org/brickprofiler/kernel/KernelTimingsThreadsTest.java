package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.brickprofiler.Backend;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer.Dispatch;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Kernel timings under many threads. No test sleeps; each ends when its threads have. */
final class KernelTimingsThreadsTest {

    private static final int WRITERS = 3;

    /** The duration of every dispatch: with any other value, a reader saw half a sample. */
    private static final long EACH_NS = 7;

    private final KernelTimings timings = new KernelTimings();

    private static void checkTogether(KernelTiming timing) {
        assertThat(timing.totalNs()).isEqualTo(EACH_NS * timing.dispatchCount());
        assertThat(timing.minNs()).isEqualTo(EACH_NS);
        assertThat(timing.maxNs()).isEqualTo(EACH_NS);
        assertThat(timing.lastNs()).isEqualTo(EACH_NS);
    }

    private static boolean allDone(List<FutureTask<Boolean>> tasks) {
        return tasks.stream().allMatch(FutureTask::isDone);
    }

    @Spec("11.3")
    @Test
    void snapshotsAreConsistentAndResetsLoseNothing() throws Exception {
        int perWriter = 400_000;
        Crew crew = new Crew();
        List<FutureTask<Boolean>> writers = new ArrayList<>();
        List<Backend> backends = List.of(Backend.CPU, Backend.CUDA, Backend.METAL);
        for (Backend own : backends) {
            writers.add(crew.start(() -> {
                for (int n = 0; n < perWriter; n++) {
                    timings.record("own", own, EACH_NS);
                    timings.record(n % 2 == 0 ? "even" : "odd", Backend.CUDA, EACH_NS);
                }
                return true;
            }));
        }
        crew.run(() -> {
            while (!allDone(writers)) {
                timings.snapshot().forEach(KernelTimingsThreadsTest::checkTogether);
            }
        });
        Map<String, Long> counts = new HashMap<>();
        boolean last;
        do {
            last = allDone(writers);
            for (KernelTiming timing : timings.snapshotAndReset()) {
                checkTogether(timing);
                counts.merge(timing.name() + " on " + timing.backend(), timing.dispatchCount(), Long::sum);
            }
        } while (!last);
        crew.join();

        long each = perWriter;
        assertThat(counts)
                .isEqualTo(Map.of(
                        "own on CPU", each,
                        "own on CUDA", each,
                        "own on METAL", each,
                        "even on CUDA", backends.size() * each / 2,
                        "odd on CUDA", backends.size() * each / 2));
        assertThat(timings.snapshot()).isEmpty();
    }

    @Test
    void commandBuffersAndTheirDispatchesStayTogether() throws Exception {
        int perWriter = 20_000;
        Crew crew = new Crew();
        List<FutureTask<Boolean>> writers = new ArrayList<>();
        for (int writer = 0; writer < WRITERS; writer++) {
            String label = "label-" + writer;
            writers.add(crew.start(() -> {
                for (int n = 0; n < perWriter; n++) {
                    timings.recordCommandBuffer(label, Backend.METAL, n, n + EACH_NS);
                    timings.recordDispatch(label, Backend.METAL, "op", n, n, n + EACH_NS);
                }
                return true;
            }));
        }
        crew.run(() -> {
            while (!allDone(writers)) {
                for (CommandBuffer buffer : timings.commandBuffers()) {
                    assertThat(buffer.totalNs()).isEqualTo(EACH_NS * buffer.count());
                    assertThat(buffer.count() - buffer.dispatches().size()).isBetween(0L, 1L);
                }
            }
        });
        crew.join();

        assertThat(timings.commandBuffers()).hasSize(WRITERS).allSatisfy(buffer -> {
            assertThat(buffer.count()).isEqualTo(perWriter);
            assertThat(buffer.dispatches()).hasSize(perWriter);
            for (int n = 0; n < perWriter; n++) {
                assertThat(buffer.dispatches().get(n)).isEqualTo(new Dispatch(buffer.label(), "op", n, n, n + EACH_NS));
            }
        });
    }

    @Test
    void threadsShareALabel() throws Exception {
        int perThread = 100_000;
        Crew crew = new Crew();
        for (int thread = 0; thread < WRITERS; thread++) {
            crew.run(() -> {
                for (int n = 0; n < perThread; n++) {
                    timings.recordCommandBuffer("shared", Backend.METAL, 0, EACH_NS);
                    timings.recordDispatch("dispatched", Backend.METAL, "op", n, 0, EACH_NS);
                }
            });
        }
        crew.join();

        long all = (long) WRITERS * perThread;
        assertThat(timings.commandBuffers())
                .extracting(CommandBuffer::count, CommandBuffer::totalNs)
                .containsExactly(tuple(all, all * EACH_NS), tuple(0L, 0L));
        assertThat(timings.commandBuffers().get(1).dispatches().size() + timings.droppedDispatches())
                .isEqualTo(all);
    }

    @Test
    void theThrottleCountsTheCallsOfAllThreads() throws Exception {
        int perThread = 250;
        timings.record("a", Backend.CPU, EACH_NS);
        try (CapturedLog log = new CapturedLog()) {
            Crew crew = new Crew();
            for (int thread = 0; thread < WRITERS; thread++) {
                crew.run(() -> {
                    for (int call = 0; call < perThread; call++) {
                        timings.logSnapshot(50);
                    }
                });
            }
            crew.join();

            assertThat(log.linesWith(" avg ")).isEqualTo(WRITERS * perThread / 50);
        }
    }
}
