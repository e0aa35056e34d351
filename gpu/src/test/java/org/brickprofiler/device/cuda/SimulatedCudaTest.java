package org.brickprofiler.device.cuda;

import static jcuda.driver.CUresult.CUDA_ERROR_CAPTURED_EVENT;
import static jcuda.driver.CUresult.CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_CONTEXT;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_HANDLE;
import static jcuda.driver.CUresult.CUDA_ERROR_INVALID_VALUE;
import static jcuda.driver.CUresult.CUDA_ERROR_LAUNCH_FAILED;
import static jcuda.driver.CUresult.CUDA_ERROR_NOT_READY;
import static jcuda.driver.CUresult.CUDA_ERROR_NOT_SUPPORTED;
import static jcuda.driver.CUresult.CUDA_ERROR_NO_DEVICE;
import static jcuda.driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
import static jcuda.driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
import static jcuda.driver.CUresult.CUDA_SUCCESS;
import static org.assertj.core.api.Assertions.assertThat;

import jcuda.Pointer;
import jcuda.Sizeof;
import jcuda.driver.CUcontext;
import jcuda.driver.CUdevice;
import jcuda.driver.CUdeviceptr;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_record_flags;
import jcuda.driver.CUgraph;
import jcuda.driver.CUgraphExec;
import jcuda.driver.CUstream;
import jcuda.driver.CUstreamCaptureMode;
import jcuda.driver.CUstream_flags;
import jcuda.driver.JCudaDriver;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The simulated driver keeps to what a driver's documentation says, through JCuda. */
class SimulatedCudaTest {

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0);
    }

    private static CUevent event() {
        CUevent event = new CUevent();
        assertThat(JCudaDriver.cuEventCreate(event, 0)).isEqualTo(CUDA_SUCCESS);
        return event;
    }

    private CUevent recorded() {
        CUevent event = event();
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_SUCCESS);
        return event;
    }

    private static float elapsedMs(CUevent from, CUevent to) {
        float[] ms = new float[1];
        assertThat(JCudaDriver.cuEventElapsedTime(ms, from, to)).isEqualTo(CUDA_SUCCESS);
        return ms[0];
    }

    @Test
    void workOfAStreamIsDoneInOrderAndNotBeforeItWasSubmitted() {
        CUevent before = recorded();
        engine.spin(3_000);
        CUevent between = recorded();
        SimulatedCuda.advance(10_000);
        engine.spin(5_000);
        CUevent after = recorded();

        assertThat(JCudaDriver.cuEventQuery(between)).isEqualTo(CUDA_SUCCESS);
        assertThat(JCudaDriver.cuEventQuery(after)).isEqualTo(CUDA_ERROR_NOT_READY);
        assertThat(JCudaDriver.cuEventElapsedTime(new float[1], before, after)).isEqualTo(CUDA_ERROR_NOT_READY);

        long submittedNs = SimulatedCuda.now();
        assertThat(JCudaDriver.cuEventSynchronize(after)).isEqualTo(CUDA_SUCCESS);
        assertThat(SimulatedCuda.now()).isEqualTo(submittedNs + 5_000);
        assertThat(elapsedMs(before, between)).isEqualTo(0.003f);
        assertThat(elapsedMs(before, after)).isEqualTo(0.015f);
        assertThat(elapsedMs(after, between)).isEqualTo(-0.012f);
    }

    @Test
    void timesAreFloatsInMilliseconds() {
        CUevent before = recorded();
        engine.spin(1_000_000_001);
        CUevent after = recorded();
        JCudaDriver.cuStreamSynchronize(engine.stream());

        assertThat(elapsedMs(before, after)).isEqualTo(1_000f);
    }

    @Test
    void streamsAreIndependentButTheDefaultOneWaits() {
        CUstream blocking = new CUstream();
        CUstream free = new CUstream();
        JCudaDriver.cuStreamCreate(blocking, CUstream_flags.CU_STREAM_DEFAULT);
        JCudaDriver.cuStreamCreate(free, CUstream_flags.CU_STREAM_NON_BLOCKING);
        CUevent first = recorded();
        engine.spin(7_000, blocking);
        engine.spin(90_000, free);
        CUevent inDefault = event();
        JCudaDriver.cuEventRecord(inDefault, null);
        CUevent inFree = event();
        JCudaDriver.cuEventRecord(inFree, free);
        JCudaDriver.cuCtxSynchronize();

        assertThat(elapsedMs(first, inDefault)).isEqualTo(0.007f);
        assertThat(elapsedMs(first, inFree)).isEqualTo(0.09f);
    }

    @Test
    void kernelsAndCopiesTakeTheTimesThatWereSet() {
        SimulatedCuda.setKernelNs(400);
        SimulatedCuda.setCopyNs(60);
        CUdeviceptr memory = new CUdeviceptr();
        assertThat(JCudaDriver.cuMemAlloc(memory, Sizeof.INT * 2L)).isEqualTo(CUDA_SUCCESS);
        int[] back = new int[2];
        long beganNs = SimulatedCuda.now();

        engine.launch("anything");
        JCudaDriver.cuMemcpyHtoDAsync(memory, Pointer.to(new int[] {1, 2}), Sizeof.INT * 2L, engine.stream());
        JCudaDriver.cuStreamSynchronize(engine.stream());
        assertThat(SimulatedCuda.now() - beganNs).isEqualTo(460);
        JCudaDriver.cuMemcpyDtoH(Pointer.to(back), memory, Sizeof.INT * 2L);
        assertThat(SimulatedCuda.now() - beganNs).isEqualTo(520);
        assertThat(back).containsExactly(1, 2);
        assertThat(JCudaDriver.cuMemFree(memory)).isEqualTo(CUDA_SUCCESS);
    }

    @Test
    void aRealClockIsWaitedFor() {
        SimulatedCuda.useRealClock(1);
        CUevent before = recorded();
        // Read before the launch: if this thread is delayed after it, the measured time is only longer.
        long beganNs = System.nanoTime();
        engine.spin(3_000_000);
        CUevent after = recorded();
        JCudaDriver.cuStreamSynchronize(engine.stream());

        assertThat(System.nanoTime() - beganNs).isGreaterThanOrEqualTo(3_000_000);
        assertThat(elapsedMs(before, after)).isGreaterThanOrEqualTo(3);
    }

    @Test
    void contextsBelongToThreads() throws InterruptedException {
        CUevent event = recorded();
        int[] codes = new int[2];
        Thread stranger = new Thread(() -> {
            codes[0] = JCudaDriver.cuEventRecord(event, engine.stream());
            new CudaEngine(0, true);
            codes[1] = JCudaDriver.cuEventRecord(event, engine.stream());
        });
        stranger.start();
        stranger.join();

        assertThat(codes).containsExactly(CUDA_ERROR_INVALID_CONTEXT, CUDA_ERROR_INVALID_HANDLE);
        assertThat(SimulatedCuda.contextDepth()).isEqualTo(1);
        assertThat(SimulatedCuda.liveContexts()).isEqualTo(2);
    }

    @Test
    void aPrimaryContextLivesUntilItIsReleasedAsOftenAsItWasRetained() {
        CUdevice device = new CUdevice();
        JCudaDriver.cuDeviceGet(device, 0);
        CUcontext again = new CUcontext();
        assertThat(JCudaDriver.cuDevicePrimaryCtxRetain(again, device)).isEqualTo(CUDA_SUCCESS);
        assertThat(again).isEqualTo(engine.context());

        JCudaDriver.cuDevicePrimaryCtxRelease(device);
        assertThat(SimulatedCuda.liveContexts()).isOne();
        JCudaDriver.cuDevicePrimaryCtxRelease(device);
        assertThat(SimulatedCuda.liveContexts()).isZero();
        assertThat(JCudaDriver.cuDevicePrimaryCtxRelease(device)).isEqualTo(CUDA_ERROR_INVALID_CONTEXT);
    }

    @Test
    void anEventMayBeDestroyedWhileItIsPendingButNotUsedAfterwards() {
        engine.spin(1_000);
        CUevent event = recorded();
        assertThat(SimulatedCuda.liveEvents()).isOne();

        assertThat(JCudaDriver.cuEventDestroy(event)).isEqualTo(CUDA_SUCCESS);
        CUevent next = event();
        assertThat(JCudaDriver.cuEventQuery(event)).isEqualTo(CUDA_ERROR_INVALID_HANDLE);
        assertThat(JCudaDriver.cuEventDestroy(event)).isEqualTo(CUDA_ERROR_INVALID_HANDLE);
        assertThat(SimulatedCuda.staleHandles()).isEqualTo(2);
        assertThat(JCudaDriver.cuEventQuery(next)).isEqualTo(CUDA_SUCCESS);
        assertThat(SimulatedCuda.liveEvents()).isOne();
    }

    @Test
    void anEventOfACaptureHasNoTime() {
        CUevent before = recorded();
        CUgraph graph = new CUgraph();
        JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED);
        engine.spin(1_000);
        CUevent captured = recorded();
        int[] status = new int[1];
        assertThat(JCudaDriver.cuStreamIsCapturing(engine.stream(), status)).isEqualTo(CUDA_SUCCESS);
        assertThat(status[0]).isOne();
        assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), graph)).isEqualTo(CUDA_SUCCESS);

        assertThat(JCudaDriver.cuEventQuery(captured)).isEqualTo(CUDA_ERROR_CAPTURED_EVENT);
        assertThat(JCudaDriver.cuEventSynchronize(captured)).isEqualTo(CUDA_ERROR_CAPTURED_EVENT);
        assertThat(JCudaDriver.cuEventElapsedTime(new float[1], before, captured))
                .isEqualTo(CUDA_ERROR_CAPTURED_EVENT);
        assertThat(SimulatedCuda.spoiltCaptures()).isZero();
        assertThat(SimulatedCuda.launches()).isZero();
        assertThat(JCudaDriver.cuGraphDestroy(graph)).isEqualTo(CUDA_SUCCESS);
    }

    /** Drivers return 1. No driver is known to return 0, which gives the time of an earlier use. */
    @ParameterizedTest
    @ValueSource(ints = {CUDA_ERROR_CAPTURED_EVENT, CUDA_ERROR_INVALID_VALUE, CUDA_SUCCESS})
    void whatIsAnsweredForAnEventOfAFinishedCaptureCanBeChosen(int code) {
        SimulatedCuda.setCapturedCode(code);
        CUevent first = recorded();
        engine.spin(1_000);
        CUevent second = recorded();
        JCudaDriver.cuStreamSynchronize(engine.stream());
        capture(() -> JCudaDriver.cuEventRecord(second, engine.stream()));
        float[] ms = new float[1];

        assertThat(JCudaDriver.cuEventElapsedTime(ms, first, second)).isEqualTo(code);
        assertThat(JCudaDriver.cuEventQuery(second)).isEqualTo(code);
        assertThat(JCudaDriver.cuEventSynchronize(second)).isEqualTo(code);
        if (code == CUDA_SUCCESS) {
            assertThat(ms[0]).isEqualTo(0.001f);
        }
        JCudaDriver.cuEventRecord(second, engine.stream());
        assertThat(elapsedMs(first, second)).isEqualTo(0.001f);
    }

    private CUgraph capture(Runnable body) {
        JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED);
        body.run();
        CUgraph graph = new CUgraph();
        JCudaDriver.cuStreamEndCapture(engine.stream(), graph);
        return graph;
    }

    @Test
    void aGraphTakesAsLongAsWhatWasCaptured() {
        CUgraph graph = capture(() -> {
            engine.spin(3_000);
            engine.spin(4_000);
        });
        CUgraphExec runnable = new CUgraphExec();
        assertThat(JCudaDriver.cuGraphInstantiate(runnable, graph, 0)).isEqualTo(CUDA_SUCCESS);
        assertThat(JCudaDriver.cuGraphDestroy(graph)).isEqualTo(CUDA_SUCCESS);
        CUevent first = recorded();
        assertThat(JCudaDriver.cuGraphLaunch(runnable, engine.stream())).isEqualTo(CUDA_SUCCESS);
        CUevent second = recorded();
        assertThat(JCudaDriver.cuGraphLaunch(runnable, engine.stream())).isEqualTo(CUDA_SUCCESS);
        CUevent third = recorded();
        JCudaDriver.cuStreamSynchronize(engine.stream());

        assertThat(elapsedMs(first, second)).isEqualTo(0.007f);
        assertThat(elapsedMs(first, third)).isEqualTo(0.014f);
        assertThat(JCudaDriver.cuGraphExecDestroy(runnable)).isEqualTo(CUDA_SUCCESS);
        assertThat(JCudaDriver.cuGraphLaunch(runnable, engine.stream())).isEqualTo(CUDA_ERROR_INVALID_VALUE);
    }

    private int recordExternal(CUevent event) {
        return JCudaDriver.cuEventRecordWithFlags(
                event, engine.stream(), CUevent_record_flags.CU_EVENT_RECORD_EXTERNAL);
    }

    /** A graph of a kernel of 3 us between the two events. */
    private CUgraph between(CUevent first, CUevent second) {
        return capture(() -> {
            assertThat(recordExternal(first)).isEqualTo(CUDA_SUCCESS);
            engine.spin(3_000);
            assertThat(recordExternal(second)).isEqualTo(CUDA_SUCCESS);
        });
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void eachLaunchRecordsTheExternalEventsOfAGraph(int keepsUntilReached) {
        SimulatedCuda.setKeepsUntilReached(keepsUntilReached);
        CUevent start = recorded();
        CUevent first = event();
        CUevent second = event();
        CUgraphExec exec = engine.instantiate(between(first, second));
        assertThat(JCudaDriver.cuEventElapsedTime(new float[1], first, second)).isEqualTo(CUDA_ERROR_INVALID_HANDLE);

        engine.launch(exec);
        engine.synchronize();
        assertThat(elapsedMs(first, second)).isEqualTo(0.003f);
        assertThat(elapsedMs(start, first)).isZero();
        SimulatedCuda.advance(1_000);
        engine.launch(exec);
        engine.synchronize();
        assertThat(elapsedMs(start, first)).isEqualTo(0.004f);
        assertThat(elapsedMs(first, second)).isEqualTo(0.003f);
    }

    @Test
    void aLaunchThatIsUnderWayHasTakenTheTimesOfTheOneBeforeOrWill() {
        CUevent start = recorded();
        CUevent first = event();
        CUevent second = event();
        CUgraphExec exec = engine.instantiate(between(first, second));
        engine.launch(exec);
        engine.synchronize();
        engine.launch(exec);
        assertThat(JCudaDriver.cuEventElapsedTime(new float[1], first, second)).isEqualTo(CUDA_ERROR_NOT_READY);
        engine.synchronize();
        SimulatedCuda.setKeepsUntilReached(1);
        engine.launch(exec);
        assertThat(elapsedMs(start, second)).isEqualTo(0.006f);
        engine.synchronize();
        assertThat(elapsedMs(start, second)).isEqualTo(0.009f);
    }

    @Test
    void theExternalFlagIsForCapturesOnly() {
        assertThat(recordExternal(event())).isEqualTo(CUDA_ERROR_INVALID_VALUE);
        assertThat(JCudaDriver.cuEventRecordWithFlags(event(), engine.stream(), 2))
                .isEqualTo(CUDA_ERROR_INVALID_VALUE);
        assertThat(JCudaDriver.cuEventRecordWithFlags(event(), engine.stream(), 0))
                .isEqualTo(CUDA_SUCCESS);
    }

    @Test
    void withoutTheFlagAnEventOfAGraphNeverHasATime() {
        CUevent event = event();
        CUgraphExec exec = engine.instantiate(engine.capture(() -> JCudaDriver.cuEventRecord(event, engine.stream())));
        engine.launch(exec);
        engine.synchronize();
        assertThat(JCudaDriver.cuEventQuery(event)).isEqualTo(CUDA_ERROR_CAPTURED_EVENT);
    }

    @Test
    void anUpdateExchangesTheEventsOfAGraph() {
        CUevent first = event();
        CUevent second = event();
        CUevent other = event();
        CUevent another = event();
        CUgraphExec exec = engine.instantiate(between(first, second));
        assertThat(SimulatedCuda.updateExec(exec, between(other, another))).isEqualTo(CUDA_SUCCESS);
        engine.launch(exec);
        engine.synchronize();
        assertThat(elapsedMs(other, another)).isEqualTo(0.003f);
        assertThat(JCudaDriver.cuEventElapsedTime(new float[1], first, second)).isEqualTo(CUDA_ERROR_INVALID_HANDLE);
        assertThat(SimulatedCuda.updateExec(exec, engine.capture(() -> engine.spin(1))))
                .isEqualTo(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
    }

    @Test
    void aGraphWhoseEventIsDestroyedCannotBeLaunched() {
        CUevent first = event();
        CUevent second = event();
        CUgraphExec exec = engine.instantiate(between(first, second));
        JCudaDriver.cuEventDestroy(second);
        assertThat(JCudaDriver.cuGraphLaunch(exec, engine.stream())).isEqualTo(CUDA_ERROR_INVALID_VALUE);
        assertThat(SimulatedCuda.staleHandles()).isOne();
    }

    @Test
    void aDriverCanBeMadeToRecordOnceAndToIgnoreTheExternalFlag() {
        CUevent start = recorded();
        CUevent first = event();
        CUevent second = event();
        SimulatedCuda.setRecordsOnce(1);
        CUgraphExec exec = engine.instantiate(between(first, second));
        for (int launch = 0; launch < 2; launch++) {
            engine.launch(exec);
            engine.synchronize();
            assertThat(elapsedMs(start, second)).isEqualTo(0.003f);
        }
        SimulatedCuda.setIgnoresExternal(1);
        CUevent ignored = event();
        engine.instantiate(between(ignored, ignored));
        assertThat(JCudaDriver.cuEventQuery(ignored)).isEqualTo(CUDA_ERROR_CAPTURED_EVENT);
    }

    @Test
    void aTrapLosesTheDevice() {
        engine.launch("trap_now");
        assertThat(JCudaDriver.cuStreamSynchronize(engine.stream())).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(engine.trySpin(10)).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
    }

    @Test
    void toWaitForACaptureSpoilsIt() {
        CUgraph graph = new CUgraph();
        JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED);
        assertThat(JCudaDriver.cuStreamSynchronize(engine.stream())).isEqualTo(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(SimulatedCuda.synchronisations()).isZero();
        assertThat(JCudaDriver.cuEventRecord(event(), engine.stream()))
                .isEqualTo(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        assertThat(JCudaDriver.cuStreamEndCapture(engine.stream(), graph))
                .isEqualTo(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
        engine.spin(1_000);
        assertThat(JCudaDriver.cuStreamSynchronize(engine.stream())).isEqualTo(CUDA_SUCCESS);
    }

    @Test
    void aThreadThatIsNotRelaxedSpoilsTheCaptureOfAnotherStream() {
        CUevent elsewhere = event();
        CUstream other = new CUstream();
        JCudaDriver.cuStreamCreate(other, CUstream_flags.CU_STREAM_NON_BLOCKING);
        JCudaDriver.cuEventRecord(elsewhere, other);
        JCudaDriver.cuStreamBeginCapture(engine.stream(), CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);
        int[] mode = {CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED};
        JCudaDriver.cuThreadExchangeStreamCaptureMode(mode);
        assertThat(mode).containsExactly(CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_GLOBAL);

        assertThat(JCudaDriver.cuEventQuery(elsewhere)).isEqualTo(CUDA_SUCCESS);
        assertThat(SimulatedCuda.spoiltCaptures()).isZero();
        JCudaDriver.cuThreadExchangeStreamCaptureMode(mode);
        assertThat(JCudaDriver.cuEventQuery(elsewhere)).isEqualTo(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
        assertThat(SimulatedCuda.spoiltCaptures()).isOne();
    }

    @Test
    void failuresComeWhereTheyWerePlanned() {
        CUevent event = event();
        SimulatedCuda.failOnce("cuEventRecord", 2, CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_SUCCESS);
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_SUCCESS);
        SimulatedCuda.failAlways("cuEventRecord", CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventRecord(event, engine.stream())).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(SimulatedCuda.counts()).containsEntry("cuEventRecord", 5L);
    }

    @Test
    void aLostContextAnswersEveryCallWithTheReason() {
        CUevent event = recorded();
        SimulatedCuda.loseContexts(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventQuery(event)).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(JCudaDriver.cuEventDestroy(event)).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
        assertThat(engine.trySpin(1)).isEqualTo(CUDA_ERROR_LAUNCH_FAILED);
    }

    @Test
    void whatIsNotSimulatedSaysSo() {
        assertThat(JCudaDriver.cuProfilerStart()).isEqualTo(CUDA_ERROR_NOT_SUPPORTED);
        // Those that JCuda binds, and one that it does not.
        assertThat(SimulatedCuda.names()).hasSize(312 + 1).doesNotHaveDuplicates();
    }

    @Test
    void thereMayBeNoDevice() {
        SimulatedCuda.reset();
        SimulatedCuda.setDevices(0);
        assertThat(JCudaDriver.cuInit(0)).isEqualTo(CUDA_ERROR_NO_DEVICE);
    }
}
