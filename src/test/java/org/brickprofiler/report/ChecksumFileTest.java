package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.brickprofiler.checksum.ChecksumEntry;
import org.brickprofiler.checksum.ChecksumLog;
import org.brickprofiler.checksum.ChecksumOptions;
import org.brickprofiler.testing.Golden;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ChecksumFileTest {

    private static final ObjectMapper OTHER_PARSER = new ObjectMapper();
    private static final String HEADER = "{\"schema_version\":\"1.0\",\"kind\":\"brick-checksums\"}\n";
    private static final String ENTRY = "{\"name\":\"a\",\"hash\":\"0x1\"}\n";

    @TempDir
    private Path folder;

    private Path file;

    @BeforeEach
    void nameFile() {
        file = folder.resolve("checksums.jsonl");
    }

    private ChecksumLog read(String text) throws IOException {
        Files.writeString(file, text);
        return ChecksumFile.read(file);
    }

    private static ChecksumLog full() {
        ChecksumOptions options = new ChecksumOptions(ChecksumOptions.Scope.WHOLE, 3, 1000);
        List<ChecksumEntry> entries = List.of(
                ChecksumEntry.builder("Embedding", ChecksumEntry.NO_LAYER, 0)
                        .hash(0xFEDCBA9876543210L)
                        .floats(4096, 0, 0)
                        .elapsedNs(OptionalLong.of(12_345))
                        .samples(List.of(0.1f, -0.0f, Float.MIN_VALUE))
                        .build(),
                ChecksumEntry.builder("caf\u00e9 \"\\\n \ud800", 3, 2_000_000_000)
                        .hash(1)
                        .floats(8, 2, 1)
                        .samples(List.of(Float.NaN, Float.NEGATIVE_INFINITY, Float.POSITIVE_INFINITY))
                        .build(),
                ChecksumEntry.builder("RmsNorm", 0, 1)
                        .hash(Long.MIN_VALUE)
                        .floats(1, 0, 0)
                        .elapsedNs(OptionalLong.of(0))
                        .samples(List.of(-Float.MAX_VALUE))
                        .build(),
                ChecksumEntry.builder("Expert", 0, 0).build());
        return ChecksumLog.of(options, entries, 42);
    }

    private static void assertSame(ChecksumLog actual, ChecksumLog expected) {
        assertThat(actual.list()).isEqualTo(expected.list());
        assertThat(actual.options()).isEqualTo(expected.options());
        assertThat(actual.droppedCount()).isEqualTo(expected.droppedCount());
    }

    @Test
    void writtenLogsAreReadBack() throws IOException {
        ChecksumFile.write(full(), file);
        assertSame(ChecksumFile.read(file), full());
        ChecksumFile.write(new ChecksumLog(), file);
        assertSame(ChecksumFile.read(file), new ChecksumLog());
    }

    @Test
    void looksAsExpected() throws IOException {
        ChecksumFile.write(full(), file);
        Golden.assertSame(Files.readString(file), getClass(), "checksums.jsonl");
    }

    /** A file as the first version wrote it; it is never written anew. */
    @Test
    void readsTheFirstVersion() throws IOException {
        assertSame(ChecksumFile.read(Golden.path(getClass(), "checksums-v1.jsonl")), full());
    }

    @Test
    void everyLineIsAnObjectForOtherParsers() throws IOException {
        ChecksumFile.write(full(), file);

        List<String> lines = Files.readAllLines(file);
        assertThat(lines).hasSize(5);
        JsonNode header = OTHER_PARSER.readTree(lines.get(0));
        assertThat(header.get("kind").textValue()).isEqualTo("brick-checksums");
        assertThat(header.get("entries").intValue()).isEqualTo(4);
        JsonNode second = OTHER_PARSER.readTree(lines.get(2));
        assertThat(second.get("hash").textValue()).isEqualTo("0x0000000000000001");
        assertThat(second.get("samples").get(0).textValue()).isEqualTo("NaN");
        assertThat(second.get("nans").intValue()).isEqualTo(2);
        assertThat(second.has("elapsed_ns")).isFalse();
        assertThat(OTHER_PARSER.readTree(lines.get(1)).get("samples").get(0).floatValue())
                .isEqualTo(0.1f);
    }

    @Test
    void ignoresKeysItDoesNotKnowAndTakesDefaultsForThoseThatAreMissing() throws IOException {
        ChecksumLog log = read("""
            {"kind":"brick-checksums","made_by":{"x":[1,2]},"schema_version":"1.9"}

            {"hash":"0xab","colour":[{}],"name":"a","elapsed_ns":null}
            """);

        assertThat(log.options()).isEqualTo(ChecksumOptions.DEFAULT);
        assertThat(log.list())
                .containsExactly(ChecksumEntry.builder("a", -1, 0).hash(0xab).build());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "`` | line 1, column 0: the first line does not have kind",
                "{} | line 1, column 2: the first line does not have kind",
                "[] | the first line [ is not an object",
                "{\"bricks\":[]} | this is no file of checksums",
                "{\"kind\":\"other\"} | line 1, column 9: kind \"other\" is not \"brick-checksums\"",
                "{\"kind\":\"brick-checksums\",\"schema_version\":\"2.0\"} | schema_version \"2.0\" is too new",
                "{\"kind\":\"brick-checksums\",\"schema_version\":\"x\"} | schema_version \"x\" is not a version such"
                        + " as 1.0",
                "{\"kind\":\"brick-checksums\",\"scope\":\"half\"} | scope \"half\" is none of first_64, whole",
                "{\"kind\":\"brick-checksums\",\"samples\":1025} | samples 1025 is not within 0 to 1024",
                "{\"kind\":\"brick-checksums\",\"capacity\":0} | capacity 0 is not within 1 to 2147483647",
                "{\"kind\":\"brick-checksums\",\"dropped\":-1} | dropped -1 is negative",
                "{\"kind\":\"brick-checksums\",\"entries\":2} | found 0 entries, expected 2 by the first line"
            })
    void namesTheFaultOfTheFirstLine(String text, String message) {
        assertThatIOException()
                .isThrownBy(() -> read(text))
                .withMessageContaining(message)
                .withMessageContaining(file.toString());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{\"hash\":\"0x1\"} | line 3, column 14: an entry has no name",
                "{\"name\":\"a\"} | line 3, column 12: an entry has no hash",
                "{\"name\":\"\",\"hash\":\"0x1\"} | an entry is wrong: name must not be empty",
                "{\"name\":7} | line 3, column 9: name 7 is not a string",
                "{\"hash\":\"12\"} | hash \"12\" is not a checksum such as 0x",
                "{\"hash\":\"0x12345678901234567\"} | hash \"0x12345678901234567\" is not a checksum",
                "{\"hash\":12} | hash 12 is not a string",
                "{\"layer\":-2} | layer -2 is not within -1 to",
                "{\"position\":-1} | position -1 is negative",
                "{\"position\":3000000000} | position 3000000000 is not within",
                "{\"elements\":1.5} | elements 1.5 is not a whole number",
                "{\"elapsed_ns\":-7} | elapsed_ns -7 is negative",
                "{\"name\":\"a\",\"hash\":\"0x1\",\"nans\":3} | line 3, column 34: an entry is wrong: 3 nans and 0"
                        + " infinities",
                "{\"name\":\"a\",\"hash\":\"0x1\",\"elements\":1,\"samples\":[1]}"
                        + " | found 1 sample of 1 element, expected 0 by the first line",
                "{\"samples\":[1e39]} | sample 1e39 is too large for a float",
                "{\"samples\":[\"inf\"]} | sample \"inf\" is neither a number nor NaN, Infinity or -Infinity",
                "{\"samples\":[true]} | sample true is not a string",
                "{\"samples\":7} | samples 7 is not an array",
                "{\"name\":\"a\",\"name\":\"b\"} | duplicate key 'name'",
                "3 | line 3, column 1: an entry 3 is not an object",
                "{\"name\":\"a\",\"has | line 3, column 17: the text ends too early",
                "{\"samples\":[1, | line 3, column 15: the text ends too early",
                "{ | line 3, column 2: the text ends too early"
            })
    void namesTheFaultOfAnEntryAndItsLine(String line, String message) {
        assertThatIOException()
                .isThrownBy(() -> read(HEADER + ENTRY + line))
                .withMessageContaining("line 3, column")
                .withMessageContaining(message)
                .withMessageContaining(file.toString());
    }

    /** A file that is truncated at any place is not read as a shorter log. */
    @Spec("10.7")
    @Test
    void aFileThatWasCutOffIsRefused() throws IOException {
        ChecksumFile.write(full(), file);
        String whole = Files.readString(file);
        for (int length = 0; length < whole.length() - 1; length++) {
            String cut = whole.substring(0, length);
            assertThatIOException().as("%s", cut).isThrownBy(() -> read(cut)).withMessageContaining("line");
        }
        assertSame(read(whole.stripTrailing()), full());
    }

    @Test
    void refusesMoreEntriesThanTheCapacity() {
        assertThatIOException()
                .isThrownBy(() -> read(HEADER.replace("}", ",\"capacity\":1}") + ENTRY + ENTRY))
                .withMessageContaining("line 3")
                .withMessageContaining("capacity of 1");
    }

    @Test
    void namesTheFileThatCannotBeReadOrWritten() {
        Path missing = folder.resolve("no-such-file");
        assertThatIOException()
                .isThrownBy(() -> ChecksumFile.read(missing))
                .withMessage("cannot read " + missing + ": it does not exist");
        Path nowhere = missing.resolve("x");
        assertThatIOException()
                .isThrownBy(() -> ChecksumFile.write(full(), nowhere))
                .withMessageContaining("cannot write " + nowhere);
    }
}
