package org.brickprofiler.roofline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.within;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.Environment;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.StepInfo;
import org.brickprofiler.Work;
import org.brickprofiler.roofline.BrickRoofline.Bound;
import org.brickprofiler.roofline.BrickRoofline.Distance;
import org.brickprofiler.roofline.MachineRoof.Bandwidth;
import org.brickprofiler.roofline.MachineRoof.Rate;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Bricks below the roofs of a made-up machine. */
final class BrickRooflineTest {

    private static final long MIB = 1 << 20;

    /**
     * 200 GB/s in the cache and 10 from memory, 100 GFLOP/s; with both processors twice that, but for memory: 15 GB/s.
     */
    static final MachineRoof MACHINE = new MachineRoof(
            new Environment("17", "VM", "OS", "arch", "cpu", 2, 1),
            Instant.EPOCH,
            List.of(
                    new Bandwidth(Bandwidth.MEMORY, 64 * MIB, rate(10), rate(15), rate(8), rate(11)),
                    new Bandwidth("L1", MIB, rate(150), rate(300), rate(200), rate(400))),
            rate(100),
            rate(200));

    private final BrickProfiler profiler = BrickProfiler.enabled();

    private static Rate rate(double high) {
        return new Rate(high / 2, high * 0.9, high);
    }

    private Distance place(long elapsedNs, Work work, int threads) {
        profiler.record(BrickId.LM_HEAD, elapsedNs, 1);
        profiler.recordWork(BrickId.LM_HEAD, work);
        BrickRoofline roofline = BrickRoofline.of(profiler.snapshotAndReset(), MACHINE, threads);
        assertThat(roofline.unplaced()).isEmpty();
        return roofline.bricks().get(0);
    }

    @Spec("18.2")
    @Test
    void theSlowerOfBytesAndOperationsIsTheRoof() {
        Distance memory = place(1_000, new Work(500, 8_000, 100 * MIB), 1);
        assertThat(memory.roofNs()).isEqualTo(800);
        assertThat(memory.bound()).isEqualTo(Bound.MEMORY);
        assertThat(memory.distance()).isCloseTo(0.2, within(1e-12));
        assertThat(memory.gigabytesPerSecond()).isEqualTo(8);
        assertThat(memory.gflops()).isEqualTo(0.5);

        Distance compute = place(1_000, new Work(90_000, 8_000, 100 * MIB), 1);
        assertThat(compute.roofNs()).isEqualTo(900);
        assertThat(compute.bound()).isEqualTo(Bound.COMPUTE);
        assertThat(compute.isAboveRoof()).isFalse();
    }

    @Spec("18.2")
    @Test
    void theWorkingSetDecidesOnTheBandwidth() {
        assertThat(place(1_000, new Work(0, 8_000, 64 * MIB), 1).bandwidthGBps())
                .isEqualTo(10);
        assertThat(place(1_000, new Work(0, 8_000, 64 * MIB - 1), 1).bandwidthGBps())
                .isEqualTo(200);
        assertThat(place(1_000, Work.of(0, 8_000), 1).bandwidthGBps())
                .as("smaller than any")
                .isEqualTo(200);
    }

    @Spec("18.2")
    @Test
    void neitherLimitExplainsMoreThanHalfOfTheTimeAboveTheRoof() {
        Work work = new Work(0, 5_000, 64 * MIB);
        assertThat(place(1_000, work, 1).bound()).isEqualTo(Bound.MEMORY);
        assertThat(place(1_001, work, 1).bound()).isEqualTo(Bound.NEITHER);
        assertThat(place(1_001, work, 1).roof()).isEqualTo(Bound.MEMORY);
        assertThat(place(2_000, new Work(90_000, 5_000, MIB), 1).roof()).isEqualTo(Bound.COMPUTE);
    }

    /** One in five samples was interrupted for ten times its length. */
    @Spec("18.2")
    @Test
    void interruptedSamplesDecideNothing() {
        BrickProfiler disturbed = BrickProfiler.builder().percentiles(true).build();
        disturbed.enable();
        for (int i = 0; i < 100; i++) {
            disturbed.record(BrickId.LM_HEAD, i % 5 == 0 ? 11_000 : 1_000, 1);
            disturbed.recordWork(BrickId.LM_HEAD, new Work(0, 9_000, 64 * MIB));
        }
        BrickRoofline roofline = BrickRoofline.of(disturbed.snapshot(), MACHINE, 1);

        Distance triad = roofline.bricks().get(0);
        assertThat(triad.bound()).isEqualTo(Bound.MEMORY);
        assertThat(triad.totalNs()).isEqualTo(300_000);
        assertThat(triad.countedNs()).isCloseTo(100_000, within(1_000.0));
        assertThat(triad.distance()).isCloseTo(0.1, within(0.02));
        assertThat(triad.gigabytesPerSecond()).isCloseTo(9, within(0.2));
        assertThat(roofline.attained()).isCloseTo(0.9, within(0.02));
        assertThat(roofline.remarks())
                .last()
                .asString()
                .contains("the mean sample is longer than the usual one, which counts here: LmHead (2.98 times)");
    }

    /** A prompt and 99 tokens in one brick: the usual sample would be above the roof of the mean work. */
    @Spec("18.2")
    @Test
    void ofSamplesThatDifferInTheirWorkTheMeanCounts() {
        BrickProfiler both = BrickProfiler.builder().percentiles(true).build();
        both.enable();
        for (int i = 0; i < 100; i++) {
            both.record(BrickId.LM_HEAD, i == 0 ? 1_000_000 : 1_000, 1);
            both.recordWork(BrickId.LM_HEAD, new Work(0, i == 0 ? 9_000_000 : 9_000, 64 * MIB));
        }
        BrickRoofline roofline = BrickRoofline.of(both.snapshot(), MACHINE, 1);

        assertThat(roofline.bricks().get(0).isAboveRoof()).isFalse();
        assertThat(roofline.bricks().get(0).distance()).isCloseTo(0.1, within(1e-9));
        assertThat(roofline.remarks()).last().asString().startsWith("samples differ in their work");
    }

    @Spec("18.2")
    @Test
    void moreThanTheRoofIsFlaggedAndKept() {
        Distance impossible = place(100, new Work(0, 8_000, 64 * MIB), 1);
        assertThat(impossible.isAboveRoof()).isTrue();
        assertThat(impossible.distance()).isEqualTo(-7.0);
        assertThat(impossible.bound()).isEqualTo(Bound.MEMORY);
    }

    @Spec("18.2")
    @Test
    void severalThreadsHaveTheRoofOfAllAtMost() {
        assertThat(MACHINE.gflops(1)).isEqualTo(100);
        assertThat(MACHINE.gflops(2)).isEqualTo(200);
        assertThat(MACHINE.gflops(64)).isEqualTo(200);
        assertThat(MACHINE.bandwidthGBps(64 * MIB, 2)).isEqualTo(15);
        assertThat(MACHINE.bandwidthGBps(MIB, 2)).isEqualTo(400);
        assertThatIllegalArgumentException().isThrownBy(() -> MACHINE.gflops(0)).withMessageContaining("threads 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BrickRoofline.of(profiler.snapshot(), MACHINE, 0))
                .withMessageContaining("threads 0");
    }

    @Spec("18.2")
    @Test
    void bricksWithoutKnownWorkAreNamed() {
        profiler.record("no work", 10, 1);
        profiler.record("beyond count", 20, 1);
        profiler.recordWork("beyond count", Long.MAX_VALUE, 1);
        profiler.recordWork("no time", 1, 1);
        profiler.record(BrickId.LM_HEAD, 1_000, 1);
        profiler.recordWork(BrickId.LM_HEAD, 0, 8_000);

        BrickRoofline roofline = BrickRoofline.of(profiler.snapshot(), MACHINE, 1);
        assertThat(roofline.bricks()).extracting(Distance::name).containsExactly("LmHead");
        assertThat(roofline.unplaced()).containsExactly("beyond count", "no work", "no time");
        assertThat(roofline.attained()).isCloseTo(0.04, within(1e-12));
        assertThat(new BrickRoofline(MACHINE, 1, List.of(), List.of(), List.of(), Map.of()).attained())
                .isZero();
    }

    /** A prompt of 9 us whose work nobody states, and a token at 90 % of its roof. */
    @Spec("18.7")
    @Test
    void samplesOfPhasesWithoutWorkAreLeftOut() {
        BrickProfiler serving = BrickProfiler.builder().percentiles(true).build();
        serving.enable();
        serving.record(BrickId.LM_HEAD, 500, 1);
        serving.beginStep(StepInfo.prefill(8));
        serving.record(BrickId.LM_HEAD, 9_000, 8);
        serving.endPass();
        decode(serving);
        BrickRoofline roofline = BrickRoofline.of(serving.snapshot(), MACHINE, 1);

        Distance head = roofline.bricks().get(0);
        assertThat(head.totalNs()).isEqualTo(1_000);
        assertThat(head.distance()).isCloseTo(0.1, within(0.01));
        assertThat(roofline.attained()).isCloseTo(0.9, within(0.01));
        assertThat(roofline.phases().keySet()).containsExactly(StepInfo.Phase.DECODE);
        assertThat(roofline.remarks())
                .contains("samples of phases without known work are left out: LmHead (2 of 3 samples)");
        assertThat(serving.brickStats(BrickId.LM_HEAD).gflops())
                .as("of all samples")
                .isZero();
    }

    @Spec("18.7")
    @Test
    void workOutsideOfStepsIsThatOfItsSamples() {
        profiler.record(BrickId.LM_HEAD, 1_000, 1);
        profiler.recordWork(BrickId.LM_HEAD, new Work(0, 8_000, 64 * MIB));
        profiler.beginStep(StepInfo.prefill(8));
        profiler.record(BrickId.LM_HEAD, 9_000, 8);
        profiler.endPass();
        decode(profiler);

        Distance head =
                BrickRoofline.of(profiler.snapshot(), MACHINE, 1).bricks().get(0);
        assertThat(head.totalNs()).isEqualTo(2_000);
        assertThat(head.roofNs()).isEqualTo(1_700);
    }

    /** An engine may state the work of a pass after its end. */
    @Spec("18.7")
    @Test
    void workOutsideOfStepsWithoutSamplesThereIsThatOfAll() {
        for (int i = 0; i < 2; i++) {
            profiler.beginStep(StepInfo.decode(8));
            profiler.record(BrickId.LM_HEAD, 1_000, 1);
            profiler.endPass();
            profiler.recordWork(BrickId.LM_HEAD, new Work(0, 9_000, 64 * MIB));
        }

        BrickRoofline roofline = BrickRoofline.of(profiler.snapshot(), MACHINE, 1);
        assertThat(roofline.bricks().get(0).distance()).isCloseTo(0.1, within(1e-9));
        assertThat(roofline.phases()).isEmpty();
        assertThat(roofline.remarks())
                .noneMatch(remark -> remark.contains("unknown"))
                .contains("work that was recorded outside of steps counts for the samples of steps, too: LmHead");
    }

    private static void decode(BrickProfiler profiler) {
        profiler.beginStep(StepInfo.decode(8));
        profiler.record(BrickId.LM_HEAD, 1_000, 1);
        profiler.recordWork(BrickId.LM_HEAD, new Work(0, 9_000, 64 * MIB));
        profiler.endPass();
    }

    @Spec("18.7")
    @Test
    void aProfileWithoutWorkThatWasMergedIsNoticed() {
        decode(profiler);
        ProfileSnapshot with = profiler.snapshotAndReset();
        profiler.beginStep(StepInfo.decode(8));
        profiler.record(BrickId.LM_HEAD, 1_000, 1);
        profiler.endPass();
        ProfileSnapshot without = profiler.snapshotAndReset();

        BrickRoofline roofline = BrickRoofline.of(with.merge(without), MACHINE, 1);
        assertThat(roofline.bricks()).isEmpty();
        assertThat(roofline.phases().values()).singleElement().satisfies(decode -> assertThat(decode.bricks())
                .isEmpty());
        assertThat(roofline.remarks()).last().asString().endsWith("known is that of LmHead (1 of 2 samples)");

        ProfileSnapshot many = with;
        for (int i = 1; i < 9; i++) {
            many = many.merge(with);
        }
        BrickRoofline most = BrickRoofline.of(many.merge(without), MACHINE, 1);
        assertThat(most.bricks().get(0).distance()).isCloseTo(1 - 0.81, within(1e-9));
        assertThat(most.remarks()).last().asString().endsWith("known is that of LmHead (9 of 10 samples)");
    }

    @Spec("18.7")
    @Test
    void bricksThatADeviceTimedAreNotComparedWithTheProcessor() {
        ProfileSnapshot snapshot = ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH.plusNanos(9), 9)
                .bricks(List.of(BrickStats.builder("Gemm", BrickCategory.FFN)
                        .samples(2, 1_000, 500, 500)
                        .device(new DeviceTime(1, 0, 0, 0, 0, 0))
                        .work(new Work(0, 8_000, 64 * MIB))
                        .build()))
                .build();

        BrickRoofline roofline = BrickRoofline.of(snapshot, MACHINE, 1);
        assertThat(roofline.bricks()).isEmpty();
        assertThat(roofline.remarks())
                .contains(
                        "a device timed these bricks, and the roof is that of the processor, so they are not compared: Gemm");
    }

    @Test
    void theFurthestFromItsRoofComesFirst() {
        profiler.record("long and near", 1_000, 1);
        profiler.recordWork("long and near", 99_000, 0);
        profiler.record("short and far", 500, 1);
        profiler.recordWork("short and far", 1_000, 0);

        assertThat(BrickRoofline.of(profiler.snapshot(), MACHINE, 1).bricks())
                .extracting(Distance::name)
                .containsExactly("short and far", "long and near");
    }

    @Spec("18.6")
    @Test
    void aMachineThatHasDriftedIsNoticed() {
        assertThat(MACHINE.drift(Map.of())).isEmpty();
        assertThat(MACHINE.drift(Map.of("roof_gflops", 81.1, "roof_read_gbps", 164.9)))
                .isEmpty();
        assertThat(MACHINE.drift(Map.of("roof_gflops", 80.9)))
                .containsExactly("the machine has drifted: 80.9 GFLOP/s of one thread beside the run, "
                        + "50.0 to 100.0 when its roof was measured");
        assertThat(MACHINE.drift(Map.of("roof_gflops", 110.1, "roof_read_gbps", 165.1)))
                .hasSize(2);

        ProfileSnapshot snapshot = profiler.snapshot();
        RunFacts facts = snapshot.facts().withMachine(Map.of("roof_gflops", 40.0, "mhz", 1.0), List.of());
        assertThat(BrickRoofline.of(snapshot.withFacts(facts), MACHINE, 1).remarks())
                .satisfiesExactly(
                        other -> assertThat(other).startsWith("the profile is of another machine: "),
                        bandwidth -> assertThat(bandwidth)
                                .startsWith("the rounds that measured the bandwidth differ by 50 %"),
                        operations -> assertThat(operations)
                                .startsWith("the rounds that measured the rate of operations differ by 50 %"),
                        drift -> assertThat(drift).contains("40.0 GFLOP/s"));
    }

    @Test
    void refusesMachinesThatCannotBe() {
        assertThatIllegalArgumentException().isThrownBy(() -> new Rate(2, 1, 3)).withMessageContaining("2.0, 1.0, 3.0");
        assertThatIllegalArgumentException().isThrownBy(() -> new Rate(0, 1, 3)).withMessageContaining("0.0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MachineRoof(MACHINE.environment(), Instant.EPOCH, List.of(), rate(1), rate(1)))
                .withMessageContaining("no bandwidths");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Bandwidth("", 0, rate(1), rate(1), rate(1), rate(1)))
                .withMessageContaining("workingSetBytes 0");
    }
}
