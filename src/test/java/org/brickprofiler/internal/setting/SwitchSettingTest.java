package org.brickprofiler.internal.setting;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Spec("11.2")
final class SwitchSettingTest {

    private static final String IGNORED = "ignored";

    private static SwitchSetting read(@Nullable String property, @Nullable String variable) {
        return SwitchSetting.read(
                "brick.profiler.kernels",
                "BRICK_PROFILER_KERNELS",
                name -> name.equals("brick.profiler.kernels") ? property : "wrong property",
                name -> name.equals("BRICK_PROFILER_KERNELS") ? variable : "wrong variable");
    }

    @Test
    void isOnByDefault() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(read(null, null).on()).isTrue();
            assertThat(read("", "").on()).isTrue();
            assertThat(log.linesWith("")).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "off", "0", "FALSE", "Off"})
    void isSwitchedOff(String value) {
        assertThat(read(value, null))
                .isEqualTo(new SwitchSetting(false, "system property brick.profiler.kernels=" + value));
        assertThat(read(null, value))
                .isEqualTo(new SwitchSetting(false, "environment variable BRICK_PROFILER_KERNELS=" + value));
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "on", "1", "TRUE", "On"})
    void isLeftOn(String value) {
        assertThat(read(value, null).on()).isTrue();
        assertThat(read(null, value).on()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"true, false, true", "false, true, false", "'', false, false", "'', true, true"})
    void thePropertyComesBeforeTheVariable(String property, String variable, boolean on) {
        assertThat(read(property, variable).on()).isEqualTo(on);
    }

    @ParameterizedTest
    @ValueSource(strings = {"no", "2", " false", "false ", "disabled", "-1"})
    void warnsOfAValueThatIsNoAnswerAndIgnoresIt(String value) {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(read(value, null).on()).isTrue();
            assertThat(log.linesWith("WARN")).isEqualTo(1);
            assertThat(log.linesWith("brick.profiler.kernels=" + value)).isEqualTo(1);
            assertThat(log.linesWith(IGNORED)).isEqualTo(1);

            assertThat(read(value, "off").on()).isFalse();
            assertThat(read(null, value).on()).isTrue();
            assertThat(log.linesWith("BRICK_PROFILER_KERNELS=" + value)).isEqualTo(1);
        }
    }

    @Test
    void whatMustNotBeReadIsNotSet() {
        SwitchSetting found = SwitchSetting.read(
                SwitchSetting.PROPERTY,
                SwitchSetting.VARIABLE,
                name -> {
                    throw new SecurityException(name);
                },
                Map.of(SwitchSetting.VARIABLE, "0")::get);

        assertThat(found.on()).isFalse();
    }
}
