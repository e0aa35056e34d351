package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.repair;
import static org.brickprofiler.trace.read.Traces.slice;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.IOException;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;

/** Slices of two events each. */
final class BeginEndTest {

    private static String begin(String name, int tid, String ts) {
        return "{\"ph\": \"B\", \"name\": \"%s\", \"pid\": 1, \"tid\": %d, \"ts\": %s}".formatted(name, tid, ts);
    }

    private static String end(String name, int tid, String ts) {
        String key = name.isEmpty() ? "" : "\"name\": \"" + name + "\", ";
        return "{\"ph\": \"E\", %s\"pid\": 1, \"tid\": %d, \"ts\": %s}".formatted(key, tid, ts);
    }

    @Test
    void theLastBeginOfTheRowEnds() throws IOException {
        TraceProfile reading = Traces.read(array(
                begin("outer", 1, "0"),
                begin("inner", 1, "10"),
                begin("other", 2, "11"),
                end("", 1, "30"),
                end("", 2, "31"),
                end("outer", 1, "50")));

        assertThat(totalNs(reading, "outer")).isEqualTo(30_000);
        assertThat(totalNs(reading, "inner")).isEqualTo(20_000);
        assertThat(totalNs(reading, "other")).isEqualTo(20_000);
        assertThat(Omissions.ignored(reading)).containsOnlyKeys(Reason.END).containsValue(3L);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
    }

    @Spec("14.12")
    @Test
    void anEndEndsTheInnermostSliceWhateverItsName() throws IOException {
        TraceProfile reading = Traces.read(array(
                begin("outer", 1, "0"),
                begin("inner", 1, "10"),
                end("outer", 1, "30"),
                end("", 1, "50"),
                begin("", 1, "60"),
                end("named", 1, "70")));

        assertThat(totalNs(reading, "inner")).isEqualTo(20_000);
        assertThat(totalNs(reading, "outer")).isEqualTo(30_000);
        assertThat(totalNs(reading, Names.NONE)).isEqualTo(10_000);
        assertThat(Omissions.faults(reading.omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(tuple(Reason.END_OF_ANOTHER_NAME, 1L));
    }

    @Test
    void anEndWithAnEmptyNameEndsTheInnermostSlice() throws IOException {
        TraceProfile reading = Traces.read(
                array(begin("a", 1, "0"), "{\"ph\": \"E\", \"name\": \"\", \"pid\": 1, \"tid\": 1, \"ts\": 5}"));

        assertThat(totalNs(reading, "a")).isEqualTo(5_000);
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
    }

    @Test
    void endsWithoutBeginAndBeginsWithoutEndAreDropped() throws IOException {
        TraceProfile reading = Traces.read(
                array(end("", 1, "5"), begin("a", 1, "10"), end("b", 3, "20"), begin("c", 2, "1"), slice("x", 30, 1)));

        assertThat(reading.eventsCounted()).isOne();
        assertThat(repair(reading, Reason.END_WITHOUT_BEGIN).count()).isEqualTo(2);
        assertThat(repair(reading, Reason.BEGIN_WITHOUT_END).count()).isEqualTo(2);
    }

    @Test
    void aBeginWithAWrongTimeTakesItsOwnEnd() throws IOException {
        TraceProfile reading = Traces.read(
                array(begin("outer", 1, "0"), begin("wrong", 1, "\"?\""), end("", 1, "20"), end("", 1, "50")));

        assertThat(totalNs(reading, "outer")).isEqualTo(50_000);
        assertThat(repair(reading, Reason.MALFORMED_TIME).count()).isOne();
    }

    @Test
    void anEndBeforeItsBeginIsANegativeDuration() throws IOException {
        TraceProfile reading = Traces.read(array(begin("a", 1, "20"), end("", 1, "10")));

        assertThat(reading.eventsCounted()).isZero();
        assertThat(repair(reading, Reason.NEGATIVE_DURATION).count()).isOne();
    }

    @Test
    void pairsAreTheHostsWhereTheDeviceIsMarked() throws IOException {
        String annotation = "{\"ph\": \"B\", \"cat\": \"user_annotation\", \"name\": \"u\", \"tid\": 3, \"ts\": 1}";
        TraceProfile reading = Traces.read(array(
                begin("before", 1, "0"),
                slice("k", "kernel", 7, 5, 5),
                end("", 1, "30"),
                begin("after", 1, "31"),
                end("", 1, "32"),
                annotation,
                "{\"ph\": \"E\", \"tid\": 3, \"ts\": 9}"));

        assertThat(reading.eventsCounted()).isOne();
        assertThat(Omissions.ignored(reading))
                .containsEntry(Reason.HOST, 2L)
                .containsEntry(Reason.ANNOTATION, 1L)
                .containsEntry(Reason.END, 3L);
    }

    @Test
    void theDevicesSlicesMayBePairs() throws IOException {
        TraceProfile reading = Traces.read(array(
                "{\"ph\": \"B\", \"cat\": \"kernel\", \"name\": \"k\", \"ts\": 1, \"args\": {\"bytes\": 7}}",
                "{\"ph\": \"E\", \"ts\": 9}",
                slice("op", 0, 100)));

        assertThat(totalNs(reading, "k")).isEqualTo(8_000);
        assertThat(reading.snapshot().brick("k").orElseThrow().totalBytes()).isEqualTo(7);
        assertThat(reading.eventsCounted()).isOne();
    }

    @Test
    void tooManyOpenSlicesAreRefused() {
        ReadOptions small = ReadOptions.defaults().withLimits(new ReadOptions.Limits(5, 100, 10, 100, 2));

        assertThatThrownBy(() -> Traces.read(array(begin("a", 1, "1"), begin("a", 1, "2"), begin("a", 1, "3")), small))
                .isInstanceOf(TraceFormatException.class)
                .hasMessageContaining("too many slices are open at once");
    }
}
