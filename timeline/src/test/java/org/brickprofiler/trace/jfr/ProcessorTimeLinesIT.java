package org.brickprofiler.trace.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import jdk.jfr.Recording;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.trace.CallTree;
import org.brickprofiler.trace.LineProfile;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

/** The samples by processor time of another recording of the process. */
final class ProcessorTimeLinesIT {

    private static final int ENOUGH = 60;
    private static final long LONGEST_NS = 20_000_000_000L;

    private final TraceRecorder recorder = TraceRecorder.builder().lines(true).build();
    private final BrickProfiler profiler =
            BrickProfiler.builder().tracing(recorder).build();
    private float result;

    @Test
    @EnabledOnOs(OS.LINUX)
    @EnabledForJreRange(minVersion = 25, disabledReason = "jdk.CPUTimeSample is an event of JDK 25")
    void theSamplesOfAnotherRecordingAreATableOfTheirOwn() {
        profiler.enable();
        LineProfile profile;
        try (VirtualMachineStops stops = VirtualMachineStops.of(recorder);
                Recording other = new Recording()) {
            other.enable("jdk.CPUTimeSample").with("throttle", "2ms");
            other.start();
            long untilNs = System.nanoTime() + LONGEST_NS;
            while (recorder.lines()
                            .orElseThrow()
                            .mode()
                            .filter(mode -> mode.startsWith("processor time"))
                            .isEmpty()
                    || recorder.lines().orElseThrow().samples().inBricks() < ENOUGH) {
                assertThat(System.nanoTime())
                        .as(recorder.lines().orElseThrow().text())
                        .isLessThan(untilNs);
                for (int i = 0; i < 100; i++) {
                    long timer = profiler.startBrick(BrickId.QKV_PROJECTION);
                    hot();
                    profiler.stopBrick(timer, 1);
                }
            }
            other.stop();
            stops.close();
            profile = recorder.lines().orElseThrow();
        }
        assertThat(result).as("what the engine computed").isPositive();
        assertThat(profile.mode().orElseThrow()).matches("processor time \\(within .*\\)");
        assertThat(profile.periodNs())
                .as("the system may take samples less often than asked")
                .isBetween(2_000_000L, 20_000_000L);
        LineProfile.OfBrick brick = profile.bricks().get(0);
        assertThat(brick.brick()).isEqualTo(BrickId.QKV_PROJECTION.displayName());
        assertThat(brick.due()).as("the virtual machine states what it loses").isEmpty();
        assertThat(brick.java().methods(9))
                .extracting(CallTree.Share::place)
                .contains(ProcessorTimeLinesIT.class.getName() + ".hot");
        assertThat(profile.text()).contains(" samples of processor time (within ");
    }

    private void hot() {
        for (int i = 0; i < 40_000; i++) {
            result += i * 0.5f;
        }
    }
}
