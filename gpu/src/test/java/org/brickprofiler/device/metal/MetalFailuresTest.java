package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.device.DeviceStream;
import org.brickprofiler.testing.CapturedLog;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every call of Metal's that the shim makes fails once, in every way that it can: no exception escapes, and nothing
 * leaks.
 */
final class MetalFailuresTest {

    private static final int NO_DEVICE = -1;
    private static final int REFUSED = -2;
    private static final int EXCEPTION = -3;
    private static final int BAD_ARGUMENT = -4;
    private static final int CLOSED = -5;
    private static final int PENDING = -9;

    @BeforeEach
    void start() {
        SimulatedMetal.start();
        MetalSupport.probe();
    }

    // ---- opening ----

    @ParameterizedTest
    @CsvSource({
        "MTLCreateSystemDefaultDevice, 1, -1, no Metal device",
        "MTLCreateSystemDefaultDevice, 2, -3, FakeException: raised by MTLCreateSystemDefaultDevice",
        "MTLCreateSystemDefaultDevice, 3, -3, no NSException",
        "newCommandQueue, 1, -2, newCommandQueue",
        "newCommandQueue, 2, -3, raised by newCommandQueue",
        "queue.device, 1, -2, queue.device",
        "queue.device, 2, -3, raised by queue.device",
        "queue.device, 3, -3, no NSException"
    })
    void opensNothing(String method, int how, int code, String reason) {
        int live = SimulatedMetal.live();
        SimulatedMetal.fail(method, 1, how);

        assertThat(MetalShim.open(0, 64)).isEqualTo(code);
        assertThat(MetalShim.failure()).contains(reason);
        assertThat(SimulatedMetal.faults()).isOne();
        SimulatedMetal.fail(method, 1, how);
        try (CapturedLog log = new CapturedLog();
                MetalStream refused = MetalStream.onDevice().open()) {
            assertThat(log.linesWith(reason)).isOne();
            assertThat(refused.failure())
                    .hasValueSatisfying(failure -> assertThat(failure).contains(reason));
            assertUnusable(refused);
        }
        assertThat(SimulatedMetal.live()).isEqualTo(live);
    }

    private static void assertUnusable(MetalStream stream) {
        assertThat(stream.isUsable()).isFalse();
        assertThat(stream.mark()).isEqualTo(DeviceStream.NO_MARK);
        assertThat(stream.isReached(0)).isTrue();
        assertThat(stream.elapsedNs(0, 1)).isEqualTo(DeviceStream.UNRESOLVED);
        assertThat(stream.waitFor(0)).isFalse();
        assertThat(stream.queue()).isZero();
        assertThat(stream.watch(1, "work")).isEqualTo(MetalStream.NOT_WATCHED);
        assertThat(stream.forget(1)).isFalse();
        assertThat(stream.sampleCounters(MetalStream.CounterSampling.STAGE_BOUNDARY, 1))
                .isFalse();
        assertThat(stream.samplePass(1, 1, "pass")).isFalse();
        assertThat(stream.beginDispatch(1, 1, "dispatch")).isNegative();
        assertThat(stream.lostBuffers()).isZero();
        assertThat(stream.lostDispatches()).isZero();
        stream.endDispatch(0, 1);
        stream.release(0);
        stream.drain(
                buffer -> {
                    throw new AssertionError(buffer);
                },
                dispatch -> {
                    throw new AssertionError(dispatch);
                });
    }

    @ParameterizedTest
    @CsvSource({"queue.label, 1", "queue.label, 2", "device.name, 1", "device.name, 2", "device.name, 3"})
    void opensWithoutNames(String method, int how) {
        SimulatedMetal.fail(method, 1, how);
        try (MetalApp app = new MetalApp()) {
            assertThat(app.stream().name()).isNotBlank();
            assertThat(app.stream().deviceName()).isNotBlank();
        }
        assertThat(SimulatedMetal.faults()).isOne();
    }

    @Test
    void noMoreStreamsThanTheTableHolds() {
        List<Long> streams = new ArrayList<>();
        long stream = MetalShim.open(0, 2);
        while (stream > 0) {
            streams.add(stream);
            stream = MetalShim.open(0, 2);
        }
        assertThat(streams).hasSizeBetween(200, 256).doesNotHaveDuplicates();
        assertThat(MetalShim.failure()).contains("too many");
        streams.forEach(MetalShim::close);
        assertThat(MetalShim.mark(streams.get(0), 0)).isEqualTo(BAD_ARGUMENT);
    }

    // ---- watching and marking ----

    @ParameterizedTest
    @CsvSource({"status, 2", "status, 3", "label, 2", "label, 3"})
    void watchesNothingWhereMetalRaises(String method, int how) {
        try (MetalApp app = new MetalApp()) {
            SimulatedMetal.fail(method, 1, how);
            MetalApp.Buffer buffer = app.begin("work");
            buffer.commit();

            assertThat(buffer.sequence()).isEqualTo(MetalStream.NOT_WATCHED);
            assertThat(SimulatedMetal.faults()).isOne();
            assertThat(app.stream().failure()).isNotEmpty();
            assertThat(app.submit("next", 10)).isOne();
        }
    }

    @Test
    void withoutACompletedHandlerTheEndIsNotKnown() {
        try (MetalApp app = new MetalApp()) {
            int before = app.stream().mark();
            SimulatedMetal.fail("addCompletedHandler", 1, SimulatedMetal.THROW);
            app.submit("unheard", 10);
            int unknown = app.stream().mark();
            app.submit("next", 10);
            int after = app.stream().mark();
            SimulatedMetal.run(-1);

            assertThat(app.stream().elapsedNs(before, unknown)).isEqualTo(DeviceStream.UNRESOLVED);
            assertThat(app.stream().elapsedNs(before, after)).isEqualTo(20);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void setsNoMarkWhereMetalRaises(int how) {
        try (MetalApp app = new MetalApp()) {
            MetalApp.Buffer open = app.begin("open");
            SimulatedMetal.fail("status", 1, how);
            assertThat(app.stream().mark()).isEqualTo(DeviceStream.NO_MARK);
            open.commit();
            assertThat(app.stream().mark()).isNotEqualTo(DeviceStream.NO_MARK);
        }
    }

    // ---- the end of a command buffer ----

    @ParameterizedTest
    @CsvSource({
        "status, 2",
        "status, 3",
        "GPUStartTime, 1",
        "GPUStartTime, 2",
        "GPUEndTime, 1",
        "GPUEndTime, 2",
        "GPUEndTime, 3"
    })
    void aCommandBufferThatDoesNotTellItsTimesHasNone(String method, int how) {
        try (MetalApp app = new MetalApp()) {
            int before = app.stream().mark();
            app.submit("silent", 10);
            int after = app.stream().mark();
            SimulatedMetal.fail(method, 1, how);
            SimulatedMetal.run(1);

            assertThat(SimulatedMetal.faults()).isOne();
            assertThat(app.stream().isReached(after)).isTrue();
            assertThat(app.stream().elapsedNs(before, after)).isEqualTo(DeviceStream.UNRESOLVED);
            List<FinishedBuffer> buffers = new ArrayList<>();
            app.stream().drain(buffers::add, dispatch -> {});
            assertThat(buffers).singleElement().satisfies(buffer -> {
                assertThat(buffer.isTimed()).isFalse();
                assertThat(buffer.gpuEndNs()).isEqualTo(FinishedBuffer.NO_TIME);
                assertThat(buffer.gpuStartNs()).isEqualTo(FinishedBuffer.NO_TIME);
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"kernelStartTime, 1", "kernelStartTime, 2", "kernelEndTime, 1", "kernelEndTime, 3"})
    void theTimesOfSchedulingMayBeMissing(String method, int how) {
        try (MetalApp app = new MetalApp()) {
            app.submit("work", 10);
            SimulatedMetal.fail(method, 1, how);
            SimulatedMetal.run(1);

            List<FinishedBuffer> buffers = new ArrayList<>();
            app.stream().drain(buffers::add, dispatch -> {});
            assertThat(SimulatedMetal.faults()).isOne();
            assertThat(buffers).singleElement().satisfies(buffer -> {
                assertThat(buffer.gpuEndNs() - buffer.gpuStartNs()).isEqualTo(10);
                assertThat(buffer.kernelStartNs()).isEqualTo(FinishedBuffer.NO_TIME);
                assertThat(buffer.kernelEndNs()).isEqualTo(FinishedBuffer.NO_TIME);
            });
        }
    }

    @Test
    void anErrorThatCannotBeReadIsStillOne() {
        try (MetalApp app = new MetalApp()) {
            MetalApp.Buffer broken = app.begin("broken");
            SimulatedMetal.breakBuffer(broken.pointer(), 3);
            broken.commit();
            SimulatedMetal.fail("error", 1, SimulatedMetal.THROW);
            SimulatedMetal.run(1);

            List<FinishedBuffer> buffers = new ArrayList<>();
            app.stream().drain(buffers::add, dispatch -> {});
            assertThat(buffers)
                    .singleElement()
                    .extracting(FinishedBuffer::outcome)
                    .isEqualTo(FinishedBuffer.Outcome.FAILED);
        }
    }

    @Test
    void timesOfAnotherClockAreNotBelieved() {
        try (MetalApp app = new MetalApp()) {
            MetalApp.Buffer buffer = app.begin("work");
            SimulatedMetal.work(buffer.pointer(), 10_000_000);
            buffer.commit();
            // The clock of the host stands still while the device works: its end then lies in the future.
            SimulatedMetal.turnBack(1, 8_000_000);

            List<FinishedBuffer> buffers = new ArrayList<>();
            app.stream().drain(buffers::add, dispatch -> {});
            assertThat(buffers)
                    .singleElement()
                    .extracting(FinishedBuffer::isTimed)
                    .isEqualTo(false);
        }
    }

    // ---- waiting ----

    @Test
    void whatIsCommittedIsPendingUntilItsCompletedHandlerHasRun() {
        try (MetalApp app = new MetalApp()) {
            long stream = MetalShim.open(Pointer.nativeValue(app.queue()), 2);
            Pointer buffer = SimulatedMetal.bufferNew(app.queue(), "work");
            MetalShim.watch(stream, Pointer.nativeValue(buffer), null);
            SimulatedMetal.commit(buffer);
            SimulatedMetal.release(buffer);
            for (int question = 1; question < 4; question++) {
                assertThat(MetalShim.pollFor(stream, 1)).isEqualTo(PENDING);
                assertThat(MetalShim.failure()).contains("has not ended");
            }
            // By now the queries count as a wait, so the device goes on.
            while (MetalShim.pollFor(stream, 1) != 0) {
                assertThat(MetalShim.failure()).contains("completed handler has not run");
            }
            MetalShim.close(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3})
    void couldNotWaitWhereMetalRaises(int how) {
        try (MetalApp app = new MetalApp();
                CapturedLog log = new CapturedLog()) {
            app.submit("work", 10);
            int mark = app.stream().mark();
            SimulatedMetal.fail("waiting", 1, how);

            assertThat(app.stream().waitFor(mark)).isFalse();
            assertThat(app.stream().isUsable()).isTrue();
            assertThat(log.linesWith("could not wait")).isOne();
            assertThat(app.stream().waitFor(mark)).isTrue();
        }
    }

    // ---- the border ----

    @Test
    void refusesArgumentsThatMeanNothing() {
        ByteBuffer memory = ByteBuffer.allocateDirect(1_024);
        try (MetalApp app = new MetalApp()) {
            long stream = MetalShim.open(Pointer.nativeValue(app.queue()), 2);
            assertThat(MetalShim.probe(new byte[1], 0)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.open(Pointer.nativeValue(app.queue()), 3)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.watch(stream, 0, null)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.mark(stream, 0)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.drain(stream, memory, -1)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.drain(stream, null, 1)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.lost(stream, 2)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.sampleCounters(stream, 2, 1)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.sampleCounters(stream, 0, 0)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.sampleCounters(stream, 0, 2_049)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.samplePass(stream, 1, 0, "op")).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.samplePass(stream, 1, 1, "")).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.beginDispatch(stream, 1, 0, "op")).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.endDispatch(stream, -1, 1)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.drainDispatches(stream, null, 1)).isEqualTo(BAD_ARGUMENT);
            assertThat(MetalShim.sampleClocks(stream, null)).isEqualTo(BAD_ARGUMENT);
            MetalShim.close(stream);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {Long.MIN_VALUE, -1, 0, 255, 256L * 1_000_000, Long.MAX_VALUE})
    void whatIsNoStreamIsClosed(long stream) {
        ByteBuffer memory = ByteBuffer.allocateDirect(1_024);
        assertThat(MetalShim.watch(stream, 1, null)).isEqualTo(CLOSED);
        assertThat(MetalShim.forget(stream, 1)).isEqualTo(CLOSED);
        assertThat(MetalShim.mark(stream, MetalShim.address(memory))).isEqualTo(CLOSED);
        assertThat(MetalShim.pollFor(stream, 1)).isEqualTo(CLOSED);
        assertThat(MetalShim.drain(stream, memory, 1)).isEqualTo(CLOSED);
        assertThat(MetalShim.lost(stream, 0)).isEqualTo(CLOSED);
        assertThat(MetalShim.sampleCounters(stream, 0, 1)).isEqualTo(CLOSED);
        assertThat(MetalShim.sampleClocks(stream, memory)).isEqualTo(CLOSED);
        assertThat(MetalShim.queue(stream)).isZero();
        assertThat(MetalShim.failure()).contains("no such stream");
        assertThatCode(() -> MetalShim.close(stream)).doesNotThrowAnyException();
    }

    @Test
    void tellsAProbeOfWhatIsMissing() {
        byte[] name = new byte[MetalShim.LABEL_BYTES];
        assertThat(MetalShim.probe(name, name.length)).isZero();
        assertThat(ShimRecords.text(name)).isEqualTo(SimulatedMetal.DEVICE);
        assertThat(MetalShim.probe(name, SimulatedMetal.DEVICE.length() + 1)).isZero();
        assertThat(ShimRecords.text(name)).as("é is two bytes").isEqualTo("Simulated GPU ");
        SimulatedMetal.devicePresent(0);
        assertThat(MetalShim.probe(name, name.length)).isEqualTo(NO_DEVICE);
        SimulatedMetal.fail("MTLCreateSystemDefaultDevice", 1, SimulatedMetal.THROW);
        assertThat(MetalShim.probe(name, name.length)).isEqualTo(EXCEPTION);
    }

    @Test
    void aDeviceWithoutAClockIsTold() {
        ByteBuffer moment = ByteBuffer.allocateDirect(24);
        try (MetalApp app = new MetalApp()) {
            long stream = MetalShim.open(Pointer.nativeValue(app.queue()), 2);
            SimulatedMetal.fail("sampleTimestamps", 1, SimulatedMetal.NIL);
            assertThat(MetalShim.sampleClocks(stream, moment)).isEqualTo(REFUSED);
            SimulatedMetal.fail("sampleTimestamps", 1, SimulatedMetal.THROW);
            assertThat(MetalShim.sampleClocks(stream, moment)).isEqualTo(EXCEPTION);
            assertThat(MetalShim.sampleClocks(stream, moment)).isZero();
            MetalShim.close(stream);
        }
    }
}
