package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.OneJdk;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.LineProfile.OfBrick;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** In how many first passes a method was interpreted, as far as samples show it. */
@OneJdk
class InterpretedPassesTest {

    /** A sample each ten passes, of which those at the beginning are interpreted. */
    @Spec("13.18")
    @ParameterizedTest
    @CsvSource({
        // The first passes end with a bucket, here before pass 384.
        "40, 60, 381",
        "5, 60, 41",
        "4, 16, 31",
        // Too few before, too few after, or interpreted all the time.
        "3, 60, 0",
        "40, 15, 0",
        "40, 0, 0",
        "0, 60, 0"
    })
    void areKnownWithEnoughSamplesBeforeAndAfter(int before, int after, long expected) {
        InterpretedPasses passes = new InterpretedPasses();
        for (int i = 0; i < before + after; i++) {
            passes.add(10L * i, i < before);
        }
        assertThat(passes.first()).isEqualTo(expected == 0 ? OptionalLong.empty() : OptionalLong.of(expected));
        passes.add(LineSeries.UNKNOWN_PASS, false);
        assertThat(passes.first()).isEmpty();
    }

    @Spec("13.18")
    @Test
    void areNotKnownIfTheMethodIsInterpretedNowAndThen() {
        InterpretedPasses passes = new InterpretedPasses();
        for (int i = 0; i < 1_000; i++) {
            passes.add(i, i % 3 == 0);
        }
        assertThat(passes.first()).isEmpty();
        InterpretedPasses few = new InterpretedPasses();
        for (int i = 0; i < 1_000; i++) {
            few.add(i, i < 100 || i % 50 == 0);
        }
        assertThat(few.first().orElseThrow()).isBetween(96L, 112L);
    }

    private final FakeClock clock = new FakeClock();

    @Spec("13.18")
    @Test
    void countThePassesOfTheOnlyThreadThatRunsThem() {
        LineProfile profile = profile(false);
        OfBrick head = profile.bricks().get(0);
        assertThat(head.interpretedPasses()).hasValue(40);
        assertThat(profile.hottestLine("LmHead"))
                .contains("In decode steps, 60 % of its samples (50 to 69 %) are in B.run line 7, its method"
                        + " interpreted in the first 40 recorded passes");
        assertThat(profile.text())
                .contains(" a.B.run line 7, its method interpreted in the first 40 recorded passes\n");
        assertThat(LineProfile.fromJson(profile.toJson())).isEqualTo(profile);

        assertThat(profile(true).bricks())
                .as("passes of two profilers")
                .extracting(OfBrick::samples, OfBrick::interpretedPasses)
                .containsExactly(tuple(100L, OptionalLong.empty()));
    }

    /** Records a hundred passes with a sample each, and perhaps one of another profiler. */
    private LineProfile profile(boolean hasOther) {
        TraceRecorder recorder = TraceRecorder.builder()
                .clock(clock)
                .times(new FakeTimes())
                .lines(true)
                .build();
        LineLog log = recorder.lineLog().orElseThrow();
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int pass = 0; pass < 100; pass++) {
            profiler.beginStep(StepInfo.decode(1));
            long timer = profiler.startBrick(BrickId.LM_HEAD);
            long atNs = clock.nanoTime() + 5;
            clock.set(atNs + 5);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
            log.sample(
                    Thread.currentThread().getId(),
                    atNs,
                    false,
                    List.of(
                            pass < 40
                                    ? new Frame("a.B.run", pass % 3, "Interpreted")
                                    : new Frame("a.B.run", 7, "JIT compiled")));
            if (pass % 30 == 0) {
                log.reported(clock.nanoTime(), clock.nanoTime(), 0);
            }
            clock.set(atNs + 10);
        }
        BrickProfiler other =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        other.enable();
        for (int pass = 0; pass < 2 && hasOther; pass++) {
            other.beginStep(StepInfo.decode(1));
            other.endPass();
            clock.set(clock.nanoTime() + 10);
        }
        log.reported(clock.nanoTime(), clock.nanoTime(), 0);
        return log.profile();
    }
}
