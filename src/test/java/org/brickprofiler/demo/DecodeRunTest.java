package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.junit.jupiter.api.Test;

class DecodeRunTest {

    private static final ModelConfig CONFIG = new ModelConfig(2, 32, 4, 2, 64, 100, 30);

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final AtomicInteger steps = new AtomicInteger();

    @Test
    void leavesTheWarmUpOutOfTheResults() {
        DecodeRun run = run(10, 20);

        assertThat(run.tokens()).isEqualTo(20);
        assertThat(run.snapshot().brick("Sampling").map(BrickStats::count)).contains(20L);
        assertThat(run.snapshot().brick("RmsNorm").map(BrickStats::count)).contains(20L * 5);
        assertThat(run.snapshot().totalNs()).isPositive().isLessThanOrEqualTo(run.wallNs());
        assertThat(run.tokensPerSec()).isEqualTo(20e9 / run.wallNs());
    }

    @Test
    void warmUpIsPartOfTheSequence() {
        assertThat(run(3, 9).firstTokens()).isEqualTo(run(0, 12).firstTokens().subList(3, 12));
    }

    @Test
    void tellsProgressOfEveryTokenAndKeepsAFew() {
        DecodeRun run = run(5, 25);

        assertThat(steps).hasValue(30);
        assertThat(run.firstTokens()).hasSize(DecodeRun.SHOWN_TOKENS);
        assertThat(run(0, 2).firstTokens()).hasSize(2);
    }

    private DecodeRun run(int warmup, int tokens) {
        DecodeProgress progress = new DecodeProgress() {
            @Override
            public void step() {
                steps.incrementAndGet();
            }

            @Override
            public void close() {}
        };
        try (Decoder decoder =
                new Decoder(Weights.random(CONFIG, 1), new Sampler(1, 1, 1), 2, Instruments.of(profiler))) {
            return DecodeRun.run(decoder, profiler, warmup, tokens, progress);
        }
    }
}
