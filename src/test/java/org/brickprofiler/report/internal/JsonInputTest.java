package org.brickprofiler.report.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

final class JsonInputTest {

    private static final String LARGEST = "9223372036854775807";

    /** Reads values from the input. */
    private interface Reading {
        void read(JsonInput input, String key) throws IOException;
    }

    private static void read(String json, Reading reading) throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            JsonInput input = new JsonInput(parser);
            input.document(key -> reading.read(input, key));
        }
    }

    @Test
    void valuesAreReadByType() throws IOException {
        List<Object> values = new ArrayList<>();
        read(
                "{\"text\": \"a\", \"whole\": " + LARGEST + ", \"real\": 0.5, \"flag\": true,"
                        + " \"at\": \"2026-01-02T03:04:05Z\"}",
                (input, key) -> values.add(
                        switch (key) {
                            case "text" -> input.text(key);
                            case "whole" -> input.whole(key, 0, Long.MAX_VALUE);
                            case "real" -> input.real(key, 1.0);
                            case "flag" -> input.flag(key);
                            default -> input.moment(key);
                        }));

        assertThat(values).containsExactly("a", Long.MAX_VALUE, 0.5, true, Instant.parse("2026-01-02T03:04:05Z"));
    }

    @Test
    void nullIsAKeyThatIsNotThere() throws IOException {
        List<String> keys = new ArrayList<>();
        read("{\"a\": null, \"b\": 1}", (input, key) -> keys.add(key));

        assertThat(keys).containsExactly("b");
    }

    @Test
    void arraysAreReadItemByItem() throws IOException {
        List<Long> items = new ArrayList<>();
        read(
                "{\"a\": [1, 2, 3], \"b\": []}",
                (input, key) -> input.array(key, () -> items.add(input.whole(key, 0, 3))));

        assertThat(items).containsExactly(1L, 2L, 3L);
    }

    @Test
    void aSkippedValueIsSkippedWhole() throws IOException {
        List<String> keys = new ArrayList<>();
        read("{\"a\": {\"b\": [{}, [1]]}, \"c\": [[]], \"d\": 1}", (input, key) -> {
            keys.add(key);
            input.skip();
        });

        assertThat(keys).containsExactly("a", "c", "d");
    }

    @Test
    void scalarsAreReadAsTheyAreWritten() throws IOException {
        List<String> values = new ArrayList<>();
        read("{\"a\": 1.0, \"b\": \"1.0\"}", (input, key) -> values.add(input.scalar(key)));

        assertThat(values).containsExactly("1.0", "1.0");
    }

    @Test
    void limitsBelongToTheRange() throws IOException {
        read("{\"a\": -1, \"b\": 7}", (input, key) -> assertThat(input.whole(key, -1, 7))
                .isIn(-1L, 7L));

        assertThatIOException()
                .isThrownBy(() -> read("{\"a\": 8}", (input, key) -> input.whole(key, -1, 7)))
                .withMessageStartingWith("a 8 is not within -1 to 7");
    }

    @Test
    void wrongValuesAreQuotedWithTheirPlace() {
        assertThatIOException()
                .isThrownBy(() -> read("{\n \"a\": \"x\\ny\"}", (input, key) -> input.flag(key)))
                .withMessageContaining("a \"x\\ny\" is neither true nor false")
                .withMessageContaining("line: 2, column: 7");
    }
}
