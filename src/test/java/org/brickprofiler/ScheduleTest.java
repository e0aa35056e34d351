package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.brickprofiler.Schedule.Stage.ACTIVE;
import static org.brickprofiler.Schedule.Stage.DONE;
import static org.brickprofiler.Schedule.Stage.SKIP_FIRST;
import static org.brickprofiler.Schedule.Stage.WAIT;
import static org.brickprofiler.Schedule.Stage.WARMUP;

import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class ScheduleTest {

    private static List<Schedule.Stage> stages(Schedule schedule, int steps) {
        return LongStream.range(0, steps).mapToObj(schedule::stage).toList();
    }

    @Spec("6.1")
    @Test
    void goesThroughItsPhases() {
        assertThat(stages(new Schedule(2, 1, 1, 2, 2), 12))
                .containsExactly(
                        SKIP_FIRST, SKIP_FIRST, WAIT, WARMUP, ACTIVE, ACTIVE, WAIT, WARMUP, ACTIVE, ACTIVE, DONE, DONE);
    }

    @Spec("6.1")
    @Test
    void aRepeatOfZeroHasNoEnd() {
        Schedule schedule = new Schedule(0, 0, 1, 1, 0);

        assertThat(schedule.stage(Long.MAX_VALUE - 1)).isSameAs(WARMUP);
        assertThat(schedule.stage(Long.MAX_VALUE)).isSameAs(ACTIVE);
    }

    @Test
    void onceIsOneCycle() {
        assertThat(Schedule.once(1, 2)).isEqualTo(new Schedule(0, 0, 1, 2, 1));
        assertThat(stages(Schedule.once(1, 2), 4)).containsExactly(WARMUP, ACTIVE, ACTIVE, DONE);
        assertThat(stages(Schedule.once(0, 1), 2)).containsExactly(ACTIVE, DONE);
    }

    @Test
    void countsCycles() {
        Schedule schedule = new Schedule(2, 1, 1, 2, 2);

        assertThat(LongStream.range(0, 11).map(schedule::cycle).toArray())
                .containsExactly(-1, -1, 0, 0, 0, 0, 1, 1, 1, 1, 2);
        assertThat(LongStream.range(0, 12).filter(schedule::endsCycle).toArray())
                .containsExactly(5, 9);
    }

    @Test
    void largeNumbersDoNotOverflow() {
        Schedule schedule = new Schedule(
                Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE, Integer.MAX_VALUE);

        assertThat(schedule.stage(4L * Integer.MAX_VALUE - 1)).isSameAs(ACTIVE);
        assertThat(schedule.endsCycle(4L * Integer.MAX_VALUE - 1)).isTrue();
        assertThat(schedule.stage(3L * Integer.MAX_VALUE - 1)).isSameAs(WARMUP);
    }

    @Test
    void refusesNegativeNumbersAndNoActiveStep() {
        refuses(() -> new Schedule(-1, 0, 0, 1, 1), "skipFirst -1");
        refuses(() -> new Schedule(0, -2, 0, 1, 1), "waitSteps -2");
        refuses(() -> new Schedule(0, 0, -3, 1, 1), "warmup -3");
        refuses(() -> new Schedule(0, 0, 0, 0, 1), "active 0");
        refuses(() -> new Schedule(0, 0, 0, 1, -4), "repeat -4");
        refuses(() -> Schedule.once(0, 0), "active 0");
        refuses(() -> Schedule.once(0, 1).stage(-5), "step -5");
    }

    private static void refuses(org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String mentioned) {
        assertThatIllegalArgumentException().isThrownBy(call).withMessageContaining(mentioned);
    }

    @Property
    void everyCycleHasItsActiveStepsAndEndsOnce(
            @ForAll @IntRange(max = 4) int skipFirst,
            @ForAll @IntRange(max = 4) int waitSteps,
            @ForAll @IntRange(max = 4) int warmup,
            @ForAll @IntRange(min = 1, max = 4) int active,
            @ForAll @IntRange(min = 1, max = 4) int repeat) {
        Schedule schedule = new Schedule(skipFirst, waitSteps, warmup, active, repeat);
        int length = skipFirst + repeat * (waitSteps + warmup + active);
        List<Schedule.Stage> stages = stages(schedule, length + 5);

        assertThat(stages.stream().filter(stage -> stage == ACTIVE)).hasSize(active * repeat);
        assertThat(stages.stream().filter(stage -> stage == WARMUP)).hasSize(warmup * repeat);
        assertThat(stages.subList(length, length + 5)).containsOnly(DONE);
        assertThat(LongStream.range(0, length + 5).filter(schedule::endsCycle).count())
                .isEqualTo(repeat);
        assertThat(schedule.endsCycle(length - 1)).isTrue();
    }
}
