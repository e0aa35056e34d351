package org.brickprofiler.trace.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.EventData;
import io.opentelemetry.sdk.trace.data.SpanData;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.internal.setting.OptionalPart;
import org.brickprofiler.trace.TraceRecorder;
import org.jspecify.annotations.Nullable;

/**
 * Puts every span that an application opens through OpenTelemetry on the timeline, on the track of the thread that
 * opened it, and the events of the span as instants. Spans and their export do not change.
 *
 * <pre>{@code
 * SdkTracerProvider.builder().addSpanProcessor(TimelineSpanProcessor.Factory.create(recorder))
 * }</pre>
 *
 * <p>Any thread. A span is recorded when it ends, at its own timestamps, regardless of the time of the call of
 * {@code end()}. A span that is open when a timeline is made is shown up to that moment, with
 * {@value TraceRecorder#NOT_ENDED} appended to its name. The processor reads OpenTelemetry's clock and the recorder's
 * clock as a span starts, to convert the span's timestamps. An event is placed at its own timestamp, or at the nearer
 * end of its span if the timestamp is outside the span. Attributes are left out. At most {@value #MOST_OPEN} open spans
 * are followed. A span that starts beyond this limit is not shown while it is open; it is recorded on the track of the
 * thread that ends it, and its time is converted with the offset of the span that started last.
 */
public final class TimelineSpanProcessor implements SpanProcessor {

    /**
     * The limit of open spans whose thread is remembered: an application that never ends its spans must not fill the
     * heap.
     */
    static final int MOST_OPEN = 65_536;

    private static final String CATEGORY = "OpenTelemetry";

    /**
     * Creates processors. The virtual machine loads this class without OpenTelemetry, but not
     * {@link TimelineSpanProcessor}, which implements an interface of it. Stateless; any thread.
     */
    public static final class Factory {

        private Factory() {}

        /**
         * Creates a processor.
         *
         * @param recorder receives the spans
         * @return the new object
         * @throws IllegalStateException if OpenTelemetry is missing; the message names the artifact to add
         */
        public static TimelineSpanProcessor create(TraceRecorder recorder) {
            OptionalPart.OPENTELEMETRY_TRACE.require("TimelineSpanProcessor");
            return new TimelineSpanProcessor(recorder);
        }
    }

    private final TraceRecorder recorder;
    private final Map<String, OpenSpan> openSpans = new ConcurrentHashMap<>();
    private final AtomicInteger openCount = new AtomicInteger();

    /** The offset from a timestamp to the recorder's clock, taken from the span that started last, ns. */
    private volatile long latestOffsetNs;

    /**
     * The data of a span that has not ended. It does not refer to the span, so that a span that never ends can be
     * collected. Immutable.
     */
    private record OpenSpan(String name, long threadId, long startNs, long offsetNs) {}

    private TimelineSpanProcessor(TraceRecorder recorder) {
        Objects.requireNonNull(recorder, "recorder");
        this.recorder = recorder;
        recorder.addOpenSpans(this::reportOpen);
    }

    /** {@inheritDoc} */
    @Override
    public void onStart(@Nullable Context parent, ReadWriteSpan span) {
        long startEpochNs = span.toSpanData().getStartEpochNanos();
        // Until a span ends, its latency is measured up to now: beginning and latency are OpenTelemetry's own clock,
        // now.
        long nowEpochNs = startEpochNs + span.getLatencyNanos();
        long offsetNs = recorder.nowNs() - nowEpochNs;
        latestOffsetNs = offsetNs;
        if (openCount.incrementAndGet() <= MOST_OPEN) {
            long thread = Thread.currentThread().getId();
            openSpans.put(
                    span.getSpanContext().getSpanId(),
                    new OpenSpan(span.getName(), thread, startEpochNs + offsetNs, offsetNs));
        } else {
            openCount.decrementAndGet();
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
        OpenSpan opened = openSpans.remove(span.getSpanContext().getSpanId());
        if (opened != null) {
            openCount.decrementAndGet();
        }
        SpanData data = span.toSpanData();
        long offsetNs = opened == null ? latestOffsetNs : opened.offsetNs;
        long startNs = data.getStartEpochNanos() + offsetNs;
        long elapsedNs = Math.max(0, data.getEndEpochNanos() - data.getStartEpochNanos());
        long here = Thread.currentThread().getId();
        long thread = opened == null ? here : opened.threadId;
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

    private void reportOpen(TraceRecorder.OpenSpanVisitor to) {
        openSpans.values().forEach(open -> to.span(nameOf(open.name), CATEGORY, open.startNs, open.threadId));
    }

    /** Returns a valid name for a timeline: not empty and without NUL. OpenTelemetry allows any name. */
    private static String nameOf(@Nullable String name) {
        return name == null || name.isEmpty() ? "(no name)" : name.replace('\u0000', ' ');
    }

    /** {@inheritDoc} */
    @Override
    public boolean isEndRequired() {
        return true;
    }
}
