package org.brickprofiler.demo.device;

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
    private static final Outcome FAILED = Outcome.of("cost", false, "is small", "no", Map.of());
    private static final Outcome NOT_MADE = Outcome.notMade("torch", "compared", "nobody is there");
    private static final Outcome TOLD = new Outcome("cost", Outcome.Status.TOLD, "is told", "7 us", Map.of());

    @TempDir
    Path folder;

    private static CheckReport report(boolean simulated, Outcome... outcomes) {
        return new CheckReport("A GPU", simulated, "12.6", List.of(outcomes));
    }

    @Test
    void holdsIfNothingFailedAndSomethingHeld() {
        assertThat(report(false, HELD, NOT_MADE, TOLD).holds()).isTrue();
        assertThat(report(false, HELD, FAILED).holds()).isFalse();
        assertThat(report(false, NOT_MADE, TOLD).holds()).isFalse();
        assertThat(report(false).holds()).isFalse();
    }

    @Test
    void theTableTellsEveryOutcomeWithItsReason() {
        assertThat(report(false, HELD, FAILED, NOT_MADE, TOLD).toText()).isEqualTo("""
                Device: A GPU, driver for CUDA 12.6; Java %s

                held      spin     is so
                                   yes
                FAILED    cost     is small
                                   no
                not made  torch    compared
                                   nobody is there
                told      cost     is told
                                   7 us

                1 held, 1 failed, 1 could not be made
                """.formatted(Runtime.version()));
    }

    @Test
    void aSimulatedDriverIsToldFirstAndLast() {
        List<String> lines = report(true, HELD).toText().lines().toList();

        assertThat(lines.get(0)).contains("SIMULATED DRIVER", "no figure here is a measurement");
        assertThat(lines.get(lines.size() - 1)).isEqualTo(lines.get(0));
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
