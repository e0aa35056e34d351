package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CheckReportTest {

    private static final Outcome HELD = Outcome.of(
            "spin", true, "is so", "yes", Map.of("rows", List.of(Map.of("ns", 5L, "share", 0.5, "holds", true))));
    private static final Outcome MISSED = new Outcome("cost", Outcome.Status.MISSED, "is small", "no", Map.of());
    private static final Outcome BROKEN = Outcome.of("marks", false, "is there", "no", Map.of());
    private static final Outcome UNCLEAR =
            new Outcome("span", Outcome.Status.UNCLEAR, "is exact", "who knows", Map.of());
    private static final Outcome NOT_MADE = Outcome.notMade("torch", "compared", "nobody is there");
    private static final Outcome TOLD = new Outcome("cost", Outcome.Status.SHOWN, "is shown", "7 us", Map.of());

    @TempDir
    Path folder;

    private static CheckReport report(boolean simulated, Outcome... outcomes) {
        return new CheckReport("A GPU", simulated, "12.6", List.of(outcomes));
    }

    @Test
    void brokenIsWorseThanMissedAndNothingHeldIsBrokenToo() {
        assertThat(report(false, HELD, NOT_MADE, TOLD, UNCLEAR).worst()).isEqualTo(Outcome.Status.HELD);
        assertThat(report(false, HELD, MISSED).worst()).isEqualTo(Outcome.Status.MISSED);
        assertThat(report(false, HELD, MISSED, BROKEN).worst()).isEqualTo(Outcome.Status.BROKEN);
        assertThat(report(false, NOT_MADE, TOLD, UNCLEAR).worst()).isEqualTo(Outcome.Status.BROKEN);
        assertThat(report(false).worst()).isEqualTo(Outcome.Status.BROKEN);
        assertThat(report(false, HELD, UNCLEAR).holds()).isTrue();
        assertThat(report(false, HELD, MISSED).holds()).isFalse();
    }

    @Test
    void theTableShowsEveryOutcomeWithItsReason() {
        assertThat(report(false, HELD, UNCLEAR, MISSED, BROKEN, NOT_MADE, TOLD).toText())
                .isEqualTo("""

                held      spin     is so
                                   yes
                unclear   span     is exact
                                   who knows
                MISSED    cost     is small
                                   no
                BROKEN    marks    is there
                                   no
                not made  torch    compared
                                   nobody is there
                shown     cost     is shown
                                   7 us

                1 held, 1 unclear, 1 missed a bound, 1 broken, 1 could not be made
                """);
    }

    @Test
    void aSimulatedDriverIsNamedFirstAndLast() {
        String header = CheckReport.header("A GPU", true, "12.6");
        assertThat(header)
                .startsWith("*** SIMULATED DRIVER")
                .contains("no figure here is a measurement", "Device: A GPU, driver for CUDA 12.6")
                .hasLineCount(1);
        assertThat(report(true, HELD).toText().stripTrailing()).endsWith("no figure here is a measurement of one. ***");
        assertThat(CheckReport.header("A GPU", false, "12.6"))
                .isEqualTo("Device: A GPU, driver for CUDA 12.6; Java " + Runtime.version());
    }

    @Test
    void theFileHoldsAllFigures() throws IOException {
        Path file = folder.resolve("a.json");
        report(true, HELD, NOT_MADE).write(file);

        JsonNode json = new ObjectMapper().readTree(file.toFile());
        assertThat(json.get("kind").asText()).isEqualTo("brick-gpu-check");
        assertThat(json.get("simulated").asBoolean()).isTrue();
        assertThat(json.get("device").asText()).isEqualTo("A GPU");
        assertThat(json.get("cuda").asText()).isEqualTo("12.6");
        assertThat(json.get("holds").asBoolean()).isTrue();
        assertThat(json.get("worst").asText()).isEqualTo("held");
        assertThat(json.get("checks")).hasSize(2);
        JsonNode spin = json.get("checks").get(0);
        assertThat(spin.get("status").asText()).isEqualTo("held");
        JsonNode row = spin.get("figures").get("rows").get(0);
        assertThat(row.get("ns").isIntegralNumber()).isTrue();
        assertThat(row.get("share").asDouble()).isEqualTo(0.5);
        assertThat(row.get("holds").isBoolean()).isTrue();
        assertThat(json.get("checks").get(1).get("status").asText()).isEqualTo("not_made");
        assertThat(json.get("checks").get(1).get("found").asText()).isEqualTo("nobody is there");
    }
}
