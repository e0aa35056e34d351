package org.brickprofiler.internal.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.List;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.TraceRecorder;
import org.junit.jupiter.api.Test;

final class SpanSinkProviderTest {

    private static final SpanSink SINK = SpanSinks.of(new TraceRecorder());

    private static SpanSinkProvider expecting(String file) {
        return new SpanSinkProvider() {
            @Override
            protected SpanSink open(Path path) {
                assertThat(path).isEqualTo(Path.of(file));
                return SINK;
            }
        };
    }

    @Test
    void theFirstProviderMakesTheSink() {
        assertThat(SpanSinkProvider.open("a.pftrace", List.of(expecting("a.pftrace"))))
                .isSameAs(SINK);
    }

    @Test
    void nothingIsTracedWhereNothingIsSet() {
        assertThat(SpanSinkProvider.open(null, List.of(expecting("")))).isNull();
        assertThat(SpanSinkProvider.open("", List.of(expecting("")))).isNull();
        assertThat(SpanSinkProvider.sinkOfSetting()).isNull();
    }

    @Spec("13.1")
    @Test
    void aFileThatCannotBeWrittenIsToldAndStopsNobody() {
        SpanSinkProvider refusing = new SpanSinkProvider() {
            @Override
            protected SpanSink open(Path path) {
                throw new IllegalArgumentException("no such format: " + path);
            }
        };

        try (CapturedLog log = new CapturedLog()) {
            assertThat(SpanSinkProvider.open("a.txt", List.of(refusing))).isNull();

            assertThat(log.linesWith("no such format")).isEqualTo(1);
        }
    }

    @Test
    void withoutAProviderThatIsTold() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SpanSinkProvider.open("a.json", List.of())).isNull();

            assertThat(log.linesWith("nothing on the class path")).isEqualTo(1);
        }
    }

    @Test
    void whatIsNoPathIsTold() {
        try (CapturedLog log = new CapturedLog()) {
            assertThat(SpanSinkProvider.open("\u0000", List.of(expecting("")))).isNull();

            assertThat(log.linesWith("it is not a path")).isEqualTo(1);
        }
    }
}
