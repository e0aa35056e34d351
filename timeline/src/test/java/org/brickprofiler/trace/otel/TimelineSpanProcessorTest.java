package org.brickprofiler.trace.otel;

import static org.assertj.core.api.Assertions.assertThat;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.sdk.common.Clock;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.brickprofiler.BrickId;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.Timeline;
import org.brickprofiler.trace.TimelineVisitor;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class TimelineSpanProcessorTest {

    private final FakeClock clock = new FakeClock();
    private final TraceRecorder recorder = TraceRecorder.builder().clock(clock).build();
    private final SdkTracerProvider provider = SdkTracerProvider.builder()
            .setClock(clockOf(clock))
            .addSpanProcessor(TimelineSpanProcessor.Factory.create(recorder))
            .build();
    private final Tracer tracer = provider.get("test");
    private final String thread = Thread.currentThread().getName();

    private static Clock clockOf(FakeClock clock) {
        return clockOf(clock, 0);
    }

    private static Clock clockOf(FakeClock clock, long epochNs) {
        return new Clock() {
            @Override
            public long now() {
                return epochNs + clock.nanoTime();
            }

            @Override
            public long nanoTime() {
                return clock.nanoTime();
            }
        };
    }

    @AfterEach
    void close() {
        provider.close();
    }

    private List<String> events(String track) {
        Timeline timeline = recorder.timeline();
        List<String> events = new ArrayList<>();
        for (int i = 0; i < timeline.tracks().size(); i++) {
            if (timeline.tracks().get(i).name().equals(track)) {
                timeline.replay(i, collector(timeline, events));
            }
        }
        return events;
    }

    private static TimelineVisitor collector(Timeline timeline, List<String> events) {
        return new TimelineVisitor() {
            @Override
            public void span(org.brickprofiler.trace.Span span) {
                String category = timeline.names().get(span.name()).category();
                String name = timeline.names().get(span.name()).name();
                events.add(category + " " + name + " " + span.startNs() + ".." + span.endNs());
            }

            @Override
            public void instant(long atNs, int name) {
                String category = timeline.names().get(name).category();
                events.add(category + " " + timeline.names().get(name).name() + " at " + atNs);
            }

            @Override
            public void counter(long atNs, double value) {
                throw new AssertionError("no counters here");
            }
        };
    }

    @Test
    void aSpanLiesAroundTheBricksInsideIt() {
        BrickProfiler profiler =
                BrickProfiler.builder().clock(clock).tracing(recorder).build();
        profiler.enable();
        clock.set(100);
        Span request = tracer.spanBuilder("request").startSpan();
        clock.set(110);
        long timer = profiler.startBrick(BrickId.RMS_NORM);
        clock.set(130);
        profiler.stopBrick(timer, 1);
        clock.set(200);
        request.end();

        assertThat(events(thread)).containsExactly("OpenTelemetry request 100..200", "Norm RmsNorm 110..130");
    }

    @Spec("13.10")
    @Test
    void aSpanThatAnotherThreadEndsStaysOnTheLineOfTheThreadThatOpenedIt() throws Exception {
        recorder.instant("here");
        clock.set(100);
        Span request = tracer.spanBuilder("handed over").startSpan();
        Crew.runOnNewThread(() -> {
            clock.set(150);
            request.end();
        });
        assertThat(events(thread)).containsExactly("Application here at 0", "OpenTelemetry handed over 100..150");
        recorder.clear();
        Span second = tracer.spanBuilder("handed over").startSpan();
        Crew.runOnNewThread(() -> {
            clock.set(180);
            second.end();
        });

        assertThat(events(thread)).containsExactly("OpenTelemetry handed over 150..180");
    }

    @Spec("13.10")
    @Test
    void theEventsOfASpanAreInstantsInIt() {
        clock.set(1_000);
        Span request = tracer.spanBuilder("request").startSpan();
        clock.set(1_040);
        request.addEvent("first token");
        clock.set(1_070);
        request.recordException(new IllegalStateException("no more room"));
        clock.set(1_100);
        request.end();

        assertThat(events(thread))
                .containsExactly(
                        "OpenTelemetry request 1000..1100",
                        "OpenTelemetry first token at 1040",
                        "OpenTelemetry exception at 1070");
    }

    /** An application may give any time to an event, also by mistake: a timeline must not reach back to 1970 for it. */
    @Test
    void anEventWithATimeOutsideOfItsSpanLiesAtTheNearerEnd() {
        clock.set(1_000);
        Span request = tracer.spanBuilder("request").startSpan();
        request.addEvent("long ago", 1, TimeUnit.NANOSECONDS);
        request.addEvent("some day", Long.MAX_VALUE, TimeUnit.NANOSECONDS);
        clock.set(1_100);
        request.end();

        assertThat(events(thread))
                .containsExactly(
                        "OpenTelemetry request 1000..1100",
                        "OpenTelemetry long ago at 1000",
                        "OpenTelemetry some day at 1100");
    }

    @Test
    void theEventsOfASpanThatAnotherThreadEndsStayWithIt() throws Exception {
        recorder.instant("here");
        clock.set(100);
        Span request = tracer.spanBuilder("handed over").startSpan();
        Crew.runOnNewThread(() -> {
            clock.set(130);
            request.addEvent("");
            clock.set(150);
            request.end();
        });

        assertThat(events(thread))
                .containsExactly(
                        "Application here at 0",
                        "OpenTelemetry handed over 100..150",
                        "OpenTelemetry (no name) at 130");
    }

    @Test
    void aSpanWithoutANameIsRecordedToo() {
        tracer.spanBuilder("").startSpan().end();
        tracer.spanBuilder("a\u0000b").startSpan().end();

        assertThat(events(thread)).hasSize(2).anyMatch(event -> event.contains("a b"));
    }

    /**
     * OpenTelemetry's epoch is 1970, the recorder's is not. A span may be ended with an earlier time than that of the
     * call.
     */
    @Spec("13.10")
    @Test
    void aSpanLiesAtItsOwnTimestamps() throws Exception {
        long epochNs = 1_700_000_000_000_000_000L;
        SdkTracerProvider ofEpoch = SdkTracerProvider.builder()
                .setClock(clockOf(clock, epochNs))
                .addSpanProcessor(TimelineSpanProcessor.Factory.create(recorder))
                .build();
        recorder.instant("here");
        clock.set(5_000);
        Span given = ofEpoch.get("test")
                .spanBuilder("given")
                .setStartTimestamp(epochNs + 4_000, TimeUnit.NANOSECONDS)
                .startSpan();
        given.addEvent("inside", epochNs + 4_200, TimeUnit.NANOSECONDS);
        Span usual = ofEpoch.get("test").spanBuilder("usual").startSpan();
        clock.set(5_100);
        usual.end();
        clock.set(9_000);
        given.end(epochNs + 4_500, TimeUnit.NANOSECONDS);
        Span elsewhere = ofEpoch.get("test").spanBuilder("elsewhere").startSpan();
        Crew.runOnNewThread(() -> {
            clock.set(20_000);
            elsewhere.end(epochNs + 9_300, TimeUnit.NANOSECONDS);
        });
        ofEpoch.close();

        assertThat(events(thread))
                .containsExactly(
                        "Application here at 0",
                        "OpenTelemetry given 4000..4500",
                        "OpenTelemetry inside at 4200",
                        "OpenTelemetry usual 5000..5100",
                        "OpenTelemetry elsewhere 9000..9300");
    }

    @Spec("13.10")
    @Test
    void aSpanThatIsStillOpenIsShownUpToNow() throws Exception {
        recorder.instant("here");
        clock.set(1_000);
        Span request = tracer.spanBuilder("request").startSpan();
        Crew crew = new Crew();
        crew.run(() -> {
            recorder.instant("there");
            clock.set(1_050);
            tracer.spanBuilder("\u0000").startSpan();
        });
        crew.join();
        clock.set(1_200);

        assertThat(events(thread))
                .containsExactly("Application here at 0", "OpenTelemetry request (not ended) 1000..1200");
        assertThat(events("crew-0"))
                .containsExactly(
                        "Application there at 1000", "OpenTelemetry <unspecified span name> (not ended) 1050..1200");
        clock.set(1_300);
        assertThat(events(thread))
                .containsExactly("Application here at 0", "OpenTelemetry request (not ended) 1000..1300");
        request.end();
        assertThat(events(thread)).containsExactly("Application here at 0", "OpenTelemetry request 1000..1300");
    }

    @Test
    void spansThatAreNeverEndedAreForgottenPastABound() {
        recorder.instant("here");
        for (int i = 0; i < TimelineSpanProcessor.MOST_OPEN; i++) {
            tracer.spanBuilder("left open").startSpan();
        }
        clock.set(70);
        Span beyond = tracer.spanBuilder("one more").startSpan();
        clock.set(90);
        assertThat(events(thread))
                .hasSize(TimelineSpanProcessor.MOST_OPEN + 1)
                .noneMatch(event -> event.contains("one more"));
        beyond.end();

        assertThat(events(thread))
                .hasSize(TimelineSpanProcessor.MOST_OPEN + 2)
                .contains("OpenTelemetry one more 70..90");
    }
}
