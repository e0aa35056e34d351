package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.SyncMode;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class DecoderTest {

    /** Large enough for every product to be split among threads. */
    private static final ModelConfig SPLIT = new ModelConfig(3, 128, 8, 2, 512, 3_000, 40);

    private static final int TOKENS = 40;

    @ParameterizedTest(name = "{0} layers, dim {1}, {2}/{3} heads, ffn {4}, vocabulary {5}, temperature {6}")
    @CsvSource({
        "1, 16, 2, 1, 32, 50, 0, 1, 1",
        "2, 64, 4, 4, 96, 300, 0, 1, 2",
        "2, 64, 8, 2, 160, 300, 0.8, 0.95, 3",
        "3, 48, 6, 3, 100, 257, 1.5, 1, 4",
        "4, 96, 4, 1, 224, 1000, 0.3, 0.5, 5",
        "1, 2, 1, 1, 1, 1, 1, 1, 6"
    })
    void agreesWithThePlainReference(
            int layers,
            int dim,
            int heads,
            int kvHeads,
            int ffn,
            int vocab,
            double temperature,
            double topP,
            long seed) {
        Weights weights = Weights.random(new ModelConfig(layers, dim, heads, kvHeads, ffn, vocab, TOKENS), seed);
        ReferenceDecoder reference = new ReferenceDecoder(weights, temperature, topP, seed);
        try (Decoder decoder =
                new Decoder(weights, new Sampler(temperature, topP, seed), 2, Decoder.Instruments.NONE)) {
            int token = 0;
            for (int i = 0; i < TOKENS; i++) {
                int expected = reference.decode(token);
                int actual = decoder.decode(token);
                float[] logits = decoder.logits();
                for (int t = 0; t < vocab; t++) {
                    assertThat((double) logits[t])
                            .as("pass %d", i)
                            .isCloseTo(reference.logits()[t], within(1e-4));
                }
                assertThat(actual).as("pass %d", i).isEqualTo(expected);
                token = actual;
            }
        }
    }

    @Test
    void tokensAreTheSameForAnyNumberOfThreads() {
        List<Integer> alone = tokens(1, Decoder.Instruments.NONE);

        assertThat(alone).hasSize(TOKENS);
        assertThat(tokens(2, Decoder.Instruments.NONE)).isEqualTo(alone);
        assertThat(tokens(3, Decoder.Instruments.NONE)).isEqualTo(alone);
    }

    @ParameterizedTest
    @EnumSource
    void tokensAreTheSameWithTheProfilerOnOffAndAbsent(SyncMode mode) {
        BrickProfiler on = BrickProfiler.builder().percentiles(true).build();
        on.enable();
        on.tiles().enable();
        on.setSyncMode(mode);
        BrickProfiler off = new BrickProfiler();
        off.setSyncMode(mode);
        List<Integer> absent = tokens(2, Decoder.Instruments.NONE);

        assertThat(tokens(2, Decoder.Instruments.of(on))).isEqualTo(absent);
        assertThat(tokens(2, Decoder.Instruments.of(off))).isEqualTo(absent);
        assertThat(on.totalNs()).isPositive();
        assertThat(off.allBrickStats()).isEmpty();
        assertThat(off.tiles().stats(TileLevel.MACRO).count()).isZero();
    }

    @Test
    void seedsOfModelAndSamplerMakeADifference() {
        assertThat(tokens(Weights.random(SPLIT, 1), 9)).isNotEqualTo(tokens(Weights.random(SPLIT, 2), 9));
        assertThat(tokens(Weights.random(SPLIT, 1), 9)).isNotEqualTo(tokens(Weights.random(SPLIT, 1), 10));
    }

    @Test
    void everyBrickIsCountedAsTheArchitectureHasIt() {
        BrickProfiler profiler = BrickProfiler.enabled();

        tokens(2, Decoder.Instruments.of(profiler));

        Formulas.countsPerPass(SPLIT.layers()).forEach((brick, count) -> {
            assertThat(profiler.brickStats(brick).count()).as(brick.name()).isEqualTo((long) TOKENS * count);
            assertThat(profiler.brickStats(brick).totalElements())
                    .as(brick.name())
                    .isEqualTo((long) TOKENS * count);
        });
        assertThat(profiler.allBrickStats())
                .hasSameSizeAs(Formulas.countsPerPass(SPLIT.layers()).keySet());
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(TOKENS * (2L * SPLIT.layers() + 1));
    }

    @ParameterizedTest
    @CsvSource({"1", "2", "3"})
    void tilesDoTheOperationsOfTheMatrices(int threads) {
        BrickProfiler profiler = BrickProfiler.enabled();
        profiler.tiles().enable();

        tokens(threads, Decoder.Instruments.of(profiler));

        long flops = TOKENS * Formulas.matrixFlopsPerPass(SPLIT);
        assertThat(profiler.tiles().stats(TileLevel.MACRO).totalFlops()).isEqualTo(flops);
        assertThat(profiler.tiles().stats(TileLevel.MIDI).totalFlops()).isEqualTo(flops);
        assertThat(profiler.tiles().stats(TileLevel.MIDI).arithmeticIntensity()).isBetween(0.45, 0.5);
    }

    @Test
    void brickTimeOfTheCallingThreadIsWithinTheWallTime() {
        BrickProfiler profiler = BrickProfiler.enabled();
        long startNs = System.nanoTime();

        tokens(2, Decoder.Instruments.of(profiler));

        long wallNs = System.nanoTime() - startNs;
        assertThat(profiler.totalNs()).isPositive().isLessThanOrEqualTo(wallNs);
        assertThat(profiler.snapshot().threads()).isEqualTo(1);
    }

    @Test
    void refusesATokenThatDoesNotExist() {
        try (Decoder decoder = decoder(1, Decoder.Instruments.NONE)) {
            assertThatThrownBy(() -> decoder.decode(-1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("token -1 is not within 0 to 2999");
            assertThatThrownBy(() -> decoder.decode(3_000))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("token 3000 is not within 0 to 2999");
        }
    }

    @Test
    void refusesMoreTokensThanTheCacheHolds() {
        try (Decoder decoder = decoder(1, Decoder.Instruments.NONE)) {
            for (int i = 0; i < SPLIT.maxSequence(); i++) {
                decoder.decode(i);
            }
            assertThatThrownBy(() -> decoder.decode(0))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessage("the KV cache is full after 40 positions");
        }
    }

    private static Decoder decoder(int threads, Decoder.Instruments instruments) {
        return new Decoder(Weights.random(SPLIT, 1), new Sampler(0.9, 0.9, 9), threads, instruments);
    }

    private static List<Integer> tokens(int threads, Decoder.Instruments instruments) {
        try (Decoder decoder = decoder(threads, instruments)) {
            return tokens(decoder);
        }
    }

    private static List<Integer> tokens(Weights weights, long samplerSeed) {
        try (Decoder decoder = new Decoder(weights, new Sampler(0.9, 0.9, samplerSeed), 2, Decoder.Instruments.NONE)) {
            return tokens(decoder);
        }
    }

    private static List<Integer> tokens(Decoder decoder) {
        List<Integer> tokens = new ArrayList<>();
        int token = 0;
        for (int i = 0; i < TOKENS; i++) {
            token = decoder.decode(token);
            tokens.add(token);
        }
        return tokens;
    }
}
