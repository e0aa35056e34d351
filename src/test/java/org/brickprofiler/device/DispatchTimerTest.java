package org.brickprofiler.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.Backend;
import org.brickprofiler.kernel.KernelTiming;
import org.brickprofiler.kernel.KernelTimings;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class DispatchTimerTest {

    private final FakeClock clock = new FakeClock(1_000);
    private final SimulatedStream stream = new SimulatedStream("decode", clock);
    private final DispatchTimer dispatches = new DispatchTimer(stream, 8);
    private final List<String> drained = new ArrayList<>();

    private int drain() {
        drained.clear();
        return dispatches.drain(Backend.CUDA, (name, backend, ns) -> drained.add(name + " " + backend + " " + ns));
    }

    @Test
    void finishedWorkGoesIntoKernelTimings() {
        KernelTimings timings = new KernelTimings();
        for (int i = 1; i <= 3; i++) {
            int ns = 100 * i;
            dispatches.time("matmul", () -> stream.work(ns));
            dispatches.time("rope", () -> stream.work(7));
        }
        stream.finish();

        assertThat(dispatches.drain(Backend.CUDA, timings::record)).isEqualTo(6);
        assertThat(timings.snapshot())
                .containsExactly(
                        new KernelTiming("matmul", Backend.CUDA, 3, 600, 100, 300, 300),
                        new KernelTiming("rope", Backend.CUDA, 3, 21, 7, 7, 7));
        assertThat(dispatches.drain(Backend.CUDA, timings::record)).isZero();
        assertThat(dispatches.lost()).isZero();
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("11.8")
    @Test
    void unfinishedDispatchesAreHandedOverLaterWithoutAWait() {
        dispatches.time("first", () -> stream.work(10));
        dispatches.time("second", () -> stream.work(20));
        assertThat(drain()).isZero();
        clock.advance(10);
        assertThat(drain()).isOne();
        assertThat(drained).containsExactly("first CUDA 10");
        clock.advance(20);
        drain();
        assertThat(drained).containsExactly("second CUDA 20");
        assertThat(stream.waits()).isZero();
    }

    @Test
    void aDispatchAroundAnotherIsTimedToo() {
        long outer = dispatches.begin("outer");
        dispatches.time("inner", () -> stream.work(10));
        stream.work(5);
        dispatches.end(outer);
        stream.finish();
        drain();
        assertThat(drained).containsExactly("inner CUDA 10", "outer CUDA 15");
    }

    @Test
    void aTicketEndsOneDispatchOnce() {
        long ticket = dispatches.begin("one");
        stream.work(10);
        dispatches.end(ticket);
        dispatches.end(ticket);
        stream.finish();
        assertThat(drain()).isOne();
        dispatches.end(ticket);
        long next = dispatches.begin("two");
        dispatches.end(ticket);
        stream.work(3);
        dispatches.end(next);
        dispatches.end(DispatchTimer.NOT_TIMED);
        dispatches.end(1L << 50);
        stream.finish();
        drain();
        assertThat(drained).containsExactly("two CUDA 3");
        assertThat(stream.marksHeld()).isZero();
    }

    @Spec("11.8")
    @Test
    void dispatchesWithoutRoomRunAndAreCountedAsLost() {
        int[] runs = {0};
        for (int i = 0; i < 11; i++) {
            dispatches.time("k", () -> runs[0]++);
        }
        assertThat(runs[0]).isEqualTo(11);
        assertThat(dispatches.lost()).isEqualTo(3);
        assertThat(stream.marksHeld()).isEqualTo(16);
        assertThat(drain()).isEqualTo(8);
        dispatches.time("k", () -> {});
        assertThat(dispatches.lost()).isEqualTo(3);
    }

    @Spec("11.8")
    @Test
    void dispatchesWithoutATimeAreCountedAsLost() {
        stream.capture(true);
        dispatches.time("captured", () -> {});
        assertThat(drain()).isZero();
        stream.capture(false);
        assertThat(drain()).isZero();
        assertThat(dispatches.lost()).isOne();

        SimulatedStream small = new SimulatedStream("small", clock, 1);
        DispatchTimer tight = new DispatchTimer(small, 8);
        tight.time("no mark at the end", () -> {});
        assertThat(tight.lost()).isOne();
        assertThat(small.marksHeld()).isZero();
        stream.lose();
        dispatches.time("lost", () -> {});
        assertThat(dispatches.lost()).isEqualTo(2);
    }

    @Test
    void whatWasDoneBeforeTheStreamClosedIsHandedOver() {
        dispatches.time("done", () -> stream.work(10));
        stream.finish();
        dispatches.time("not done", () -> stream.work(10));
        stream.close();
        assertThat(drain()).isOne();
        assertThat(drained).containsExactly("done CUDA 10");
        assertThat(dispatches.lost()).isOne();
    }

    @Test
    void codeThatThrowsIsTimedAndThrows() {
        assertThatThrownBy(() -> dispatches.time("broken", () -> {
                    stream.work(4);
                    throw new IllegalStateException("no launch");
                }))
                .hasMessage("no launch");
        stream.finish();
        drain();
        assertThat(drained).containsExactly("broken CUDA 4");
    }

    @Test
    void eachDispatchOfConcurrentThreadsIsTimedOrCountedAsLost() throws Exception {
        HostStream host = new HostStream();
        DispatchTimer shared = new DispatchTimer(host, 64);
        KernelTimings timings = new KernelTimings();
        int threads = 4;
        int each = 20_000;
        Crew crew = new Crew();
        for (int thread = 0; thread < threads; thread++) {
            crew.run(() -> IntStream.range(0, each).forEach(i -> {
                shared.time("k", () -> {});
                if (i % 8 == 0) {
                    shared.drain(Backend.CPU, timings::record);
                }
            }));
        }
        crew.join();
        shared.drain(Backend.CPU, timings::record);
        long timed = timings.snapshot().stream()
                .mapToLong(KernelTiming::dispatchCount)
                .sum();
        assertThat(timed + shared.lost()).isEqualTo((long) threads * each);
        assertThat(timed).isPositive();
    }

    @Spec("12.32")
    @Test
    void marksOfUnreachableTimersAreReleased() {
        abandonWithMarks();
        assertThat(stream.marksHeld()).isEqualTo(5);
        Collected.until(() -> stream.marksHeld() == 0);
    }

    private void abandonWithMarks() {
        DispatchTimer abandoned = new DispatchTimer(stream, 8);
        abandoned.time("done", () -> stream.work(10));
        abandoned.begin("open");
        StreamTimer timer = new StreamTimer(stream);
        timer.recordStart();
        timer.recordEnd();
    }

    @Test
    @SuppressWarnings("NullAway") // null is refused
    void badArgumentsAreRefused() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dispatches.begin(""))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> dispatches.begin(null))
                .withMessageContaining("name");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new DispatchTimer(stream, 0))
                .withMessageContaining("0");
        assertThat(stream.marksHeld()).isZero();
    }
}
