package org.brickprofiler.report.internal;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class TextTableTest {

    @Test
    void columnsAreAsWideAsTheirWidestCell() {
        String table = new TextTable<String>()
                .left("name", item -> item, "all")
                .right("n", item -> "" + item.length(), "12345")
                .render(List.of("a", "longer"));

        assertThat(table).isEqualTo("""
                name        n
                ------  -----
                a           1
                longer      6
                ------  -----
                all     12345
                """);
    }

    @Test
    void withoutTotalsThereIsNoLineOfThem() {
        String table = new TextTable<String>().left("name", item -> item, "").render(List.of("a"));

        assertThat(table).isEqualTo("name\n----\na\n");
    }

    @Test
    void columnsWithNothingToShowAreLeftOut() {
        String table = new TextTable<String>()
                .left("name", item -> item, "")
                .rightIf(false, "off", item -> item, "")
                .rightIf(true, "on", item -> item, "")
                .render(List.of("a"));

        assertThat(table).startsWith("name  on\n");
    }

    @Test
    void aCellWithLineBreaksStaysOnItsLine() {
        String table = new TextTable<String>().left("name", item -> item, "").render(List.of("a\nb\u001b[2J"));

        assertThat(table.lines()).containsExactly("name", "-------------", "a\\nb\\u001b[2J");
    }

    @Test
    void longCellsThatDifferInTheMiddleStillDiffer() {
        List<String> names = Stream.of("128x64", "64x128", "256x64")
                .map(tile ->
                        "void cutlass::Kernel2<cutlass_80_tensorop_f16_s16816gemm_" + tile + "_32x6_nn_align8>(Params)")
                .toList();
        String table = new TextTable<String>().left("name", item -> item, "").render(names);

        assertThat(table.lines().skip(2))
                .satisfiesExactly(
                        line -> assertThat(line).contains("128x64"),
                        line -> assertThat(line).endsWith("28_32x6_nn_align8>"),
                        line -> assertThat(line).contains("256x64"));
    }

    @Test
    void aLongCellIsCutVisibly() {
        String table = new TextTable<String>().left("name", item -> item, "").render(List.of("x".repeat(1_000)));

        assertThat(table.lines().skip(2))
                .singleElement()
                .asString()
                .hasSize(TextTable.WIDEST)
                .contains("x...x");
    }

    private static final List<String> LONG_NAME = List.of("x".repeat(30));
    private static final List<String> IMPORTANT = List.of("total", "more");

    private static TextTable<String> fourColumns() {
        return new TextTable<String>()
                .left("name", item -> item, "")
                .right("detail", item -> "1234", "")
                .right("more", item -> "1", "")
                .right("total", item -> "12", "");
    }

    private static String within(int columns) {
        return fourColumns().render(LONG_NAME, columns, IMPORTANT);
    }

    @Test
    void columnsThatDoNotFitAreLeftOutTheLeastImportantOnesFirst() {
        assertThat(within(100)).startsWith("name                            detail  more  total\n");
        assertThat(within(99)).startsWith("name                            more  total\n");
        assertThat(within(29)).isEqualTo("""
                name              more  total
                ----------------  ----  -----
                xxxxxxx...xxxxxx     1     12
                """);
        assertThat(within(28)).startsWith("name                   total\n");
        assertThat(within(20)).startsWith("name\n");
        assertThat(within(1)).isEqualTo("name\n-----\nx...x\n");
    }

    @Test
    void namesTheColumnsThatAreLeftOut() {
        assertThat(fourColumns().leftOut(LONG_NAME, 100, IMPORTANT)).isEmpty();
        assertThat(fourColumns().leftOut(LONG_NAME, 99, IMPORTANT)).containsExactly("detail");
        assertThat(fourColumns().leftOut(LONG_NAME, 28, IMPORTANT)).containsExactly("detail", "more");
    }

    @Test
    void aNarrowColumnFillsTheSpaceThatAWideOneCannot() {
        String table = new TextTable<String>()
                .left("name", item -> item, "")
                .right("a very wide column", item -> "1", "")
                .right("thin", item -> "2", "")
                .render(List.of("a"), 10, List.of());

        assertThat(table.lines()).first().isEqualTo("name  thin");
    }
}
