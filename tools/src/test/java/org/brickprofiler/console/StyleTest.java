package org.brickprofiler.console;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.brickprofiler.testing.Spec;
import org.junit.jupiter.api.Test;

class StyleTest {

    @Spec("15.7")
    @Test
    void theWidthIsThatOfTheTerminalThenTheVariableThen100() {
        Map<String, String> set = Map.of("COLUMNS", "120");
        assertThat(Style.of(true, "24 80\n", set).columns()).isEqualTo(80);
        assertThat(Style.of(true, "0 0\n", set).columns()).isEqualTo(120);
        assertThat(Style.of(false, "", set).columns()).isEqualTo(120);
        assertThat(Style.of(false, "", Map.of()).columns()).isEqualTo(100);
        for (String wrong : List.of("", "wide", "-5", "0", "123456789")) {
            assertThat(Style.of(false, "", Map.of("COLUMNS", wrong)).columns()).isEqualTo(100);
        }
    }

    @Spec("15.7")
    @Test
    void colourNeedsATerminalAndNoRefusal() {
        assertThat(Style.of(true, "24 80", Map.of("TERM", "xterm", "NO_COLOR", ""))
                        .isColoured())
                .isTrue();
        assertThat(Style.of(false, "", Map.of()).isColoured()).isFalse();
        assertThat(Style.of(true, "24 80", Map.of("NO_COLOR", "1")).isColoured())
                .isFalse();
        assertThat(Style.of(true, "24 80", Map.of("TERM", "dumb")).isColoured()).isFalse();
    }

    @Test
    void titlesAndHeadersAreBoldRulesPaleAndRemarksYellow() {
        String report =
                "Brick profile\n! a remark.\n  machine  x\n\nBricks, largest first\n\nbrick  total\n-----  -----\n"
                        + "A      10 ns\n-----  -----\nall    10 ns\n\nA sentence.\n";

        assertThat(new Style(80, true, true).applied(report))
                .isEqualTo("\u001b[1mBrick profile\u001b[0m\n\u001b[33m! a remark.\u001b[0m\n  machine  x\n\n"
                        + "\u001b[1mBricks, largest first\u001b[0m\n\n\u001b[1mbrick  total\u001b[0m\n"
                        + "\u001b[2m-----  -----\u001b[0m\nA      10 ns\n"
                        + "\u001b[2m-----  -----\u001b[0m\nall    10 ns\n\nA sentence.\n");
        assertThat(new Style(80, false, false).applied(report)).isEqualTo(report);
    }

    @Test
    void sentencesAreBrokenBetweenWordsOnATerminalOnly() {
        String report = "A sentence of many words.\n  steps       one two three four\n                five six seven\n"
                + "name  a  table  row  that  is  long\n" + "x".repeat(30) + "\n";

        assertThat(new Style(20, true, false).applied(report)).isEqualTo("""
                A sentence of many
                words.
                  steps       one
                              two
                              three
                              four
                                five
                                six
                                seven
                name  a  table  row  that  is  long
                """ + "x".repeat(30) + "\n");
        assertThat(new Style(20, false, false).applied(report)).isEqualTo(report);
    }
}
