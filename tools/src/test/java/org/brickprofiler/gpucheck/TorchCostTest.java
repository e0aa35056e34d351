package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.brickprofiler.gpucheck.Outcome.Status;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TorchCostTest {

    @TempDir
    Path folder;

    private Outcome outcome(String text) throws IOException {
        return new TorchCost(Files.writeString(folder.resolve("torch"), text))
                .run()
                .get(0);
    }

    @Test
    void tellsTheCostOfAnOperation() throws IOException {
        Outcome outcome = outcome("torch=2.5\noperations=384\nabsent_us=4000\nprofiled_us=5920\n");

        assertThat(outcome.status()).isEqualTo(Status.SHOWN);
        assertThat(outcome.found())
                .startsWith("5.00 us: a pass of 384 operations")
                .contains("+48.0 %");
        assertThat(outcome.figures()).containsEntry("cost_us", 5.0).containsEntry("torch", "2.5");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            reason=torch cannot be imported: no  | torch cannot be imported: no
            absent_us=1                          | there is no profiled_us
            absent_us=x                          | For input string: "x"
            absent_us=0                          | absent_us is 0
            """)
    void tellsWhyTheCostIsUnknown(String text, String reason) throws IOException {
        Outcome outcome = outcome(text);

        assertThat(outcome.status()).isEqualTo(Status.NOT_MADE);
        assertThat(outcome.found()).contains(reason);
    }

    @Test
    void nothingIsMeasuredWithoutAFile() {
        assertThat(new TorchCost(null).run().get(0).status()).isEqualTo(Status.NOT_MADE);
        assertThat(new TorchCost(folder.resolve("missing")).run().get(0).found())
                .startsWith("cannot read ");
    }
}
