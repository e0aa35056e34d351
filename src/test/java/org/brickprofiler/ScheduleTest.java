package org.brickprofiler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.brickprofiler.Schedule.Phase.ACTIVE;
import static org.brickprofiler.Schedule.Phase.DONE;
import static org.brickprofiler.Schedule.Phase.SKIP_FIRST;
import static org.brickprofiler.Schedule.Phase.WAIT;
import static org.brickprofiler.Schedule.Phase.WARMUP;

import java.util.List;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

final class ScheduleTest {

    private static List<Schedule.Phase> phases(Schedule schedule, int steps) {
        return LongStream.range(0, steps).mapToObj(schedule::phase).toList();
    }

    @Spec("6.1")
    @Test
    void goesThroughItsPhases() {
        assertThat(phases(new Schedule(2, 1, 1, 2, 2), 12))
                .containsExactly(
                        SKIP_FIRST, SKIP_FIRST, WAIT, WARMUP, ACTIVE, ACTIVE, WAIT, WARMUP, ACTIVE, ACTIVE, DONE, DONE);
    }

    @Spec("6.1")
    @Test
    void aRepeatOfZeroHasNoEnd() {
        Schedule schedule = new Schedule(0, 0, 1, 1, 0);

        assertThat(schedule.phase(Long.MAX_VALUE - 1)).isSameAs(WARMUP);
        assertThat(schedule.phase(Long.MAX_VALUE)).isSameAs(ACTIVE);
    }

    @Test
    void onceIsOneCycle() {
        assertThat(Schedule.once(1, 2)).isEqualTo(new Schedule(0, 0, 1, 2, 1));
        assertThat(phases(Schedule.once(1, 2), 4)).containsExactly(WARMUP, ACTIVE, ACTIVE, DONE);
        assertThat(phases(Schedule.once(0, 1), 2)).containsExactly(ACTIVE, DONE);
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

        assertThat(schedule.phase(4L * Integer.MAX_VALUE - 1)).isSameAs(ACTIVE);
        assertThat(schedule.endsCycle(4L * Integer.MAX_VALUE - 1)).isTrue();
        assertThat(schedule.phase(3L * Integer.MAX_VALUE - 1)).isSameAs(WARMUP);
    }

    @Test
    void refusesNegativeNumbersAndNoActiveStep() {
        refuses(() -> new Schedule(-1, 0, 0, 1, 1), "skipFirst -1");
        refuses(() -> new Schedule(0, -2, 0, 1, 1), "waitSteps -2");
        refuses(() -> new Schedule(0, 0, -3, 1, 1), "warmup -3");
        refuses(() -> new Schedule(0, 0, 0, 0, 1), "active 0");
        refuses(() -> new Schedule(0, 0, 0, 1, -4), "repeat -4");
        refuses(() -> Schedule.once(0, 0), "active 0");
        refuses(() -> Schedule.once(0, 1).phase(-5), "step -5");
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
        List<Schedule.Phase> phases = phases(schedule, length + 5);

        assertThat(phases.stream().filter(phase -> phase == ACTIVE)).hasSize(active * repeat);
        assertThat(phases.stream().filter(phase -> phase == WARMUP)).hasSize(warmup * repeat);
        assertThat(phases.subList(length, length + 5)).containsOnly(DONE);
        assertThat(LongStream.range(0, length + 5).filter(schedule::endsCycle).count())
                .isEqualTo(repeat);
        assertThat(schedule.endsCycle(length - 1)).isTrue();
    }
}
