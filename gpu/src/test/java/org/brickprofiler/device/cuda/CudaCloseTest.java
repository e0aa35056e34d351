package org.brickprofiler.device.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.Reference;
import java.util.List;
import java.util.function.Supplier;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Streams and timers leave nothing behind, even if they are closed in another context, or never. */
class CudaCloseTest {

    private static final int MARKS = 200;

    private CudaEngine engine;

    @BeforeEach
    void start() {
        SimulatedCuda.start();
        engine = new CudaEngine(0, true);
    }

    @AfterEach
    void nothingDestroyedWasUsed() {
        assertThat(SimulatedCuda.staleHandles()).isZero();
    }

    private CudaStream lent() {
        return CudaStream.on(engine.context(), engine.stream())
                .marks(MARKS, MARKS)
                .open();
    }

    private static long pushes() {
        return SimulatedCuda.calls("cuCtxPushCurrent_v2");
    }

    @Spec("12.32")
    @Test
    void aStreamIsClosedOnAThreadWithoutAContext() throws Exception {
        CudaStream stream = lent();
        stream.mark();
        CudaTimer timer = CudaTimer.on(engine.context(), engine.stream());
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(MARKS + 2);
        Crew.runOnNewThread(() -> {
            stream.close();
            timer.close();
            assertThat(SimulatedCuda.contextDepth()).isZero();
        });
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(stream.failure()).contains("the stream is closed");
        assertThat(timer.failure()).isEmpty();
    }

    @Test
    void aStreamIsClosedWhereAnotherContextIsCurrent() {
        CudaStream stream = lent();
        CudaEngine other = new CudaEngine(0, true);
        long current = SimulatedCuda.currentContext();
        stream.close();
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(SimulatedCuda.currentContext()).isEqualTo(current);
        assertThat(other.context()).isNotEqualTo(engine.context());
    }

    /** The context is not made current if the driver does not require it. */
    @Test
    void eventsAreDestroyedWithoutAContextWhereTheDriverAllowsThat() throws Exception {
        CudaStream stream = lent();
        SimulatedCuda.setDestroysAnywhere(1);
        long before = pushes();
        Crew.runOnNewThread(stream::close);
        assertThat(SimulatedCuda.liveEvents()).isZero();
        assertThat(pushes()).isEqualTo(before);
    }

    @Test
    void aContextIsMadeCurrentForSomeEventsAtATime() throws Exception {
        CudaStream stream = lent();
        long before = pushes();
        Crew.runOnNewThread(stream::close);
        assertThat(pushes() - before).isEqualTo((MARKS + 63) / 64);
    }

    @Test
    void eventsAreCreatedInSectionsToo() throws Exception {
        long before = pushes();
        CudaStream[] made = new CudaStream[1];
        Crew.runOnNewThread(() -> made[0] = lent());
        // A few more find the device of the context.
        assertThat(pushes() - before).isBetween((MARKS + 63L) / 64, (MARKS + 63L) / 64 + 3);
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(MARKS);
        made[0].close();
    }

    @Test
    void whatCannotBeDestroyedIsReported() throws Exception {
        CudaStream stream = lent();
        SimulatedCuda.makeGreen();
        Crew.runOnNewThread(stream::close);
        assertThat(SimulatedCuda.liveEvents()).isEqualTo(MARKS);
        assertThat(stream.failure().orElseThrow())
                .contains("cuEventDestroy not called " + MARKS + " times", "what is left goes with the context");
    }

    // ---- never closed ----

    @Spec("12.32")
    @Test
    void unreachableStreamsReleaseEverythingTheyHold() {
        int streams = SimulatedCuda.liveStreams();
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 20; i++) {
                useAndForget(CudaStream.onDevice(0));
                useAndForget(CudaStream.onDefaultStream(0));
            }
            Collected.until(() -> SimulatedCuda.retains() == 0);
            assertThat(SimulatedCuda.liveEvents()).isZero();
            assertThat(SimulatedCuda.liveStreams()).isEqualTo(streams);
            assertThat(log.linesWith("was never closed and is unreachable")).isEqualTo(40);
        }
    }

    private void useAndForget(CudaStream.Builder builder) {
        CudaStream stream = builder.marks(8, 8).open();
        assertThat(stream.streamAddress()).isNotEqualTo(JCudaCalls.addressOf(engine.stream()));
        stream.mark();
    }

    private static List<Supplier<Object>> handles() {
        Supplier<Object> stream = () -> CudaStream.onDevice(0).marks(8, 8).open();
        if (!(CudaSupport.probe().calls() instanceof JCudaCalls)) {
            return List.of(stream);
        }
        return List.of(
                stream,
                () -> CudaStream.onDevice(0).marks(8, 8).open().stream(),
                () -> CudaStream.onDevice(0).marks(8, 8).open().context());
    }

    /** An application that enqueues by the handles need not keep a reference to the stream that returned them. */
    @Test
    void aStreamIsKeptAsLongAsOneOfItsHandlesIsReachable() {
        for (Supplier<Object> handle : handles()) {
            holdForAWhile(handle);
            Collected.until(() -> SimulatedCuda.retains() == 0);
        }
    }

    private static void holdForAWhile(Supplier<Object> handle) {
        Object held = handle.get();
        try {
            // A second stream, which is unreachable: once it is collected, the collector has examined both.
            assertThat(handle.get()).isNotNull();
            Collected.until(() -> SimulatedCuda.retains() == 1);
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(8);
        } finally {
            Reference.reachabilityFence(held);
        }
    }

    @Test
    void aStreamInTheApplicationsContextIsReportedAndLeftAlone() {
        try (CapturedLog log = new CapturedLog()) {
            lent();
            Collected.until(() -> log.linesWith("200 events stay in the application's context") == 1);
            assertThat(SimulatedCuda.liveEvents()).isEqualTo(MARKS);
        }
    }

    @Test
    void aStreamThatWasClosedIsNotReported() {
        try (CapturedLog log = new CapturedLog()) {
            lent().close();
            CudaStream.onDevice(0).marks(8, 8).open().close();
            CudaStream.onDevice(0).marks(8, 8).open();
            Collected.until(() -> SimulatedCuda.retains() == 0);
            assertThat(log.linesWith("was never closed")).isOne();
        }
    }
}
