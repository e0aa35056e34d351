package org.brickprofiler.demo;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.checksum.Tolerance;

/**
 * The demonstration on a device: the same model as on the processor, whose results it must reproduce; then the
 * distribution of its time; then the cost of each way of watching it. One thread.
 */
final class DeviceDemo {

    /** The largest accepted difference of logits. A device adds the terms of a sum in another order. */
    private static final Tolerance TOLERANCE = Tolerance.of(1e-3, 1e-3);

    private static final int MOST_ROUNDS = 200;

    private final DemoOptions options;
    private final Decoder reference;
    private final PrintWriter out;

    /**
     * Prepares a run.
     *
     * @param options the options of the command line
     * @param reference a decoder that has decoded nothing yet
     * @param out the target of the results
     */
    DeviceDemo(DemoOptions options, Decoder reference, PrintWriter out) {
        this.options = options;
        this.reference = reference;
        this.out = out;
    }

    /**
     * Compares, profiles and measures the costs, and prints all results.
     *
     * @param choice the device
     * @param progress follows the comparison, most of whose time the processor takes
     * @return the profiled run
     * @throws DeviceFailure when the device refuses, or computes another result
     */
    DecodeRun run(DeviceChoice choice, Supplier<DecodeProgress> progress) {
        try (ComputeDevice device = choice.open()) {
            out.printf(Locale.ROOT, "Device: %s #%d%n", device.stream().deviceName(), choice.number());
            DeviceDecoder decoder = new DeviceDecoder(device, reference.weights());
            int passes;
            try (DecodeProgress follows = progress.get()) {
                passes = compare(decoder, follows);
            }
            DecodeRun run = profile(decoder, device, passes);
            run.print(options.warmup(), options.isVerbose(), "", out);
            compareCosts(decoder, device, passes - 1);
            out.flush();
            return run;
        }
    }

    // ---- the same results ----

    /**
     * Decodes on the device and on the processor, each pass from the reference's token; returns the number of passes.
     */
    private int compare(DeviceDecoder decoder, DecodeProgress progress) {
        BrickProfiler nobody = new BrickProfiler();
        Sampler sampler = options.sampler();
        float[] logits = new float[reference.config().vocab()];
        int passes = 0;
        int ties = 0;
        int token = DecodeRun.BEGIN_OF_SEQUENCE;
        long startNs = System.nanoTime();
        while (isToGoOn(passes, startNs)) {
            int position = passes++;
            if (position == options.warmup()) {
                startNs = System.nanoTime();
            }
            decoder.decode(token, position, Watching.ABSENT, nobody);
            decoder.logits(logits);
            token = reference.decode(token);
            float[] expected = reference.logits();
            requireNear(logits, expected, position);
            int chosen = sampler.sample(logits);
            if (chosen != token) {
                requireTie(chosen, token, expected, position);
                ties++;
            }
            progress.step();
        }
        out.printf(
                Locale.ROOT,
                "The same as on the processor: %d passes, all %d logits of each within %s + %s of their size, "
                        + "%d tokens chosen alike%s%n",
                passes,
                logits.length,
                TOLERANCE.absolute(),
                TOLERANCE.relative(),
                passes - ties,
                ties == 0 ? "" : ", " + ties + " between equally likely ones");
        out.flush();
        return passes;
    }

    /** Returns whether a further pass follows after a number of passes. */
    private boolean isToGoOn(int passes, long startNs) {
        int measured = passes - options.warmup();
        return measured < 0 || !options.limit().isReached(measured, System.nanoTime() - startNs);
    }

    private static void requireNear(float[] logits, float[] expected, int position) {
        for (int i = 0; i < expected.length; i++) {
            if (!TOLERANCE.accepts(logits[i], expected[i])) {
                throw new DeviceFailure("pass " + position + ": logit " + i + " is " + logits[i] + " on the device and "
                        + expected[i] + " on the processor");
            }
        }
    }

    /**
     * Refuses another token unless both are equally likely within the tolerance: the sampler's choice may then differ
     * although no logit does.
     */
    private static void requireTie(int chosen, int token, float[] expected, int position) {
        if (!TOLERANCE.accepts(expected[chosen], expected[token])) {
            throw new DeviceFailure("pass " + position + ": token " + chosen + " is chosen on the device and " + token
                    + " on the processor, whose logits are " + expected[chosen] + " and " + expected[token]);
        }
    }

    // ---- the profile ----

    private DecodeRun profile(DeviceDecoder decoder, ComputeDevice device, int most) {
        BrickProfiler profiler = BrickProfiler.builder()
                .percentiles(options.percentiles())
                .deviceStream(device.stream())
                .build();
        profiler.setSyncMode(options.syncMode());
        profiler.enable();
        Sampler sampler = options.sampler();
        float[] logits = new float[reference.config().vocab()];
        List<Integer> firstTokens = new ArrayList<>();
        int token = DecodeRun.BEGIN_OF_SEQUENCE;
        long startNs = System.nanoTime();
        int passes = 0;
        while (passes < most && isToGoOn(passes, startNs)) {
            int position = passes++;
            if (position == options.warmup()) {
                profiler.reset();
                startNs = System.nanoTime();
            }
            decoder.decode(token, position, Watching.of(options.syncMode()), profiler);
            decoder.logits(logits);
            // The processor chooses the token, so the device has no time for it.
            long chooseNs = System.nanoTime();
            token = sampler.sample(logits);
            profiler.record(BrickId.SAMPLING, System.nanoTime() - chooseNs, 1);
            if (position >= options.warmup() && firstTokens.size() < DecodeRun.SHOWN_TOKENS) {
                firstTokens.add(token);
            }
        }
        long wallNs = System.nanoTime() - startNs;
        return new DecodeRun(
                List.copyOf(firstTokens), passes - options.warmup(), wallNs, options.limit(), profiler.snapshot());
    }

    // ---- the cost of watching ----

    private void compareCosts(DeviceDecoder decoder, ComputeDevice device, int position) {
        int rounds = Math.min(MOST_ROUNDS, position + 1 - options.warmup());
        BrickProfiler profiler =
                BrickProfiler.builder().deviceStream(device.stream()).build();
        profiler.enable();
        PassCosts costs = PassCosts.ofWatching(
                System::nanoTime,
                rounds,
                profiler,
                way -> decoder.decode(DecodeRun.BEGIN_OF_SEQUENCE, position, way, profiler));
        out.printf(
                Locale.ROOT,
                "%nWall time of a pass of %d bricks at position %d, %d rounds in turns%n%n",
                decoder.bricks(),
                position,
                rounds);
        out.print(costs.toText());
    }
}
