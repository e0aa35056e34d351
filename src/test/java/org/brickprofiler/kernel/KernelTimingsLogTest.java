package org.brickprofiler.kernel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import java.util.Locale;
import org.brickprofiler.Backend;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The messages in the log, and their frequency. */
final class KernelTimingsLogTest {

    private static final String HEADING = " avg ";

    private final KernelTimings timings = new KernelTimings();

    @Test
    void hasAHeadingAndALineForEachKernel() {
        List<KernelTiming> snapshot = List.of(
                new KernelTiming("rms_norm_f32", Backend.CUDA, 3, 5_000_000, 500_000, 2_500_000, 2_000_001),
                new KernelTiming("blur", Backend.METAL, 1_234_567_890, 0, 0, 0, 0));

        assertThat(KernelTimings.lines(snapshot))
                .containsExactly(
                        "name         backend            avg            min            max           last          n",
                        "rms_norm_f32 CUDA        1.666667ms     0.500000ms     2.500000ms     2.000001ms          3",
                        "blur         METAL       0.000000ms     0.000000ms     0.000000ms     0.000000ms 1234567890");
    }

    @Test
    void theLocaleDoesNotMatter() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.GERMANY);
        try {
            assertThat(KernelTimings.lines(List.of(new KernelTiming("a", Backend.CPU, 1, 1, 1, 1, 1)))
                            .get(1))
                    .contains("0.000001ms");
        } finally {
            Locale.setDefault(before);
        }
    }

    @Test
    void aNameCannotBeginALineOfItsOwn() {
        String name = "a\r\nb\u2028c\u2029d\u0085e\tf";

        assertThat(KernelTimings.lines(List.of(new KernelTiming(name, Backend.CPU, 1, 1, 1, 1, 1)))
                        .get(1))
                .startsWith("a\\r\\nb\\u2028c\\u2029d\\u0085e\\tf CPU");
    }

    @Test
    void writesTheLargestFirst() {
        timings.record("little", Backend.CPU, 1);
        timings.record("much", Backend.CUDA, 2);
        try (CapturedLog log = new CapturedLog()) {
            timings.logSnapshot();

            List<String> lines = log.lines().stream()
                    .filter(line -> line.contains("INFO " + KernelTimings.class.getName()))
                    .toList();
            assertThat(lines).hasSize(3);
            assertThat(lines.get(0)).contains("name ");
            assertThat(lines.get(1)).contains("much ");
            assertThat(lines.get(2)).contains("little ");
        }
    }

    @Test
    void writesNothingIfNothingWasRecorded() {
        try (CapturedLog log = new CapturedLog()) {
            timings.logSnapshot();

            assertThat(log.linesWith("")).isZero();
        }
    }

    @Test
    void aBraceInANameIsNoPlaceholder() {
        timings.record("gemm{}", Backend.CUDA, 2);
        try (CapturedLog log = new CapturedLog()) {
            timings.logSnapshot();

            assertThat(log.linesWith("gemm{} CUDA")).isEqualTo(1);
        }
    }

    @Spec("11.7")
    @ParameterizedTest
    @CsvSource({"0, 10, 10", "1, 10, 10", "2, 10, 5", "3, 10, 3", "10, 10, 1", "11, 10, 0"})
    void writesAtEveryNthCall(int everyNth, int calls, long written) {
        timings.record("a", Backend.CPU, 1);
        try (CapturedLog log = new CapturedLog()) {
            for (int call = 0; call < calls; call++) {
                timings.logSnapshot(everyNth);
            }

            assertThat(log.linesWith(HEADING)).isEqualTo(written);
        }
    }

    @Test
    void theNthCallIsTheOneThatWritesAndOthersDoNotCount() {
        timings.record("a", Backend.CPU, 1);
        try (CapturedLog log = new CapturedLog()) {
            timings.logSnapshot(3);
            timings.logSnapshot(3);
            assertThat(log.linesWith(HEADING)).isZero();
            timings.logSnapshot();
            timings.logSnapshot(0);
            assertThat(log.linesWith(HEADING)).isEqualTo(2);
            timings.logSnapshot(3);
            assertThat(log.linesWith(HEADING)).isEqualTo(3);
        }
    }

    @Test
    void callsWithDifferentNumbersCountTogether() {
        timings.record("a", Backend.CPU, 1);
        try (CapturedLog log = new CapturedLog()) {
            timings.logSnapshot(1);
            timings.logSnapshot(2);
            assertThat(log.linesWith(HEADING)).isEqualTo(2);
            timings.logSnapshot(2);
            assertThat(log.linesWith(HEADING)).isEqualTo(2);
        }
    }

    @Test
    void refusesANegativeNumberOfCalls() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> timings.logSnapshot(-2))
                .withMessageContaining("everyNth -2");
    }
}
