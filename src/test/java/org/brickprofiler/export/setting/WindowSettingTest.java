package org.brickprofiler.export.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.brickprofiler.export.setting.WindowSetting.Length;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Spec("23.11")
final class WindowSettingTest {

    @Test
    void readsTimesAndNumbersOfSteps() {
        assertThat(WindowSetting.length("500 ms")).isEqualTo(new Length(Duration.ofMillis(500), 0));
        assertThat(WindowSetting.length("5min")).isEqualTo(new Length(Duration.ofMinutes(5), 0));
        assertThat(WindowSetting.length("100 Steps")).isEqualTo(new Length(Duration.ZERO, 100));
        assertThat(WindowSetting.length(null)).isEqualTo(new Length(Duration.ofSeconds(10), 0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"soon", "0 steps", "1 ms", "-5 s"})
    void usesTenSecondsInsteadOfAWrongLength(String wrong) {
        assertThat(WindowSetting.length(wrong)).isEqualTo(WindowSetting.USUAL);
    }
}
