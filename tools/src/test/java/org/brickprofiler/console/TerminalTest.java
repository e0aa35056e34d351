package org.brickprofiler.console;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TerminalTest {

    @Test
    void noPersonWatchesATestOfTheBuild() {
        assertThat(Terminal.isInteractive()).isFalse();
    }
}
