package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.LongConsumer;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.brickprofiler.Attribution;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfileSnapshot;
import org.brickprofiler.StepInfo;
import org.brickprofiler.SyncMode;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.trace.SpanName;
import org.brickprofiler.trace.TraceRecorder;

/** A profiler's measurements are read back from a timeline of them, in either format. */
@OneJdk
final class RoundTripProperties {

    private static final List<BrickId> IDS =
            List.of(BrickId.RMS_NORM, BrickId.FUSED_ATTENTION, BrickId.QKV_PROJECTION, BrickId.OUTPUT_PROJECTION);

    private static final List<String> NAMES =
            List.of("RmsNorm (2)", "a \"name\"\n with \\ and \u00e9\u20ac\uD83D\uDE00", "step", "Layer 0", "other");

    enum What {
        START,
        STOP,
        LAP,
        MOMENT,
        RECORD,
        RECORD_NAME,
        DEFERRED,
        START_LAYER,
        END_LAYER,
        END_PASS,
        BEGIN_STEP,
        ABANDON,
        WORKER,
        APPLICATION
    }

    /** An operation after a pause. */
    record Op(What what, int brick, long pauseNs, long number) {}

    @Provide
    Arbitrary<List<List<Op>>> programs() {
        Arbitrary<Op> op = Combinators.combine(
                        Arbitraries.of(What.values()),
                        Arbitraries.integers().between(0, 4),
                        Arbitraries.longs().between(1, 5_000),
                        Arbitraries.longs().between(0, 100_000))
                .as(Op::new);
        return op.list().ofMaxSize(60).list().ofMinSize(1).ofMaxSize(3);
    }

    /** A run of a program; every sample ends at a time of its own, for ties are not kept apart. */
    private static final class Run {
        private final FakeClock clock;
        private final BrickProfiler profiler;
        private final TraceRecorder recorder;
        private final LongConsumer device;
        private final Deque<Long> timers = new ArrayDeque<>();

        /** Creates a run; the device accepts the ns of the work that each operation enqueues. */
        Run(FakeClock clock, LongConsumer device, BrickProfiler profiler, TraceRecorder recorder) {
            this.clock = clock;
            this.device = device;
            this.profiler = profiler;
            this.recorder = recorder;
        }

        void all(List<Op> program) {
            program.forEach(this::one);
            while (!timers.isEmpty()) {
                clock.advance(1);
                profiler.stopBrick(timers.pop(), 1);
            }
        }

        private BrickId id(Op op) {
            return IDS.get(op.brick() % IDS.size());
        }

        private int key(Op op) {
            BrickCategory[] categories = BrickCategory.values();
            return profiler.brickKey(NAMES.get(op.brick()), categories[2 * op.brick() % categories.length]);
        }

        private void one(Op op) {
            clock.advance(op.pauseNs());
            device.accept(1 + op.number() % 9_000);
            switch (op.what()) {
                case START ->
                    timers.push(op.number() % 2 == 0 ? profiler.startBrick(id(op)) : profiler.startBrick(key(op)));
                case STOP -> {
                    if (!timers.isEmpty()) {
                        // Not always the innermost: then spans overlap without nesting.
                        profiler.stopBrick(op.number() % 5 == 0 ? timers.removeLast() : timers.pop(), op.number());
                    }
                }
                case LAP -> {
                    if (!timers.isEmpty()) {
                        timers.push(profiler.lap(timers.pop(), op.number(), id(op)));
                    }
                }
                case MOMENT -> profiler.stopBrick(profiler.startBrick(id(op)), op.number());
                case RECORD -> profiler.record(id(op), op.number(), op.number() / 3);
                case RECORD_NAME -> profiler.record(key(op), op.number(), 1);
                case DEFERRED -> deferred(op);
                case START_LAYER -> profiler.startLayer();
                case END_LAYER -> profiler.endLayer();
                case END_PASS -> profiler.endPass();
                case BEGIN_STEP -> profiler.beginStep(step(op));
                case ABANDON -> profiler.abandonPass();
                case WORKER -> worker(op);
                default -> application(op);
            }
        }

        private static StepInfo step(Op op) {
            StepInfo.Phase[] phases = StepInfo.Phase.values();
            return new StepInfo(phases[op.brick() % phases.length], 1, op.number(), 0, 1, 0);
        }

        /** Another thread works meanwhile: for the layer, in a step of its own, or in none. */
        private void worker(Op op) {
            long layer = profiler.layerToken();
            try {
                Crew.runOnNewThread(() -> {
                    if (op.number() % 3 > 0) {
                        profiler.beginStep(step(op));
                    }
                    if (op.number() % 2 > 0) {
                        profiler.workFor(layer);
                    }
                    long timer = profiler.startBrick(id(op));
                    clock.advance(1 + op.number() % 100);
                    profiler.stopBrick(timer, op.number());
                    if (op.number() % 5 > 0) {
                        profiler.endPass();
                    }
                });
            } catch (Exception failed) {
                throw new AssertionError(failed);
            }
        }

        /**
         * Each brick occurs once, because a timeline does not show which of several bricks that one synchronisation
         * ended was last.
         */
        private void deferred(Op op) {
            for (int i = 0; i <= op.brick() % IDS.size(); i++) {
                profiler.recordDeferred(IDS.get(i), profiler.elapsedNs(), op.number());
                clock.advance(op.number() % 3);
            }
            clock.advance(1);
            profiler.finalize(profiler.elapsedNs());
        }

        /** None of these is a brick, whatever its name. */
        private void application(Op op) {
            recorder.instant("FFN");
            recorder.span("RmsNorm", BrickCategory.NORM.displayName(), clock.now() - op.number(), op.number());
            recorder.span("decode", SpanName.STEP, clock.now() - op.number(), op.number());
            recorder.push("RmsNorm", BrickCategory.NORM.displayName(), op.number(), op.brick());
            recorder.counter("c", "ns").set((double) op.number());
        }
    }

    private static void check(List<List<Op>> programs, Attribution attribution, long startNs) throws Exception {
        FakeClock clock = new FakeClock(startNs);
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .attribution(attribution)
                .tracing(recorder)
                .build();
        profiler.enable();
        for (List<Op> program : programs) {
            new Crew()
                    .run(() -> new Run(clock, ns -> {}, profiler, recorder).all(program))
                    .join();
            clock.advance(1);
        }
        RoundTrip.assertSame(recorder.timeline(), profiler.snapshot());
    }

    @Property(tries = 150)
    void measurementsAreReadBack(
            @ForAll("programs") List<List<Op>> programs, @ForAll Attribution attribution, @ForAll boolean negative)
            throws Exception {
        check(programs, attribution, negative ? -1_000_000L : 1_000_000_000_000L);
    }

    /**
     * Returns the bricks that have samples with a time, because a timeline has no others. Their last time is 0: if a
     * wait resolved samples of a device, the timeline does not show which of two samples was the last.
     */
    private static List<RoundTrip.Brick> timed(List<RoundTrip.Brick> bricks) {
        return bricks.stream()
                .filter(brick -> brick.count() > 0)
                .map(brick -> new RoundTrip.Brick(
                        brick.name(),
                        brick.category(),
                        brick.count(),
                        brick.totalNs(),
                        brick.minNs(),
                        brick.maxNs(),
                        0,
                        brick.elements()))
                .toList();
    }

    @Property(tries = 150)
    void samplesOfADeviceAreReadBack(@ForAll("programs") List<List<Op>> programs, @ForAll SyncMode mode)
            throws Exception {
        FakeClock clock = new FakeClock(1_000_000);
        TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
        SimulatedStream stream = new SimulatedStream("decode", clock);
        BrickProfiler profiler = BrickProfiler.builder()
                .clock(clock)
                .deviceStream(stream)
                .tracing(recorder)
                .build();
        profiler.enable();
        profiler.setSyncMode(mode);
        for (List<Op> program : programs) {
            new Crew()
                    .run(() -> new Run(clock, stream::work, profiler, recorder).all(program))
                    .join();
        }
        profiler.endPass();
        for (RoundTrip.Format format : RoundTrip.Format.values()) {
            ProfileSnapshot read = format.read(recorder.timeline()).snapshot();
            assertThat(timed(RoundTrip.bricks(read)))
                    .as("read from %s", format)
                    .isEqualTo(timed(RoundTrip.bricks(profiler.snapshot())));
            for (StepInfo.Phase phase : StepInfo.Phase.values()) {
                assertThat(timed(RoundTrip.bricks(read.bricks(phase))))
                        .as("%s read from %s", phase, format)
                        .isEqualTo(timed(RoundTrip.bricks(profiler.snapshot().bricks(phase))));
            }
        }
    }
}
