package org.brickprofiler.gpucheck;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import com.sun.jna.NativeLibrary;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.cuda.SimulatedCuda;
import org.brickprofiler.gpucheck.Outcome.Status;
import org.brickprofiler.testing.Fixture;
import org.brickprofiler.testing.SourceTree;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The check of activity records over a stand-in for CUPTI and the simulated driver: no figure is a measurement. */
class ActivityCheckTest {

    private static final int USUAL = 0;
    private static final int OTHER_LAYOUT = 3;
    private static final int REFUSES = 4;

    private final Path library = new org.brickprofiler.testing.NativeLibrary(
                    Fixture.CUDA,
                    "libcupti.so.13",
                    "cc",
                    List.of(SourceTree.path("tools", "src", "test", "native", "cupti")),
                    List.of("-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-ldl"))
            .build();

    private void behave(int mode) {
        NativeLibrary.getInstance(library.toString())
                .getGlobalVariableAddress("cupti_stand_in_mode")
                .setInt(0, mode);
    }

    @AfterEach
    void behaveAsUsual() {
        behave(USUAL);
    }

    private List<Outcome> run() {
        SimulatedCuda.start();
        assertThat(JCudaDriver.cuInit(0)).isZero();
        return ActivityRun.run(0, 1, library, SimulatedCuda::now);
    }

    private static String found(List<Outcome> outcomes, String claim) {
        return outcomes.stream()
                .filter(outcome -> outcome.claim().startsWith(claim))
                .map(Outcome::found)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void theTableAndALineForEachCriterionAreShown() {
        List<Outcome> outcomes = run();

        assertThat(outcomes)
                .as(outcomes::toString)
                .hasSize(19)
                .extracting(Outcome::status)
                .containsOnly(Status.SHOWN);
        assertThat(outcomes.subList(0, 5))
                .allMatch(load -> load.claim().endsWith(", time per kernel"))
                .allMatch(load ->
                        load.found().contains("; records ") && load.found().contains("; DEFERRED "));
        assertThat(found(outcomes, "every kernel has a record"))
                .startsWith("holds: of ")
                .contains(" 0 impossible, 0 dropped (" + library + ", version 130001)");
        assertThat(found(outcomes, "every launch has its id")).startsWith("holds: of ");
        assertThat(found(outcomes, "kernels of a graph have the same times")).isEqualTo("holds: +0 ns");
        assertThat(found(outcomes, "records beside %globaltimer")).contains("10 us: +0 ns", "2 us: +8000 ns");
        assertThat(found(outcomes, "records are within 0.1 us")).startsWith("does not hold: ");
    }

    @ParameterizedTest
    @CsvSource({"1, '0 impossible, 1 dropped'", "2, '1 impossible, 0 dropped'"})
    void aLostOrAnImpossibleRecordIsCounted(int mode, String counted) {
        behave(mode);
        assertThat(found(run(), "every kernel has a record"))
                .startsWith("does not hold: ")
                .contains(counted);
    }

    @Test
    void anUnknownLayoutOrARefusalIsNoMeasurement() {
        behave(OTHER_LAYOUT);
        assertThat(run()).singleElement().satisfies(outcome -> {
            assertThat(outcome.status()).isEqualTo(Status.NOT_MADE);
            assertThat(outcome.found()).contains("'other'").endsWith("its layout is not known here");
        });
        behave(REFUSES);
        assertThat(run()).singleElement().satisfies(outcome -> assertThat(outcome.found())
                .isEqualTo(library + ": cuptiGetVersion answers 999 CUPTI_ERROR_UNKNOWN"));
    }

    @Test
    void aMissingLibraryIsNamed() {
        assertThatIllegalStateException()
                .isThrownBy(() -> Cupti.load(Path.of("/no/such/libcupti.so"), 0))
                .withMessage(
                        "no library of CUPTI could be loaded from /no/such/libcupti.so; tried /no/such/libcupti.so");
        assertThatIllegalStateException()
                .isThrownBy(() -> Cupti.load(null, 1))
                .withMessageStartingWith("no library of CUPTI could be loaded; tried ");
    }

    @Test
    void theProcessOfTheCheckAnswersInLines() {
        List<Outcome> outcomes = List.of(
                new Outcome("activity", Status.SHOWN, "a claim", "so\tfar\nso good", Map.of("a_ns", 1.5)),
                Outcome.notMade("activity", "another", "a reason"));
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        ActivityCheck.print(outcomes, new PrintStream(bytes, true, StandardCharsets.UTF_8));

        List<String> lines = ("noise of a driver\n" + bytes.toString(StandardCharsets.UTF_8))
                .lines()
                .toList();
        assertThat(ActivityCheck.read(lines))
                .containsExactly(
                        new Outcome("activity", Status.SHOWN, "a claim", "so far so good", Map.of("a_ns", 1.5)),
                        outcomes.get(1));
    }

    @Test
    void theProcessNamesWhatIsMissing() {
        Outcome outcome =
                new ActivityCheck(-1, 1, Path.of("/no/such/libcupti.so")).run().get(0);
        assertThat(outcome.status()).isEqualTo(Status.NOT_MADE);
        assertThat(outcome.found()).contains("no library of CUPTI could be loaded from /no/such/libcupti.so");
    }
}
