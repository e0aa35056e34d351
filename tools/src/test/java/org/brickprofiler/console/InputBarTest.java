package org.brickprofiler.console;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class InputBarTest {

    private static String drawn(long bytes, boolean watched, long passesNs) {
        AtomicLong nowNs = new AtomicLong();
        ByteArrayOutputStream terminal = new ByteArrayOutputStream();
        try (Terminal.InputBar bar = Terminal.InputBar.of(
                Path.of("folder", "trace.json"), bytes, watched, new PrintStream(terminal, true, UTF_8), nowNs::get)) {
            nowNs.set(passesNs);
            bar.at(bytes / 2, bytes);
        }
        return terminal.toString(UTF_8);
    }

    @Test
    void showsTheProgressOfALongInputAndDisappears() {
        assertThat(drawn(Terminal.InputBar.LONG_BYTES, true, 1_000_000_000))
                .contains("\rReading trace.json  50% [")
                .contains("/1048 kB (")
                .endsWith("\r");
    }

    @Test
    void isHiddenWithoutATerminalOrForShortInput() {
        assertThat(drawn(Terminal.InputBar.LONG_BYTES, false, 2_000_000_000)).isEmpty();
        assertThat(drawn(Terminal.InputBar.LONG_BYTES - 1, true, 2_000_000_000)).isEmpty();
    }

    @Test
    void isNotDrawnInTheFirstSecond() {
        assertThat(drawn(Terminal.InputBar.LONG_BYTES, true, 999_999_999)).doesNotContain("trace.json");
    }
}
