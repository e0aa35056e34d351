package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickStats;
import org.brickprofiler.DeviceTime;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Phases in reports. */
class PhaseReportTest {

    private static BrickStats brick(BrickId id, long count, long totalNs) {
        return BrickStats.builder(id.displayName(), id.category())
                .samples(count, totalNs, totalNs / count, totalNs / count)
                .elements(count)
                .build();
    }

    private static ProfileSnapshot profile(List<BrickStats> bricks, Map<Phase, List<BrickStats>> phases) {
        return profile(0, bricks, phases);
    }

    private static ProfileSnapshot profile(long wallNs, List<BrickStats> bricks, Map<Phase, List<BrickStats>> phases) {
        return ProfileSnapshot.builder(Instant.EPOCH, Instant.EPOCH, wallNs)
                .bricks(bricks)
                .phases(phases)
                .build();
    }

    /** A brick takes 2 ms in prefill and 0.1 ms in decode, so that its mean over both describes neither. */
    @Spec("8.1")
    @Test
    void eachPhaseWithAtLeastAPercentHasColumns() {
        BrickStats norm = brick(BrickId.RMS_NORM, 10, 1_000_000);
        BrickStats slow = brick(BrickId.QKV_PROJECTION, 3, 6_000_000);
        BrickStats fast = brick(BrickId.QKV_PROJECTION, 30, 3_000_000);
        BrickStats rare = brick(BrickId.QKV_PROJECTION, 1, 99_000);
        String text = TextReport.render(profile(
                List.of(norm, slow, fast, rare),
                Map.of(Phase.PREFILL, List.of(slow), Phase.DECODE, List.of(fast), Phase.MIXED, List.of(rare))));

        assertThat(text)
                .containsPattern("prefill total +prefill avg +decode total +decode avg ")
                .containsPattern("QkvProjection .* 6.000 ms +2.000 ms +3.000 ms +100.0 us ")
                .containsPattern("RmsNorm .* - +- +- +- ")
                .containsPattern("all bricks .* 6.000 ms +3.000 ms\n")
                .contains("Of brick time: prefill steps 59.4 %, decode steps 29.7 %.\n")
                .contains(
                        "Without a phase, since no step or steps of several phases were under way: 1.000 ms, 9.9 % of")
                .doesNotContain("mixed");
    }

    /** Half of the device's recorded time is that of marks; the host's brick has no marks. */
    @Spec("12.54")
    @Test
    void sharesOfDeviceBricksAreNetEverywhere() {
        BrickStats norm = brick(BrickId.RMS_NORM, 10, 1_000_000);
        BrickStats slow = ofDevice(3, 6_000_000, 3);
        BrickStats fast = ofDevice(30, 3_000_000, 30);
        Map<Phase, List<BrickStats>> phases = Map.of(Phase.PREFILL, List.of(slow), Phase.DECODE, List.of(fast));
        String text = TextReport.render(profile(11_000_000, List.of(norm, slow, fast), phases));

        assertThat(text)
                .contains("brick time  5.500 ms net, 10.00 ms recorded, summed over 43 samples, 50.0 % of wall time")
                .containsPattern("Attention .* 9.000 ms +#* +81.8 +40.9\n")
                .containsPattern("all categories .* 10.00 ms +100.0 +50.0\n")
                .contains("Of brick time: prefill steps 54.5 %, decode steps 27.3 %.\n")
                .contains("of several phases were under way: 1.000 ms, 18.2 % of brick time")
                .contains("Shares and rates are by net times")
                .doesNotContain("add up to more than 100 %");

        // A part of the samples has no net time, so the brick has none: its phases then count as recorded, too.
        BrickStats unknown = ofDevice(3, 6_000_000, 2);
        assertThat(TextReport.render(profile(
                        List.of(norm, unknown, fast),
                        Map.of(Phase.PREFILL, List.of(unknown), Phase.DECODE, List.of(fast)))))
                .contains("Of brick time: prefill steps 60.0 %, decode steps 30.0 %.\n")
                .contains("brick time  10.00 ms summed")
                .doesNotContain("by net times");
    }

    private static BrickStats ofDevice(long count, long totalNs, long known) {
        return brick(BrickId.QKV_PROJECTION, count, totalNs).toBuilder()
                .device(new DeviceTime(
                        count, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, new DeviceTime.MarkTime(known, totalNs / 2, 10)))
                .build();
    }

    @Spec("8.1")
    @Test
    void theOnlyPhaseIsNamedInsteadOfRepeated() {
        List<BrickStats> bricks = List.of(brick(BrickId.RMS_NORM, 10, 1_000_000));

        assertThat(TextReport.render(profile(bricks, Map.of(Phase.DECODE, bricks))))
                .contains("All samples belong to decode steps.\n")
                .doesNotContain("decode total");
        assertThat(TextReport.render(profile(bricks, Map.of()))).doesNotContain("decode", "phase");
    }

    @Spec("8.2")
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{'bricks': []}                                  | bricks of a phase have no phase",
                "{'phase': 'decode'}, {'phase': 'decode'}        | the phase decode occurs twice",
                "{'phase': 'later'}                              | later",
            })
    void aFaultOfAPhaseIsNamed(String phases, String fault) {
        String json = "{\"bricks\": [], \"phases\": [" + phases.replace('\'', '"') + "]}";

        assertThatThrownBy(() -> JsonReport.fromJson(json)).hasMessageContaining(fault);
    }
}
