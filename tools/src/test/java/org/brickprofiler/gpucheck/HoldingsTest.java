package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class HoldingsTest {

    private static final MarksCheck.Holdings EARLY = holdings(10_000_000, 800_000_000, 20, 70_000_000_000L);

    private static MarksCheck.Holdings holdings(long heap, long resident, long handles, long deviceFree) {
        return new MarksCheck.Holdings(
                OptionalLong.of(heap),
                OptionalLong.of(resident),
                OptionalLong.of(handles),
                OptionalLong.of(deviceFree));
    }

    @ParameterizedTest
    @CsvSource({
        "10000000, 800000000, 20, 70000000000, true",
        "12000000, 832000000, 24, 69984000000, true",
        "12000001, 800000000, 20, 70000000000, false",
        "10000000, 832000001, 20, 70000000000, false",
        "10000000, 800000000, 25, 70000000000, false",
        "10000000, 800000000, 20, 69983999999, false",
        "0, 0, 0, 80000000000, true"
    })
    void eachMayGrowUpToItsBound(long heap, long resident, long handles, long deviceFree, boolean expected) {
        assertThat(holdings(heap, resident, handles, deviceFree).hasNotGrownFrom(EARLY))
                .isEqualTo(expected);
    }

    @Test
    void growthIsGivenInWords() {
        assertThat(holdings(11_500_000, 799_000_000, 22, 69_990_000_000L).growthFrom(EARLY))
                .isEqualTo("live heap +1.5 MB, resident -1.0 MB, handles +2, device memory +10.0 MB");
    }

    @Test
    void unknownValuesAreNoGrowth() {
        MarksCheck.Holdings silent = new MarksCheck.Holdings(
                OptionalLong.of(1), OptionalLong.empty(), OptionalLong.empty(), OptionalLong.empty());

        assertThat(silent.hasNotGrownFrom(EARLY)).isTrue();
        assertThat(silent.growthFrom(EARLY)).contains("resident unknown", "handles unknown", "device memory unknown");
        assertThat(silent.figures()).containsOnlyKeys("live_heap_bytes");
    }
}
