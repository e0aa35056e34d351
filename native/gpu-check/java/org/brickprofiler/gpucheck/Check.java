package org.brickprofiler.gpucheck;

import java.util.List;
import java.util.Locale;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;

/** One of the checks that are made on a machine with a GPU. One thread. */
abstract class Check {

    /** The name of the check, one word. */
    final String name;

    Check(String name) {
        this.name = name;
    }

    /**
     * Makes the check. Takes no more than two minutes.
     *
     * @return what came out, at least one
     * @throws DeviceFailure when the device refuses
     */
    abstract List<Outcome> run();

    /** A check that uses a device, which nobody else uses meanwhile. */
    abstract static class OnDevice extends Check {

        /** A kernel may last less than it should by this: it ends where its clock has advanced, and that has steps. */
        static final double SHORTER_BOUND = 0.1;

        final Gpu gpu;

        OnDevice(String name, Gpu gpu) {
            super(name);
            this.gpu = gpu;
        }

        /** A profiler that is on, with the device's stream. */
        final BrickProfiler profiler() {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(gpu.stream()).build();
            profiler.enable();
            return profiler;
        }

        /** A kernel that lasts a time by the device's clock. */
        final Work spin(long ns) {
            return new SpinKernels(gpu).spin(ns, gpu.allocate(SpinKernels.STAMP_FLOATS));
        }

        /** Enqueues work as a brick of one element. */
        static void brick(BrickProfiler profiler, String name, Work work) {
            long timer = profiler.startBrick(name);
            work.enqueue();
            profiler.stopBrick(timer, 1);
        }

        /** Why the device's stream does not mark any more, or what else it has to say. */
        final String reason() {
            return gpu.stream().failure().orElse("no reason is known");
        }

        /** The device's samples of one brick, one after the other as they are resolved. */
        final class Samples {

            private final BrickProfiler profiler;
            private final String brick;

            private long samples;
            private long totalNs;

            /** From now on. */
            Samples(BrickProfiler profiler, String brick) {
                this.profiler = profiler;
                this.brick = brick;
                profiler.stats(brick).ifPresent(this::take);
            }

            private void take(BrickStats stats) {
                samples = stats.device().samples();
                totalNs = stats.totalNs();
            }

            /**
             * How long the one sample took that was resolved since this was called last.
             *
             * @return ns
             * @throws DeviceFailure where the device timed none, or more than one
             */
            long nextNs() {
                long samplesBefore = samples;
                long totalBeforeNs = totalNs;
                profiler.stats(brick).ifPresent(this::take);
                if (samples != samplesBefore + 1) {
                    throw new DeviceFailure(String.format(
                            Locale.ROOT,
                            "of one brick '%s' the device timed %d: %s",
                            brick,
                            samples - samplesBefore,
                            reason()));
                }
                return totalNs - totalBeforeNs;
            }
        }
    }
}
