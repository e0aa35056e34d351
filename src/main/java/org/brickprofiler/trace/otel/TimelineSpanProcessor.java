package org.brickprofiler.trace.otel;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.brickprofiler.record.NanoClock;
import org.brickprofiler.trace.TraceRecorder;
import org.eclipse.collections.impl.map.mutable.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Puts every span that an application opens through OpenTelemetry on the timeline, on the line of the thread that
 * opened it. Spans and what becomes of them otherwise stay as they are.
 *
 * <pre>{@code
 * SdkTracerProvider.builder().addSpanProcessor(new TimelineSpanProcessor(recorder))
 * }</pre>
 *
 * <p>Any thread. A span is recorded when it ends: its duration is OpenTelemetry's own, its end the moment at which this
 * processor is told. Spans that never end are not recorded; at most {@value #MOST_OPEN} open ones are followed, and
 * others go to the line of the thread that ends them.
 */
public final class TimelineSpanProcessor implements SpanProcessor {

    /** The most open spans whose thread is remembered: an application that never ends its spans must not fill the heap. */
    static final int MOST_OPEN = 65_536;

    private static final String CATEGORY = "OpenTelemetry";

    private final TraceRecorder recorder;
    private final NanoClock clock;
    private final ConcurrentHashMap<String, Long> threadsOfOpenSpans = ConcurrentHashMap.newMap();
    private final AtomicInteger openSpans = new AtomicInteger();

    /**
     * A processor for a recorder with the system's clock.
     *
     * @param recorder where the spans go
     */
    public TimelineSpanProcessor(TraceRecorder recorder) {
        this(recorder, NanoClock.SYSTEM);
    }

    /**
     * A processor.
     *
     * @param recorder where the spans go
     * @param clock the recorder's clock
     */
    public TimelineSpanProcessor(TraceRecorder recorder, NanoClock clock) {
        Objects.requireNonNull(recorder, "recorder");
        Objects.requireNonNull(clock, "clock");
        this.recorder = recorder;
        this.clock = clock;
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
        long endNs = clock.nanoTime();
        Long opened = threadsOfOpenSpans.remove(span.getSpanContext().getSpanId());
        if (opened != null) {
            openSpans.decrementAndGet();
        }
        long elapsedNs = Math.max(0, span.getLatencyNanos());
        String name = nameOf(span);
        if (opened == null || opened == Thread.currentThread().getId()) {
            recorder.span(name, CATEGORY, endNs - elapsedNs, elapsedNs);
        } else {
            recorder.span(name, CATEGORY, endNs - elapsedNs, elapsedNs, opened);
        }
    }

    /** OpenTelemetry allows any name; a timeline's has characters, none of them NUL. */
    private static String nameOf(ReadableSpan span) {
        @Nullable String name = span.getName();
        return name == null || name.isEmpty() ? "(no name)" : name.replace('\u0000', ' ');
    }

    /** {@inheritDoc} */
    @Override
    public boolean isEndRequired() {
        return true;
    }
}
