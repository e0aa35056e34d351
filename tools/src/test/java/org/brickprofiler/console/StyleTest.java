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
        String report = """
                Brick profile
                ! a remark.
                  machine  x

                Bricks, largest first

                brick  total
                -----  -----
                A      10 ns
                -----  -----
                all    10 ns

                A sentence.
                """;
        String styled = """
                <1>Brick profile<0>
                <33>! a remark.<0>
                  machine  x

                <1>Bricks, largest first<0>

                <1>brick  total<0>
                <2>-----  -----<0>
                A      10 ns
                <2>-----  -----<0>
                all    10 ns

                A sentence.
                """;

        assertThat(new Style(80, true, true).applied(report)).isEqualTo(styled.replaceAll("<(\\d+)>", "\u001b[$1m"));
        assertThat(new Style(80, false, false).applied(report)).isEqualTo(report);
    }

    @Test
    void sentencesAreBrokenBetweenWordsOnATerminalOnly() {
        String report = """
                A sentence of many words.
                  steps       one two three four
                                five six seven
                name  a  table  row  that  is  long
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                """;

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
                xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
                """);
        assertThat(new Style(20, false, false).applied(report)).isEqualTo(report);
    }
}
