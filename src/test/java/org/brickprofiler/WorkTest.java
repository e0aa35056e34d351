package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.brickprofiler.report.JsonReport;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** The work of bricks, beside their times. */
final class WorkTest {

    private final BrickProfiler profiler = BrickProfiler.enabled();

    @Spec({"2.9", "2.14"})
    @Test
    void addsUpByIdKeyAndName() {
        int key = profiler.brickKey("mine");
        profiler.recordWork(BrickId.LM_HEAD, 100, 40);
        profiler.recordWork("lm_head", 10, 60);
        profiler.recordWork(BrickId.LM_HEAD.index(), new Work(1, 2, 7_000));
        profiler.recordWork(BrickId.LM_HEAD, new Work(0, 0, 6_000));
        profiler.recordWork(key, 1, 2);
        profiler.recordWork("mine", Work.of(3, 4));

        assertThat(profiler.brickStats(BrickId.LM_HEAD).work()).isEqualTo(new Work(111, 102, 7_000));
        assertThat(profiler.stats("mine").orElseThrow().work()).isEqualTo(new Work(4, 6, 4));
        assertThat(profiler.brickStats(BrickId.RMS_NORM).work()).isEqualTo(Work.NONE);
    }

    @Spec("2.14")
    @Test
    void workLeavesTheSamplesAsTheyAre() {
        profiler.record(BrickId.LM_HEAD, 50, 1);
        profiler.recordWork(BrickId.LM_HEAD, 100, 40);

        BrickStats stats = profiler.brickStats(BrickId.LM_HEAD);
        assertThat(stats.count()).isEqualTo(1);
        assertThat(stats.totalNs()).isEqualTo(50);
        assertThat(stats.totalElements()).isEqualTo(1);
        assertThat(stats.totalBytes()).isZero();
        assertThat(stats.gflops()).isEqualTo(2.0);
        assertThat(stats.work().intensity()).isEqualTo(2.5);
        assertThat(profiler.snapshot().samples()).isEqualTo(1);
        assertThat(profiler.snapshot().threads()).isEqualTo(1);
    }

    @Test
    void workWithoutASampleIsNotLost() {
        profiler.recordWork(BrickId.LM_HEAD, 100, 40);

        assertThat(profiler.snapshot().bricks()).singleElement().satisfies(brick -> {
            assertThat(brick.count()).isZero();
            assertThat(brick.work().flops()).isEqualTo(100);
            assertThat(brick.gflops()).isZero();
        });
    }

    /** Otherwise the operations of one profile would be divided by the time of both. */
    @Test
    void ofMergedProfilesTheSamplesWithWorkAreCounted() throws Exception {
        profiler.record(BrickId.LM_HEAD, 50, 1);
        profiler.recordWork(BrickId.LM_HEAD, 100, 40);
        BrickProfiler other = BrickProfiler.enabled();
        other.record(BrickId.LM_HEAD, 70, 1);
        other.record(BrickId.LM_HEAD, 80, 1);
        ProfileSnapshot with = JsonReport.fromJson(JsonReport.toJson(profiler.snapshot()));
        ProfileSnapshot without = JsonReport.fromJson(JsonReport.toJson(other.snapshot()));

        for (ProfileSnapshot merged : List.of(with.merge(without), without.merge(with))) {
            ProfileSnapshot read = JsonReport.fromJson(JsonReport.toJson(merged));
            assertThat(read.bricks()).singleElement().satisfies(brick -> {
                assertThat(brick.count()).isEqualTo(3);
                assertThat(brick.work().flops()).isEqualTo(100);
                assertThat(brick.workSamples()).isEqualTo(1);
                assertThat(brick.hasWorkOfAll()).isFalse();
                assertThat(brick.gflops()).isZero();
            });
        }
    }

    @Spec("4.10")
    @Test
    void resetsEmptyIt() {
        profiler.recordWork(BrickId.LM_HEAD, 100, 40);
        assertThat(profiler.snapshotAndReset().bricks()).hasSize(1);
        assertThat(profiler.snapshot().bricks()).isEmpty();

        profiler.recordWork(BrickId.LM_HEAD, 100, 40);
        profiler.reset();
        assertThat(profiler.stats("LmHead")).isEmpty();
    }

    @Spec("2.7")
    @Test
    void refusesInvalidWork() {
        BrickProfiler off = new BrickProfiler();
        for (BrickProfiler each : List.of(profiler, off)) {
            refuses(() -> each.recordWork(BrickId.LM_HEAD, -7, 1), "flops -7");
            refuses(() -> each.recordWork("LmHead", 1, -8), "bytes -8");
            refuses(() -> each.recordWork(BrickId.LM_HEAD.index(), 1, -8), "bytes -8");
            refuses(() -> each.recordWork(4_095, 1, 1), "4095");
            refuses(() -> each.recordWork(4_095, Work.NONE), "4095");
            refuses(() -> each.recordWork("", Work.NONE), "empty");
        }
        refuses(() -> new Work(1, 1, -9), "workingSetBytes -9");

        assertThat(profiler.snapshot().bricks()).isEmpty();
    }

    private static void refuses(Runnable call, String value) {
        assertThatIllegalArgumentException().isThrownBy(call::run).withMessageContaining(value);
    }

    @Spec("2.14")
    @Test
    void aSumThatDoesNotFitStaysAtTheLargest() {
        profiler.recordWork(BrickId.LM_HEAD, Long.MAX_VALUE - 10, 1);
        profiler.recordWork(BrickId.LM_HEAD, 9, 1);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).work().flops()).isEqualTo(Long.MAX_VALUE - 1);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).work().isBeyondCount()).isFalse();

        for (int i = 0; i < 5; i++) {
            profiler.recordWork(BrickId.LM_HEAD, Long.MAX_VALUE / 2, 1);
        }
        assertThat(profiler.brickStats(BrickId.LM_HEAD).work()).isEqualTo(new Work(Long.MAX_VALUE, 7, 1));
        assertThat(profiler.brickStats(BrickId.LM_HEAD).work().isBeyondCount()).isTrue();
        assertThat(Work.of(Long.MAX_VALUE, 1).plus(Work.of(1, 1)).flops()).isEqualTo(Long.MAX_VALUE);
    }

    /**
     * The wrapped sum may have either sign: five times 2^62 wraps to a positive number, three times to a negative one.
     */
    @Spec("2.14")
    @Test
    void noNumberOfLargeRecordsWraps() throws Exception {
        for (int times = 1; times <= 9; times++) {
            BrickProfiler each = BrickProfiler.enabled();
            for (int time = 0; time < times; time++) {
                if (time % 2 == 0) {
                    each.recordWork("w", 1L << 62, 1L << 62);
                } else {
                    Crew.runOnNewThread(() -> each.recordWork("w", new Work(1L << 62, 1L << 62, 1)));
                }
            }
            Work work = each.stats("w").orElseThrow().work();
            long sum = times == 1 ? 1L << 62 : Long.MAX_VALUE;
            assertThat(work).isEqualTo(new Work(sum, sum, 1L << 62));
            assertThat(work.isBeyondCount()).isEqualTo(times > 1);

            ProfileSnapshot taken = each.snapshotAndReset();
            assertThat(JsonReport.fromJson(JsonReport.toJson(taken))).isEqualTo(taken);
            each.recordWork("w", 3, 4);
            assertThat(each.stats("w").orElseThrow().work().flops()).isEqualTo(3);
            assertThat(each.stats("w").orElseThrow().work().bytes()).isEqualTo(4);
        }
    }

    @Test
    void nothingIsLostWhileOthersReset() throws InterruptedException {
        AtomicBoolean writing = new AtomicBoolean(true);
        AtomicLong read = new AtomicLong();
        Thread reader = new Thread(() -> {
            while (writing.get()) {
                read.addAndGet(work(profiler.snapshotAndReset()).flops());
            }
        });
        List<Thread> writers = IntStream.range(0, 3)
                .mapToObj(i -> new Thread(() -> {
                    for (int n = 0; n < 20_000; n++) {
                        profiler.recordWork(BrickId.LM_HEAD, 1L + n, 1);
                    }
                }))
                .toList();
        writers.forEach(Thread::start);
        reader.start();
        for (Thread writer : writers) {
            writer.join();
        }
        writing.set(false);
        reader.join();

        assertThat(read.get() + work(profiler.snapshot()).flops()).isEqualTo(3 * 20_000L * 20_001 / 2);
    }

    private static Work work(ProfileSnapshot snapshot) {
        return snapshot.brick("LmHead").map(BrickStats::work).orElse(Work.NONE);
    }
}
