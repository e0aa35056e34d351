package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.Divergence;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Checksums of a decoder's bricks find the one that was tampered with. */
class ChecksumRunnerTest {

    private static final ModelConfig CONFIG = new ModelConfig(2, 32, 4, 2, 48, 100, 8);
    private static final int TOKENS = 3;

    private static BrickProfiler decode(UnaryOperator<Pass> fault) {
        BrickProfiler profiler = BrickProfiler.enabled();
        Decoder.Instruments instruments =
                new Decoder.Instruments(new PassRunner.Checksummed(profiler), TiledProduct.Probe.NONE, fault);
        try (Decoder decoder = new Decoder(Weights.random(CONFIG, 1), new Sampler(0, 1, 1), 1, instruments)) {
            int token = 0;
            for (int i = 0; i < TOKENS; i++) {
                token = decoder.decode(token);
            }
        }
        return profiler;
    }

    private static Stream<Perturbation> everyBrickOfTwoLayers() {
        List<Perturbation> all = new ArrayList<>();
        for (int layer = 0; layer < CONFIG.layers(); layer++) {
            int[] seen = new int[BrickId.values().length];
            for (BrickId brick : bricksOfALayer()) {
                seen[List.of(BrickId.values()).indexOf(brick)]++;
                all.add(new Perturbation(
                        layer, brick, seen[List.of(BrickId.values()).indexOf(brick)]));
            }
        }
        assertThat(all).hasSize(30);
        return all.stream();
    }

    private static List<BrickId> bricksOfALayer() {
        List<BrickId> bricks = new ArrayList<>();
        decode(pass -> {
            pass.layers().get(0).forEach(step -> bricks.add(step.brick()));
            return pass;
        });
        return bricks;
    }

    @ParameterizedTest
    @MethodSource("everyBrickOfTwoLayers")
    void theFirstDivergenceIsTheBrickThatWasTamperedWith(Perturbation fault) {
        ChecksumLog reference = decode(UnaryOperator.identity()).checksums();
        ChecksumLog tampered = decode(pass -> fault.appliedTo(pass, 0)).checksums();

        Divergence found = tampered.firstDivergenceFrom(reference).orElseThrow();

        assertThat(found.kind()).isEqualTo(Divergence.Kind.DIFFERENT);
        assertThat(found.name()).isEqualTo(fault.brick().displayName());
        assertThat(found.layer()).isEqualTo(fault.layer());
        assertThat(found.position()).isZero();
        assertThat(found.repeat()).isEqualTo(fault.occurrence() - 1);
        assertThat(found.elapsedNs()).isPresent();
        assertThat(found.referenceElapsedNs()).isPresent();
    }

    @Test
    void aFaultBeginsWithThePassThatItIsToBeginWith() {
        Perturbation fault = new Perturbation(1, BrickId.ACTIVATION, 1);
        ChecksumLog reference = decode(UnaryOperator.identity()).checksums();
        ChecksumLog tampered = decode(pass -> fault.appliedTo(pass, 2)).checksums();

        assertThat(tampered.firstDivergenceFrom(reference)).hasValueSatisfying(found -> {
            assertThat(found.name()).isEqualTo("Activation");
            assertThat(found.position()).isEqualTo(2);
        });
    }

    @Test
    void twoRunsOfTheSameModelAgree() {
        assertThat(decode(UnaryOperator.identity())
                        .checksums()
                        .firstDivergenceFrom(decode(UnaryOperator.identity()).checksums()))
                .isEmpty();
    }

    @Test
    void everyBrickHasAnEntryWithItsPlaceAndItsTime() {
        BrickProfiler profiler = decode(UnaryOperator.identity());

        List<ChecksumEntry> entries = profiler.checksums().list();
        assertThat(entries).hasSize(TOKENS * (1 + 2 * 15 + 3));
        assertThat(entries.get(0).name()).isEqualTo("Embedding");
        assertThat(entries.get(0).layer()).isEqualTo(ChecksumEntry.NO_LAYER);
        assertThat(entries.get(1).layer()).isZero();
        assertThat(IntStream.range(0, TOKENS).map(i -> entries.get(34 * i).position()))
                .containsExactly(0, 1, 2);
        assertThat(entries.stream()
                        .mapToLong(entry -> entry.elapsedNs().orElseThrow())
                        .sum())
                .as("each time is that of the brick's own sample")
                .isEqualTo(profiler.totalNs());
    }

    @ParameterizedTest
    @CsvSource({"0:RmsNorm, 0, RMS_NORM, 1", "11:RmsNorm#2, 11, RMS_NORM, 2", "1:Qkv, 1, QKV_PROJECTION, 1"})
    void aFaultIsToldByLayerAndBrick(String text, int layer, BrickId brick, int occurrence) {
        assertThat(Perturbation.parse(text)).isEqualTo(new Perturbation(layer, brick, occurrence));
    }

    @ParameterizedTest
    @CsvSource({
        "RmsNorm, is not LAYER:BRICK",
        ":RmsNorm, :RmsNorm",
        "1:, 1:",
        "-1:RmsNorm, -1:RmsNorm",
        "1:RmsNorm#, 1:RmsNorm#",
        "1:mlp, no brick"
    })
    void aFaultThatMakesNoSenseIsRefused(String text, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Perturbation.parse(text))
                .withMessageContaining(reason);
    }

    @ParameterizedTest
    @CsvSource({
        "2:RmsNorm, no layer 2",
        "1:RmsNorm#3, 2 bricks RmsNorm",
        "1:RmsNorm#0, 2 bricks RmsNorm",
        "0:LmHead, 0 bricks LmHead"
    })
    void aFaultThatDoesNotFitTheModelIsRefused(String text, String reason) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> decode(pass -> Perturbation.parse(text).appliedTo(pass, 0)))
                .withMessageContaining(reason);
    }
}
