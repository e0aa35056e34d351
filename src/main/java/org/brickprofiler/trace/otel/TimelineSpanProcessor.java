package org.brickprofiler.trace.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.trace.TraceRecorder;
import org.eclipse.collections.impl.map.mutable.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Puts every span that an application opens through OpenTelemetry on the timeline, on the track of the thread that
 * opened it, and the events of the span as instants. Spans and what becomes of them otherwise stay as they are.
 *
 * <pre>{@code
 * SdkTracerProvider.builder().addSpanProcessor(new TimelineSpanProcessor(recorder))
 * }</pre>
 *
 * <p>Any thread. A span is recorded when it ends: its duration is OpenTelemetry's own, its end the moment at which this
 * processor is called. An event lies as long before that end as by OpenTelemetry's clock; one that was given a time
 * outside of its span lies at the nearer end of it. Attributes are left out. Spans that never end are not recorded; at
 * most {@value #MOST_OPEN} open ones are followed, and others go to the track of the thread that ends them.
 */
public final class TimelineSpanProcessor implements SpanProcessor {

    /** The most open spans whose thread is remembered: an application that never ends its spans must not fill the heap. */
    static final int MOST_OPEN = 65_536;

    private static final String CATEGORY = "OpenTelemetry";

    private final TraceRecorder recorder;
    private final ConcurrentHashMap<String, Long> threadsOfOpenSpans = ConcurrentHashMap.newMap();
    private final AtomicInteger openSpans = new AtomicInteger();

    /**
     * A processor.
     *
     * @param recorder where the spans go
     */
    public TimelineSpanProcessor(TraceRecorder recorder) {
        Objects.requireNonNull(recorder, "recorder");
        this.recorder = recorder;
    }

    /** {@inheritDoc} */
    @Override
    public void onStart(@Nullable Context parent, ReadWriteSpan span) {
        if (openSpans.incrementAndGet() <= MOST_OPEN) {
            threadsOfOpenSpans.put(
                    span.getSpanContext().getSpanId(), Thread.currentThread().getId());
        } else {
            openSpans.decrementAndGet();
        }
    }

    /** {@inheritDoc} */
    @Override
    public boolean isStartRequired() {
        return true;
    }

    /** {@inheritDoc} */
    @Override
    public void onEnd(ReadableSpan span) {
        long endNs = recorder.nowNs();
        Long opened = threadsOfOpenSpans.remove(span.getSpanContext().getSpanId());
        if (opened != null) {
            openSpans.decrementAndGet();
        }
        SpanData data = span.toSpanData();
        long elapsedNs = Math.max(0, data.getEndEpochNanos() - data.getStartEpochNanos());
        long startNs = endNs - elapsedNs;
        long here = Thread.currentThread().getId();
        long thread = opened == null ? here : opened;
        if (thread == here) {
            recorder.span(nameOf(data.getName()), CATEGORY, startNs, elapsedNs);
        } else {
            recorder.span(nameOf(data.getName()), CATEGORY, startNs, elapsedNs, thread);
        }
        for (EventData event : data.getEvents()) {
            long firstNs = data.getStartEpochNanos();
            long atNs = startNs + Math.max(firstNs, Math.min(firstNs + elapsedNs, event.getEpochNanos())) - firstNs;
            if (thread == here) {
                recorder.instant(nameOf(event.getName()), CATEGORY, atNs);
            } else {
                recorder.instant(nameOf(event.getName()), CATEGORY, atNs, thread);
            }
        }
    }

    /** OpenTelemetry allows any name; a timeline's has characters, none of them NUL. */
    private static String nameOf(@Nullable String name) {
        return name == null || name.isEmpty() ? "(no name)" : name.replace('\u0000', ' ');
    }

    /** {@inheritDoc} */
    @Override
    public boolean isEndRequired() {
        return true;
    }
}
