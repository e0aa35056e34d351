package org.brickprofiler.device.opencl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import org.brickprofiler.Backend;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickStats;
import org.brickprofiler.SyncMode;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.device.DeviceTimer;
import org.brickprofiler.device.ProbeTimer;
import org.brickprofiler.testing.ChildProcess;
import org.brickprofiler.testing.ProcessResult;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The promises of devices on a real OpenCL driver, which was written independently of this library. */
class OpenClStreamTest {

    private static final int MARKER_QUEUED_FIRST = 1;
    private static final int OUT_OF_RESOURCES = -5;
    private static final int OUT_OF_HOST_MEMORY = -6;
    private static final int DEVICE_NOT_AVAILABLE = -2;
    private static final int ERROR_IN_WAIT_LIST = -14;
    private static final long OUT_OF_ORDER = 1;

    private RealOpenCl opencl;
    private long queue;

    @BeforeEach
    void start() {
        opencl = new RealOpenCl();
        queue = opencl.queue(RealOpenCl.IN_ORDER);
    }

    @AfterEach
    void close() {
        if (opencl != null) {
            opencl.close();
        }
    }

    private static BrickProfiler profiler(DeviceStream... streams) {
        var builder = BrickProfiler.builder();
        for (DeviceStream stream : streams) {
            builder.deviceStream(stream);
        }
        BrickProfiler profiler = builder.build();
        profiler.enable();
        return profiler;
    }

    private static void assertTook(BrickStats stats, long count, long leastNs) {
        assertThat(stats.count()).isEqualTo(count);
        assertThat(stats.totalNs()).isGreaterThanOrEqualTo(leastNs);
    }

    // ---- which queues ----

    @Spec("12.34")
    @Test
    void queuesThatCannotBeMarkedAreRefusedWithTheMissingProperty() {
        long outOfOrder = opencl.queue(OpenCl.PROFILING | OUT_OF_ORDER);
        long unprofiled = opencl.queue(0);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> OpenClStream.on(0))
                .withMessage("command-queue 0: bricks need an in-order queue with CL_QUEUE_PROFILING_ENABLE");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OpenClStream.on(outOfOrder).open())
                .withMessage(
                        "out-of-order queue 0x%x: bricks need an in-order queue with CL_QUEUE_PROFILING_ENABLE",
                        outOfOrder);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> OpenClStream.on(unprofiled).open())
                .withMessage(
                        "queue without CL_QUEUE_PROFILING_ENABLE 0x%x: bricks need an in-order queue with"
                                + " CL_QUEUE_PROFILING_ENABLE",
                        unprofiled);
        assertThat(opencl.references(outOfOrder)).isOne();
        assertThat(opencl.references(unprofiled)).isOne();
    }

    @Spec("12.35")
    @Test
    void aProbeChoosesTheKindOfMark() {
        assertThat(RealOpenCl.support().markOf(0)).isEqualTo("the end of a marker");

        FaultyOpenCl entry = new FaultyOpenCl(opencl.driver);
        entry.stampedOnEntry = Set.of("clEnqueueMarkerWithWaitList");
        assertThat(entry.support().markOf(0)).isEqualTo("the end of a fill of 4 bytes, since markers have other times");

        FaultyOpenCl heldUp = new FaultyOpenCl(opencl.driver);
        heldUp.stampedOnEntry = Set.of("clEnqueueMarkerWithWaitList");
        heldUp.heldUpNs = 50_000_000;
        assertThat(heldUp.support().markOf(0))
                .isEqualTo("the end of a fill of 4 bytes, since markers have other times");

        FaultyOpenCl neither = new FaultyOpenCl(opencl.driver);
        neither.stampedOnEntry = Set.of("clEnqueueMarkerWithWaitList", "clEnqueueFillBuffer");
        assertThat(neither.support().markOf(0)).startsWith("none: neither markers nor fills");
        try (OpenClStream stream = OpenClStream.on(queue).open(neither.support())) {
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure().orElseThrow()).startsWith("neither markers nor fills");
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        }
        opencl.finish(queue);
        assertThat(opencl.references(queue)).isOne();
    }

    @Spec("12.18")
    @Test
    void aMissingLibraryIsAReason() {
        OpenClSupport support = OpenClSupport.look(List.of("no-such-library"));

        assertThat(support.isAvailable()).isFalse();
        assertThat(support.reason().orElseThrow())
                .startsWith("the OpenCL library cannot be used: ")
                .contains("no-such-library");
        try (OpenClStream stream = OpenClStream.on(queue).open(support)) {
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure())
                    .contains("OpenCL is not available: " + support.reason().orElseThrow());
        }
    }

    // ---- times ----

    @Spec("12.1")
    @ParameterizedTest
    @EnumSource(
            value = SyncMode.class,
            names = {"IMMEDIATE", "PER_LAYER", "DEFERRED"})
    void bricksHaveTheTimesOfTheirCommands(SyncMode mode) {
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            BrickProfiler profiler = profiler(stream);
            profiler.setSyncMode(mode);
            long startNs = 0;
            long endNs = 0;
            for (int pass = 0; pass < 5; pass++) {
                profiler.startLayer();
                long timer = profiler.startBrick(BrickId.RMS_NORM);
                long first = opencl.timedWork(queue, 200_000);
                timer = profiler.lap(timer, 1, BrickId.QKV_PROJECTION);
                opencl.work(queue, 400_000);
                profiler.stopBrick(timer, 1);
                profiler.endLayer();
                profiler.endPass();
                opencl.finish(queue);
                startNs += opencl.profile(first, OpenCl.COMMAND_START);
                endNs += opencl.profile(first, OpenCl.COMMAND_END);
                RealOpenCl.check(opencl.driver.clReleaseEvent(first));
            }

            assertTook(profiler.brickStats(BrickId.RMS_NORM), 5, endNs - startNs);
            assertTook(profiler.brickStats(BrickId.QKV_PROJECTION), 5, 2_000_000);
            assertThat(profiler.snapshot().unresolved()).isZero();
        }
    }

    @Spec("12.8")
    @Test
    void deferredMeasurementsAreTheDevicesTimeHoweverTheApplicationWaits() {
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            BrickProfiler profiler = profiler(stream);
            for (int i = 0; i < 10; i++) {
                long startNs = profiler.elapsedNs();
                opencl.work(queue, 300_000);
                profiler.recordDeferred(BrickId.ATTENTION_SCORE, startNs, 1);
            }
            // The application's own wait.
            opencl.finish(queue);
            profiler.finalize(profiler.elapsedNs());

            BrickStats stats = profiler.brickStats(BrickId.ATTENTION_SCORE);
            assertTook(stats, 10, 3_000_000);
            assertThat(stats.minNs()).isGreaterThanOrEqualTo(300_000);
            assertThat(profiler.pendingCount()).isZero();
        }
    }

    @Spec("12.2")
    @Test
    void anAsynchronousEndOfAPassDoesNotWait() {
        try (OpenClStream stream = OpenClStream.on(queue).open()) {
            BrickProfiler profiler = profiler(stream);
            long gate = opencl.gate(queue);
            long timer = profiler.startBrick(BrickId.GATE_PROJECTION);
            opencl.work(queue, 100_000);
            profiler.stopBrick(timer, 1);
            profiler.endPassAsync();
            assertThat(profiler.brickStats(BrickId.GATE_PROJECTION).count()).isZero();
            assertThat(profiler.pendingCount()).isOne();

            opencl.open(gate);
            opencl.finish(queue);
            profiler.endPassAsync();
            assertTook(profiler.brickStats(BrickId.GATE_PROJECTION), 1, 100_000);
        }
    }

    @Spec("12.14")
    @Test
    void timersByTheNameOfTheBackendAndProbes() {
        try (OpenClStream stream = OpenClStream.on(queue).open();
                DeviceTimer timer = DeviceTimer.of(Backend.OPENCL.name().toLowerCase(Locale.ROOT), stream)) {
            assertThat(timer.elapsedNs()).isZero();
            timer.recordStart();
            opencl.work(queue, 250_000);
            timer.recordEnd();
            assertThat(timer.elapsedNs()).isGreaterThanOrEqualTo(250_000);

            ProbeTimer probe = ProbeTimer.startIf(true, timer).orElseThrow();
            opencl.work(queue, 250_000);
            assertThat(probe.finish()).isGreaterThanOrEqualTo(250_000);
        }
    }

    @Test
    void severalQueuesAndThreads() throws Exception {
        List<OpenClStream> streams = new ArrayList<>();
        List<Long> queues = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            queues.add(opencl.queue(RealOpenCl.IN_ORDER));
            streams.add(
                    OpenClStream.on(queues.get(i)).name("queue of thread " + i).open());
        }
        BrickProfiler profiler = profiler(streams.toArray(DeviceStream[]::new));
        ExecutorService threads = Executors.newFixedThreadPool(3);
        try {
            List<Future<?>> ends = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                long own = queues.get(i);
                var stream = profiler.stream(streams.get(i).name());
                ends.add(threads.submit(() -> {
                    for (int pass = 0; pass < 100; pass++) {
                        long timer = stream.startBrick(BrickId.DOWN_PROJECTION);
                        opencl.work(own, 20_000);
                        profiler.stopBrick(timer, 1);
                        stream.endPass();
                    }
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow();
        }

        assertTook(profiler.brickStats(BrickId.DOWN_PROJECTION), 300, 300 * 20_000);
        assertThat(profiler.snapshot().unresolved()).isZero();
        streams.forEach(OpenClStream::close);
    }

    // ---- the end of things ----

    @Spec("12.36")
    @Test
    void aQueueThatTheApplicationReleasesStaysUntilTheStreamCloses() {
        long released = opencl.ownQueue(RealOpenCl.IN_ORDER);
        try (OpenClStream stream = OpenClStream.on(released).open()) {
            int first = stream.mark();
            opencl.work(released, 100_000);
            int second = stream.mark();
            RealOpenCl.check(opencl.driver.clReleaseCommandQueue(released));
            opencl.close();

            assertThat(stream.waitFor(second)).isTrue();
            assertThat(stream.elapsedNs(first, second)).isGreaterThanOrEqualTo(100_000);
        }
    }

    @Spec("12.36")
    @ParameterizedTest
    @ValueSource(ints = 10_000)
    void manyCyclesOfOpeningAndClosingLeaveNothing(int cycles) {
        int contextReferences = opencl.contextReferences();
        for (int i = 0; i < cycles; i++) {
            try (OpenClStream stream = OpenClStream.on(queue).marks(2, 8).open()) {
                int first = stream.mark();
                int second = stream.mark();
                if (i % 2 == 0) {
                    stream.waitFor(second);
                    stream.release(first);
                }
            }
        }
        opencl.finish(queue);

        // PoCL keeps the latest event of a queue, and the event refers to the queue.
        assertThat(opencl.references(queue)).isBetween(1, 2);
        assertThat(opencl.contextReferences()).isBetween(contextReferences, contextReferences + 1);
    }

    // ---- failures ----

    @Spec("12.30")
    @Test
    void aDeviceThatHangsIsWaitedForUntilTheTimeout() {
        try (OpenClStream stream =
                OpenClStream.on(queue).waitTimeout(Duration.ofMillis(50)).open()) {
            BrickProfiler profiler = profiler(stream);
            long gate = opencl.gate(queue);
            long timer = profiler.startBrick(BrickId.UP_PROJECTION);
            opencl.work(queue, 1_000);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            assertThat(stream.isStalled()).isTrue();
            assertThat(profiler.snapshot().unresolved()).isOne();

            opencl.open(gate);
            int mark = stream.mark();
            assertThat(stream.waitFor(mark)).isTrue();
            assertThat(stream.isStalled()).isFalse();
        }
    }

    @Spec("12.6")
    @ParameterizedTest
    @ValueSource(ints = {OUT_OF_RESOURCES, OUT_OF_HOST_MEMORY})
    void aBrickWithoutAMarkIsUnresolvedAndTheNextOneIsNot(int code) {
        FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
        try (OpenClStream stream = OpenClStream.on(queue).open(layer.support())) {
            BrickProfiler profiler = profiler(stream);
            // Each mark is tried for twice: the second time, after room was made.
            layer.fail("clEnqueueMarkerWithWaitList", 2, 2, code);
            for (int i = 0; i < 3; i++) {
                long timer = profiler.startBrick(BrickId.ACTIVATION);
                opencl.work(queue, 50_000);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();

            assertThat(profiler.snapshot().unresolved()).isOne();
            assertTook(profiler.brickStats(BrickId.ACTIVATION), 2, 100_000);
            assertThat(stream.failure().orElseThrow()).contains("clEnqueueMarkerWithWaitList returned CL_OUT_OF_");
            assertThat(stream.isUsable()).isTrue();
        }
    }

    /** The driver ends the commands of both marks, or of one, with an error, as behind a kernel that failed. */
    @Spec("12.43")
    @ParameterizedTest
    @CsvSource({"3, 2", "3, 1", "4, 1"})
    void aBrickWhoseMarkEndedWithAnErrorIsUnresolvedAndTheOthersAreNot(int first, int count) {
        FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
        try (OpenClStream stream = OpenClStream.on(queue).open(layer.support())) {
            BrickProfiler profiler = profiler(stream);
            layer.failCommand("clEnqueueMarkerWithWaitList", first, count, ERROR_IN_WAIT_LIST);
            for (int i = 0; i < 3; i++) {
                long timer = profiler.startBrick(BrickId.ACTIVATION);
                opencl.work(queue, 50_000);
                profiler.stopBrick(timer, 1);
            }
            profiler.endPass();

            assertThat(profiler.snapshot().unresolved()).isOne();
            assertTook(profiler.brickStats(BrickId.ACTIVATION), 2, 100_000);
            assertThat(stream.failure())
                    .contains("the command of a mark returned CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST (-14)");
            assertThat(stream.isUsable()).isTrue();
            assertThat(stream.isStalled()).isFalse();
        }
    }

    /** PoCL itself runs out of memory, in a process with a limited address space. */
    @Spec("12.43")
    @Test
    void aDeviceWithoutMemoryForTheApplicationStillTimesBricks() throws IOException {
        ProcessResult result = ChildProcess.java(OpenClWithoutMemory.class)
                .through(List.of("prlimit", "--as=" + 24_000_000_000L))
                .jvmOptions(List.of("-Xmx256m", "-XX:-UsePerfData"))
                .run()
                .assertSucceeded();

        assertThat(result.out().strip()).isEqualTo("10 bricks, 0 unresolved, no failure");
    }

    /** Otherwise the driver would use an event, or a queue, that is released. */
    @Spec("12.36")
    @Test
    void closingWaitsForAThreadInTheDriver() throws Exception {
        FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
        OpenClStream stream = OpenClStream.on(queue).open(layer.support());
        int mark = stream.mark();
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch leave = new CountDownLatch(1);
        AtomicBoolean inDriver = new AtomicBoolean();
        List<String> tooEarly = new CopyOnWriteArrayList<>();
        layer.before = function -> {
            if (function.equals("clGetEventInfo")) {
                inDriver.set(true);
                entered.countDown();
                awaitUninterruptibly(leave);
                inDriver.set(false);
            } else if (function.startsWith("clRelease") && inDriver.get()) {
                tooEarly.add(function);
            }
        };
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            Future<Boolean> asking = threads.submit(() -> stream.isReached(mark));
            entered.await();
            Future<?> closing = threads.submit(stream::close);
            while (stream.isUsable()) {
                Thread.onSpinWait();
            }
            // The closing thread waits now, or is about to.
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            leave.countDown();
            closing.get();
            asking.get();
        } finally {
            leave.countDown();
            threads.shutdownNow();
        }

        assertThat(tooEarly).isEmpty();
        int released = layer.calls("clReleaseEvent");
        assertThat(stream.isReached(mark)).isTrue();
        stream.release(mark);
        assertThat(layer.calls("clReleaseEvent")).isEqualTo(released);
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Spec("12.34")
    @Test
    void aDeviceThatIsGoneIsNotAskedAgain() {
        FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
        try (OpenClStream stream = OpenClStream.on(queue).open(layer.support())) {
            layer.fail("clEnqueueMarkerWithWaitList", 1, 1, DEVICE_NOT_AVAILABLE);
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
            assertThat(layer.calls("clEnqueueMarkerWithWaitList")).isOne();
        }
    }

    /** The code is that of NVIDIA's driver after a kernel that wrote outside its buffers. */
    @Spec("12.34")
    @Test
    void aKernelThatSpoilsTheQueueEndsTheMarks() {
        FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
        try (OpenClStream stream = OpenClStream.on(queue).open(layer.support())) {
            BrickProfiler profiler = profiler(stream);
            layer.fail("clGetEventInfo", 1, Integer.MAX_VALUE, -9999);
            profiler.stopBrick(profiler.startBrick("lost"), 1);
            profiler.endPass();
            assertThat(stream.isUsable()).isFalse();
            assertThat(stream.failure())
                    .contains("clGetEventInfo returned NVIDIA's code for an illegal access by a kernel (-9999):"
                            + " the queue is lost");
            assertThat(profiler.snapshot().unresolved()).isOne();
        }
    }

    /** Whatever fails, nothing is thrown, no time is made up, and everything is released. */
    @Spec("12.6")
    @ParameterizedTest
    @ValueSource(
            strings = {
                "clGetCommandQueueInfo",
                "clRetainCommandQueue",
                "clCreateCommandQueue",
                "clCreateBuffer",
                "clCreateUserEvent",
                "clEnqueueFillBuffer",
                "clEnqueueMarkerWithWaitList",
                "clGetEventInfo",
                "clGetEventProfilingInfo",
                "clGetDeviceInfo",
                "clFlush"
            })
    void anyCallMayFail(String function) {
        int failed = 0;
        for (int nth = MARKER_QUEUED_FIRST; nth <= 12; nth++) {
            FaultyOpenCl layer = new FaultyOpenCl(opencl.driver);
            OpenClSupport support = layer.support();
            layer.fail(function, nth, 1, OUT_OF_RESOURCES);
            try (OpenClStream stream = OpenClStream.on(queue).open(support)) {
                BrickProfiler profiler = profiler(stream);
                for (int i = 0; i < 3; i++) {
                    long timer = profiler.startBrick(BrickId.LM_HEAD);
                    opencl.work(queue, 20_000);
                    profiler.stopBrick(timer, 1);
                }
                profiler.endPass();
                profiler.endPass();

                BrickStats stats = profiler.brickStats(BrickId.LM_HEAD);
                if (stream.isUsable()) {
                    assertThat(stats.count() + profiler.snapshot().unresolved()).isEqualTo(3);
                }
                if (stats.count() > 0) {
                    assertThat(stats.minNs()).as("%s, call %s", function, nth).isGreaterThanOrEqualTo(20_000);
                }
            }
            failed += layer.calls(function) >= nth ? 1 : 0;
            opencl.finish(queue);
            assertThat(opencl.references(queue))
                    .as("%s, call %s", function, nth)
                    .isBetween(1, 2);
        }
        assertThat(failed).as("calls of %s that failed", function).isPositive();
    }
}
