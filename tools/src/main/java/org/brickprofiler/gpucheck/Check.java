package org.brickprofiler.gpucheck;

import java.util.List;
import java.util.Locale;
import jcuda.driver.CUgraph;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.demo.DeviceFailure;
import org.brickprofiler.demo.DevicePass.Work;
import org.brickprofiler.demo.Gpu;
import org.brickprofiler.demo.SpinKernels;

/** A check for a machine with a GPU. One thread. */
abstract class Check {

    /** The name of the check, one word. */
    final String name;

    Check(String name) {
        this.name = name;
    }

    /**
     * Performs the check. Takes no more than two minutes.
     *
     * @return the results, at least one
     * @throws DeviceFailure when the device refuses
     */
    abstract List<Outcome> run();

    /** A check with exclusive use of a device. */
    abstract static class OnDevice extends Check {

        /**
         * The permitted shortfall of a kernel's duration: a kernel ends when its clock has advanced, and the clock
         * advances in steps.
         */
        static final double SHORTER_BOUND = 0.1;

        final Gpu gpu;

        OnDevice(String name, Gpu gpu) {
            super(name);
            this.gpu = gpu;
        }

        /** Returns a profiler that is on, with the device's stream. */
        final BrickProfiler profiler() {
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(gpu.stream()).build();
            profiler.enable();
            return profiler;
        }

        /** Returns a kernel that lasts a time by the device's clock. */
        final Work spin(long ns) {
            return new SpinKernels(gpu).spin(ns, gpu.allocate(SpinKernels.STAMP_FLOATS));
        }

        /** Enqueues work as a brick of one element. */
        static void brick(BrickProfiler profiler, String name, Work work) {
            long timer = profiler.startBrick(name);
            work.enqueue();
            profiler.stopBrick(timer, 1);
        }

        /**
         * Captures work into a graph. The capture spoils no other thread's.
         *
         * @param end names the call that ends the capture, for a failure
         * @param work enqueues in the device's stream
         * @return the graph, which the caller destroys
         * @throws DeviceFailure when the device refuses
         */
        final CUgraph capture(String end, Runnable work) {
            return capture(gpu, end, work);
        }

        /** Captures work into a graph, as {@link #capture(String, Runnable)} does, on any device. */
        static CUgraph capture(Gpu gpu, String end, Runnable work) {
            Gpu.require(
                    "cuStreamBeginCapture",
                    JCudaDriver.cuStreamBeginCapture(
                            gpu.handle(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
            work.run();
            CUgraph graph = new CUgraph();
            Gpu.require(end, JCudaDriver.cuStreamEndCapture(gpu.handle(), graph));
            return graph;
        }

        /** Returns the reason why the device's stream no longer marks, or its other state. */
        final String reason() {
            return gpu.stream().failure().orElse("no reason is known");
        }

        /** The device's samples of one brick, in the order in which they are resolved. */
        final class Samples {

            private final BrickProfiler profiler;
            private final String brick;

            private long samples;
            private long totalNs;

            /** Collects samples from now on. */
            Samples(BrickProfiler profiler, String brick) {
                this.profiler = profiler;
                this.brick = brick;
                profiler.stats(brick).ifPresent(this::take);
            }

            private void take(BrickStats stats) {
                samples = stats.device().measured();
                totalNs = stats.totalNs();
            }

            /**
             * Returns the duration of the one sample that was resolved since the last call.
             *
             * @return ns
             * @throws DeviceFailure if the device timed none, or more than one
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
