package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Each driver call that marking makes fails in turn, the first time and later. The application computes on, one warning
 * is logged, and nothing is left behind. The simulated driver counts which calls these are.
 */
class CudaFailuresTest {

    /** A code that no call returns here otherwise. It is not the loss of a device, which has a test of its own. */
    private static final int SOME_ERROR = 999;

    private static final int LAUNCHES = 8;

    /** An application that times its work with a stream that the library makes, one that it lends, and a timer. */
    private static final class Application {

        final CudaEngine engine = new CudaEngine(0);
        int launches;

        void run() throws InterruptedException {
            try (CudaStream lent = CudaStream.on(engine.context(), engine.stream())
                            .marks(2, 2_000)
                            .blockingSynchronisation()
                            .open();
                    CudaStream made = CudaStream.onDevice(0).marks(1, 8).open();
                    CudaTimer timer = CudaTimer.on(engine.context(), engine.stream())) {
                bricks(lent);
                timer.recordStart();
                spin();
                timer.recordEnd();
                timer.elapsedNs();
                bricks(made);
                Thread stranger = new Thread(() -> {
                    if (lent.isUsable()) {
                        int mark = lent.mark();
                        await(lent, mark);
                        release(lent, mark);
                    }
                });
                stranger.start();
                stranger.join();
                bricks(lent);
                spin();
            }
        }

        private void bricks(DeviceStream stream) {
            int first = stream.mark();
            spin();
            int second = stream.mark();
            spin();
            int third = stream.mark();
            await(stream, third);
            if (first != DeviceStream.NO_MARK && second != DeviceStream.NO_MARK) {
                stream.isReached(second);
                stream.elapsedNs(first, second);
            }
            release(stream, first);
            release(stream, second);
            release(stream, third);
        }

        private static void await(DeviceStream stream, int mark) {
            if (mark != DeviceStream.NO_MARK) {
                stream.waitFor(mark);
            }
        }

        private static void release(DeviceStream stream, int mark) {
            if (mark != DeviceStream.NO_MARK) {
                stream.release(mark);
            }
        }

        private void spin() {
            engine.spin(1_000);
            launches++;
        }
    }

    /** Returns how often marking makes each call, without the application's own calls. */
    private static SortedMap<String, Long> calls() throws InterruptedException {
        SimulatedCuda.start();
        // Done once in a process, and not counted.
        CudaSupport.probe();
        Application application = new Application();
        SortedMap<String, Long> before = SimulatedCuda.counts();
        application.run();
        SortedMap<String, Long> calls = new TreeMap<>(SimulatedCuda.counts());
        before.forEach((name, count) -> calls.merge(name, -count, Long::sum));
        calls.remove("cuLaunchKernel");
        calls.values().removeIf(count -> count == 0);
        return calls;
    }

    @Test
    void allCallsAreThoseWhoseSymbolsAreLookedFor() throws InterruptedException {
        List<String> symbols = DriverCall.symbols();
        SortedMap<String, Long> calls = calls();

        assertThat(symbols).containsAll(calls.keySet());
        assertThat(SimulatedCuda.names()).containsAll(symbols);
        // Three others find the driver, once, and four measure what marks add, at the end of a pass.
        assertThat(calls).hasSize(symbols.size() - 3 - 4);
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Spec("12.15")
    @TestFactory
    Stream<DynamicTest> oneFailureIsToldOnceAndLeavesNothingBehind() throws InterruptedException {
        return calls().entrySet().stream().flatMap(call -> Stream.of(1L, 2L, call.getValue())
                .filter(nth -> nth <= call.getValue())
                .distinct()
                .map(nth -> dynamicTest(call.getKey() + " no. " + nth, () -> failsOnce(call, nth))));
    }

    private static void failsOnce(Map.Entry<String, Long> call, long nth) throws InterruptedException {
        SimulatedCuda.start();
        Application application = new Application();
        SimulatedCuda.failOnce(call.getKey(), nth, SOME_ERROR);
        try (CapturedLog log = new CapturedLog()) {
            application.run();

            // Destroying makes the context current once more; a refusal that this overcomes is no failure.
            boolean isOvercome = call.getKey().equals("cuCtxPushCurrent_v2") && nth == call.getValue();
            assertThat(log.linesWith("WARN")).isEqualTo(isOvercome ? 0 : 1);
            assertThat(isOvercome ? 1 : log.linesWith(function(call.getKey()) + " returned CUDA_ERROR_UNKNOWN (999)"))
                    .isOne();
        }
        assertThat(application.launches).isEqualTo(LAUNCHES);
        assertThat(SimulatedCuda.launches()).isEqualTo(LAUNCHES);
        assertThat(SimulatedCuda.staleHandles()).isZero();
        // An object that the driver refuses to destroy still exists.
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(call.getKey().equals("cuEventDestroy_v2") ? 1 : 0);
        assertThat(SimulatedCuda.liveStreams()).isEqualTo(call.getKey().equals("cuStreamDestroy_v2") ? 2 : 1);
    }

    @TestFactory
    Stream<DynamicTest> aCallThatFailsForGoodIsToldOnceByEachAndTheApplicationComputesOn() throws InterruptedException {
        return calls().keySet().stream().flatMap(name -> Stream.of(false, true)
                .map(throwing ->
                        dynamicTest(name + (throwing ? " with exceptions" : ""), () -> failsAlways(name, throwing))));
    }

    private static void failsAlways(String name, boolean throwing) throws InterruptedException {
        SimulatedCuda.start();
        Application application = new Application();
        SimulatedCuda.failAlways(name, SOME_ERROR);
        try (CapturedLog log = new CapturedLog()) {
            JCudaDriver.setExceptionsEnabled(throwing);
            application.run();
            // Two streams and a timer.
            assertThat(log.linesWith(function(name) + " returned")).isBetween(1L, 3L);
        } finally {
            JCudaDriver.setExceptionsEnabled(false);
        }
        assertThat(SimulatedCuda.launches()).isEqualTo(LAUNCHES);
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    private static String function(String symbol) {
        return symbol.replace("_v2", "");
    }
}
