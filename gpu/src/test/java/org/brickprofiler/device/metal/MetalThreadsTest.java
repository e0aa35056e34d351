package org.brickprofiler.device.metal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.brickprofiler.device.DeviceStream.NOT_REACHED;
import static org.brickprofiler.device.DeviceStream.NO_MARK;
import static org.brickprofiler.device.DeviceStream.UNRESOLVED;

import com.sun.jna.Pointer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.brickprofiler.testing.CapturedLog;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.Crew;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ring of command buffers when it overflows, and with several threads at once. */
final class MetalThreadsTest {

    private static final int SUBMITTERS = 3;
    private static final int DRAINERS = 3;
    private static final int BUFFERS = 2_000;

    @BeforeEach
    void start() {
        SimulatedMetal.start();
        MetalSupport.probe();
    }

    @Test
    void commandBuffersThatDoNotFitAreCounted() {
        ByteBuffer records = ByteBuffer.allocateDirect(1_024).order(ByteOrder.nativeOrder());
        try (MetalApp app = new MetalApp()) {
            long stream = MetalShim.open(Pointer.nativeValue(app.queue()), 4);
            for (int i = 0; i < 7; i++) {
                var buffer = SimulatedMetal.bufferNew(app.queue(), "b" + i);
                MetalShim.watch(stream, Pointer.nativeValue(buffer), null);
                SimulatedMetal.commit(buffer);
                SimulatedMetal.release(buffer);
            }
            assertThat(MetalShim.lost(stream, MetalShim.LOST_BUFFERS)).isEqualTo(3);
            SimulatedMetal.run(-1);

            assertThat(MetalShim.drain(stream, records, 8)).isEqualTo(4);
            assertThat(records.getLong(0))
                    .as("the number of the first one that was kept")
                    .isEqualTo(4);
            assertThat(MetalShim.lost(stream, MetalShim.LOST_BUFFERS)).isEqualTo(3);
            MetalShim.close(stream);
        }
    }

    @Test
    void marksBehindWhatWasLostAreNotResolved() {
        try (MetalApp app = new MetalApp(4);
                CapturedLog log = new CapturedLog()) {
            MetalStream stream = app.stream();
            app.submit("lost", 10);
            int lost = stream.mark();
            for (int i = 0; i < 6; i++) {
                app.submit("kept", 10);
            }
            int kept = stream.mark();
            SimulatedMetal.run(-1);

            assertThat(stream.isReached(lost)).isTrue();
            assertThat(stream.elapsedNs(lost, kept)).isEqualTo(UNRESOLVED);
            assertThat(stream.elapsedNs(kept, kept)).isZero();
            assertThat(stream.lostBuffers()).isEqualTo(3);
            assertThat(log.linesWith("were lost")).isOne();
            List<FinishedBuffer> drained = new ArrayList<>();
            stream.drain(drained::add, dispatch -> {});
            assertThat(drained).extracting(FinishedBuffer::sequence).containsExactly(4L, 5L, 6L, 7L);
            stream.close();
            assertThat(stream.lostBuffers()).as("after it was closed").isEqualTo(3);
        }
    }

    @Test
    void theOldestIsDroppedWhereNobodyDrains() {
        try (MetalApp app = new MetalApp(4);
                CapturedLog log = new CapturedLog()) {
            MetalStream stream = app.stream();
            int first = stream.mark();
            for (int i = 0; i < 10; i++) {
                app.submit("work", 10);
                SimulatedMetal.run(-1);
                assertThat(stream.isReached(stream.mark())).isTrue();
            }
            int last = stream.mark();

            assertThat(stream.elapsedNs(first, last)).as("marks lose nothing").isEqualTo(100);
            assertThat(stream.lostBuffers()).isEqualTo(6);
            assertThat(log.linesWith("lost")).isZero();
        }
    }

    @Test
    void drainsOnSeveralThreadsHandOverEachOnce() throws Exception {
        ConcurrentLinkedQueue<FinishedBuffer> drained = new ConcurrentLinkedQueue<>();
        AtomicInteger left = new AtomicInteger(SUBMITTERS);
        try (MetalApp app = new MetalApp(1 << 14)) {
            MetalStream stream = app.stream();
            Crew crew = new Crew();
            for (int thread = 0; thread < SUBMITTERS; thread++) {
                crew.run(() -> {
                    for (int i = 0; i < BUFFERS; i++) {
                        app.submit("work", 1);
                        int mark = stream.mark();
                        if (i % 5 == 0) {
                            SimulatedMetal.runElsewhere(7);
                        }
                        assertThat(stream.elapsedNs(mark, mark)).isIn(0L, NOT_REACHED, UNRESOLVED);
                        stream.release(mark);
                    }
                    left.decrementAndGet();
                });
            }
            for (int thread = 0; thread < DRAINERS; thread++) {
                crew.run(() -> {
                    while (left.get() > 0) {
                        stream.drain(drained::add, dispatch -> {});
                        Thread.onSpinWait();
                    }
                });
            }
            crew.join();
            assertThat(stream.waitFor(stream.mark())).isTrue();
            stream.drain(drained::add, dispatch -> {});
            assertThat(stream.lostBuffers()).isZero();
        }
        List<Long> numbers =
                new ArrayList<>(drained.stream().map(FinishedBuffer::sequence).toList());
        Collections.sort(numbers);
        assertThat(numbers)
                .isEqualTo(
                        LongStream.rangeClosed(1, SUBMITTERS * BUFFERS).boxed().toList());
        assertThat(drained).allMatch(buffer -> buffer.gpuEndNs() - buffer.gpuStartNs() == 1);
    }

    @Test
    void mayBeClosedWhileThreadsUseIt() throws Exception {
        try (MetalApp app = new MetalApp()) {
            MetalStream stream = app.stream();
            AtomicInteger begun = new AtomicInteger();
            Crew crew = new Crew();
            for (int thread = 0; thread < SUBMITTERS; thread++) {
                crew.run(() -> {
                    int mark = stream.mark();
                    while (mark != NO_MARK) {
                        app.submit("work", 1);
                        SimulatedMetal.run(1);
                        stream.isReached(mark);
                        stream.elapsedNs(mark, mark);
                        stream.drain(buffer -> {}, dispatch -> {});
                        stream.release(mark);
                        begun.incrementAndGet();
                        mark = stream.mark();
                    }
                });
            }
            while (begun.get() < 50) {
                Thread.onSpinWait();
            }
            stream.close();
            crew.join();
            assertThat(stream.mark()).isEqualTo(NO_MARK);
        }
    }

    /** The collector closes no queue that somebody may still make command buffers of. */
    @Test
    void aQueueWhoseAddressTheApplicationHasIsKept() {
        try (CapturedLog log = new CapturedLog()) {
            long queue = MetalStream.onDevice().open().queue();
            Collected.until(() -> log.linesWith("whose address the application has, is kept") > 0);
            Pointer buffer = SimulatedMetal.bufferNew(new Pointer(queue), "work");
            SimulatedMetal.work(buffer, 10);
            SimulatedMetal.commit(buffer);
            assertThat(SimulatedMetal.run(-1)).isOne();
            SimulatedMetal.release(buffer);
        }
    }
}
