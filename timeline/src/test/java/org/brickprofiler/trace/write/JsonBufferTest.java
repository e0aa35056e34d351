package org.brickprofiler.trace.write;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

final class JsonBufferTest {

    static String micros(long ns) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        JsonBuffer json = new JsonBuffer(out);
        json.micros(ns).flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void microsecondsHaveThreeDecimals() throws IOException {
        assertThat(micros(0)).isEqualTo("0.000");
        assertThat(micros(1)).isEqualTo("0.001");
        assertThat(micros(999)).isEqualTo("0.999");
        assertThat(micros(1_000)).isEqualTo("1.000");
        assertThat(micros(-1)).isEqualTo("-0.001");
        assertThat(micros(Long.MAX_VALUE)).isEqualTo("9223372036854775.807");
        assertThat(micros(Long.MIN_VALUE)).isEqualTo("-9223372036854775.808");
    }

    @Test
    void controlCharactersAreEscaped() {
        byte[] json = JsonBuffer.quoted("\"\\\n\0\u001f\u007f\u00e9\ud83d\ude00\ud83d");

        assertThat(new String(json, StandardCharsets.UTF_8))
                .isEqualTo("\"\\\"\\\\\\u000a\\u0000\\u001f\\u007f\u00e9\ud83d\ude00\ufffdd83d\"");
    }
}
