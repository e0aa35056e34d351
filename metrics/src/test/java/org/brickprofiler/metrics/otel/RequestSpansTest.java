package org.brickprofiler.metrics.otel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.StepInfo;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.testing.FakeClock;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@Spec("25.25")
class RequestSpansTest {

    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT = "b7ad6b7169203331";
    private static final Attributes GEN_AI = Attributes.of(
            AttributeKey.stringKey("gen_ai.operation.name"),
            "chat",
            AttributeKey.stringKey("gen_ai.provider.name"),
            "acme",
            AttributeKey.stringKey("gen_ai.request.model"),
            "tiny");

    private final FakeClock clock = new FakeClock();
    private final BrickProfiler profiler = BrickProfiler.builder().clock(clock).build();
    private final InMemorySpanExporter exporter = InMemorySpanExporter.create();
    private final SdkTracerProvider tracers = SdkTracerProvider.builder()
            .addSpanProcessor(SimpleSpanProcessor.create(exporter))
            .build();
    private final RequestSpans spans = RequestSpans.start(profiler, tracers, GEN_AI);

    RequestSpansTest() {
        profiler.enable();
    }

    @AfterEach
    void close() {
        spans.close();
        tracers.close();
    }

    private long arrived(TraceFlags flags, int promptTokens) {
        SpanContext parent = SpanContext.createFromRemoteParent(TRACE, PARENT, flags, TraceState.getDefault());
        try (Scope scope = Span.wrap(parent).makeCurrent()) {
            assertThat(scope).isNotNull();
            return profiler.requests().arrived(promptTokens);
        }
    }

    private void step(StepInfo info, long ns, long... requests) {
        profiler.beginStep(info);
        for (long request : requests) {
            profiler.requests().inStep(request, info.prefillTokens());
        }
        clock.advance(ns);
        profiler.endPass();
    }

    private List<SpanData> exported() {
        spans.flush();
        return exporter.getFinishedSpanItems().stream()
                .sorted(Comparator.comparingLong(SpanData::getStartEpochNanos).thenComparing(SpanData::getName))
                .toList();
    }

    private static long ns(SpanData span, String cause) {
        Long ns = span.getAttributes().get(AttributeKey.longKey("brick.request." + cause + "_ns"));
        return ns == null ? 0 : ns;
    }

    private static long duration(SpanData span) {
        return span.getEndEpochNanos() - span.getStartEpochNanos();
    }

    @Test
    void aRequestIsASpanWithItsStages() {
        long request = arrived(TraceFlags.getSampled(), 6);
        profiler.requests().named(request, "chat-1\n");
        profiler.requests().cached(request, 2);
        clock.advance(5);
        step(StepInfo.prefill(9), 100);
        clock.advance(7);
        step(StepInfo.prefill(4), 40, request);
        for (int i = 0; i < 20; i++) {
            clock.advance(i == 3 ? 50 : 1);
            step(StepInfo.prefill(9), i == 8 ? 300 : 2);
            step(StepInfo.decode(4), 10, request);
        }
        clock.advance(13);
        profiler.requests().finished(request, Outcome.LENGTH);

        RequestRecord record = profiler.requests().recent().get(0);
        List<SpanData> all = exported();
        assertThat(all)
                .extracting(SpanData::getName)
                .containsExactly("chat tiny", "queued", "prefill", "decode", "delivery");
        SpanData whole = all.get(0);
        assertThat(whole.getTraceId())
                .isEqualTo(TRACE)
                .isEqualTo(record.identity().traceId().orElseThrow());
        assertThat(whole.getParentSpanId()).isEqualTo(PARENT);
        assertThat(whole.getKind()).isEqualTo(SpanKind.INTERNAL);
        assertThat(duration(whole)).isEqualTo(record.durationNs());
        assertThat(whole.getStatus().getStatusCode()).isEqualTo(StatusCode.UNSET);
        assertThat(whole.getAttributes().asMap())
                .containsEntry(AttributeKey.stringKey("gen_ai.provider.name"), "acme")
                .containsEntry(AttributeKey.longKey("gen_ai.usage.input_tokens"), 6L)
                .containsEntry(AttributeKey.longKey("gen_ai.usage.cache_read.input_tokens"), 2L)
                .containsEntry(AttributeKey.longKey("gen_ai.usage.output_tokens"), 21L)
                .containsEntry(AttributeKey.stringArrayKey("gen_ai.response.finish_reasons"), List.of("length"))
                .containsEntry(AttributeKey.stringKey("brick.request.id"), "chat-1\n")
                .containsEntry(AttributeKey.longKey("brick.request.time_to_first_token_ns"), 152L)
                .containsEntry(AttributeKey.longKey("brick.request.longest_gap_ns"), record.longestGapNs());
        List<SpanData> stages = all.subList(1, all.size());
        assertThat(stages).allMatch(stage -> stage.getParentSpanId().equals(whole.getSpanId()));
        assertThat(stages.stream().map(RequestSpansTest::duration))
                .containsExactly(112L, 40L, record.firstToLastTokenNs(), 13L);
        for (Cause cause : Cause.values()) {
            String name = cause.name().toLowerCase(Locale.ROOT);
            assertThat(ns(whole, name)).isEqualTo(record.causeNs(cause));
            assertThat(stages.stream().mapToLong(stage -> ns(stage, name)).sum())
                    .isEqualTo(record.causeNs(cause));
        }
        SpanData decode = stages.get(2);
        assertThat(decode.getAttributes().get(AttributeKey.longKey("brick.request.stalls")))
                .isEqualTo(40);
        assertThat(decode.getEvents()).hasSize(8).allMatch(event -> event.getName()
                .equals("stalled"));
        assertThat(decode.getEvents().stream()
                        .map(event -> event.getAttributes().get(AttributeKey.longKey("brick.request.duration_ns"))))
                .contains(50L, 300L);
        assertThat(decode.getEvents().stream().mapToLong(event -> event.getEpochNanos()))
                .isSorted()
                .allMatch(at -> at >= decode.getStartEpochNanos() && at < decode.getEndEpochNanos());
    }

    @Spec("25.28")
    @Test
    void aRequestThatNamesItsModelHasIt() {
        long request = profiler.requests().arrived(1);
        profiler.requests().model(request, "other");
        clock.advance(9);
        profiler.requests().finished(request, Outcome.CANCELLED);

        SpanData span = exported().get(0);
        assertThat(span.getName()).isEqualTo("chat other");
        assertThat(span.getAttributes().get(AttributeKey.stringKey("gen_ai.request.model")))
                .isEqualTo("other");
    }

    @Test
    void aRequestIsSampledAsItsParent() {
        profiler.requests().finished(arrived(TraceFlags.getDefault(), 1), Outcome.CANCELLED);
        assertThat(exported()).isEmpty();
        assertThat(profiler.requests().recent().get(0).identity().traceId()).contains(TRACE);

        long alone = profiler.requests().arrived(1);
        clock.advance(9);
        profiler.requests().finished(alone, Outcome.CANCELLED);
        List<SpanData> all = exported();
        assertThat(all).extracting(SpanData::getName).containsExactly("chat tiny", "queued");
        assertThat(all.get(0).getParentSpanId()).isEqualTo(SpanId.getInvalid());
        assertThat(all.get(0).getStatus().getStatusCode()).isEqualTo(StatusCode.ERROR);
        assertThat(all.get(0).getAttributes().get(AttributeKey.stringKey("error.type")))
                .isEqualTo("cancelled");
        assertThat(duration(all.get(1))).isEqualTo(9);
    }

    /** The token counts at the end of the step, and the request ended before. */
    @Test
    void stagesStayWithinARequestThatFinishesInItsOnlyStep() {
        long request = arrived(TraceFlags.getSampled(), 4);
        profiler.beginStep(StepInfo.prefill(4));
        profiler.requests().inStep(request, 4);
        clock.advance(10);
        profiler.requests().finished(request, Outcome.COMPLETED);
        clock.advance(10);
        profiler.endPass();

        List<SpanData> all = exported();
        assertThat(all).extracting(SpanData::getName).containsExactly("chat tiny", "prefill");
        assertThat(all).extracting(RequestSpansTest::duration).containsExactly(10L, 10L);
    }

    @Test
    void aRequestWhoseStepsAreNotKnownHasNoStages() {
        long request = arrived(TraceFlags.getSampled(), 1);
        for (int i = 0; i < 17_000; i++) {
            step(StepInfo.decode(1), 1);
        }
        profiler.requests().finished(request, Outcome.FAILED);

        List<SpanData> all = exported();
        assertThat(all).extracting(SpanData::getName).containsExactly("chat tiny");
        assertThat(all.get(0).getAttributes().get(AttributeKey.stringKey("brick.request.stages")))
                .isEqualTo("unknown");
        assertThat(ns(all.get(0), "queued_behind_decoding")).isEqualTo(17_000);
    }

    @Test
    void everyRequestHasASpanOrIsCounted() {
        for (int i = 0; i < 3_000; i++) {
            profiler.requests().finished(arrived(TraceFlags.getSampled(), 1), Outcome.CANCELLED);
        }
        int exported = exported().size();
        assertThat(exported).isBetween(1_024, 2_999);
        assertThat(spans.lost()).isEqualTo(3_000 - exported);
    }

    @Test
    void theClockOfTheSystemGivesTimesOfDay() {
        BrickProfiler real = BrickProfiler.enabled();
        List<SpanData> all = new ArrayList<>();
        try (RequestSpans ofReal = RequestSpans.start(real, tracers, GEN_AI)) {
            long before = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
            real.requests().finished(real.requests().arrived(1), Outcome.CANCELLED);
            long after = ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now());
            ofReal.flush();
            all.addAll(exporter.getFinishedSpanItems());
            assertThat(all.get(all.size() - 1).getStartEpochNanos()).isBetween(before - 5_000_000, after + 5_000_000);
        }
        real.requests().finished(real.requests().arrived(1), Outcome.CANCELLED);
        assertThat(exporter.getFinishedSpanItems()).hasSameSizeAs(all);
    }

    @Test
    void theAttributesThatTheConventionsRequireAreRequired() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> RequestSpans.start(
                        profiler, tracers, Attributes.of(AttributeKey.stringKey("gen_ai.operation.name"), "chat")))
                .withMessageContaining("gen_ai.provider.name");
    }
}
