package org.brickprofiler.demo;

import java.io.PrintWriter;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.RunFacts;
import org.brickprofiler.console.MachineWatch;
import org.brickprofiler.console.Style;
import org.brickprofiler.internal.base.Plural;
import org.brickprofiler.report.Findings;
import org.brickprofiler.report.TextReport;
import org.brickprofiler.spi.NanoClock;

/**
 * Decodes a number of tokens, each from the one before it.
 *
 * @param firstTokens a few of the first tokens after the warm-up
 * @param tokens number of tokens after the warm-up
 * @param wallNs time they took, ns
 * @param limit the limit of their number or time
 * @param snapshot the profile of the tokens after the warm-up
 */
record DecodeRun(List<Integer> firstTokens, int tokens, long wallNs, Limit limit, ProfileSnapshot snapshot) {

    /** The number of tokens that are kept for display. */
    static final int SHOWN_TOKENS = 12;

    /** The token that begins every sequence. */
    static final int BEGIN_OF_SEQUENCE = 0;

    /** The most columns of a line of findings, as in {@code brick report}. */
    private static final int FINDING_COLUMNS = 100;

    /**
     * The limit of decoding: a number of tokens or a time, whichever is reached first. The warm-up counts for neither.
     *
     * @param tokens most tokens, at least 1
     * @param ns time after which no further token is begun, ns; at least one is
     */
    record Limit(int tokens, long ns) {

        /** No limit of time. */
        static final long NO_TIME = Long.MAX_VALUE;

        /** Returns whether the limit is reached after a number of tokens and a time. */
        boolean isReached(int decoded, long elapsedNs) {
            return decoded >= tokens || (decoded > 0 && elapsedNs >= ns);
        }

        /** Returns which of the two limits ended a run. */
        String ending(int decoded) {
            return decoded >= tokens
                    ? "Ended by the number of tokens."
                    : String.format(
                            Locale.ROOT,
                            "Ended by the time limit of %s s, before %s; --tokens N alone sets no time limit.",
                            new BigDecimal(ns)
                                    .movePointLeft(9)
                                    .stripTrailingZeros()
                                    .toPlainString(),
                            Plural.of(tokens, "token"));
        }
    }

    /**
     * Runs a decoder.
     *
     * @param decoder a decoder that has decoded nothing yet
     * @param profiler its profiler; samples until the end of the warm-up are discarded
     * @param warmup number of tokens of the warm-up
     * @param limit the limit after the warm-up
     * @param clock the clock for the limit
     * @param progress follows every token, including those of the warm-up
     */
    static DecodeRun run(
            Decoder decoder,
            BrickProfiler profiler,
            int warmup,
            Limit limit,
            NanoClock clock,
            DecodeProgress progress) {
        int token = BEGIN_OF_SEQUENCE;
        for (int i = 0; i < warmup; i++) {
            token = decoder.decode(token);
            progress.step();
        }
        List<Integer> firstTokens = new ArrayList<>();
        profiler.reset();
        MachineWatch watch = MachineWatch.begin(MachineWatch.ROOT);
        progress.warmedUp();
        long startNs = clock.nanoTime();
        int decoded = 0;
        long wallNs = 0;
        while (!limit.isReached(decoded, wallNs)) {
            token = decoder.decode(token);
            if (decoded < SHOWN_TOKENS) {
                firstTokens.add(token);
            }
            progress.step();
            decoded++;
            wallNs = clock.nanoTime() - startNs;
        }
        profiler.setTokensPerSec(tokensPerSec(decoded, wallNs));
        ProfileSnapshot snapshot = profiler.snapshot();
        return new DecodeRun(
                List.copyOf(firstTokens), decoded, wallNs, limit, snapshot.withFacts(watch.seen(snapshot.facts())));
    }

    /** Returns this run with a more complete snapshot, and the figures of the machine of this one. */
    DecodeRun with(ProfileSnapshot known) {
        RunFacts facts = snapshot.facts();
        return new DecodeRun(
                firstTokens,
                tokens,
                wallNs,
                limit,
                known.withFacts(known.facts().withMachine(facts.machine(), facts.disturbances())));
    }

    /** Returns this run with measured figures of the machine. */
    DecodeRun withMachine(Map<String, Double> figures) {
        RunFacts facts = snapshot.facts();
        return new DecodeRun(
                firstTokens,
                tokens,
                wallNs,
                limit,
                snapshot.withFacts(facts.withMachine(union(facts.machine(), figures), facts.disturbances())));
    }

    private static Map<String, Double> union(Map<String, Double> first, Map<String, Double> second) {
        Map<String, Double> both = new TreeMap<>(first);
        both.putAll(second);
        return both;
    }

    /**
     * Prints the speed, the reason for the end, the first tokens and the distribution of the time.
     *
     * @param warmup number of tokens of the warm-up
     * @param isVerbose whether to account for the profile
     * @param note a line before the findings; empty for none
     * @param out the target
     */
    void print(int warmup, boolean isVerbose, String note, PrintWriter out) {
        String shown = firstTokens.stream().map(String::valueOf).collect(Collectors.joining(" "));
        out.printf(
                Locale.ROOT,
                "%s in %.2f s: %.1f tokens/s, after %s of warm-up that count for nothing%n",
                Plural.of(tokens, "token"),
                wallNs / 1e9,
                tokensPerSec(),
                Plural.of(warmup, "token"));
        out.println(limit.ending(tokens));
        out.println("First tokens: " + shown + (tokens > firstTokens.size() ? " ..." : ""));
        out.println();
        printReport(snapshot, isVerbose, note, out);
    }

    /**
     * Prints the report of a profile, as {@code brick report} does.
     *
     * @param snapshot the profile
     * @param isVerbose whether to account for the profile
     * @param note a line before the findings; empty for none
     * @param out the target
     */
    static void printReport(ProfileSnapshot snapshot, boolean isVerbose, String note, PrintWriter out) {
        Style style = Style.ofOutput();
        out.print(style.applied(TextReport.render(snapshot, style.columns(), isVerbose)
                + (note.isEmpty() ? "" : "\n" + note + "\n")
                + Findings.text(Findings.of(snapshot), Math.min(style.columns(), FINDING_COLUMNS))));
    }

    /** Returns the tokens per second of wall time. */
    double tokensPerSec() {
        return tokensPerSec(tokens, wallNs);
    }

    private static double tokensPerSec(int tokens, long wallNs) {
        return tokens * 1e9 / Math.max(1, wallNs);
    }
}
