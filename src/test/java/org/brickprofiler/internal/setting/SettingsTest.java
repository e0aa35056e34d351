package org.brickprofiler.internal.setting;

import static org.assertj.core.api.Assertions.assertThat;

import org.brickprofiler.testing.Spec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Spec("2.16")
final class SettingsTest {

    @ParameterizedTest
    @CsvSource(
            nullValues = "-",
            value = {
                "a, b, a",
                "-, b, b",
                "'', b, b",
                "'  ', b, b",
                "'\t', b, b",
                "a, -, a",
                "a, '', a",
                "' a ', b, ' a '",
                "-, ' b', ' b'",
                "-, -, -",
                "' ', ' ', -",
                "-, '', -"
            })
    void aBlankPropertyHidesNoVariable(
            @Nullable String property, @Nullable String variable, @Nullable String expected) {
        assertThat(Settings.value(
                        "p", "V", name -> name.equals("p") ? property : "?", name -> name.equals("V") ? variable : "?"))
                .isEqualTo(expected);
    }

    @Test
    void aSettingThatMustNotBeReadIsNotSet() {
        Settings.Place forbidden = name -> {
            throw new SecurityException(name);
        };
        assertThat(Settings.value("p", "V", forbidden, name -> "b")).isEqualTo("b");
        assertThat(Settings.value("p", "V", forbidden, forbidden)).isNull();
    }

    @Test
    void propertiesAndVariablesOfThisProcessAreRead() {
        String property = "brick.profiler.settings.test";
        assertThat(Settings.value(property, "PATH")).isEqualTo(System.getenv("PATH"));
        System.setProperty(property, " ");
        try {
            assertThat(Settings.value(property, "PATH")).isEqualTo(System.getenv("PATH"));
            System.setProperty(property, "here");
            assertThat(Settings.value(property, "PATH")).isEqualTo("here");
        } finally {
            System.clearProperty(property);
        }
    }
}
