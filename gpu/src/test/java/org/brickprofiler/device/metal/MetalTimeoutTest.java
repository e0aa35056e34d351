package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.Pointer;
import java.time.Duration;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Waits for a Metal device that hangs, and streams that are never closed. */
final class MetalTimeoutTest extends ProfiledMetal {

    private MetalStream.Builder builder() {
        return MetalStream.on(Pointer.nativeValue(app.queue()));
    }

    private static void brick(BrickProfiler profiler, MetalStream stream, BrickId id) {
        long timer = profiler.startBrick(id);
        submitTo(stream, 1_000);
        profiler.stopBrick(timer, 1);
    }

    @Spec("12.30")
    @Test
    void whatWaitsForADeviceThatHangsIsUnresolvedAfterTheTimeout() {
        try (CapturedLog log = new CapturedLog();
                MetalStream stream =
                        builder().waitTimeout(Duration.ofMillis(30)).open()) {
            BrickProfiler profiler = profiler(stream);
            SimulatedMetal.hang(1);
            brick(profiler, stream, BrickId.RMS_NORM);
            brick(profiler, stream, BrickId.RMS_NORM);
            profiler.endPass();
            brick(profiler, stream, BrickId.RMS_NORM);
            profiler.endPass();
            assertThat(profiler.pendingCount()).isZero();
            assertThat(profiler.snapshot().unresolved()).isEqualTo(3);
            assertThat(stream.isStalled()).isTrue();
            assertThat(stream.isUsable()).isTrue();
            assertThat(stream.failure().orElseThrow()).contains("within the timeout of 30 ms", "has not ended");
            assertThat(log.linesWith("within the timeout of 30 ms")).isOne();

            SimulatedMetal.hang(0);
            brick(profiler, stream, BrickId.LM_HEAD);
            profiler.endPass();
            assertThat(stream.isStalled()).isFalse();
            assertThat(profiler.brickStats(BrickId.LM_HEAD).totalNs()).isEqualTo(1_000);
        }
    }

    @Spec("12.30")
    @Test
    void closingWaitsForNoDeviceAndEndsTheWaitsOfOthers() throws Exception {
        MetalStream stream = builder().waitTimeout(Duration.ofDays(1)).open();
        BrickProfiler profiler = profiler(stream);
        SimulatedMetal.hang(1);
        Crew crew = new Crew().run(() -> {
            brick(profiler, stream, BrickId.RMS_NORM);
            profiler.endPass();
        });
        while (SimulatedMetal.waits() == 0) {
            Thread.onSpinWait();
        }
        stream.close();
        crew.join();
        assertThat(stream.failure()).contains("the stream is closed");
        SimulatedMetal.hang(0);
    }

    @Test
    void refusesATimeoutThatIsNone() {
        assertThatThrownBy(() -> builder().waitTimeout(Duration.ZERO))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT0S");
    }

    private static int live() {
        return SimulatedMetal.live();
    }

    @Spec("12.32")
    @Test
    void unreachableStreamsAreClosed() {
        int before = live();
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 10; i++) {
                assertThat(MetalStream.onDevice().open().mark()).isNotNegative();
            }
            assertThat(live()).isGreaterThan(before);
            Collected.until(() -> live() == before);
            assertThat(log.linesWith("is unreachable: it is closed now")).isEqualTo(10);
        }
    }
}
