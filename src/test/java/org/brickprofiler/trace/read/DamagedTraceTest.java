package org.brickprofiler.trace.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.object;
import static org.brickprofiler.trace.read.Traces.refused;
import static org.brickprofiler.trace.read.Traces.repair;
import static org.brickprofiler.trace.read.Traces.slice;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged text and faulty events: what is refused, and what is left out and reported. */
final class DamagedTraceTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();

    @TempDir
    Path folder;

    // ---- damaged text ----

    @ParameterizedTest
    @ValueSource(strings = {"", " \n", "<html>", "3", "\"x\"", "nonsense", "{\"a\": 1}", "{\"traceEvents\": {}}",
        "{\"traceEvents\": [], \"traceEvents\": []}", "[1]", "[[]]", "[{\"a\": 1, \"name\": \"x\"}]", "[] []", "{",
        "[{]", "{\"traceEvents\": [", "{\"traceEvents\": []", "[{\"ph\": \"X\"", "\u0000\u0001"})
    void whatIsNoTraceIsRefused(String text) {
        TraceFormatException refused = refused(text);

        assertThat(refused.offset()).isBetween(0L, (long) text.length());
        assertThat(refused).hasMessageStartingWith("the trace, offset " + refused.offset() + ": ");
    }

    @Spec("14.6")
    @Test
    void saysWhatIsWrongAndWhere() {
        assertThat(refused("")).hasMessage("the trace, offset 0: the text is empty");
        assertThat(refused("{\"bricks\": []}")).hasMessageContaining("no traceEvents");
        assertThat(refused("[{\"ph\": \"X\"}, 7]")).hasMessageContaining("offset 14: an element");
        assertThat(refused("[{\"ph\": \"X\"}] x")).hasMessageContaining("offset 14").hasMessageContaining("'x'");
        assertThat(refused("[{\"ph\": \"X\", \"n")).hasMessageContaining("the text ends too early");
    }

    @Test
    void whatIsNotInAnyEncodingOfJsonIsRefused() {
        assertThat(refused(() -> Traces.read(new byte[] {0, 0, (byte) 0xff, (byte) 0xfe, 0}, OPTIONS)).offset())
                .isZero();
        assertThat(refused(() -> Traces.read(new byte[] {'[', '{', '"', (byte) 0xff, '"', '}', ']'}, OPTIONS)))
                .hasMessageContaining("Invalid UTF-8");
        assertThat(refused(() -> Traces.read(new byte[] {0, 0, 0, '[', 0x7f, 0, 0, 0}, OPTIONS)))
                .hasMessageStartingWith("the trace, offset ");
    }

    @Spec("14.6")
    @Test
    void everyCutOfAnObjectIsRefused() {
        String whole = object(slice("a", 0, 5), slice("b", 10, 7));

        for (int length = 0; length < whole.length(); length++) {
            String cut = whole.substring(0, length);
            assertThat(refused(cut).offset()).as(cut).isBetween(0L, (long) length);
        }
    }

    @Spec("14.6")
    @Test
    void everyCutOfAnArrayIsRefusedOrReported() throws IOException {
        String first = slice("a", 0, 5);
        String whole = array(first, slice("b", 10, 7));

        for (int length = 0; length < whole.length(); length++) {
            String cut = whole.substring(0, length);
            boolean afterAnEvent = cut.stripTrailing().endsWith("}") || cut.stripTrailing().endsWith("},");
            if (afterAnEvent) {
                TraceProfile reading = Traces.read(cut);
                assertThat(repair(reading, Reason.OPEN_ARRAY).count()).isOne();
                assertThat(reading.eventsCounted()).isBetween(1L, 2L);
            } else {
                refused(cut);
            }
        }
    }

    @Test
    void everyCutOfAPackedFileIsRefused() {
        byte[] whole = Traces.packed(object(slice("a", 0, 5), slice("b", 10, 7)));

        for (int length = 0; length < whole.length; length++) {
            byte[] cut = Arrays.copyOf(whole, length);
            refused(() -> Traces.read(cut, OPTIONS));
        }
    }

    @Test
    void aDamagedPackedFileIsRefused() {
        byte[] damaged = Traces.packed(object(slice("a", 0, 5)));
        damaged[damaged.length - 8] ^= 1;

        assertThat(refused(() -> Traces.read(damaged, OPTIONS))).hasMessageContaining("the packed file is damaged");
    }

    @Test
    void namesTheFile() throws IOException {
        Path file = Files.writeString(folder.resolve("t.json"), "[{]");

        assertThat(refused(() -> TraceReader.profile(file)))
                .hasMessageStartingWith(file + ", offset ")
                .satisfies(refused -> assertThat(refused.source()).isEqualTo(file.toString()));
        assertThatThrownBy(() -> TraceReader.profile(folder.resolve("none")))
                .isExactlyInstanceOf(IOException.class)
                .hasMessage("cannot read " + folder.resolve("none") + ": it does not exist");
    }

    @Test
    void emptyElementsMeanNothing() throws IOException {
        TraceProfile reading = Traces.read("[" + slice("a", 0, 5) + ", {}, null,\n]");

        assertThat(Omissions.ignored(reading)).isEqualTo(Map.of(Reason.EMPTY, 2L));
        assertThat(Omissions.faults(reading.omissions())).isEmpty();
    }

    // ---- faulty events ----

    @Spec("14.3")
    @Test
    void faultyEventsAreDroppedAndCounted() throws IOException {
        TraceProfile reading = Traces.read(array(
                slice("a", 0, 5),
                "{\"name\": \"no phase\", \"ts\": 1, \"dur\": 1}",
                "{\"ph\": \"XX\", \"ts\": 1, \"dur\": 1}",
                "{\"ph\": \"X\", \"ts\": 1}",
                "{\"ph\": \"X\", \"dur\": 1}",
                "{\"ph\": \"X\", \"ts\": null, \"dur\": 1}",
                "{\"ph\": \"X\", \"ts\": \"soon\", \"dur\": 1}",
                "{\"ph\": \"X\", \"ts\": 1, \"dur\": NaN}",
                "{\"ph\": \"X\", \"ts\": 1, \"dur\": [2]}",
                "{\"ph\": \"X\", \"ts\": 1e300, \"dur\": 1}",
                "{\"ph\": \"X\", \"ts\": 4611686018427387, \"dur\": 4611686018427387}",
                slice("a", 9, -3)));

        assertThat(reading.eventsCounted()).isOne();
        assertThat(Omissions.faults(reading.omissions()))
                .extracting(Omission::reason, Omission::count)
                .containsExactly(
                        tuple(Reason.NO_PHASE, 2L),
                        tuple(Reason.NO_TIME, 3L),
                        tuple(Reason.MALFORMED_TIME, 3L),
                        tuple(Reason.TIME_OUT_OF_RANGE, 2L),
                        tuple(Reason.NEGATIVE_DURATION, 1L));
        assertThat(reading.summary()).contains("1 negative duration, dropped; first at offset ");
    }

    @Test
    void aRepeatedKeyIsReported() throws IOException {
        TraceProfile reading =
                Traces.read("[{\"ph\": \"X\", \"name\": \"a\", \"ts\": 1, \"dur\": 5, \"dur\": 7}]");

        assertThat(totalNs(reading, "a")).isEqualTo(7_000);
        assertThat(Omissions.faults(reading.omissions())).containsExactly(new Omission(Reason.REPEATED_KEY, "", 1, 0, 1));
    }

    @Test
    void timesAreExact() throws IOException {
        String event = "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": %s, \"dur\": %s}]";

        assertThat(totalNs(Traces.read(event.formatted("1694039994071305.123", "0.0015")), "a")).isEqualTo(2);
        assertThat(totalNs(Traces.read(event.formatted("\"17\"", "\"1.5e1\"")), "a")).isEqualTo(15_000);
        assertThat(totalNs(Traces.read(event.formatted("-5.5", "1694039994071305.999")), "a"))
                .isEqualTo(1_694_039_994_071_305_999L);
    }

    @Test
    void aSliceWithoutNameHasAStandIn() throws IOException {
        assertThat(totalNs(Traces.read("[{\"ph\": \"X\", \"ts\": 1, \"dur\": 5}]"), Names.NONE)).isEqualTo(5_000);
    }

    @Test
    void sumsThatDoNotFitAreRefused() {
        String half = "{\"ph\": \"X\", \"name\": \"a\", \"tid\": %d, \"ts\": 0, \"dur\": 4600000000000000}";
        String full = "{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"cat\":\"gpu_memcpy\","
                + "\"args\":{\"bytes\":9223372036854775807}}";

        assertThat(refused(array(half.formatted(1), half.formatted(2), half.formatted(3))))
                .hasMessageContaining("exceeds 2^63");
        assertThat(refused(array(full.formatted(1), full.formatted(2)))).hasMessageContaining("exceeds 2^63");
    }
}
