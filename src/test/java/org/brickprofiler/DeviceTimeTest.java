package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;

/** The known times of launches, when results are merged over threads, runs and processes. */
final class DeviceTimeTest {

    private static final DeviceTime ONE = new DeviceTime(100, 4, 10_000, 1_000, 4_000, 3, 2);
    private static final DeviceTime TWO = new DeviceTime(20, 1, 700, 700, 700, 5, 4);

    @Test
    void theSumHasTheExtremesOfBoth() {
        DeviceTime both = new DeviceTime(120, 5, 10_700, 700, 4_000, 8, 6);

        assertThat(ONE.plus(TWO)).isEqualTo(both);
        assertThat(TWO.plus(ONE)).isEqualTo(both);
    }

    /** Samples whose launches were not timed have no shortest launch time: it is not 0. */
    @Test
    void oneWithoutLaunchesHasNoShortestTime() {
        DeviceTime untimed = new DeviceTime(7, 0, 0, 0, 0, 1);
        DeviceTime both = new DeviceTime(107, 4, 10_000, 1_000, 4_000, 4, 2);

        assertThat(ONE.plus(untimed)).isEqualTo(both);
        assertThat(untimed.plus(ONE)).isEqualTo(both);
        assertThat(untimed.plus(untimed)).isEqualTo(new DeviceTime(14, 0, 0, 0, 0, 2));
    }

    @Test
    void theMeanIsThatOfTheLaunchesThatWereTimed() {
        assertThat(ONE.avgLaunchUs()).isEqualTo(2.5);
        assertThat(new DeviceTime(7, 0, 0, 0, 0, 1).avgLaunchUs()).isZero();
    }

    @Test
    void aNegativeFigureIsRefusedAndNamed() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DeviceTime(1, 1, 1, 1, 1, -77))
                .withMessageContaining("-77");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DeviceTime(1, 1, 1, 1, 1, 3, 4))
                .withMessageContaining("without a start 4: 0 to the 3 unresolved");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DeviceTime(1, -66, 1, 1, 1, 1))
                .withMessageContaining("-66");
    }
}
