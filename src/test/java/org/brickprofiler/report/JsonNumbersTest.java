package org.brickprofiler.report;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import java.io.IOException;
import org.junit.jupiter.api.Test;

final class JsonNumbersTest {

    private static JsonInput.Numbers fields(String json) throws IOException {
        try (JsonParser parser = new JsonFactory().createParser(json)) {
            JsonInput input = new JsonInput(parser);
            JsonInput.Numbers numbers = input.numbers();
            input.document(key -> {
                if (key.endsWith("_us")) {
                    numbers.readReal(key);
                } else {
                    numbers.readWhole(key);
                }
            });
            return numbers;
        }
    }

    @Test
    void numbersAreFoundByKey() throws IOException {
        JsonInput.Numbers numbers = fields("{\"count\": 9007199254740993, \"min_us\": 1.5}");

        assertThat(numbers.has("count")).isTrue();
        assertThat(numbers.whole("count")).isEqualTo(9_007_199_254_740_993L);
        assertThat(numbers.real("min_us", 7.0)).isEqualTo(1.5);
    }

    @Test
    void missingNumbersHaveDefaults() throws IOException {
        JsonInput.Numbers none = fields("{}");

        assertThat(none.has("count")).isFalse();
        assertThat(none.whole("count")).isZero();
        assertThat(none.real("min_us", 7.0)).isEqualTo(7.0);
        assertThat(none.durationNs("min_ns", "min_us")).isZero();
    }

    @Test
    void durationsArePreferredInNanoseconds() throws IOException {
        assertThat(fields("{\"min_ns\": 0, \"min_us\": 3.0}").durationNs("min_ns", "min_us"))
                .isZero();
        assertThat(fields("{\"min_us\": 0.0625}").durationNs("min_ns", "min_us"))
                .isEqualTo(63);
    }
}
