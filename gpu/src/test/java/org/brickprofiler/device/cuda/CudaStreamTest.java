package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_DEINITIALIZED;
import static jcuda.driver.CUresult.CUDA_ERROR_ECC_UNCORRECTABLE;
import static jcuda.driver.CUresult.CUDA_ERROR_EXTERNAL_DEVICE;
import static jcuda.driver.CUresult.CUDA_ERROR_ILLEGAL_ADDRESS;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_DEVICE;
import static jcuda.driver.CUresult.CUDA_ERROR_LAUNCH_FAILED;
import static jcuda.driver.CUresult.CUDA_ERROR_OUT_OF_MEMORY;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Random;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicInteger;
import jcuda.CudaException;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.DispatchTimer;
import org.brickprofiler.device.StreamTotals;
import org.brickprofiler.kernel.KernelTiming;
import org.brickprofiler.kernel.KernelTimings;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** CUDA streams beyond the contract of streams, over the simulated driver. */
class CudaStreamTest {

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    @AfterEach
    void returnCodesAgain() {
        JCudaDriver.setExceptionsEnabled(false);
    }

    private CudaStream onTheEngines() {
        return CudaStream.on(engine.context(), engine.stream()).marks(8, 64).open();
    }

    @Test
    void givesEachBrickItsOwnTimeToTheNanosecond() {
        int bricks = 500;
        Random random = new Random(7);
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).open()) {
            int[] marks = new int[bricks + 1];
            long[] reachedNs = new long[bricks + 1];
            long endNs = SimulatedCuda.now();
            marks[0] = stream.mark();
            reachedNs[0] = endNs;
            for (int brick = 1; brick <= bricks; brick++) {
                // The host is ahead of the device, and now and then behind: the device waits for it then.
                SimulatedCuda.advance(random.nextInt(4_000_000));
                long ns = random.nextInt(4_000_000);
                endNs = Math.max(endNs, SimulatedCuda.now()) + ns;
                engine.spin(ns);
                marks[brick] = stream.mark();
                reachedNs[brick] = endNs;
            }
            assertThat(stream.waitFor(marks[bricks])).isTrue();
            assertThat(SimulatedCuda.synchronisations()).isOne();
            for (int brick = 1; brick <= bricks; brick++) {
                assertThat(stream.elapsedNs(marks[brick - 1], marks[brick]))
                        .isEqualTo(reachedNs[brick] - reachedNs[brick - 1]);
            }
        }
    }

    /** In milliseconds, a float is up to 0.48 ns off below 16 ms, and up to 0.96 ns from there on. */
    @Test
    void timesUpTo16MsAreExactToTheNanosecond() {
        try (CudaStream stream = onTheEngines()) {
            for (long ns = 1; ns < 16_000_000; ns += 9_973) {
                assertThat(timed(stream, ns)).isEqualTo(ns);
            }
            for (long ns = 15_999_000; ns <= 16_000_000; ns++) {
                assertThat(timed(stream, ns)).isEqualTo(ns);
            }
            assertThat(timed(stream, 16_000_001)).isNotEqualTo(16_000_001).isBetween(16_000_000L, 16_000_002L);
        }
    }

    private long timed(CudaStream stream, long ns) {
        int from = stream.mark();
        engine.spin(ns);
        int to = stream.mark();
        assertThat(stream.waitFor(to)).isTrue();
        long elapsedNs = stream.elapsedNs(from, to);
        stream.release(from);
        stream.release(to);
        return elapsedNs;
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void finishedKernelsGoIntoKernelTimings(int realClock) {
        SimulatedCuda.useRealClock(realClock);
        KernelTimings timings = new KernelTimings();
        try (CudaStream stream = onTheEngines()) {
            DispatchTimer dispatches = new DispatchTimer(stream, 32);
            engine.spin(50_000_000);
            for (int i = 1; i <= 5; i++) {
                int ns = 1_000 * i;
                dispatches.time("matmul", () -> engine.spin(ns));
                dispatches.time("rope", () -> engine.spin(200));
            }
            assertThat(dispatches.drain(Backend.CUDA, timings::record)).isZero();
            // The application's own wait.
            JCudaDriver.cuStreamSynchronize(engine.stream());
            assertThat(dispatches.drain(Backend.CUDA, timings::record)).isEqualTo(10);
            assertThat(dispatches.lost()).isZero();
        }
        assertThat(timings.snapshot())
                .containsExactly(
                        new KernelTiming("matmul", Backend.CUDA, 5, 15_000, 1_000, 5_000, 5_000),
                        new KernelTiming("rope", Backend.CUDA, 5, 1_000, 200, 200, 200));
    }

    @Test
    void aTimerByTheNameOfTheBackendTimesKernels() {
        KernelTimings timings = new KernelTimings();
        try (CudaStream stream = onTheEngines();
                DeviceTimer timer = DeviceTimer.of(Backend.CUDA.name(), stream)) {
            timings.time("matmul", Backend.CUDA, timer, () -> engine.spin(3_000));
            timings.time("matmul", Backend.CUDA, timer, () -> engine.spin(4_000));
        }
        assertThat(timings.snapshot())
                .containsExactly(new KernelTiming("matmul", Backend.CUDA, 2, 7_000, 3_000, 4_000, 4_000));
    }

    @Spec("12.15")
    @Test
    void aMarkIsOneCallOfTheDriver() {
        try (CudaStream stream = onTheEngines()) {
            long calls = SimulatedCuda.allCalls();
            long records = SimulatedCuda.calls("cuEventRecord");
            stream.mark();
            assertThat(SimulatedCuda.allCalls() - calls).isOne();
            assertThat(SimulatedCuda.calls("cuEventRecord") - records).isOne();
        }
    }

    @Test
    void aMillionMarksNeedNoMoreEventsThanThereWere() {
        try (CudaStream stream = onTheEngines()) {
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(8);
            for (int i = 0; i < 1_000_000; i++) {
                stream.release(stream.mark());
            }
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(8);
        }
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void marksAreMadeAsTheyAreNeeded() {
        try (CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(2, 5_000).open()) {
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(2);
            stream.mark();
            stream.mark();
            stream.mark();
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(1_026);
            assertThat(stream.maxMarks()).isEqualTo(5_000);
        }
    }

    @Test
    void closingMakesNoMoreMarks() {
        CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(2, 5_000).open();
        stream.mark();
        stream.close();
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        assertThat(SimulatedCuda.calls("cuEventCreate")).isEqualTo(2);
        assertThat(SimulatedCuda.calls("cuEventDestroy_v2")).isEqualTo(2);
    }

    @Test
    void withoutSettingsThereAre1024MarksAndUpTo65536() {
        try (CudaStream stream = CudaStream.onDevice(0).open()) {
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(1_024);
            assertThat(stream.maxMarks()).isEqualTo(65_536);
        }
    }

    @Test
    void releasingTwiceGivesAMarkToNobodyTwice() {
        try (CudaStream stream = onTheEngines()) {
            int mark = stream.mark();
            stream.release(mark);
            stream.release(mark);
            assertThat(stream.mark()).isNotEqualTo(stream.mark());
        }
    }

    @Test
    void aStreamOfItsOwnIsGivenBackWithItsContext() {
        SimulatedCuda.setDevices(2);
        CudaStream stream = CudaStream.onDevice(1).name("decode").open();
        assertThat(stream.name()).isEqualTo("decode");
        assertThat(stream.deviceIndex()).isOne();
        assertThat(SimulatedCuda.liveContexts()).isEqualTo(2);
        assertThat(SimulatedCuda.liveStreams()).isEqualTo(2);
        // Exactly these classes: JCuda's objects equal no object of a subclass, and applications compare their current
        // context with this one.
        assertThat(stream.context()).isExactlyInstanceOf(CUcontext.class);
        assertThat(stream.stream()).isExactlyInstanceOf(CUstream.class);

        stream.close();
        assertThat(SimulatedCuda.liveContexts()).isOne();
        assertThat(SimulatedCuda.liveStreams()).isOne();
    }

    @Spec("12.15")
    @Test
    void theApplicationsStreamAndContextStay() {
        CudaStream stream = onTheEngines();
        assertThat(stream.context()).isSameAs(engine.context());
        assertThat(stream.stream()).isSameAs(engine.stream());
        assertThat(stream.deviceName()).isEqualTo("Simulated GPU 0");
        stream.close();

        assertThat(SimulatedCuda.liveContexts()).isOne();
        engine.spin(10);
        CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        assertThat(SimulatedCuda.calls("cuDevicePrimaryCtxRelease_v2")).isZero();
    }

    @Spec("12.45")
    @Test
    void anApplicationWithoutJCudaPassesAddresses() {
        try (CudaStream lent = onTheEngines();
                CudaStream byAddresses = CudaStream.onAddresses(lent.contextAddress(), lent.streamAddress())
                        .open();
                CudaTimer timer = CudaTimer.onAddresses(
                        lent.contextAddress(), lent.streamAddress(), DeviceStream.DEFAULT_WAIT_TIMEOUT)) {
            timer.recordStart();
            int start = byAddresses.mark();
            engine.spin(1_234);
            int end = byAddresses.mark();
            timer.recordEnd();

            assertThat(byAddresses.waitFor(end)).isTrue();
            assertThat(byAddresses.elapsedNs(start, end)).isEqualTo(1_234);
            assertThat(timer.elapsedNs()).isEqualTo(1_234);
            assertThat(byAddresses.contextAddress()).isEqualTo(SimulatedCuda.currentContext());
            assertThat(byAddresses.streamAddress()).isEqualTo(JCudaCalls.addressOf(engine.stream()));
        }
    }

    @Spec("12.45")
    @Test
    void addressesOfNoContextAndOfTheDefaultStreamOfEachThreadAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CudaStream.onAddresses(0, 0x55))
                .withMessage("context 0x0: the address of a CUcontext is needed");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CudaStream.onAddresses(0x55, 2))
                .withMessage("the default stream of each thread is not one queue: stream 0x2");
        try (CudaStream stream = CudaStream.onAddresses(0x55, 0).open()) {
            assertThat(stream.name()).isEqualTo("default stream");
            assertThat(stream.isUsable()).isFalse();
        }
    }

    @Test
    void findsTheDeviceOfAContext() {
        SimulatedCuda.setDevices(3);
        CudaEngine third = new CudaEngine(2, true);
        try (CudaStream stream = CudaStream.on(third.context(), third.stream()).open()) {
            assertThat(stream.deviceIndex()).isEqualTo(2);
        }
    }

    /** Every rank has a device 0 under CUDA_VISIBLE_DEVICES. */
    @Spec("12.33")
    @Test
    void knowsWhichDeviceOfTheMachineItIsOn() {
        assertDevice(CudaStream.onDevice(0), "00", "0000:17:00.0");
        SimulatedCuda.setHiddenDevices(3);
        assertDevice(CudaStream.onDevice(0), "03", "0000:1a:00.0");
        SimulatedCuda.setDevices(2);
        assertDevice(CudaStream.onDevice(1), "04", "0000:1b:00.0");
        assertDevice(CudaStream.on(engine.context(), engine.stream()), "03", "0000:1a:00.0");
    }

    private static void assertDevice(CudaStream.Builder builder, String lastOfUuid, String pciAddress) {
        try (CudaStream stream = builder.open()) {
            assertThat(stream.deviceUuid()).contains("GPU-a0a1a2a3-a4a5-a6a7-a8a9-aaabacadae" + lastOfUuid);
            assertThat(stream.pciAddress()).contains(pciAddress);
            BrickProfiler profiler =
                    BrickProfiler.builder().deviceStream(stream).build();
            StreamTotals totals = profiler.snapshot().streams().get(0);
            assertThat(totals.deviceUuid()).isEqualTo(stream.deviceUuid());
            assertThat(totals.pciAddress()).contains(pciAddress);
        }
    }

    /** JCuda reports the UUID of the whole GPU for each of its parts. */
    @Spec("12.33")
    @Test
    void thePartOfAGpuIsKnownFromTheVariableAlone() {
        assertThat(CudaContext.isPartOfGpu("NVIDIA A100-SXM4-40GB MIG 1g.5gb")).isTrue();
        assertThat(CudaContext.isPartOfGpu("NVIDIA H100 80GB HBM3")).isFalse();
        assertThat(CudaContext.isPartOfGpu("NVIDIA MIGRATION 1")).isFalse();
        assertThat(CudaContext.visiblePart("MIG-5d1f, GPU-1")).contains("MIG-5d1f");
        assertThat(CudaContext.visiblePart("0")).isEmpty();
        assertThat(CudaContext.visiblePart("")).isEmpty();
        assertThat(CudaContext.visiblePart(null)).isEmpty();
    }

    @Test
    void aDeviceWhoseAddressTheDriverDoesNotReportIsTimedWithoutIt() {
        SimulatedCuda.failAlways("cuDeviceGetUuid", 801);
        SimulatedCuda.failAlways("cuDeviceGetPCIBusId", 801);
        try (CudaStream stream = CudaStream.onDevice(0).open()) {
            assertThat(stream.isUsable()).isTrue();
            assertThat(stream.deviceUuid()).isEmpty();
            assertThat(stream.pciAddress()).isEmpty();
            assertThat(stream.failure().orElseThrow()).contains("cuDeviceGetPCIBusId returned");
        }
    }

    @Test
    void namesStreamsSoThatTheyDiffer() {
        try (CudaStream one = CudaStream.onDevice(0).open();
                CudaStream two = CudaStream.onDevice(0).open();
                CudaStream inDefault =
                        CudaStream.on(engine.context(), new CUstream()).open();
                CudaStream inLegacy = CudaStream.on(engine.context(), JCudaDriver.CU_STREAM_LEGACY)
                        .open()) {
            assertThat(one.name()).startsWith("stream ").isNotEqualTo(two.name());
            assertThat(inDefault.name()).isEqualTo("default stream");
            assertThat(inLegacy.name()).isEqualTo("default stream");
            assertThat(inLegacy.mark()).isNotEqualTo(DeviceStream.NO_MARK);
        }
    }

    @Test
    void refusesWhatCannotBeAStream() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CudaStream.on(engine.context(), JCudaDriver.CU_STREAM_PER_THREAD))
                .withMessageContaining("each thread");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CudaStream.onDevice(-1))
                .withMessageContaining("-1");
        CudaStream.Builder builder = CudaStream.onDevice(0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.marks(0, 5))
                .withMessage("initial marks 0: expected 1 to 5");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.marks(6, 5))
                .withMessage("initial marks 6: expected 1 to 5");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.marks(1, (1 << 20) + 1))
                .withMessageContaining("1048577");
    }

    @Test
    void aDeviceThatIsNotThereMakesAStreamThatIsNotUsable() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.onDevice(9).open()) {
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure()).hasValueSatisfying(why -> assertThat(why)
                    .contains("cuDeviceGet returned CUDA_ERROR_INVALID_DEVICE (" + CUDA_ERROR_INVALID_DEVICE + ")"));
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.waitFor(0)).isFalse();
            assertThat(stream.deviceIndex()).isEqualTo(9);
            assertThat(log.linesWith("CUDA_ERROR_INVALID_DEVICE")).isOne();
            assertThatIllegalStateException().isThrownBy(stream::context).withMessageContaining("cuDeviceGet");
        }
    }

    @Test
    void aStreamWithoutAnyEventIsNotUsableAndKeepsNothing() {
        SimulatedCuda.failAlways("cuEventCreate", CUDA_ERROR_OUT_OF_MEMORY);
        try (CudaStream stream = CudaStream.onDevice(0).open()) {
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure().orElseThrow()).contains("CUDA_ERROR_OUT_OF_MEMORY (2)");
            assertThat(SimulatedCuda.liveStreams()).isOne();
            assertThat(SimulatedCuda.retains()).isOne();
        }
    }

    @Test
    void aPoolThatCannotGrowMakesDoWithWhatItHas() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                        .marks(2, 5_000)
                        .open()) {
            SimulatedCuda.failOnce("cuEventCreate", 2, CUDA_ERROR_OUT_OF_MEMORY);
            stream.mark();
            stream.mark();
            assertThat(stream.mark()).isEqualTo(2);
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isUsable()).isTrue();
            assertThat(log.linesWith("cuEventCreate returned CUDA_ERROR_OUT_OF_MEMORY (2)"))
                    .isOne();
        }
    }

    @Test
    void aStreamThatOpensWithFewerMarksThanWantedIsUsableAndGetsThemWhenAPassEnds() {
        SimulatedCuda.failOnce("cuEventCreate", 2, CUDA_ERROR_OUT_OF_MEMORY);
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = CudaStream.on(engine.context(), engine.stream())
                        .marks(8, 64)
                        .open()) {
            assertThat(stream.isUsable()).isTrue();
            assertThat(stream.failure().orElseThrow()).contains("cuEventCreate returned CUDA_ERROR_OUT_OF_MEMORY (2)");
            assertThat(stream.mark()).isZero();
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);

            stream.passEnded();
            for (int more = 1; more < 64; more++) {
                assertThat(stream.mark()).isNotEqualTo(DeviceStream.NO_MARK);
            }
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(log.linesWith("there are fewer marks, and more are tried for in the next pass"))
                    .isOne();
            assertThat(log.linesWith("WARN")).isOne();
        }
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void aStreamThatIsClosedTriesForNoMoreMarks() {
        CudaStream stream =
                CudaStream.on(engine.context(), engine.stream()).marks(2, 64).open();
        SimulatedCuda.failOnce("cuEventCreate", 1, CUDA_ERROR_OUT_OF_MEMORY);
        for (int i = 0; i < 3; i++) {
            stream.mark();
        }
        stream.close();
        stream.passEnded();
        assertThat(SimulatedCuda.liveEvents()).isZero();
    }

    @Test
    void worksOnAThreadWithoutAContext() throws InterruptedException {
        try (CudaStream stream = onTheEngines()) {
            AtomicInteger depth = new AtomicInteger(-1);
            int[] marks = new int[2];
            long[] elapsedNs = new long[1];
            Thread stranger = new Thread(() -> {
                marks[0] = stream.mark();
                engine.inContext(() -> engine.spin(2_500));
                marks[1] = stream.mark();
                stream.waitFor(marks[1]);
                elapsedNs[0] = stream.isReached(marks[1]) ? stream.elapsedNs(marks[0], marks[1]) : -1;
                depth.set(SimulatedCuda.contextDepth());
            });
            stranger.start();
            stranger.join();

            assertThat(elapsedNs).containsExactly(2_500);
            assertThat(depth).hasValue(0);
            assertThat(stream.failure()).isEmpty();
        }
    }

    @Test
    void theDefaultStreamIsThatOfItsOwnContext() {
        try (CudaStream stream = CudaStream.on(engine.context(), null).open()) {
            CudaEngine foreign = new CudaEngine(0, true);
            foreign.spin(1_000_000, new CUstream());
            engine.inContext(() -> engine.spin(5_000, new CUstream()));
            long beganNs = SimulatedCuda.now();
            int mark = stream.mark();

            assertThat(stream.isReached(mark)).isFalse();
            assertThat(stream.waitFor(mark)).isTrue();
            assertThat(SimulatedCuda.now() - beganNs).isEqualTo(5_000);
            assertThat(stream.isReached(mark)).isTrue();
        }
    }

    @Spec("12.15")
    @Test
    void leavesItToTheApplicationWhetherJCudaThrows() {
        try (CapturedLog log = new CapturedLog();
                CudaStream stream = onTheEngines()) {
            JCudaDriver.setExceptionsEnabled(true);
            engine.spin(1_000);
            int mark = stream.mark();
            assertThat(stream.isReached(mark)).isFalse();
            SimulatedCuda.failOnce("cuEventQuery", 1, 721);
            assertThat(stream.isReached(mark)).isTrue();

            assertThat(log.linesWith("CUDA_ERROR_TENSOR_MEMORY_LEAK (721)")).isOne();
            assertThatThrownBy(() -> JCudaDriver.cuDeviceGet(new CUdevice(), 99))
                    .isInstanceOf(CudaException.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                CUDA_ERROR_DEINITIALIZED,
                CUDA_ERROR_ECC_UNCORRECTABLE,
                CUDA_ERROR_ILLEGAL_ADDRESS,
                702,
                709,
                710,
                714,
                715,
                716,
                717,
                718,
                CUDA_ERROR_LAUNCH_FAILED,
                721,
                810,
                CUDA_ERROR_EXTERNAL_DEVICE,
                917
            })
    void aLostDeviceEndsMarkingForGood(int code) {
        try (CapturedLog log = new CapturedLog()) {
            CudaStream stream = CudaStream.onDevice(0).marks(8, 64).open();
            int first = stream.mark();
            int second = stream.mark();
            SimulatedCuda.loseContexts(code);
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure().orElseThrow())
                    .contains(code == 917 ? "the stream is lost" : "the device is lost")
                    .contains(": cuEventRecord returned CUDA_ERROR_", "(" + code + ")");

            SortedMap<String, Long> calls = SimulatedCuda.counts();
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isReached(first)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isEqualTo(DeviceStream.UNRESOLVED);
            assertThat(stream.waitFor(first)).isFalse();
            stream.release(first);
            assertThat(SimulatedCuda.counts()).isEqualTo(calls);

            stream.close();
            calls.merge("cuDevicePrimaryCtxRelease_v2", 1L, Long::sum);
            assertThat(SimulatedCuda.counts()).isEqualTo(calls);
            assertThat(log.linesWith("WARN")).isOne();
        }
    }

    @Test
    void aContextThatWasDestroyedIsALostDevice() {
        CudaEngine own = new CudaEngine(0, true);
        try (CudaStream stream =
                CudaStream.on(own.context(), own.stream()).marks(4, 4).open()) {
            int mark = stream.mark();
            JCudaDriver.cuCtxPushCurrent(own.context());
            JCudaDriver.cuCtxDestroy(own.context());
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.isReached(mark)).isTrue();
        }
    }
}
