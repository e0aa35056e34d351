package org.brickprofiler.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.brickprofiler.stats.LatencyDistribution;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TopScreenTest {

    private static final String NEW_SCREEN = "\u001b[?1049h\u001b[?25l";
    private static final String OLD_SCREEN = "\u001b[?25h\u001b[?1049l";
    private static final Duration SHORT = Duration.ofMillis(1);

    private final FakeTerminal terminal = new FakeTerminal();
    private final TopScreen screen = new TopScreen.Full(terminal.out, terminal);
    private final TopWindow window = new TopWindow();

    TopScreenTest() {
        window.add(reading(0));
        window.add(reading(1));
    }

    private static TopReading reading(int second) {
        return TopReading.of(
                0,
                second * 1_000L,
                second * 1_000_000_000L,
                List.of(new TopReading.Brick(
                        "FfnUp", "FFN", second, second * 1_000L, Optional.empty(), TopReading.OfDevice.NONE)),
                Map.of(),
                new TopReading.Requests(0, 0, 0, 0, LatencyDistribution.EMPTY, LatencyDistribution.EMPTY, List.of()));
    }

    @AfterEach
    void end() {
        screen.end();
    }

    @Spec("25.20")
    @Test
    void restoresTheTerminalOnceAndLeavesTheLastPage() {
        screen.show("title 1", window);
        assertThat(terminal.written()).startsWith(NEW_SCREEN + "\u001b[H\u001b[Ktitle 1\r\n");
        screen.end();
        screen.end();
        assertThat(terminal.written())
                .startsWith(OLD_SCREEN + "title 1")
                .contains("FfnUp")
                .doesNotContain("Keys:");
        assertThat(terminal.restored).isEqualTo(1);
        screen.show("title 2", window);
        assertThat(terminal.written()).as("another thread ended it").isEmpty();
    }

    @Spec("25.20")
    @Test
    void endsWithQAndCtrlCAndIfTheTerminalIsClosed() throws Exception {
        screen.show("title", window);
        terminal.press('x');
        assertThat(screen.isLeftWithin(SHORT)).isFalse();
        terminal.press('q');
        assertThat(screen.isLeftWithin(SHORT)).isTrue();
        terminal.press('Q');
        assertThat(screen.isLeftWithin(SHORT)).isTrue();
        terminal.press(TopTerminal.INTERRUPT);
        assertThat(screen.isLeftWithin(SHORT)).isTrue();
        terminal.press(TopTerminal.CLOSED);
        assertThat(screen.isLeftWithin(SHORT)).isTrue();
    }

    @Spec("25.20")
    @Test
    void sChangesTheOrderAtOnceAndForLaterPages() throws Exception {
        screen.show("title", window);
        terminal.press('s');
        screen.isLeftWithin(SHORT);
        assertThat(terminal.written()).contains("Bricks by total.", "Bricks by p99.");
        screen.show("title", window);
        assertThat(terminal.written()).contains("Bricks by p99.");
    }

    @Spec("25.20")
    @Test
    void pPausesUntilItIsPressedAgain() throws Exception {
        screen.show("title 1", window);
        terminal.press('p');
        screen.isLeftWithin(SHORT);
        window.add(reading(2));
        terminal.written();
        screen.show("title 2", window);
        assertThat(terminal.written())
                .contains("title 1, paused", "the last 1.000 s", "p continues")
                .doesNotContain("title 2");
        terminal.press('p');
        screen.isLeftWithin(SHORT);
        screen.show("title 3", window);
        assertThat(terminal.written()).contains("title 3", "the last 2.000 s", "p pauses");
    }

    @Spec("25.20")
    @Test
    void eachPageFitsThePresentSize() {
        screen.show("title", window);
        assertThat(terminal.written()).contains("\r\n").satisfies(page -> assertThat(page.split("\r\n"))
                .hasSize(24));
        terminal.size = new TopPage.Size(10, 60, true, false, true);
        screen.show("title", window);
        assertThat(terminal.written().split("\r\n")).hasSize(10);
    }
}
