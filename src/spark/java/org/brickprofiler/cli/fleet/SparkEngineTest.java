package org.brickprofiler.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The same SQL over the same files, asked of Spark and of the embedded engine, which has to be there. */
final class SparkEngineTest {

    @TempDir
    private static Path folder;

    private static FleetEngine duck;
    private static FleetEngine spark;

    @BeforeAll
    static void start() throws Exception {
        System.setProperty("org.slf4j.simpleLogger.log.org.apache", "error");
        SimulatedFleet.Shape shape = new SimulatedFleet.Shape("007", 64, 60, 5);
        Map<String, String> files = new SimulatedFleet(shape, SimulatedFleet.studyFaults(shape)).write(folder, true);
        duck = FleetEngine.open(FleetEngine.DEFAULT, FleetEngine.Options.defaults());
        spark = FleetEngine.open("spark", new FleetEngine.Options(1 << 29, 2, folder, "local[2]"));
        for (Map.Entry<String, String> table : files.entrySet()) {
            duck.table(table.getKey(), List.of(table.getValue()));
            spark.table(table.getKey(), List.of(table.getValue()));
        }
    }

    @AfterAll
    static void stop() {
        duck.close();
        spark.close();
    }

    @ParameterizedTest
    @EnumSource(Question.class)
    @Spec("24.14")
    void everyQuestionHasEqualAnswers(Question question) throws IOException {
        Rows expected = question.answer(duck);
        assertThat(expected.rows()).isNotEmpty();
        assertThat(question.answer(spark)).isEqualTo(expected);
    }

    @Test
    @Spec("24.14")
    void aRunWhoseNameIsANumberStaysAText() throws IOException {
        spark.view("runs", "SELECT DISTINCT run_id FROM rank_window");
        assertThat(spark.query("SELECT run_id FROM runs")).isEqualTo(new Rows(List.of("run_id"), List.of(List.of("007"))));
    }

    @Test
    @Spec("24.14")
    void saysInOneLineWhatIsWrong() {
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> spark.query("SELECT nothing FROM rank_window"))
                .withMessageContaining("Spark: ")
                .withMessageContaining("nothing")
                .withMessageNotContaining("\n");
        assertThatExceptionOfType(IOException.class)
                .isThrownBy(() -> spark.table("t", List.of(folder.resolve("missing.parquet").toString())))
                .withMessageContaining("missing.parquet");
    }
}
