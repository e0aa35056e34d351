package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.DeviceTimer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class MetalTimerTest {

    private MetalApp app;
    private DeviceTimer timer;

    @BeforeEach
    void attach() {
        SimulatedMetal.start();
        app = new MetalApp();
        timer = new MetalTimer(app.stream());
    }

    @AfterEach
    void close() {
        timer.close();
        app.close();
    }

    @Test
    void isZeroUntilBothEndsWereRecorded() {
        assertThat(timer.elapsedNs()).isZero();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).as("an end without a start").isZero();
        timer.recordStart();
        app.submit("work", 10);
        assertThat(timer.elapsedNs()).isZero();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isEqualTo(10);
        assertThat(timer.elapsedMs()).isEqualTo(1e-5);
    }

    @Test
    void isZeroWhereNothingThatIsWatchedWasDone() {
        timer.recordStart();
        SimulatedMetal.advance(5_000);
        timer.recordEnd();

        assertThat(timer.elapsedNs()).isZero();
        assertThat(app.stream().failure().orElseThrow()).contains("no watched command buffer");
    }

    @Test
    void waitsForTheDevice() {
        timer.recordStart();
        app.submit("work", 2_500_000);
        timer.recordEnd();
        app.submit("not timed", 1_000_000);

        assertThat(timer.elapsedMs()).isEqualTo(2.5);
        assertThat(timer.elapsedNs()).isEqualTo(2_500_000);
    }

    @Test
    void aNewStartForgetsTheEndAndASecondEndReplacesTheFirst() {
        timer.recordStart();
        app.submit("work", 10);
        timer.recordEnd();
        timer.recordStart();
        assertThat(timer.elapsedNs()).isZero();
        app.submit("work", 20);
        timer.recordEnd();
        app.submit("work", 30);
        timer.recordEnd();

        assertThat(timer.elapsedNs()).isEqualTo(50);
    }

    @Test
    void holdsTwoMarksAtMostAndNoneOnceItIsClosed() {
        try (MetalStream two = MetalStream.onDevice().marks(1, 2).open()) {
            MetalTimer small = new MetalTimer(two);
            for (int i = 0; i < 10; i++) {
                small.recordStart();
                small.recordEnd();
                small.recordEnd();
            }
            assertThat(two.mark()).isEqualTo(DeviceStream.NO_MARK);
            small.close();
            assertThat(small.elapsedNs()).isZero();
            small.close();
            assertThat(two.mark()).isNotEqualTo(DeviceStream.NO_MARK);
            assertThat(two.mark()).isNotEqualTo(DeviceStream.NO_MARK);
        }
    }

    @Test
    void isZeroWhereTheStreamCannotTell() {
        timer.recordStart();
        MetalApp.Buffer open = app.begin("open");
        timer.recordEnd();
        open.commit();
        assertThat(timer.elapsedNs()).as("inside of a command buffer").isZero();

        timer.recordStart();
        app.submit("work", 10);
        timer.recordEnd();
        app.stream().close();
        assertThat(timer.elapsedNs()).as("of a stream that is closed").isZero();
        timer.recordStart();
        timer.recordEnd();
        assertThat(timer.elapsedNs()).isZero();
    }
}
