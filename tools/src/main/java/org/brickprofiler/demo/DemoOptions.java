package org.brickprofiler.demo;

import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;
import org.brickprofiler.SyncMode;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of the demonstration. picocli fills the fields; the methods check them and build from them. */
final class DemoOptions {

    /** The slowest steps of each phase that {@code --slow} keeps. */
    static final int SLOW_STEPS = 8;

    private static final int MOST_THREADS = 256;

    /** With more threads than these, memory, not the processor, limits a decoder; a user may still ask for more. */
    private static final int MOST_DEFAULT_THREADS = 8;

    private static final int USUAL_TOKENS = 1_500;
    private static final double USUAL_SECONDS = 15;
    private static final int MOST_SECONDS = 1_000_000;
    private static final double NS_PER_S = 1e9;

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "Where to compute: cpu, cuda, cuda:N, opencl or opencl:N (${DEFAULT-VALUE}); brick devices lists "
                            + "the numbers. A device's results are compared with the processor's, and the costs of the sync "
                            + "modes with each other.")
    private String device = "cpu";

    @Option(names = "--layers", paramLabel = "N", description = "Layers (${DEFAULT-VALUE}).")
    private int layers = 12;

    @Option(names = "--dim", paramLabel = "N", description = "Width of the model (${DEFAULT-VALUE}).")
    private int dim = 512;

    @Option(names = "--heads", paramLabel = "N", description = "Query heads (${DEFAULT-VALUE}).")
    private int heads = 8;

    @Option(names = "--kv-heads", paramLabel = "N", description = "Key and value heads (${DEFAULT-VALUE}).")
    private int kvHeads = 4;

    @Option(names = "--ffn", paramLabel = "N", description = "Width of the feed-forward block (${DEFAULT-VALUE}).")
    private int ffnDim = 1408;

    @Option(names = "--vocab", paramLabel = "N", description = "Different tokens (${DEFAULT-VALUE}).")
    private int vocab = 16_000;

    @Option(
            names = "--tokens",
            paramLabel = "N",
            description = "Tokens to decode and measure (1500, or as many as the time allows).")
    private @Nullable Integer tokens;

    @Option(
            names = "--seconds",
            paramLabel = "X",
            description = "Time after which no further token is decoded (15; none if --tokens is given).")
    private @Nullable Double seconds;

    @Option(
            names = "--warmup",
            paramLabel = "N",
            description = "Tokens to decode before that, left out of the results (${DEFAULT-VALUE}).")
    private int warmup = 20;

    @Option(names = "--threads", paramLabel = "N", description = "Threads that compute (${DEFAULT-VALUE}).")
    private int threads = Math.min(MOST_DEFAULT_THREADS, Runtime.getRuntime().availableProcessors());

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "The same seed gives the same model and the same tokens (${DEFAULT-VALUE}).")
    private long seed = 42;

    @Option(
            names = "--temperature",
            paramLabel = "X",
            description = "How freely tokens are chosen; 0 always takes the likeliest (${DEFAULT-VALUE}).")
    private double temperature = 0.8;

    @Option(
            names = "--top-p",
            paramLabel = "X",
            description = "Choose among the likeliest tokens that reach this probability (${DEFAULT-VALUE}).")
    private double topP = 0.95;

    @Option(
            names = "--sync-mode",
            paramLabel = "MODE",
            description =
                    "When the profiler resolves pending measurements: ${COMPLETION-CANDIDATES} (${DEFAULT-VALUE}).")
    private SyncMode syncMode = SyncMode.DEFERRED;

    @Option(
            names = "--no-percentiles",
            negatable = true,
            description = "Record how the times are spread, or not (recorded).")
    private boolean percentiles = true;

    @Option(
            names = "--no-tiles",
            negatable = true,
            description = "Time the tiles of the matrix products, or not (timed).")
    private boolean tiles = true;

    @Option(
            names = {"-v", "--verbose"},
            description = "Print also the account: the period, the clock, and the cost of profiling.")
    private boolean isVerbose;

    @Option(
            names = "--check-roof",
            description = "Measure the limits of the machine briefly after the run, to notice that it has drifted.")
    private boolean checkRoof;

    @Option(
            names = "--json",
            paramLabel = "FILE",
            defaultValue = "${env:BRICK_PROFILER_OUT}",
            description = "Write the results as JSON (to the file that BRICK_PROFILER_OUT names, if it does).")
    private @Nullable Path json;

    @Option(names = "--html", paramLabel = "FILE", description = "Write the results as one page for a browser.")
    private @Nullable Path html;

    @Option(
            names = "--trace",
            paramLabel = "FILE",
            description = "Write a timeline: .pftrace for Perfetto, .json or .json.gz for Chrome.")
    private @Nullable Path trace;

    @Option(
            names = "--jfr",
            paramLabel = "FILE",
            description = "Write a flight recording with every step and every execution of a brick.")
    private @Nullable Path jfr;

    @Option(
            names = "--graph",
            paramLabel = "FILE",
            description = "Write the graph of one pass, as DOT, or as a tree if the name does not end so.")
    private @Nullable Path graph;

    @Option(
            names = "--checksums",
            paramLabel = "FILE",
            description = "Write a checksum of every brick's output, to compare two runs.")
    private @Nullable Path checksums;

    @Option(
            names = "--perturb",
            paramLabel = "LAYER:BRICK",
            description = "Change one value of that brick's output after the warm-up; LAYER:BRICK#2 is the second "
                    + "such brick of the layer.")
    private @Nullable String perturb;

    @Option(
            names = "--waste",
            paramLabel = "BRICK=PERCENT",
            description = "Waste so much of that brick's time beside it, in every layer, for a comparison to find.")
    private @Nullable String waste;

    @Option(
            names = "--slow",
            paramLabel = "FILE",
            description = "Write a timeline of the " + SLOW_STEPS + " slowest steps of each phase, each explained by a "
                    + "comparison with typical steps of its size.")
    private @Nullable Path slow;

    @Option(
            names = "--calibrate",
            description = "Measure the cost of timing a brick afterwards, for brick report --net.")
    private boolean calibrate;

    /** Returns whether to measure the cost of timing a brick. */
    boolean calibrate() {
        return calibrate;
    }

    /**
     * Checks the numbers and makes the shape of the model from them.
     *
     * @throws IllegalArgumentException when a number makes no sense; the message names it
     */
    ModelConfig model() {
        ModelConfig.requireInRange("tokens", limit().tokens(), 1, ModelConfig.LARGEST);
        ModelConfig.requireInRange("warmup", warmup, 0, ModelConfig.LARGEST);
        ModelConfig.requireInRange("threads", threads, 1, MOST_THREADS);
        return model(limit().tokens() + warmup);
    }

    /**
     * Returns the device to compute on.
     *
     * @return empty for the processor
     * @throws IllegalArgumentException if there is no such kind of device, or a device cannot use an option that is set
     */
    Optional<DeviceChoice> device() {
        if (device.equals("cpu")) {
            return Optional.empty();
        }
        Optional<DeviceChoice> choice = DeviceChoice.parse(device);
        if (choice.isEmpty()) {
            throw new IllegalArgumentException(
                    "--device '" + device + "' is not cpu, cuda, cuda:N, opencl or opencl:N");
        }
        if (calibrate
                || checkRoof
                || Stream.of(trace, slow, jfr, graph, checksums, perturb, waste).anyMatch(option -> option != null)) {
            throw new IllegalArgumentException("--device " + device
                    + " excludes --trace, --slow, --jfr, --graph, --checksums, --perturb, --waste, --calibrate and"
                    + " --check-roof");
        }
        return choice;
    }

    /**
     * Checks that no option is set that serving requests excludes.
     *
     * @throws IllegalArgumentException if one is set; the message names them
     */
    void requireServing() {
        boolean hasFile = Stream.of(jfr, graph, checksums, perturb, waste).anyMatch(option -> option != null);
        if (!device.equals("cpu") || tokens != null || seconds != null || hasFile || calibrate || checkRoof) {
            throw new IllegalArgumentException("--serve excludes --device, --tokens, --seconds, --jfr, --graph,"
                    + " --checksums, --perturb, --waste, --calibrate and --check-roof");
        }
        ModelConfig.requireInRange("threads", threads, 1, MOST_THREADS);
    }

    /**
     * Returns the shape of a model with sequences of a length.
     *
     * @throws IllegalArgumentException when a number makes no sense; the message names it
     */
    ModelConfig model(int positions) {
        return new ModelConfig(layers, dim, heads, kvHeads, ffnDim, vocab, positions);
    }

    /**
     * Makes the sampler.
     *
     * @throws IllegalArgumentException when a number is out of range; the message names it
     */
    Sampler sampler() {
        return sampler(seed);
    }

    /** Makes a sampler with another seed, as {@link #sampler()} does. */
    Sampler sampler(long otherSeed) {
        return new Sampler(temperature, topP, otherSeed);
    }

    /**
     * Returns the limit of decoding.
     *
     * @throws IllegalArgumentException when the time makes no sense; the message names it
     */
    DecodeRun.Limit limit() {
        if (seconds != null && !(seconds > 0 && seconds <= MOST_SECONDS)) {
            throw new IllegalArgumentException("seconds " + seconds + " is not above 0 and up to " + MOST_SECONDS);
        }
        long ns = DecodeRun.Limit.NO_TIME;
        if (seconds != null || tokens == null) {
            ns = Math.round((seconds == null ? USUAL_SECONDS : seconds) * NS_PER_S);
        }
        return new DecodeRun.Limit(tokens == null ? USUAL_TOKENS : tokens, ns);
    }

    int warmup() {
        return warmup;
    }

    int threads() {
        return threads;
    }

    long seed() {
        return seed;
    }

    SyncMode syncMode() {
        return syncMode;
    }

    boolean percentiles() {
        return percentiles;
    }

    boolean tiles() {
        return tiles;
    }

    boolean isVerbose() {
        return isVerbose;
    }

    boolean checksRoof() {
        return checkRoof;
    }

    @Nullable
    Path json() {
        return json;
    }

    @Nullable
    Path html() {
        return html;
    }

    @Nullable
    Path trace() {
        return trace;
    }

    @Nullable
    Path slow() {
        return slow;
    }

    @Nullable
    Path jfr() {
        return jfr;
    }

    @Nullable
    Path graph() {
        return graph;
    }

    @Nullable
    Path checksums() {
        return checksums;
    }

    /**
     * Returns the deliberate fault, if one is chosen.
     *
     * @throws IllegalArgumentException when it makes no sense; the message says why
     */
    Optional<Perturbation> perturbation() {
        return Optional.ofNullable(perturb).map(Perturbation::parse);
    }

    /**
     * Returns the deliberate waste of time, if one is chosen.
     *
     * @throws IllegalArgumentException when it makes no sense; the message says why
     */
    Optional<Slowdown> slowdown() {
        return Optional.ofNullable(waste).map(Slowdown::parse);
    }
}
