package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.checksum.ChecksumComparison;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.checksum.Logs;
import org.brickprofiler.checksum.Tolerance;
import org.brickprofiler.testing.Golden;
import org.junit.jupiter.api.Test;

final class DivergenceReportTest {

    private static final List<String> BRICKS =
            List.of("RmsNorm", "QkvProjection", "AttentionSoftmax", "DownProjection");
    private static final Map<String, Long> TIMES_NS =
            Map.of("RmsNorm", 850L, "QkvProjection", 123_456L, "AttentionSoftmax", 7_654_321L);

    private static ChecksumLog log(int samples) {
        return new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(samples));
    }

    private static String report(ChecksumLog here, ChecksumLog reference, Tolerance tolerance) {
        return DivergenceReport.render(timed(here, 2).compareWith(timed(reference, 1), tolerance));
    }

    private static ChecksumLog timed(ChecksumLog log, long times) {
        return Logs.timed(log, name -> times * TIMES_NS.getOrDefault(name, -1L));
    }

    /** Records a pass of two layers, in which the softmax of the second layer has {@code value} at {@code index}. */
    private static void pass(ChecksumLog log, int position, int index, float value) {
        for (int layer = 0; layer < 2; layer++) {
            for (String brick : BRICKS) {
                float[] output = {1 + layer, 2, 0, brick.length()};
                if (layer == 1 && brick.equals("AttentionSoftmax")) {
                    output[index] = value;
                }
                log.record(brick, layer, position, output);
            }
        }
    }

    @Test
    void showsADifferentChecksum() throws IOException {
        ChecksumLog here = log(0);
        ChecksumLog reference = log(0);
        pass(here, 7, 1, 2.5f);
        pass(reference, 7, 1, 2);
        here.record("extra\n\u00e9", ChecksumEntry.NO_LAYER, 8, new float[] {Float.NaN});

        Golden.assertSame(report(here, reference, Tolerance.EXACT), getClass(), "divergence-exact.txt");
    }

    @Test
    void showsAValueOutsideTheTolerance() throws IOException {
        ChecksumLog here = log(4);
        ChecksumLog reference = log(4);
        pass(here, 7, 1, 2.0015f);
        pass(reference, 7, 1, 2);
        pass(here, 7, 0, 2.5f);
        pass(reference, 7, 0, 2);

        Golden.assertSame(report(here, reference, Tolerance.FLOAT16), getClass(), "divergence-tolerance.txt");
    }

    @Test
    void leavesColumnsOutThatDoNotFit() throws IOException {
        ChecksumLog here = log(4);
        ChecksumLog reference = log(4);
        pass(here, 7, 1, 2.0015f);
        pass(reference, 7, 1, 2);
        ChecksumComparison comparison = here.compareWith(reference, Tolerance.FLOAT16);

        assertThat(DivergenceReport.render(comparison, 100)).isEqualTo(DivergenceReport.render(comparison));
        String narrow = DivergenceReport.render(comparison, 80);
        assertThat(narrow)
                .contains(
                        "  checksum here       in the reference    time here\n",
                        "\nA table of 80 characters leaves out columns: reference time.\n");
        assertThat(narrow.lines().filter(line -> line.contains("  the same")))
                .isNotEmpty()
                .allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(80));
    }

    @Test
    void showsAValueThatIsNotFinite() throws IOException {
        ChecksumLog here = log(2);
        ChecksumLog reference = log(2);
        pass(here, 7, 1, Float.NEGATIVE_INFINITY);
        pass(reference, 7, 1, 2);

        Golden.assertSame(report(here, reference, Tolerance.FLOAT32), getClass(), "divergence-not-finite.txt");
    }

    @Test
    void showsAMissingEntryAndDroppedEntries() throws IOException {
        ChecksumLog passed = log(0);
        pass(passed, 7, 1, 2);
        ChecksumLog whole = timed(passed, 1);
        ChecksumOptions small = ChecksumOptions.DEFAULT.withCapacity(2);
        List<ChecksumEntry> firstTwo = new ArrayList<>(whole.list().subList(0, 2));

        Golden.assertSame(
                DivergenceReport.render(ChecksumLog.of(small, firstTwo, 1234).compareWith(whole, Tolerance.FLOAT32)),
                getClass(),
                "divergence-missing.txt");
    }

    @Test
    void showsThatThereIsNone() throws IOException {
        ChecksumLog here = log(4);
        ChecksumLog reference = log(4);
        pass(here, 7, 1, 2.0015f);
        pass(reference, 7, 1, 2);

        Golden.assertSame(report(here, reference, Tolerance.BFLOAT16), getClass(), "divergence-none.txt");
        assertThat(DivergenceReport.render(here.compareWith(here, Tolerance.EXACT)))
                .startsWith("NO DIVERGENCE: 8 entries with equal checksums\n");
    }

    @Test
    void twoEmptyLogsAreNoAgreement() {
        ChecksumComparison nothing = new ChecksumLog().compareWith(new ChecksumLog(), Tolerance.EXACT);

        assertThat(DivergenceReport.render(nothing)).startsWith("NOTHING COMPARED: both logs are empty\n");
    }

    @Test
    void beginsWithTheDivergenceAsItPrintsItself() {
        ChecksumLog here = log(0);
        ChecksumLog reference = log(0);
        pass(here, 0, 3, 1);
        pass(reference, 0, 3, 2);
        ChecksumComparison comparison = here.compareWith(reference, Tolerance.EXACT);

        assertThat(DivergenceReport.render(comparison))
                .startsWith(comparison.first().orElseThrow() + "\n");
    }

    @Test
    void isPrintableAsciiWithoutTrailingBlanksInEveryLocale() {
        ChecksumLog here = log(3);
        here.record("caf\u00e9 ", 0, 0, new float[] {Float.NaN, 1, 2});
        here.record("caf\u00e9 ", 0, 0, new float[] {1234.5f, 1, 2});
        ChecksumLog reference = log(3);
        reference.record("caf\u00e9 ", 0, 0, new float[] {1, 1, 2});
        ChecksumComparison comparison = here.compareWith(reference, Tolerance.of(0.125, 0.25));
        Locale before = Locale.getDefault();
        try {
            Locale.setDefault(Locale.forLanguageTag("ar-EG-u-nu-arab"));
            assertThat(DivergenceReport.render(comparison).split("\n", -1))
                    .allSatisfy(line -> assertThat(line).matches("|[ -~]*[!-~]"));
        } finally {
            Locale.setDefault(before);
        }
    }
}
