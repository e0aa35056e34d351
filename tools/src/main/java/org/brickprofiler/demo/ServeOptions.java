package org.brickprofiler.demo;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the demonstration that serves requests. picocli fills the fields; the methods check them. */
final class ServeOptions {

    private static final int MOST_REQUESTS = 100_000;
    private static final int MOST_SLOTS = 256;
    private static final double HIGHEST_RATE = 1e6;

    @Option(
            names = "--serve",
            description = "Serve requests with prompts of mixed length, instead of decoding one sequence.")
    private boolean serve;

    @Option(names = "--requests", paramLabel = "N", description = "With --serve: requests (60).")
    private @Nullable Integer requests;

    @Option(
            names = "--rate",
            paramLabel = "X",
            description = "With --serve: requests that arrive in a second, by a Poisson process (2).")
    private @Nullable Double rate;

    @Option(names = "--slots", paramLabel = "N", description = "With --serve: requests in a batch at most (4).")
    private @Nullable Integer slots;

    @Option(
            names = "--chunk",
            paramLabel = "N",
            description = "With --serve: tokens of prompts in a step at most, beside the decoding; without it a step "
                    + "processes one whole prompt, and the other requests wait.")
    private @Nullable Integer chunk;

    /**
     * The load of a service.
     *
     * @param requests number of requests
     * @param rate requests that arrive in a second
     * @param slots requests in a batch at most
     * @param chunk tokens of prompts in a step at most; 0 for whole prompts
     */
    record Load(int requests, double rate, int slots, int chunk) {}

    /**
     * Returns whether to serve requests.
     *
     * @throws IllegalArgumentException if an option is set that only serving uses
     */
    boolean serves() {
        if (!serve && (requests != null || rate != null || slots != null || chunk != null)) {
            throw new IllegalArgumentException("--requests, --rate, --slots and --chunk need --serve");
        }
        return serve;
    }

    /**
     * Checks the numbers.
     *
     * @throws IllegalArgumentException when a number makes no sense; the message names it
     */
    Load load() {
        double perSecond = rate == null ? 2 : rate;
        if (!(perSecond > 0 && perSecond <= HIGHEST_RATE)) {
            throw new IllegalArgumentException("rate " + perSecond + " is not above 0 and up to " + HIGHEST_RATE);
        }
        return new Load(
                inRange("requests", requests, 60, MOST_REQUESTS),
                perSecond,
                inRange("slots", slots, 4, MOST_SLOTS),
                chunk == null ? 0 : inRange("chunk", chunk, 0, ModelConfig.LARGEST));
    }

    private static int inRange(String what, @Nullable Integer given, int usual, int largest) {
        int value = given == null ? usual : given;
        ModelConfig.requireInRange(what, value, 1, largest);
        return value;
    }
}
