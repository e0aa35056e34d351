package org.brickprofiler.metrics.otel;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.common.AttributesBuilder;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.TracerProvider;
import io.opentelemetry.context.Context;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.BrickProfiler;
import org.brickprofiler.ProfilerListener;
import org.brickprofiler.Step;
import org.brickprofiler.StepInfo;
import org.brickprofiler.internal.base.Log;
import org.brickprofiler.metrics.RequestLatencies;
import org.brickprofiler.request.Cause;
import org.brickprofiler.request.Outcome;
import org.brickprofiler.request.RequestRecord;
import org.brickprofiler.request.RequestTimeline;
import org.brickprofiler.request.RequestTimeline.Segment;
import org.brickprofiler.request.RequestTrace;
import org.jspecify.annotations.Nullable;

/**
 * Exports the requests of a profiler as spans of OpenTelemetry, after their end. The parent of a span is the span that
 * was current on the thread that announced the arrival, or the one of {@code requests.traced}, so the request is
 * sampled as its parent.
 *
 * <pre>{@code
 * RequestSpans spans = RequestSpans.start(profiler, openTelemetry.getTracerProvider(), Attributes.of(
 *         AttributeKey.stringKey("gen_ai.operation.name"), "chat",
 *         AttributeKey.stringKey("gen_ai.provider.name"), "acme"));
 * }</pre>
 *
 * <p>The span of a request is named after the operation and the model, as OpenTelemetry's semantic conventions for
 * generative AI ask: the model that the request names, or else that of the given attributes or of the run. Its kind is
 * {@code INTERNAL}, since the model runs in this process. It has the conventions' attributes of tokens, of the reason
 * for which the answer ended and of errors, and the times by cause of its record as {@code brick.request.*_ns}. Its
 * children are its stages: <i>queued</i> until its first step, <i>prefill</i> until its first token, <i>decode</i>
 * until its last one, and <i>delivery</i>. The times by cause of the stages sum to those of the request. The longest
 * stalls of a stage are its events. A request whose steps are no longer known has no stages, and says so by
 * {@code brick.request.stages}.
 *
 * <p>A daemon thread exports once a second, and {@link #close} the rest. A finish of a request costs an entry in a
 * queue of {@value #MOST}; if the queue is full, the request has no span, which is counted and logged once. Any thread.
 */
public final class RequestSpans implements AutoCloseable {

    private static final Log LOG = Log.of(RequestSpans.class);

    private static final int MOST = 1_024;

    /** The stalls of a stage that are events. */
    private static final int STALLS = 8;

    private static final long PERIOD_MS = 1_000;

    /** A difference between two times of day of an arrival beyond which the profiler has a clock of its own. */
    private static final long OTHER_CLOCK_NS = 1_000_000_000;

    private static final String PREFIX = "brick.request.";
    private static final AttributeKey<String> OPERATION = AttributeKey.stringKey("gen_ai.operation.name");
    private static final AttributeKey<String> PROVIDER = AttributeKey.stringKey("gen_ai.provider.name");
    private static final AttributeKey<String> MODEL = AttributeKey.stringKey("gen_ai.request.model");
    private static final AttributeKey<Long> INPUT_TOKENS = AttributeKey.longKey("gen_ai.usage.input_tokens");
    private static final AttributeKey<Long> CACHED_TOKENS =
            AttributeKey.longKey("gen_ai.usage.cache_read.input_tokens");
    private static final AttributeKey<Long> OUTPUT_TOKENS = AttributeKey.longKey("gen_ai.usage.output_tokens");
    private static final AttributeKey<List<String>> FINISH_REASONS =
            AttributeKey.stringArrayKey("gen_ai.response.finish_reasons");
    private static final AttributeKey<String> ERROR = AttributeKey.stringKey("error.type");
    private static final AttributeKey<String> ID = AttributeKey.stringKey(PREFIX + "id");
    private static final AttributeKey<Long> FIRST_TOKEN = AttributeKey.longKey(PREFIX + "time_to_first_token_ns");
    private static final AttributeKey<Long> LONGEST_GAP = AttributeKey.longKey(PREFIX + "longest_gap_ns");
    private static final AttributeKey<String> STAGES = AttributeKey.stringKey(PREFIX + "stages");
    private static final AttributeKey<Long> STALLED = AttributeKey.longKey(PREFIX + "stalls");
    private static final AttributeKey<String> CAUSE = AttributeKey.stringKey(PREFIX + "cause");
    private static final AttributeKey<Long> DURATION = AttributeKey.longKey(PREFIX + "duration_ns");

    private final BrickProfiler profiler;
    private final Tracer tracer;
    private final Attributes genAi;
    private final String operation;

    /** The model of requests that name none; null if it is unknown. */
    private final @Nullable String runModel;

    private final BlockingQueue<Finished> queue = new ArrayBlockingQueue<>(MOST);
    private final AtomicLong lost = new AtomicLong();
    private final Listener listener = new Listener();
    private final Thread exporter = new Thread(this::run, "brick-request-spans");
    private volatile boolean isClosed;

    /**
     * A request that waits for its export.
     *
     * @param parent the context in which it was submitted; null if none is known
     */
    private record Finished(RequestRecord record, @Nullable Context parent) {}

    /**
     * A part of a request's time.
     *
     * @param fromNs its beginning, ns after the arrival
     * @param toNs its end, ns after the arrival
     */
    private record Stage(String name, long fromNs, long toNs) {}

    /** Enqueues requests. The recorder is locked meanwhile. */
    private final class Listener implements ProfilerListener {
        @Override
        public boolean wantsBricks() {
            return false;
        }

        @Override
        public void brickRecorded(
                String brick,
                BrickCategory category,
                Optional<StepInfo.Phase> phase,
                long endNs,
                long elapsedNs,
                long elements) {}

        @Override
        public void stepBegan(StepInfo info) {}

        @Override
        public void stepEnded(Step step) {}

        @Override
        public void requestFinished(RequestRecord request, Optional<RequestTrace> trace) {
            Context parent = trace.map(RequestTrace::context)
                    .filter(Context.class::isInstance)
                    .map(Context.class::cast)
                    .orElse(null);
            if (!queue.offer(new Finished(request, parent))) {
                lost.incrementAndGet();
            }
        }
    }

    private RequestSpans(BrickProfiler profiler, Tracer tracer, Attributes genAi) {
        this.profiler = profiler;
        this.tracer = tracer;
        this.genAi = genAi;
        operation = String.valueOf(genAi.get(OPERATION));
        String given = genAi.get(MODEL);
        runModel =
                given != null ? given : profiler.snapshot().identity().model().orElse(null);
    }

    /**
     * Begins to export the requests of a profiler, and to keep the traces in which they arrive.
     *
     * @param profiler the profiler
     * @param tracers the provider of the tracer, which samples and exports the spans
     * @param genAi attributes of each span: {@code gen_ai.operation.name} and {@code gen_ai.provider.name}, which the
     *     conventions require, and others such as {@code gen_ai.request.model}
     * @return the handle whose {@link #close} ends the export
     * @throws IllegalArgumentException when a required attribute is missing; the message names it
     */
    public static RequestSpans start(BrickProfiler profiler, TracerProvider tracers, Attributes genAi) {
        Objects.requireNonNull(profiler, "profiler");
        Objects.requireNonNull(genAi, "genAi");
        for (AttributeKey<String> required : List.of(OPERATION, PROVIDER)) {
            if (genAi.get(required) == null) {
                throw new IllegalArgumentException("genAi " + genAi + " has no attribute " + required);
            }
        }
        RequestSpans spans = new RequestSpans(profiler, tracers.get("org.brickprofiler"), genAi);
        profiler.requests().setTraceSource(RequestSpans::current);
        profiler.addListener(spans.listener);
        spans.exporter.setDaemon(true);
        spans.exporter.start();
        return spans;
    }

    static @Nullable RequestTrace current() {
        Context context = Context.current();
        SpanContext span = Span.fromContext(context).getSpanContext();
        return span.isValid() ? new RequestTrace(span.getTraceId(), context) : null;
    }

    /**
     * Returns the number of requests without a span, because the queue was full when they finished.
     *
     * @return 0 or more
     */
    public long lost() {
        return lost.get();
    }

    private void run() {
        boolean isLossLogged = false;
        boolean isFailureLogged = false;
        while (!isClosed) {
            try {
                Thread.sleep(PERIOD_MS);
                flush();
            } catch (InterruptedException closed) {
                return;
            } catch (RuntimeException failed) {
                if (!isFailureLogged) {
                    isFailureLogged = true;
                    LOG.warn("spans of requests could not be exported: {}. Not logged again", failed);
                }
            }
            if (lost.get() > 0 && !isLossLogged) {
                isLossLogged = true;
                LOG.warn(
                        "{} requests have no span, since more than {} finished in a second. Not logged again",
                        lost.get(),
                        MOST);
            }
        }
    }

    /** Exports the requests that have finished so far. */
    public synchronized void flush() {
        List<Finished> finished = new ArrayList<>();
        queue.drainTo(finished);
        if (finished.isEmpty()) {
            return;
        }
        RequestTimeline timeline = profiler.requests().timeline().get();
        long epochUnixNs =
                ChronoUnit.NANOS.between(Instant.EPOCH, Instant.now()) - System.nanoTime() + timeline.epochNs();
        Map<RequestRecord, List<Segment>> segments = segments(timeline, finished);
        for (Finished each : finished) {
            OptionalLong startNs = startNs(each.record, epochUnixNs, segments.containsKey(each.record));
            if (startNs.isEmpty()) {
                lost.incrementAndGet();
            } else {
                export(each, startNs.getAsLong(), segments.getOrDefault(each.record, List.of()));
            }
        }
    }

    private static Map<RequestRecord, List<Segment>> segments(RequestTimeline timeline, List<Finished> finished) {
        Map<RequestRecord, Finished> wanted = new HashMap<>();
        finished.forEach(each -> wanted.put(each.record, each));
        List<RequestTimeline.Request> known = timeline.requests().stream()
                .filter(request -> wanted.containsKey(request.record()))
                .toList();
        List<List<Segment>> all = new RequestTimeline(timeline.steps(), known, timeline.epochNs()).segments();
        Map<RequestRecord, List<Segment>> segments = new HashMap<>();
        for (int i = 0; i < known.size(); i++) {
            segments.put(known.get(i).record(), all.get(i));
        }
        return segments;
    }

    /**
     * Returns the arrival of a request, ns since 1970; empty if it is not known.
     *
     * @param epochUnixNs the time of day at 0 of the scale of arrivals
     * @param isKept whether the time line has the request, and so its arrival is on this scale
     */
    private static OptionalLong startNs(RequestRecord record, long epochUnixNs, boolean isKept) {
        long byClockNs = epochUnixNs + record.arrivedNs();
        OptionalLong stated = record.identity().arrivedAt().stream()
                .mapToLong(at -> ChronoUnit.NANOS.between(Instant.EPOCH, at))
                .findFirst();
        return isKept && (stated.isEmpty() || Math.abs(stated.getAsLong() - byClockNs) < OTHER_CLOCK_NS)
                ? OptionalLong.of(byClockNs)
                : stated;
    }

    private void export(Finished finished, long startNs, List<Segment> segments) {
        RequestRecord record = finished.record;
        Context parent = finished.parent == null ? Context.root() : finished.parent;
        String model = record.identity().model().orElse(runModel);
        SpanBuilder started = started(parent, model == null ? operation : operation + " " + model, startNs)
                .setAllAttributes(genAi);
        if (model != null) {
            started.setAttribute(MODEL, model);
        }
        Span span = started.startSpan();
        if (span.isRecording()) {
            span.setAllAttributes(attributes(record));
            Outcome outcome = record.outcome();
            if (RequestLatencies.isError(outcome)) {
                span.setAttribute(ERROR, outcome.name().toLowerCase(Locale.ROOT));
                span.setStatus(StatusCode.ERROR);
            } else {
                span.setAttribute(FINISH_REASONS, List.of(outcome == Outcome.LENGTH ? "length" : "stop"));
            }
            if (segments.isEmpty() && record.durationNs() > 0) {
                span.setAttribute(STAGES, "unknown");
            }
            Context within = parent.with(span);
            for (Stage stage : stages(record, segments)) {
                export(stage, within, startNs, record.arrivedNs(), segments);
            }
        }
        span.end(startNs + record.durationNs(), TimeUnit.NANOSECONDS);
    }

    private SpanBuilder started(Context parent, String spanName, long startNs) {
        return tracer.spanBuilder(spanName)
                .setParent(parent)
                .setSpanKind(SpanKind.INTERNAL)
                .setStartTimestamp(startNs, TimeUnit.NANOSECONDS);
    }

    private static Attributes attributes(RequestRecord record) {
        AttributesBuilder attributes =
                Attributes.builder().put(INPUT_TOKENS, record.promptTokens()).put(OUTPUT_TOKENS, record.outputTokens());
        if (record.cachedTokens() > 0) {
            attributes.put(CACHED_TOKENS, record.cachedTokens());
        }
        if (record.outputTokens() > 0) {
            attributes.put(FIRST_TOKEN, record.timeToFirstTokenNs());
        }
        if (record.longestGapNs() > 0) {
            attributes.put(LONGEST_GAP, record.longestGapNs());
        }
        record.identity().id().ifPresent(id -> attributes.put(ID, id));
        putCauses(attributes, record.causeNs());
        return attributes.build();
    }

    private static void putCauses(AttributesBuilder attributes, Map<Cause, Long> causeNs) {
        causeNs.forEach((cause, ns) -> {
            if (ns > 0) {
                attributes.put(AttributeKey.longKey(PREFIX + nameOf(cause) + "_ns"), ns);
            }
        });
    }

    private static String nameOf(Cause cause) {
        return cause.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the stages that have a duration; none if the segments are not known. */
    private static List<Stage> stages(RequestRecord record, List<Segment> segments) {
        if (segments.isEmpty()) {
            return List.of();
        }
        long endNs = record.durationNs();
        Segment last = segments.get(segments.size() - 1);
        long deliveryNs = last.cause() == Cause.DELIVERY ? last.startNs() - record.arrivedNs() : endNs;
        long firstStepNs = segments.stream()
                .filter(segment -> segment.step() >= 0)
                .mapToLong(segment -> segment.startNs() - record.arrivedNs())
                .findFirst()
                .orElse(endNs);
        // A request may finish within the step that gives its first token.
        long firstTokenNs = record.outputTokens() == 0
                ? Math.max(firstStepNs, deliveryNs)
                : Math.min(record.timeToFirstTokenNs(), endNs);
        long lastTokenNs = Math.max(firstTokenNs, deliveryNs);
        return List.of(
                        new Stage("queued", 0, firstStepNs),
                        new Stage("prefill", firstStepNs, firstTokenNs),
                        new Stage("decode", firstTokenNs, lastTokenNs),
                        new Stage("delivery", lastTokenNs, endNs))
                .stream()
                .filter(stage -> stage.toNs > stage.fromNs)
                .toList();
    }

    private void export(Stage stage, Context within, long startNs, long arrivedNs, List<Segment> segments) {
        Map<Cause, Long> causeNs = new HashMap<>();
        List<Segment> stalls = new ArrayList<>();
        for (Segment segment : segments) {
            long fromNs = segment.startNs() - arrivedNs;
            long ns = Math.min(fromNs + segment.durationNs(), stage.toNs) - Math.max(fromNs, stage.fromNs);
            if (ns > 0) {
                causeNs.merge(segment.cause(), ns, Long::sum);
                if (isStall(segment.cause())) {
                    stalls.add(segment);
                }
            }
        }
        AttributesBuilder attributes = Attributes.builder();
        putCauses(attributes, causeNs);
        if (!stalls.isEmpty()) {
            attributes.put(STALLED, (long) stalls.size());
        }
        Span span = started(within, stage.name, startNs + stage.fromNs)
                .setAllAttributes(attributes.build())
                .startSpan();
        stalls.stream()
                .sorted(Comparator.comparingLong(Segment::durationNs).reversed())
                .limit(STALLS)
                .sorted(Comparator.comparingLong(Segment::startNs))
                .forEach(stall -> span.addEvent(
                        "stalled",
                        Attributes.of(CAUSE, nameOf(stall.cause()), DURATION, stall.durationNs()),
                        startNs + stall.startNs() - arrivedNs,
                        TimeUnit.NANOSECONDS));
        span.end(startNs + stage.toNs, TimeUnit.NANOSECONDS);
    }

    private static boolean isStall(Cause cause) {
        return cause == Cause.STALLED_BEHIND_PROMPTS
                || cause == Cause.STALLED_BEHIND_DECODING
                || cause == Cause.STALLED_IDLE;
    }

    /** Exports the requests that have finished, and ends the export. A second call does nothing. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            profiler.removeListener(listener);
            exporter.interrupt();
            flush();
        }
    }
}
