package org.brickprofiler.checksum;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.brickprofiler.checksum.Logs.entry;

import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.brickprofiler.checksum.ChecksumComparison.Pair;
import org.brickprofiler.checksum.Divergence.Kind;
import org.brickprofiler.checksum.Divergence.ValueError;
import org.brickprofiler.report.DivergenceReport;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class ChecksumComparisonTest {

    private static ChecksumComparison exactly(ChecksumLog here, ChecksumLog reference) {
        return here.compareWith(reference, Tolerance.EXACT);
    }

    @Spec("10.6")
    @Test
    void printsTheFirstDifferentChecksum() {
        ChecksumLog reference = Logs.of(entry("Embedding", -1, 0, 1), entry("RmsNorm", 2, 5, 0xABCDEF));
        ChecksumLog here = Logs.of(entry("Embedding", -1, 0, 1), entry("RmsNorm", 2, 5, 0x8000000000000001L));

        Divergence divergence = here.firstDivergenceFrom(reference).orElseThrow();

        assertThat(divergence)
                .hasToString("DIVERGENCE at 'RmsNorm' (layer 2, pos 5): "
                        + "expected 0x0000000000ABCDEF, got 0x8000000000000001");
        assertThat(divergence.kind()).isEqualTo(Kind.DIFFERENT);
        assertThat(here.firstDivergenceFrom(here)).isEmpty();
    }

    @Spec("10.4")
    @Test
    void theEarliestInThisLogIsTheFirst() {
        ChecksumLog reference = Logs.of(entry("a", 0, 0, 1), entry("b", 0, 0, 2), entry("c", 0, 0, 3));
        ChecksumLog here = Logs.of(entry("c", 0, 0, 33), entry("a", 0, 0, 1), entry("b", 0, 0, 22));

        ChecksumComparison comparison = exactly(here, reference);

        assertThat(comparison.first()).map(Divergence::name).contains("c");
        assertThat(comparison.before()).isEmpty();
        assertThat(comparison.compared()).isEqualTo(3);
        assertThat(comparison.equalHashes()).isEqualTo(1);
        assertThat(comparison.diverging()).isEqualTo(2);
        assertThat(comparison.comparedByHash()).isZero();
    }

    @Test
    void layerAndPositionTellEntriesApart() {
        ChecksumLog reference = Logs.of(entry("a", 0, 0, 1), entry("a", 1, 0, 2), entry("a", 0, 1, 3));
        ChecksumLog here = Logs.of(entry("a", 0, 1, 3), entry("a", 1, 0, 2), entry("a", 0, 0, 1));

        assertThat(exactly(here, reference).matches()).isTrue();
    }

    @Test
    void repeatsAreComparedInTheirOrder() {
        ChecksumLog reference = Logs.of(entry("a", 0, 0, 1), entry("a", 0, 0, 2), entry("a", 0, 0, 3));
        ChecksumLog here = Logs.of(entry("a", 0, 0, 1), entry("a", 0, 0, 3), entry("a", 0, 0, 3));

        Divergence divergence = here.firstDivergenceFrom(reference).orElseThrow();

        assertThat(divergence.repeat()).isEqualTo(1);
        assertThat(divergence.reference()).contains(entry("a", 0, 0, 2));
        assertThat(divergence.here()).contains(entry("a", 0, 0, 3));
    }

    @Spec("10.4")
    @Test
    void entriesOfOneSideAreReported() {
        ChecksumLog reference = Logs.of(entry("a", 0, 0, 1), entry("b", 0, 0, 2), entry("a", 0, 0, 3));
        ChecksumLog here = Logs.of(entry("a", 0, 0, 1), entry("x", 7, 8, 9));

        ChecksumComparison comparison = exactly(here, reference);

        assertThat(comparison.here().only())
                .extracting(Divergence::toString)
                .containsExactly("DIVERGENCE at 'x' (layer 7, pos 8): expected nothing, got 0x0000000000000009");
        assertThat(comparison.reference().only())
                .extracting(Divergence::toString)
                .containsExactly(
                        "DIVERGENCE at 'b' (layer 0, pos 0): expected 0x0000000000000002, got nothing",
                        "DIVERGENCE at 'a' (layer 0, pos 0): expected 0x0000000000000003, got nothing");
        assertThat(comparison.reference().only()).extracting(Divergence::repeat).containsExactly(0, 1);
        assertThat(comparison.reference().only()).extracting(Divergence::kind).containsOnly(Kind.MISSING_HERE);
        assertThat(comparison.compared()).isEqualTo(1);
        assertThat(comparison.first()).map(Divergence::name).contains("b");
        assertThat(comparison.first()).map(Divergence::position).contains(0);

        ChecksumComparison other =
                exactly(Logs.of(entry("b", 0, 0, 2), entry("a", 0, 0, 1)), Logs.of(entry("a", 0, 0, 1)));
        assertThat(other.first()).map(Divergence::kind).contains(Kind.MISSING_IN_REFERENCE);
        assertThat(other.first()).map(Divergence::name).contains("b");
    }

    @Test
    void aMissingEntryFollowsTheEntriesThatPrecedeItInTheReference() {
        ChecksumEntry a = entry("a", 0, 0, 1);
        ChecksumEntry b = entry("b", 0, 0, 2);
        ChecksumEntry c = entry("c", 0, 0, 3);
        ChecksumLog reference = Logs.of(a, b, c);

        assertThat(exactly(Logs.of(b, c), reference).first())
                .map(Divergence::name)
                .contains("a");
        assertThat(exactly(Logs.of(entry("b", 0, 0, 9), c), reference).first())
                .map(Divergence::name)
                .contains("a");
        assertThat(exactly(Logs.of(entry("a", 0, 0, 9), c), reference).first())
                .map(Divergence::kind)
                .contains(Kind.DIFFERENT);
        assertThat(exactly(Logs.of(a, entry("c", 0, 0, 9)), reference).first())
                .map(Divergence::name)
                .contains("b");
        assertThat(exactly(Logs.of(a, b), reference).first())
                .map(Divergence::name)
                .contains("c");
        // Here a came after c: b, which the reference executed after a, would have come after both.
        assertThat(exactly(Logs.of(entry("c", 0, 0, 9), a), reference).first())
                .map(Divergence::name)
                .contains("c");
        // Here a came last: the missing entry was executed after a and b, and so after c, regardless of its neighbours.
        ChecksumLog longer = Logs.of(a, b, entry("missing", 0, 0, 7), c);
        assertThat(exactly(Logs.of(b, entry("c", 0, 0, 9), a), longer).first())
                .map(Divergence::name)
                .contains("c");
        assertThat(exactly(Logs.of(), reference).first()).map(Divergence::name).contains("a");
        assertThat(exactly(Logs.of(), Logs.of()).matches()).isTrue();
    }

    @Test
    void keepsTheLastMatchesBeforeTheDivergence() {
        List<ChecksumEntry> five = List.of(
                entry("a", 0, 0, 1),
                entry("b", 0, 0, 2),
                entry("c", 0, 0, 3),
                entry("d", 0, 0, 4),
                entry("e", 0, 0, 5));
        ChecksumLog here = Logs.of(five.get(0), five.get(1), five.get(2), five.get(3), entry("e", 0, 0, 55));

        assertThat(exactly(here, Logs.of(five)).before())
                .containsExactly(
                        new Pair(five.get(1), five.get(1)),
                        new Pair(five.get(2), five.get(2)),
                        new Pair(five.get(3), five.get(3)));
        assertThat(exactly(Logs.of(five.subList(0, 2)), Logs.of(five)).before())
                .extracting(match -> match.here().name())
                .containsExactly("a", "b");
        assertThat(exactly(Logs.of(five), Logs.of(five)).before())
                .extracting(match -> match.reference().name())
                .containsExactly("c", "d", "e");
    }

    @Test
    void carriesTheTimesOfBothSides() {
        ChecksumLog here = new ChecksumLog();
        ChecksumLog reference = new ChecksumLog();
        here.record("a", 0, 0, new float[] {1});
        reference.record("a", 0, 0, new float[] {2});
        reference.record("b", 0, 0, new float[] {2});

        ChecksumComparison comparison = exactly(Logs.timed(here, name -> 200), Logs.timed(reference, name -> 100));

        assertThat(comparison.first()).map(Divergence::elapsedNs).contains(OptionalLong.of(200));
        assertThat(comparison.first()).map(Divergence::referenceElapsedNs).contains(OptionalLong.of(100));
        Divergence missing = comparison.reference().only().get(0);
        assertThat(missing.elapsedNs()).isEmpty();
        assertThat(missing.referenceElapsedNs()).hasValue(100);
    }

    @Test
    void namesThePlaceOfAValueThatIsNotFinite() {
        ChecksumLog here = new ChecksumLog();
        ChecksumLog reference = new ChecksumLog();
        here.record("ok", 0, 0, new float[] {1});
        reference.record("ok", 0, 0, new float[] {1});
        here.record("Softmax", 0, 0, new float[] {Float.NaN, 1, Float.NaN});
        reference.record("Softmax", 0, 0, new float[] {0, 1, Float.NEGATIVE_INFINITY});

        ChecksumComparison comparison = exactly(here, reference);
        Divergence divergence = comparison.first().orElseThrow();

        assertThat(divergence.kind()).isEqualTo(Kind.NON_FINITE);
        assertThat(divergence.toString())
                .startsWith("DIVERGENCE at 'Softmax' (layer 0, pos 0): expected 0x")
                .endsWith(" (expected 0 NaN and 1 infinite, got 2 NaN and 0 infinite)");
        assertThat(comparison.here().nonFinite()).isOne();
        assertThat(comparison.here().firstNonFinite()).map(ChecksumEntry::name).contains("Softmax");
        assertThat(exactly(here, here).matches()).isTrue();
    }

    @Test
    void aDifferentChecksumWithEquallyManyNansIsADifferentChecksum() {
        ChecksumLog here = Logs.sampled(Float.NaN, 1);
        ChecksumLog reference = Logs.sampled(Float.NaN, 2);

        assertThat(here.firstDivergenceFrom(reference)).map(Divergence::kind).contains(Kind.DIFFERENT);
    }

    @Spec("10.5")
    @Test
    void acceptsValuesWithinTheTolerance() {
        ChecksumLog reference = Logs.sampled(100, 0, Float.NaN, Float.NEGATIVE_INFINITY, -0.0f, 4);
        ChecksumLog here =
                Logs.sampled(101, 0.5f, Float.intBitsToFloat(0x7fc00001), Float.NEGATIVE_INFINITY, 0.0f, 3.75f);

        ChecksumComparison comparison = here.compareWith(reference, Tolerance.of(0.5, 0.01));

        assertThat(comparison.matches()).isTrue();
        assertThat(comparison.equalHashes()).isZero();
        assertThat(comparison.compared()).isOne();
        assertThat(comparison.largestAbsolute()).map(ValueError::index).contains(0);
        assertThat(comparison.largestAbsolute()).map(ValueError::absolute).contains(1.0);
        assertThat(comparison.largestRelative()).map(ValueError::index).contains(5);
        assertThat(comparison.largestRelative()).map(ValueError::relative).contains(0.0625);
        assertThat(here.firstDivergenceFrom(reference)).isPresent();
    }

    @Test
    void namesTheValueFarthestOutsideTheTolerance() {
        ChecksumLog reference = Logs.sampled(1, 10, 1000, 1);
        ChecksumLog here = Logs.sampled(1, 13, 1005, 2);

        Divergence divergence =
                here.compareWith(reference, Tolerance.of(0.5, 0.01)).first().orElseThrow();

        assertThat(divergence.kind()).isEqualTo(Kind.OUT_OF_TOLERANCE);
        assertThat(divergence.worst()).map(ValueError::index).contains(1);
        assertThat(divergence.toString()).endsWith(" (float 1: expected 10.0, got 13.0)");
    }

    @Test
    void findsADifferenceThatTheChecksumDoesNotCover() {
        float[] output = Logs.floats(1000, 0);
        ChecksumLog reference = Logs.sampled(output);
        output[999] = 1500;
        ChecksumLog here = Logs.sampled(output);

        assertThat(here.firstDivergenceFrom(reference)).isEmpty();
        ChecksumComparison comparison = here.compareWith(reference, Tolerance.BFLOAT16);
        assertThat(comparison.first().orElseThrow().worst())
                .map(ValueError::index)
                .contains(999);
        assertThat(comparison.equalHashes()).isOne();
        assertThat(comparison.diverging()).isOne();
    }

    @Spec("10.5")
    @Test
    void aValueThatIsFiniteOnOneSideOnlyDivergesAtAnyTolerance() {
        Tolerance wide = Tolerance.of(1e30, 1e30);
        ChecksumLog one = Logs.sampled(1, 2);

        for (float other : new float[] {Float.NaN, Float.POSITIVE_INFINITY, Float.NEGATIVE_INFINITY}) {
            assertThat(Logs.sampled(1, other).compareWith(one, wide).first())
                    .map(Divergence::kind)
                    .contains(Kind.NON_FINITE);
            assertThat(one.compareWith(Logs.sampled(1, other), wide).first().orElseThrow())
                    .asString()
                    .endsWith("(float 1: expected " + other + ", got 2.0)");
        }
        assertThat(Logs.sampled(Float.POSITIVE_INFINITY)
                        .compareWith(Logs.sampled(Float.NEGATIVE_INFINITY), wide)
                        .matches())
                .isFalse();
    }

    @Test
    void aNanBetweenTheSamplesIsFoundByItsCount() {
        float[] output = Logs.floats(40, 0);
        ChecksumLog reference = Logs.sampled(output);
        output[1] = Float.NaN;

        Divergence divergence = Logs.sampled(output)
                .compareWith(reference, Tolerance.FLOAT32)
                .first()
                .orElseThrow();

        assertThat(divergence.kind()).isEqualTo(Kind.NON_FINITE);
        assertThat(divergence.toString()).endsWith("(expected 0 NaN and 0 infinite, got 1 NaN and 0 infinite)");
    }

    /** Of floats that are not samples, an entry has only the number of infinities. */
    @Spec("10.5")
    @Test
    void anInfinityBetweenTheSamplesIsComparedByNumberAndTheReportSaysSo() {
        float[] output = Logs.floats(40, 0);
        output[1] = Float.POSITIVE_INFINITY;
        ChecksumLog reference = Logs.sampled(output);
        output[1] = Float.NEGATIVE_INFINITY;
        ChecksumLog here = Logs.sampled(output);
        ChecksumComparison comparison = here.compareWith(reference, Tolerance.FLOAT32);

        assertThat(comparison.matches()).isTrue();
        assertThat(comparison.nonFiniteByNumber()).isOne();
        assertThat(DivergenceReport.render(comparison))
                .contains("1 entry with NaN or infinite values that neither samples nor equal checksums cover");
        assertThat(here.compareWith(here, Tolerance.FLOAT32).nonFiniteByNumber())
                .as("equal checksums of all floats")
                .isZero();
        assertThat(Logs.sampled(1, Float.NaN)
                        .compareWith(Logs.sampled(1.0000001f, Float.NaN), Tolerance.FLOAT32)
                        .nonFiniteByNumber())
                .as("all floats are samples")
                .isZero();
    }

    @Test
    void samplesOfOutputsOfDifferentLengthAreNotCompared() {
        ChecksumComparison comparison = Logs.sampled(1, 2, 3).compareWith(Logs.sampled(1, 2), Tolerance.FLOAT16);

        assertThat(comparison.first()).map(Divergence::kind).contains(Kind.DIFFERENT_LENGTH);
        assertThat(comparison.first().orElseThrow().toString()).endsWith("(expected 2 floats, got 3 floats)");
        assertThat(comparison.largestAbsolute()).isEmpty();
    }

    /** The checksum covers the first 64 floats of both. */
    @Spec("10.5")
    @Test
    void outputsOfDifferentLengthDivergeIfTheirChecksumsAreEqual() {
        ChecksumLog here = new ChecksumLog();
        ChecksumLog reference = new ChecksumLog();
        here.record("Embedding", 0, 0, new float[64]);
        reference.record("Embedding", 0, 0, new float[128]);

        for (Tolerance tolerance : List.of(Tolerance.EXACT, Tolerance.FLOAT32)) {
            ChecksumComparison comparison = here.compareWith(reference, tolerance);

            assertThat(comparison.matches()).isFalse();
            assertThat(comparison.equalHashes()).isEqualTo(1);
            assertThat(comparison.first().orElseThrow().kind()).isEqualTo(Kind.DIFFERENT_LENGTH);
            assertThat(comparison.first().orElseThrow().toString()).endsWith("(expected 128 floats, got 64 floats)");
        }
    }

    @Test
    void withoutSamplesATolerantComparisonFallsBackToChecksumsAndSaysSo() {
        ChecksumLog sampled = Logs.sampled(1, 2);
        ChecksumLog plain = new ChecksumLog();
        plain.record("RmsNorm", 0, 0, new float[] {1, 2});
        ChecksumLog near = new ChecksumLog();
        near.record("RmsNorm", 0, 0, new float[] {1, 2.0000002f});

        ChecksumComparison same = plain.compareWith(sampled, Tolerance.FLOAT32);
        assertThat(same.matches()).isTrue();
        assertThat(same.comparedByHash()).isOne();
        ChecksumComparison different = near.compareWith(plain, Tolerance.FLOAT32);
        assertThat(different.first()).map(Divergence::kind).contains(Kind.DIFFERENT);
        assertThat(different.comparedByHash()).isOne();
        assertThat(sampled.compareWith(sampled, Tolerance.FLOAT32).comparedByHash())
                .isZero();
        assertThat(sampled.compareWith(sampled, Tolerance.EXACT).largestAbsolute())
                .isEmpty();
    }

    @Spec("10.5")
    @Test
    void refusesLogsThatCannotBeCompared() {
        ChecksumLog whole = new ChecksumLog(ChecksumOptions.DEFAULT.withScope(ChecksumOptions.Scope.WHOLE));
        ChecksumLog eight = new ChecksumLog(ChecksumOptions.DEFAULT.withSamples(8));

        assertThatThrownBy(() -> whole.firstDivergenceFrom(eight))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("WHOLE")
                .hasMessageContaining("FIRST_64");
        assertThatThrownBy(() -> eight.compareWith(Logs.sampled(1), Tolerance.FLOAT32))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("8 samples")
                .hasMessageContaining("16");
        assertThat(eight.firstDivergenceFrom(Logs.sampled(1))).isPresent();
    }

    @Test
    void droppedEntriesAreCountedOnBothSides() {
        ChecksumLog here = ChecksumLog.of(ChecksumOptions.DEFAULT, List.of(), 3);
        ChecksumLog reference = ChecksumLog.of(ChecksumOptions.DEFAULT, List.of(), 4);

        assertThat(exactly(here, reference).here().dropped()).isEqualTo(3);
        assertThat(exactly(here, reference).reference().dropped()).isEqualTo(4);
    }

    @Test
    void refusesADivergenceWithoutItsEntries() {
        ChecksumEntry entry =
                ChecksumEntry.builder("a", 0, 0).hash(1).floats(1, 0, 0).build();
        var present = Optional.of(entry);
        var absent = Optional.<ChecksumEntry>empty();
        for (Kind kind : Kind.values()) {
            assertThatThrownBy(() -> new Divergence(kind, 0, absent, absent, Optional.empty()))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(kind.name());
        }
        assertThatThrownBy(() -> new Divergence(Kind.MISSING_HERE, 0, present, present, Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** The checksum covers the first 64 floats; the reference has a NaN behind them. */
    @Spec({"10.2", "10.5"})
    @Test
    void aNanThatTheChecksumDoesNotCoverDiverges() {
        ChecksumLog here = new ChecksumLog();
        ChecksumLog reference = new ChecksumLog();
        float[] output = new float[4_096];
        here.record("LmHead", 0, 0, output);
        output[4_000] = Float.NaN;
        reference.record("LmHead", 0, 0, output);

        assertThat(here.list().get(0).hash()).isEqualTo(reference.list().get(0).hash());
        assertThat(here.firstDivergenceFrom(reference).orElseThrow().kind()).isEqualTo(Divergence.Kind.NON_FINITE);
        assertThat(here.firstDivergenceFrom(here)).isEmpty();
        assertThat(reference.firstDivergenceFrom(reference)).isEmpty();
    }
}
