import io.opentelemetry.api.GlobalOpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Scope;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import java.util.List;

/**
 * Serves requests before and after it sets its OpenTelemetry, and prints the spans of the later ones:
 * {@code SpannedServer set} or {@code SpannedServer never}.
 */
public class SpannedServer {

    public static void main(String[] args) throws Exception {
        answer("early", "m", 2);
        if (args[0].equals("never")) {
            return;
        }
        InMemorySpanExporter exporter = InMemorySpanExporter.create();
        OpenTelemetrySdk.builder()
                .setTracerProvider(SdkTracerProvider.builder()
                        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
                        .build())
                .buildAndRegisterGlobal();
        Tracer tracer = GlobalOpenTelemetry.getTracer("app");
        for (int i = 0; i < 3; i++) {
            Span span = tracer.spanBuilder("http " + i).startSpan();
            try (Scope scope = span.makeCurrent()) {
                answer("id " + i, "model " + i, 2 + i);
            }
            span.end();
        }
        answer("alone", "m", 1);
        long endNs = System.nanoTime() + 30_000_000_000L;
        while (answers(exporter) < 4 && System.nanoTime() < endNs) {
            Thread.sleep(20);
        }
        for (SpanData each : exporter.getFinishedSpanItems()) {
            System.out.println(String.join(
                    "|",
                    each.getName(),
                    each.getTraceId(),
                    each.getParentSpanId(),
                    each.getSpanId(),
                    String.valueOf(each.getEndEpochNanos() - each.getStartEpochNanos()),
                    each.getAttributes().asMap().toString()));
        }
    }

    private static long answers(InMemorySpanExporter exporter) {
        List<SpanData> spans = exporter.getFinishedSpanItems();
        return spans.stream()
                .filter(each -> each.getName().startsWith("text_completion"))
                .count();
    }

    static void answer(String id, String model, int tokens) throws InterruptedException {
        for (int i = 0; i < tokens; i++) {
            Thread.sleep(2);
            step();
        }
    }

    static void step() throws InterruptedException {
        Thread.sleep(3);
    }
}
