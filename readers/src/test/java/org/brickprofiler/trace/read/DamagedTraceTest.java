package org.brickprofiler.trace.read;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
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
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.brickprofiler.BrickStats;
import org.brickprofiler.trace.read.Omission.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Damaged text and faulty events: refused inputs, and events that are left out and reported. */
final class DamagedTraceTest {

    private static final ReadOptions OPTIONS = ReadOptions.defaults();
    private static final ReadOptions SALVAGE = OPTIONS.withSalvage(true);

    @TempDir
    Path folder;

    // ---- damaged text ----

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " \n",
                "<html>",
                "3",
                "\"x\"",
                "nonsense",
                "{\"a\": 1}",
                "{\"traceEvents\": {}}",
                "{\"traceEvents\": [], \"traceEvents\": []}",
                "[1]",
                "[[]]",
                "[{\"a\": 1, \"name\": \"x\"}]",
                "[] []",
                "{",
                "[{]",
                "{\"traceEvents\": [",
                "{\"traceEvents\": []",
                "[{\"ph\": \"X\"",
                "\u0000\u0001"
            })
    void textThatIsNoTraceIsRefused(String text) {
        TraceFormatException refused = refused(text);

        assertThat(refused.offset()).isBetween(0L, (long) text.length());
        assertThat(refused).hasMessageStartingWith("the trace, offset " + refused.offset() + ": ");
    }

    @Test
    void namesTheFaultAndItsPlace() {
        assertThat(refused("")).hasMessage("the trace, offset 0: the text is empty");
        assertThat(refused("{\"bricks\": []}")).hasMessageContaining("no traceEvents");
        assertThat(refused("[{\"ph\": \"X\"}, 7]")).hasMessageContaining("offset 14: an element");
        assertThat(refused("[{\"ph\": \"X\"}] x"))
                .hasMessageContaining("offset 14")
                .hasMessageContaining("'x'");
        assertThat(refused("[{\"ph\": \"X\", \"n")).hasMessageContaining("the text ends too early");
    }

    @Test
    void textInNoEncodingOfJsonIsRefused() {
        assertThat(refused(() -> Traces.read(new byte[] {0, 0, (byte) 0xff, (byte) 0xfe, 0}, OPTIONS))
                        .offset())
                .isZero();
        assertThat(refused(() -> Traces.read(new byte[] {0, 0, 0, '[', 0x7f, 0, 0, 0}, OPTIONS)))
                .hasMessageStartingWith("the trace, offset ");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            [{"ph": \u0001}]        | 8  | the character U+0001 is not expected here
            [{"ph"=3}]              | 6  | '=' is not expected here
            [{"ph": X}]             | 8  | 'X' is not a value
            [{"ph": "X"]            | 11 | ']' is unmatched
            [{"ph": "\\q"}]          | 10 | no escape in a string ends in 'q'
            [{"ph": 01}]            | 9  | a number is malformed
            [{"ph": "X"             | 11 | the text ends too early
            """)
    void namesTheWrongByteInTheReadersOwnWords(String text, int offset, String fault) {
        TraceFormatException refused = refused(text);

        assertThat(refused.fault()).isEqualTo(fault);
        assertThat(refused.offset()).isEqualTo(offset);
        assertThat(refused.isDamage()).as("no event stands before it").isFalse();
        TraceFormatException later = refused("[" + slice("a", 0, 5) + "," + text.substring(1));
        assertThat(later.fault()).isEqualTo(fault);
        assertThat(later.isDamage()).as("an event stands before it").isTrue();
    }

    // ---- bytes that are no text ----

    @Test
    void bytesThatAreNoUtf8AreQuestionMarksAndCounted() throws IOException {
        String event = "[{\"ph\": \"X\", \"name\": \"a\u00ff\u00e9\", \"ts\": 1, \"dur\": 5,"
                + " \"args\": {\"path\": \"\u00c3(\"}}]";
        TraceProfile reading = Traces.read(event.getBytes(ISO_8859_1), OPTIONS);

        assertThat(totalNs(reading, "a??")).isEqualTo(5_000);
        assertThat(Omissions.faults(reading.omissions()))
                .containsExactly(new Omission(Reason.INVALID_UTF8, "", 3, 0, event.indexOf('\u00ff')));
        assertThat(reading.summary()).contains("3 bytes that are no UTF-8, read as ?; first at offset ");
    }

    @Test
    void validUtf8IsKept() throws IOException {
        String all = "\u00e9\u20ac\ud83d\ude00\ud7ff\ue000";
        for (int blanks = 65_520; blanks < 65_545; blanks++) {
            TraceProfile reading = Traces.read(" ".repeat(blanks) + array(slice(all, 0, 5)));
            assertThat(totalNs(reading, all)).isEqualTo(5_000);
            assertThat(reading.omissions()).as("after %s blanks", blanks).isEmpty();
        }
    }

    // ---- files of other kinds ----

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            504b0304140000000800 | it is a ZIP archive; unpack it
            28b52ffd2400         | it is packed with zstd; unpack it
            fd377a585a000004     | it is packed with xz; unpack it
            425a683931415926     | it is packed with bzip2; unpack it
            04224d186440         | it is packed with LZ4; unpack it
            377abcaf271c         | it is a 7z archive; unpack it
            53514c69746520666f726d6174203300 | the SQLite database is damaged
            464c520000020001     | the recording is damaged
            """)
    void filesOfOtherKindsAreNamed(String begin, String name) throws IOException {
        byte[] bytes = HexFormat.of().parseHex(begin);

        assertThat(refused(() -> Traces.read(bytes, OPTIONS)).fault()).startsWith(name);
        assertThat(refused(() -> Traces.read(Traces.packed(bytes), OPTIONS)).fault())
                .startsWith(name);
    }

    /** The beginnings of the tools' files; long ones are truncated. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
            `"Kind","Agent_Id","Queue_Id","Kernel_Id"`             | it is a table (CSV) of rocprofv3 without starts and ends
            `"Kind","Direction","Source_Agent_Id"`                 | it is a table (CSV) of rocprofv3 without starts and ends
            `"Domain","Function","Process_Id"`                     | it is a table (CSV) of rocprofv3 without starts and ends
            `build_commit,build_number,cpu_info`                   | it is a table (CSV) of llama-bench
            `ggml_cuda_init: found 1 ROCm devices:`                | it is a log of llama.cpp
            `"Index","KernelName","gpu-id"`                        | it is a table (CSV) of sums that AMD's rocprof
            `"Name","Calls","TotalDurationNs"`                     | it is a table (CSV) of sums that AMD's rocprof
            `\n Time (%)  Total Time (ns)  Instances`               | nsys stats --format csv
            `==PROF== Connected to process 7`                      | kernels that it replayed one by one at a locked clock
            `"ID","Process ID","Kernel Name","Metric Name","Metric Unit"` | these are no times of a run
            `\n=== API Timing Summary ===\n\n`                     | unitrace --device-timing
            `llama_perf_context_print: load time = 7 ms`           | it is a log of llama.cpp
            `-----\n Name    Self CPU %\n`                         | prof.export_chrome_trace
            `<!DOCTYPE html><html lang="en"><head>`                | it is an HTML page; read the trace
            `BOM<html>`                                            | it is an HTML page; read the trace
            `<?xml version="1.0"?><trace-query-result>`            | it is XML; write the events in another format
            `name;start;end\nk;0;7`                                | it is a table (CSV), which may hold anything
            `hello world`                                          | expected a Chrome or Perfetto trace, a profile of ONNX
            """)
    void textsOfOtherProgramsAreNamed(String begin, String next) {
        String text = begin.replace("BOM", "\ufeff");
        for (byte[] bytes : List.of(text.getBytes(UTF_8), Traces.packed(text))) {
            TraceFormatException refused = refused(() -> Traces.read(bytes, OPTIONS));

            assertThat(refused.fault()).startsWith("no trace begins with '").contains(next);
            assertThat(refused.offset()).isZero();
            assertThat(refused.isDamage()).as("nothing to salvage").isFalse();
        }
    }

    @Test
    void aFileCompressedTwiceIsNamed() {
        byte[] twice = Traces.packed(Traces.packed(array(slice("a", 0, 5))));

        assertThat(refused(() -> Traces.read(twice, OPTIONS)))
                .hasMessage("the trace, offset 0: it is packed with gzip twice; unpack it once");
    }

    /** Handmade protocol buffers. Field numbers: XSpace.planes = 1; those of XPlane: id = 1, name = 2, lines = 3. */
    @Test
    void aProfileOfXlaIsToldApartFromAPacketOfPerfetto() throws IOException {
        for (String plane : List.of(
                "1211" + hex("/host:metadata/ab"),
                "0801" + "120d" + hex("/device:GPU:0") + "1a020801",
                "08ff7f" + "1210" + hex("Task Environment"))) {
            String planeLength = HexFormat.of().toHexDigits((byte) (plane.length() / 2));
            byte[] space = HexFormat.of().parseHex("0a" + planeLength + plane + "0a021200");
            Map<Reason, Long> names = Omissions.ignored(Traces.read(space, OPTIONS));
            assertThat(names).as("the names of two planes").isEqualTo(Map.of(Reason.METADATA, 2L));
        }
        // TracePacket.process_tree = 2, with a process in it; and ftrace_events = 1.
        for (String packet : List.of("0a0612040a020801", "0a040a020801", "0a00")) {
            assertThat(Traces.read(HexFormat.of().parseHex(packet), OPTIONS).eventsRead())
                    .isZero();
        }
    }

    private static String hex(String text) {
        return HexFormat.of().formatHex(text.getBytes(US_ASCII));
    }

    // ---- salvage ----

    @Test
    void everyCutOfATraceIsSalvagedFromItsFirstEventOn() throws IOException {
        String first = slice("a", 0, 5);
        String second = slice("b", 10, 7);
        String whole = "{\"traceEvents\": " + array(first, second) + "}";
        int firstEnd = whole.indexOf(first) + first.length();
        int secondEnd = whole.indexOf(second) + second.length();

        for (int length = 0; length < whole.length(); length++) {
            byte[] cut = whole.substring(0, length).getBytes(UTF_8);
            if (length < firstEnd) {
                refused(() -> Traces.read(cut, SALVAGE));
            } else {
                TraceProfile reading = Traces.read(cut, SALVAGE);
                assertThat(reading.eventsCounted()).isEqualTo(length < secondEnd ? 1 : 2);
                assertThat(Omissions.faults(reading.omissions()))
                        .containsExactly(new Omission(Reason.DAMAGE, "the text ends too early", 1, 0, length));
            }
        }
        assertThat(Traces.read(whole, SALVAGE)).isEqualTo(Traces.read(whole));
    }

    @Test
    void eventsAfterDamageAreNotRead() throws IOException {
        String text = "[" + slice("a", 0, 5) + ", {\"ph\": X}, " + slice("b", 10, 5) + "]";
        TraceProfile reading = Traces.read(text, SALVAGE);

        assertThat(reading.snapshot().bricks()).extracting(BrickStats::name).containsExactly("a");
        assertThat(reading.summary())
                .contains("1 damage, read up to there ('X' is not a value); first at offset " + text.indexOf("X}"));
        assertThat(refused(text).isDamage()).isTrue();
    }

    @Test
    void aPackedFileIsSalvagedUpToItsDamage() throws IOException {
        String[] events = IntStream.range(0, 5_000)
                .mapToObj(i -> slice("kernel" + i * 7_919 % 1_000, 10L * i, 5))
                .toArray(String[]::new);
        byte[] whole = Traces.packed(object(events));
        byte[] cut = Arrays.copyOf(whole, whole.length / 2);
        byte[] damaged = whole.clone();
        Arrays.fill(damaged, whole.length / 2, whole.length / 2 + 100, (byte) 0xa5);

        TraceProfile ofCut = Traces.read(cut, SALVAGE);
        assertThat(ofCut.eventsCounted()).isBetween(1_000L, 4_000L);
        assertThat(repair(ofCut, Reason.DAMAGE).name()).isEqualTo("the packed file ends too early");
        TraceProfile ofDamaged = Traces.read(damaged, SALVAGE);
        assertThat(ofDamaged.eventsCounted()).isBetween(1_000L, 4_000L);
        assertThat(repair(ofDamaged, Reason.DAMAGE).count()).isOne();
        assertThat(refused(() -> Traces.read(cut, OPTIONS)).isDamage()).isTrue();
    }

    @Test
    void limitsAndOtherVersionsAreNotSalvaged() {
        ReadOptions small = SALVAGE.withLimits(new ReadOptions.Limits(5, 100, 10, 2, 2));
        String version = "{\"traceEvents\": " + array(slice("a", 0, 5)) + ", \"producer\": \"brick-profiler 99\"}";

        assertThat(refused(() -> Traces.read(
                                array(slice("a", "x", 1, 0, 1), slice("a", "x", 2, 0, 1), slice("a", "x", 3, 0, 1)),
                                small))
                        .isDamage())
                .isFalse();
        assertThat(refused(() -> Traces.read(array(slice("a", 0, 1), slice("n".repeat(101), 0, 1)), small)))
                .hasMessageContaining("a string has more than 100 characters");
        assertThat(refused(() -> Traces.read(version, SALVAGE))).hasMessageContaining("brick-profiler 99");
    }

    @Test
    void everyCutOfAnObjectIsRefused() {
        String whole = object(slice("a", 0, 5), slice("b", 10, 7));

        for (int length = 0; length < whole.length(); length++) {
            String cut = whole.substring(0, length);
            assertThat(refused(cut).offset()).as(cut).isBetween(0L, (long) length);
        }
    }

    @Test
    void everyCutOfAnArrayIsRefusedOrReported() throws IOException {
        String first = slice("a", 0, 5);
        String whole = array(first, slice("b", 10, 7));

        for (int length = 0; length < whole.length(); length++) {
            String cut = whole.substring(0, length);
            boolean afterAnEvent =
                    cut.stripTrailing().endsWith("}") || cut.stripTrailing().endsWith("},");
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

    // ---- faulty events ----

    @Test
    void timesAreExact() throws IOException {
        String event = "[{\"ph\": \"X\", \"name\": \"a\", \"ts\": %s, \"dur\": %s}]";

        assertThat(totalNs(Traces.read(event.formatted("1694039994071305.123", "0.0015")), "a"))
                .isEqualTo(2);
        assertThat(totalNs(Traces.read(event.formatted("\"17\"", "\"1.5e1\"")), "a"))
                .isEqualTo(15_000);
        assertThat(totalNs(Traces.read(event.formatted("-5.5", "94039994071305.999")), "a"))
                .isEqualTo(94_039_994_071_305_999L);
    }

    @Test
    void sumsThatDoNotFitAreRefused() {
        String years = "{\"ph\": \"X\", \"name\": \"a\", \"tid\": %d, \"ts\": 0, \"dur\": 315576000000000}";
        String most =
                "{\"ph\":\"X\",\"ts\":%d,\"dur\":1,\"cat\":\"gpu_memcpy\"," + "\"args\":{\"bytes\":9007199254740992}}";

        assertThat(refused(many(years, 30))).hasMessageContaining("exceeds 2^63");
        assertThat(refused(many(most, 1_024))).hasMessageContaining("exceeds 2^63");
    }

    private static String many(String event, int count) {
        return array(IntStream.range(0, count).mapToObj(event::formatted).toArray(String[]::new));
    }
}
