package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongConsumer;
import org.brickprofiler.internal.record.TimerToken;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.SimulatedStream;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.tile.TileLevel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Every way to stop a timer refuses negative elements, for every timer and every state of the switch. */
@Spec("2.7")
final class NegativeElementsTest {

    enum Kind {
        HOST {
            @Override
            BrickProfiler profiler(FakeClock clock) {
                return BrickProfiler.builder().clock(clock).build();
            }
        },
        DEVICE {
            @Override
            BrickProfiler profiler(FakeClock clock) {
                return BrickProfiler.builder()
                        .clock(clock)
                        .deviceStream(new SimulatedStream("decode", clock))
                        .build();
            }
        };

        abstract BrickProfiler profiler(FakeClock clock);
    }

    private final FakeClock clock = new FakeClock(1_000);

    /** Returns a timer of each kind. */
    private static List<Long> timers(BrickProfiler profiler) {
        long unknown = TimerToken.pack(4_000, 5);
        profiler.tiles().enable();
        long tile = profiler.tiles().start(TileLevel.MACRO, 1, 2);
        return List.of(TimerToken.VOID, profiler.startBrick(BrickId.LM_HEAD), unknown, tile, -1L);
    }

    @ParameterizedTest
    @EnumSource
    void forEverySwitchAndTimer(Kind kind) {
        for (boolean on : new boolean[] {true, false}) {
            BrickProfiler profiler = kind.profiler(clock);
            int key = profiler.brickKey("mine");
            profiler.enable();
            List<Long> timers = new ArrayList<>(timers(profiler));
            if (!on) {
                profiler.disable();
            }
            ThreadProfiler bound = profiler.forThisThread();
            List<LongConsumer> calls = List.of(
                    timer -> profiler.stopBrick(timer, -7),
                    timer -> profiler.lap(timer, -7, BrickId.RMS_NORM),
                    timer -> profiler.lap(timer, -7, key),
                    timer -> profiler.lap(timer, -7, 4_000),
                    timer -> bound.stopBrick(timer, -7),
                    timer -> bound.lap(timer, -7, BrickId.RMS_NORM),
                    timer -> bound.lap(timer, -7, key),
                    timer -> bound.lap(timer, -7, 4_000));
            for (long timer : timers) {
                for (LongConsumer call : calls) {
                    assertThatIllegalArgumentException()
                            .as("%s, on %s, timer %x, call %d", kind, on, timer, calls.indexOf(call))
                            .isThrownBy(() -> call.accept(timer))
                            .withMessage("elements -7 is negative");
                }
            }
            profiler.endPass();
            assertThat(profiler.snapshot().bricks()).isEmpty();
            assertThat(profiler.pendingCount()).isZero();
        }
    }

    @Test
    void tilesRefuseThemToo() {
        BrickProfiler profiler = new BrickProfiler();
        for (boolean on : new boolean[] {true, false}) {
            profiler.tiles().enable();
            long timer = profiler.tiles().start(TileLevel.MICRO, 1, 1);
            if (!on) {
                profiler.tiles().disable();
            }
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> profiler.tiles().start(TileLevel.MICRO, 1, -7))
                    .withMessage("col -7 is negative");
            for (long each : new long[] {TimerToken.VOID, timer}) {
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> profiler.tiles().stop(each, -7, 1))
                        .withMessage("elements -7 is negative");
                assertThatIllegalArgumentException()
                        .isThrownBy(() -> profiler.tiles().stop(each, 1, -7))
                        .withMessage("flops -7 is negative");
            }
            assertThat(profiler.tiles().stats(TileLevel.MICRO).count()).isZero();
        }
    }

    @Spec("2.8")
    @ParameterizedTest
    @EnumSource
    @SuppressWarnings({"NullAway", "DataFlowIssue"}) // The refusal of null is the subject.
    void aLapToNoBrickRecordsNothing(Kind kind) {
        BrickProfiler profiler = kind.profiler(clock);
        profiler.enable();
        ThreadProfiler bound = profiler.forThisThread();
        long timer = profiler.startBrick(BrickId.LM_HEAD);

        assertThatNullPointerException().isThrownBy(() -> profiler.lap(timer, 1, null));
        assertThatNullPointerException().isThrownBy(() -> bound.lap(timer, 1, null));
        profiler.endPass();
        assertThat(profiler.snapshot().bricks()).isEmpty();
    }
}
