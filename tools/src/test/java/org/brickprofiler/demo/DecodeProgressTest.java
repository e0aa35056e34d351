package org.brickprofiler.demo;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import org.junit.jupiter.api.Test;

class DecodeProgressTest {

    @Test
    void drawsABarOfPlainCharacters() {
        ByteArrayOutputStream drawn = new ByteArrayOutputStream();
        try (DecodeProgress progress = DecodeProgress.bar(3, new PrintStream(drawn, true, US_ASCII))) {
            progress.step();
            progress.step();
            progress.step();
        }

        assertThat(drawn.toString(US_ASCII))
                .contains("Decoding 100% [")
                .contains("3/3 tokens")
                .contains("tokens/s")
                .matches("[\\p{Print}\\r\\n]*");
    }
}
