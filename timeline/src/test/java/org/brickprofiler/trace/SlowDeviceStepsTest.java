package org.brickprofiler.trace;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.util.List;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.BrickProfilerBuilder;
import org.brickprofiler.StepInfo;
import org.brickprofiler.testing.Collected;
import org.brickprofiler.testing.DeviceBricks;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.testing.VirtualThreadStarter;
import org.brickprofiler.trace.SlowSteps.Explained;
import org.brickprofiler.trace.SlowSteps.Kind;
import org.brickprofiler.trace.SlowSteps.Part;
import org.brickprofiler.trace.SlowSteps.Verdict;
import org.junit.jupiter.api.Test;

/** Slow steps whose bricks a device times, of profilers that are forgotten, and of several profilers. */
final class SlowDeviceStepsTest extends DeviceBricks {

    private final TraceRecorder recorder =
            TraceRecorder.builder().keepSlowSteps(1).clock(clock).build();
    private BrickProfiler profiler = profiler(stream);

    SlowDeviceStepsTest() {
        super(1_000);
    }

    @Override
    protected BrickProfiler timing() {
        return profiler;
    }

    @Override
    protected BrickProfilerBuilder options() {
        return BrickProfiler.builder().clock(clock).tracing(recorder);
    }

    private void steps(int count) {
        for (int i = 0; i < count; i++) {
            step(100);
        }
    }

    private void step(long deviceNs) {
        profiler.beginStep(StepInfo.decode(100));
        brick(BrickId.RMS_NORM, deviceNs);
        profiler.endPass();
    }

    private Explained slowest() {
        return recorder.timeline().info().slowSteps().orElseThrow().slowest().get(0);
    }

    @Spec("13.15")
    @Test
    void aDevicesBrickHasTheTimeInWhichTheHostIsInNone() {
        steps(20);
        step(900);
        steps(3);

        assertThat(slowest().index()).isEqualTo(20);
        assertThat(slowest().parts()).containsExactly(new Part(Kind.BRICK, "RmsNorm", 800));
        assertThat(slowest().unknown()).contains(Kind.BLOCKED);
    }

    @Spec("13.13")
    @Test
    void workThatIsResolvedAfterTheStepIsPartOfIt() {
        steps(20);
        profiler.beginStep(StepInfo.decode(100));
        brick(BrickId.LM_HEAD, 3_000);
        clock.advance(2_000);
        profiler.endPassAsync();
        assertThat(slowest().verdict()).isEqualTo(Verdict.SPANS_MISSING);

        clock.advance(2_000);
        steps(2);
        assertThat(slowest().verdict()).isEqualTo(Verdict.EXPLAINED);
        Timeline timeline = recorder.timeline();
        assertThat(Replay.of(timeline, "decode").get(1)).isEqualTo("LmHead 3000..6000 x2 sample in 2");
        assertThat(timeline.info().droppedSpans()).isZero();
    }

    @Test
    void theStepsOfAForgottenProfilerStay() {
        Collected.until(forget());
        profiler = profiler();
        for (int i = 0; i < 30; i++) {
            profiler.record("another " + i, 1, 1);
        }

        assertThat(slowest().durationNs()).isEqualTo(905);
        assertThat(Replay.of(recorder.timeline(), Thread.currentThread().getName()))
                .anyMatch(line -> line.startsWith("my kernel "));
    }

    private WeakReference<BrickProfiler> forget() {
        stream.close();
        profiler = BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        for (int i = 0; i < 10; i++) {
            profiler.beginStep(StepInfo.decode(100));
            long timer = profiler.startBrick("my kernel");
            clock.advance(i == 5 ? 905 : 105);
            profiler.stopBrick(timer, 1);
            profiler.endPass();
        }
        WeakReference<BrickProfiler> reference = new WeakReference<>(profiler);
        profiler = BrickProfiler.enabled();
        return reference;
    }

    @Test
    void aDraftModelInsideAStepHasItsOwnSteps() {
        BrickProfiler draft = profiler();
        for (int i = 0; i < 20; i++) {
            profiler.beginStep(StepInfo.decode(100));
            draft.beginStep(StepInfo.decode(100));
            draft.record("draft", 0, 1);
            clock.advance(i == 10 ? 500 : 50);
            draft.endPass();
            brick(BrickId.RMS_NORM, 100);
            profiler.endPass();
        }

        List<Explained> slowest =
                recorder.timeline().info().slowSteps().orElseThrow().slowest();
        assertThat(slowest).extracting(Explained::durationNs).containsExactly(605L - 5, 500L);
        assertThat(slowest).extracting(Explained::verdict).containsOnly(Verdict.EXPLAINED);
        assertThat(Replay.of(recorder.timeline(), Thread.currentThread().getName()))
                .filteredOn(line -> line.startsWith("draft "))
                .doesNotHaveDuplicates();
    }

    @Test
    void virtualThreadsThatShareABufferAreNotToldApart() throws Exception {
        VirtualThreadStarter starter = VirtualThreadStarter.orSkip();
        profiler = profiler();
        for (int i = 0; i < 10; i++) {
            starter.start(this::emptyStep).join();
        }
        starter.start(() -> {
                    profiler.beginStep(StepInfo.decode(100));
                    clock.advance(500);
                    try {
                        starter.start(this::emptyStep).join();
                    } catch (InterruptedException e) {
                        throw new AssertionError(e);
                    }
                    profiler.endPass();
                })
                .join();
        assertThat(slowest().verdict()).isEqualTo(Verdict.MIXED_WITH_OTHERS);
    }

    private void emptyStep() {
        profiler.beginStep(StepInfo.decode(100));
        clock.advance(10);
        profiler.record(BrickId.RMS_NORM, 10, 1);
        profiler.endPass();
    }
}
