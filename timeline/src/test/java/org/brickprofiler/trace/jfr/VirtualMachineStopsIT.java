package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

/** The stops of this virtual machine itself; the flight recorder hands its events over each second. */
final class VirtualMachineStopsIT {

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(3).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();

    private void step(Runnable body) {
        profiler.beginStep(StepInfo.decode(100));
        long timer = profiler.startBrick(BrickId.LM_HEAD);
        body.run();
        profiler.stopBrick(timer, 1);
        profiler.endPass();
    }

    private static void dumpThreads() {
        for (int i = 0; i < 300; i++) {
            ManagementFactory.getThreadMXBean().dumpAllThreads(false, false);
        }
    }

    @Spec("13.17")
    @Test
    void dumpsOfThreadsAreStopsOfASlowStepAndCollectionsAreNot() {
        profiler.enable();
        step(VirtualMachineStopsIT::dumpThreads);
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder)) {
            for (int i = 0; i < 40; i++) {
                step(() -> {});
            }
            step(VirtualMachineStopsIT::dumpThreads);
            step(System::gc);
            assertThat(Thread.getAllStackTraces().keySet())
                    .filteredOn(thread -> thread.getName().matches("brick-stops|JFR Event Stream.*"))
                    .as("threads that would keep a process alive after its application has ended")
                    .isNotEmpty()
                    .allMatch(Thread::isDaemon);
            stops.close();
        }

        Map<Long, Explained> slowest = recorder.timeline().info().slowSteps().orElseThrow().slowest().stream()
                .collect(Collectors.toMap(Explained::index, step -> step));
        assertThat(slowest).containsOnlyKeys(0L, 41L, 42L);
        assertThat(unknown(slowest, 0)).contains(Kind.OTHER_STOP);
        assertThat(unknown(slowest, 41)).doesNotContain(Kind.OTHER_STOP);
        assertThat(stopsNs(slowest, 41)).isPositive();
        assertThat(stopsNs(slowest, 42))
                .isLessThan(Objects.requireNonNull(slowest.get(42L)).durationNs() / 2);
    }

    private static Set<Kind> unknown(Map<Long, Explained> slowest, long step) {
        return Objects.requireNonNull(slowest.get(step)).unknown();
    }

    private static long stopsNs(Map<Long, Explained> slowest, long step) {
        return Objects.requireNonNull(slowest.get(step)).parts().stream()
                .filter(part -> part.kind() == Kind.OTHER_STOP)
                .mapToLong(Part::excessNs)
                .sum();
    }
}
