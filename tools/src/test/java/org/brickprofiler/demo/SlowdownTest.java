package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.junit.jupiter.api.Test;

class SlowdownTest {

    private static final long WORK_NS = 2_000_000;

    private final List<BrickId> ran = new ArrayList<>();

    private Pass.Step step(BrickId brick) {
        return new Pass.Step(brick, () -> {
            ran.add(brick);
            long startNs = System.nanoTime();
            while (System.nanoTime() - startNs < WORK_NS) {
                Thread.onSpinWait();
            }
            return new float[] {brick.name().length()};
        });
    }

    @Test
    void wastesTimeBesideEveryExecutionOfOneBrickAndChangesNoOutput() {
        Pass pass = new Pass(
                List.of(step(BrickId.EMBEDDING)),
                List.of(List.of(step(BrickId.RMS_NORM), step(BrickId.ACTIVATION)), List.of(step(BrickId.RMS_NORM))),
                List.of(step(BrickId.LM_HEAD)),
                position -> Map.of());

        Pass slow = Slowdown.parse("rms_norm=150").appliedTo(pass);

        assertThat(slow.opening()).isEqualTo(pass.opening());
        assertThat(slow.closing()).isEqualTo(pass.closing());
        assertThat(slow.layers().get(0).get(1)).isEqualTo(pass.layers().get(0).get(1));
        for (List<Pass.Step> layer : slow.layers()) {
            Pass.Step step = layer.get(0);
            assertThat(step.brick()).isEqualTo(BrickId.RMS_NORM);
            long startNs = System.nanoTime();
            assertThat(step.operation().run())
                    .containsExactly(BrickId.RMS_NORM.name().length());
            assertThat(System.nanoTime() - startNs).isGreaterThanOrEqualTo(WORK_NS * 5 / 2);
        }
        assertThat(ran).as("once each").containsExactly(BrickId.RMS_NORM, BrickId.RMS_NORM);
    }

    @Test
    void readsFractions() {
        assertThat(Slowdown.parse("LmHead=2.5")).isEqualTo(new Slowdown(BrickId.LM_HEAD, 2.5));
    }
}
