package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.NO_MARK;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

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
import org.junit.jupiter.params.provider.ValueSource;

final class MetalStreamTest {

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

    private List<FinishedBuffer> drained() {
        List<FinishedBuffer> buffers = new ArrayList<>();
        stream.drain(buffers::add, dispatch -> {
            throw new AssertionError(dispatch);
        });
        return buffers;
    }

    @Test
    void saysWhatItFollows() {
        assertThat(stream.name()).isEqualTo("decode");
        assertThat(stream.deviceName()).isEqualTo(SimulatedMetal.DEVICE);
        assertThat(stream.queue()).isEqualTo(Pointer.nativeValue(app.queue()));
    }

    @Test
    void makesAQueueOfItsOwn() {
        int live = SimulatedMetal.live();
        try (MetalStream own = MetalStream.onDevice().open()) {
            assertThat(own.name()).isNotEqualTo("decode").isNotBlank();
            Pointer buffer = SimulatedMetal.bufferNew(new Pointer(own.queue()), "own");
            int before = own.mark();
            own.watch(Pointer.nativeValue(buffer), null);
            SimulatedMetal.work(buffer, 70);
            SimulatedMetal.commit(buffer);
            SimulatedMetal.release(buffer);

            int after = own.mark();
            assertThat(own.waitFor(after)).isTrue();
            assertThat(own.elapsedNs(before, after)).isEqualTo(70);
        }
        assertThat(SimulatedMetal.live()).isEqualTo(live);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 0, 1, 3, 100, 131_072})
    void refusesARingOfAnotherSize(int buffers) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> MetalStream.onDevice().buffers(buffers))
                .withMessageContaining(String.valueOf(buffers));
    }

    @Test
    void refusesNoQueue() {
        assertThatIllegalArgumentException().isThrownBy(() -> MetalStream.on(0));
    }

    // ---- marks ----

    @Test
    void tellsTheTimeBetweenMarksToTheNanosecond() {
        int first = stream.mark();
        app.submit("attention", 1_234);
        int second = stream.mark();
        app.submit("ffn", 777);
        app.submit("ffn", 3);
        int third = stream.mark();

        assertThat(stream.elapsedNs(first, third)).isEqualTo(NOT_REACHED);
        SimulatedMetal.run(1);
        assertThat(stream.isReached(second)).isTrue();
        assertThat(stream.isReached(third)).isFalse();
        assertThat(stream.elapsedNs(first, second)).isEqualTo(1_234);
        assertThat(stream.elapsedNs(second, third)).isEqualTo(NOT_REACHED);
        SimulatedMetal.run(2);
        assertThat(stream.elapsedNs(second, third)).isEqualTo(780);
        assertThat(stream.elapsedNs(third, first)).isEqualTo(-2_014);
    }

    @Test
    void onAnIdleDeviceAMarkIsReachedWhenItIsSet() {
        app.submit("before", 100);
        SimulatedMetal.run(1);
        SimulatedMetal.advance(5_000);
        int first = stream.mark();
        SimulatedMetal.advance(40);
        app.submit("work", 600);
        int second = stream.mark();
        SimulatedMetal.run(1);

        assertThat(stream.elapsedNs(first, second))
                .as("40 ns until it was committed")
                .isEqualTo(640);
    }

    @Test
    void marksInsideOfACommandBufferHaveNoTime() {
        try (CapturedLog log = new CapturedLog()) {
            int before = stream.mark();
            MetalApp.Buffer shared = app.begin("two bricks");
            SimulatedMetal.work(shared.pointer(), 100);
            int between = stream.mark();
            SimulatedMetal.work(shared.pointer(), 200);
            shared.commit();
            int after = stream.mark();
            SimulatedMetal.run(1);

            assertThat(stream.isReached(between)).as("it never has a time").isTrue();
            assertThat(stream.elapsedNs(before, between)).isEqualTo(UNRESOLVED);
            assertThat(stream.elapsedNs(between, after)).isEqualTo(UNRESOLVED);
            assertThat(stream.elapsedNs(between, between)).isEqualTo(UNRESOLVED);
            assertThat(stream.elapsedNs(before, after)).isEqualTo(300);
            assertThat(log.linesWith("inside of a command buffer")).isOne();
            assertThat(stream.failure())
                    .hasValueSatisfying(reason -> assertThat(reason).contains("number 1"));
        }
    }

    @Test
    void aMarkLiesInsideIfOneOfManyCommandBuffersIsOpen() {
        List<MetalApp.Buffer> open = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            open.add(app.begin("open"));
        }
        for (MetalApp.Buffer buffer : open.subList(0, 19)) {
            buffer.commit();
        }
        int inside = stream.mark();
        open.get(19).commit();
        int after = stream.mark();
        SimulatedMetal.run(-1);

        assertThat(stream.elapsedNs(inside, inside)).isEqualTo(UNRESOLVED);
        assertThat(stream.elapsedNs(after, after)).isZero();
    }

    @Test
    void aForgottenCommandBufferCountsAsNeverWatched() {
        app.submit("first", 50);
        MetalApp.Buffer abandoned = app.begin("abandoned");
        assertThat(stream.forget(abandoned.sequence())).isTrue();
        assertThat(stream.forget(abandoned.sequence())).as("again").isFalse();
        SimulatedMetal.release(abandoned.pointer());
        int before = stream.mark();
        app.submit("second", 60);
        int after = stream.mark();
        SimulatedMetal.run(-1);

        assertThat(stream.elapsedNs(before, after)).isEqualTo(60);
        assertThat(drained())
                .extracting(FinishedBuffer::outcome)
                .containsExactly(
                        FinishedBuffer.Outcome.COMPLETED,
                        FinishedBuffer.Outcome.FORGOTTEN,
                        FinishedBuffer.Outcome.COMPLETED);
    }

    @Test
    void aCommittedCommandBufferIsNotForgotten() {
        long sequence = app.submit("work", 10);

        assertThat(stream.forget(sequence)).isFalse();
        assertThat(stream.forget(99)).isFalse();
        assertThat(stream.forget(-1)).isFalse();
    }

    @Test
    void aCommittedCommandBufferIsNotWatched() {
        Pointer late = SimulatedMetal.bufferNew(app.queue(), "late");
        SimulatedMetal.commit(late);

        assertThat(stream.watch(Pointer.nativeValue(late), null)).isEqualTo(MetalStream.NOT_WATCHED);
        assertThat(stream.failure())
                .hasValueSatisfying(reason -> assertThat(reason).contains("committed already"));
        SimulatedMetal.release(late);
    }

    // ---- command buffers ----

    @Test
    void handsCommandBuffersOverOnceAndInOrder() {
        app.submit("a", 10);
        SimulatedMetal.advance(5);
        app.submit("b", 20);
        SimulatedMetal.run(1);

        assertThat(drained())
                .containsExactly(new FinishedBuffer(
                        1,
                        "a",
                        FinishedBuffer.Outcome.COMPLETED,
                        0,
                        SimulatedMetal.BEGIN_NS,
                        SimulatedMetal.BEGIN_NS + 10,
                        SimulatedMetal.BEGIN_NS,
                        SimulatedMetal.BEGIN_NS));
        assertThat(drained()).isEmpty();
        SimulatedMetal.run(1);
        assertThat(drained())
                .containsExactly(new FinishedBuffer(
                        2,
                        "b",
                        FinishedBuffer.Outcome.COMPLETED,
                        0,
                        SimulatedMetal.BEGIN_NS + 10,
                        SimulatedMetal.BEGIN_NS + 30,
                        SimulatedMetal.BEGIN_NS + 5,
                        SimulatedMetal.BEGIN_NS + 10));
    }

    @Test
    void aCommandBufferThatIsNotCommittedHoldsUpThoseAfterIt() {
        MetalApp.Buffer first = app.begin("first");
        app.submit("second", 10);
        SimulatedMetal.run(-1);
        assertThat(drained()).isEmpty();

        first.commit();
        SimulatedMetal.run(-1);
        assertThat(drained()).extracting(FinishedBuffer::label).containsExactly("first", "second");
    }

    @Test
    void takesTheLabelThatItIsGivenAndCutsItAfterAWholeCharacter() {
        MetalApp.Buffer own = app.begin(null);
        own.commit();
        for (String label : List.of("\u00e9".repeat(40), "prefill")) {
            Pointer buffer = SimulatedMetal.bufferNew(app.queue(), "its own");
            stream.watch(Pointer.nativeValue(buffer), label);
            SimulatedMetal.commit(buffer);
            SimulatedMetal.release(buffer);
        }
        SimulatedMetal.run(-1);

        assertThat(drained())
                .extracting(FinishedBuffer::label)
                .containsExactly("command buffer", "\u00e9".repeat(31), "prefill");
    }

    @Test
    void commandBuffersAreDrainedIntoKernelTimings() {
        KernelTimings timings = new KernelTimings();
        app.submit("decode", 10);
        app.submit("decode", 30);
        MetalApp.Buffer broken = app.begin("broken");
        SimulatedMetal.breakBuffer(broken.pointer(), 3);
        broken.commit();
        SimulatedMetal.run(-1);

        stream.drain(Backend.METAL, timings::recordCommandBuffer, timings::recordDispatch);

        assertThat(timings.commandBuffers())
                .containsExactly(new CommandBuffer("decode", Backend.METAL, 2, 40, 10, 30, List.of()));
    }

    @Test
    void aFailedCommandBufferIsTold() {
        try (CapturedLog log = new CapturedLog()) {
            for (int i = 0; i < 2; i++) {
                MetalApp.Buffer broken = app.begin("broken");
                SimulatedMetal.breakBuffer(broken.pointer(), 3);
                broken.commit();
            }
            SimulatedMetal.run(-1);

            assertThat(drained()).extracting(FinishedBuffer::isTimed).containsExactly(false, false);
            assertThat(log.linesWith("failed with error 3")).isOne();
            assertThat(stream.isUsable()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {4, 11})
    void isNotUsableOnceTheDeviceIsLost(int error) {
        int before = stream.mark();
        MetalApp.Buffer broken = app.begin("broken");
        SimulatedMetal.breakBuffer(broken.pointer(), error);
        broken.commit();

        assertThat(stream.waitFor(stream.mark())).isFalse();
        assertThat(stream.isUsable()).isFalse();
        assertThat(stream.isReached(before)).isTrue();
        assertThat(stream.mark()).isEqualTo(NO_MARK);
        assertThat(stream.failure())
                .hasValueSatisfying(reason -> assertThat(reason).contains("error " + error));
    }

    // ---- waiting, and the end ----

    @Test
    void waitsForWhatIsCommittedAndNotForWhatIsOpen() {
        app.submit("one", 10);
        app.submit("two", 20);
        int committed = stream.mark();
        MetalApp.Buffer open = app.begin("open");
        int inside = stream.mark();

        assertThat(stream.waitFor(inside)).isTrue();
        assertThat(stream.isReached(committed)).isTrue();
        assertThat(drained()).hasSize(2);
        open.commit();
        assertThat(stream.waitFor(inside)).isTrue();
        assertThat(drained()).hasSize(1);
    }

    @Test
    void keepsWhatHadEndedWhenItWasClosed() {
        app.submit("done", 10);
        SimulatedMetal.run(-1);
        app.submit("not done", 10);
        stream.close();
        SimulatedMetal.run(-1);

        assertThat(drained()).extracting(FinishedBuffer::label).containsExactly("done");
        assertThat(stream.watch(Pointer.nativeValue(app.queue()), null)).isEqualTo(MetalStream.NOT_WATCHED);
        assertThat(stream.queue()).isZero();
        assertThat(stream.lostBuffers()).isZero();
    }

    @Test
    void letsGoOfACommandBufferThatIsNeverCommitted() {
        MetalApp.Buffer open = app.begin("open");
        stream.close();
        SimulatedMetal.release(open.pointer());
        // The end of the test finds what is still alive.
        assertThat(stream.isReached(0)).isTrue();
    }

    @Test
    void completesOnAnotherThread() {
        int before = stream.mark();
        app.submit("work", 10);
        int after = stream.mark();

        assertThat(SimulatedMetal.runElsewhere(-1)).isOne();
        assertThat(stream.elapsedNs(before, after)).isEqualTo(10);
    }
}
