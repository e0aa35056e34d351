package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.brickprofiler.trace.read.Traces.array;
import static org.brickprofiler.trace.read.Traces.object;
import static org.brickprofiler.trace.read.Traces.refused;
import static org.brickprofiler.trace.read.Traces.repair;
import static org.brickprofiler.trace.read.Traces.slice;
import static org.brickprofiler.trace.read.Traces.totalNs;

import java.io.ByteArrayInputStream;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.brickprofiler.BrickCategory;
import org.brickprofiler.testing.Spec;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;

/** Traces as bricks: the forms of their text, the events that count, the rules, and the limits. */
final class TraceReaderTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();

    // ---- forms of the text ----

    @Test
    void readsAnArrayAndAnObjectPlainAndPackedAlike() throws IOException {
        String[] events = {slice("a", 0, 5), slice("b", 10, 7)};
        TraceProfile expected = Traces.read(array(events));

        assertThat(totalNs(expected, "a")).isEqualTo(5_000);
        assertThat(Traces.read(object(events))).isEqualTo(expected);
        assertThat(Traces.read(Traces.packed(array(events)), OPTIONS)).isEqualTo(expected);
        assertThat(Traces.read(("\ufeff" + array(events)).getBytes(UTF_8), OPTIONS))
                .isEqualTo(expected);
        assertThat(Traces.read(array(events).getBytes(UTF_16LE), OPTIONS).snapshot())
                .isEqualTo(expected.snapshot());
    }

    /** The stream of a pipe cannot state how many bytes are available. */
    @Test
    void neverAsksAStreamForItsAvailableBytes() throws IOException {
        InputStream pipe = new FilterInputStream(new ByteArrayInputStream(Traces.packed(array(slice("a", 0, 5))))) {
            @Override
            public synchronized int available() {
                throw new AssertionError("asked");
            }
        };

        assertThat(totalNs(TraceReader.profile(pipe, OPTIONS), "a")).isEqualTo(5_000);
    }

    @Test
    void findsTheEventsWhereverTheyStand() throws IOException {
        String before = "{\"x\": [1, {\"traceEvents\": 3}], \"traceEvents\": " + array(slice("a", 0, 5)) + "}";
        String after = "{\"traceEvents\": " + array(slice("a", 0, 5)) + ", \"x\": {\"y\": [[]]}}";

        assertThat(totalNs(Traces.read(before), "a")).isEqualTo(5_000);
        assertThat(totalNs(Traces.read(after), "a")).isEqualTo(5_000);
    }

    @Test
    void aTraceWithoutEventsIsEmpty() throws IOException {
        TraceProfile reading = Traces.read("[]");

        assertThat(reading.snapshot().bricks()).isEmpty();
        assertThat(reading.wallNs()).isZero();
        assertThat(reading.summary()).contains("0 of 0 events read");
    }

    @Test
    void hasTheCalendarTimeIfTheTraceHasIt() throws IOException {
        String relative = "{\"traceEvents\": " + array(slice("a", 1_000_000, 5))
                + ", \"baseTimeNanoseconds\": 1700000000000000000}";

        assertThat(Traces.read(relative).snapshot().startedAt()).hasToString("2023-11-14T22:13:21Z");
        assertThat(Traces.read(array(slice("a", 1_700_000_001_000_000L, 5)))
                        .snapshot()
                        .startedAt())
                .hasToString("2023-11-14T22:13:21Z");
        assertThat(Traces.read(array(slice("a", 1_000_000, 5))).snapshot().startedAt())
                .hasToString("1970-01-01T00:00:00Z");
    }

    // ---- counted events ----

    @Test
    void namesOfTheHostTakeNoRoomFromTheDevices() throws IOException {
        List<String> events = new ArrayList<>();
        IntStream.range(0, 20).forEach(i -> events.add(slice("op" + i, "cpu_op", 1, i, 1)));
        events.add(slice("mine", "kernel", 7, 1, 2));
        ReadOptions.Limits few = new ReadOptions.Limits(10, 1_000, 3, 10, 10);

        assertThat(totalNs(Traces.read(array(events.toArray(String[]::new)), OPTIONS.withLimits(few)), "mine"))
                .isEqualTo(2_000);
    }

    @Test
    void bytesOfCopiesAreKept() throws IOException {
        String copy = "{\"ph\": \"X\", \"cat\": \"gpu_memcpy\", \"name\": \"Memcpy DtoH\", \"ts\": 1, \"dur\": 1,"
                + " \"args\": {\"bytes\": %s}}";

        TraceProfile right = Traces.read(array(copy.formatted("4096")));
        assertThat(right.snapshot().brick("DeviceToHost").orElseThrow().totalBytes())
                .isEqualTo(4_096);
        TraceProfile text = Traces.read(array(copy.formatted("\"4096\"")));
        assertThat(text.snapshot().brick("DeviceToHost").orElseThrow().totalBytes())
                .isEqualTo(4_096);
        assertThat(text.omissions()).isEmpty();
        for (String wrong : List.of("-1", "1.5", "\"-1\"", "\"\"", "\"many\"", "1e99", "[]")) {
            TraceProfile reading = Traces.read(array(copy.formatted(wrong)));
            assertThat(reading.snapshot().totalNs()).isEqualTo(1_000);
            assertThat(repair(reading, Reason.MALFORMED_BYTES).count())
                    .as(wrong)
                    .isOne();
        }
    }

    // ---- kernels without a matching rule ----

    @Test
    void unmatchedKernelsKeepTheirNames() throws IOException {
        TraceProfile reading =
                Traces.read(array(slice("my_kernel", "kernel", 7, 0, 25), slice("my_gemm", "kernel", 7, 30, 75)));

        assertThat(reading.snapshot().brick("my_kernel").orElseThrow().category())
                .isEqualTo(BrickCategory.OTHER);
        assertThat(reading.unmatched()).isEqualTo(new TraceProfile.Unmatched(1, 1, 25_000));
        assertThat(reading.unmatched().percentage(reading.snapshot().totalNs())).isEqualTo(25.0);
        assertThat(reading.summary()).contains("1 kernel, 1 event, 25.00 us, 25.0 % of brick time");
    }

    @Test
    void namesPastTheLimitShareABrick() throws IOException {
        String[] events = IntStream.range(0, 10)
                .mapToObj(i -> slice(i % 2 == 0 ? "k" + i : "gemm" + i, 10L * i, 4))
                .toArray(String[]::new);

        TraceProfile reading =
                Traces.read(array(events), OPTIONS.withLimits(new ReadOptions.Limits(10, 1_000, 4, 10, 10)));

        assertThat(totalNs(reading, "k0")).isEqualTo(4_000);
        assertThat(totalNs(reading, "(other names)")).isEqualTo(12_000);
        assertThat(totalNs(reading, "Gemm")).isEqualTo(20_000);
        assertThat(reading.unmatched().elapsedNs()).isEqualTo(20_000);
    }

    @Test
    void longNamesAreShortenedAndStillToldApart() throws IOException {
        String common = "n".repeat(30_000);

        TraceProfile reading = Traces.read(array(slice(common + "1", 0, 5), slice(common + "2", 10, 5)));

        assertThat(reading.snapshot().bricks()).hasSize(2).allSatisfy(brick -> assertThat(brick.name())
                .hasSizeLessThan(2_100));
    }

    @Test
    void aRuleThatBacktracksTooMuchIsRefused() {
        TraceRules rules = TraceRules.parse("x <- name=/(a|aa)+\\1?b/");

        assertThat(refused(() -> Traces.read(array(slice("a".repeat(500), 0, 1)), OPTIONS.withRules(rules))))
                .hasMessageContaining("line 1")
                .hasMessageContaining("backtracks too much");
    }

    // ---- limits and progress ----

    @Test
    void aTraceBeyondALimitIsRefused() {
        ReadOptions small = OPTIONS.withLimits(new ReadOptions.Limits(5, 100, 10, 2, 2));

        assertThat(refused(() -> Traces.read("[{\"ph\": \"X\", \"args\": [[[[[1]]]]]}]", small)))
                .hasMessageContaining("arrays and objects nest deeper than 5");
        assertThat(refused(() -> Traces.read(array(slice("n".repeat(101), 0, 1)), small)))
                .hasMessageContaining("a string has more than 100 characters");
        assertThat(refused(() -> Traces.read(
                        array(slice("a", "x", 1, 0, 1), slice("a", "x", 2, 0, 1), slice("a", "x", 3, 0, 1)), small)))
                .hasMessageContaining("more than 2 rows");
        assertThat(refused(() -> Traces.read(array(slice("a", 0, 9), slice("b", 1, 8), slice("c", 2, 7)), small)))
                .hasMessageContaining("too many events run at once");
        String begin = "{\"ph\": \"B\", \"name\": \"a\", \"pid\": 1, \"tid\": 1, \"ts\": 1}";
        assertThat(refused(() -> Traces.read(array(begin, begin, begin), small)))
                .hasMessageContaining("too many slices are open at once");
    }

    @Test
    void stringsThatDoNotMatterMayBeLong() throws IOException {
        String event = "{\"ph\":\"X\",\"name\":\"a\",\"ts\":0,\"dur\":1," + "\"args\":{\"stack\":\"" + "s".repeat(5_000)
                + "\"}}";

        assertThat(totalNs(
                        Traces.read(array(event), OPTIONS.withLimits(new ReadOptions.Limits(5, 100, 10, 2, 2))), "a"))
                .isEqualTo(1_000);
    }

    @Test
    void reportsItsProgress() throws IOException {
        List<Long> read = new ArrayList<>();
        List<Long> totals = new ArrayList<>();

        TraceReader.profile(Traces.MOE, OPTIONS.withProgress((bytesRead, totalBytes) -> {
            read.add(bytesRead);
            totals.add(totalBytes);
        }));

        assertThat(read).isSorted().hasSizeGreaterThan(3);
        assertThat(read.get(read.size() - 1)).isEqualTo(Files.size(Traces.MOE));
        assertThat(totals).containsOnly(Files.size(Traces.MOE));
        List<Long> ofStream = new ArrayList<>();
        TraceReader.profile(
                new ByteArrayInputStream(array(slice("a", 0, 1)).getBytes(UTF_8)),
                OPTIONS.withProgress((bytesRead, totalBytes) -> ofStream.add(totalBytes)));
        assertThat(ofStream).containsOnly(ReadOptions.Progress.UNKNOWN);
    }

    /** A library that fails in the middle of a trace, after some events. */
    private static InputStream failingWith(Throwable failure) {
        byte[] text = ("[" + slice("a", 0, 5) + "," + slice("a", 10, 5) + "," + " ".repeat(400_000)).getBytes(UTF_8);
        return new FilterInputStream(new ByteArrayInputStream(text)) {
            @Override
            public int read(byte[] buffer, int from, int length) throws IOException {
                int read = super.read(buffer, from, length);
                if (read < 0) {
                    if (failure instanceof Error error) {
                        throw error;
                    }
                    throw (RuntimeException) failure;
                }
                return read;
            }
        };
    }

    @Test
    void anUnexpectedFailureOfALibraryIsDamageThatNamesFileAndPlace() throws IOException {
        for (Throwable failure : List.of(
                new IndexOutOfBoundsException("Index 7"),
                new InternalError("no such type"),
                new NoClassDefFoundError("Could not initialize class org.a.B"))) {
            assertThatThrownBy(() -> TraceReader.profile(failingWith(failure), "a.json", OPTIONS))
                    .isInstanceOf(TraceFormatException.class)
                    .hasCause(failure)
                    .hasMessageStartingWith(
                            "a.json, offset 2: the file is damaged, or its reader has a fault: " + failure)
                    .hasMessageContaining(" at " + TraceReaderTest.class.getName() + ".");
            assertThat(TraceReader.profile(failingWith(failure), OPTIONS.withSalvage(true))
                            .eventsCounted())
                    .isEqualTo(2);
        }
    }

    @Spec("20.8")
    @Test
    void aMissingLibraryIsNoDamage() {
        for (boolean salvage : new boolean[] {false, true}) {
            assertThatThrownBy(() -> TraceReader.profile(
                            failingWith(new NoClassDefFoundError("org/a/B")), "a.json", OPTIONS.withSalvage(salvage)))
                    .isInstanceOfSatisfying(TraceFormatException.class, refused -> assertThat(refused.isDamage())
                            .isFalse())
                    .hasMessage("a.json, offset 2: the class org.a.B of a library is not on the class path");
        }
    }

    @Test
    void anExceptionOfTheCallersProgressIsPassedOn() {
        IllegalStateException stopped = new IllegalStateException("stopped by the caller");

        assertThatThrownBy(() -> TraceReader.profile(Traces.MOE, OPTIONS.withProgress((bytesRead, totalBytes) -> {
                    throw stopped;
                })))
                .isSameAs(stopped);
    }

    @Test
    void optionsAreChecked() {
        assertThatThrownBy(() -> OPTIONS.withSkipSteps(-1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("skipSteps -1 is negative");
        assertThatThrownBy(() -> new ReadOptions.Limits(1, 1, 1, 0, 1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("rows 0 is not positive");
    }
}
