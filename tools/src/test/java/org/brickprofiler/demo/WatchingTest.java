package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.BrickId.ACTIVATION;
import static org.brickprofiler.BrickId.EMBEDDING;
import static org.brickprofiler.BrickId.LM_HEAD;
import static org.brickprofiler.BrickId.RMS_NORM;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.HostStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class WatchingTest {

    private static final long WORK_NS = 70;

    private long nowNs;
    private final List<BrickId> enqueued = new ArrayList<>();
    private final BrickProfiler profiler = BrickProfiler.builder()
            .clock(() -> nowNs)
            .deviceStream(new HostStream(() -> nowNs))
            .build();
    private final DevicePass pass = new DevicePass(
            List.of(step(EMBEDDING)),
            List.of(List.of(step(RMS_NORM), step(ACTIVATION)), List.of(step(RMS_NORM), step(ACTIVATION))),
            List.of(step(LM_HEAD)));

    private DevicePass.Step step(BrickId brick) {
        return new DevicePass.Step(brick, () -> {
            enqueued.add(brick);
            nowNs += WORK_NS;
        });
    }

    @ParameterizedTest
    @EnumSource
    void everyWayEnqueuesTheSameInTheSameOrder(Watching way) {
        profiler.enable();
        profiler.setSyncMode(way.mode());

        way.run(profiler, pass);

        assertThat(enqueued).containsExactly(EMBEDDING, RMS_NORM, ACTIVATION, RMS_NORM, ACTIVATION, LM_HEAD);
        assertThat(pass.size()).isEqualTo(6);
    }

    @ParameterizedTest
    @EnumSource
    void everyWayExceptAbsentTimesEachBrick(Watching way) {
        profiler.enable();
        profiler.setSyncMode(way.mode());

        way.run(profiler, pass);

        Map<String, Long> totals = new HashMap<>();
        profiler.allBrickStats().forEach(stats -> totals.put(stats.name(), stats.totalNs()));
        Map<String, Long> expected =
                Map.of("Embedding", WORK_NS, "RmsNorm", 2 * WORK_NS, "Activation", 2 * WORK_NS, "LmHead", WORK_NS);
        assertThat(totals).isEqualTo(way == Watching.ABSENT ? Map.of() : expected);
        assertThat(profiler.pendingCount()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void everyModeHasItsWay(SyncMode mode) {
        assertThat(Watching.of(mode).mode()).isEqualTo(mode);
        assertThat(Watching.of(mode).title()).isEqualTo(mode.name());
    }

    @Test
    void emptyGroupsAreLeftOut() {
        profiler.enable();
        DevicePass onlyLayers = new DevicePass(List.of(), List.of(List.of(step(RMS_NORM))), List.of());

        Watching.DEFERRED_LAP.run(profiler, onlyLayers);

        assertThat(profiler.brickStats(RMS_NORM).count()).isOne();
    }
}
