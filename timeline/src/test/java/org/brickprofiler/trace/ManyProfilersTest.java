package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.internal.record.SpanKind;
import org.brickprofiler.internal.record.SpanSink;
import org.brickprofiler.internal.record.SpanSinks;
import org.brickprofiler.internal.record.SpanStore;
import org.brickprofiler.internal.record.TableRegistry;
import org.brickprofiler.spi.NanoClock;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** A recorder outlives the profilers that use it: their recordings stay, and nothing else of them. */
final class ManyProfilersTest {

    private static final int PROFILERS = 1_000;

    private final FakeClock clock = new FakeClock(1_000);
    private final TraceRecorder recorder = TraceRecorder.builder()
            .clock(clock)
            .tiles(true)
            .totalCapacity(1_000_000)
            .build();
    private final String thread = Thread.currentThread().getName();

    /** Names that nothing else in the virtual machine holds. */
    private static final class Named implements SpanSink.Names {
        private final int number;

        Named(int number) {
            this.number = number;
        }

        @Override
        public int size() {
            return 3;
        }

        @Override
        public String name(int key) {
            return "brick " + key + " of " + number;
        }

        @Override
        public String category(int key) {
            return "Other";
        }
    }

    /**
     * Uses the recorder and collects garbage until no more references than expected are left, and returns how many are.
     */
    private long left(List<? extends WeakReference<?>> references, int expected) {
        Collected.until(() -> {
            recorder.eventCount();
            return present(references) <= expected;
        });
        return present(references);
    }

    private static long present(List<? extends WeakReference<?>> references) {
        return references.stream().filter(reference -> reference.get() != null).count();
    }

    private WeakReference<SpanSink.Names> source(int number, int spans) {
        SpanSink.Names names = new Named(number);
        SpanStore store = SpanSinks.of(recorder).bricks(names);
        TableRegistry registry = new TableRegistry(0, false, null, store, null);
        for (int i = 0; i < spans; i++) {
            registry.mark(SpanKind.SPAN, 1 + i % 2, 1_000L * number + i, 1, 1);
        }
        return new WeakReference<>(names);
    }

    /** A profiler with a name that is used and one that is not; its clock stands for all that it holds. */
    private WeakReference<NanoClock> profiler(int number) {
        NanoClock own = clock::now;
        BrickProfiler profiler =
                BrickProfiler.builder().clock(own).tracing(recorder).build();
        profiler.enable();
        profiler.tiles().enable();
        profiler.brickKey("unused " + number);
        profiler.time(BrickId.RMS_NORM, 1, () -> clock.advance(1));
        long timer = profiler.startBrick("used " + number % 7);
        clock.advance(1);
        profiler.stopBrick(timer, 1);
        return new WeakReference<>(own);
    }

    @Spec("13.3")
    @Test
    void thousandProfilersLeaveTheirSpansOnly() {
        List<WeakReference<NanoClock>> profilers = new ArrayList<>();
        for (int i = 0; i < PROFILERS; i++) {
            profilers.add(profiler(i));
        }

        assertThat(left(profilers, 0)).isZero();
        assertThat(recorder.eventCount()).isEqualTo(2 * PROFILERS);
        Timeline timeline = recorder.timeline();
        List<String> events = Replay.of(timeline, thread);
        assertThat(events).hasSize(2 * PROFILERS);
        assertThat(events.subList(0, 4))
                .containsExactly(
                        "RmsNorm 1000..1001 x1",
                        "used 0 1001..1002 x1",
                        "RmsNorm 1002..1003 x1",
                        "used 1 1003..1004 x1");
        // The virtual machine clears the references to the stores one by one.
        Collected.until(() -> !hasUnusedNames());
        assertThat(hasUnusedNames()).isFalse();
    }

    /** Returns whether the recorder keeps a name that no event has. */
    private boolean hasUnusedNames() {
        return recorder.timeline().names().stream().anyMatch(name -> name.name().startsWith("unused"));
    }

    /**
     * The recorder keeps no table of names, neither of profilers that recorded nothing nor of those whose spans it
     * keeps.
     */
    @Test
    void tablesOfNamesOfProfilersAreNotKept() {
        List<WeakReference<SpanSink.Names>> names = new ArrayList<>();
        for (int i = 0; i < PROFILERS; i++) {
            names.add(source(i, i % 3));
        }

        assertThat(left(names, 0)).isZero();
        List<String> events = Replay.of(recorder.timeline(), thread);
        assertThat(events)
                .hasSize(PROFILERS - 1)
                .startsWith("brick 1 of 1 1000..1001 x1", "brick 1 of 2 2000..2001 x1");
        assertThat(events).contains("brick 2 of 5 5001..5002 x1");

        recorder.clear();
        assertThat(recorder.eventCount()).isZero();
        assertThat(recorder.timeline().tracks()).isEmpty();
    }

    /** A ring with few entries gives its room back: otherwise 1,000 profilers would use up the common bound. */
    @Test
    void theRoomOfForgottenProfilersComesBack() {
        int smallestRing = 256;
        int atOnce = 200;
        TraceRecorder small = TraceRecorder.builder()
                .clock(clock)
                .totalCapacity(PROFILERS + 3L * atOnce * smallestRing)
                .build();
        ReferenceQueue<Object> gone = new ReferenceQueue<>();
        for (int i = 0; i < PROFILERS; i += atOnce) {
            List<WeakReference<Object>> stores = new ArrayList<>();
            for (int j = 0; j < atOnce; j++) {
                stores.add(new WeakReference<>(usedStore(small, i + j), gone));
            }
            for (int j = 0; j < stores.size(); j++) {
                Collected.until(() -> gone.poll() != null);
            }
            assertThat(small.eventCount()).isEqualTo(i + atOnce);
        }

        assertThat(small.timeline().info().droppedSpans()).isZero();
    }

    private static SpanStore usedStore(TraceRecorder user, int number) {
        SpanStore store = SpanSinks.of(user).bricks(new Named(number));
        new TableRegistry(0, false, null, store, null).mark(SpanKind.SPAN, 1, number, 1, 1);
        return store;
    }

    @Test
    void aProfilerInUseIsNotForgotten() {
        BrickProfiler used =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        used.enable();
        int key = used.brickKey("mine");
        assertThat(left(List.of(profiler(1), source(2, 0)), 0)).isZero();
        recorder.clear();

        long timer = used.startBrick(key);
        clock.advance(5);
        used.stopBrick(timer, 3);

        assertThat(Replay.of(recorder.timeline(), thread))
                .singleElement()
                .asString()
                .startsWith("mine ")
                .endsWith(" x3");
    }

    // ---- devices ----

    private WeakReference<NanoClock> deviceProfiler(SimulatedStream stream, boolean endsPass) {
        NanoClock own = clock::now;
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(own)
                .tracing(recorder)
                .deviceStream(stream)
                .build();
        profiler.enable();
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        stream.work(10);
        clock.advance(1);
        profiler.stopBrick(timer, 1);
        if (endsPass) {
            profiler.endPass();
        }
        return new WeakReference<>(own);
    }

    /**
     * The stream is the application's, and stays open: a profiler that waits for nothing on it is gone all the same.
     */
    @Test
    void profilersOfAnOpenStreamLeaveTheirSpansOnly() {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        List<WeakReference<NanoClock>> profilers = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            profilers.add(deviceProfiler(stream, true));
        }

        assertThat(left(profilers, 0)).isZero();
        assertThat(Replay.of(recorder.timeline(), "decode"))
                .hasSize(50)
                .allMatch(event -> event.contains(" sample in "));
        assertThat(Replay.of(recorder.timeline(), thread)).hasSize(50 * 2);

        recorder.clear();
        assertThat(recorder.eventCount()).isZero();
        stream.close();
    }

    @Test
    void aProfilerWhoseSamplesWaitIsKeptUntilTheStreamHasToldThem() {
        SimulatedStream stream = new SimulatedStream("decode", clock);
        List<WeakReference<NanoClock>> profilers = List.of(deviceProfiler(stream, true), deviceProfiler(stream, false));

        assertThat(left(profilers, 1)).isEqualTo(1);
        clock.advance(1_000);
        stream.close();

        assertThat(left(profilers, 0)).isZero();
        assertThat(Replay.of(recorder.timeline(), "decode")).hasSize(2);
    }
}
