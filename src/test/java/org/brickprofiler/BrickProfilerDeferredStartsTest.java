package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.junit.jupiter.api.Test;

/** Deferred measurements that begin at the mark which {@link BrickProfiler#elapsedNs()} set. */
final class BrickProfilerDeferredStartsTest extends ProfiledDevice {

    private long device(BrickId id) {
        return stats(id).totalNs();
    }

    private void assertNoneUnresolved() {
        assertThat(profiler.snapshot().unresolved()).isZero();
    }

    /**
     * The device is busy before, between and after the two calls, so the measured time cannot come from the host's
     * clock.
     */
    @Spec("12.8")
    @Test
    void aMeasurementIsTheDeviceTimeBetweenTheTwoCalls() {
        launch(70_000);
        long start = profiler.elapsedNs();
        launch(500);
        profiler.recordDeferred(BrickId.RMS_NORM, start, 3);
        launch(900_000);
        clock.advance(500_000);
        profiler.endPassAsync();
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(500);
        assertThat(stats(BrickId.RMS_NORM).totalElements()).isEqualTo(3);
        assertThat(stats(BrickId.RMS_NORM).device().launchNs()).isEqualTo(LAUNCH_NS);
        assertThat(totals().busyNs()).isEqualTo(500);
        assertNoneUnresolved();
    }

    @Test
    void severalMayBeginAtOneStart() {
        launch(70_000);
        long start = profiler.elapsedNs();
        launch(500);
        profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
        launch(300);
        profiler.recordDeferred(BrickId.LM_HEAD, start, 1);
        profiler.endPass();
        launch(200);
        profiler.recordDeferred(BrickId.FUSED_ATTENTION, start, 1);
        profiler.endPass();
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(500);
        assertThat(device(BrickId.LM_HEAD)).isEqualTo(800);
        // There is no gap: the host waited for the device, and launched the last work at once.
        assertThat(device(BrickId.FUSED_ATTENTION)).isEqualTo(1_000);
        assertNoneUnresolved();
    }

    @Test
    void startsThatTheClockDoesNotTellApartAreTwo() {
        launch(70_000);
        long first = profiler.elapsedNs();
        stream.work(500);
        long second = profiler.elapsedNs();
        stream.work(30);
        profiler.recordDeferred(BrickId.RMS_NORM, first, 1);
        profiler.recordDeferred(BrickId.LM_HEAD, second, 1);
        profiler.endPass();
        assertThat(second).isEqualTo(first + 1);
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(530);
        assertThat(device(BrickId.LM_HEAD)).isEqualTo(30);
    }

    @Test
    void anotherThreadMayEndAMeasurement() throws Exception {
        launch(70_000);
        long start = profiler.elapsedNs();
        launch(500);
        Crew.runOnNewThread(() -> {
            profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
            profiler.endPass();
        });
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(500);
        assertNoneUnresolved();
    }

    @Test
    void threadsUseTheStartsOfEachOther() throws Exception {
        AtomicLong latest = new AtomicLong(profiler.elapsedNs());
        AtomicLong ended = new AtomicLong();
        Crew crew = new Crew();
        for (int thread = 0; thread < 4; thread++) {
            crew.run(() -> {
                for (int i = 0; i < 5_000; i++) {
                    long start = latest.getAndSet(profiler.elapsedNs());
                    stream.work(1);
                    profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
                    ended.incrementAndGet();
                    if (i % 50 == 0) {
                        profiler.endPass();
                    }
                }
                profiler.endPass();
            });
        }
        crew.join();
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isZero();
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(ended.get());
        assertThat(stats(BrickId.RMS_NORM).minNs()).isPositive();
    }

    @Test
    void aStartIsKnownForThousandsOfOthers() {
        SimulatedStream wide = new SimulatedStream("wide", clock, 1 << 16);
        BrickProfiler many = profiler(wide);
        long outer = many.elapsedNs();
        for (int i = 0; i < 3_000; i++) {
            long start = many.elapsedNs();
            wide.work(10);
            many.recordDeferred(BrickId.RMS_NORM, start, 1);
        }
        many.recordDeferred(BrickId.FUSED_ATTENTION, outer, 1);
        many.endPass();
        assertThat(many.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(30_000);
        assertThat(many.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(30_000);
        assertThat(many.snapshot().unresolved()).isZero();
    }

    /** The inner bricks use every mark of the stream in turn. */
    @Spec({"12.8", "12.20"})
    @Test
    void aBrickAroundManyOthersIsTheirSumWithFewMarks() {
        for (int marks : new int[] {32, 64, 1_024}) {
            SimulatedStream narrow = new SimulatedStream("narrow", clock, marks);
            BrickProfiler around = profiler(narrow);
            long outer = around.elapsedNs();
            for (int i = 0; i < 6_000; i++) {
                long start = around.elapsedNs();
                narrow.work(20_000);
                around.recordDeferred(BrickId.RMS_NORM, start, 1);
                clock.advance(i % 7 == 0 ? 20_000 * 7 : 0);
            }
            around.recordDeferred(BrickId.FUSED_ATTENTION, outer, 1);
            around.endPass();
            assertThat(around.snapshot().unresolved()).isZero();
            assertThat(around.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(120_000_000);
            assertThat(around.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(120_000_000 + 20_000 * 6);
        }
    }

    /**
     * A brick encloses a generation of thousands of passes, other bricks enclose hundreds of passes each, and the
     * device is idle in between.
     */
    @Spec("12.20")
    @Test
    void aBrickMayLastForAnyNumberOfPasses() {
        SimulatedStream narrow = new SimulatedStream("narrow", clock, 64);
        BrickProfiler around = profiler(narrow);
        narrow.work(70_000);
        long generation = around.elapsedNs();
        long expectedNs = 0;
        long part = 0;
        for (int pass = 0; pass < 3_000; pass++) {
            part = pass % 500 == 0 ? around.elapsedNs() : part;
            for (int i = 0; i < 10; i++) {
                long start = around.elapsedNs();
                narrow.work(20);
                around.recordDeferred(BrickId.RMS_NORM, start, 1);
            }
            expectedNs += 200;
            if (pass % 500 == 499) {
                around.recordDeferred(BrickId.LM_HEAD, part, 1);
            }
            if (pass % 3 == 0) {
                narrow.finish();
                around.finalize(around.elapsedNs());
            } else {
                around.endPass();
            }
            // At most the mark up to which time was added up, and the last mark of the timeline.
            assertThat(narrow.marksHeld()).isLessThanOrEqualTo(2);
            clock.advance(9);
            expectedNs += 9;
        }
        around.recordDeferred(BrickId.FUSED_ATTENTION, generation, 1);
        around.endPass();
        assertThat(around.snapshot().unresolved()).isZero();
        assertThat(around.brickStats(BrickId.FUSED_ATTENTION).totalNs()).isEqualTo(expectedNs);
        assertThat(around.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(3_000 * 200 + 6 * 499 * 9);
        assertThat(around.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(3_000 * 200);
    }

    // ---- marks that run out ----

    @Spec("12.9")
    @Test
    void bricksWithoutMarksChargeNoOther() {
        SimulatedStream four = new SimulatedStream("four", clock, 4);
        BrickProfiler tight = profiler(four);
        long[] durations = {20_000_000, 20_000_000, 20_000_000, 20_000_000, 10_000_000};
        for (int i = 0; i < durations.length; i++) {
            long start = tight.elapsedNs();
            four.work(durations[i]);
            tight.recordDeferred(tight.brickKey("brick " + i), start, 1);
        }
        tight.endPass();
        for (int i = 0; i < durations.length; i++) {
            BrickStats stats = tight.stats("brick " + i).orElseThrow();
            assertThat(stats.count() + stats.device().unresolved()).isEqualTo(1);
            assertThat(stats.totalNs()).isIn(0L, durations[i]);
        }
        assertThat(tight.stats("brick 0").orElseThrow().count()).isEqualTo(1);
        assertThat(tight.snapshot().unresolved()).isEqualTo(3);
    }

    /** If a pass has more bricks than marks, about as many deferred bricks are timed as started ones. */
    @Test
    void ifMarksRunOutAboutAsManyDeferredBricksAreTimedAsStartedOnes() {
        long[] timed = new long[2];
        for (int way = 0; way < 2; way++) {
            SimulatedStream narrow = new SimulatedStream("narrow", clock, 1_024);
            BrickProfiler tight = profiler(narrow);
            for (int i = 0; i < 1_500; i++) {
                if (way == 0) {
                    long timer = tight.startBrick(BrickId.RMS_NORM);
                    narrow.work(40);
                    tight.stopBrick(timer, 1);
                } else {
                    long start = tight.elapsedNs();
                    narrow.work(40);
                    tight.recordDeferred(BrickId.RMS_NORM, start, 1);
                }
                clock.advance(15);
            }
            tight.endPass();
            timed[way] = tight.brickStats(BrickId.RMS_NORM).count();
            assertThat(tight.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(40 * timed[way]);
            assertThat(timed[way] + tight.snapshot().unresolved()).isEqualTo(1_500);
        }
        assertThat(timed[0]).isBetween(900L, 1_400L);
        assertThat(timed[1]).isGreaterThanOrEqualTo(timed[0] - timed[0] / 20);
    }

    @Test
    void theEndOfOnePassMayBeTheStartOfTheNext() {
        launch(70_000);
        long start = profiler.elapsedNs();
        for (int pass = 0; pass < 1_000; pass++) {
            launch(500);
            profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
            start = profiler.elapsedNs();
            launch(10);
            profiler.finalize(start);
        }
        clock.advance(1_000_000);
        profiler.finalize(start);
        assertThat(stats(BrickId.RMS_NORM).count()).isEqualTo(1_000);
        assertThat(stats(BrickId.RMS_NORM).maxNs()).isEqualTo(510);
        assertNoneUnresolved();
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(stream.maxMarks() / 8);
    }

    @Test
    void noMarkIsSetIfNoneIsNeeded() {
        profiler.disable();
        profiler.elapsedNs();
        profiler.enable();
        profiler.setSyncMode(SyncMode.NONE);
        profiler.elapsedNs();
        assertThat(stream.marksSet()).isZero();
        assertThat(copies.marksSet()).isZero();
        profiler.setSyncMode(SyncMode.DEFERRED);
        profiler.elapsedNs();
        assertThat(stream.marksSet()).isEqualTo(1);
        assertThat(copies.marksSet()).isZero();
    }

    @Test
    void startsThatNobodyUsesHoldOnlyAPartOfTheMarks() {
        for (int i = 0; i < 100_000; i++) {
            profiler.elapsedNs();
            if (i % 100 == 0) {
                brick(BrickId.RMS_NORM, 10);
                profiler.endPass();
            }
        }
        assertThat(stream.marksHeld()).isLessThanOrEqualTo(stream.maxMarks() / 8);
        assertNoneUnresolved();
    }

    /** On a stream with few marks, starts give up their marks to bricks. */
    @Test
    void aSmallPoolSufficesForPassesThatFitIntoIt() {
        SimulatedStream small = new SimulatedStream("small", clock, 16);
        BrickProfiler tight = profiler(small);
        for (int pass = 0; pass < 100; pass++) {
            for (int i = 0; i < 4; i++) {
                long start = tight.elapsedNs();
                small.work(10);
                tight.recordDeferred(BrickId.RMS_NORM, start, 1);
            }
            clock.advance(1_000);
            tight.finalize(tight.elapsedNs());
        }
        assertThat(tight.brickStats(BrickId.RMS_NORM).count()).isEqualTo(400);
        assertThat(tight.brickStats(BrickId.RMS_NORM).totalNs()).isEqualTo(4_000);
        assertThat(tight.snapshot().unresolved()).isZero();
    }

    /** A start counts from the present epoch: an earlier number is not known. */
    @Test
    void aStartOfAnEarlierEpochIsCountedOnce() {
        long start = profiler.elapsedNs();
        clock.advance(50);
        profiler.resetEpoch();
        clock.advance(7);
        assertThat(profiler.elapsedNs()).isNotEqualTo(start);
        launch(500);
        profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).count()).isZero();
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isOne();
        assertThat(stats(BrickId.RMS_NORM).device().withoutStart()).isOne();
    }

    @Test
    void aLostDeviceLeavesMeasurementsUnresolved() {
        long start = profiler.elapsedNs();
        stream.lose();
        profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, profiler.elapsedNs(), 1);
        profiler.endPass();
        assertThat(stats(BrickId.RMS_NORM).device().unresolved()).isEqualTo(2);
        assertThat(profiler.pendingCount()).isZero();
    }

    @Test
    void virtualThreadsEndTheirOwnPasses() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        copies.beforeWait(() -> {
            throw new AssertionError("not the stream of this thread");
        });
        long copy = profiler.stream("copies").startBrick(BrickId.HOST_TO_DEVICE);
        copies.work(4_000);
        profiler.stopBrick(copy, 1);
        FutureTask<Integer> task = new FutureTask<>(
                () -> {
                    long start = profiler.elapsedNs();
                    launch(500);
                    profiler.recordDeferred(BrickId.RMS_NORM, start, 1);
                    profiler.endPass();
                },
                0);
        starter.start(task);
        Crew.result(task);
        assertThat(device(BrickId.RMS_NORM)).isEqualTo(500);
        assertThat(profiler.pendingCount()).isEqualTo(1);
    }

    // ---- starts of another stream ----

    @Test
    void startsOfAllStreamsAreDifferent() {
        long here = profiler.elapsedNs();
        long there = profiler.stream("copies").elapsedNs();
        assertThat(there).isNotEqualTo(here);
        stream.work(70_000);
        copies.work(500);
        profiler.stream("copies").recordDeferred(BrickId.HOST_TO_DEVICE, here, 1);
        profiler.recordDeferred(BrickId.RMS_NORM, there, 1);
        clock.advance(100_000);
        profiler.finalize(profiler.elapsedNs());
        assertThat(stats(BrickId.HOST_TO_DEVICE).device().withoutStart()).isOne();
        assertThat(stats(BrickId.RMS_NORM).device().withoutStart()).isOne();
        assertThat(profiler.snapshot().samples()).isZero();
    }

    @Test
    @Spec("12.8")
    void anotherStreamHasStartsOfItsOwn() {
        BrickStream copying = profiler.stream("copies");
        launch(70_000);
        copies.work(30_000);
        long start = copying.elapsedNs();
        copies.work(4_000);
        stream.work(9);
        copying.recordDeferred(BrickId.HOST_TO_DEVICE, start, 64);
        int key = profiler.brickKey("page out");
        long next = copying.elapsedNs();
        copies.work(11);
        copying.recordDeferred(key, next, 1);
        assertThat(stream.marksSet()).isZero();
        clock.advance(100_000);
        profiler.finalize(copying.elapsedNs());
        assertThat(device(BrickId.HOST_TO_DEVICE)).isEqualTo(4_000);
        assertThat(stats(BrickId.HOST_TO_DEVICE).totalElements()).isEqualTo(64);
        assertThat(profiler.stats("page out").orElseThrow().totalNs()).isEqualTo(11);
        assertThat(stream.waits() + copies.waits()).isZero();
        assertNoneUnresolved();
    }

    @Test
    void aStartOfAnotherStreamIsNoMarkOfThisOne() {
        stream.work(70_000);
        long start = profiler.elapsedNs();
        copies.work(4_000);
        profiler.stream("copies").recordDeferred(BrickId.HOST_TO_DEVICE, start, 1);
        profiler.stream("copies").endPass();
        assertThat(stats(BrickId.HOST_TO_DEVICE).count()).isZero();
        assertThat(stats(BrickId.HOST_TO_DEVICE).device().unresolved()).isOne();
        assertThat(stats(BrickId.HOST_TO_DEVICE).device().withoutStart()).isOne();
    }

    @Test
    void aStreamDefersNothingIfTheProfilerIsOffOrTheArgumentsAreInvalid() {
        BrickStream copying = profiler.stream("copies");
        assertThatThrownBy(() -> copying.recordDeferred(BrickId.HOST_TO_DEVICE, 0, -3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("-3");
        assertThatThrownBy(() -> copying.recordDeferred(4_000, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("4000");
        profiler.disable();
        copying.recordDeferred(BrickId.HOST_TO_DEVICE, copying.elapsedNs(), 1);
        assertThat(copies.marksSet()).isZero();
        assertThat(profiler.pendingCount()).isZero();
    }
}
