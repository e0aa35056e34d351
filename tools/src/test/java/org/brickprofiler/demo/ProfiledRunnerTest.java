package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepStats;
import org.brickprofiler.SyncMode;
import org.brickprofiler.Work;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ProfiledRunnerTest {

    private final AtomicLong nowNs = new AtomicLong(1_000);
    private final BrickProfiler profiler =
            BrickProfiler.builder().clock(nowNs::get).build();
    private final List<String> ran = new ArrayList<>();
    private final Pass pass = new Pass(
            List.of(step(BrickId.EMBEDDING, 5)),
            List.of(
                    List.of(step(BrickId.RMS_NORM, 10), step(BrickId.ACTIVATION, 20)),
                    List.of(step(BrickId.RMS_NORM, 30), step(BrickId.ACTIVATION, 40))),
            List.of(step(BrickId.RMS_NORM, 1), step(BrickId.LM_HEAD, 7)),
            position -> Map.of(BrickId.LM_HEAD, new Work(position, 10, 10)));

    @BeforeEach
    void switchOn() {
        profiler.enable();
    }

    @Test
    void givesEveryBrickItsOwnTimeAndOneToken() {
        new PassRunner.Profiled(profiler).run(pass, 0);

        BrickStats norm = profiler.brickStats(BrickId.RMS_NORM);
        assertThat(norm.count()).isEqualTo(3);
        assertThat(norm.totalNs()).isEqualTo(10 + 30 + 1);
        assertThat(norm.totalElements()).isEqualTo(3);
        assertThat(profiler.brickStats(BrickId.ACTIVATION).totalNs()).isEqualTo(60);
        assertThat(profiler.brickStats(BrickId.EMBEDDING).totalNs()).isEqualTo(5);
        assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(7);
        assertThat(profiler.totalNs()).isEqualTo(113);
    }

    @Test
    void runsTheSameStepsAsThePlainRunner() {
        new PassRunner.Profiled(profiler).run(pass, 0);
        List<String> profiled = List.copyOf(ran);
        ran.clear();

        PassRunner.PLAIN.run(pass, 0);

        assertThat(ran)
                .containsExactlyElementsOf(profiled)
                .containsExactly(
                        "EMBEDDING", "RMS_NORM", "ACTIVATION", "RMS_NORM", "ACTIVATION", "RMS_NORM", "LM_HEAD");
    }

    @Test
    void aPassIsAStepThatDecodesAToken() {
        new PassRunner.Profiled(profiler).run(pass, 7);

        StepStats decode =
                profiler.snapshot().steps().phase(StepInfo.Phase.DECODE).orElseThrow();
        assertThat(decode.totalNs()).isEqualTo(113);
        assertThat(decode.kvLength()).isEqualTo(7);
        assertThat(decode.outputTokens()).isEqualTo(1);
        assertThat(profiler.brickStats(BrickId.LM_HEAD, StepInfo.Phase.DECODE).work())
                .isEqualTo(profiler.brickStats(BrickId.LM_HEAD).work())
                .isEqualTo(new Work(7, 10, 10));
        assertThat(decode.categoryNs().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(113);
    }

    @Test
    void endsLayersAndThePass() {
        profiler.setSyncMode(SyncMode.PER_LAYER);
        profiler.recordDeferred("before the first layer ends", profiler.elapsedNs(), 1);

        new PassRunner.Profiled(profiler).run(pass, 0);

        assertThat(profiler.stats("before the first layer ends").map(BrickStats::totalNs))
                .contains(5L + 10 + 20);

        profiler.setSyncMode(SyncMode.DEFERRED);
        profiler.recordDeferred("before the pass ends", profiler.elapsedNs(), 1);

        new PassRunner.Profiled(profiler).run(pass, 0);

        assertThat(profiler.stats("before the pass ends").map(BrickStats::totalNs))
                .contains(113L);
    }

    private Pass.Step step(BrickId brick, long lastsNs) {
        return new Pass.Step(brick, () -> {
            ran.add(brick.name());
            nowNs.addAndGet(lastsNs);
            return new float[0];
        });
    }
}
