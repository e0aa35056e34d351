package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.brickprofiler.testing.Crew;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

/** Every sample that a registry takes also lands, once, on the timeline of its thread. */
final class TableRegistrySpansTest {

    private final SpanStore spans = new SpanStore(1_000, true, new AtomicLong(1 << 20));
    private final TableRegistry registry = new TableRegistry(4, false, null, spans, null);

    private static List<String> entries(SpanCopy copy) {
        return IntStream.range(0, copy.size())
                .mapToObj(i -> copy.kind(i) + " " + copy.key(i) + " " + copy.startNs(i) + ".." + copy.endNs(i) + " x"
                        + copy.value(i))
                .toList();
    }

    @Test
    void samplesOfEveryKindBecomeSpans() {
        registry.add(1, 10, 100, 5);
        StatTable table = registry.acquire();
        table.addBytes(2, 20, 200, 6, 7, 8);
        table.addCycles(3, 30, 300, 9, 11);
        table.addWork(9, 40, 400, 12, 13, 14);
        registry.release(table);

        assertThat(entries(spans.copies().get(0)))
                .containsExactly(
                        "SPAN 1 90..100 x5", "SPAN 2 180..200 x6", "SPAN 3 270..300 x9", "SPAN 9 360..400 x12");
    }

    @Test
    void deferredSamplesKeepTheirTrueStart() {
        assertThat(registry.defer(0, 100, 1)).isTrue();
        assertThat(registry.defer(1, 150, 2)).isTrue();
        new PendingResolver(registry, true).resolve(0, 180);

        assertThat(entries(spans.copies().get(0))).containsExactly("DEFERRED 0 100..150 x1", "DEFERRED 1 150..180 x2");
    }

    @Test
    void deferredSamplesOfAThreadWithoutATableAreSpansToo() throws Exception {
        assertThat(registry.defer(2, 100, 1)).isTrue();
        Crew.runOnNewThread(() -> new PendingResolver(registry, false).resolve(0, 180));

        assertThat(spans.copies()).hasSize(2);
        assertThat(entries(spans.copies().get(1))).containsExactly("DEFERRED 2 100..180 x1");
    }

    @Test
    void marksGoToTheTimelineAndNotIntoTheSums() {
        registry.mark(SpanKind.LAYER_END, 0, 70, 0, 0);

        assertThat(entries(spans.copies().get(0))).containsExactly("LAYER_END 0 70..70 x0");
        assertThat(registry.read().row(0)).isEqualTo(StatRow.EMPTY);
    }

    @Spec("13.3")
    @Test
    void aTimelineGoesOnOverResets() {
        registry.add(1, 10, 100, 5);
        registry.readAndReset();
        registry.add(1, 10, 200, 5);

        assertThat(spans.copies()).hasSize(1);
        assertThat(entries(spans.copies().get(0))).containsExactly("SPAN 1 90..100 x5", "SPAN 1 190..200 x5");
    }

    @Test
    void eachThreadHasATimelineThatOutlivesIt() throws Exception {
        registry.add(1, 10, 100, 5);
        Crew.runOnNewThread(() -> registry.add(2, 10, 100, 6));
        registry.read();

        assertThat(spans.copies()).hasSize(2);
        assertThat(spans.copies().get(1).threadName()).isEqualTo("crew-0");
        assertThat(entries(spans.copies().get(1))).containsExactly("SPAN 2 90..100 x6");
    }

    @Test
    void nobodyWantsSpansUnlessAStoreIsGiven() {
        assertThat(registry.hasSpans()).isTrue();
        TableRegistry plain = new TableRegistry(4, false);

        assertThat(plain.hasSpans()).isFalse();
        assertThat(plain.mark(SpanKind.INSTANT, 0, 0, 0, 0))
                .as("the timeline's id")
                .isZero();
    }
}
