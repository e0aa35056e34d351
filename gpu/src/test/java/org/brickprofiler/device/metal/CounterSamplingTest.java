package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.device.metal.MetalStream.CounterSampling.DISPATCH_BOUNDARY;
import static org.brickprofiler.device.metal.MetalStream.CounterSampling.STAGE_BOUNDARY;

import com.sun.jna.Pointer;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.Backend;
import org.brickprofiler.kernel.KernelTimings;
import org.brickprofiler.kernel.KernelTimings.CommandBuffer;
import org.brickprofiler.testing.CapturedLog;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Passes and dispatches inside of command buffers, by the device's counters. */
final class CounterSamplingTest {

    private MetalApp app;
    private MetalStream stream;

    @BeforeEach
    void attach() {
        SimulatedMetal.start();
        app = new MetalApp();
        stream = app.stream();
    }

    @AfterEach
    void close() {
        app.close();
    }

    private List<FinishedBuffer.Dispatch> drained() {
        List<FinishedBuffer.Dispatch> dispatches = new ArrayList<>();
        stream.drain(buffer -> {}, dispatches::add);
        return dispatches;
    }

    /** Encodes a pass that takes {@code ns}. */
    private boolean pass(MetalApp.Buffer buffer, String operation, long ns) {
        Pointer pass = SimulatedMetal.passNew();
        boolean sampled = stream.samplePass(buffer.sequence(), Pointer.nativeValue(pass), operation);
        Pointer encoder = SimulatedMetal.encoderNew(buffer.pointer(), pass);
        SimulatedMetal.encoderWork(encoder, ns);
        SimulatedMetal.encoderEnd(encoder);
        SimulatedMetal.release(encoder);
        SimulatedMetal.release(pass);
        return sampled;
    }

    /** Encodes a dispatch that takes {@code ns}. */
    private long dispatch(long sequence, Pointer encoder, String operation, long ns) {
        long ticket = stream.beginDispatch(sequence, Pointer.nativeValue(encoder), operation);
        SimulatedMetal.encoderWork(encoder, ns);
        stream.endDispatch(ticket, Pointer.nativeValue(encoder));
        return ticket;
    }

    @Test
    void timesPassesAtStageBoundaries() {
        assertThat(stream.sampleCounters(STAGE_BOUNDARY, 8)).isTrue();
        MetalApp.Buffer buffer = app.begin("layer");
        assertThat(pass(buffer, "attention", 300)).isTrue();
        SimulatedMetal.work(buffer.pointer(), 50);
        assertThat(pass(buffer, "ffn", 700)).isTrue();
        buffer.commit();
        assertThat(drained()).as("before it has ended").isEmpty();
        SimulatedMetal.run(1);

        long begin = SimulatedMetal.BEGIN_NS;
        assertThat(drained())
                .containsExactly(
                        new FinishedBuffer.Dispatch(1, "layer", "attention", 0, begin, begin + 300, 1),
                        new FinishedBuffer.Dispatch(1, "layer", "ffn", 1, begin + 350, begin + 1_050, 1));
        assertThat(drained()).isEmpty();
        assertThat(stream.lostDispatches()).isZero();
    }

    @Test
    void timesDispatchesAtDispatchBoundariesInTheDevicesOwnTicks() {
        // 24 MHz, as Apple's, with another origin.
        SimulatedMetal.ticks(5_000_000, 3, 125);
        assertThat(stream.sampleCounters(DISPATCH_BOUNDARY, 8)).isTrue();
        MetalApp.Buffer buffer = app.begin("layer");
        Pointer encoder = SimulatedMetal.encoderNew(buffer.pointer(), null);
        dispatch(buffer.sequence(), encoder, "gemm", 125_000);
        dispatch(buffer.sequence(), encoder, "softmax", 250_000);
        SimulatedMetal.encoderEnd(encoder);
        SimulatedMetal.release(encoder);
        buffer.commit();
        SimulatedMetal.run(1);

        assertThat(drained())
                .satisfiesExactly(
                        gemm -> {
                            assertThat(gemm.operation()).isEqualTo("gemm");
                            assertThat(gemm.endNs() - gemm.startNs()).isEqualTo(125_000);
                        },
                        softmax -> {
                            assertThat(softmax.index()).isOne();
                            assertThat(softmax.startNs()).isEqualTo(SimulatedMetal.BEGIN_NS + 125_000);
                            assertThat(softmax.endNs() - softmax.startNs()).isEqualTo(250_000);
                        });
    }

    @Test
    void theErrorIsThatOfReadingTheClocks() {
        SimulatedMetal.samplingTakes(1_000);
        stream.sampleCounters(STAGE_BOUNDARY, 8);
        long readUntilNs = SimulatedMetal.nowNs();
        MetalApp.Buffer buffer = app.begin("layer");
        pass(buffer, "attention", 300);
        buffer.commit();
        SimulatedMetal.run(1);

        assertThat(drained()).singleElement().satisfies(dispatch -> {
            assertThat(dispatch.errorNs()).isBetween(500L, 502L);
            assertThat(Math.abs(dispatch.startNs() - readUntilNs)).isLessThanOrEqualTo(dispatch.errorNs());
        });
    }

    @Test
    void dispatchesAreDrainedIntoKernelTimings() {
        KernelTimings timings = new KernelTimings();
        stream.sampleCounters(STAGE_BOUNDARY, 8);
        MetalApp.Buffer buffer = app.begin("layer");
        pass(buffer, "attention", 300);
        buffer.commit();
        SimulatedMetal.run(1);

        stream.drain(Backend.METAL, timings::recordCommandBuffer, timings::recordDispatch);

        long begin = SimulatedMetal.BEGIN_NS;
        assertThat(timings.commandBuffers()).singleElement().satisfies(layer -> {
            assertThat(layer.totalNs()).isEqualTo(300);
            assertThat(layer.dispatches())
                    .containsExactly(new CommandBuffer.Dispatch("layer", "attention", 0, begin, begin + 300));
        });
    }

    @ParameterizedTest
    @EnumSource(MetalStream.CounterSampling.class)
    void commandBuffersAreTimedWithOneWarningIfTheDeviceCannotSample(MetalStream.CounterSampling where) {
        SimulatedMetal.supports(where == STAGE_BOUNDARY ? 0 : 2, 0);
        try (CapturedLog log = new CapturedLog()) {
            assertThat(stream.sampleCounters(where, 8)).isFalse();
            assertThat(stream.sampleCounters(where, 8)).isFalse();
            MetalApp.Buffer buffer = app.begin("layer");
            assertThat(pass(buffer, "attention", 300)).isFalse();
            assertThat(stream.beginDispatch(buffer.sequence(), Pointer.nativeValue(buffer.pointer()), "op"))
                    .isNegative();
            buffer.commit();
            SimulatedMetal.run(1);

            List<FinishedBuffer> buffers = new ArrayList<>();
            stream.drain(buffers::add, dispatch -> {
                throw new AssertionError(dispatch);
            });
            assertThat(buffers)
                    .singleElement()
                    .extracting(FinishedBuffer::isTimed)
                    .isEqualTo(true);
            assertThat(log.linesWith("WARN")).isOne();
            assertThat(log.linesWith("the device does not sample counters at")).isOne();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "supportsCounterSampling, 1, does not sample",
        "supportsCounterSampling, 2, raised by",
        "counterSets, 1, no counter set of timestamps",
        "counterSets, 2, raised by",
        "counterSet.name, 1, no counter set of timestamps",
        "counterSet.name, 3, no NSException",
        "newCounterSampleBufferWithDescriptor, 1, out of samples",
        "newCounterSampleBufferWithDescriptor, 2, raised by",
        "sampleTimestamps, 1, did not tell its time",
        "sampleTimestamps, 2, raised by"
    })
    void doesNotSampleWhereMetalRefuses(String method, int how, String reason) {
        int live = SimulatedMetal.live();
        SimulatedMetal.fail(method, 1, how);

        assertThat(stream.sampleCounters(STAGE_BOUNDARY, 8)).isFalse();
        assertThat(SimulatedMetal.faults()).isOne();
        assertThat(stream.failure())
                .hasValueSatisfying(failure -> assertThat(failure).contains(reason));
        assertThat(SimulatedMetal.live()).isEqualTo(live);
    }

    @ParameterizedTest
    @CsvSource({"objectAtIndexedSubscript, 1", "objectAtIndexedSubscript, 2", "setSampleBuffer, 2", "setSampleBuffer, 3"
    })
    void aPassThatMetalRefusesIsCounted(String method, int how) {
        stream.sampleCounters(STAGE_BOUNDARY, 1);
        MetalApp.Buffer buffer = app.begin("layer");
        SimulatedMetal.fail(method, 1, how);
        assertThat(pass(buffer, "refused", 10)).isFalse();
        assertThat(pass(buffer, "sampled", 20)).as("there is room again").isTrue();
        buffer.commit();
        SimulatedMetal.run(1);

        assertThat(drained()).extracting(FinishedBuffer.Dispatch::operation).containsExactly("sampled");
        assertThat(stream.lostDispatches()).isOne();
    }

    @Test
    void aDispatchThatMetalRefusesIsCounted() {
        stream.sampleCounters(DISPATCH_BOUNDARY, 4);
        MetalApp.Buffer buffer = app.begin("layer");
        Pointer encoder = SimulatedMetal.encoderNew(buffer.pointer(), null);
        SimulatedMetal.fail("sampleCountersInBuffer", 1, SimulatedMetal.THROW);
        assertThat(dispatch(buffer.sequence(), encoder, "no start", 10)).isNegative();
        SimulatedMetal.fail("sampleCountersInBuffer", 2, SimulatedMetal.THROW);
        assertThat(dispatch(buffer.sequence(), encoder, "no end", 10)).isNotNegative();
        dispatch(buffer.sequence(), encoder, "sampled", 20);
        SimulatedMetal.release(encoder);
        buffer.commit();
        SimulatedMetal.run(1);

        assertThat(drained()).extracting(FinishedBuffer.Dispatch::operation).containsExactly("sampled");
        assertThat(stream.lostDispatches()).isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"1", "2"})
    void samplesThatCannotBeResolvedAreCounted(int how) {
        stream.sampleCounters(STAGE_BOUNDARY, 4);
        MetalApp.Buffer buffer = app.begin("layer");
        pass(buffer, "silent", 10);
        pass(buffer, "sampled", 20);
        buffer.commit();
        SimulatedMetal.fail("resolveCounterRange", 1, how);
        SimulatedMetal.run(1);

        assertThat(drained()).extracting(FinishedBuffer.Dispatch::operation).containsExactly("sampled");
        assertThat(stream.lostDispatches()).isOne();
    }

    @Test
    void aPassThatIsNotEncodedHasNoTimeOfAnEarlierUse() {
        stream.sampleCounters(STAGE_BOUNDARY, 1);
        MetalApp.Buffer first = app.begin("first");
        pass(first, "encoded", 10);
        first.commit();
        SimulatedMetal.run(1);
        assertThat(drained()).hasSize(1);

        MetalApp.Buffer second = app.begin("second");
        Pointer pass = SimulatedMetal.passNew();
        assertThat(stream.samplePass(second.sequence(), Pointer.nativeValue(pass), "not encoded"))
                .isTrue();
        SimulatedMetal.release(pass);
        second.commit();
        SimulatedMetal.run(1);

        assertThat(drained()).isEmpty();
        assertThat(stream.lostDispatches()).isOne();
    }

    @ParameterizedTest
    @CsvSource({
        "2000000, 0", // the counter has gone back when it is read again
        "0, 9200000000000000000" // a sample that no time of the host's can be
    })
    void timesOfAClockThatDoesNotRunEvenlyAreCounted(long firstOrigin, long sampledOrigin) {
        SimulatedMetal.ticks(firstOrigin, 1, 2);
        stream.sampleCounters(STAGE_BOUNDARY, 4);
        SimulatedMetal.ticks(sampledOrigin, 1, 2);
        MetalApp.Buffer buffer = app.begin("layer");
        pass(buffer, "sampled", 20);
        buffer.commit();
        SimulatedMetal.run(1);
        SimulatedMetal.ticks(0, 1, 2);

        assertThat(drained()).isEmpty();
        assertThat(stream.lostDispatches()).isOne();
        assertThat(stream.failure())
                .hasValueSatisfying(reason -> assertThat(reason).contains("do not agree"));
        stream.close();
        assertThat(stream.lostDispatches()).as("after it was closed").isOne();
    }

    @Test
    void withoutTheSecondReadingOfTheClocksNothingIsConverted() {
        stream.sampleCounters(STAGE_BOUNDARY, 4);
        MetalApp.Buffer buffer = app.begin("layer");
        pass(buffer, "sampled", 20);
        buffer.commit();
        SimulatedMetal.run(1);
        SimulatedMetal.fail("sampleTimestamps", 1, SimulatedMetal.THROW);

        assertThat(drained()).isEmpty();
        assertThat(stream.lostDispatches()).isOne();
    }

    @Test
    void passesThatDoNotFitAreCounted() {
        stream.sampleCounters(STAGE_BOUNDARY, 2);
        MetalApp.Buffer buffer = app.begin("layer");
        assertThat(pass(buffer, "a", 10)).isTrue();
        assertThat(pass(buffer, "b", 10)).isTrue();
        assertThat(pass(buffer, "c", 10)).isFalse();
        buffer.commit();
        SimulatedMetal.run(1);
        assertThat(drained()).extracting(FinishedBuffer.Dispatch::operation).containsExactly("a", "b");
        assertThat(stream.lostDispatches()).isOne();

        MetalApp.Buffer next = app.begin("layer");
        assertThat(pass(next, "d", 10)).as("there is room again").isTrue();
        next.commit();
        SimulatedMetal.run(1);
        assertThat(drained()).extracting(FinishedBuffer.Dispatch::operation).containsExactly("d");
    }

    @Test
    void onlyCommandBuffersThatCompletedHaveDispatches() {
        stream.sampleCounters(STAGE_BOUNDARY, 4);
        MetalApp.Buffer broken = app.begin("broken");
        pass(broken, "half done", 10);
        SimulatedMetal.breakBuffer(broken.pointer(), 3);
        broken.commit();
        MetalApp.Buffer abandoned = app.begin("abandoned");
        pass(abandoned, "never done", 10);
        stream.forget(abandoned.sequence());
        SimulatedMetal.release(abandoned.pointer());
        SimulatedMetal.run(-1);

        assertThat(drained()).isEmpty();
        assertThat(stream.lostDispatches()).isEqualTo(2);
        MetalApp.Buffer late = app.begin("late");
        assertThat(pass(new MetalApp.Buffer(late.pointer(), broken.sequence()), "of another", 1))
                .isFalse();
        late.commit();
    }

    @Test
    void aTicketIsGoodForOneEnd() {
        stream.sampleCounters(DISPATCH_BOUNDARY, 4);
        MetalApp.Buffer buffer = app.begin("layer");
        Pointer encoder = SimulatedMetal.encoderNew(buffer.pointer(), null);
        long ticket = dispatch(buffer.sequence(), encoder, "once", 30);
        SimulatedMetal.encoderWork(encoder, 500);
        stream.endDispatch(ticket, Pointer.nativeValue(encoder));
        SimulatedMetal.release(encoder);
        buffer.commit();
        SimulatedMetal.run(1);

        assertThat(drained()).singleElement().satisfies(once -> assertThat(once.endNs() - once.startNs())
                .isEqualTo(30));
    }
}
