package org.brickprofiler.jfr;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Optional;
import one.profiler.Recording;
import one.profiler.Span;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.StepInfo.Phase;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.jfr.internal.SpanTag;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The spans that async-profiler gets; classes of these tests stand for it. */
class AsyncProfilerSpansTest {

    private final BrickProfiler profiler = BrickProfiler.enabled();

    @AfterEach
    void stop() {
        Recording.state = 0;
        Span.EMITTED.clear();
    }

    private void norm() {
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        profiler.stopBrick(timer, 1);
    }

    @Spec("13.21")
    @Test
    void bricksAreSpansWhileARecordingRuns() {
        try (AsyncProfilerSpans spans = AsyncProfilerSpans.of(profiler)) {
            assertThat(spans).isNotNull();
            norm();
            assertThat(Span.EMITTED).isEmpty();
            Recording.state = 2;
            norm();
            profiler.beginStep(StepInfo.decode(9));
            long before = Recording.timestamp();
            profiler.record(BrickId.ATTENTION_SCORE, 3_000_000, 1);
            long after = Recording.timestamp();
            profiler.endPass();

            assertThat(Span.EMITTED)
                    .extracting(Span.Emitted::tag)
                    .containsExactly("brick::RmsNorm", "brick:decode:AttentionScore");
            Span.Emitted attention = Span.EMITTED.get(1);
            assertThat(attention.end() - attention.start()).isEqualTo(6_000);
            assertThat(attention.end()).isBetween(before - 1, after + 1);
        }
        norm();
        assertThat(Span.EMITTED).hasSize(2);
    }

    @Spec("13.21")
    @Test
    void aTagIsReadAsItWasWritten() {
        for (SpanTag tag : new SpanTag[] {
            new SpanTag("a:b", Optional.empty()), new SpanTag("", Optional.of(Phase.PREFILL)),
        }) {
            assertThat(SpanTag.parse(tag.text())).contains(tag);
        }
        for (String other : new String[] {"", "brick", "brick:decode", "brick:later:x", "GET /brick:decode:x"}) {
            assertThat(SpanTag.parse(other)).as(other).isEmpty();
        }
    }
}
