package org.brickprofiler.gpucheck;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.demo.DevicePass;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.Watching;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.cuda.CudaStream;
import org.brickprofiler.spi.NanoClock;

/**
 * Compares the two bindings on one stream of the device: JCuda, and JNA, which processors without JCuda use. The passes
 * alternate, and each round compares its two passes. The check also shows the host's and the device's times of a brick
 * without a kernel.
 */
final class BindingCheck extends Check.OnDevice {

    private static final long KERNEL_NS = 10_000;
    private static final int ROUNDS = 41;
    private static final int WARM_UP = 20;
    private static final double BOUND = 0.02;

    private final NanoClock clock;

    BindingCheck(Gpu gpu, NanoClock clock) {
        super("binding", gpu);
        this.clock = clock;
    }

    /** The passes through one binding. */
    private final class Side {

        private final String binding;
        private final DeviceStream stream;
        private final BrickProfiler profiler;
        private final double[] deviceNs = new double[ROUNDS];
        private final double[] emptyHostNs = new double[ROUNDS];
        private final double[] emptyNs = new double[ROUNDS];

        private long samples;
        private long totalNs;

        Side(String binding, DeviceStream stream) {
            this.binding = binding;
            this.stream = stream;
            profiler = BrickProfiler.builder().deviceStream(stream).build();
            profiler.enable();
        }

        /** Measures one pass with kernels, and as many bricks without. */
        void measure(int round, DevicePass pass) {
            Watching.DEFERRED.run(profiler, pass);
            deviceNs[round] = nextNs();
            long startNs = clock.nanoTime();
            for (int brick = 0; brick < ShortKernels.KERNELS; brick++) {
                profiler.stopBrick(profiler.startBrick(BrickId.EMBEDDING), 1);
            }
            emptyHostNs[round] = (double) (clock.nanoTime() - startNs) / ShortKernels.KERNELS;
            profiler.endPass();
            emptyNs[round] = nextNs() / ShortKernels.KERNELS;
        }

        /** Returns the device's time of the bricks that were resolved since the last call, ns. */
        private double nextNs() {
            long[] sums = new long[2];
            profiler.snapshot().bricks().forEach(brick -> {
                sums[0] += brick.device().measured();
                sums[1] += brick.totalNs();
            });
            long added = sums[0] - samples;
            double ns = sums[1] - totalNs;
            samples = sums[0];
            totalNs = sums[1];
            if (added != ShortKernels.KERNELS) {
                wrong.add(String.format(
                        Locale.ROOT,
                        "%s timed %d of %d bricks: %s",
                        binding,
                        added,
                        ShortKernels.KERNELS,
                        stream.failure().orElse("no reason is known")));
            }
            return ns;
        }

        Map<String, Object> figures() {
            return Map.of(
                    "device_ns", Spread.of(deviceNs).figures(),
                    "empty_brick_ns", Spread.of(emptyNs).figures(),
                    "empty_brick_host_ns", Spread.of(emptyHostNs).figures());
        }
    }

    private final List<String> wrong = new ArrayList<>();

    @Override
    List<Outcome> run() {
        DevicePass pass = ShortKernels.pass(gpu, KERNEL_NS);
        CudaStream byJCuda = gpu.stream();
        try (CudaStream byJna = CudaStream.onAddresses(byJCuda.contextAddress(), byJCuda.streamAddress())
                .name("through JNA")
                .open()) {
            Side jcuda = new Side("JCuda", byJCuda);
            Side jna = new Side("JNA", byJna);
            for (int round = -WARM_UP; round < ROUNDS; round++) {
                jcuda.measure(Math.max(0, round), pass);
                jna.measure(Math.max(0, round), pass);
            }
            return List.of(outcome(jcuda, jna));
        }
    }

    private Outcome outcome(Side jcuda, Side jna) {
        double[] more = new double[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            more[round] = jna.deviceNs[round] / jcuda.deviceNs[round] - 1;
        }
        Spread difference = Spread.of(more);
        Map<String, Object> figures = new LinkedHashMap<>();
        figures.put("jcuda", jcuda.figures());
        figures.put("jna", jna.figures());
        figures.put("difference", difference.figures());
        String found = String.format(
                Locale.ROOT,
                "%+.2f %% (%+.2f to %+.2f); a brick without a kernel takes %.0f ns of the device, and of the host %.0f"
                        + " through JCuda and %.0f through JNA",
                100 * difference.median(),
                100 * difference.low(),
                100 * difference.high(),
                Spread.of(jcuda.emptyNs).median(),
                Spread.of(jcuda.emptyHostNs).median(),
                Spread.of(jna.emptyHostNs).median());
        return new Outcome(
                name,
                wrong.isEmpty() ? difference.within(BOUND) : Outcome.Status.BROKEN,
                "the device's time of a pass is the same through JNA as through JCuda, within 2 %",
                wrong.isEmpty() ? found : String.join("; ", wrong.subList(0, Math.min(5, wrong.size()))),
                figures);
    }
}
