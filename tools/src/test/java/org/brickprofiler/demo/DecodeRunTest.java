package org.brickprofiler.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.FakeClock;
import org.junit.jupiter.api.Test;

class DecodeRunTest {

    private static final ModelConfig CONFIG = new ModelConfig(2, 32, 4, 2, 64, 100, 30);

    private final BrickProfiler profiler = BrickProfiler.enabled();
    private final AtomicInteger steps = new AtomicInteger();
    private final FakeClock clock = new FakeClock();

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

    @Test
    void theNumberOfTokensEndsIt() {
        DecodeRun run = timed(2, new DecodeRun.Limit(5, 51), 10);

        assertThat(run.tokens()).isEqualTo(5);
        assertThat(run.wallNs()).isEqualTo(50);
        assertThat(printed(run)).contains("5 tokens in 0.00 s", "\nEnded by the number of tokens.\n");
    }

    @Test
    void theTimeEndsItAndTheWarmUpIsNoPartOfIt() {
        DecodeRun run = timed(20, new DecodeRun.Limit(10, 2_500_000_000L), 1_000_000_000);

        assertThat(run.tokens()).isEqualTo(3);
        assertThat(run.firstTokens()).hasSize(3);
        assertThat(run.snapshot().brick("Sampling").map(BrickStats::count)).contains(3L);
        assertThat(steps).hasValue(23);
        assertThat(printed(run))
                .contains("3 tokens in 3.00 s: 1.0 tokens/s")
                .contains(
                        "\nEnded by the time limit of 2.5 s, before 10 tokens; --tokens N alone sets no time limit.\n");
    }

    @Test
    void atLeastOneTokenIsDecoded() {
        assertThat(timed(0, new DecodeRun.Limit(10, 1), 1_000).tokens()).isEqualTo(1);
    }

    @Test
    void theAccountIsPrintedOnRequestOnly() {
        DecodeRun run = run(0, 3);
        assertThat(printed(run, true)).contains("\n  taken  ", "\n  threads  ");
        assertThat(printed(run, false)).contains("\n  brick time  ").doesNotContain("\n  taken  ", "\n  threads  ");
        assertThat(printed(run, false)).containsSubsequence("\n\nA note.\n", "\nFindings\n");
    }

    private static String printed(DecodeRun run) {
        return printed(run, false);
    }

    private static String printed(DecodeRun run, boolean isVerbose) {
        StringWriter text = new StringWriter();
        run.print(0, isVerbose, "A note.", new PrintWriter(text));
        return text.toString().replace(System.lineSeparator(), "\n");
    }

    private DecodeRun run(int warmup, int tokens) {
        return run(warmup, new DecodeRun.Limit(tokens, DecodeRun.Limit.NO_TIME), NanoClock.SYSTEM, 0);
    }

    /** Makes a run in which each token, also of the warm-up, takes {@code tokenNs}. */
    private DecodeRun timed(int warmup, DecodeRun.Limit limit, long tokenNs) {
        return run(warmup, limit, clock, tokenNs);
    }

    private DecodeRun run(int warmup, DecodeRun.Limit limit, NanoClock time, long tokenNs) {
        DecodeProgress progress = new DecodeProgress() {
            @Override
            public void step() {
                steps.incrementAndGet();
                clock.advance(tokenNs);
            }

            @Override
            public void close() {}
        };
        try (Decoder decoder =
                new Decoder(Weights.random(CONFIG, 1), new Sampler(1, 1, 1), 2, Decoder.Instruments.of(profiler))) {
            return DecodeRun.run(decoder, profiler, warmup, limit, time, progress);
        }
    }
}
