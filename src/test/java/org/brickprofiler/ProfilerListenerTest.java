package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class ProfilerListenerTest {

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final List<String> heard = new ArrayList<>();

    private final ProfilerListener listener = new ProfilerListener() {
        @Override
        public boolean wantsBricks() {
            return true;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {
            heard.add(brick + " " + category + " " + endNs + " " + elapsedNs + " " + elements);
        }

        @Override
        public void stepBegan(StepInfo info) {
            heard.add("step of " + info.prefillTokens());
        }

        @Override
        public void stepEnded(Step step) {
            heard.add("step took " + step.durationNs() + " " + step.categoryNs());
        }
    };

    ProfilerListenerTest() {
        profiler.enable();
    }

    @Spec({"2.6", "21.1"})
    @Test
    void itDoesNotHearOfSamplesWhoseTimeIsUnknown() {
        profiler.addListener(listener);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.advance((1L << 50) + 1);
        profiler.stopBrick(timer, 1);

        assertThat(heard).isEmpty();
        assertThat(profiler.snapshot().unresolved()).isEqualTo(1);
    }

    @Spec("21.1")
    @Test
    void itHearsEverySampleThatTheHostTimes() {
        profiler.addListener(listener);
        clock.set(100);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.set(130);
        timer = profiler.lap(timer, 1, profiler.brickKey("mine", BrickCategory.FFN));
        clock.set(137);
        ThreadProfiler mine = profiler.forThisThread();
        timer = mine.lap(timer, 2, BrickId.ROPE_EMBEDDING);
        clock.set(140);
        mine.stopBrick(timer, 3);
        profiler.record("mine", 11, 4);
        profiler.recordBytes(BrickId.ACTIVATION, 12, 5, 1, 1);
        profiler.recordCycles(BrickId.ACTIVATION, 13, 6, 1);
        profiler.time(BrickId.SAMPLING, 7, () -> clock.set(150));

        assertThat(heard)
                .containsExactly(
                        "RmsNorm NORM 130 30 1",
                        "mine FFN 137 7 2",
                        "RopeEmbedding ATTENTION 140 3 3",
                        "mine FFN 140 11 4",
                        "Activation " + BrickId.ACTIVATION.category() + " 140 12 5",
                        "Activation " + BrickId.ACTIVATION.category() + " 140 13 6",
                        "Sampling " + BrickId.SAMPLING.category() + " 150 10 7");
    }

    @Spec("21.1")
    @Test
    void itHearsStepsAndNothingOnceItIsRemovedOrTheProfilerIsOff() {
        profiler.addListener(listener);
        profiler.beginStep(StepInfo.prefill(5));
        profiler.record(BrickId.RMS_NORM, 40, 1);
        clock.advance(50);
        profiler.endPass();
        profiler.endPass();
        assertThat(heard).containsExactly("step of 5", "RmsNorm NORM 0 40 1", "step took 50 {NORM=40}");

        profiler.disable();
        profiler.record(BrickId.RMS_NORM, 40, 1);
        profiler.beginStep(StepInfo.prefill(6));
        profiler.endPass();
        profiler.enable();
        profiler.removeListener(listener);
        profiler.record(BrickId.RMS_NORM, 40, 1);
        profiler.beginStep(StepInfo.prefill(7));
        profiler.endPass();
        assertThat(heard).hasSize(3);
        assertThat(profiler.followed).isFalse();
    }

    @Spec("21.1")
    @Test
    void aListenerThatThrowsIsRemovedAndTheSampleStays() {
        profiler.addListener(new ProfilerListener() {
            @Override
            public boolean wantsBricks() {
                return true;
            }

            @Override
            public void brickRecorded(
                    String brick,
                    BrickCategory category,
                    Optional<StepInfo.Phase> phase,
                    long endNs,
                    long elapsedNs,
                    long elements) {
                heard.add(brick);
                throw new IllegalStateException("on purpose");
            }

            @Override
            public void stepBegan(StepInfo info) {}

            @Override
            public void stepEnded(Step step) {}
        });
        profiler.addListener(listener);
        profiler.record(BrickId.RMS_NORM, 1, 1);
        profiler.record(BrickId.RMS_NORM, 2, 1);

        assertThat(heard).containsExactly("RmsNorm", "RmsNorm NORM 0 1 1", "RmsNorm NORM 0 2 1");
        assertThat(profiler.brickStats(BrickId.RMS_NORM).count()).isEqualTo(2);
    }

    @Test
    void theGraphStillFollowsWhenAListenerGoes() {
        profiler.graph().enable();
        profiler.addListener(listener);
        profiler.removeListener(listener);
        profiler.stopBrick(profiler.startBrick(BrickId.RMS_NORM), 1);

        assertThat(profiler.graph().graph().nodeCount()).isEqualTo(1);
    }
}
