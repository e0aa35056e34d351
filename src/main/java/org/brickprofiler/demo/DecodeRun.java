package org.brickprofiler.demo;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.report.TextReport;

/**
 * Decodes a number of tokens, each from the one before it.
 *
 * @param firstTokens the first tokens after the warm-up, a few of them
 * @param tokens number of tokens after the warm-up
 * @param wallNs time they took, ns
 * @param snapshot what was recorded while they were decoded
 */
record DecodeRun(List<Integer> firstTokens, int tokens, long wallNs, ProfileSnapshot snapshot) {

    /** How many tokens are kept to be shown. */
    static final int SHOWN_TOKENS = 12;

    /** The token that begins every sequence. */
    static final int BEGIN_OF_SEQUENCE = 0;

    /**
     * Runs.
     *
     * @param decoder a decoder that has decoded nothing yet
     * @param profiler what watches it; what it knew is forgotten after the warm-up
     * @param warmup number of tokens to decode before anything counts
     * @param tokens number of tokens to decode after that
     * @param progress is told about every token, those of the warm-up included
     */
    static DecodeRun run(Decoder decoder, BrickProfiler profiler, int warmup, int tokens, DecodeProgress progress) {
        int token = BEGIN_OF_SEQUENCE;
        for (int i = 0; i < warmup; i++) {
            token = decoder.decode(token);
            progress.step();
        }
        List<Integer> firstTokens = new ArrayList<>();
        profiler.reset();
        progress.warmedUp();
        long startNs = System.nanoTime();
        for (int i = 0; i < tokens; i++) {
            token = decoder.decode(token);
            if (i < SHOWN_TOKENS) {
                firstTokens.add(token);
            }
            progress.step();
        }
        long wallNs = System.nanoTime() - startNs;
        return new DecodeRun(List.copyOf(firstTokens), tokens, wallNs, profiler.snapshot());
    }

    /**
     * Prints how fast it was, the first tokens and where the time went.
     *
     * @param warmup how many tokens were decoded before
     * @param out where to
     */
    void print(int warmup, PrintWriter out) {
        String shown = firstTokens.stream().map(String::valueOf).collect(Collectors.joining(" "));
        out.printf(
                Locale.ROOT,
                "%d tokens in %.2f s: %.1f tokens/s, after %d tokens of warm-up that count for nothing%n",
                tokens,
                wallNs / 1e9,
                tokensPerSec(),
                warmup);
        out.println("First tokens: " + shown + (tokens > firstTokens.size() ? " ..." : ""));
        out.println();
        out.println(TextReport.render(snapshot).stripTrailing());
    }

    /** Tokens per second of wall time. */
    double tokensPerSec() {
        return tokens * 1e9 / wallNs;
    }
}
